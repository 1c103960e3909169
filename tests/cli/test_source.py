"""The command and Python take the same way: the same bytes for the same input, each text read once."""

import csv
import io
import json
import types
import warnings
from collections import Counter

import pytest

from polyad import LDA, PolylingualLDA, load, select_n_components
from polyad.corpus import CorpusSource, ReadOptions, TextOptions
from polyad.corpus.formats import streams
from polyad.corpus.words import counting as count_module


@pytest.fixture
def rows(corpus):
    with open(corpus, newline="") as file:
        _, *documents = csv.reader(file)
    return [(f"{name}-{copy}", text) for copy in range(3) for name, text in documents]


@pytest.fixture
def inputs(rows, tmp_path):
    """The same documents in every kind of input."""
    folder = tmp_path / "articles"
    folder.mkdir()
    for name, text in rows:
        (folder / f"{name}.txt").write_text(text)
    with open(tmp_path / "a.csv", "w", newline="") as file:
        csv.writer(file).writerows([("id", "text"), *rows])
    lines = (json.dumps({"id": name, "text": text}) + "\n" for name, text in rows)
    (tmp_path / "a.jsonl").write_text("".join(lines))
    return {"folder": folder, "csv": tmp_path / "a.csv", "jsonl": tmp_path / "a.jsonl"}


@pytest.mark.parametrize("kind", ["folder", "csv", "jsonl"])
def test_python_and_the_command_give_the_same_bytes(polyad, inputs, tmp_path, kind):
    done = polyad("fit", inputs[kind], "-k", 2, "-o", tmp_path / "command.polyad", "--json")
    assert done.code == 0, done.err
    model = LDA(2).fit(CorpusSource(inputs[kind]))
    model.save(tmp_path / "python.polyad")
    assert (tmp_path / "python.polyad").read_bytes() == (tmp_path / "command.polyad").read_bytes()
    told = done.json()["corpus"]
    assert (told["language"], told["min_df"]) == ("english", model.text_options_.min_df)
    by_command = polyad("transform", tmp_path / "command.polyad", inputs[kind], "--json").json()["rows"]
    assert [row[1:] for row in by_command] == model.transform(CorpusSource(inputs[kind])).tolist()
    bits = polyad("evaluate", tmp_path / "command.polyad", inputs[kind], "--json").json()
    assert bits["perplexity"] == pytest.approx(model.perplexity(CorpusSource(inputs[kind])))


def test_standard_input_gives_the_same_bytes(polyad, inputs, tmp_path, monkeypatch):
    data = inputs["jsonl"].read_bytes()
    assert polyad("fit", "-", "-k", 2, "-o", tmp_path / "command.polyad", "-q", stdin=data).code == 0
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))
    LDA(2).fit(CorpusSource("-")).save(tmp_path / "python.polyad")
    assert (tmp_path / "python.polyad").read_bytes() == (tmp_path / "command.polyad").read_bytes()
    assert polyad("fit", inputs["jsonl"], "-k", 2, "-o", tmp_path / "file.polyad", "-q").code == 0
    assert (tmp_path / "file.polyad").read_bytes() == (tmp_path / "command.polyad").read_bytes()


def test_flags_are_options(polyad, inputs, tmp_path):
    flags = ["--ngrams", 2, "--stem", "auto", "--min-df", 3, "--max-features", 40, "--min-length", 3]
    assert polyad("fit", inputs["csv"], "-k", 2, *flags, "-o", tmp_path / "m.polyad", "-q").code == 0
    options = TextOptions(stop_words="auto", ngrams=(1, 2), stemming="auto", min_df=3, max_features=40, min_length=3)
    with warnings.catch_warnings(action="ignore"):  # so few words settle one topic of two
        LDA(2).fit(CorpusSource(inputs["csv"], options=options)).save(tmp_path / "python.polyad")
    assert (tmp_path / "python.polyad").read_bytes() == (tmp_path / "m.polyad").read_bytes()
    assert load(tmp_path / "m.polyad").text_options_.stemming == "english"


def test_select_takes_the_same_way(polyad, inputs):
    values = polyad("select", inputs["folder"], "--min", 2, "--max", 3, "--json").json()
    found = select_n_components(CorpusSource(inputs["folder"]), n_min=2, n_max=3)
    assert [row["bits"] for row in values["table"]] == [row["bits"] for row in found.table]
    assert values["corpus"]["language"] == "english"


def test_two_sides_take_the_same_way(polyad, tmp_path):
    pairs = [("the rain and the wind of the sea", "la pluie et le vent de la mer")] * 12
    pairs += [("the budget and the taxes of the state", "le budget et les impôts de la nation")] * 12
    lines = (json.dumps({"id": str(number), "en": en, "fr": fr}) + "\n" for number, (en, fr) in enumerate(pairs))
    file = tmp_path / "both.jsonl"
    file.write_text("".join(lines))
    columns = ["--left-column", "en", "--right-column", "fr"]
    done = polyad("fit2", file, *columns, "-k", 2, "-o", tmp_path / "command.polyad", "--json")
    assert done.code == 0, done.err
    values = done.json()
    assert (values["left"]["language"], values["right"]["language"]) == ("english", "french")
    sides = [CorpusSource(file, reading=ReadOptions(text_column=column)) for column in ("en", "fr")]
    PolylingualLDA(2).fit(sides).save(tmp_path / "python.polyad")
    assert (tmp_path / "python.polyad").read_bytes() == (tmp_path / "command.polyad").read_bytes()


@pytest.mark.parametrize("command", ["fit", "select"])
@pytest.mark.parametrize("kind", ["folder", "csv", "jsonl"])
def test_the_command_reads_and_splits_text_once(polyad, inputs, rows, monkeypatch, command, kind):
    opened, split = Counter(), Counter()
    open_file, count_chunk = streams._open_file, count_module.count_chunk
    monkeypatch.setattr(streams, "_open_file", lambda name: (opened.update([name]), open_file(name))[1])
    monkeypatch.setattr(
        count_module, "count_chunk", lambda texts, options: (split.update(texts), count_chunk(texts, options))[1]
    )
    arguments = ["-k", 2] if command == "fit" else ["--min", 2, "--max", 2]
    assert polyad(command, inputs[kind], *arguments, "--json").code == 0
    assert set(opened.values()) == {1}
    assert len(opened) == (len(rows) if kind == "folder" else 1)
    assert split.total() == len(rows)


def test_rare_words_tell_their_bound(polyad, inputs):
    (inputs["folder"] / "zz.txt").write_text("the unheard and the unseen")
    assert "rare words in fewer than 2 documents (--min-df)" in polyad("fit", inputs["folder"], "-k", 2).err
