"""Hashed words: the same columns at any time, on disk and in memory, and in a model that goes on learning."""

import numpy as np
import pytest

from polyad import LDA
from polyad.corpus import CorpusSource, TextOptions, count_words, index
from polyad.corpus.words.hashing import hash_terms, hashed_column, hashed_names
from polyad.io import load

FIRST = ["the cat likes the dog and the dog the cat", "stocks and bonds fell, and bonds fell most"] * 40
LATER = ["the bird likes the cat, and cats like birds", "gold and bonds rose while stocks fell"] * 40
HASHED = TextOptions(stop_words="english", hashed=64)


def test_words_are_where_their_hash_says():
    corpus = count_words(FIRST, HASHED)
    assert corpus.vocabulary == hashed_names(64)
    plain = count_words(FIRST, TextOptions(stop_words="english"))
    expected = np.zeros(corpus.counts.shape, int)
    for column, word in enumerate(plain.vocabulary):
        expected[:, hashed_column(word, 64)] += plain.counts.toarray()[:, column]
    assert np.array_equal(corpus.counts.toarray(), expected)
    assert corpus.report.dropped["stop words"] == plain.report.dropped["stop words"]


def test_no_word_is_new_and_bounds_do_not_apply():
    first, later = (count_words(texts, TextOptions(hashed=64, min_df=50)) for texts in (FIRST, LATER))
    assert first.vocabulary == later.vocabulary
    assert later.counts.sum() == count_words(LATER).counts.sum()
    assert set(count_words(LATER, HASHED, vocabulary=first.vocabulary).report.dropped) == {"stop words"}


def test_forms_of_a_stem_share_a_column():
    pytest.importorskip("snowballstemmer")
    corpus = count_words(["running runs", "run"], TextOptions(hashed=1000, stemming="english"))
    assert corpus.counts.nnz == 2
    assert corpus.counts.indices[0] == corpus.counts.indices[1] == hashed_column("run", 1000)


def test_columns_that_two_words_share_are_added():
    names, counts = hash_terms(["a", "b", "c"], count_words(["aa bb cc"]).counts, 1, None)
    assert (names, counts.toarray().tolist()) == (["#0"], [[3]])


@pytest.mark.parametrize("stop_words", ["english", "auto"])
def test_shards_have_the_same_columns(tmp_path, stop_words):
    (tmp_path / "first.txt").write_text("\n".join(FIRST))
    options = TextOptions(stop_words=stop_words, hashed=64)
    shards = index(tmp_path / "first.txt", tmp_path / "first.shards", options)
    memory = count_words(FIRST, options)
    assert shards.vocabulary == memory.vocabulary
    back = np.argsort(shards.counts.row_numbers())
    assert np.array_equal(shards.counts.shard(0).rows.toarray()[back], memory.counts.toarray())
    assert shards.report.options == memory.report.options
    assert shards.report.dropped == memory.report.dropped
    with pytest.raises(ValueError, match="either hashed"):
        index(tmp_path / "first.txt", tmp_path / "second.shards", options, vocabulary=["cat"])


def test_a_model_learns_from_text_whose_words_it_has_not_seen(tmp_path):
    for name, texts in (("first", FIRST), ("later", LATER)):
        (tmp_path / f"{name}.txt").write_text("\n".join(texts))
    model = LDA(2).fit(CorpusSource(tmp_path / "first.txt", options=HASHED))
    model.save(tmp_path / "model.polyad")
    again = load(tmp_path / "model.polyad")
    assert again.text_options_.hashed == 64
    before = again.diagnostics_.n_tokens
    again.partial_fit(CorpusSource(tmp_path / "later.txt"))
    assert again.diagnostics_.n_tokens == before + count_words(LATER, HASHED).counts.sum()
    bird = hashed_column("bird", 64)
    cats = again.components_[:, hashed_column("cat", 64)].argmax()
    assert again.components_[cats, bird] > 5 * again.components_[1 - cats, bird]


def test_options_without_it_are_written_as_before():
    assert "hashed" not in TextOptions().to_dict()
    assert TextOptions.from_dict(HASHED.to_dict()) == HASHED
    with pytest.raises(ValueError, match="hashed"):
        TextOptions(hashed=0)
