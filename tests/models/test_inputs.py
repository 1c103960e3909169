"""Data as people have them: recognised, or refused in words that say what to do."""

import io
import re
import subprocess
import sys
import warnings
from functools import cache
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

import polyad
from polyad import ICA, LDA, DiscreteCCA, DiscreteICA, MixedCCA, NonGaussianCCA, PolylingualLDA, SingleTopic
from polyad.corpus import count_words
from polyad.datasets import make_ica, make_lda
from polyad.datasets.views import make_discrete_cca, make_mixed_cca, make_nongaussian_cca
from polyad.decompose import DIAGONALISERS
from polyad.decompose.methods import rotation_method
from polyad.engine import count_blocks, signal_blocks, use
from polyad.metrics import l1_error
from polyad.models import FractionalCountsWarning, NoiseWarning
from polyad.models.recipes.moment_start import add_unlike_documents
from polyad.models.topics.base import in_tokens

SAMPLE = make_lda(400, 60, 3, length=50, prior=0.2, random_state=1)
X = SAMPLE.counts.tocsr()
WORDS = [f"word{m}" for m in range(60)]
TEXTS = ["cat dog cat pet", "dog pet vet cat", "stock bond market fund", "bond fund stock rate"] * 5


@cache
def expected():
    return LDA(3).fit(X).components_.tobytes()


def bags(counts):
    """A corpus as gensim has it."""
    rows = sparse.csr_array(counts)
    return [
        list(zip(rows.indices[a:b].tolist(), rows.data[a:b].astype(int).tolist()))
        for a, b in zip(rows.indptr, rows.indptr[1:])
    ]


def test_bags_of_words_are_counts():
    documents = bags(X)
    model = LDA(3).fit(documents)
    assert model.components_.tobytes() == expected()
    few = bags(X[:4, :10])
    shares = model.transform(few)
    padded = sparse.hstack([X[:4, :10], sparse.csr_array((4, 50))], format="csr")
    assert np.array_equal(shares, model.transform(padded)), "bags without the last words are over the model's words"
    with pytest.raises(ValueError, match=r"bag of words 0 has the word number 99, and the model knows 0 to 59"):
        model.transform([[(99, 1)]])
    assert LDA(3).fit([[], *documents]).transform([[]]).shape == (1, 3)


def test_bags_that_come_one_by_one_are_refused():
    with pytest.raises(ValueError, match=r"bags of words.*corpus2csc"):
        LDA(3).fit(document for document in bags(X))


def test_blocks_of_two_columns_are_still_blocks():
    assert count_blocks([np.array([[1, 2], [3, 4]]), np.array([[5, 6]])]).shape == (3, 2)
    assert count_blocks([(0, 2), (1, 3)]).shape == (2, 2)
    assert signal_blocks([[[1, 2], [3, 4]], [[5, 6]]]).shape == (3, 2)


def test_bags_of_lists_are_refused_with_what_makes_bags_of_them():
    """JSON has no tuples: what it gives back would be read as blocks of two columns."""
    lists = [[list(pair) for pair in bag] for bag in bags(X)]
    with pytest.raises(ValueError, match=r"give (\[\[tuple.*\]);") as refused:
        LDA(2).fit(lists)
    advice = re.search(r"give (\[\[tuple.*\]);", str(refused.value))[1]
    assert LDA(3).fit(eval(advice, {"X": lists})).components_.tobytes() == expected()
    with pytest.raises(ValueError, match="list of lists of pairs"):
        LDA(3).fit(X).transform(lists)


@pytest.mark.parametrize("texts", [TEXTS, tuple(TEXTS), np.array(TEXTS), np.array(TEXTS, dtype=object), TEXTS[0]])
@pytest.mark.parametrize("model", [LDA(2), SingleTopic(2), ICA(2)])
def test_texts_say_how_to_count_them(model, texts):
    with pytest.raises(ValueError, match="count the words first") as refused:
        model.fit(texts)
    lines = [line.strip() for line in str(refused.value).splitlines()[1:]]
    scope = {"texts": TEXTS}
    for line in lines:
        exec(line, scope)
    assert scope["X"].shape == (20, 9), "the lines do what they say"


