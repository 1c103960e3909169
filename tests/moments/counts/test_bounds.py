"""Bounds hold on samples that are made to break them, and are not so wide that anything would."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from polyad.datasets import make_gamma_poisson, make_lda, make_single_topic
from polyad.decompose import power
from polyad.decompose.bounds import (
    CHANGED,
    SMALL_NOISE,
    TURNED,
    documents_needed,
    recovery_bound,
    whitened_error,
)
from polyad.engine import count_blocks
from polyad.moments import (
    SampleAccuracy,
    SourceCumulants,
    discrete_ica_accuracy,
    discrete_ica_moments,
    gamma_cumulants,
    gamma_third_accuracy,
    lda_accuracy,
    lda_population,
    raw_moments,
    sample_accuracy,
    single_topic_population,
)


def fro(difference):
    return float(np.linalg.norm(difference))


@pytest.mark.parametrize("weights", ["length", "uniform", 1.25])
def test_the_bound_is_mcdiarmid_over_documents(weights):
    """Written out: the shares of documents by loops, and the bound from their squares."""
    lengths, delta, norms = np.array([3.0, 5.0, 40.0, 2.0, 1.0]), 0.1, (0.3, 0.2, 0.1)
    found = sample_accuracy(
        lengths, weights=weights, failure=delta, first_norm=norms[0], second_norm=norms[1], third_norm=norms[2]
    )
    for order, bound, norm in zip((1, 2, 3), (found.first, found.second, found.third), norms):
        shares = []
        for length in lengths:
            tuples = np.prod([max(length - i, 0) for i in range(order)])
            power = 0.0 if weights == "uniform" else weights
            shares.append(tuples if weights == "length" else (length**power if tuples > 0 else 0.0))
        spread = sum(share**2 for share in shares) / sum(shares) ** 2
        assert np.isclose(bound, np.sqrt(spread) * (np.sqrt(1 - norm**2) + np.sqrt(np.log(1 / delta))))


@pytest.mark.parametrize("length", [100, 1000])
def test_it_holds_where_the_words_of_a_document_are_all_the_same(length):
    """Two topics of one word each: the bound of the SVTD paper's Theorem 2 is broken by one sample in five or more."""
    N, delta = 50, 0.05
    rng = np.random.default_rng(length)
    topic = rng.binomial(N, 0.5, 4000) / N  # the share of documents that are about the first word
    errors = np.sqrt(2) * np.abs(topic - 0.5)  # of M2 and of M3, whose only entries are the shares of the topics
    norm = np.sqrt(0.5)
    here = sample_accuracy(np.full(N, length), failure=delta, second_norm=norm, third_norm=norm)
    printed = np.sqrt((1 - norm**2) / N) + np.sqrt(np.log(1 / delta) * length / N) / (length - 1)
    assert np.mean(errors > printed) > (0.15 if length == 100 else 0.25)
    assert np.mean(errors > here.second) <= delta
    assert np.mean(errors > here.third) <= delta
    sample = make_single_topic(N, 2, 2, length=length, components=np.eye(2), random_state=0)
    raw = raw_moments(count_blocks(sample.counts), "length").moments
    share = (np.asarray(sample.counts.todense())[:, 0] > 0).mean()
    assert np.isclose(fro(raw.second @ np.eye(2) - np.eye(2) / 2), np.sqrt(2) * abs(share - 0.5), atol=1e-12)


@pytest.mark.parametrize("weights", ["length", "uniform"])
def test_the_bound_holds_on_samples(weights):
    errors = {1: [], 2: [], 3: []}
    lengths = np.random.default_rng(0).integers(3, 30, 100)
    eye = np.eye(8)
    for seed in range(20):
        sample = make_single_topic(100, 8, 3, length=lengths, random_state=seed)
        raw = raw_moments(count_blocks(sample.counts), weights).moments
        truth = single_topic_population(sample.components, sample.prior)
        errors[1].append(fro(raw.mean - truth.mean))
        errors[2].append(fro(raw.second @ eye - truth.second @ eye))
        errors[3].append(fro(raw.third(eye) - truth.third(eye)))
    bound = sample_accuracy(lengths, weights=weights, failure=0.05)
    for order, limit in zip((1, 2, 3), (bound.first, bound.second, bound.third)):
        assert np.quantile(errors[order], 0.95) < limit < 40 * np.mean(errors[order])


