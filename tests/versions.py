"""Install the wheel with the lowest and with the newest versions that it allows, and run tests with each.

    python tests/versions.py                      # both, with the command and without pandas, a part of the tests
    python tests/versions.py lowest tests         # one of them, all tests

The environments are in .versions, and are made again where the wheel has changed.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PART = [
    "tests/test_conformance.py",
    "tests/models/test_inputs.py",
    "tests/test_io.py",
    "tests/inference",
    "tests/metrics",
]


def run(*command):
    sys.stderr.write(f"$ {' '.join(map(str, command))}\n")
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT)


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def lowest(requirements):
    """Return the lowest versions that requirements allow, as requirements."""
    pairs = [re.match(r"([\w.-]+)>=([\w.]+)", requirement).groups() for requirement in requirements]
    return [f"{name}=={version}.*" if version.count(".") < 2 else f"{name}=={version}" for name, version in pairs]


def install(place, wheel, pins):
    python = place / "bin" / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", place)
    tools = [tool for tool in project()["dependency-groups"]["dev"] if re.match("pytest|hypothesis|coverage", tool)]
    run(python, "-m", "pip", "install", "--quiet", "--force-reinstall", wheel, *pins, *tools)
    return python


def main(which, tests):
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", ROOT / ".versions", ROOT)
    wheel = max((ROOT / ".versions").glob("polyad-*.whl"), key=lambda path: path.stat().st_mtime)
    for name in which:
        described = project()["project"]
        needed = [*described["dependencies"], *described["optional-dependencies"]["cli"]]
        python = install(ROOT / ".versions" / name, wheel, lowest(needed) if name == "lowest" else needed)
        run(python, "-m", "pip", "list", "--format=freeze")
        run(python, "-m", "pytest", "--quiet", "-n", "2", *tests)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    chosen = [name for name in ("lowest", "newest") if name in arguments] or ["lowest", "newest"]
    main(chosen, [argument for argument in arguments if argument not in ("lowest", "newest")] or PART)