def test_new_texts_say_how_to_count_them_over_the_words_of_the_fit():
    vectorizer = CountVectorizer().fit(TEXTS)
    with warnings.catch_warnings(action="ignore"):
        counted = LDA(2).fit(vectorizer.transform(TEXTS))
        model = LDA(2).fit(count_words(TEXTS))
    with pytest.raises(ValueError, match=r"X is a list of texts.*count new ones over the words of the fit") as refused:
        counted.transform(TEXTS[:3])
    first, second = str(refused.value).splitlines()[1:]
    scope = {"texts": TEXTS[:3], "vectorizer": vectorizer, "model": model, "polyad": polyad}
    for line, fitted in ((first, counted), (second, model)):
        exec(line.strip(), scope)
        assert fitted.transform(scope["X"]).shape == (3, 2)
    views = PolylingualLDA(3).fit([X, X])
    with pytest.raises(ValueError, match=r"View 1 is a list of texts.*over the words of the fit"):
        views.transform([None, TEXTS])


@pytest.mark.parametrize("wrapped", [list, iter])
def test_lists_of_words_say_how_to_count_them(wrapped):
    texts = [text.split() for text in TEXTS]
    with pytest.raises(ValueError, match="lists of words, and counts of them are needed; count") as refused:
        LDA(2).fit(wrapped(texts))
    scope = {"texts": texts}
    for line in str(refused.value).splitlines()[1:]:
        exec(line.strip(), scope)
    assert (scope["X"] != CountVectorizer().fit_transform(TEXTS)).nnz == 0


def test_texts_that_come_one_by_one_say_how_to_count_them():
    for texts in (iter(TEXTS), io.StringIO("\n".join(TEXTS)), dict.fromkeys(TEXTS).keys()):
        with pytest.raises(ValueError, match="X yields texts, and counts of words are needed; count the words first"):
            LDA(2).fit(texts)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_texts_say_how_to_count_them(library):
    frames = pytest.importorskip(library)
    with pytest.raises(ValueError, match="list of texts, and counts of words are needed; count the words first"):
        LDA(2).fit(frames.Series(TEXTS))
    with pytest.raises(ValueError, match=r"not made of numbers.*CountVectorizer"):
        LDA(2).fit(frames.DataFrame({"text": TEXTS, "length": range(len(TEXTS))}))


def test_missing_counts_of_tables_are_missing_counts():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X.toarray().astype(int)).astype("Int64")
    assert LDA(3).fit(table).components_.tobytes() == expected()
    table.iloc[3, 1] = pandas.NA
    with pytest.raises(ValueError, match=r"missing count \(NaN\) at row 3, column 1"):
        LDA(3).fit(table)


def test_rows_of_different_lengths():
    with pytest.raises(ValueError, match=r"X has rows of different lengths.*: documents x words"):
        LDA(2).fit([[1, 2], [3]])


class Annotated(SimpleNamespace):
    """What AnnData has."""

    def __init__(self, rows, names):
        super().__init__(X=rows, obs=None, var=None, var_names=names, shape=rows.shape)


class OnDisk:
    """A matrix in a file, of which rows are read."""

    def __init__(self, rows):
        self.rows, self.shape = rows, rows.shape

    def __getitem__(self, rows):
        return self.rows[rows]


@pytest.mark.parametrize("rows", [X, X.toarray(), OnDisk(X)])
def test_annotated_matrices(rows):
    model = LDA(3).fit(Annotated(rows, WORDS))
    assert model.components_.tobytes() == expected()
    assert model.vocabulary_ == tuple(WORDS)
    assert model.transform(Annotated(rows, WORDS)).tobytes() == model.transform(X).tobytes()
    with pytest.raises(ValueError, match="counted over other words"):
        model.transform(Annotated(rows, WORDS[::-1]))
    with pytest.raises(ValueError, match="without a matrix"):
        LDA(3).fit(SimpleNamespace(X=None, obs=None, var=None, var_names=WORDS, shape=(3, 60)))


