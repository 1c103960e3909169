"""One way of writing in all packages, read from the source: places, names, docstrings and public names."""

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

import polyad

ROOT = Path(polyad.__file__).parent
# Public as a whole, like a package. Drawings have the names of what they draw, as commands have those of what they do.
CHARTS = Path("report/charts.py")
MODELS = {name for name in polyad.__all__ if hasattr(getattr(polyad, name), "get_params")}


@cache
def trees():
    return {path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}


@cache
def every_node():
    return [(path, node) for path, tree in trees().items() for node in ast.walk(tree)]


@pytest.fixture(autouse=True, scope="module")
def forgotten():
    """Hundreds of thousands of small objects: whatever is tested next would be slower for them."""
    yield
    trees.cache_clear()
    every_node.cache_clear()


def nodes(kind):
    return [(path, node) for path, node in every_node() if isinstance(node, kind)]


def docstrings():
    for path, node in nodes(ast.Module | ast.ClassDef | ast.FunctionDef):
        text = ast.get_docstring(node)
        if text:
            yield f"{path}, {getattr(node, 'name', 'its head')}", text


def test_folders_stand_in_place_of_prefixes():
    rooms = defaultdict(list)
    for path in trees():
        if path.name != "__init__.py":
            rooms[path.parent].append(path.stem)
    for room, modules in rooms.items():
        assert len(modules) <= 20, f"{room} has {len(modules)} modules side by side"
        shared = Counter(module.split("_")[0] for module in modules if "_" in module)
        assert max(shared.values(), default=0) < 3, f"{room} has modules that begin alike: {shared}"


def test_array_types_lie_below_everything():
    homes = {
        node.module
        for _, node in nodes(ast.ImportFrom)
        if any(name.name in ("FloatArray", "Floats") for name in node.names)
    }
    assert homes == {"polyad.base.arrays"}


def test_a_name_is_one_thing():
    found = defaultdict(set)
    for path, tree in trees().items():
        if path != CHARTS and path.parent != Path("cli/commands"):
            for node in tree.body:
                if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                    found[node.name].add(str(path))
    assert not {name: places for name, places in found.items() if len(places) > 1}


def test_no_function_is_there_twice():
    """By another name, or in another module for itself."""
    found = defaultdict(set)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                lines = node.body[1:] if ast.get_docstring(node) else node.body
                if sum(1 for line in lines for _ in ast.walk(line)) > 15:
                    found["\n".join(map(ast.unparse, lines))].add(f"{path}: {node.name}")
    assert not [places for places in found.values() if len(places) > 1]


def test_public_names_are_listed_by_packages():
    listing = {
        path
        for path, node in nodes(ast.Assign)
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"
    }
    assert {path for path in listing if path.name != "__init__.py"} == {CHARTS}


def test_imports_are_absolute_and_annotations_plain():
    """Annotations are put off only where names are imported for them alone."""
    for path, node in nodes(ast.ImportFrom):
        assert node.level == 0, path
        if node.module == "__future__":
            assert "TYPE_CHECKING" in (ROOT / path).read_text(encoding="utf-8"), path


def test_docstrings_leave_types_to_the_signature():
    typed = []
    for place, text in docstrings():
        for section in re.findall(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.M | re.S):
            typed += [f"{place}: {line}" for line in section.splitlines() if re.match(r"[\w*, ]+ : ", line)]
    assert not typed, "\n".join(typed)


def test_sentences_are_plain():
    """One row per word, or one row for each: not one row a word."""
    clipped = re.compile(r"\bone (row|line|word|document|file|object|record|column|entry|number|topic) an? \w+")
    assert not [f"{place}: {found[0]}" for place, text in docstrings() if (found := clipped.search(text))]


def test_compiled_loops_take_structures():
    kernels = [node for path, node in nodes(ast.FunctionDef) if "kernels" in path.parts]
    assert len(kernels) > 20
    assert not [node.name for node in kernels if len(node.args.args) > 12]


@pytest.mark.parametrize("room", ["cli", "report"])
def test_tags_stand_in_place_of_class_names(room):
    """What a command or a page does with a model goes by its tags or by what it has: a new model is taken as well."""
    named = []
    for path, node in nodes(ast.Compare | ast.Call):
        asks = isinstance(node, ast.Compare) or getattr(node.func, "id", "") == "isinstance"
        if path.parts[0] == room and asks:
            inside = {getattr(part, "id", getattr(part, "value", None)) for part in ast.walk(node)}
            named += [f"{path}:{node.lineno}" for name in inside if isinstance(name, str) and name in MODELS]
    assert not named


def test_nothing_is_there_for_tests_alone():
    """Everything is used by the library, public in a package, or told of in the docs; but for exact moments."""
    used = {getattr(node, "id", getattr(node, "attr", None)) for _, node in nodes(ast.Name | ast.Attribute)}
    used |= {node.value for _, node in nodes(ast.Constant) if isinstance(node.value, str)}
    docs = " ".join(path.read_text(encoding="utf-8") for path in (ROOT.parents[1] / "docs").glob("*.md"))
    used |= set(re.findall(r"\w+", docs))
    bodies = [node for tree in trees().values() for node in tree.body]
    defined = {node.name for node in bodies if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    assert not {name for name in defined - used if not name.endswith("_population")}


def test_warnings_point_at_the_caller():
    """A fixed number of frames is wrong as soon as another method, or a pipeline, calls the first."""
    warning = {path.as_posix() for path, node in nodes(ast.Attribute) if ast.unparse(node) == "warnings.warn"}
    assert warning == {"base/caller.py", "base/compiled.py"}
