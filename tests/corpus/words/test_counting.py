"""Counting: against a plain count, against scikit-learn, and the same for any number of processes."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from polyad.corpus import CorpusError, Document, TextOptions, count_words, split_words, word_pattern
from polyad.corpus.words import counting as count_module

WORDS = ["alpha", "beta", "Gamma", "delta's", "l'eau", "été", "don’t", "x1", "7", "of", "the", "and/or", "co-op"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=6)
PLAIN = TextOptions(apostrophes="keep", numbers="keep", min_length=1)


def assert_same(one, other):
    assert one.vocabulary == other.vocabulary
    assert one.ids == other.ids
    for name in ("indptr", "indices", "data"):
        left, right = getattr(one.counts, name), getattr(other.counts, name)
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)


def naive(texts, options):
    """Count n-grams one by one."""
    low, high = options.ngrams
    rows = []
    for text in texts:
        words = split_words(text, options)
        rows.append(
            Counter(
                " ".join(words[at : at + size]) for size in range(low, high + 1) for at in range(len(words) - size + 1)
            )
        )
    vocabulary = sorted({term for row in rows for term in row})
    return vocabulary, np.array([[row[term] for term in vocabulary] for row in rows]).reshape(len(texts), -1)


@given(TEXTS, st.sampled_from([(1, 1), (1, 2), (2, 2), (2, 4)]), st.booleans())
def test_counts_are_those_of_a_plain_count(texts, ngrams, stop):
    options = TextOptions(ngrams=ngrams, stop_words=["of", "the"] if stop else None)
    corpus = count_words(texts, options)
    vocabulary, counts = naive(texts, options)
    assert list(corpus.vocabulary) == vocabulary
    np.testing.assert_array_equal(corpus.counts.toarray(), counts)
    assert corpus.counts.has_canonical_format
    assert corpus.counts.indices.dtype == np.int32


@given(TEXTS, st.sampled_from([(1, 1), (1, 2), (2, 3)]))
def test_counts_are_those_of_scikit_learn(texts, ngrams):
    options = TextOptions(
        apostrophes="keep", numbers="keep", min_length=1, ngrams=ngrams, stop_words=["of", "the"], min_df=2, max_df=0.9
    )
    vectorizer = CountVectorizer(
        token_pattern=word_pattern(), ngram_range=ngrams, stop_words=["of", "the"], min_df=2, max_df=0.9
    )
    try:
        expected = vectorizer.fit_transform(texts)
    except ValueError:
        # It refuses an empty vocabulary and bounds that cross; here both are a corpus without words.
        assert count_words(texts, options).vocabulary == ()
        return
    corpus = count_words(texts, options)
    assert list(corpus.vocabulary) == list(vectorizer.get_feature_names_out())
    np.testing.assert_array_equal(corpus.counts.toarray(), expected.toarray())


@given(TEXTS, st.integers(1, 40))
def test_chunks_do_not_show(texts, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(count_module, "CHUNK_CHARACTERS", size)
        cut = count_words(texts, TextOptions(ngrams=(1, 2)), n_jobs=1)
    whole = count_words(texts, TextOptions(ngrams=(1, 2)), n_jobs=1)
    assert_same(cut, whole)
    assert cut.report.dropped == whole.report.dropped


def many_texts(n=400):
    rng = np.random.default_rng(0)
    words = np.array([*WORDS, *(f"word{number}" for number in range(200))])
    return [" ".join(rng.choice(words, rng.integers(0, 60))) for _ in range(n)]


@pytest.mark.parametrize(
    "options", [PLAIN, TextOptions(ngrams=(1, 2), stop_words=["of"], min_df=2, stemming="english")]
)
def test_any_number_of_processes_gives_the_same(options, monkeypatch):
    monkeypatch.setattr(count_module, "CHUNK_CHARACTERS", 5000)
    monkeypatch.setattr(count_module, "PARALLEL_AFTER", 20_000)
    texts = many_texts()
    one, two, automatic = (count_words(texts, options, n_jobs=n_jobs) for n_jobs in (1, 2, None))
    assert_same(one, two)
    assert_same(one, automatic)
    assert one.report.dropped == two.report.dropped


def test_an_error_of_the_reader_comes_through_the_processes(monkeypatch):
    monkeypatch.setattr(count_module, "CHUNK_CHARACTERS", 100)

    def broken():
        yield from many_texts(100)
        raise CorpusError("the file ends here", path="a.txt", line=101)

    with pytest.raises(CorpusError, match=r"a\.txt, line 101"):
        count_words(broken(), n_jobs=2)


def test_a_script_without_a_guard_may_use_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from polyad.corpus import count_words\nprint(count_words(['to be or not to be'] * 50, n_jobs=2))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "Corpus(50 documents, 4 words, 300 tokens)\n"
    assert done.stderr == ""


def test_documents_are_taken_as_they_are_needed(monkeypatch):
    monkeypatch.setattr(count_module, "CHUNK_CHARACTERS", 1000)
    given_out = 0
    ahead = []

    def documents():
        nonlocal given_out
        for number in range(2000):
            given_out += 1
            yield Document(f"d{number}", "ten chars!")

    count_words(documents(), n_jobs=1, progress=lambda done: ahead.append(given_out - done))
    assert len(ahead) == 20
    assert max(ahead) == 0


def test_rare_frequent_and_beyond_are_dropped_and_reported():
    texts = ["a b c rare", "a b c", "a b", "a a a"]
    options = TextOptions(min_length=1, min_df=2, max_df=0.75, max_features=1)
    corpus = count_words(texts, options)
    assert corpus.vocabulary == ("b",)
    dropped = corpus.report.dropped
    assert dropped["rare words"].examples == ("rare",)
    assert (dropped["frequent words"].examples, dropped["frequent words"].tokens) == (("a",), 6)
    assert dropped["beyond max_features"].examples == ("c",)
    assert corpus.report.tokens == 3
    assert corpus.report.tokens_found == 12
    assert corpus.report.empty_documents == 1
    assert len(corpus) == 4


def test_ties_for_the_last_place_go_by_the_alphabet():
    assert count_words(["dd cc bb aa"], TextOptions(max_features=2)).vocabulary == ("aa", "bb")


@given(TEXTS)
def test_no_token_is_lost(texts):
    options = TextOptions(stop_words=["the"], min_df=2, max_features=3)
    report = count_words(texts, options).report
    assert report.tokens_found == sum(len(split_words(text, PLAIN)) for text in texts)


def test_stems_are_shown_as_their_most_frequent_form_and_found_again():
    texts = ["nations nations national", "nation runs", "running runs cats"]
    options = TextOptions(stemming="english")
    corpus = count_words(texts, options)
    assert corpus.vocabulary == ("cats", "nations", "runs")
    assert corpus.counts.toarray().tolist() == [[0, 3, 0], [0, 1, 1], [1, 0, 2]]
    again = count_words(["cat run nationals", "nothing"], options, vocabulary=corpus.vocabulary)
    assert again.counts.toarray().tolist() == [[1, 1, 1], [0, 0, 0]]
    pairs = TextOptions(stemming="english", ngrams=(2, 2))
    assert count_words(["human rights", "human rights", "humans right"], pairs).vocabulary == ("human rights",)


def test_new_text_is_counted_over_the_vocabulary_of_the_old():
    options = TextOptions(ngrams=(1, 2), min_df=2)
    texts = many_texts(60)
    corpus = count_words(texts, options)
    again = count_words(texts, options, vocabulary=corpus.vocabulary)
    assert_same(corpus, again)
    new = count_words(["never seen", "alpha alpha"], options, vocabulary=corpus.vocabulary)
    assert new.shape == (2, len(corpus.vocabulary))
    assert new.counts.sum() >= 2
    assert new.report.dropped["unknown words"].words >= 3
    assert new.report.empty_documents == 1


def test_ids_and_duplicates():
    corpus = count_words([Document("x", "to be"), Document("x", "or not"), "plain"])
    assert corpus.ids == ("x", "x", "2")
    assert (corpus.report.duplicate_ids, corpus.report.duplicate_examples) == (1, ("x",))
    assert len(corpus) == 3


def test_no_documents_and_no_words():
    assert count_words([]).shape == (0, 0)
    assert count_words(["", "1 2 3"]).shape == (2, 0)
    assert count_words([], TextOptions(ngrams=(1, 2))).shape == (0, 0)
    assert count_words([""], TextOptions(ngrams=(2, 3))).shape == (1, 0)
    assert count_words([], vocabulary=["a"]).shape == (0, 1)


def test_one_text_is_not_a_list_of_texts():
    with pytest.raises(TypeError, match="put it in a list"):
        count_words("to be or not to be")
    with pytest.raises(TypeError, match="Document or str, not int"):
        count_words([3])


@settings(max_examples=200)
@given(st.lists(st.text(), max_size=4))
def test_any_text_can_be_counted(texts):
    corpus = count_words(texts, PLAIN)
    assert len(corpus) == len(texts)
    assert corpus.counts.sum() == sum(len(split_words(text, PLAIN)) for text in texts)


def test_one_huge_piece_without_white_space():
    corpus = count_words(["-".join(["word"] * 100_000) + "x" * 100_000])
    assert corpus.counts.sum() == 100_000