def test_lda_moments_are_within_their_bounds():
    eye, lengths, c0 = np.eye(10), np.full(300, 30), 1.5
    for seed in range(5):
        sample = make_lda(300, 10, 3, length=30, prior=c0 / 3, random_state=seed)
        truth = lda_population(sample.components, sample.prior)
        raw = raw_moments(count_blocks(sample.counts), "length").at(c0)
        S, T = fro(raw.second @ eye - truth.second @ eye), fro(raw.third(eye) - truth.third(eye))
        bounds = lda_accuracy(sample_accuracy(lengths), c0)
        assert S < bounds[0] < 300 * S
        assert T < bounds[1] < 1500 * T


def test_lda_accuracy_is_the_triangle_inequality():
    """Errors along the worst direction reach the bound: one word, and moments that are all too large."""
    e1, e2, e3, c0 = 0.01, 0.02, 0.03, 1.7
    a1, a2, a3 = 1 + e1, 1 + e2, 1 + e3
    S = abs((a2 - 1) + c0 / (c0 + 1) * (a1**2 - 1))  # with the sign that adds up
    T = (a3 - 1) + 3 * c0 / (c0 + 2) * (a2 * a1 - 1) + 2 * c0**2 / ((c0 + 1) * (c0 + 2)) * (a1**3 - 1)
    assert np.allclose(lda_accuracy(type(sample_accuracy(np.full(9, 3.0)))(e1, e2, e3), c0), (S, T), rtol=1e-12)


@pytest.mark.parametrize("N", [2, 3])
def test_the_error_of_discrete_ica_is_exact(N):
    """Every sample of two or three documents of two words, with its probability: sources of two values each."""
    topics, largest = np.array([[0.75, 0.25], [0.1, 0.9]]), 9
    levels, chances = np.array([[0.0, 0.4], [0.1, 0.3]]), np.array([[0.7, 0.3], [0.4, 0.6]])
    counts = np.array(list(product(range(largest), repeat=2)), dtype=float)
    probabilities = np.zeros(len(counts))
    for i, j in product(range(2), repeat=2):
        rates = np.array([levels[0, i], levels[1, j]]) @ topics
        probabilities += chances[0, i] * chances[1, j] * stats.poisson.pmf(counts, rates).prod(axis=1)
    mean = (chances * levels).sum(axis=1)
    central = [(chances * (levels - mean[:, None]) ** order).sum(axis=1) for order in range(5)]
    sources = SourceCumulants(mean, central[2], central[3], central[4] - 3 * central[2] ** 2)
    true = (topics.T * sources.variance) @ topics
    samples = np.stack(np.meshgrid(*[np.arange(len(counts))] * N, indexing="ij"), axis=-1).reshape(-1, N)
    expected = 0.0
    for part in np.array_split(samples, 50):
        x = counts[part]
        z = x - x.mean(axis=1, keepdims=True)
        S = np.einsum("rni,rnj->rij", z, z) / (N - 1) - x.mean(axis=1)[:, :, None] * np.eye(2)
        expected += probabilities[part].prod(axis=1) @ ((S - true) ** 2).sum(axis=(1, 2))
    assert np.isclose(discrete_ica_accuracy(topics, sources, N) ** 2, expected, rtol=1e-6)


