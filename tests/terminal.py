"""What a person sees in a real terminal (tmux) of several widths: ``python tests/terminal.py`` writes the page of it.

`tests/cli/test_terminal_page.py` holds the page to what the command prints.
"""

import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "terminal.md"
TEXTS = ROOT / "tests" / "data" / "golden.csv"
WIDTHS = (120, 80, 40)
NUMBERS = itertools.count()
CALLS = (
    "polyad fit texts.csv -k 2 -n 6 -o model.polyad",
    "polyad topics model.polyad",
    "polyad transform model.polyad texts.csv",
    "polyad evaluate model.polyad texts.csv",
    "polyad select texts.csv --min 1 --max 3",
    "polyad info model.polyad",
    "polyad fit missing.csv",
    "polyad topics model.polyad --topics 3",
)
HEAD = """# What the command shows

The commands of [command.md](command.md) in a terminal of 120, 80 and 40 columns. Lines are wrapped between words, and
columns for which there is no room are in the table that a pipe gets. `texts.csv` is `tests/data/golden.csv`, twelve
sentences with the columns `id` and `text`.

Everything below was captured by `python tests/terminal.py` in tmux, which writes this page.
"""
DEMO = """
## The demo

The first 40 lines of `polyad demo`; the libraries that are installed beside polyad are its texts.
"""
# What differs between two runs, machines or versions: seconds, sizes of files, sums.
VARIES = re.compile(r"\d+(\.\d+)? s\b|\d+ kB|\b[0-9a-f]{12,}\b|numpy [\d.]+|polyad \d[\d.]*")
TIMES = re.compile(r"^(Reading|Splitting|Fitting|Time)  .*\n( +(per )?second\n)?", re.MULTILINE)
SECONDS = re.compile(r"^( +\d .*?) +\d+\.\d\d(?=( +recommended)?$)", re.MULTILINE)


def captured(call, width, folder):
    """Return the lines that a terminal of so many columns shows after a call."""
    name = f"polyad-{os.getpid()}-{next(NUMBERS)}"  # a server that ends takes its socket with it
    tmux = ["tmux", "-L", name, "-f", os.devnull]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    script = f"{call}; {shlex.join([*tmux, 'wait-for', '-S', 'done'])}; sleep 60"
    environment = {**os.environ, "PATH": path, "TERM": "xterm-256color"}
    start = [*tmux, "new-session", "-d", "-x", str(width), "-y", "200", script]
    subprocess.run(start, check=True, cwd=folder, env=environment)
    try:
        subprocess.run([*tmux, "wait-for", "done"], check=True, timeout=300)
        shown = subprocess.run([*tmux, "capture-pane", "-p", "-S", "-"], check=True, capture_output=True, text=True)
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)
    return shown.stdout.rstrip().splitlines()


def sections(run):
    """Return the text of the page that one function, of a call and a width, gives the lines of."""
    parts = []
    for width in WIDTHS:
        parts.append(f"\n## {width} columns\n")
        for call in CALLS:
            parts += ["", f"    $ {call}", *(f"    {line}".rstrip() for line in run(call, width))]
    return "\n".join(parts) + "\n"


def in_tmux():
    """Run all calls of the page in tmux, and return its sections."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(TEXTS, Path(folder, "texts.csv"))
        return sections(lambda call, width: captured(call, width, folder))


def steady(text):
    """Leave out of the text of the page what differs between two runs."""
    lines = "\n".join(line.removeprefix("    ").rstrip() for line in text.splitlines()) + "\n"
    return SECONDS.sub(r"\1", VARIES.sub("*", TIMES.sub("", lines)))


if __name__ == "__main__":
    shown = in_tmux()
    with tempfile.TemporaryDirectory() as place:
        demo = "\n".join(f"    {line}".rstrip() for line in ["$ polyad demo", *captured("polyad demo", 80, place)[:40]])
    PAGE.write_text(f"{HEAD}{shown}{DEMO}\n{demo}\n", encoding="utf-8")
