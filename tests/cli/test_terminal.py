"""What a person sees: text that is safe, tables that fit, and sentences of the library in the words of the command."""

import csv
import io
import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.tables import open_table, table_format
from polyad.cli.terminal.text import clean, one_line, sentence, shortened, shown
from polyad.cli.terminal.wording import for_people

HOSTILE = st.text(st.sampled_from("ab \t\n\x00\x1b\x7f\u202e\u200b\u2028é汉‌\ud800"), max_size=30)


@given(HOSTILE)
@settings(max_examples=40, deadline=None)
def test_nothing_hides_or_moves_the_cursor(text):
    for found in (clean(text), shown(text, 9), one_line(text), sentence(text), shortened(text, 9)):
        assert not any(bad in found for bad in "\x00\x1b\x7f\u202e\u200b\u2028\n\t\ud800")
    assert clean(clean(text)) == clean(text)
    assert "  " not in one_line(text)
    assert len(shown(text, 9)) <= 9


def test_joiners_stay_and_plain_words_are_not_touched():
    word = "می‌خواهم"
    assert clean(word) == word
    assert clean("budget") == "budget"


@pytest.mark.parametrize(
    ("text", "characters", "found"),
    [
        ("to be", 10, "to be"),
        ("to be or not", 8, "to be …"),
        ("antidisestablishment", 8, "antidis…"),
        ("a " * 500, 9, "a a a a …"),
        (" " * 400, 5, "…"),
    ],
)
def test_the_beginning_of_a_text(text, characters, found):
    assert shortened(text, characters) == found


def test_a_sentence_with_something_endless_in_it_has_its_beginning_and_its_end():
    found = sentence("begin " + "x" * 10**6 + " end")
    assert found.startswith("begin ")
    assert found.endswith(" end")
    assert len(found) < 1100


SHARES = np.array([[0.7, 0.3, 9.0], [0.2, 0.8, 5.0]])  # the last column is no topic
COLUMNS, NAMES = ("id", "t0", "t1", "other"), ("sun, rain", "tax")


def table(path):
    with open_table(path, COLUMNS, NAMES) as write:
        write(["a", "b"], SHARES)
        write(["c,\n"], SHARES[:1])


WANTED = [
    ["a", 0, "sun, rain", 0.7, 0.3, 9.0],
    ["b", 1, "tax", 0.2, 0.8, 5.0],
    ["c,\n", 0, "sun, rain", 0.7, 0.3, 9.0],
]


def test_tables_in_every_format_are_the_same(tmp_path):
    header = ["id", "topic", "topic_words", "t0", "t1", "other"]
    table(str(tmp_path / "t.csv"))
    rows = list(csv.reader(io.StringIO((tmp_path / "t.csv").read_bytes().decode())))
    assert rows[0] == header
    assert [[a, int(b), c, *map(float, rest)] for a, b, c, *rest in rows[1:]] == WANTED
    table(str(tmp_path / "t.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert [list(line.values()) for line in lines] == WANTED
    assert [*lines[0]] == header
    parquet = pytest.importorskip("pyarrow.parquet")
    table(str(tmp_path / "t.parquet"))
    found = parquet.read_table(tmp_path / "t.parquet")
    assert found.column_names == header
    assert [list(row.values()) for row in found.to_pylist()] == WANTED


def test_a_table_that_fails_is_not_there(tmp_path):
    def fail():
        with open_table(str(tmp_path / "t.csv"), COLUMNS, NAMES) as write:
            write(["a"], SHARES[:1])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["table", "table.xlsx", "table.csv.gz"])
def test_formats_that_are_not_known_are_told(path):
    with pytest.raises(CallError, match=r"does not tell the format of the table; end it in \.parquet, \.csv, \.jsonl"):
        table_format(path)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("columns", "whole"), [(120, True), (50, False)])
def test_a_table_on_a_terminal_fits_it(monkeypatch, columns, whole):
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", str(columns))
    with open_table("-", COLUMNS, NAMES) as write:
        write(["a\x1b[31m" + "x" * 90, "b"], SHARES)
    header, first, second = screen.getvalue().splitlines()
    assert all(len(line) <= columns for line in (header, first, second))
    assert "\x1b" not in first
    assert header.split()[:4] == ["id", "topic", "share", "words"]
    assert ("other" in header) == whole
    assert first.split()[1:3] == ["0", "0.7000"]
    assert second.split()[:4] == ["b", "1", "0.8000", "tax"]


@pytest.mark.parametrize(
    ("library", "command"),
    [
        (
            "3 topics were asked for, and about 1 stand out from the noise of the second moment (eigenvalue 2e-5, "
            "noise 1e-4): ask for fewer.",
            "About one of the 3 topics is more than chance for sure, and the others may be accidents of these "
            "documents (signal 2e-5, noise 1e-4). Ask for 1 (-k 1), or give more documents.",
        ),
        (
            "1 topic was asked for, and about 0 stand out from the noise of the second moment (eigenvalue 2, noise 4).",
            "What the documents have in common may be chance (signal 2, noise 4). Give more documents, or longer ones.",
        ),
        (
            "The second moment of these data supports 0 of the 5 topics asked for: ...",
            "No topic can be told apart in these documents, and 5 were asked for. Give more or longer ones.",
        ),
        (
            "These data do not determine 1 of the 4 components (number 2; certainty 0.31): others would explain.",
            "These documents do not settle one topic (number 2, marked with a question mark): with a few documents "
            "more or less it could be another. Do not read much into it; ask for fewer topics, or give more documents "
            "(certainty 0.31).",
        ),
        (
            "row 3 is 'a' on the left and 'b' on the right; ignore_ids=True pairs rows whatever their ids are.",
            "row 3 is 'a' on the left and 'b' on the right; --ignore-ids pairs rows whatever their ids are.",
        ),
        ("raise max_announced, or stop_words='none'", "raise --max-announced, or --stop-words none"),
        ("my_min_df is no option, min_dfs neither", "my_min_df is no option, min_dfs neither"),
        ("--min-df stays", "--min-df stays"),
    ],
)
def test_the_library_in_the_words_of_the_command(library, command):
    assert for_people(library) == command