def test_the_error_of_discrete_ica_is_that_of_samples():
    N, topics = 12, np.array([[4, 2, 1, 1, 0, 0], [0, 0, 1, 1, 3, 3]]) / 8
    squares = []
    for seed in range(300):
        sample = make_gamma_poisson(N, 6, 2, mean_length=20.0, prior=3.0, components=topics, random_state=seed)
        S = (topics.T * (sample.prior / sample.rate**2)) @ topics
        squares.append(fro(discrete_ica_moments(count_blocks(sample.counts)).second @ np.eye(6) - S) ** 2)
    expected = discrete_ica_accuracy(topics, gamma_cumulants(sample.prior, sample.rate), N) ** 2
    assert abs(np.mean(squares) - expected) < 4 * np.std(squares) / np.sqrt(300) < 0.5 * expected


def test_proposition_3_1_loses_a_power_of_the_concentration():
    """The square of the error over max(Delta^2 L^4, c0^2 L^2) grows as c0^-3 where documents have few topics."""
    topics, L, N = np.kron(np.eye(3), np.full(10, 0.1)), 100.0, 1000
    ratios = []
    for c0 in (1e-1, 1e-2, 1e-3):
        accuracy = discrete_ica_accuracy(topics, gamma_cumulants(np.full(3, c0 / 3), c0 / L), N)
        ratios.append(N * accuracy**2 / max((0.1 * L**2) ** 2, (c0 * L) ** 2))
    assert ratios[1] > 90  # three times the "universal constant" of the proposition's proof
    assert np.allclose(np.log10(ratios[1:]) - np.log10(ratios[:-1]), 3, atol=0.2)


def noisy(rng, size, shape):
    noise = rng.standard_normal(shape)
    if len(shape) == 2:
        noise = noise + noise.T
    else:
        orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
        noise = sum(noise.transpose(order) for order in orders)
    return size * noise / fro(noise)


def climbed(tensor, start):
    """The local maximum of a symmetric tensor on the sphere that shifted power steps climb to."""
    vector, shift = start, 0.5 * np.abs(tensor).max()
    for _ in range(200):
        image = tensor @ vector @ vector + shift * vector
        vector = image / np.linalg.norm(image)
    return vector


@pytest.mark.parametrize("size", [1e-6, 1e-5])
def test_components_are_within_their_bounds(size):
    rng = np.random.default_rng(3)
    K, M = 3, 8
    D = rng.dirichlet(np.ones(M), K) * np.sqrt([0.5, 0.3, 0.2])[:, None]
    values = np.array([1.5, 2.0, 3.0])
    S, T = D.T @ D, np.einsum("k,ka,kb,kc->abc", values, D, D, D)
    eigenvalues = np.linalg.eigvalsh(S)[-K:]
    for _ in range(20):
        noise_2, noise_3 = noisy(rng, size, (M, M)), noisy(rng, size, (M, M, M))
        levels, vectors = np.linalg.eigh(S + noise_2)
        W, back = vectors[:, -K:] / np.sqrt(levels[-K:]), vectors[:, -K:] * np.sqrt(levels[-K:])
        tensor = np.einsum("abc,ai,bj,ck->ijk", T + noise_3, W, W, W)
        # The exact tensor in the nearest exact whitening, as the proof compares them
        B = W.T @ S @ W
        sizes, turned = np.linalg.eigh(B)
        exact_W = W @ (turned / np.sqrt(sizes)) @ turned.T
        exact = np.einsum("abc,ai,bj,ck->ijk", T, exact_W, exact_W, exact_W)
        bound = recovery_bound(size, size, eigenvalues=eigenvalues, values=values, sizes=np.linalg.norm(D, axis=1))
        direction = rng.standard_normal((200, K))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        error = np.abs(np.einsum("ijk,pi,pj,pk->p", tensor - exact, direction, direction, direction)).max()
        assert error <= bound.whitened
        assert np.isfinite(bound.components).all()
        found = np.stack(
            [climbed(tensor, start) for start in ((D @ exact_W) / np.linalg.norm(D @ exact_W, axis=1)[:, None])]
        )
        rows = found @ back.T
        assert (np.linalg.norm(rows - D, axis=1) <= bound.components).all()
        heights = np.einsum("abc,ka,kb,kc->k", tensor, found, found, found)
        assert np.abs(heights - values).max() <= bound.values
        together = power(tensor)  # all of them at once lead to as much
        distances = np.linalg.norm(
            (together.rotation.T * np.sign(together.values)[:, None]) @ back.T[:, :] - D[:, None], axis=2
        )
        assert (distances.min(axis=1) <= bound.components).all()
    assert bound.whitened < 5e3 * size


