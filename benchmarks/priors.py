"""Samples with known priors: errors of the topics, held-out bits and totals, for the table in docs/benchmarks.md.

python benchmarks/priors.py
"""

import warnings

import numpy as np

from polyad import LDA, DiscreteICA, SingleTopic, select_n_components
from polyad.datasets import make_gamma_poisson, make_lda, make_single_topic
from polyad.inference import completion_bits
from polyad.metrics import l1_error, match_rows

GIANT = np.array([3, 0.05, 0.05, 0.05, 0.05])
PRESETS = ("off", "fast", "full")


def line(name, models, sample, judge=None):
    """Print the error of each model, its held-out bits and the total of its prior."""
    found = []
    for label, model in models.items():
        model.fit(sample.counts if judge is None else sample.counts[:-judge])
        bits = ""
        if judge is not None:
            bits = f" {completion_bits(model.components_, model.doc_topic_prior_, sample.counts[-judge:]):.4f} bits"
        error = l1_error(model.components_, sample.components)
        found.append(f"{label} {error:.3f}{bits} (total {model.doc_topic_prior_.sum():.2f})")
    print(f"{name}: {'; '.join(found)}", flush=True)


def presets(model):
    return {polish: model(5, polish=polish) for polish in PRESETS}


def long_tail(n_documents, mean):
    return np.clip(np.random.default_rng(5).pareto(1.5, n_documents) * 0.4 * mean, 4, 50 * mean).astype(int)


def main():
    for n in (2000, 8000, 32000):
        line(f"flat, total 5, {n} documents", presets(LDA), make_lda(n, 300, 5, length=100, prior=1.0))
    giant = make_lda(5000, 400, 5, length=100, prior=GIANT)
    given = {"total given": LDA(5, concentration=3.2), "prior given": LDA(5, doc_topic_prior=GIANT)}
    line("giant", presets(LDA) | given, giant, judge=1000)
    topics = np.random.default_rng(0).dirichlet(np.full(400, 0.1), 5)
    topics[1] = 0.9 * topics[0] + 0.1 * topics[1]
    for n in (4000, 32000):
        alike = make_lda(n, components=topics, length=100, prior=0.2, random_state=1)
        line(f"two topics nearly alike, {n} documents", presets(LDA), alike)
    for n in (2000, 32000):
        flat = make_gamma_poisson(n, 300, 5, mean_length=100.0, prior=4.0, random_state=1)
        line(f"gamma-Poisson, flat, total 20, {n} documents", presets(DiscreteICA), flat)
    shares = [0.6, 0.2, 0.1, 0.06, 0.04]
    single = make_single_topic(2000, 300, 5, length=long_tail(2000, 40), weights=shares, random_state=1)
    model = SingleTopic(5, polish="off").fit(single.counts)
    order = match_rows(model.components_, single.components)
    print(f"weights of single topics: {np.abs(model.weights_[order] - single.intensities.mean(axis=0)).max():.3f}")
    answers, sure, wrong = 0, 0, 0
    for n, length in ((400, 60), (800, 80), (1500, 60)):
        for K in (4, 6, 8):
            for ratio in (0.5, 0.65):
                for seed in range(3):
                    shares = ratio ** np.arange(K)
                    sample = make_lda(n, 300, K, length=length, prior=shares / shares.sum(), random_state=seed)
                    found = select_n_components(sample.counts, [2, 3, 5, 8, 12])
                    is_sure = "falls sharply" in found.reason
                    answers, sure, wrong = answers + 1, sure + is_sure, wrong + (is_sure and found.recommended != K)
    print(f"numbers of topics: {answers} answers, {sure} sure, {wrong} of these wrong")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
