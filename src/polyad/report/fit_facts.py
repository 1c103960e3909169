"""How a fit went, in sentences and charts."""

from typing import Any

import numpy as np

from polyad.report.drawing import lines

__all__ = ["fit_charts", "fit_facts", "selection_charts"]

# A chart, its title, and a sentence about it.
Told = dict[str, tuple[Any, str, str]]


def fit_facts(model: Any) -> list[tuple[str, str]]:
    """Return what is to be said about the fit of a model, whatever its diagnostics have."""
    found = getattr(model, "diagnostics_", None)
    facts = [("Model", _model_text(model))]
    if found is None:
        return facts
    if hasattr(found, "n_documents"):
        facts.append(
            (
                "Texts",
                f"{found.n_documents:,} documents, {found.n_tokens:,.0f} words, {found.n_words:,} of them different",
            )
        )
    if getattr(found, "n_too_short", 0):
        facts.append(("Too short", f"{found.n_too_short:,} documents with fewer than 3 words, which teach nothing"))
    if getattr(found, "n_unseen_words", 0):
        facts.append(("Never seen", f"{found.n_unseen_words:,} words of the vocabulary are in no document"))
    certainty = np.asarray(getattr(found, "certainty", ()))
    if certainty.size:
        sure = certainty.size - len(found.undetermined)
        facts.append(("Settled", f"{sure:,} of {certainty.size:,} components are settled by the data"))
    if np.isfinite(getattr(found, "gap", np.nan)):
        facts.append(("Gap", f"the last component stands {found.gap:.2f} times above the next in the spectrum"))
    if np.isfinite(getattr(found, "energy", np.nan)):
        facts.append(("Misfit", f"{found.energy:.1%} of the third moments are off the diagonal (0% fits the model)"))
    objective = list(getattr(found, "objective", ()))
    if objective:
        facts.append(("Likelihood", f"{objective[-1]:.3f} nats for each observation after {len(objective):,} passes"))
    if hasattr(found, "converged"):
        facts.append(("Converged", "yes" if found.converged else "no: more iterations may change the result"))
    if getattr(found, "note", ""):
        facts.append(("Note", str(found.note)))
    seconds = getattr(found, "seconds", {})
    if seconds:
        facts.append(("Time", ", ".join(f"{step} {value:.2f} s" for step, value in seconds.items())))
    return facts


def _model_text(model: Any) -> str:
    parameters = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in ("n_jobs", "verbose") and isinstance(value, str | int | float | bool)
    }
    return f"{type(model).__name__}({', '.join(f'{name}={value!r}' for name, value in parameters.items())})"


def fit_charts(found: Any) -> Told:
    """Return the charts of the diagnostics: likelihood and spectrum."""
    charts: Told = {}
    objective = tuple(getattr(found, "objective", ()))
    if len(objective) > 1:
        charts["objective"] = (
            lines({"": list(enumerate(objective, 1))}, x="pass", y="log-likelihood"),
            "Likelihood",
            "Mean log-likelihood in each pass that improves the components; passes end when little is gained.",
        )
    spectrum = np.asarray(getattr(found, "spectrum", ()), dtype=np.float64)
    spectrum = spectrum[spectrum > 1e-9 * spectrum.max(initial=0)]  # the rest is rounding, or below zero
    if spectrum.ndim == 1 and spectrum.size > 1:
        charts["spectrum"] = (
            lines({"": list(enumerate(spectrum.tolist(), 1))}, x="number", y="eigenvalue", log=True),
            "Spectrum",
            "Eigenvalues of the second moments, the largest first; a steep fall tells the number of components.",
        )
    return charts


def selection_charts(selection: Any) -> Told:
    """Return the charts of a choice of the number of topics."""
    if selection is None:
        return {}
    charts: Told = {}
    for key, title, text in (
        ("bits", "Choice of the number: held-out bits", "Bits for each word held out; lower is better."),
        ("coherence", "Choice of the number: coherence", "Mean NPMI of the topics' words; higher is better."),
        ("stability", "Choice of the number: stability", "What topics of two halves of the documents share."),
    ):
        pairs = [(row["n_components"], row[key]) for row in selection.table]
        charts[f"selection-{key}"] = (
            lines({"": pairs}, x="topics", y=key, mark=float(selection.recommended), height=160),
            title,
            f"{text} {selection.reason}" if key == "bits" else text,
        )
    return charts
