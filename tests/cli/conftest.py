"""A small corpus, a model of it, and the command run in this process."""

import io
import json
import types
from pathlib import Path

import pytest

from polyad.cli.app import run

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="session")
def corpus():
    return str(DATA / "golden.csv")


@pytest.fixture(scope="session")
def model():
    return str(DATA / "golden.polyad")


@pytest.fixture
def polyad(capsys, monkeypatch):
    """Run the command here, and give its exit code, standard output and standard error."""

    def call(*arguments, stdin=None):
        if stdin is not None:
            monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(stdin)))
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return types.SimpleNamespace(code=code, out=out, err=err, json=lambda: json.loads(out))

    return call
