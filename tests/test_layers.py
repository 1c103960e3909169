"""The import graph of the library, read from its source: arrows point one way."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import polyad

ROOT = Path(polyad.__file__).parent

# What each layer may import of the others. CONTRIBUTING has the same table.
BELOW = {
    "base": set(),
    "engine": {"base"},
    "corpus": {"base", "engine"},
    "moments": {"base", "engine"},
    "metrics": {"base", "engine"},
    "decompose": {"base", "engine", "moments"},
    "inference": {"base", "engine", "moments"},
    "datasets": {"base", "engine"},
    "models": {"base", "engine", "corpus", "moments", "metrics", "decompose", "inference", "datasets"},
    "io": {"base", "corpus", "decompose", "models"},
}
BELOW["report"] = {*BELOW, "io"} - {"datasets"}
BELOW["cli"] = set(BELOW)
# What a method of an estimator does only when it is called, by a layer above it.
CALLED_ABOVE = {("models", "io"), ("models", "report")}


def modules():
    return {".".join(("polyad", *path.relative_to(ROOT).with_suffix("").parts)): path for path in ROOT.rglob("*.py")}


def imports(path):
    """Yield every module of polyad that a file names in an import, and whether it does so at the top."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "polyad":
            for name in node.names:
                yield f"{node.module}.{name.name}", id(node) in top
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] == "polyad":
                    yield name.name, id(node) in top


def layer(module):
    return module.split(".")[1] if module.count(".") else ""


@pytest.mark.parametrize("room", sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()))
def test_a_layer_imports_only_what_lies_below_it(room):
    assert room in BELOW, f"{room}/ is a layer that nothing says the place of"
    turned = []
    for module, path in modules().items():
        if layer(module) != room:
            continue
        for target, at_top in imports(path):
            other = layer(target)
            if other == room or other in BELOW[room] or other not in BELOW:
                continue
            if (room, other) in CALLED_ABOVE and not at_top:
                continue
            turned.append(f"{module} imports {target}")
    assert not turned, "\n".join(turned)


def test_no_layer_stands_on_itself():
    try:
        list(TopologicalSorter(BELOW).static_order())
    except CycleError as error:
        pytest.fail(f"layers in a circle: {error.args[1]}")


def test_only_packages_lie_beside_the_layers():
    """A module beside the layers would belong to none of them."""
    assert {path.name for path in ROOT.glob("*.py")} <= {"__init__.py", "__main__.py"}


def test_few_parameters_go_by_their_place():
    """Outside of compiled loops, from the ninth parameter on a call should name them."""
    many = []
    for module, path in modules().items():
        if "kernels" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                names = [a.arg for a in (*node.args.posonlyargs, *node.args.args) if a.arg not in ("self", "cls")]
                if len(names) > 8:
                    many.append(f"{module}.{node.name} has {len(names)}")
    assert not many, "\n".join(many)


def test_every_package_says_what_it_is():
    for path in ROOT.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def test_contributing_tells_the_same_story():
    contributing = ROOT.parents[1] / "CONTRIBUTING.md"
    if not contributing.exists():
        pytest.skip("an installed package has no CONTRIBUTING.md")
    rows = {}
    for line in contributing.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[0].startswith("`"):
            names = [name.strip("` /") for name in cells[0].split(",")]
            rows |= {name: {part.strip(" `") for part in cells[2].split(",")} - {"nothing"} for name in names}
    rooms = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert {name: below & rooms for name, below in BELOW.items() if name in rooms} == {
        name: below & rooms for name, below in rows.items()
    }


def test_there_is_enough_of_tests():
    """Six lines or more for every ten of the source, by a count of lines."""

    def lines(folder):
        return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py"))

    assert lines(Path(__file__).parent) > 0.6 * lines(ROOT)