def test_anndata_also_backed(tmp_path):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    adata = anndata.AnnData(X, var=pandas.DataFrame(index=WORDS))
    assert LDA(3).fit(adata).components_.tobytes() == expected()
    adata.write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    model = LDA(3).fit(backed)
    assert model.components_.tobytes() == expected()
    assert model.vocabulary_ == tuple(WORDS)
    assert model.transform(backed).shape == (400, 3)


def test_lazy_frames():
    polars = pytest.importorskip("polars")
    lazy = polars.DataFrame(X.toarray(), schema=WORDS, orient="row").lazy()
    model = LDA(3).fit(lazy)
    assert model.components_.tobytes() == expected()
    assert list(model.feature_names_in_) == WORDS
    assert model.transform(lazy).shape == (400, 3)
    signals = make_nongaussian_cca(300, (6, 5), 2)
    left, right = (polars.DataFrame(view).lazy() for view in (signals.X, signals.Y))
    model = NonGaussianCCA(2).fit(left, right)
    plain = NonGaussianCCA(2).fit(signals.X, signals.Y)
    assert np.array_equal(model.transform(left, right), plain.transform(signals.X, signals.Y))
    assert list(model.y_feature_names_in_) == [f"column_{m}" for m in range(5)]


class Chunks:
    """What a dask array has."""

    __module__ = "dask.array.core"
    ndim = 2

    def __init__(self, grid):
        self.grid, self.numblocks = grid, (len(grid), len(grid[0]))
        self.blocks = self

    def __getitem__(self, place):
        return SimpleNamespace(compute=lambda: self.grid[place[0]][place[1]])


def test_chunked_arrays_of_sparse_blocks():
    grid = [[X[:150, :30], X[:150, 30:]], [X[150:, :30], X[150:, 30:]]]
    assert LDA(3).fit(Chunks(grid)).components_.tobytes() == expected()
    assert signal_blocks(Chunks([[part.toarray() for part in row] for row in grid])).shape == (400, 60)


def test_dask_arrays():
    dask_array = pytest.importorskip("dask.array")
    dense = dask_array.from_array(X.toarray(), chunks=(150, 60))
    assert LDA(3).fit(dense).components_.tobytes() == expected()
    assert LDA(3).fit(dense.map_blocks(sparse.csr_matrix)).components_.tobytes() == expected()


def test_other_things_of_dask_are_computed_first():
    delayed = pytest.importorskip("dask").delayed(X)
    with pytest.raises(ValueError, match=r"X has not been computed by dask yet: give X\.compute\(\)"):
        LDA(3).fit(delayed)


def test_a_generator_of_corpora_knows_its_words():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoiseWarning)
        whole = count_words(TEXTS)
        blocks = [
            count_words(TEXTS[:10], vocabulary=whole.vocabulary),
            count_words(TEXTS[10:], vocabulary=whole.vocabulary),
        ]
        model = LDA(2).fit(block for block in blocks)
        assert model.vocabulary_ == whole.vocabulary
        assert set(model.topics(2)[0]) <= set(whole.vocabulary)
        other = count_words(["one two three"])
        with pytest.raises(ValueError, match="counted over different words"):
            LDA(2).fit(block for block in [*blocks, other])
        with pytest.raises(ValueError, match="other words"):
            model.transform(block for block in [other])


