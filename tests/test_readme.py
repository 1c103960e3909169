"""The README where its relative links lead nowhere: each says which file it means."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_links_name_their_files():
    links = re.findall(r"(!?)\[([^\]]+)\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    relative = [link for link in links if not link[-1].startswith("http")]
    assert len(relative) > 5
    for picture, text, target in relative:
        # The text of a picture says what is seen on it.
        assert picture or text == target, "the text of a link is the path of the file"
        assert (ROOT / target).exists()
