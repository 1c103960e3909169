"""gensim and AnnData, with the libraries where they are installed and with stand-ins everywhere."""

import sys
import warnings
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_matrix

from polyad.corpus import CorpusError, from_anndata, from_gensim, make_corpus, to_anndata, to_gensim

# Not square, so that a transposition cannot pass.
COUNTS = np.array([[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 1]])
WORDS = ("ant", "bee", "cat", "dog")
PAIRS = [[(0, 1), (2, 2)], [], [(1, 3), (3, 1)]]


def corpus():
    return make_corpus(COUNTS, WORDS, ["x", "y", "z"])


@pytest.mark.parametrize(
    "dictionary",
    [dict(enumerate(WORDS)), SimpleNamespace(token2id={word: number for number, word in enumerate(WORDS)})],
)
def test_pairs_become_rows(dictionary):
    made = from_gensim(iter(PAIRS), dictionary, ids=["x", "y", "z"])
    assert (made.vocabulary, made.ids) == (WORDS, ("x", "y", "z"))
    np.testing.assert_array_equal(made.counts.toarray(), COUNTS)


def test_gensim_without_a_dictionary_and_with_a_wrong_one():
    assert from_gensim(PAIRS).vocabulary == ("0", "1", "2", "3")
    assert from_gensim([[(0, 1)]], {0: "a", 2: "c"}).vocabulary == ("a", "1", "c")
    with pytest.raises(CorpusError, match="word number 3 is not in the dictionary"):
        from_gensim(PAIRS, {0: "a", 1: "b"})
    with pytest.raises(CorpusError, match="negative"):
        from_gensim([[(-1, 1)]])
    with pytest.raises(CorpusError, match=r"is 0\.5"):
        from_gensim([[(0, 0.5)]])
    with pytest.raises(TypeError, match="words x documents"):
        from_gensim(csc_matrix(COUNTS.T))
    with pytest.raises(TypeError, match="dictionary"):
        from_gensim(PAIRS, ["a"])


def test_pairs_out_with_a_stand_in(monkeypatch):
    class Dictionary:
        @staticmethod
        def from_corpus(documents, id2word):
            return SimpleNamespace(documents=documents, id2word=id2word)

    corpora = ModuleType("gensim.corpora")
    corpora.Dictionary = Dictionary
    monkeypatch.setitem(sys.modules, "gensim", ModuleType("gensim"))
    monkeypatch.setitem(sys.modules, "gensim.corpora", corpora)
    documents, dictionary = to_gensim(corpus())
    assert documents == PAIRS
    assert dictionary.id2word == dict(enumerate(WORDS))


def test_gensim_itself_both_ways():
    corpora = pytest.importorskip("gensim.corpora")
    matutils = pytest.importorskip("gensim.matutils")
    documents, dictionary = to_gensim(corpus())
    assert isinstance(dictionary, corpora.Dictionary)
    assert dictionary[2] == "cat"
    assert (dictionary.num_docs, dictionary.dfs[3]) == (3, 1)
    np.testing.assert_array_equal(matutils.corpus2csc(documents, num_terms=4).T.toarray(), COUNTS)
    np.testing.assert_array_equal(from_gensim(documents, dictionary).counts.toarray(), COUNTS)
    texts = [["bee", "ant", "bee"], ["cat"]]
    made = corpora.Dictionary(texts)
    again = from_gensim([made.doc2bow(text) for text in texts], made)
    assert dict(zip(again.vocabulary, again.counts.toarray()[0].tolist())) == {"ant": 1, "bee": 2, "cat": 0}
    turned = matutils.Sparse2Corpus(csc_matrix(COUNTS.T))
    np.testing.assert_array_equal(from_gensim(turned, dictionary).counts.toarray(), COUNTS)


@pytest.mark.parametrize("form", [np.asarray, csr_matrix, lambda counts: csc_matrix(counts.astype(np.float32))])
def test_observations_become_rows(form):
    cells = SimpleNamespace(
        X=form(COUNTS), obs_names=["x", "y", "z"], var_names=list(WORDS), layers={"raw": form(2 * COUNTS)}
    )
    made = from_anndata(cells)
    assert (made.vocabulary, made.ids) == (WORDS, ("x", "y", "z"))
    np.testing.assert_array_equal(made.counts.toarray(), COUNTS)
    np.testing.assert_array_equal(from_anndata(cells, "raw").counts.toarray(), 2 * COUNTS)
    with pytest.raises(CorpusError, match="no layer 'counts'; the layers are 'raw'"):
        from_anndata(cells, "counts")


def test_anndata_without_counts_is_a_sentence():
    cells = SimpleNamespace(X=None, obs_names=[], var_names=[], layers={})
    with pytest.raises(CorpusError, match="no X"):
        from_anndata(cells)
    cells = SimpleNamespace(X=np.log1p(COUNTS), obs_names=["x", "y", "z"], var_names=list(WORDS), layers={})
    with pytest.raises(CorpusError, match=r"word 0 \('ant'\) in document 0 is 0\.69"):
        from_anndata(cells)


def test_anndata_itself_both_ways():
    with warnings.catch_warnings():
        # Importing it may warn about things of its own.
        warnings.simplefilter("ignore")
        anndata = pytest.importorskip("anndata")
    data = to_anndata(corpus())
    assert isinstance(data, anndata.AnnData)
    assert data.shape == (3, 4)
    assert (list(data.obs_names), list(data.var_names)) == (["x", "y", "z"], list(WORDS))
    again = from_anndata(data)
    np.testing.assert_array_equal(again.counts.toarray(), COUNTS)
    assert (again.vocabulary, again.ids) == (WORDS, ("x", "y", "z"))


@pytest.mark.parametrize(("convert", "library"), [(to_gensim, "gensim.corpora"), (to_anndata, "anndata")])
def test_without_the_library_it_says_what_to_install(convert, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match="pip install"):
        convert(corpus())