@pytest.mark.filterwarnings("ignore::polyad.models.NoiseWarning")  # of documents of the same length
@pytest.mark.parametrize("model", [LDA(3), DiscreteICA(3), SingleTopic(3)])
def test_a_generator_is_fitted_and_transformed(model):
    parts = [X[:150], X[150:]]
    assert np.array_equal(model.fit_transform(part for part in parts), model.fit(X).transform(X))
    signals = np.random.default_rng(0).exponential(size=(300, 4))
    found = ICA(2).fit_transform(part for part in (signals[:100], signals[100:]))
    assert np.array_equal(found, ICA(2).fit(signals).transform(signals))


def as_bytes(words):
    """As h5py reads them."""
    return np.array(words, dtype="S")


@pytest.mark.parametrize("kind", [dict, np.array, tuple, iter, as_bytes])
def test_vocabularies_of_every_kind(kind, tmp_path):
    model = LDA(3).fit(X)
    words = {word: m for m, word in reversed(list(enumerate(WORDS)))} if kind is dict else kind(WORDS)
    assert model.topics(5, vocabulary=words) == model.topics(5, vocabulary=WORDS)
    words = words if kind is dict else kind(WORDS)
    model.save(tmp_path / "a.polyad", vocabulary=words)
    assert polyad.load(tmp_path / "a.polyad").vocabulary_ == tuple(WORDS)
    with pytest.raises(ValueError, match="none for column 1"):
        model.topics(vocabulary={"a": 0, "b": 2})
    vectorizer = CountVectorizer().fit(TEXTS)
    with warnings.catch_warnings(action="ignore"):
        two = LDA(2).fit(vectorizer.transform(TEXTS))
    assert two.topics(3, vocabulary=vectorizer.vocabulary_) == two.topics(
        3, vocabulary=vectorizer.get_feature_names_out()
    )


@pytest.mark.parametrize("model", [LDA, SingleTopic])
def test_fractions_are_taken_with_one_warning(model):
    lengths = np.asarray(X.sum(axis=1)).ravel()
    proportions = sparse.csr_array(X.multiply(1 / lengths[:, None]))
    tf = TfidfTransformer(use_idf=False).fit_transform(X)
    whole = l1_error(model(3).fit(X).components_, SAMPLE.components)
    for data in (proportions, tf, [proportions[:100], proportions[100:]]):
        with pytest.warns(
            FractionalCountsWarning, match=r"fractional count 0\.\d+ at row 0, column \d+.*expected"
        ) as said:
            found = model(3).fit(data)
        assert len(said) == 1
        assert said[0].filename == __file__
        assert l1_error(found.components_, SAMPLE.components) < whole + 0.02
    with pytest.raises(ValueError, match="Negative"):
        model(3).fit(-proportions)


def test_whole_numbers_of_any_type_say_nothing():
    assert LDA(3).fit(X.astype(np.float32)).components_.tobytes() == expected()
    assert LDA(3).fit(X.astype(np.uint8)).components_.tobytes() == expected()


@pytest.mark.filterwarnings("ignore::polyad.models.NoiseWarning")  # of documents of the same length
@pytest.mark.parametrize("model", [LDA(3), DiscreteICA(3), DiscreteICA(3, normalize=False), SingleTopic(3), ICA(3)])
def test_single_precision_stays(model):
    dense = X.toarray()
    fitted = model.fit(dense)
    found = fitted.transform(dense.astype(np.float32))
    assert found.dtype == np.float32
    assert np.allclose(found, fitted.transform(dense), atol=1e-5)
    assert fitted.transform(dense.astype(np.int32)).dtype == np.float64


def test_mixed_views_come_in_either_order(tmp_path):
    sample = make_mixed_cca(500, (6, 20), 2)
    one, other = MixedCCA(2).fit(sample.X, sample.Y), MixedCCA(2).fit(sample.Y, sample.X)
    assert (one.counts_view_, other.counts_view_) == (2, 1)
    assert one.x_loadings_.tobytes() == other.y_loadings_.tobytes()
    assert one.y_loadings_.tobytes() == other.x_loadings_.tobytes()
    assert np.allclose(one.transform(sample.X, sample.Y), other.transform(sample.Y, sample.X), atol=1e-10)
    assert (one.predict(sample.X) >= 0).all()
    assert (other.predict(sample.Y) < 0).any(), "measurements may be negative"
    other.save(tmp_path / "a.polyad")
    loaded = polyad.load(tmp_path / "a.polyad")
    assert loaded.counts_view_ == 1
    assert loaded.predict(sample.Y).tobytes() == other.predict(sample.Y).tobytes()


