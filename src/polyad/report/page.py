"""One HTML file with everything in it: data, charts, the script that shows them, and a policy that allows no more."""

import base64
import hashlib
import html
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from polyad.base.atomic import atomic_write
from polyad.report.excerpts import visible
from polyad.report.extra import drawing_library


@dataclass(frozen=True)
class Page:
    """What a page shows."""

    title: str  # of the page
    data: Mapping[str, Any]  # plain values, as ``page.js`` takes them
    charts: Mapping[str, Any]  # Altair charts by their names


def write_page(page: Page, path: str | os.PathLike[str]) -> None:
    """Write a page as one file, which appears only when it is complete."""
    with atomic_write(path) as out:
        out.write(render(page).encode("utf-8"))


def render(page: Page) -> str:
    """Return a page as HTML.

    Scripts and styles are allowed by their sums alone: whatever else came into the page would not run, and nothing
    is ever loaded. Vega reads expressions by its interpreter, so that no text becomes code.
    """
    from polyad import __version__

    specs = {name: _spec(chart) for name, chart in page.charts.items()}
    library, script, style = drawing_library(), _own("page.js"), _own("page.css")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_sum(library)} {_sum(script)}",
            f"style-src {_sum(style)}",
            "style-src-attr 'unsafe-inline'",  # the drawings set sizes and cursors on their marks
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return _own("page.html") % {
        "policy": html.escape(policy),
        "version": html.escape(__version__),
        "title": html.escape(visible(page.title, 200)),
        "style": style,
        "data": to_script_json({**page.data, "charts": specs}),
        "library": library,
        "script": script,
    }


def to_script_json(value: Any) -> str:
    r"""Write JSON that no HTML parser can leave: characters that could end a script are escaped.

    Examples
    --------
    >>> to_script_json(["</script>&\u2028"])
    '["\\u003c/script\\u003e\\u0026\\u2028"]'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "replace").decode("utf-8")


def _spec(chart: Any) -> Any:
    spec = chart.to_dict(validate=False)
    spec.pop("config", None)
    return spec


def _own(name: str) -> str:
    return files("polyad.report").joinpath(name).read_text("utf-8")


def _sum(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode()}'"
