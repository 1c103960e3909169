"""`polyad fit A B C --aligned`: three languages, and calls that make no sense."""

import json

import numpy as np
import pytest

from polyad import PolylingualLDA
from polyad import load as load_model

WORDS = {
    "en": (["cow", "milk", "barn", "farm"], ["ship", "sail", "wave", "port"]),
    "fr": (["vache", "lait", "grange", "ferme"], ["navire", "voile", "vague", "quai"]),
    "de": (["kuh", "milch", "scheune", "hof"], ["schiff", "segel", "welle", "hafen"]),
}


@pytest.fixture
def files(tmp_path):
    """Three languages of 80 documents, the first half of farms and the others of the sea."""
    rng = np.random.default_rng(0)
    paths = []
    for name, subjects in WORDS.items():
        lines = [" ".join(rng.choice(subjects[number // 40], 12)) for number in range(80)]
        paths.append(tmp_path / f"{name}.txt")
        paths[-1].write_text("\n".join(lines) + "\n")
    return paths


def test_topics_of_three_languages(polyad, files, tmp_path):
    done = polyad("fit", *files, "--aligned", "-k", 2, "-o", tmp_path / "m.polyad", "--stop-words", "none", "--json")
    assert done.code == 0, done.err
    values = done.json()
    assert values["class"] == "PolylingualLDA"
    assert values["rows"] == 80
    assert list(values["corpora"]) == ["en", "fr", "de"]
    for topic in values["topics"]:
        subject = int("cow" not in topic["en"]["words"][:4])
        for name, subjects in WORDS.items():
            assert set(topic[name]["words"][:4]) == set(subjects[subject])
    model = load_model(tmp_path / "m.polyad")
    assert isinstance(model, PolylingualLDA)
    assert len(model.components_) == 3
    shares = model.transform([None, None, np.eye(8)])  # documents of one word of the third language each
    assert set(shares.argmax(axis=1)) == {0, 1}
    assert model.view_names_ == ("en", "fr", "de")
    again = polyad("topics", tmp_path / "m.polyad", "--json").json()
    assert [set(topic) & set(WORDS) for topic in again["topics"]] == [set(WORDS)] * 2  # the file knows their names
    table = polyad("fit", *files, "--aligned", "-k", 2, "--stop-words", "none")
    assert table.out.startswith("topic\tshare\ten\tfr\tde\n")
    assert "de: 80 documents" in table.err
    assert "80 rows" in table.err or "rows per second" in table.err


def test_two_files_are_the_topics_of_fit2(polyad, files, tmp_path):
    options = ("-k", 2, "--stop-words", "none")
    assert polyad("fit", *files[:2], "--aligned", *options, "-o", tmp_path / "a.polyad").code == 0
    assert polyad("fit2", *files[:2], *options, "-o", tmp_path / "b.polyad").code == 0
    one, two = (load_model(tmp_path / f"{name}.polyad") for name in "ab")
    assert all(np.array_equal(a, b) for a, b in zip(one.components_, two.components_))


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        (["en.txt", "fr.txt"], 2, "--aligned says that row i of all of them belongs together"),
        (["en.txt", "--aligned"], 2, "for two corpora or more"),
        (["en.txt", "en.txt", "--aligned"], 2, "a corpus is given twice"),
        (["-", "-", "--aligned"], 2, "can be read once only"),
        (["en.txt", "fr.txt", "--aligned", "--model", "single-topic"], 2, "learns the topics of LDA"),
        (["en.txt", "fr.txt", "--aligned", "--background"], 2, "--background is for one corpus"),
        (["en.txt", "fr.txt", "--aligned", "--resume"], 2, "name it with --checkpoint"),
        (["en.txt", "fr.txt", "--aligned", "--workers", "2"], 2, "on this machine alone"),
        (["en.txt", "fr.txt", "--aligned", "--scheduler", "tcp://a:1"], 2, "on this machine alone"),
        (["en.txt", "fr.txt", "--aligned", "--memory", "1kB"], 1, "This fit needs about"),
        (["en.txt", "fr.txt", "--aligned", "--memory", "much"], 2, "--memory is 'much'"),
        (["en.txt", "fr.txt", "--aligned", "--method", "svtd"], 2, "--method is 'svtd'"),
        (["en.txt", "fr.txt", "short.txt", "--aligned"], 1, "short.txt has 3; each document needs its partner"),
    ],
)
def test_calls_that_make_no_sense_are_told(polyad, files, tmp_path, monkeypatch, call, code, message):
    (tmp_path / "short.txt").write_text("ball cake\nfish dog\ncat bird\n")
    monkeypatch.chdir(tmp_path)
    done = polyad("fit", *call, "-k", 2, "--stop-words", "none", "--min-df", 1)
    assert (done.code, message in done.err.replace("\n", " ")) == (code, True), done.err


def test_ids_that_differ_are_told(polyad, tmp_path):
    paths = []
    for name, ids in (("a", "xy"), ("b", "xy"), ("c", "yx")):
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps({"id": i, "text": "one two three four"}) + "\n" for i in ids))
    done = polyad("fit", *paths, "--aligned", "-k", 1, "--min-df", 1, "--stop-words", "none")
    assert done.code == 1
    assert "documents that belong together must be in the same row" in done.err.replace("\n", " ")


def fitted_on_three(polyad, files, tmp_path):
    path = tmp_path / "m.polyad"
    assert polyad("fit", *files, "--aligned", "-k", 2, "-o", path, "--stop-words", "none", "-q").code == 0
    return path


def shares_in(table):
    return np.array([[float(cell) for cell in line.split(",")[-2:]] for line in table.splitlines()[1:]])