def test_the_score_of_two_views_is_that_of_scikit_learn():
    from sklearn.metrics import r2_score

    sample = make_discrete_cca(300, (15, 20), 2)
    model = DiscreteCCA(2).fit(sample.X, sample.Y)
    dense = sample.Y.toarray()
    assert np.isclose(model.score(sample.X, sample.Y), r2_score(dense, model.predict(sample.X)), rtol=1e-10)
    signals = make_nongaussian_cca(300, (6, 5), 2)
    own = NonGaussianCCA(2).fit(signals.X, signals.Y)
    assert np.isclose(own.score(signals.X, signals.Y), r2_score(signals.Y, own.predict(signals.X)), rtol=1e-10)
    assert (own.stability(signals.X, signals.Y, n_resamples=1) <= 1).all()


def test_permuted_columns_of_the_second_view_are_refused():
    pandas = pytest.importorskip("pandas")
    signals = make_nongaussian_cca(300, (6, 5), 2)
    Y = pandas.DataFrame(signals.Y, columns=list("abcde"))
    model = NonGaussianCCA(2).fit(signals.X, Y)
    assert list(model.y_feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match=r"columns of Y have other feature names.*same in another order"):
        model.transform(None, Y[list("edcba")])
    with pytest.raises(ValueError, match="Y has the value nan at row 3, column 1"):
        NonGaussianCCA(2).fit(signals.X, Y.mask(Y.isin([signals.Y[3, 1]])))


def test_a_score_of_aligned_texts():
    sample = make_discrete_cca(400, (20, 30), 3, n_private=1, private_length=50.0)
    model = PolylingualLDA(3, n_private=1).fit([sample.X, sample.Y])
    good = model.score([sample.X, sample.Y])
    assert np.isclose(model.perplexity([sample.X, sample.Y]), np.exp(-good))
    assert np.isfinite(model.score([sample.X, None]))
    model.all_components_ = [np.roll(topics, 7, axis=1) for topics in model.all_components_]
    assert good > model.score([sample.X, sample.Y]) + 0.3


def test_shares_by_every_method_of_inference():
    fitted = {name: LDA(3, inference=name).fit(X) for name in ("map", "variational", "cvb0", "gibbs")}
    sure = fitted["gibbs"].transform(X)
    error = {name: np.abs(model.transform(X) - sure).mean() for name, model in fitted.items()}
    assert error["gibbs"] == 0
    assert error["cvb0"] < error["map"]
    assert error["cvb0"] < 0.01 < np.abs(sure[::-1] - sure).mean()
    assert all(model.components_.tobytes() == expected() for model in fitted.values())
    with pytest.raises(ValueError, match="inference is 'magic'"):
        LDA(3, inference="magic").fit(X)


# "svtd_all" and "jd_f" are other uses of svtd and of jacobi, with words of their own.
NAMES = [name for name, function in DIAGONALISERS.items() if rotation_method(function).name == name]


@pytest.mark.parametrize("name", NAMES)
def test_a_diagonaliser_and_its_name_are_the_same(name):
    with warnings.catch_warnings(action="ignore"):
        named, given = (LDA(3, method=method, polish="off").fit(X) for method in (name, DIAGONALISERS[name]))
    assert named.components_.tobytes() == given.components_.tobytes()


@pytest.mark.parametrize("name", ["svtd", "svtd_all", "jd_f"])
def test_words_reach_the_diagonalisers_that_want_them(name):
    def unknown(stack, **options):  # gets no words
        return DIAGONALISERS[name](stack, **options)

    with warnings.catch_warnings(action="ignore"):
        named, given = (LDA(3, method=method, polish="off").fit(X) for method in (name, unknown))
    assert named.components_.tobytes() != given.components_.tobytes()


