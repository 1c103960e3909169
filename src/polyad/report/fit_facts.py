"""How a fit went, in sentences and charts."""

from typing import Any

import numpy as np

from polyad.base.plurals import how_many
from polyad.report.drawing import lines

# A chart, its title, and a sentence about it.
Told = dict[str, tuple[Any, str, str]]
CHOICE = "Choice of the number: "
# What a number of components is judged by, the deciding one first: its key, its name and what it means.
JUDGED = (
    ("bits", "held-out bits", "Bits for each word held out; lower is better."),
    ("coherence", "coherence", "Mean NPMI of the topics' words; higher is better."),
    ("stability", "stability", "What topics of two halves of the documents share; higher is better."),
    ("bic", "BIC", "Bayesian information criterion; lower is better."),
    ("aic", "AIC", "Akaike's information criterion; lower is better."),
)


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
                f"{how_many(found.n_documents, 'documents')}, {found.n_tokens:,.0f} words, {found.n_words:,} of "
                "them different",
            )
        )
    if getattr(found, "n_too_short", 0):
        facts.append(
            (
                "Too short",
                f"{how_many(found.n_too_short, 'documents')} with fewer than 3 words, of no use to learn from",
            )
        )
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
        facts.append(
            ("Likelihood", f"{objective[-1]:.3f} nats for each observation after {how_many(len(objective), 'passes')}")
        )
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


def fit_charts(found: Any, n_components: int) -> Told:
    """Return the charts of the diagnostics: likelihood and spectrum.

    Parameters
    ----------
    found
        Diagnostics.
    n_components
        How many components the model has.
    """
    charts: Told = {}
    passes = likelihood_passes(found)
    if len(passes) > 1:
        charts["objective"] = (
            lines({"": passes}, x="pass", y="log-likelihood"),
            "Likelihood",
            _LEFT_OUT if passes[0][0] > 1 else "Mean log-likelihood in each pass; passes end when little is gained.",
        )
    spectrum = leading_spectrum(getattr(found, "spectrum", ()), n_components)
    if len(spectrum) > 1:
        noise = float(getattr(found, "noise", 0.0))
        beside = noise if spectrum[-1][1] / 2 < noise < spectrum[0][1] else None
        charts["spectrum"] = (
            lines({"": spectrum}, x="number", y="eigenvalue", log=True, mark=float(n_components), level=beside),
            "Spectrum",
            f"Eigenvalues of the second moments, the largest first; a steep fall tells the number of components. The "
            f"upright line is at the {n_components:,} of this model"
            + ("; what lies below the level line is noise." if beside is not None else "."),
        )
    return charts


_LEFT_OUT = (
    "Mean log-likelihood of a word in each pass, every document being judged by topics without its own words; the "
    "first pass, which still saw them, is not drawn. Passes end when frequent words gain little. Rare words, of which "
    "little is left without the document's own, may lower the mean."
)


def likelihood_passes(found: Any) -> list[tuple[int, float]]:
    """Return the number and the likelihood of every pass that can be compared with others.

    Passes over documents leave the own words of each out of the topics that judge it, but for the first.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> likelihood_passes(SimpleNamespace(objective=(-3.0, -2.0))), likelihood_passes(SimpleNamespace())
    ([(1, -3.0), (2, -2.0)], [])
    """
    passes = list(enumerate(getattr(found, "objective", ()), 1))
    return passes[1:] if hasattr(found, "n_tokens") and getattr(found, "concentration", 0) != 0 else passes


def leading_spectrum(spectrum: Any, n_components: int) -> list[tuple[int, float]]:
    """Return the eigenvalues about the number of components, each with its number.

    Those far behind are found too small, since more of them were not asked for: their fall would mean nothing.

    Examples
    --------
    >>> leading_spectrum([3.0, 2.0, 1.0, 0.0, -1.0], 2)
    [(1, 3.0), (2, 2.0), (3, 1.0)]
    """
    values = np.asarray(spectrum, dtype=np.float64).ravel()[: max(2 * n_components, n_components + 10)]
    return [(number, value) for number, value in enumerate(values.tolist(), 1) if value > 1e-9 * values.max(initial=0)]


def selection_charts(selection: Any) -> Told:
    """Return the charts of a choice of the number of topics, or of the classes of a mixture."""
    if selection is None:
        return {}
    charts: Told = {}
    chosen, known = float(selection.recommended), selection.table[0].keys()
    for key, name, text in JUDGED:
        if key in known:
            pairs = [(row["n_components"], row[key]) for row in selection.table]
            charts[f"selection-{key}"] = (
                lines({"": pairs}, x="number", y=name, mark=chosen, height=160),
                f"{CHOICE}{name}",
                f"{text} {selection.reason} The dashed line is at this number." if not charts else text,
            )
    spectrum = leading_spectrum(
        getattr(selection, "spectrum", ()), max(int(row["n_components"]) for row in selection.table)
    )
    if len(spectrum) > 1:
        charts["selection-spectrum"] = (
            # Topics without their mean span one direction less than there are topics.
            lines(
                {"": [(number + 1, value) for number, value in spectrum]},
                x="number",
                y="eigenvalue",
                log=True,
                mark=chosen,
                height=160,
            ),
            f"{CHOICE}spectrum",
            "What each topic after the first adds to the variance between documents: directions of one half of them, "
            "measured on the other half. A steep fall comes after the last topic.",
        )
    return charts
