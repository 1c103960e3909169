"""The report of any model: which page it has, and the file."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sklearn.utils.validation import check_is_fitted

from polyad.corpus import CorpusSource
from polyad.models.features import views_by_name
from polyad.models.text_sources import words_of
from polyad.report.extra import import_altair, import_vl_convert
from polyad.report.fit_facts import CHOICE, JUDGED, selection_charts
from polyad.report.inputs import Inputs, read_inputs
from polyad.report.page import Page, write_page
from polyad.report.subject import subject_of
from polyad.report.topics_page import topics_page


def write_report(model: Any, path: str | os.PathLike[str], X: Any = None, **options: Any) -> None:
    """Write what a model found as one HTML file that opens offline in any browser.

    Parameters
    ----------
    model
        A fitted model.
    path
        The file; it appears only when it is complete.
    X
        Documents, as :meth:`polyad.LDA.transform` takes them; of aligned texts a list of them. None shows the model
        alone, without documents, coherence and standard errors.
    **options
        See :func:`make_page`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polyad import LDA
    >>> from polyad.datasets import make_lda
    >>> sample = make_lda(300, 60, 3, length=60)
    >>> file = pathlib.Path(tempfile.mkdtemp(), "report.html")
    >>> write_report(LDA(3).fit(sample.counts), file, sample.counts)
    >>> file.read_text("utf-8")[:15]
    '<!doctype html>'
    """
    import_altair(), import_vl_convert()  # what is missing is told before the work
    write_page(make_page(model, X, **options), path)


def write_selection(selection: Any, path: str | os.PathLike[str], *, title: str = "How many components") -> None:
    """Write how a number of topics or classes was chosen as one HTML file, like that of a model.

    Parameters
    ----------
    selection
        What :func:`polyad.select_n_components` gave.
    path
        The file; it appears only when it is complete.
    title
        Of the page.
    """
    import_altair(), import_vl_convert()
    write_page(selection_page(selection, title=title), path)


def selection_page(selection: Any, *, title: str) -> Page:
    """Put together the page of a choice: see :func:`write_selection`."""
    charts = selection_charts(selection)
    judged = [(key, name) for key, name, _ in JUDGED if key in selection.table[0]]
    rows = [
        [f"{int(row['n_components'])}", *(_brief(row[key]) for key, _ in judged), f"{row['seconds']:.2f}"]
        for row in selection.table
    ]
    told = [
        [_capital(chart_title.removeprefix(CHOICE)), text, [[name, ""]], None]
        for name, (_, chart_title, text) in charts.items()
    ]
    table = [["number", *(name for _, name in judged), "seconds"], *rows]
    data = {
        "kind": "sections",
        "lead": f"{selection.recommended} is recommended, of {len(rows)} numbers from {rows[0][0]} to {rows[-1][0]}.",
        "sections": [*told, ["All numbers", selection.reason, [], table]],
        "facts": [],
        "fitCharts": [],
    }
    return Page(title, data, {name: chart for name, (chart, _, _) in charts.items()})


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _brief(value: float) -> str:
    return f"{value:.1f}" if abs(value) >= 1000 else f"{value:.3f}"


def make_page(
    model: Any,
    X: Any = None,
    *,
    title: str | None = None,
    texts: Any = None,
    ids: Sequence[str] | None = None,
    dates: Any = None,
    groups: Any = None,
    selection: Any = None,
    view_names: Sequence[str] | None = None,
    rate: float | None = None,
    lengths: Any = None,
    n_words: int = 25,
    n_documents: int | None = None,
    uncertainty: bool = True,
    n_jobs: int | None = None,
) -> Page:
    """Put together the page of a model.

    Parameters
    ----------
    model, X
        As for :func:`write_report`.
    title
        Of the page; None takes the kind of model.
    texts
        The text of each document, or the :class:`polyad.corpus.CorpusSource` to read them from; of aligned texts a
        list of these. Without it a source of text is read again, and counts are shown as words.
    ids
        The name of each document.
    dates, groups
        A date (ISO, a year, or any number that tells an order) or a label for each document; where X or ``texts`` is a
        source, the name of its column.
    selection
        What :func:`polyad.select_n_components` gave.
    view_names
        What each of the aligned texts is called.
    rate
        Of signals: rows in a second. Time is then in seconds, and sources have spectrograms.
    lengths
        Of sequences: the rows of each, as :class:`polyad.HiddenMarkov` takes them.
    n_words, n_documents
        Words and typical documents of each topic.
    uncertainty
        Whether to estimate standard errors of words and the stability of topics.
    n_jobs
        Threads; the page is the same for any number.
    """
    check_is_fitted(model)
    title = f"{type(model).__name__} report" if title is None else title
    settings: dict[str, Any] = {"selection": selection, "n_words": n_words, "n_documents": n_documents}
    settings |= {"uncertainty": uncertainty, "n_jobs": n_jobs}
    if model.has_topics and model.n_views == 1:
        over = partial(_over_words_of, model)
        inputs = read_inputs(X, texts, ids, dates, groups, over=over)
        return topics_page(subject_of(model, inputs.X), [inputs], title=title, **settings)
    if model.has_topics and model.n_views == 0:  # a list of texts
        views = _aligned_inputs(model, X, texts, ids, dates, groups)
        found = subject_of(model, None if X is None else [view.X for view in views], view_names)
        return topics_page(found, views, title=title, **settings)
    from polyad.report.other_pages import other_page

    return other_page(model, X, title=title, selection=selection, rate=rate, lengths=lengths)


def _over_words_of(model: Any, source: CorpusSource) -> CorpusSource:
    return source.over(words_of(model), model.text_options_)


def _aligned_inputs(model: Any, X: Any, texts: Any, ids: Any, dates: Any, groups: Any) -> list[Inputs]:
    """Return what is known of the documents of each of the aligned texts; dates and groups belong to all of them."""
    n_views = len(model.components_)
    by_row = [views_by_name(given, model.view_names_) if isinstance(given, Mapping) else given for given in (X, texts)]
    listed = [[None] * n_views if given is None else list(given) for given in by_row]
    if any(len(given) != n_views for given in listed):
        raise ValueError(f"The model is of {n_views} aligned texts: give a list of so many.")
    first, *others = zip(*listed)
    return [
        read_inputs(first[0], first[1], ids, dates, groups),
        *(read_inputs(view[0], view[1], ids) for view in others),
    ]