def test_a_document_of_less_than_one_token_becomes_a_topic():
    with pytest.warns(FractionalCountsWarning):
        corpus = in_tokens(count_blocks([[5, 5, 0], [4, 6, 0], [0, 0, 0.25]]))
    topics = add_unlike_documents(np.array([[0.5, 0.5, 0.0]]), corpus, 2)
    assert np.allclose(topics[1], 0.5 * np.array([0, 0, 1]) + 0.5 * corpus.unigram)
    assert np.isclose(topics[1].sum(), 1)


def test_stability_of_topics():
    found = LDA(3).fit(X).stability(X, n_groups=8, n_replicates=20)
    assert found.shape == (3,)
    assert ((found > 0.5) & (found < 1)).all()


def threads(n_jobs=None):
    with use(n_jobs) as runner:
        return runner.n_threads


def test_numbers_of_jobs_are_those_of_joblib(monkeypatch):
    monkeypatch.setattr("polyad.engine.runners.cores", lambda: 4)
    assert [threads(n) for n in (None, 1, 3, -1, -2, -4, -9)] == [4, 1, 3, 4, 3, 1, 1]
    with joblib.parallel_config(n_jobs=1):
        assert threads() == 1
        assert threads(2) == 2
    with joblib.parallel_config(n_jobs=-2):
        assert threads() == 3
    workers = joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(threads)() for _ in range(2))
    assert workers == [1, 1], "the workers share the cores"


def test_noise_is_told_at_the_line_of_the_caller():
    sample = make_lda(200, 60, 2, length=20, random_state=0)
    models = (LDA(10), DiscreteICA(10), SingleTopic(10))
    for fit in [fit for model in models for fit in (model.fit, model.fit_transform, make_pipeline(model).fit)]:
        with pytest.warns(NoiseWarning) as said:
            fit(sample.counts)
        assert {warning.filename for warning in said} == {__file__}


def test_what_is_public_is_shown():
    shown = [name for name in dir(polyad) if not name.startswith("__")]
    assert set(polyad.__all__) - {"__version__"} <= set(shown)
    assert not {"Any", "TYPE_CHECKING", "import_module", "logging"} & set(shown)
    assert polyad.datasets.make_lda is make_lda
    code = "import polyad; polyad.metrics.l1_error; polyad.corpus.read_corpus"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_module_is_the_command():
    found = subprocess.run([sys.executable, "-m", "polyad", "--version"], capture_output=True, text=True, check=True)
    assert polyad.__version__ in found.stdout


def test_planned_memory_is_shown():
    diagnostics = LDA(3).fit(X).diagnostics_
    assert f"{diagnostics.memory_bytes / 1e6:,.0f} MB of memory planned" in repr(diagnostics)


def test_how_factors_were_found_is_shown_in_a_line():
    shown = repr(ICA(3).fit(make_ica(500, 4).X).diagnostics_)
    assert shown.startswith("FactorDiagnostics(statistics ")
    assert "3 of 3 components determined" in shown
    assert "gap " in shown
    assert "array" not in shown
    assert len(shown) < 300


def test_a_path_is_no_data(tmp_path):
    with pytest.raises(ValueError, match=r"X is a path, and data are needed: polyad\.corpus\.CorpusSource"):
        LDA(2).fit(tmp_path)


def test_counts_in_half_precision():
    assert LDA(3).fit(X.toarray().astype(np.float16)).components_.tobytes() == expected()


@pytest.mark.parametrize("name", ["doc_topic_prior", "topic_word_prior"])
def test_priors_that_are_no_numbers(name):
    with pytest.raises(ValueError, match=f"{name} must be None, a positive number, or 3 positive numbers"):
        LDA(3, **{name: "auto"}).fit(X)
