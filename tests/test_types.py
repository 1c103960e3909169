"""What a strict type checker says of a user's script."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "data" / "user_script.py"


def check(script, tmp_path):
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path), str(script)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_a_strict_script_is_accepted_and_mistakes_are_found(tmp_path):
    pytest.importorskip("mypy")
    found = check(SCRIPT, tmp_path)
    assert found.returncode == 0, found.stdout
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from polyad import LDA, load\n"
        'LDA(2, polish="quick")\n'
        'words: list[int] = LDA(2).fit([[1]]).topics()\n'
        'number: str = load("a.polyad", LDA).n_features_in_\n'
    )  # fmt: skip
    said = check(wrong, tmp_path).stdout
    assert [f"wrong.py:{line}: error" in said for line in (2, 3, 4)] == [True, True, True], said
