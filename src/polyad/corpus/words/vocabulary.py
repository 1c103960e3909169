"""From the terms of all chunks to the columns of a corpus: stems, document frequencies, order."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyad.corpus.corpus import map_columns
from polyad.corpus.report import Dropped
from polyad.corpus.words.choices import default_min_df
from polyad.corpus.words.hashing import hashed_names
from polyad.corpus.words.languages import stem_terms
from polyad.corpus.words.tokens import TextOptions


def merge_stems(terms: Sequence[str], counts: csr_array, language: str) -> tuple[list[str], csr_array]:
    """Add the columns with one stem; each is named by its most frequent form, the first by alphabet of equals.

    Examples
    --------
    >>> terms, counts = merge_stems(["runs", "running", "cat"], csr_array([[1, 2, 1]]), "english")
    >>> terms, counts.toarray().tolist()
    (['running', 'cat'], [[3, 1]])
    """
    keys = stem_terms(terms, language)
    group_of = {key: group for group, key in enumerate(dict.fromkeys(keys))}
    groups = np.array([group_of[key] for key in keys], dtype=np.int64)
    totals = _totals(counts)
    best: list[tuple[int, str]] = [(1, "")] * len(group_of)
    for term, group, total in zip(terms, groups.tolist(), totals.tolist()):
        best[group] = min(best[group], (-total, term))
    return [term for _, term in best], map_columns(counts, groups, len(group_of))


def choose_words(
    terms: Sequence[str], counts: csr_array, options: TextOptions
) -> tuple[list[str], csr_array, dict[str, Dropped]]:
    """Choose the words of a new vocabulary by document frequency, and sort them.

    Examples
    --------
    >>> options = TextOptions(min_df=2)
    >>> choose_words(["b", "a", "rare"], csr_array([[1, 1, 1], [2, 2, 0]]), options)[0]
    ['a', 'b']
    """
    if options.hashed is not None:
        vocabulary = hashed_names(options.hashed)
        return list(vocabulary), look_up_words(terms, counts, vocabulary, None)[0], {}
    n_documents = counts.shape[0]
    frequency = np.bincount(counts.indices, minlength=len(terms))
    totals = _totals(counts)
    rare = frequency < _documents(options.min_df, n_documents)
    frequent = ~rare & (frequency > _documents(options.max_df, n_documents))
    kept = np.flatnonzero(~rare & ~frequent)
    beyond = kept[:0]
    if options.max_features is not None and len(kept) > options.max_features:
        ranked = np.array(sorted(kept.tolist(), key=lambda at: (-totals[at], terms[at])), dtype=np.int64)
        kept, beyond = ranked[: options.max_features], ranked[options.max_features :]
    dropped = {
        reason: Dropped.from_totals({terms[at]: int(totals[at]) for at in places.tolist()})
        for reason, places in (
            ("rare words", np.flatnonzero(rare)),
            ("frequent words", np.flatnonzero(frequent)),
            ("beyond max_features", beyond),
        )
        if len(places)
    }
    order = sorted(kept.tolist(), key=terms.__getitem__)
    columns = np.full(len(terms), -1, dtype=np.int64)
    columns[order] = np.arange(len(order))
    return [terms[at] for at in order], map_columns(counts, columns, len(order)), dropped


def look_up_words(
    terms: Sequence[str], counts: csr_array, vocabulary: Sequence[str], language: str | None
) -> tuple[csr_array, dict[str, Dropped]]:
    """Place the terms of new text in the columns of a given vocabulary.

    Examples
    --------
    >>> counts, dropped = look_up_words(["b", "new"], csr_array([[1, 2]]), ["a", "b"], None)
    >>> counts.toarray().tolist(), dropped["unknown words"].tokens
    ([[0, 1]], 2)
    """
    if language is None:
        keys, known = list(terms), list(vocabulary)
    else:
        # A column is named by a form that occurred; its stem is that of all forms counted there.
        keys, known = stem_terms(terms, language), stem_terms(vocabulary, language)
    column_of = {key: column for column, key in enumerate(known)}
    columns = np.array([column_of.get(key, -1) for key in keys], dtype=np.int64)
    totals = _totals(counts)
    lost = {terms[at]: int(totals[at]) for at in np.flatnonzero(columns < 0).tolist()}
    dropped = {"unknown words": Dropped.from_totals(lost)} if lost else {}
    return map_columns(counts, columns, len(known)), dropped


def _totals(counts: csr_array) -> NDArray[np.int64]:
    totals = np.bincount(counts.indices, weights=counts.data, minlength=counts.shape[1])
    return totals.astype(np.int64)


def _documents(bound: int | float | Literal["auto"], n_documents: int) -> float:
    if bound == "auto":
        return default_min_df(n_documents)
    return bound * n_documents if isinstance(bound, float) else bound