def test_documents_of_some_views_or_all(polyad, files, tmp_path, monkeypatch):
    path = fitted_on_three(polyad, files, tmp_path)
    model = load_model(path)
    every = polyad("transform", path, *files)
    assert every.code == 0, every.err
    counts = [
        np.array([[line.split().count(word) for word in words] for line in file.read_text().splitlines()])
        for file, words in zip(files, model.vocabularies_)
    ]
    assert np.allclose(shares_in(every.out), model.transform(counts))
    monkeypatch.setattr("polyad.cli.commands.transform.BLOCK_DOCUMENTS", 7)
    assert polyad("transform", path, *files).out == every.out
    german = polyad("transform", path, files[2], "--view", 2)
    assert np.allclose(shares_in(german.out), model.transform([None, None, counts[2]]))
    mixed = polyad("transform", path, files[2], files[0], "--view", "de", "--view", 0)  # in any order
    assert np.allclose(shares_in(mixed.out), model.transform([counts[0], None, counts[2]]))
    assert np.abs(shares_in(mixed.out) - shares_in(german.out)).max() > 1e-4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give all of them in their order (en, fr, de), or say which each is with --view"),
        (["--view", 3], "--view is one of en, fr, de, or its number from 0"),
        (["--view", "it"], "--view is one of en, fr, de, or its number from 0"),
        (["--view", 0, "--view", 1], "--view is given 2 times for 1 file;"),
        (["--view", 0, "--left-column", "text"], "options of a left and a right side are for models of two corpora"),
    ],
)
def test_which_view_is_told_or_asked_for(polyad, files, tmp_path, options, message):
    path = fitted_on_three(polyad, files, tmp_path)
    for command in ("transform", "topics", "evaluate"):
        done = polyad(command, path, files[0], *options)
        assert (done.code, message in done.err.replace("\n", " ")) == (2, True), done.err
    (tmp_path / "short.txt").write_text("kuh milch\n")
    done = polyad("transform", path, *files[:2], tmp_path / "short.txt")
    assert done.code == 1
    assert "each document needs its partner in the same row" in done.err


def test_words_of_each_view_are_guessed(polyad, files, tmp_path):
    path = fitted_on_three(polyad, files, tmp_path)
    done = polyad("evaluate", path, *files, "--json")
    assert done.code == 0, done.err
    values = done.json()["views"]
    assert [of["view"] for of in values] == ["en", "fr", "de"]
    for of in values:
        assert abs(of["bits"] - 2) < 0.2, "four words of a subject are alike"
        assert abs(of["unigram_bits"] - 3) < 0.1, "and eight words of all"
        assert len(of["topic_coherence"]) == 2
    alone = polyad("evaluate", path, files[2], "--view", 2, "--json").json()["views"]
    assert alone[0]["bits"] == values[2]["bits"]
    shown = polyad("evaluate", path, *files)
    assert "de: documents\t80" in shown.out
    assert "fair only of documents" in shown.err


def test_examples_of_aligned_corpora(polyad, files, tmp_path, monkeypatch):
    path = fitted_on_three(polyad, files, tmp_path)
    topics = polyad("topics", path, *files, "--json").json()["topics"]
    lines = [file.read_text().splitlines() for file in files]
    for topic in topics:
        example = topic["example"]
        row = int(example["id"])
        assert example["texts"] == {name: lines[number][row] for number, name in enumerate(WORDS)}
        assert set(lines[2][row].split()) <= set(topic["de"]["words"][:4])
        assert example["share"] > 0.9
    call = ("fit2", *files[:2], "-k", 2, "--stop-words", "none")
    assert all("texts" in topic["example"] for topic in polyad(*call, "--json").json()["topics"])
    assert "e.g." not in polyad(*call).out  # one line for each topic in a pipe
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("LINES", "100")
    for columns in (120, 40):
        monkeypatch.setenv("COLUMNS", str(columns))
        shown = polyad(*call).out
        assert "e.g. " in shown
        assert max(map(len, shown.splitlines())) <= columns
    assert "left: " in shown
    assert "right: " in shown
    for words in WORDS["fr"]:
        assert all(word in shown for word in words), "no word is broken in a narrow terminal"


def test_a_fit_goes_on_from_its_checkpoint(polyad, files, tmp_path, monkeypatch):
    whole, out, kept = (tmp_path / name for name in ("whole.polyad", "m.polyad", "run"))
    fit = ("fit", *files, "--aligned", "-k", 2, "--stop-words", "none", "-o")
    assert polyad(*fit, whole).code == 0
    with monkeypatch.context() as patch:
        patch.setattr("polyad.models.views.polylingual.polish_topics", _interrupted)
        assert polyad(*fit, out, "--checkpoint", kept).code == 130
    assert list(kept.glob("pass-*.npz"))
    assert polyad(*fit, out, "--checkpoint", kept).code == 2
    done = polyad(*fit, out, "--checkpoint", kept, "--resume")
    assert done.code == 0
    assert "Passes done before" in done.err
    assert not kept.exists()
    assert out.read_bytes() == whole.read_bytes()


def _interrupted(*given, **options):
    raise KeyboardInterrupt


def test_a_page_of_shards_in_orders_of_their_own_is_refused(polyad, files, tmp_path):
    model, shards = fitted_on_three(polyad, files, tmp_path), []
    for file in files:
        shards.append(tmp_path / f"{file.stem}.shards")
        assert polyad("index", file, "-o", shards[-1], "--stop-words", "none", "-q").code == 0
    done = polyad("report", model, *shards, "-o", tmp_path / "page.html")
    assert done.code == 1
    told = done.err.replace("\n", " ")
    assert "do not belong together" in told
    assert "Give the corpora that these shards were made of instead" in told
    assert "polyad.engine" not in told
    assert not (tmp_path / "page.html").exists()
