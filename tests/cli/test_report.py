"""`polyad report`, `polyad fit --report` and names of topics on the command line."""

import json
import re
import shutil

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


def test_two_languages_stand_side_by_side(polyad, tmp_path):
    left, right = tmp_path / "en.txt", tmp_path / "fr.txt"
    left.write_text("".join(f"{'rain wind storm' if n % 2 else 'bank loan money'} day{n % 7}\n" * 3 for n in range(60)))
    right.write_text(
        "".join(f"{'pluie vent orage' if n % 2 else 'banque argent'} jour{n % 7}\n" * 3 for n in range(60))
    )
    kept, out = tmp_path / "both.polyad", tmp_path / "r.html"
    assert polyad("fit2", left, right, "-k", "2", "-o", kept, "-q").code == 0
    assert polyad("report", kept, left, right, "-o", out).code == 0
    data = data_of(out)
    assert [view["name"] for view in data["views"]] == ["en.txt", "fr.txt"]
    assert "pluie" in data["views"][1]["words"]


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