def test_the_bound_of_the_whitened_tensor_is_of_first_order():
    """Its slopes at zero are 1 / sigma^(3/2) for T and 3/2 largest value / sigma for S."""
    assert np.isclose(whitened_error(0.0, 1e-6, 0.25, 4.0), 1e-6 * 8)
    assert np.isclose(whitened_error(1e-7, 0.0, 0.25, 4.0), 1.5e-7 * 4.0 / 0.25, rtol=1e-4)
    assert whitened_error(0.13, 0.0, 0.25, 4.0) == np.inf


def test_the_bound_of_components_is_of_first_order():
    """What the errors of S and T cost, written out at zero: the tensor, the way back, and the space that is turned."""
    sigma, levels = 0.25, np.array([0.25, 1.0, 4.0])
    values, sizes, small = np.array([2.0, 3.0, 4.0]), np.array([0.7, 1.1, 1.6]), 1e-9
    options = {"eigenvalues": levels, "values": values, "sizes": sizes}
    by_third = recovery_bound(0.0, small, **options)
    assert np.allclose(by_third.components, small * 2.0 * TURNED * 8 / values, rtol=1e-5)
    assert np.isclose(by_third.values, CHANGED * 8 * small)
    by_second = recovery_bound(small, 0.0, **options)
    whitened = 1.5 * 4.0 / sigma
    expected = 2.0 * (TURNED * whitened / values + 0.5 / sigma) + sizes / sigma
    assert np.allclose(by_second.components, small * expected, rtol=1e-5)


def test_noise_that_hides_a_maximum_leaves_no_bound():
    """Up to 2/27 min^3 / max^2 of the values there is a maximum near each component, and nothing is said beyond."""
    for values in (np.array([0.5, 1.0]), np.array([3.0, 3.5]), np.array([0.2, 0.2])):
        most = 2 / 27 * values.min() ** 3 / values.max() ** 2
        for times, is_finite in ((0.999, True), (1.001, False)):
            bound = recovery_bound(0.0, times * most, eigenvalues=np.ones(2), values=values, sizes=np.ones(2))
            assert np.isfinite(bound.components).all() == is_finite


@pytest.mark.parametrize("ratio", [1.0, 0.6])
def test_a_noisy_tensor_has_a_maximum_near_each_component(ratio):
    """Two components, where the norm of the noise is seen on a circle: noise up to what the proof allows."""
    rng = np.random.default_rng(0)
    values, angles = np.array([ratio, 1.0]), np.linspace(0, 2 * np.pi, 721)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    exact = np.einsum("k,ka,kb,kc->abc", values, *[np.eye(2)] * 3)
    closest = 0.0
    for size in [0.999 * SMALL_NOISE * ratio**3, 0.01 * ratio**3]:
        for _ in range(30):
            noise = noisy(rng, 1.0, (2, 2, 2))
            noise *= size / np.abs(np.einsum("abc,ap,bp,cp->p", noise, circle, circle, circle)).max()
            for k, value in enumerate(values):
                found = climbed(exact + noise, np.eye(2)[k])
                distance = np.linalg.norm(found - np.eye(2)[k])
                assert distance <= TURNED * size / value
                height = np.einsum("abc,a,b,c->", exact + noise, found, found, found)
                assert abs(height - value) <= 1.001 * CHANGED * size
                closest = max(closest, distance / (size / value))
    assert closest > 0.8, "the constant could hardly be smaller"
    assert np.isinf(recovery_bound(0.0, 0.1, eigenvalues=np.ones(2), values=values, sizes=np.ones(2)).components).all()


