"""`polyad info`: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyad.cli.options import ModelPath, Shown
from polyad.cli.output import Output
from polyad.cli.summary import size

if TYPE_CHECKING:
    from polyad.io import ModelFile

__all__ = ["info"]


def info(model: ModelPath, shown: Shown) -> None:
    """Show what is in a model file: class, sizes, parameters, how text is split, fingerprint.

    For example:
    polyad info model.polyad
    polyad info model.polyad --json
    """
    from polyad.io import read_model_file

    output = Output(shown)
    file = read_model_file(model)
    if shown.json:
        output.result(_values(model, file))
    else:
        output.table(("name", "value"), _rows(model, file), wide="value")


def _rows(path: str, file: ModelFile) -> list[tuple[str, str]]:
    header = file.header
    K, M = file.model.components_.shape
    words = "their numbers" if file.model.vocabulary_ is None else "words"
    parameters = ", ".join(f"{name}={value}" for name, value in header["parameters"].items() if value is not None)
    rows = [
        ("file", f"{path} ({size(Path(path).stat().st_size)}, format version {header['version']})"),
        ("model", f"{header['class']}: {K} topics over {M:,} {words}"),
        ("parameters", parameters),
        ("text", _text(file)),
    ]
    diagnostics = header.get("diagnostics")
    if diagnostics is not None:
        rows.append(("fitted on", f"{diagnostics['n_documents']:,} documents with {diagnostics['n_tokens']:,} words"))
    made_by = ", ".join(f"{name} {version}" for name, version in header.get("provenance", {}).items())
    return [*rows, ("made by", made_by), ("fingerprint", header["fingerprint"])]


def _text(file: ModelFile) -> str:
    options = file.model.text_options_
    if options is None:
        return "not known: the model was fitted on counts"
    stop = "none" if options.stop_words is None else f"{options.stop_words.source} ({len(options.stop_words.words)})"
    parts = [f"stop words {stop}", f"min_df {options.min_df}", f"max_df {options.max_df}"]
    parts += [f"n-grams {options.ngrams[0]}-{options.ngrams[1]}"] if options.ngrams != (1, 1) else []
    parts += [f"stems of {options.stemming}"] if options.stemming else []
    return ", ".join(parts)


def _values(path: str, file: ModelFile) -> dict[str, Any]:
    K, M = file.model.components_.shape
    options = dict(file.header["text_options"] or {})
    if isinstance(options.get("stop_words"), dict):
        stop = options["stop_words"]
        options["stop_words"] = {"source": stop["source"], "count": len(stop["words"])}
    kept = ("version", "class", "parameters", "diagnostics", "provenance", "fingerprint")
    return {
        "model": path,
        "bytes": Path(path).stat().st_size,
        "n_components": K,
        "n_words": M,
        **{key: file.header.get(key) for key in kept},
        "text_options": options or None,
    }
