"""`polyad info`: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyad.base.plurals import how_many
from polyad.cli.options import ModelPath, Shown
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import has_background, is_paired, model_sides, size

if TYPE_CHECKING:
    from polyad.corpus import TextOptions
    from polyad.io import ModelFile


def info(model: ModelPath, shown: Shown) -> None:
    """Show what is in a model file: class, sizes, parameters, how text is split, fingerprint.

    Of a corpus that polyad index has made: documents, words, shards, and whether every file is what was written.

    For example:
    polyad info model.polyad
    polyad info corpus.shards
    polyad info model.polyad --json
    """
    from polyad.io import read_model_file

    output = Output(shown)
    if Path(model).is_dir() and _show_shards(model, output, shown):
        return
    file = read_model_file(model, bare=True)
    if shown.json:
        output.result(_values(model, file))
    else:
        output.table(("name", "value"), _rows(model, file), wide="value")


def _show_shards(path: str, output: Output, shown: Shown) -> bool:
    """Show a folder of shards, and tell whether it is one; only then is what reads shards loaded."""
    from polyad.corpus.indexing.folder import is_indexed

    if not is_indexed(path):
        return False
    from polyad.cli.commands.index import show_shards

    show_shards(path, output, shown)
    return True


def _rows(path: str, file: ModelFile) -> list[tuple[str, str]]:
    header = file.header
    parameters = ", ".join(f"{name}={value}" for name, value in header["parameters"].items() if value is not None)
    rows = [
        ("file", f"{path} ({size(Path(path).stat().st_size)}, format version {header['version']})"),
        ("model", f"{header['class']}: {_sizes(file)}"),
        ("parameters", parameters),
        *_texts(file),
    ]
    diagnostics = header.get("diagnostics")
    if diagnostics is not None:
        rows.append(_fit(diagnostics))
    made_by = ", ".join(f"{name} {version}" for name, version in header.get("provenance", {}).items())
    return [*rows, ("made by", made_by), ("fingerprint", header["fingerprint"])]


def _shape(file: ModelFile) -> tuple[int, dict[str, int]]:
    """Return the number of components, and those of the words (or channels) of each view."""
    model = file.model
    if is_paired(model):
        sides = model_sides(model)
        return len(sides[0].topics), {side.name: side.topics.shape[1] for side in sides}
    if model.n_views == 2:
        (M1, K), M2 = model.x_loadings_.shape, model.y_loadings_.shape[0]
        return K, {"left": M1, "right": M2}
    K = len(model.components_) if model.n_components is None else model.n_components
    if model.n_views == 0 and hasattr(model, "kinds_"):  # views that differ in what they are, and in their width
        kinds = enumerate(zip(model.kinds_, model.components_))
        return K, {f"{number} ({kind})": shown.shape[1] for number, (kind, shown) in kinds}
    return K, {"": model.n_features_in_ if hasattr(model, "n_features_in_") else model.n_features}


def _sizes(file: ModelFile) -> str:
    K, columns = _shape(file)
    if not file.model.has_topics:
        return f"{how_many(K, 'components')} over {' and '.join(map(str, columns.values()))} columns"
    # Sides have names of their own; the views of more corpora have numbers, which their order tells.
    sizes = [f"{M:,} {view}".strip() if len(columns) < 3 else f"{M:,}" for view, M in columns.items()]
    counts = " and ".join(part for part in (", ".join(sizes[:-1]), sizes[-1]) if part)
    known = model_sides(file.model)[0].vocabulary if is_paired(file.model) else file.model.vocabulary_
    more = " and a background" if has_background(file.model) else ""
    return f"{how_many(K, 'topics')}{more} over {counts} {'their numbers' if known is None else 'words'}"


def _fit(diagnostics: dict[str, Any]) -> tuple[str, str]:
    if "n_documents" in diagnostics:
        return "fitted on", (
            f"{how_many(diagnostics['n_documents'], 'documents')} with {how_many(diagnostics['n_tokens'], 'words')}"
        )
    if "n_moves" in diagnostics:
        rows, passes = diagnostics["n_rows"], len(diagnostics["objective"])
        return "fitted on", (
            f"{how_many(rows, 'rows')}: {diagnostics['start']}, then {how_many(passes, 'likelihood passes')}"
        )
    gap = diagnostics["gap"]
    return "fitted by", f"{diagnostics['statistics']}, gap {gap if isinstance(gap, str) else f'{gap:.2f}'}"


def _texts(file: ModelFile) -> list[tuple[str, str]]:
    model = file.model
    if is_paired(model):
        return [(f"{side.name} text", _text(side.text_options)) for side in model_sides(model)]
    return [("text", _text(model.text_options_))] if hasattr(model, "text_options_") else []


def _text(options: TextOptions | None) -> str:
    if options is None:
        return "not known: the model was fitted on counts"
    stop = "none" if options.stop_words is None else f"{options.stop_words.source} ({len(options.stop_words.words)})"
    parts = [f"stop words {stop}", f"--min-df {options.min_df}", f"--max-df {options.max_df}"]
    parts += [f"n-grams {options.ngrams[0]}-{options.ngrams[1]}"] if options.ngrams != (1, 1) else []
    parts += [f"stems of {options.stemming}"] if options.stemming else []
    return ", ".join(parts)


def _values(path: str, file: ModelFile) -> dict[str, Any]:
    K, columns = _shape(file)
    options = file.header["text_options"]
    if len(columns) > 1:
        by_view = list(options.values()) if options else [None] * len(columns)
        options = {name: _shortened(of_view) for name, of_view in zip(columns, by_view)}
    else:
        options = _shortened(options)
    kept = ("version", "class", "parameters", "diagnostics", "provenance", "fingerprint")
    return {
        "model": path,
        "bytes": Path(path).stat().st_size,
        "n_components": K,
        "n_words": columns if len(columns) > 1 else columns[""],
        **{key: file.header.get(key) for key in kept},
        "text_options": options,
    }


def _shortened(options: dict[str, Any] | None) -> dict[str, Any] | None:
    """Leave out the stop words themselves."""
    shorter = dict(options or {})
    if isinstance(shorter.get("stop_words"), dict):
        stop = shorter["stop_words"]
        shorter["stop_words"] = {"source": stop["source"], "count": len(stop["words"])}
    return shorter or None
