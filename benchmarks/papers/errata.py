"""Where a paper is wrong: what it prints and what holds, measured side by side."""

from collections.abc import Callable, Sequence

import numpy as np
from lab import Claim, Experiment, Row, chosen, mean
from scipy.optimize import linear_sum_assignment

from polyad.inference import left_to_right
from polyad.moments.counts.bounds import sample_accuracy
from polyad.moments.counts.discrete_ica_accuracy import discrete_ica_accuracy, gamma_cumulants

PRINTED, RIGHT = "as printed", "corrected"


def settings(quick):
    return [{"erratum": name, "draw": draw} for name in ERRATA for draw in range(1 if quick else 5)]


def measure(erratum, draw) -> list[Row]:
    what, compared = ERRATA[erratum]
    printed, right = compared(np.random.default_rng(draw))
    return [
        {"erratum": erratum, "what": what, "draw": draw, "form": form, "value": value}
        for form, value in ((PRINTED, printed), (RIGHT, right))
    ]


def cca_loadings(rng) -> tuple[float, float]:
    """Recover D2 from exact cross moments with Q^-1 and with Q^-T."""
    D1, D2 = rng.random((12, 4)), rng.random((15, 4))
    U, sizes, Vt = np.linalg.svd(D1 @ D2.T)
    W1, W2 = (side[:, :4].T / np.sqrt(sizes[:4])[:, None] for side in (U, Vt.T))
    Q = W1 @ D1
    return tuple(_distance(np.linalg.pinv(W2) @ turned, D2) for turned in (np.linalg.inv(Q), np.linalg.inv(Q).T))


def _distance(found, true) -> float:
    """Return the mean l1 distance of matched columns that sum to 1, over 2."""
    found, true = (np.abs(columns) / np.abs(columns).sum(axis=0) for columns in (found, true))
    distances = np.abs(found.T[:, None] - true.T).sum(axis=2)
    rows, columns = linear_sum_assignment(distances)
    return float(distances[rows, columns].mean() / 2)


def sketched_space(rng) -> tuple[float, float]:
    """Tell how much of the space of a cross-covariance two ways of reducing it lose."""
    M, K, wider = 300, 5, 12
    left, right = rng.standard_normal((M, K)), rng.standard_normal((M, K))
    S12 = left @ right.T + 0.1 * rng.standard_normal((M, M))
    wanted = np.linalg.svd(S12)[0][:, :K]
    rows, columns = rng.standard_normal((wider, M)), rng.standard_normal((wider, M))
    printed = np.linalg.pinv(rows) @ np.linalg.svd(rows @ S12 @ columns.T)[0][:, :K]
    ranged = np.linalg.qr(S12 @ (S12.T @ (S12 @ columns.T)))[0]
    found = ranged @ np.linalg.svd(ranged.T @ S12)[0][:, :K]
    overlaps = [np.linalg.qr(basis)[0].T @ wanted for basis in (printed, found)]
    return tuple(1 - float((overlap**2).sum()) / K for overlap in overlaps)


def dica_third(rng) -> tuple[float, float]:
    """Compare eq. (52), and its repair, with the cumulant written out over all triples of words."""
    N, M = 40, 8
    X = rng.poisson(rng.gamma(1.0, 2.0, (N, M))).astype(float)
    W, v, E = rng.standard_normal((3, M)), rng.standard_normal(M), X.mean(axis=0)
    centred = X - E
    third = N / ((N - 1) * (N - 2)) * np.einsum("ni,nj,nk->ijk", centred, centred, centred)
    pairs, one = centred.T @ centred / (N - 1), np.eye(M)
    third -= np.einsum("ij,ik->ijk", one, pairs) + np.einsum("ik,ij->ijk", one, pairs)
    third -= np.einsum("jk,ij->ijk", one, pairs)
    third += 2 * np.einsum("ij,ik,i->ijk", one, one, E)
    wanted = W @ (third @ v) @ W.T
    Y, w, u, ve = X @ W.T, W @ E, X @ v, float(v @ E)
    T1, T2, T3, T4 = (Y * u[:, None]).T @ Y, 2 * N * np.outer(w, w), Y.T @ Y, np.outer(Y.T @ u, w)
    T5, T6 = Y.T @ ((X * v) @ W.T), np.outer(W @ (v * E), w)
    a = 2 * (N - 1) * v * E + ve * E - X.T @ u
    first = N / ((N - 1) * (N - 2)) * (T1 + ve * (T2 - T3) - T4 - T4.T)
    printed = first + (T5 + T5.T - T6 - T6.T + (W * a) @ W.T) / (N - 1)
    right = first + (-T5 - T5.T + N * (T6 + T6.T) + (W * (a + (N - 1) * ve * E)) @ W.T) / (N - 1)
    return tuple(float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted)) for found in (printed, right))


