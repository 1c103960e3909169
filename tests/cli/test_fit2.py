"""Two aligned corpora: topics side by side, the model file, new documents of one side or both."""

import csv
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import numpy as np
import pytest

from polyad import ICA, DiscreteCCA, PolylingualLDA, load
from polyad.corpus import read_corpus
from polyad.io import ModelFileError, fingerprint, read_model_file, save

TOPICS, WORDS, DOCUMENTS = 3, 12, 240
ENGLISH = ["the rain and the wind", "the tax and the budget", "the bread and the wine"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def paired_texts(n_documents=DOCUMENTS, seed=0):
    """Texts in two languages whose words are e0, e1, ... and f0, f1, ...; a dozen of them for each topic."""
    rng = np.random.default_rng(seed)
    mixtures = rng.dirichlet([0.2] * TOPICS, n_documents)

    def text(letter, mixture):
        topics = rng.choice(TOPICS, size=40, p=mixture)
        return " ".join(f"{letter}{'abc'[topic]}{'abcdefghijkl'[rng.integers(WORDS)]}" for topic in topics)

    return [[text(letter, mixture) for mixture in mixtures] for letter in "ef"]


@pytest.fixture(scope="module")
def texts():
    return paired_texts()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, texts):
    """The same pairs as two files of lines, two tables with ids, and one table with two columns."""
    place = tmp_path_factory.mktemp("pairs")
    for name, side in zip(("left", "right"), texts):
        (place / f"{name}.txt").write_text("".join(f"{text}\n" for text in side))
        rows = "".join(f"d{number},{text}\n" for number, text in enumerate(side))
        (place / f"{name}.csv").write_text(f"id,text\n{rows}")
    pairs = zip(*texts)
    lines = (json.dumps({"id": f"d{number}", "en": en, "fr": fr}) + "\n" for number, (en, fr) in enumerate(pairs))
    (place / "both.jsonl").write_text("".join(lines))
    return place


@pytest.fixture(scope="module")
def paired(folder):
    from polyad.cli.app import run

    path = folder / "paired.polyad"
    files = [str(folder / "left.csv"), str(folder / "right.csv")]
    assert run(["fit2", *files, "-k", "3", "-o", str(path), "-q"]) == 0
    return path


def rows_of(text):
    header, *rows = csv.reader(io.StringIO(text))
    return header, [row[0] for row in rows], np.array([[float(value) for value in row[3:]] for row in rows])


