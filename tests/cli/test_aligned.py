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
    assert "80 rows" in table.err or "rows a second" in table.err


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
