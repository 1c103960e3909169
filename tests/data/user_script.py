"""A user's own script, which a strict type checker reads; it is not run."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import polyad
from polyad import (
    ICA,
    LDA,
    DiscreteCCA,
    DiscreteICA,
    HiddenMarkov,
    IndependentFactors,
    MixedCCA,
    MultiViewMixture,
    NoisyDiscreteICA,
    NonGaussianCCA,
    PolylingualLDA,
    SingleTopic,
    SphericalMixture,
    align,
    bootstrap,
    load,
    merge,
    select_n_components,
)
from polyad.corpus import CorpusSource, read_corpus
from polyad.datasets import (
    make_discrete_cca,
    make_discrete_ica,
    make_gamma_poisson,
    make_hmm,
    make_ica,
    make_independent_factors,
    make_lda,
    make_mixed_cca,
    make_multiview_mixture,
    make_noisy_discrete_ica,
    make_nongaussian_cca,
    make_single_topic,
    make_spherical_mixture,
)
from polyad.engine import DaskRunner, Shards, use
from polyad.inference import chib, completion_bits, left_to_right
from polyad.metrics import (
    amari_distance,
    frobenius_error,
    l1_error,
    l2_error,
    lift,
    match_rows,
    npmi_coherence,
    relevance,
    top_documents,
    top_words,
    topic_diversity,
    umass_coherence,
)


def topics_of(counts: sparse.csr_array, words: list[str], path: Path) -> list[list[str]]:
    model = LDA(20, polish="full", method="jacobi", inference="cvb0", random_state=np.random.default_rng(1))
    shares: NDArray[np.floating] = model.fit(counts).transform(counts)
    print(shares.sum(axis=1), model.score(counts), model.diagnostics_.n_passes)
    model.save(path, vocabulary={word: column for column, word in enumerate(words)})
    listed: list[list[str]] = model.topics(5, vocabulary=np.array(words))
    return listed


def again(path: Path) -> NDArray[np.floating]:
    model = load(path, LDA)
    components: NDArray[np.float64] = model.components_
    print(components.shape)
    return model.fit_transform([[1, 2], [3, 4], [0, 1]])


def other_topics(counts: sparse.csr_array) -> float:
    single = SingleTopic(3, weights="uniform").fit(counts)
    labels: NDArray[np.intp] = single.predict(counts)
    intensities: NDArray[np.floating] = DiscreteICA(3, normalize=False).fit(counts).transform(counts)
    noisy: NDArray[np.floating] = NoisyDiscreteICA(3).fit_transform(counts)
    first, second = LDA(3).fit(counts[:50]), LDA(3).partial_fit(counts[50:])
    print(labels.sum(), intensities.shape, noisy.shape, align(first, second), bootstrap(first, counts))
    return merge(first, second).score(counts) + single.perplexity(counts)


def views(X: NDArray[np.float64], Y: sparse.csr_array) -> float:
    model = DiscreteCCA(2, statistics="third", metric="scale").fit(Y, Y)
    both: NDArray[np.float64] = model.transform(Y, Y)
    mixed: NDArray[np.float64] = MixedCCA(2).fit(X, Y).predict(X)
    real: NDArray[np.float64] = NonGaussianCCA(2, method="sh-rt").fit_transform(X, X)
    several: list[list[list[str]]] = PolylingualLDA(3).fit([Y, Y]).topics(4)
    shared: NDArray[np.float64] = IndependentFactors(2).fit([X, X]).transform([X])
    print(both.shape, mixed.shape, real.shape, len(several), shared.shape, polyad.__version__)
    return model.score(Y, Y) + float(select_n_components(Y, [2, 3]).recommended)


def signals(X: NDArray[np.float64], Y: sparse.csr_array) -> float:
    sources: NDArray[np.floating] = ICA(2, noise="gaussian").fit(X).transform(X)
    mixture = SphericalMixture(2, covariance_type="diag").fit(X)
    labels: NDArray[np.intp] = mixture.predict(X)
    states: NDArray[np.int64] = HiddenMarkov(2, emission="gaussian").fit(X).predict(X)
    classes: NDArray[np.float64] = MultiViewMixture(2, route="symmetric").fit([X, Y, X]).predict_proba([X, Y, X])
    print(sources.shape, labels.sum(), states.sum(), classes.shape, mixture.bic(X))
    return mixture.score(X)


def lone_sources(rng: np.random.Generator, n_documents: int, n_topics: int) -> NDArray[np.float64]:
    return rng.exponential(20.0, (n_documents, n_topics))


def drawn_and_found_again() -> float:
    text = make_lda(500, 100, 3, length=50)
    lda = LDA(3, concentration=1.0, doc_topic_prior=None, topic_word_prior=0.1, n_jobs=-2, verbose=0)
    prior: NDArray[np.float64] = lda.fit(text.counts, sample_weight=np.ones(500)).doc_topic_prior_
    rates: float | None = DiscreteICA(3).fit(make_gamma_poisson(500, 100, 3).counts).rate_
    weights: NDArray[np.float64] = SingleTopic(3, method="svtd").fit(make_single_topic(500, 100, 3).counts).weights_
    others = [make_discrete_ica(lone_sources, 500, 100, 3).counts, make_noisy_discrete_ica(500, 100, 3).counts]
    error: float = l1_error(lda.components_, text.components) + l2_error(lda.components_, text.components)
    paired: NDArray[np.intp] = match_rows(lda.components_, text.components)
    matrix = make_ica(1000, 3)
    ica = ICA(3).fit(matrix.X)
    error += amari_distance(ica.components_, matrix.mixing) + frobenius_error(ica.mixing_.T, matrix.mixing.T)
    print(prior.sum(), rates, weights, len(others), paired, ica.mean_.shape)
    return error


def drawn_views() -> list[NDArray[np.float64]]:
    counts, signals, mixed = make_discrete_cca(300), make_nongaussian_cca(300), make_mixed_cca(300)
    fitted = DiscreteCCA(3).fit(counts.X, counts.Y)
    loadings = [fitted.x_loadings_, fitted.y_loadings_, NonGaussianCCA(3).fit(signals.X, signals.Y).x_loadings_]
    aligned = PolylingualLDA(3, n_private=1).fit([counts.X, counts.Y])
    components: list[NDArray[np.float64]] = aligned.components_
    both: NDArray[np.floating] = aligned.transform([counts.X, None])
    places: NDArray[np.floating] = aligned.project(counts.Y, view=1)
    shared: NDArray[np.float64] = (
        IndependentFactors(2).fit(make_independent_factors(300, 6, 2, n_views=3).views).components_
    )
    print(both.shape, places.shape)
    return [*loadings, *components, shared, MixedCCA(2).fit(mixed.X, mixed.Y).y_loadings_]


def drawn_rows() -> float:
    points, chains, classes = make_spherical_mixture(300, 5, 3), make_hmm(20, 50), make_multiview_mixture(300)
    mixture = SphericalMixture(3, covariance_type="spherical").fit(points.X)
    chain = HiddenMarkov(3, emission="categorical").fit(chains.X, chains.lengths)
    hidden = MultiViewMixture(3).fit(classes.views)
    found: list[NDArray[np.float64]] = [mixture.means_, mixture.covariances_, chain.startprob_, chain.transmat_]
    shown: NDArray[np.float64] = chain.emissionprob_
    values = HiddenMarkov(2, emission="gaussian").fit(points.X)
    parameters: list[NDArray[np.float64]] = hidden.components_
    print(
        len(found),
        shown,
        values.means_,
        values.covars_,
        parameters[0],
        hidden.weights_,
        hidden.sample(3),
        hidden.aic(classes.views),
    )
    return chain.score(chains.X, chains.lengths) + hidden.score(classes.views) + hidden.bic(classes.views)


def measured(model: LDA, X: sparse.csr_array, page: Path) -> float:
    topics = model.components_
    words: NDArray[np.float64] = relevance(topics, X.sum(axis=0)) + lift(topics, X.sum(axis=0))
    first: NDArray[np.intp] = top_words(words, 5)
    documents: NDArray[np.intp] = top_documents(model.transform(X), 3)
    coherence: NDArray[np.float64] = umass_coherence(topics, X) + npmi_coherence(topics, X)
    evidence: NDArray[np.float64] = left_to_right(topics, model.doc_topic_prior_, X) + chib(topics, [0.1] * 3, X)
    certainty: NDArray[np.float64] = model.diagnostics_.certainty
    settled: NDArray[np.float64] = model.stability(X)
    model.report(page, X)
    print(first, documents, coherence, evidence.sum(), certainty, settled, model.topics(3, as_frame=True))
    return topic_diversity(topics) + completion_bits(topics, model.doc_topic_prior_, X, random_state=0)


def large(folder: Path, client: Any) -> LDA:
    corpus = read_corpus(folder)
    with use(DaskRunner(client)):
        LDA(3, background=True).fit(Shards(folder), checkpoint=folder / "run", memory_limit="4GB")
    print(len(corpus.vocabulary), SphericalMixture(2).fit([[0.0], [1.0]], client=client).means_)
    return LDA(3).fit(CorpusSource(folder), client=client)