def test_the_third_cumulant_of_counts_is_within_its_bound():
    prior, length, N = np.array([0.4, 0.8]), 6.0, 12
    c0, rate = prior.sum(), prior.sum() / length
    tokens = np.arange(600.0)
    shares = stats.nbinom.pmf(tokens, c0, rate / (1 + rate))
    A = [np.sqrt(shares @ np.prod([tokens - i for i in range(order)], axis=0) ** 2) for order in (1, 2, 3)]
    bound = gamma_third_accuracy(c0, rate, N)
    assert np.isclose(bound, np.sqrt(3 / N) * (A[2] + 3 * A[1] * A[0] + 2 * A[0] ** 3))
    topics = np.array([[1.0, 0.0], [0.0, 1.0]])
    exact = np.einsum("k,ka,kb,kc->abc", 2 * prior / rate**3, topics, topics, topics)
    squares = []
    for seed in range(200):
        counts = make_gamma_poisson(
            N, 2, 2, mean_length=length, prior=prior, components=topics, random_state=seed
        ).counts
        found = discrete_ica_moments(count_blocks(counts)).third(np.eye(2))
        squares.append(((found - exact) ** 2).sum())
    assert bound / 10 < np.sqrt(np.mean(squares)) < bound
    with pytest.raises(ValueError, match="at least 3"):
        gamma_third_accuracy(c0, rate, 2)


MODELS = [{}, {"model": "single topic"}, {"model": "discrete ica", "length": 30.0}]


@pytest.mark.parametrize("options", MODELS)
def test_documents_needed_grow_as_the_bounds_do(options):
    topics, prior = np.kron(np.eye(2), [0.5, 0.5]), np.array([0.5, 0.5])
    N = documents_needed(topics, prior, error=0.01, **options)
    assert 1e6 < N < 1e12
    assert 95 < documents_needed(topics, prior, error=0.001, **options) / N < 105
    assert documents_needed(topics, prior, error=0.01, failure=0.01, **options) > N
    alike = np.array([[0.6, 0.4, 0.0, 0.0], [0.4, 0.4, 0.1, 0.1]])
    assert documents_needed(alike, prior, error=0.01, **options) > 100 * N
    nearly_one = np.array([[0.6, 0.4, 0.0], [0.59, 0.41, 0.0]])
    assert documents_needed(nearly_one, prior, error=1e-6, **options) > 2**64
    with pytest.raises(ValueError, match="mixture of the others"):
        documents_needed(np.array([[0.5, 0.5], [0.5, 0.5]]), prior, **options)
    with pytest.raises(ValueError, match="error is 0"):
        documents_needed(topics, prior, error=0.0, **options)
    with pytest.raises(ValueError, match="failure is 2"):
        documents_needed(topics, prior, failure=2.0, **options)


