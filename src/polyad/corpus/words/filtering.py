"""Choosing words of counts that were split elsewhere."""

from dataclasses import replace

import numpy as np

from polyad.corpus.corpus import Corpus, complete_report, map_columns
from polyad.corpus.report import Dropped
from polyad.corpus.words.choices import of_counts
from polyad.corpus.words.tokens import TextOptions, drop_reason
from polyad.corpus.words.vocabulary import choose_words


def filter_words(corpus: Corpus, options: TextOptions) -> Corpus:
    """Drop the words of a corpus that the options drop: stop words, and by document frequency and number.

    The words themselves are not changed: case, numbers, length, stems and n-grams belong to the splitting of
    text. Columns keep their order. Documents stay, also those left without words. What the options leave to "auto"
    drops nothing: the words were chosen by whoever made the counts.

    Examples
    --------
    >>> from polyad.corpus import make_corpus
    >>> corpus = make_corpus([[3, 1, 0], [2, 0, 1]], ["the", "cat", "hat"])
    >>> filter_words(corpus, TextOptions(stop_words=["the"])).vocabulary
    ('cat', 'hat')
    """
    if not options.is_settled:
        asked = of_counts(options)
        if asked is None:
            return corpus
        options = asked
    stop_only = TextOptions(lowercase=options.lowercase, stop_words=options.stop_words, numbers="keep", min_length=1)
    reason = drop_reason(stop_only)
    stopped = np.array([reason(_cased(word, options)) is not None for word in corpus.vocabulary], dtype=bool)
    totals = np.asarray(corpus.counts.sum(axis=0, dtype=np.int64)).ravel()
    dropped = dict(corpus.report.dropped)
    if stopped.any():
        lost = {corpus.vocabulary[at]: int(totals[at]) for at in np.flatnonzero(stopped)}
        dropped["stop words"] = Dropped.from_totals(lost)
    places = np.cumsum(~stopped) - 1
    columns = np.where(stopped, -1, places).astype(np.int64)
    counts = map_columns(corpus.counts, columns, int(np.count_nonzero(~stopped)))
    words = [word for word, stop in zip(corpus.vocabulary, stopped) if not stop]
    chosen, _, by_frequency = choose_words(words, counts, options)
    kept = set(chosen)
    order = np.cumsum([word in kept for word in words]) - 1
    columns = np.array([order[at] if word in kept else -1 for at, word in enumerate(words)], dtype=np.int64)
    counts = map_columns(counts, columns, len(kept))
    # New text is split as that of the corpus was; only of counts these options are all that is known.
    split = corpus.report.options or options
    report = replace(corpus.report, dropped={**dropped, **by_frequency}, options=split)
    report = complete_report(report, counts, corpus.ids)
    return Corpus(counts, tuple(word for word in words if word in kept), corpus.ids, report)


def _cased(word: str, options: TextOptions) -> str:
    return word.lower() if options.lowercase else word
