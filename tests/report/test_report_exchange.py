"""Models in other libraries: the real ones, where they are installed."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from pages import honest
from polyad import LDA, DiscreteICA
from polyad.corpus import from_anndata
from polyad.report.exchange import write_topics


@pytest.fixture(scope="module")
def model_and_corpus():
    model, corpus, _ = honest()
    model.names_ = {1: "Second"}
    return model, corpus


@pytest.mark.filterwarnings("ignore")
def test_pyldavis_draws_the_same_topics_under_the_same_numbers(model_and_corpus):
    pyldavis = pytest.importorskip("pyLDAvis")
    model, corpus = model_and_corpus
    with_empty = sparse.csr_array(
        sparse.vstack([corpus.counts, sparse.csr_array((1, corpus.shape[1]), dtype=np.int32)])
    )
    given = model.to_pyldavis(with_empty)
    prepared = pyldavis.prepare(**given, sort_topics=False, start_index=0, n_jobs=1, R=5)
    assert prepared.topic_coordinates.index.tolist() == [0, 1, 2]
    # pyLDAvis has shares in percent, from the documents' shares; these are the tokens of each topic.
    tokens = model.transform(corpus) * np.asarray(corpus.counts.sum(axis=1)).reshape(-1, 1)
    expected = 100 * tokens.sum(axis=0) / tokens.sum()
    assert prepared.topic_coordinates["Freq"].to_numpy() == pytest.approx(expected, rel=1e-6)
    info = prepared.topic_info
    best = info[info["Category"] == "Topic0"].sort_values("logprob", ascending=False)["Term"].tolist()
    assert best[0] == model.topics(1, by="probability")[0][0]


@pytest.mark.filterwarnings("ignore")  # so small a corpus settles few topics of this model
def test_shares_sum_to_one_also_of_a_model_of_intensities(model_and_corpus):
    _, corpus = model_and_corpus
    found = DiscreteICA(3, normalize=False).fit(corpus).to_pyldavis(corpus)["doc_topic_dists"]
    assert found.sum(axis=1) == pytest.approx(np.ones(120))


@pytest.mark.filterwarnings("ignore")
def test_gensim_has_the_same_topics_and_finds_the_same_documents(model_and_corpus):
    pytest.importorskip("gensim")
    from polyad.corpus import to_gensim

    model, corpus = model_and_corpus
    made = model.to_gensim()
    assert np.abs(made.get_topics() - model.components_).max() < 1e-8
    assert made.alpha == pytest.approx(model.doc_topic_prior_)
    assert [word for word, _ in made.show_topic(2, 3)] == model.topics(3, by="probability")[2]
    documents, _ = to_gensim(corpus)
    theirs = np.array([[share for _, share in made.get_document_topics(d, minimum_probability=0)] for d in documents])
    assert (theirs.argmax(axis=1) == model.transform(corpus).argmax(axis=1)).mean() > 0.97


@pytest.mark.filterwarnings("ignore")
def test_anndata_holds_shares_words_and_names(model_and_corpus):
    anndata = pytest.importorskip("anndata")
    model, corpus = model_and_corpus
    order = np.random.default_rng(0).permutation(corpus.shape[1])
    counts = sparse.csr_matrix(sparse.hstack([corpus.counts[:, order], sparse.csr_array(np.ones((120, 1)))]))
    data = anndata.AnnData(X=counts)
    data.obs_names = list(corpus.ids)
    data.var_names = [*(corpus.vocabulary[m] for m in order), "another"]
    model.to_anndata(data)
    assert np.array_equal(data.obsm["X_topics"], model.transform(corpus))
    assert np.array_equal(data.varm["topics"][:-1], model.components_.T[order])
    assert not data.varm["topics"][-1].any()
    assert data.uns["topics"]["names"][1] == "Second"
    fitted = LDA(3).fit(from_anndata(data[:, :-1]))
    assert list(fitted.vocabulary_) == list(data.var_names[:-1])
    data.var_names = [f"gene {m}" for m in range(data.n_vars)]
    with pytest.raises(ValueError, match="Not one variable"):
        model.to_anndata(data)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_tables_of_topics_come_back_as_they_were(model_and_corpus, tmp_path, ending):
    pandas = pytest.importorskip("pandas")
    model, _ = model_and_corpus
    path = tmp_path / f"topics.{ending}"
    write_topics(model, path, n=4)
    read = {"csv": pandas.read_csv, "parquet": pandas.read_parquet, "jsonl": pandas.read_json}[ending]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = read(path, lines=True) if ending == "jsonl" else read(path)
    assert table.groupby("topic")["word"].apply(list).tolist() == model.topics(4)
    assert set(table[table["topic"] == 1]["name"]) == {"Second"}
    with pytest.raises(ValueError, match="does not tell the format"):
        write_topics(model, tmp_path / "topics.xls")
