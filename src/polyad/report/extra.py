"""What `polyad[report]` brings: Altair, and the libraries that draw its charts in a page, which are kept once made."""

import hashlib
import os
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from polyad.base.atomic import atomic_write

_MISSING = (
    "Charts and reports need the packages altair and vl-convert-python; pip install 'polyad[report]' brings them."
)
_SNIPPET = "window.vegaEmbed=vegaEmbed;"


@lru_cache(maxsize=1)
def import_altair() -> Any:
    """Import Altair, or say what to install."""
    try:
        import altair
    except ImportError as error:
        raise ImportError(_MISSING) from error
    return altair


def import_vl_convert() -> Any:
    """Import vl-convert, or say what to install."""
    try:
        import vl_convert
    except ImportError as error:
        raise ImportError(_MISSING) from error
    return vl_convert


@lru_cache(maxsize=1)
def drawing_library() -> str:
    """Return the JavaScript that draws charts: Vega, Vega-Lite and Vega-Embed, from vl-convert.

    Making it takes seconds and gives the same text every time, so it is kept in the user's folder of such things,
    under a name that tells the versions, with a sum that tells whether it is whole.
    """
    converter = import_vl_convert()
    place = _kept_at()
    if place is not None:
        with suppress(OSError, UnicodeDecodeError):
            told, _, kept = place.read_text("utf-8").partition("\n")
            if told == f"// {hashlib.sha256(kept.encode()).hexdigest()}":
                return kept
    made = str(converter.javascript_bundle(_SNIPPET, _vega_lite_version()))
    # Inside a page nothing of a script may look like its end, or like a comment of HTML.
    made = made.replace("</script", "<\\/script").replace("<!--", "\\x3C!--")
    if place is not None:
        with suppress(OSError):  # a page can be made without a place to keep things
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with atomic_write(place) as out:
                out.write(f"// {hashlib.sha256(made.encode()).hexdigest()}\n{made}".encode())
    return made


def _vega_lite_version() -> str:
    """Return the version of Vega-Lite whose charts Altair writes, or the latest that there is a library of."""
    wanted = ".".join(str(import_altair().SCHEMA_VERSION).lstrip("v").split(".")[:2])
    known = import_vl_convert().get_vegalite_versions()
    return wanted if wanted in known else str(known[-1])


def _kept_at() -> Path | None:
    try:
        number = version("vl-convert-python")
        folder = os.environ.get("XDG_CACHE_HOME") or (
            os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else Path.home() / ".cache"
        )
    except (PackageNotFoundError, RuntimeError):  # a user without a home
        return None
    return Path(folder, "polyad", f"vega-{_vega_lite_version()}-vl-convert-{number}.js") if folder else None
