"""From terms to columns: document frequencies, stems, unknown words, against loops over a small table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.sparse import csr_array

from polyad.corpus import TextOptions, filter_words, make_corpus
from polyad.corpus.words.chunks import Numbering, count_chunk, windows
from polyad.corpus.words.stopping import evenness
from polyad.corpus.words.vocabulary import choose_words, look_up_words, merge_stems, stem_terms

TERMS = ["cat", "ant", "bee", "dog", "eel"]
TABLES = npst.arrays(np.int64, st.tuples(st.integers(1, 6), st.just(5)), elements=st.integers(0, 3))


@given(TABLES, st.integers(1, 3), st.sampled_from([1.0, 0.5, 4]), st.sampled_from([None, 1, 3]))
@settings(deadline=None, max_examples=60)
def test_words_are_chosen_by_their_documents(table, min_df, max_df, max_features):
    options = TextOptions(stop_words="none", min_df=min_df, max_df=max_df, max_features=max_features)
    words, counts, dropped = choose_words(TERMS, csr_array(table), options)
    n = len(table)
    frequency, totals = (table > 0).sum(axis=0), table.sum(axis=0)
    most = max_df * n if isinstance(max_df, float) else max_df
    rare = {t for t, f in zip(TERMS, frequency) if f < min_df}
    frequent = {t for t, f in zip(TERMS, frequency) if f > most and t not in rare}
    kept = sorted(set(TERMS) - rare - frequent, key=lambda t: (-totals[TERMS.index(t)], t))
    wanted = sorted(kept if max_features is None else kept[:max_features])
    assert words == wanted
    assert np.array_equal(counts.toarray(), table[:, [TERMS.index(word) for word in wanted]])
    for reason, lost in (
        ("rare words", rare),
        ("frequent words", frequent),
        ("beyond max_features", set(kept) - set(wanted)),
    ):
        if lost:
            assert dropped[reason].words == len(lost)
            assert dropped[reason].tokens == sum(totals[TERMS.index(word)] for word in lost)
        else:
            assert reason not in dropped


@given(TABLES)
@settings(deadline=None, max_examples=40)
def test_new_text_is_counted_over_the_words_of_a_model(table):
    vocabulary = ["bee", "yak", "ant"]
    counts, dropped = look_up_words(TERMS, csr_array(table), vocabulary, None)
    wanted = np.zeros((len(table), 3))
    wanted[:, 0], wanted[:, 2] = table[:, 2], table[:, 1]
    assert np.array_equal(counts.toarray(), wanted)
    assert dropped["unknown words"].tokens == table[:, [0, 3, 4]].sum()


def test_stems_are_added_up_under_their_most_frequent_form():
    terms = ["runs", "cats", "run", "running", "cat"]
    table = np.array([[1, 2, 0, 2, 0], [0, 0, 2, 1, 2]])
    words, counts = merge_stems(terms, csr_array(table), "english")
    assert words == ["running", "cat"]  # of equals the first by alphabet
    assert counts.toarray().tolist() == [[3, 2], [3, 2]]
    known, _ = look_up_words(["ran", "cats", "runs"], csr_array([[1, 1, 5]]), words, "english")
    assert known.toarray().tolist() == [[5, 1]]
    assert stem_terms(["running cats", "cats"], "english") == ["run cat", "cat"]


def test_counts_of_others_lose_stop_words_and_rare_ones_and_keep_their_order():
    table = np.array([[3, 1, 0, 2], [2, 0, 1, 2], [1, 0, 0, 2]])
    corpus = make_corpus(table, ["The", "cat", "hat", "sat"], ids=["a", "b", "c"])
    found = filter_words(corpus, TextOptions(stop_words=["the"], min_df=1, max_df=2))
    assert found.vocabulary == ("cat", "hat")
    assert found.counts.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]
    assert found.report.dropped["stop words"].tokens == 6
    assert found.report.dropped["frequent words"].examples == ("sat",)
    assert found.report.empty_documents == 1
    assert found.ids == corpus.ids
    assert filter_words(corpus, TextOptions()).vocabulary == corpus.vocabulary  # left to "auto": nothing


WORDS = st.lists(st.sampled_from(["to", "be", "or", "not", "Be", "3", "x"]), max_size=12)


@given(st.lists(WORDS, min_size=1, max_size=4), st.sampled_from([(1, 1), (1, 2), (2, 3)]))
@settings(deadline=None, max_examples=60)
def test_chunks_are_counted_as_by_hand(texts, ngrams):
    options = TextOptions(stop_words=["or"], min_length=2, numbers="drop", ngrams=ngrams)
    chunk = count_chunk([" ".join(text) for text in texts], options)
    counts = csr_array((chunk.data, chunk.indices, chunk.indptr), shape=(len(texts), max(len(chunk.terms), 1)))
    table = counts.toarray()
    dropped = {}
    for row, text in enumerate(texts):
        kept = []
        for word in map(str.lower, text):
            reason = {"or": "stop words", "3": "numbers", "x": "short words"}.get(word)
            if reason is None:
                kept.append(word)
            else:
                dropped.setdefault(reason, {}).setdefault(word, 0)
                dropped[reason][word] += 1
        grams = [
            " ".join(kept[at : at + size])
            for size in range(ngrams[0], ngrams[1] + 1)
            for at in range(len(kept) - size + 1)
        ]
        found = {term: int(table[row, at]) for at, term in enumerate(chunk.terms) if table[row, at]}
        assert found == {gram: grams.count(gram) for gram in set(grams)}
    assert chunk.dropped == dropped


@given(st.text("ab .", max_size=60))
def test_windows_are_the_whole_text(text):
    from polyad.corpus.words import chunks

    before, chunks.WINDOW = chunks.WINDOW, 5
    try:
        parts = list(windows(text))
    finally:
        chunks.WINDOW = before
    assert "".join(parts) == text
    assert all(len(part) <= 10 for part in parts)


def test_strings_are_numbered_as_they_come():
    numbers = Numbering()
    assert [numbers[word] for word in ("b", "a", "b", "c")] == [0, 1, 0, 2]
    assert dict(numbers) == {"b": 0, "a": 1, "c": 2}


@given(TABLES)
@settings(deadline=None, max_examples=40)
def test_evenness_is_documents_over_those_that_chance_would_give(table):
    lengths = table.sum(axis=1)
    columns = np.flatnonzero(table.sum(axis=0))
    found = evenness(csr_array(table), columns)
    for value, column in zip(found, columns):
        share = table[:, column].sum() / lengths.sum()
        expected = sum(1 - np.exp(-share * length) for length in lengths)
        assert value == pytest.approx((table[:, column] > 0).sum() / expected)
