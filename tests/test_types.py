"""What a strict type checker says of a user's script."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import polyad

SCRIPT = Path(__file__).parent / "data" / "user_script.py"
ANSWERS = ("fit", "fit_transform", "transform", "predict", "predict_proba", "score", "topics", "project", "stability")


def check(script, tmp_path):
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path), str(script)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_script_uses_all_that_is_public():
    """All models and functions of the library, samplers and measures; `make lint` checks the script."""
    used = set(re.findall(r"\w+", SCRIPT.read_text()))
    samplers = {name for name in polyad.datasets.__all__ if name.startswith("make_")}
    assert not {*polyad.__all__, *samplers, *polyad.metrics.__all__} - used - {"Alignment"}


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


@pytest.mark.slow
def test_answers_of_every_model_have_types(tmp_path):
    """Whatever a model can answer, found by itself: none is Any, and ``load`` gives one of the models."""
    pytest.importorskip("mypy")
    models = [name for name in polyad.__all__ if hasattr(getattr(polyad, name), "get_params")]
    asked = [(name, answer) for name in models for answer in ANSWERS if hasattr(getattr(polyad, name), answer)]
    script = tmp_path / "answers.py"
    lines = ["import polyad", *(f"reveal_type(polyad.{name}(2).{answer})" for name, answer in asked)]
    script.write_text("\n".join([*lines, 'reveal_type(polyad.load("a.polyad"))']) + "\n")
    said = re.findall(r'note: Revealed type is "(.*)"', check(script, tmp_path).stdout)
    assert len(said) == len(asked) + 1 > 60
    # Of topics there are two forms: lists of words, and a table of a library that need not be there.
    untyped = [
        pair for pair, text in zip(asked, said) if text == "Any" or (text.startswith("def") and text.endswith("-> Any"))
    ]
    assert not untyped
    assert all(f".{name}" in said[-1] for name in models)
