"""Every method of diagonalisation on the same matrices: accuracy and time, as a table.

    python benchmarks/diagonalisers.py             # ten and thirty components; about a minute
    python benchmarks/diagonalisers.py 10 --noise 0.02

Rotations get a symmetric tensor with orthogonal components and values between 1 and 4; similarities 2 K matrices
Q diag Q^-1 with a condition number of 5; both with noise in every entry, of `--noise` times the root mean square of
the entries. Congruences get 2 K covariances A diag A' of samples of 1 / noise^2 rows. The error is the Amari
distance between what was found and the truth, the mean over five draws; milliseconds are the least of the five, after
one call that compiles.

The second table has the methods of rotation on the cumulants of 5,000 documents of the gamma-Poisson model (500 words,
10 topics, 100 tokens a document on average, shapes .1): errors of the topics, and milliseconds from moments to topics.
"""

import argparse
import time
import warnings

import numpy as np
from scipy import linalg

from polyad.datasets import make_gamma_poisson
from polyad.decompose import DIAGONALISERS, METHODS, polyadic_decomposition, simplex_rows
from polyad.engine import count_blocks, single_threaded_blas
from polyad.metrics import amari_distance, l1_error, l2_error
from polyad.moments import discrete_ica_moments
from polyad.moments.symmetric import outer_cube

DRAWS = 5
ORDERS = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]


def noisy(stack, noise, rng, kind):
    """Return matrices with noise of their own kind: symmetric in all three places, or in none."""
    bump = rng.standard_normal(stack.shape)
    if kind == "rotation":
        bump = sum(bump.transpose(order) for order in ORDERS) / np.sqrt(6)
    return stack + noise * np.sqrt((stack**2).mean()) * bump


def problem(kind, K, noise, seed):
    """Return a stack of matrices and the mixing matrix behind it."""
    rng = np.random.default_rng(seed)
    left, right = (linalg.qr(rng.standard_normal((K, K)))[0] for _ in range(2))
    if kind == "rotation":
        stack = sum(value * outer_cube(v) for value, v in zip(1 + 3 * rng.random(K), left.T))
        return noisy(stack, noise, rng, kind), left
    mixing = (left * np.geomspace(1, 0.2, K)) @ right
    if kind == "similarity":
        stack = mixing @ (rng.standard_normal((2 * K, K))[:, :, None] * linalg.inv(mixing))
        return noisy(stack, noise, rng, kind), mixing
    spreads, n_rows = np.sqrt(0.2 + rng.gamma(2.0, size=(2 * K, K))), max(int(noise**-2), 2 * K)
    signals = [(spread * rng.standard_normal((n_rows, K))) @ mixing.T for spread in spreads]
    return np.stack([x.T @ x / n_rows for x in signals]), mixing


def unmixing_of(kind, found):
    return {"rotation": lambda: found.rotation.T, "similarity": lambda: found.inverse}.get(
        kind, lambda: found.unmixing
    )()


def measured(method, K, noise):
    """Return the mean error, the least seconds, and whether all draws converged."""
    errors, seconds, converged = [], [], True
    with warnings.catch_warnings(), single_threaded_blas():
        warnings.simplefilter("ignore")
        method.function(problem(method.kind, 2, noise, 0)[0])  # compiles
        for seed in range(DRAWS):
            stack, mixing = problem(method.kind, K, noise, seed)
            begin = time.perf_counter()
            found = method.function(stack)
            seconds.append(time.perf_counter() - begin)
            errors.append(amari_distance(unmixing_of(method.kind, found), mixing))
            converged &= found.converged
    return np.mean(errors), min(seconds), converged


def of_documents(name, sample):
    """Return the errors of the topics by a method of rotation, and the least seconds of two runs."""
    moments, seconds = discrete_ica_moments(count_blocks(sample.counts)), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            begin = time.perf_counter()
            found = polyadic_decomposition(moments, len(sample.components), method=name)
            seconds.append(time.perf_counter() - begin)
    topics = simplex_rows(found.components)
    return l1_error(topics, sample.components), l2_error(topics, sample.components), min(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="*", default=[10, 30])
    parser.add_argument("--noise", type=float, default=0.05)
    options = parser.parse_args()
    print("| kind | method | " + " | ".join(f"K = {K}: error | ms" for K in options.sizes) + " |")
    print("|---|---|" + "---|---|" * len(options.sizes))
    for method in METHODS:
        if method.words != "none":  # the same function as another method, given words that tensors do not have
            continue
        cells = []
        for K in options.sizes:
            error, seconds, converged = measured(method, K, options.noise)
            cells += [f"{error:.4f}{'' if converged else ' (not converged)'}", f"{1000 * seconds:.1f}"]
        print(f"| {method.kind} | `{method.name}` | " + " | ".join(cells) + " |", flush=True)
    print("\n| method | l1 error | l2 error | ms |\n|---|---|---|---|")
    sample = make_gamma_poisson(5000, 500, 10, mean_length=100.0, prior=0.1)
    for name in DIAGONALISERS:
        l1, l2, seconds = of_documents(name, sample)
        print(f"| `{name}` | {l1:.4f} | {l2:.4f} | {1000 * seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