def svtd_bound(rng) -> tuple[float, float]:
    """Count samples of two topics with one word each whose error of M2 is beyond the bound."""
    N, length, failure = 50, 1000, 0.05
    lengths = np.full(N, float(length))
    ones, pairs = lengths.sum(), (lengths * (lengths - 1)).sum()
    spread = ((lengths * (lengths - 1)) ** 2).sum() / pairs**2
    size = np.sqrt(0.5)
    printed = np.sqrt(spread * (1 - size**2)) + np.sqrt(np.log(1 / failure)) * length * np.sqrt(ones) / pairs
    shares = rng.binomial(N, 0.5, 4000) / N
    errors = np.sqrt(2) * np.abs(shares - 0.5)
    right = sample_accuracy(lengths, failure=failure, second_norm=float(size)).second
    return tuple(float((errors > bound).mean()) for bound in (printed, right))


def dica_accuracy(rng) -> tuple[float, float]:
    """Return how much error over bound grows from c0 = 1 to 0.01: not at all, were the bound of the right order."""
    K, M, length, N = 3, 50, 100.0, 10_000
    topics = rng.dirichlet(np.full(M, 0.5), K)
    delta, ratios = float((topics**2).sum(axis=1).max()), []
    for total in (1.0, 0.01):
        error = discrete_ica_accuracy(topics, gamma_cumulants(np.full(K, total / K), total / length), N) * np.sqrt(N)
        ratios.append([error / max(delta * length**2, total * length),
                       error / (max(delta * length**2, total * length) / total**1.5)])  # fmt: skip
    return ratios[1][0] / ratios[0][0], ratios[1][1] / ratios[0][1]


def lda_value(rng) -> tuple[float, float]:
    """Compare the value of a topic in the whitened tensor of exact moments with gamma_k, without and with the root."""
    prior = rng.uniform(0.2, 2.0, 3)
    c0 = prior.sum()
    second, third = prior / (c0 * (c0 + 1)), 2 * prior / (c0 * (c0 + 1) * (c0 + 2))
    values, inside = third / second**1.5, c0 * (c0 + 1) / (prior * (c0 + 2) ** 2)
    return tuple(float(np.abs(gamma / values - 1).max()) for gamma in (2 * inside, 2 * np.sqrt(inside)))


def unwhitening(rng) -> tuple[float, float]:
    """Compare the norm of the pseudo-inverse of a whitener with the two numbers for it."""
    D = rng.dirichlet(np.full(30, 0.3), 4)
    values, vectors = np.linalg.eigh(D.T @ D)
    W = vectors[:, -4:] / np.sqrt(values[-4:])
    norm = np.linalg.norm(np.linalg.pinv(W.T), 2)
    return float(abs(1 / np.sqrt(values[-4]) / norm - 1)), float(abs(np.sqrt(values[-1]) / norm - 1))


def held_out_words(rng) -> tuple[float, float]:
    """Return the relative bias of left-to-right with two particles on a document whose probability is known."""
    topics, prior, words = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0.02, 0.02]), np.array([0, 1, 1])
    runs = 20_000
    exact = _sequence_probability(topics, prior, words)
    printed = _left_to_right_as_printed(topics, prior, words, 2, runs, rng)
    counts = np.tile(np.bincount(words, minlength=2), (runs, 1))
    right = np.exp(left_to_right(topics, prior, counts, n_particles=2, random_state=int(rng.integers(2**31))))
    # The order of the words does not matter to the probability, and ours takes them sorted.
    return abs(float(printed.mean()) / exact - 1), abs(float(right.mean()) / exact - 1)


