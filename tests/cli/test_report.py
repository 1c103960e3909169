"""`polyad report`, `polyad fit --report` and names of topics on the command line."""

import json
import re
import shutil

import numpy as np
import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")


@pytest.fixture
def table(tmp_path, corpus):
    """Return the small corpus as a table with years and places."""
    import csv

    path = tmp_path / "texts.csv"
    with open(corpus, encoding="utf-8", newline="") as rows, open(path, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        for number, row in enumerate(csv.reader(rows)):
            writer.writerow([*row, *(("year", "place") if number == 0 else (1990 + number % 4, f"p{number % 2}"))])
    return path


def data_of(path):
    text = path.read_text("utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])


def test_report_shows_documents_dates_and_groups(polyad, model, table, tmp_path):
    out = tmp_path / "r.html"
    told = polyad("report", model, table, "-o", out, "--date-column", "year", "--group-column", "place")
    assert told.code == 0
    assert told.out == ""
    assert f"Report: {out}" in told.err
    data = data_of(out)
    assert data["groups"]["names"] == ["p0", "p1"]
    assert {row["x"] for row in data["charts"]["time"]["data"]["values"]} == {1990, 1991, 1992, 1993}
    assert "<title>Topics of texts.csv</title>" in out.read_text("utf-8")


def test_report_of_a_model_alone_and_for_machines(polyad, model, tmp_path):
    out = tmp_path / "r.html"
    told = polyad("report", model, "-o", out, "--json", "--title", "A <b> title")
    assert told.json()["bytes"] == out.stat().st_size
    assert "<title>A &lt;b&gt; title</title>" in out.read_text("utf-8")


def test_fit_writes_the_page_that_report_writes(polyad, table, tmp_path):
    first, second, kept = tmp_path / "a.html", tmp_path / "b.html", tmp_path / "m.polyad"
    assert polyad("fit", table, "-k", "2", "-o", kept, "--report", first, "--group-column", "place").code == 0
    assert polyad("report", kept, table, "-o", second, "--group-column", "place").code == 0
    one, other = data_of(first), data_of(second)
    for data in (one, other):
        data["facts"] = [fact for fact in data["facts"] if fact[0] != "Time"]  # a file does not keep the seconds
    assert one == other


def test_standard_input_has_a_page_without_texts(polyad, model, table, tmp_path):
    out = tmp_path / "r.html"
    given = table.read_bytes()
    assert polyad("report", model, "-", "-o", out, "--format", "csv", stdin=given).code == 0
    assert data_of(out)["documents"]
    told = polyad("report", model, "-", "-o", out, "--date-column", "year", stdin=given)
    assert told.code == 2
    assert "standard input has one use" in told.err


@pytest.fixture
def languages(tmp_path):
    """Return the same 180 short texts in three languages, as three files."""
    files = []
    for name, rain, bank, day in (
        ("en", "rain wind storm", "bank loan money", "day"),
        ("fr", "pluie vent orage", "banque argent", "jour"),
        ("de", "regen wind sturm", "bank geld", "tag"),
    ):
        files.append(tmp_path / f"{name}.txt")
        files[-1].write_text("".join(f"{rain if n % 2 else bank} {day}{n % 7}\n" * 3 for n in range(60)))
    return files


def timeless(data):
    """Return the values of a page without the seconds, which a file of a model does not keep."""
    return {**data, "facts": [fact for fact in data["facts"] if fact[0] != "Time"]}


def test_two_languages_stand_side_by_side(polyad, languages, tmp_path):
    left, right, _ = languages
    kept, first, second = tmp_path / "both.polyad", tmp_path / "a.html", tmp_path / "b.html"
    told = polyad("fit2", left, right, "-k", "2", "-o", kept, "--report", first)
    assert f"Report: {first}" in told.err
    assert polyad("report", kept, left, right, "-o", second).code == 0
    data = data_of(first)
    assert timeless(data) == timeless(data_of(second))
    assert [view["name"] for view in data["views"]] == ["en", "fr"]
    assert "pluie" in data["views"][1]["words"]
    assert all(0 < topic["stability"] <= 1 for topic in data["topics"])
    for view in data["views"]:  # each word with its probability and its standard error
        assert all(0 <= error < probability for words in view["wordsOf"] for _, probability, error in words[:5])


def test_three_languages_stand_side_by_side(polyad, languages, tmp_path):
    kept, first, second = tmp_path / "three.polyad", tmp_path / "a.html", tmp_path / "b.html"
    told = polyad("fit", *languages, "--aligned", "-k", "2", "-o", kept, "--report", first, "--json").json()
    assert told["report"] == str(first)
    assert polyad("report", kept, *languages, "-o", second).code == 0
    data = data_of(first)
    assert timeless(data) == timeless(data_of(second))
    assert [view["name"] for view in data["views"]] == ["en", "fr", "de"]
    assert len(data["documentsOf"][0][0][2]) == 3
    told = polyad("report", kept, *languages[:2], "-o", second)
    assert told.code == 2
    assert "a model of 3 aligned corpora, and 2 are given" in told.err


def test_a_page_shows_how_the_number_of_topics_was_chosen(polyad, model, table, tmp_path):
    page, out = tmp_path / "choice.html", tmp_path / "r.html"
    found = polyad("select", table, "--min", "2", "--max", "4", "--report", page, "--json")
    choice = data_of(page)
    titles = [section[0] for section in choice["sections"]]
    assert titles == ["Held-out bits", "Coherence", "Stability", "All numbers"]
    bits = [row["bits"] for row in found.json()["table"]]
    assert [float(row[1]) for row in choice["sections"][-1][3][1:]] == pytest.approx(bits, abs=6e-4)
    (tmp_path / "choice.json").write_text(found.out)
    assert polyad("report", model, table, "-o", out, "--selection", tmp_path / "choice.json").code == 0
    charts = data_of(out)["charts"]
    assert [row["y"] for row in charts["selection-bits"]["layer"][0]["data"]["values"]] == pytest.approx(bits, rel=1e-5)
    (tmp_path / "choice.json").write_text('{"table": 3}')
    told = polyad("report", model, table, "-o", out, "--selection", tmp_path / "choice.json")
    assert told.code == 1
    assert "not what polyad select --json prints" in told.err


def test_models_of_measurements_have_pages_of_tables_of_numbers(polyad, tmp_path):
    from polyad import ICA, NonGaussianCCA
    from polyad.datasets import make_ica, make_nongaussian_cca

    signals = make_ica(600, 3, sources="skewed").X
    kept, out = tmp_path / "ica.polyad", tmp_path / "r.html"
    ICA(3).fit(signals).save(kept)
    np.save(tmp_path / "x.npy", signals)
    np.savetxt(tmp_path / "x.csv", signals, delimiter=",", header="a,b,c", comments="")
    pages = []
    for name in ("x.npy", "x.csv"):
        assert polyad("report", kept, tmp_path / name, "-o", out, "--rate", "100", "--title", "Signals").code == 0
        pages.append(data_of(out))
    assert pages[0] == pages[1]
    assert [section[0] for section in pages[0]["sections"]][:2] == ["Sources", "Spectrograms"]
    assert polyad("report", kept, "-o", out).code == 0
    assert [section[0] for section in data_of(out)["sections"]] == ["Mixing", "Certainty"]
    told = polyad("report", kept, tmp_path / "x.csv", "-o", out, "--group-column", "a")
    assert told.code == 2
    assert "a model of measurements" in told.err
    (tmp_path / "x.csv").write_text("a,b,c\n1,2,3\n1,two,3\n")
    told = polyad("report", kept, tmp_path / "x.csv", "-o", out)
    assert told.code == 1
    assert "Row 3 of" in told.err
    views = make_nongaussian_cca(400, (4, 5), 2)
    NonGaussianCCA(2).fit(views.X, views.Y).save(kept)
    np.save(tmp_path / "x.npy", views.X)
    np.save(tmp_path / "y.npy", views.Y)
    assert polyad("report", kept, tmp_path / "x.npy", tmp_path / "y.npy", "-o", out).code == 0
    titles = ["Correlations", "Left loadings", "Right loadings", "Sources", "Certainty"]
    assert [section[0] for section in data_of(out)["sections"]] == titles


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["report", "MODEL", "TABLE", "-o", "TABLE"], 2, "read by this very command"),
        (["report", "MODEL", "TABLE", "--date-column", "nosuch"], 1, "no column is named 'nosuch'"),
        (["report", "MODEL", "TABLE", "--date-column", "id"], 1, "give ISO dates"),
        (["report", "MODEL", "TABLE", "TABLE"], 2, "model of one corpus"),
        (["fit", "TABLE", "--date-column", "year"], 2, "give --report FILE"),
        (["fit", "TABLE", "--report", "nosuch/r.html"], 1, "there is no folder"),
        (["topics", "MODEL", "--name", "Courts"], 2, "as in --name 3=Courts"),
        (["topics", "MODEL", "--name", "9=Courts"], 2, "no topic 9"),
    ],
)
def test_what_is_wrong_is_said(polyad, model, table, tmp_path, monkeypatch, arguments, code, sentence):
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "own.polyad"
    shutil.copy(model, own)
    told = polyad(*[{"MODEL": own, "TABLE": table}.get(argument, argument) for argument in arguments])
    assert told.code == code
    assert sentence in told.err
    assert not list(tmp_path.glob("*.html"))


def test_without_the_extra_a_sentence_says_what_to_install(polyad, model, tmp_path, monkeypatch):
    from polyad.report import extra

    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    extra.import_altair.cache_clear()
    told = polyad("report", model, "-o", tmp_path / "r.html")
    extra.import_altair.cache_clear()
    assert told.code == 2
    assert "pip install 'polyad[report]'" in told.err


def test_names_are_kept_shown_and_taken_away(polyad, model, corpus, tmp_path):
    own = tmp_path / "own.polyad"
    shutil.copy(model, own)
    before = polyad("topics", own).out
    named = polyad("topics", own, "--name", "1=Rain & wind", "--name", "0=\x1b[31mMoney")
    assert named.code == 0
    header, first, second, *_ = named.out.splitlines()
    assert header == "topic\tshare\tname\twords"
    assert second.split("\t")[2] == "Rain & wind"
    assert "\x1b" not in first
    assert polyad("topics", own, "--json").json()["topics"][1]["name"] == "Rain & wind"
    called = [row.split(",")[1:3] for row in polyad("transform", own, corpus).out.splitlines()[1:]]
    assert {name for number, name in called if number == "1"} == {"Rain & wind"}
    assert polyad("topics", own, "--name", "0=", "--name", "1=").out == before