def on_terminal(arguments, columns=60):
    """Run the command on a terminal of so many columns, and give its exit code and the lines it wrote."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "polyad.cli", *map(str, arguments)]
    child = subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    written = b""
    while True:
        try:
            block = os.read(leader, 65536)
        except OSError:  # the terminal is gone with the last process on it
            break
        if not block:
            break
        written += block
    os.close(leader)
    return child.wait(timeout=10), ESCAPES.sub("", written.decode()).replace("\r\n", "\n").split("\n")


def test_topics_are_shown_side_by_side(polyad, folder, tmp_path):
    done = polyad("fit2", folder / "left.txt", folder / "right.txt", "-k", 3, "-o", tmp_path / "m.polyad")
    assert done.code == 0, done.err
    header, *topics = [line.split("\t") for line in done.out.splitlines()]
    assert header == ["topic", "share", "left", "right"]
    pairs = set()
    for _, share, left, right in topics:
        assert share.endswith("%")
        letters = [{word[1] for word in side.split(", ")} for side in (left, right)]
        assert letters[0] == letters[1]
        assert [len(side) for side in letters] == [1, 1]
        assert {word[0] for word in left.split(", ")} == {"e"}
        assert {word[0] for word in right.split(", ")} == {"f"}
        pairs |= letters[0]
    assert pairs == {"a", "b", "c"}
    for told in ("240 documents", "Left words: 36", "Right words: 36", "Reading: ", "Splitting: ", "pairs per second"):
        assert told in done.err
    assert "Left: No language was found" in done.err
    assert "--right-stop-words" in done.err
    assert str(tmp_path / "m.polyad") in done.err


def test_json_quiet_and_a_model_that_is_not_kept(polyad, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = [folder / "left.csv", folder / "right.csv"]
    values = polyad("fit2", *files, "-k", 3, "-n", 4, "--json", "-q").json()
    assert (values["class"], values["n_components"], values["pairs"]) == ("PolylingualLDA", 3, DOCUMENTS)
    assert (values["left"]["words"], values["right"]["words"]) == (36, 36)
    assert sum(topic["share"] for topic in values["topics"]) == pytest.approx(1)
    for topic in values["topics"]:
        for side in ("left", "right"):
            assert len(topic[side]["words"]) == len(topic[side]["probabilities"]) == 4
    assert set(values["seconds"]) == {"reading", "splitting", "fitting", "steps"}
    assert "not kept" in polyad("fit2", *files, "-k", 3).err
    assert list(tmp_path.iterdir()) == []
    quiet = polyad("fit2", *files, "-k", 3, "-q", "-o", "m.polyad")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_two_columns_of_one_file_are_two_files(polyad, folder, paired, tmp_path):
    columns = ["--left-column", "en", "--right-column", "fr"]
    assert polyad("fit2", folder / "both.jsonl", *columns, "-k", 3, "-o", tmp_path / "m.polyad", "-q").code == 0
    assert (tmp_path / "m.polyad").read_bytes() == paired.read_bytes()
    parquet, pyarrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    objects = [json.loads(line) for line in (folder / "both.jsonl").read_text().splitlines()]
    parquet.write_table(pyarrow.Table.from_pylist(objects), tmp_path / "both.parquet")
    assert polyad("fit2", tmp_path / "both.parquet", *columns, "-k", 3, "-o", tmp_path / "p.polyad", "-q").code == 0
    assert (tmp_path / "p.polyad").read_bytes() == paired.read_bytes()


def test_any_number_of_cores_writes_the_same_bytes(polyad, folder, paired, tmp_path):
    for jobs in (1, 2):
        files = [folder / "left.csv", folder / "right.csv"]
        polyad("fit2", *files, "-k", 3, "-o", tmp_path / "m.polyad", "--jobs", jobs, "-q")
        assert (tmp_path / "m.polyad").read_bytes() == paired.read_bytes()


def test_a_loaded_model_knows_both_sides(folder, paired, tmp_path):
    model = load(paired)
    corpora = [
        read_corpus(folder / f"{name}.csv", options, vocabulary=words).counts
        for name, options, words in zip(("left", "right"), model.text_options_, model.vocabularies_)
    ]
    fitted = PolylingualLDA(3).fit(corpora)
    assert [{word[0] for word in words} for words in model.vocabularies_] == [{"e"}, {"f"}]
    for views in ([corpora[0], None], [None, corpora[1]], corpora):
        assert model.transform(views).tobytes() == fitted.transform(views).tobytes()
    assert model.project(corpora[1], 1).tobytes() == fitted.project(corpora[1], 1).tobytes()
    model.save(tmp_path / "again.polyad")
    assert (tmp_path / "again.polyad").read_bytes() == paired.read_bytes()
    assert read_model_file(paired).header["version"] == 1


def test_stop_words_of_each_side(polyad, folder, tmp_path):
    (tmp_path / "stop.txt").write_text("eaa\neab\nfaa\n")
    files = [folder / "left.csv", folder / "right.csv"]
    values = polyad("fit2", *files, "-k", 3, "--left-stop-words", tmp_path / "stop.txt", "--json", "-q").json()
    assert (values["left"]["words"], values["right"]["words"]) == (34, 36)
    values = polyad("fit2", *files, "-k", 3, "--stop-words", tmp_path / "stop.txt", "--json", "-q").json()
    assert (values["left"]["words"], values["right"]["words"]) == (34, 35)


def test_the_languages_are_found(polyad, tmp_path):
    (tmp_path / "en.txt").write_text(
        "".join(f"{ENGLISH[number % 3]} of the people were here\n" for number in range(60))
    )
    french = ["la pluie et le vent", "le budget et les impôts", "le pain et le vin"]
    (tmp_path / "fr.txt").write_text("".join(f"{french[number % 3]} des gens de la ville\n" for number in range(60)))
    values = polyad("fit2", tmp_path / "en.txt", tmp_path / "fr.txt", "-k", 2, "--json", "-q").json()
    assert (values["left"]["language"], values["right"]["language"]) == ("english", "french")
    assert "the" in values["left"]["dropped"]["stop words"]["examples"]


def test_transform_from_one_side_or_both(polyad, folder, paired, tmp_path):
    left, right = folder / "left.csv", folder / "right.csv"
    header, ids, both = rows_of(polyad("transform", paired, left, right).out)
    assert header == ["id", "topic", "topic_words", "topic_0", "topic_1", "topic_2"]
    assert ids == [f"d{number}" for number in range(DOCUMENTS)]
    np.testing.assert_allclose(both.sum(axis=1), 1)
    columns = ["--left-column", "en", "--right-column", "fr"]
    assert np.array_equal(rows_of(polyad("transform", paired, folder / "both.jsonl", *columns).out)[2], both)
    from_left = rows_of(polyad("transform", paired, left).out)[2]
    from_right = rows_of(polyad("transform", paired, folder / "both.jsonl", "--right-column", "fr").out)[2]
    assert not np.array_equal(from_left, both)
    assert (from_left.argmax(axis=1) == both.argmax(axis=1)).mean() > 0.9
    assert (from_left.argmax(axis=1) == from_right.argmax(axis=1)).mean() > 0.85
    piped = polyad("transform", paired, "-", right, "--format", "csv", stdin=left.read_bytes())
    assert np.array_equal(rows_of(piped.out)[2], both)
    done = polyad("transform", paired, left, right, "-o", tmp_path / "t.csv", "--json").json()
    assert (done["documents"], done["unknown_words"], done["empty_documents"]) == (DOCUMENTS, 0, 0)


def test_transform_of_two_sides_gives_the_same_in_any_blocks(polyad, folder, paired, monkeypatch):
    files = [folder / "left.txt", folder / "right.txt"]
    whole = polyad("transform", paired, *files).out
    monkeypatch.setattr("polyad.cli.commands.transform.BLOCK_DOCUMENTS", 50)
    monkeypatch.setattr("polyad.corpus.reading.BLOCK_CHARACTERS", 3300)  # blocks of the two sides end elsewhere
    assert polyad("transform", paired, *files).out == whole


def test_counts_of_two_sides(polyad, folder, tmp_path):
    for name in ("left", "right"):
        assert polyad("convert", folder / f"{name}.txt", tmp_path / f"{name}.npz", "-q").code == 0
        (tmp_path / f"{name}-words.txt").write_text("".join(f"{name}{number}\n" for number in range(36)))
    files = [tmp_path / "left.npz", tmp_path / "right.npz"]
    options = [f"--{name}-vocabulary={tmp_path / f'{name}-words.txt'}" for name in ("left", "right")]
    values = polyad("fit2", *files, *options, "-k", 3, "-o", tmp_path / "m.polyad", "--json", "-q").json()
    for side in ("left", "right"):
        assert all(word.startswith(side) for topic in values["topics"] for word in topic[side]["words"])
    assert load(tmp_path / "m.polyad").text_options_ == [None, None]
    assert len(rows_of(polyad("transform", tmp_path / "m.polyad", *files, *options).out)[1]) == DOCUMENTS


def test_topics_and_info_show_both_sides(polyad, paired):
    for by in ("relevance", "probability", "lift"):
        values = polyad("topics", paired, "-n", 3, "--by", by, "--json").json()
        assert [len(topic["right"]["words"]) for topic in values["topics"]] == [3, 3, 3]
    assert polyad("topics", paired).out.startswith("topic\tshare\tleft\tright\n")
    values = polyad("info", paired, "--json").json()
    assert values["n_words"] == {"left": 36, "right": 36}
    assert values["text_options"]["right"]["min_df"] == 2
    shown = polyad("info", paired).out
    assert "PolylingualLDA: 3 topics over 36 left and 36 right words" in shown
    assert "left text" in shown
    assert values["fingerprint"] in shown


@pytest.mark.filterwarnings("ignore::polyad.models.NoiseWarning")  # few sentences tell little
def test_other_models_and_private_topics(polyad, folder, texts, tmp_path):
    path = tmp_path / "m.polyad"
    files = [folder / "left.csv", folder / "right.csv"]
    assert polyad("fit2", *files, "-k", 3, "--private", 1, "--polish", 5, "-o", path, "-q").code == 0
    assert load(path).doc_topic_prior_.shape == (5,)
    assert rows_of(polyad("transform", path, *files).out)[2].shape == (DOCUMENTS, 3)
    counts = [read_corpus(file) for file in files]
    DiscreteCCA(2).fit(*counts).save(path)
    assert polyad("topics", path).out.startswith("topic\tcorrelation\tleft\tright\n")
    assert polyad("info", path).code == 0
    assert polyad("transform", path, *files).code == 0
    PolylingualLDA(2).fit([*counts, counts[0]]).save(path)
    assert polyad("topics", path).out.startswith("topic\tshare\tview 0\tview 1\tview 2\n")
    assert "2 topics over 36, 36 and 36 words" in polyad("info", path).out
    assert "a model of 3 corpora, and 2 are given" in polyad("transform", path, *files).err


def test_a_model_of_measurements_has_no_topics(polyad, folder, tmp_path):
    path = tmp_path / "ica.polyad"
    ICA(2).fit(np.random.default_rng(0).laplace(size=(300, 2))).save(path)
    assert "2 components over 2 columns" in polyad("info", path).out
    for call in (["topics", path], ["transform", path, folder / "left.csv"]):
        done = polyad(*call)
        assert done.code == 1
        assert "has no topics" in done.err


def test_a_terminal_of_60_columns(folder):
    code, lines = on_terminal(["fit2", folder / "left.csv", folder / "right.csv", "-k", "3", "--jobs", "1"])
    assert code == 0
    lines = [line.split("\r")[-1] for line in lines]
    assert max(map(len, lines)) <= 60
    at = next(number for number, line in enumerate(lines) if line.split()[:4] == ["topic", "share", "left", "right"])
    place = lines[at].index("right")
    shown = [line for line in lines[at + 2 :] if re.match(r" +\d* .*e[abc][a-l]", line)]
    assert len(shown) >= 6  # three topics, words wrapped under one another
    assert not any(re.search(r"\bf", line[:place]) or re.search(r"\be", line[place:]) for line in shown)


def test_words_cannot_take_over_the_terminal(polyad, tmp_path, monkeypatch):
    evil = "\x1b[2J[bold]x"
    counts = np.random.default_rng(0).poisson(2.0, (60, 4))
    model = PolylingualLDA(2).fit([counts, counts])
    save(model, tmp_path / "m.polyad", vocabulary=(["a", "b", "c", evil], ["d", "e", "f", "\u202eg"]))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    shown = polyad("topics", tmp_path / "m.polyad").out
    assert "\x1b[2J" not in shown
    assert "\u202e" not in shown
    assert "[bold]x" in shown


@pytest.fixture
def faulty(folder, texts, tmp_path, monkeypatch):
    """Files that do not fit together."""
    lines = (folder / "right.csv").read_text().splitlines(keepends=True)
    (tmp_path / "short.csv").write_text("".join(lines[:6] + lines[7:]))
    (tmp_path / "turned.csv").write_text("".join([lines[0], *lines[:0:-1]]))
    (tmp_path / "other.csv").write_text("".join(lines).replace("\nd7,", "\nx7,"))
    numbers = list(range(DOCUMENTS))
    (tmp_path / "numbers.csv").write_text("".join(["id,text\n", *(f"{n},{texts[1][n]}\n" for n in reversed(numbers))]))
    (tmp_path / "short.txt").write_text("fa fb fc\n" * 3)
    bad = (folder / "both.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in bad]
    del records[4]["fr"], records[9]["en"]
    (tmp_path / "bad.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    nameless = [{key: value for key, value in record.items() if key != "id"} for record in records]
    (tmp_path / "nameless.jsonl").write_text("".join(json.dumps(record) + "\n" for record in nameless))
    monkeypatch.chdir(tmp_path)
    return folder


COLUMNS = ["--left-column", "en", "--right-column", "fr"]
DATA_FAULTS = [
    (["left.csv", "short.csv"], "has 240 documents and short.csv has 239"),
    (["left.csv", "short.csv"], "The first difference is row 6: 'd5' on the left and 'd6' on the right"),
    (["left.txt", "short.txt"], "has 240 documents and short.txt has 3; each document needs its partner"),
    (["left.csv", "turned.csv"], "row 1 is 'd0' on the left and 'd239' on the right"),
    (["left.csv", "other.csv"], "row 8 is 'd7' on the left and 'x7' on the right"),
    (["left.txt", "numbers.csv"], "row 1 is '0' on the left and '239' on the right"),
    (["bad.jsonl", *COLUMNS, "--skip-bad"], "row 5 is 'd4' on the left and 'd5' on the right"),
    (["nameless.jsonl", *COLUMNS, "--skip-bad"], "bad records were skipped"),
    (["left.csv", *COLUMNS], "no column is named 'en'"),
    (["left.txt", *COLUMNS], "two columns are asked for, and lines has none"),
    (["left.csv", "none.csv"], "there is no such file"),
    (["left.csv", "right.csv", "--min-df", "241"], "left.csv: not one word of the 240 documents"),
    (["left.csv", "right.csv", "-k", "100"], "100"),
]


@pytest.mark.parametrize(("arguments", "message"), DATA_FAULTS)
def test_corpora_that_do_not_fit_are_told(polyad, faulty, arguments, message):
    known = ("left.csv", "right.csv", "left.txt", "right.txt")
    done = polyad("fit2", *(faulty / word if word in known else word for word in arguments), "-o", "m.polyad")
    assert done.code == 1, done.err
    assert done.out == ""
    assert done.err.splitlines()[-1].startswith("polyad: ")
    assert message in done.err.splitlines()[-1]
    assert not os.path.exists("m.polyad")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["left.csv"], "name its two columns with --left-column and --right-column, or give a second file"),
        (["left.csv", "--left-column", "text"], "only one file is given"),
        (["left.csv", "--left-column", "text", "--right-column", "text"], "both 'text'"),
        (["-", "-"], "standard input can be read once"),
        (["-", *COLUMNS], "standard input can be read once"),
        (["left.csv", "right.csv", "--polish", "much"], "--polish is 'much'"),
        (["left.csv", "right.csv", "--method", "magic"], "--method is 'magic'"),
        (["left.csv", "right.csv", "--private", "2", "--polish", "off"], "--private needs rounds"),
        (["left.csv", "right.csv", "--min-df", "much"], "--min-df"),
        ([], "Missing argument"),
    ],
)
def test_a_call_at_fault_is_one_sentence(polyad, folder, arguments, message):
    done = polyad("fit2", *(folder / word if word.endswith("csv") else word for word in arguments))
    assert (done.code, done.out) == (2, "")
    assert message in done.err.splitlines()[-1]


def test_ids_can_be_ignored(polyad, faulty, paired):
    done = polyad("fit2", faulty / "left.csv", "other.csv", "-k", 3, "--ignore-ids", "--json")
    assert done.code == 0, done.err
    assert polyad("transform", paired, faulty / "left.csv", "other.csv", "--ignore-ids", "-q").code == 0


def test_ids_of_one_side_in_another_order_can_be_ignored(polyad, tmp_path):
    """Nobody but the user knows that rows belong together which have the same ids in another order."""
    files = []
    for name, texts, ids in zip(("left", "right"), paired_texts(), (range(DOCUMENTS), range(DOCUMENTS)[::-1])):
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("\n".join(json.dumps({"id": f"d{n}", "text": text}) for n, text in zip(ids, texts)))
    out = tmp_path / "m.polyad"
    refused = polyad("fit2", *files, "-k", 3)
    assert (refused.code, "--ignore-ids" in refused.err) == (1, True)
    aligned = polyad("fit", *files, "--aligned", "-k", 3)
    assert (aligned.code, "--ignore-ids" in aligned.err) == (1, False), "which polyad fit does not have"
    done = polyad("fit2", *files, "-k", 3, "--ignore-ids", "-o", out, "--json")
    assert done.code == 0, done.err
    assert done.json()["topics"][0]["example"]["id"].startswith("d")
    for command in ("transform", "topics", "evaluate"):
        assert polyad(command, out, *files, "--ignore-ids", "-q").code == 0, command


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["paired", "left.csv", "short.csv"], 1, "row 6 is 'd5' on the left and 'd6' on the right"),
        (["paired", "left.txt", "short.txt"], 1, "has more than the 3 documents of the other side"),
        (["paired", "short.txt", "right.txt"], 1, "has more than the 3 documents of the other side"),
        (["paired", "nameless.jsonl", *COLUMNS, "--skip-bad"], 1, "bad records were skipped"),
        (["paired", "-", "-"], 2, "standard input can be read once"),
        (["golden", "left.csv", "right.csv"], 2, "is a model of one corpus"),
        (["golden", "left.csv", "--left-column", "text"], 2, "is a model of one corpus"),
    ],
)
def test_faults_in_transform(polyad, faulty, paired, model, arguments, code, message):
    places = {name: faulty / name for name in ("left.csv", "right.csv", "left.txt", "right.txt")}
    places |= {"paired": paired, "golden": model}
    done = polyad("transform", *(places.get(word, word) for word in arguments), "-o", "t.csv")
    assert (done.code, done.out) == (code, "")
    assert message in done.err.splitlines()[-1]
    assert not os.path.exists("t.csv")


def test_vocabularies_of_the_wrong_form_are_refused(tmp_path):
    counts = np.random.default_rng(0).poisson(2.0, (60, 4))
    model = PolylingualLDA(2).fit([counts, counts])
    path = tmp_path / "m.polyad"
    for words, message in ((["a", "b", "c", "d"], "2 of them"), ((["a"], None), r"vocabularies_\.0 has 1 word,")):
        with pytest.raises(ModelFileError, match=message):
            save(model, path, vocabulary=words)
    save(model, path, vocabulary=(None, ["a", "b", "c", "d"]))
    assert load(path).vocabularies_ == [None, ("a", "b", "c", "d")]
    assert fingerprint(load(path)) == read_model_file(path).header["fingerprint"]


def test_help_has_examples(polyad):
    done = polyad("fit2", "--help")
    assert done.code == 0
    assert "polyad fit2" in done.out.split("For example:")[1]
    assert "fit2" in polyad("--help").out