def _sequence_probability(topics, prior, words) -> float:
    states = np.stack(np.meshgrid(*[range(len(prior))] * len(words), indexing="ij"), -1).reshape(-1, len(words))
    total = 0.0
    for z in states:
        counts, chance = np.zeros(len(prior)), 1.0
        for state, word in zip(z, words):
            chance *= (counts[state] + prior[state]) / (counts.sum() + prior.sum()) * topics[state, word]
            counts[state] += 1
        total += chance
    return total


def _left_to_right_as_printed(topics, prior, words, particles, runs, rng):
    """Algorithm 3 of Wallach et al. 2009: particles are not resampled."""
    one_hot, size = np.eye(len(prior)), (runs, particles)
    z, counts = np.zeros((*size, len(words)), dtype=int), np.zeros((*size, len(prior)))
    estimate = np.ones(runs)
    for n, word in enumerate(words):
        for earlier in range(n):
            counts -= one_hot[z[..., earlier]]
            z[..., earlier] = _drawn((counts + prior) * topics[:, words[earlier]], rng)
            counts += one_hot[z[..., earlier]]
        joint = (counts + prior) / (n + prior.sum()) * topics[:, word]
        estimate *= joint.sum(axis=-1).mean(axis=1)
        z[..., n] = _drawn(joint, rng)
        counts += one_hot[z[..., n]]
    return estimate


def _drawn(weights, rng):
    below = np.cumsum(weights, axis=-1)
    return (rng.random(below.shape[:-1])[..., None] * below[..., -1:] > below).sum(axis=-1)


ERRATA: dict[str, tuple[str, Callable[..., tuple[float, float]]]] = {
    "Beyond CCA, eq. (47): Q^-1 must read Q^-T": ("l1 error of D2 from exact moments", cca_loadings),
    "Beyond CCA, D.1: a sketch of both sides loses the signal; a range finder does not": (
        "share of the space that is lost",
        sketched_space,
    ),
    "Discrete ICA eq. (52), thesis (C.5): signs of T5 and T6, a term of the diagonal": (
        "relative error of the third cumulant",
        dica_third,
    ),
    "SVTD, Theorem 2: words of a document are not independent": (
        "share of samples beyond the bound, 0.05 allowed",
        svtd_bound,
    ),
    "Discrete ICA, Proposition 3.1: lost the factor 1 / min(1, c0)^1.5": (
        "growth of error over bound from c0 = 1 to 0.01",
        dica_accuracy,
    ),
    "Thesis, 3.4.1: gamma_k of LDA lost a square root": ("relative error of gamma_k", lda_value),
    "Spectral LDA, Theorem 3: the norm that un-whitening multiplies by": ("relative error of the norm", unwhitening),
    "Wallach et al. 2009: left-to-right does not resample its particles": (
        "relative bias of the probability",
        held_out_words,
    ),
}


def table(rows: Sequence[Row]) -> list[str]:
    lines = ["| what the paper has | measured | as printed | corrected |", "|---|---|---|---|"]
    for name, (what, _) in ERRATA.items():
        if chosen(rows, erratum=name):
            cells = [f"{mean(rows, 'value', erratum=name, form=form):.2g}" for form in (PRINTED, RIGHT)]
            lines.append(f"| {name} | {what} | {cells[0]} | {cells[1]} |")
    return [*lines, ""]


def _wrong_and_right(name: str, wrong: float, right: float) -> Callable[[Sequence[Row]], bool]:
    return lambda rows: (
        mean(rows, "value", erratum=name, form=PRINTED) > wrong
        and mean(rows, "value", erratum=name, form=RIGHT) < right
    )


LIMITS = ((0.05, 1e-8), (0.5, 0.01), (0.05, 1e-8), (0.1, 0.05), (20.0, 2.0), (0.05, 1e-8), (0.05, 1e-8), (0.1, 0.03))

EXPERIMENT = Experiment(
    name="errata",
    source="Errata of the papers",
    title="What a paper prints beside what holds",
    found="as printed; docs/theory.md derives what holds.",
    settings=settings,
    measure=measure,
    claims=tuple(
        Claim(f"{name}.", _wrong_and_right(name, *limits), is_ours=True) for name, limits in zip(ERRATA, LIMITS)
    ),
    tables=(table,),
)
