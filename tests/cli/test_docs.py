"""Every command that the documentation shows works as it is shown."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "command.md"


def test_the_commands_of_the_page_run(polyad, corpus, tmp_path, monkeypatch):
    shutil.copy(corpus, tmp_path / "texts.csv")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    assert len(lines) >= 10
    for line in lines:
        if "|" in line:
            command = line.replace("polyad ", f"{shlex.quote(sys.executable)} -m polyad.cli ", 1)
            done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
            assert (done.returncode, done.stderr) == (0, b""), line
        else:
            arguments = shlex.split(line)
            assert arguments[0] == "polyad"
            assert polyad(*arguments[1:]).code == 0, line


@pytest.mark.parametrize(
    "name",
    [
        "demo",
        "fit",
        "fit2",
        "topics",
        "transform",
        "evaluate",
        "select",
        "report",
        "index",
        "update",
        "align",
        "info",
        "convert",
    ],
)
def test_the_page_names_every_command(name):
    assert f"| `{name}` |" in PAGE.read_text()
