"""Packages that import their names when they are first asked for."""

import subprocess
import sys
from importlib import import_module

import pytest

import polyad
from polyad.base.lazy import lazily

LAZY = ["polyad", "polyad.corpus", "polyad.io", "polyad.metrics", "polyad.report"]


@pytest.mark.parametrize("package", LAZY)
def test_every_public_name_is_there_and_listed(package):
    module = import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        assert value is getattr(module, name)
        assert name in dir(module)
    assert len(set(module.__all__)) == len(module.__all__)


@pytest.mark.parametrize("package", LAZY)
def test_only_public_names_are_listed(package):
    module = import_module(package)
    others = [name for name in dir(module) if not name.startswith("__") and name not in module.__all__]
    assert not others or package == "polyad"  # which also has packages
    assert all(import_module(f"polyad.{name}") for name in others)


@pytest.mark.parametrize("package", LAZY)
def test_other_names_are_told_as_python_does(package):
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        import_module(package).nothing  # noqa: B018


def test_a_name_is_imported_once(monkeypatch):
    monkeypatch.setitem(sys.modules, "shelf", type(sys)("shelf"))
    find, listed = lazily("shelf", {"math": ("pi", "tau"), "cmath": ("phase",)}, packages=("sub",))
    assert find("pi") == pytest.approx(3.14159, abs=1e-5)
    assert sys.modules["shelf"].pi == find("pi")
    assert "tau" not in vars(sys.modules["shelf"])
    assert {"pi", "tau", "phase", "sub"} <= set(listed())
    with pytest.raises(AttributeError, match="no attribute 'e'"):
        find("e")


def test_importing_the_package_loads_nothing_heavy():
    heavy = ("numba", "sklearn", "scipy", "numpy", "pandas", "altair")
    code = f"import sys, polyad; print([name for name in {heavy!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_models_are_what_is_public_and_nothing_else_is_a_model():
    public = {name for name in polyad.__all__ if isinstance(getattr(polyad, name), type)}
    models = import_module("polyad.models")
    assert public == {name for name in models.__all__ if hasattr(getattr(models, name), "get_params")}
