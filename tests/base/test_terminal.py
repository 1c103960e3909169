"""The bar on a terminal: what it shows, when it is drawn, and that it is gone afterwards."""

import io
import re
import sys

import pytest

from polyad.base.terminal import bar, can_draw, clock, console


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal(monkeypatch):
    """Let standard error be a terminal; in the test itself, since pytest sets it anew after fixtures."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    return screen


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0:00"),
        (0.4, "0:00"),
        (59.6, "1:00"),
        (60, "1:00"),
        (3599, "59:59"),
        (3600, "1:00:00"),
        (360061, "100:01:01"),
    ],
)
def test_a_clock(seconds, text):
    assert clock(seconds) == text


def test_a_bar_needs_a_terminal_and_rich(monkeypatch):
    terminal(monkeypatch)
    assert can_draw()
    monkeypatch.setenv("TERM", "dumb")
    assert not can_draw()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("polyad.base.terminal.find_spec", lambda name: None)
    assert not can_draw()
    monkeypatch.undo()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not can_draw()


def test_words_of_a_corpus_are_no_markup(capsys):
    pytest.importorskip("rich")
    screen = console()
    screen.print("[red]sun[/red] :smile: 42")
    assert capsys.readouterr().out == "[red]sun[/red] :smile: 42\n"


@pytest.mark.parametrize(
    ("columns", "has_bar", "has_title"), [("120", True, True), ("80", True, False), ("60", False, False)]
)
def test_narrow_terminals_have_less_room(monkeypatch, columns, has_bar, has_title):
    pytest.importorskip("rich")
    screen = terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", columns)
    with bar("Learning topics") as moved:
        moved(0.5, "moments", 30.0)
    drawn = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue())
    assert " 50%" in drawn
    assert "moments" in drawn
    assert "0:30 left" in drawn
    assert ("━" in drawn) == has_bar
    last = drawn[: drawn.rindex(" 50%")].split("\r")[-1]
    assert ("Learning topics" in last) == has_title


def test_the_bar_is_gone_after_an_error(monkeypatch):
    pytest.importorskip("rich")
    screen = terminal(monkeypatch)

    def fail():
        with bar("Learning") as moved:
            moved(None, "reading")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert screen.getvalue().rstrip().endswith("\x1b[2K")  # the last thing is to erase the line
    assert "\x1b[?25h" in screen.getvalue()  # and the cursor is back