@pytest.mark.parametrize("options", MODELS)
def test_with_that_many_documents_topics_are_as_near_as_asked_for(options):
    """What the moments of so many documents may be off by, put on the exact moments: of the documents' own size."""
    rng = np.random.default_rng(1)
    topics, prior, error = np.array([[0.7, 0.3, 0.0], [0.0, 0.2, 0.8]]), np.array([0.4, 0.6]), 0.3
    N = documents_needed(topics, prior, error=error, **options)
    second, third, accuracy = population_of(topics, prior, options)
    sizes = np.sqrt(second)[:, None] * topics
    worst = 0.0
    for _ in range(20):
        E_S, E_T = accuracy(N)
        S = sizes.T @ sizes + noisy(rng, E_S, (3, 3))
        T = np.einsum("k,ka,kb,kc->abc", third, topics, topics, topics) + noisy(rng, E_T, (3, 3, 3))
        levels, vectors = np.linalg.eigh(S)
        W, back = vectors[:, -2:] / np.sqrt(levels[-2:]), vectors[:, -2:] * np.sqrt(levels[-2:])
        tensor = np.einsum("abc,ai,bj,ck->ijk", T, W, W, W)
        starts = sizes @ W
        found = np.stack([climbed(tensor, start / np.linalg.norm(start)) for start in starts]) @ back.T
        worst = max(worst, (np.linalg.norm(found - sizes, axis=1) / np.linalg.norm(sizes, axis=1)).max())
    assert worst <= error
    E_S, E_T = accuracy(N)
    values = third / second**1.5
    eigenvalues = np.linalg.eigvalsh(sizes @ sizes.T)
    lengths = np.linalg.norm(sizes, axis=1)
    enough = recovery_bound(E_S, E_T, eigenvalues=eigenvalues, values=values, sizes=lengths)
    assert (enough.components <= error * lengths).all()
    E_S, E_T = accuracy(int(0.99 * N))
    fewer = recovery_bound(E_S, E_T, eigenvalues=eigenvalues, values=values, sizes=lengths)
    assert not (fewer.components <= error * lengths).all()


def population_of(topics, prior, options):
    """What S and T weigh topics with, and how accurate they are with so many documents: written out for each model."""
    c0, model = prior.sum(), options.get("model", "lda")
    if model == "discrete ica":
        b = c0 / options["length"]
        sources, times = gamma_cumulants(prior, b), np.sqrt(2 / 0.05)
        return (
            prior / b**2,
            2 * prior / b**3,
            lambda N: (
                times * discrete_ica_accuracy(topics, sources, N),
                times * gamma_third_accuracy(c0, b, N),
            ),
        )
    if model == "single topic":
        return prior, prior, lambda N: ((1 + np.sqrt(np.log(2 / 0.05))) / np.sqrt(N),) * 2

    def of_lda(N):
        one = sample_accuracy(np.full(N_SHOWN, 3.0), failure=0.05 / 3)
        scale = np.sqrt(N_SHOWN / N)
        return lda_accuracy(SampleAccuracy(one.first * scale, one.second * scale, one.third * scale), c0)

    return prior / (c0 * (c0 + 1)), 2 * prior / (c0 * (c0 + 1) * (c0 + 2)), of_lda


N_SHOWN = 100  # documents of which a bound is written out; others follow with the root of their number


def test_documents_needed_refuse_what_is_no_model():
    topics, prior = np.eye(2), np.array([0.5, 0.5])
    for message, options in (
        ("length is 3.0 and model is 'lda'", {"length": 3.0}),
        ("length is None and model is 'discrete ica'", {"model": "discrete ica"}),
        ("length is -1", {"model": "discrete ica", "length": -1}),
        ("model is 'pca'", {"model": "pca"}),
    ):
        with pytest.raises(ValueError, match=message):
            documents_needed(topics, prior, **options)
    with pytest.raises(ValueError, match="sums to 2"):
        documents_needed(topics, np.ones(2), model="single topic")
    with pytest.raises(ValueError, match="give 2 positive numbers"):
        documents_needed(topics, np.ones(3))
    with pytest.raises(ValueError, match="rows of probabilities"):
        documents_needed(2 * topics, prior)
    with pytest.raises(ValueError, match="rows of probabilities"):
        documents_needed(np.zeros((0, 3)), np.zeros(0))


@pytest.mark.parametrize("failure", [0.0, 1.0, -1.0])
def test_bad_probability(failure):
    with pytest.raises(ValueError, match="failure is"):
        sample_accuracy(np.array([5.0]), failure=failure)


def test_no_triples():
    with pytest.raises(ValueError, match="three words"):
        sample_accuracy(np.array([2.0, 1.0]))
    with pytest.raises(ValueError, match="n_documents is 1"):
        discrete_ica_accuracy(np.ones((1, 1)), gamma_cumulants(np.ones(1), 1.0), 1)
