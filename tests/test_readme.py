"""The README where its links lead nowhere, what the package says of itself, and pages that name every model."""

import re
import tomllib
from pathlib import Path

from polyad.io.registry import STORED

ROOT = Path(__file__).parent.parent


def test_links_name_their_files():
    links = re.findall(r"(!?)\[([^\]]+)\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    relative = [link for link in links if not link[-1].startswith("http")]
    assert len(relative) > 5
    for picture, text, target in relative:
        # The text of a picture says what is seen on it.
        assert picture or text == target, "the text of a link is the path of the file"
        assert (ROOT / target).exists()


def test_the_versions_of_python_are_named():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    assert named == ["3.11", "3.12", "3.13", "3.14"]
    assert project["requires-python"] == f">={named[0]}"


def test_every_model_is_told_of():
    """In the list of classes of model files and with its arrays there, and in the CHANGELOG."""
    files, changes = ((ROOT / page).read_text() for page in ("docs/model-file.md", "CHANGELOG.md"))
    for model in STORED:
        assert len(re.findall(rf"\b{model}\b", files)) > 1, model
        assert re.search(rf"\b{model}\b", changes), model
