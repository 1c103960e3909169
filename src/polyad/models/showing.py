"""How a fitted model shows itself: a report in a file, a small table in a notebook."""

import html
import os
from collections.abc import Sequence
from typing import Any

from polyad.base.plurals import how_many
from polyad.metrics.names import topic_names
from polyad.models.fitting import is_fitted
from polyad.models.text_sources import numbered_words

SHOWN_TOPICS, SHOWN_WORDS = 50, 10


class ShownSelection:
    """What a choice of the number of components can show of itself."""

    reason: str

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the choice as one HTML file that opens offline in any browser.

        Needs ``polyad[report]``. See :func:`polyad.report.write_selection`.

        Parameters
        ----------
        path
            The file; it appears only when it is complete.
        **options
            ``title``.
        """
        from polyad.report import write_selection  # here, because the report knows the models, and is an extra

        write_selection(self, path, **options)

    def _repr_html_(self) -> str:
        """Return the plot of the choice, for notebooks; the table where charts cannot be drawn."""
        from polyad.report import charts

        try:
            drawn = charts.to_svg(charts.selection(self))
        except ImportError:
            return f"<pre>{html.escape(str(self))}</pre>"
        return f"{drawn}<p>{html.escape(self.reason)}</p>"


class ShownModel:
    """What models can show of themselves."""

    def report(self, path: str | os.PathLike[str], X: Any = None, **options: Any) -> None:
        """Write what the model found as one HTML file that opens offline in any browser.

        Needs ``polyad[report]``. See :func:`polyad.report.write_report`.

        Parameters
        ----------
        path
            The file; it appears only when it is complete.
        X
            Documents, or whatever data the model takes; None shows the model alone.
        **options
            ``title``, ``texts``, ``ids``, ``dates``, ``groups``, ``selection`` and more: see
            :func:`polyad.report.report.make_page`.
        """
        from polyad.report import write_report  # here, because the report knows the models, and is an extra

        write_report(self, path, X, **options)

    def _repr_html_(self) -> str:
        """Return the topics of a fitted model as a small table, for notebooks."""
        tables = [_table(self, *view) for view in _views(self)] if any(map(is_fitted, vars(self))) else []
        return "".join(tables) or f"<pre>{html.escape(repr(self))}</pre>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        # That of scikit-learn, which shows parameters alone, would come before the table.
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _views(model: Any) -> list[tuple[Any, Any, Sequence[str]]]:
    """Return topics, the words' probabilities and the words of a model, for each text that it is of."""
    if hasattr(model, "word_probabilities_"):
        return [(model.components_, model.word_probabilities_, model._words(None))]
    if hasattr(model, "vocabularies_"):
        return [
            (topics, model.topic_shares_ @ topics, numbered_words(words, topics.shape[1]))
            for topics, words in zip(model.components_, model.vocabularies_)
        ]
    return []


def _table(model: Any, components: Any, word_probabilities: Any, words: Sequence[str]) -> str:
    from polyad.metrics.words import top_words, word_scores

    names = topic_names(model, components, word_probabilities, words)
    given = getattr(model, "names_", {})
    rows = []
    for k, best in enumerate(top_words(word_scores(components, word_probabilities), SHOWN_WORDS)[:SHOWN_TOPICS]):
        name = f"<b>{_escaped(names[k])}</b>: " if k in given else ""
        listed = ", ".join(f"<bdi>{_escaped(str(words[at]))}</bdi>" for at in best)
        share = f"{model.topic_shares_[k]:.1%}"
        rows.append(f"<tr><td>{k}</td><td>{share}</td><td style='text-align:left'>{name}{listed}</td></tr>")
    more = len(components) - len(rows)
    caption = f"{html.escape(type(model).__name__)}: {how_many(len(components), 'topics')}"
    caption += f", of which {len(rows)} are shown" if more > 0 else ""
    head = "<tr><th>topic</th><th>share</th><th style='text-align:left'>words</th></tr>"
    return f"<table><caption>{caption}</caption><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _escaped(text: str) -> str:
    return html.escape("".join(character if character.isprintable() else "\ufffd" for character in text[:200]))
