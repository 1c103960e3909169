"""Guarantees in figures: samples with known parameters, as they were and as they are: a table of docs/benchmarks.md.

python benchmarks/priors.py            # all sections, about twenty minutes on one core; or some by their names

"Before" is what was measured when the moments of LDA had c0 = 2 always, passes a flat prior and no token left out, and
when no model told what its data leave open.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from polyad import ICA, LDA, DiscreteICA, MixedCCA, NonGaussianCCA, SingleTopic, select_n_components
from polyad.datasets import (
    make_gamma_poisson,
    make_lda,
    make_mixed_cca,
    make_nongaussian_cca,
    make_single_topic,
)
from polyad.inference import completion_bits
from polyad.metrics import l1_error, match_rows
from polyad.moments import sample_accuracy

GIANT = np.array([3, 0.05, 0.05, 0.05, 0.05])
PRESETS = ("off", "fast", "full")

Row = tuple[str, str, str]  # what, before, now


def errors(model: Any, counts: Any, components: Any, presets: tuple[Any, ...] = PRESETS) -> tuple[str, Any]:
    """Return the l1 errors of some presets, and the last model."""
    found = [model(len(components), polish=polish).fit(counts) for polish in presets]
    return " / ".join(f"{l1_error(fit.components_, components):.3f}" for fit in found), found[-1]


def total(model: Any) -> float:
    return float(model.doc_topic_prior_.sum())


def flat() -> Iterator[Row]:
    before = {2000: ".199 / .069 / .094", 8000: ".191 / .045 / .071", 32000: ".191 / .038 / .065"}
    for n, was in before.items():
        sample = make_lda(n, 300, 5, length=100, prior=1.0)
        now, model = errors(LDA, sample.counts, sample.components)
        yield f"LDA, flat, total 5, {n:,} documents: l1 of off / fast / full", was, f"{now} (total {total(model):.1f})"


def totals() -> Iterator[Row]:
    for true, was in ((20.0, "18.6"), (5.0, "4.9"), (1.0, "1.07"), (0.1, "no answer")):
        sample = make_lda(8000, 300, 5, length=100, prior=true / 5)
        yield f"total found for {true:g}, 8,000 documents", was, f"{total(LDA(5).fit(sample.counts)):.2f}"


def giant() -> Iterator[Row]:
    sample = make_lda(5000, 400, 5, length=100, prior=GIANT)
    learn, judge = sample.counts[:4000], sample.counts[4000:]
    fits = {polish: LDA(5, polish=polish) for polish in PRESETS}
    fits |= {"total given": LDA(5, concentration=3.2), "prior given": LDA(5, doc_topic_prior=GIANT)}
    l1, bits = {}, {}
    for name, model in fits.items():
        model.fit(learn)
        l1[name] = f"{l1_error(model.components_, sample.components):.3f}"
        bits[name] = f"{completion_bits(model.components_, model.doc_topic_prior_, judge):.4f}"
    what = "one giant (c = 3 and four of .05), 4,000 documents: "
    yield what + "l1", ".163 / .312 / .442", " / ".join(l1[name] for name in PRESETS)
    truth = f"{completion_bits(sample.components, GIANT, judge):.4f}"
    yield what + f"bits (truth {truth})", "6.0429 / 6.0516 / 6.0539", " / ".join(bits[name] for name in PRESETS)
    yield what + "total", "flat", f"{total(fits['fast']):.2f} for 3.2"
    for given, was in (("total given", ".541, 6.0936 bits"), ("prior given", ".368, 6.0842 bits")):
        yield f"the giant, {given}, fast", was, f"{l1[given]}, {bits[given]} bits"


def heavy() -> Iterator[Row]:
    told = []
    for seed in (2, 3, 4, 5):
        lengths = np.clip(np.random.default_rng(seed + 100).pareto(1.5, 2000) * 40, 5, 5000).astype(int)
        sample = make_lda(2000, 300, 5, length=lengths, prior=GIANT, random_state=seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = total(LDA(5, polish="off").fit(sample.counts))
        warned = any("do not tell the total" in str(each.message) for each in caught)
        told.append(f"{found:.1f}{' (warned)' if warned else ''}")
    yield "total of the giant (3.2), 2,000 documents, heavy-tailed lengths, four samples", "1.2 to 5.9", ", ".join(told)


def alike() -> Iterator[Row]:
    topics = np.random.default_rng(0).dirichlet(np.full(400, 0.1), 5)
    topics[1] = 0.9 * topics[0] + 0.1 * topics[1]
    for n, was in ((4000, ".037 / .038 / .040"), (32000, ".031 / .024 / .025")):
        sample = make_lda(n, components=topics, length=100, prior=0.2, random_state=1)
        yield f"two topics alike but for a tenth, {n:,} documents: l1", was, errors(LDA, sample.counts, topics)[0]


def correlated() -> Iterator[Row]:
    for n, was in ((4000, ".170 / .101 / .128"), (32000, ".160 / .085 / .112")):
        rng = np.random.default_rng(0)
        topics = rng.dirichlet(np.full(400, 0.1), 5)
        covariance = 2 * np.eye(5)
        covariance[0, 1] = covariance[1, 0] = 1.9
        shares = np.exp(rng.multivariate_normal(np.zeros(5), covariance, size=n))
        shares /= shares.sum(axis=1, keepdims=True)
        counts = np.array([rng.multinomial(100, share @ topics) for share in shares])
        what = f"two topics that go together (logistic-normal, .95), {n:,} documents: l1"
        yield what, was, errors(LDA, counts, topics)[0]


def words() -> Iterator[Row]:
    """Topics drawn from narrow and wide priors: what is told of the prior, and mass shared with the truth."""
    for n, M, length, b in (
        (2000, 1000, 100, 0.005),
        (2000, 1000, 100, 0.05),
        (2000, 1000, 100, 0.2),
        (2000, 1000, 100, 1.0),
        (300, 1000, 50, 0.01),
        (300, 1000, 50, 0.1),
    ):
        sample = make_lda(n + 1000, M, 10, length=length, prior=0.1, topic_prior=b)
        told, two = (LDA(10, topic_word_prior=given).fit(sample.counts[:n]) for given in (None, 0.2))
        shared, bits = [], []
        for model in (two, told):
            order = match_rows(model.components_, sample.components)
            shared.append(np.minimum(model.components_[order], sample.components).sum(axis=1).mean())
            bits.append(completion_bits(model.components_, model.doc_topic_prior_, sample.counts[n:]))
        what = f"{n:,} documents of {length} tokens, {M:,} words, K = 10, {b:g} on every word of a topic"
        now = f"{shared[1]:.3f}, {bits[1]:.3f} ({told.topic_word_prior_[0]:.3f} found)"
        yield what + ": shared mass, bits", f"{shared[0]:.3f}, {bits[0]:.3f}", now


def short() -> Iterator[Row]:
    """Few tokens for many parameters: mass that matched topics share with the truth, and held-out bits."""
    yield from shared_mass(
        45_000, {"off": ".495, 13.875", 1: ".609, 13.784", "fast": ".536, 13.805", 20: ".340, 13.934"}
    )


def million() -> Iterator[Row]:
    """Take the same with a million documents: half an hour, where it is named."""
    yield from shared_mass(1_000_000, {"off": ".730", "fast": ".618"})


def shared_mass(n_documents: int, before: dict[Any, str]) -> Iterator[Row]:
    sample = make_lda(n_documents + 1000, 20000, 100, length=70, prior=0.05, topic_prior=0.05)
    learn, judge = sample.counts[:n_documents], sample.counts[n_documents:]
    truth = completion_bits(sample.components, np.full(100, 0.05), judge)
    for polish, was in before.items():
        model = LDA(100, polish=polish).fit(learn)
        order = match_rows(model.components_, sample.components)
        shared = np.minimum(model.components_[order], sample.components).sum(axis=1).mean()
        bits = completion_bits(model.components_, model.doc_topic_prior_, judge)
        what = (
            f"{n_documents:,} documents of 70 tokens, 20,000 words, K = 100 (truth {truth:.3f} bits), polish {polish!r}"
        )
        yield what + ": shared mass, bits", was, f"{shared:.3f}, {bits:.3f} (total {total(model):.1f} for 5)"


def gamma() -> Iterator[Row]:
    for n, was in ((2000, ".119 / .273 / .256"), (32000, "- / .249 / .224")):
        sample = make_gamma_poisson(n, 300, 5, mean_length=100.0, prior=4.0, random_state=1)
        now, _ = errors(DiscreteICA, sample.counts, sample.components)
        yield f"gamma-Poisson, flat, total 20, {n:,} documents: l1", was, now
    lengths = np.random.default_rng(0).poisson(100, 2000)
    sample = make_lda(2000, 300, 5, length=lengths, prior=0.2)
    model = DiscreteICA(5).fit(sample.counts)
    yield "DiscreteICA, lengths Poisson: total of the shapes (1 is right)", "129,507", f"{total(model):.2f}, warned"


def single() -> Iterator[Row]:
    lengths = np.clip(np.random.default_rng(5).pareto(1.5, 2000) * 16, 4, 2000).astype(int)
    shares = [0.6, 0.2, 0.1, 0.06, 0.04]
    sample = make_single_topic(2000, 300, 5, length=lengths, weights=shares, random_state=1)
    model = SingleTopic(5, polish="off").fit(sample.counts)
    order = match_rows(model.components_, sample.components)
    error = np.abs(model.weights_[order] - sample.intensities.mean(axis=0)).max()
    yield (
        "single topics, heavy-tailed lengths: largest error of the weights, off",
        ".05 to .11; here .285",
        f"{error:.3f}",
    )


def bounds() -> Iterator[Row]:
    for length, was in ((100, "20%"), (1000, "32%")):
        topic = np.random.default_rng(length).binomial(50, 0.5, 100_000) / 50
        bound = sample_accuracy(np.full(50, length), failure=0.05, second_norm=np.sqrt(0.5)).second
        broken = np.mean(np.sqrt(2) * np.abs(topic - 0.5) > bound)
        yield (
            f"bound on M2, two one-word topics, 50 documents of {length:,} words, failure .05: broken",
            was,
            f"{broken:.2%}",
        )


def selection() -> Iterator[Row]:
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
    what = f"select_n_components, {answers} small unequal samples: sure answers, wrong ones of these"
    yield what, "45, 7 (of 114: 56, 12)", f"{sure}, {wrong}"


def determined() -> Iterator[Row]:
    sample = make_mixed_cca(4000, n_components=6, n_private=20)
    told = MixedCCA(15).fit(sample.X, sample.Y).diagnostics_.undetermined
    yield "MixedCCA, six factors, K = 15: called undetermined", "none", ", ".join(map(str, told))
    rng = np.random.default_rng(0)
    sources = np.hstack([rng.laplace(size=(10_000, 3)), rng.standard_normal((10_000, 2))])
    told = ICA().fit(sources @ rng.standard_normal((5, 5)).T).diagnostics_.undetermined
    yield "ICA, two of five sources Gaussian: called undetermined", "none", f"{len(told)}"
    kinds = ["gaussian", "gaussian", "gaussian", "super", "sub"]
    views = make_nongaussian_cca(5000, (12, 10), 5, sources=kinds, private_sources="gaussian", n_private=4)
    told = NonGaussianCCA(5).fit(views.X, views.Y).diagnostics_.undetermined
    yield "NonGaussianCCA, three of five sources Gaussian: called undetermined", "none", f"{len(told)}"


SECTIONS = (
    flat,
    totals,
    giant,
    heavy,
    alike,
    correlated,
    gamma,
    single,
    bounds,
    selection,
    determined,
    words,
    short,
    million,
)


def main() -> None:
    names = {section.__name__: section for section in SECTIONS}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=[*names, []], help="all but million without")
    chosen = parser.parse_args().sections or [name for name in names if name != "million"]
    print("| sample | before | now |\n|---|---|---|")
    for name in chosen:
        for what, before, now in names[name]():
            print(f"| {what} | {before} | {now} |", flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
