"""The page of what a person sees is what the command prints, in every width."""

import os
import pty
import shutil
import subprocess
import sys

import pytest

from terminal import CALLS, PAGE, TEXTS, WIDTHS, in_tmux, sections, steady

# All calls in one process: most of the time of each would go to loading libraries.
SCRIPT = """
import os, shlex, sys
from polyad.cli.app import run
for width in sys.argv[1].split(","):
    os.environ["COLUMNS"] = width
    for call in sys.argv[2:]:
        run(shlex.split(call)[1:])
        print("----", flush=True)
"""


def shown_sections():
    text = PAGE.read_text(encoding="utf-8")
    return text[text.index(f"\n## {WIDTHS[0]} columns") : text.index("\n## The demo")]


def on_a_terminal(folder):
    """Run the calls of the page with a terminal for standard output and error, one that draws no bars."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", SCRIPT, ",".join(map(str, WIDTHS)), *CALLS]
    environment = {**os.environ, "TERM": "dumb", "LINES": "100"}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, cwd=folder, env=environment) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the other side is closed
                break
            text += part
        assert process.wait() == 0
    os.close(ours)
    *found, last = text.decode().replace("\r\n", "\n").split("----\n")
    assert last == ""
    return {(call, width): found.pop(0).splitlines() for width in WIDTHS for call in CALLS}


@pytest.mark.skipif(sys.platform != "linux", reason="a terminal of other systems ends in another way")
def test_the_page_shows_what_is_printed(tmp_path):
    pytest.importorskip("rich")
    shutil.copy(TEXTS, tmp_path / "texts.csv")
    found = on_a_terminal(tmp_path)
    assert all(len(line) <= width for (_, width), lines in found.items() for line in lines)
    assert steady(sections(lambda call, width: found[call, width])) == steady(shown_sections())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_the_page_shows_what_tmux_captures():
    assert steady(in_tmux()) == steady(shown_sections())


def test_what_varies_is_left_out_and_nothing_else():
    text = "    Fitting    0.10 s, 1 document per\n               second\n    Model      m (9 kB)\n    topic  0.512\n"
    assert steady(text) == "Model      m (*)\ntopic  0.512\n"
    assert steady("     2   3.968   0.05   recommended\n") == steady("     2   3.968   7.15   recommended\n")
    assert steady("     2   3.968   0.05\n") != steady("     2   3.969   0.05\n")
