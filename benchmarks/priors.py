"""Guarantees in figures: samples with known parameters, as they were and as they are: a table of docs/benchmarks.md.

python benchmarks/priors.py            # all sections, about twenty minutes on one core; or some by their names
python benchmarks/priors.py aligned far    # aligned texts; how far topics go with the passes
python benchmarks/priors.py given          # totals that are given too small and too large: where it is named
python benchmarks/priors.py guard          # 144 samples for the guard of topic_word_prior: where it is named
python benchmarks/priors.py half_million   # parts of the way of half a million documents, likewise

"Before" is what was measured when the moments of LDA had c0 = 2 always, passes a flat prior and no token left out, and
when no model told what its data leave open.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from polyad import (
    ICA,
    LDA,
    DiscreteICA,
    MixedCCA,
    NonGaussianCCA,
    PolylingualLDA,
    SingleTopic,
    select_n_components,
)
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

UNDETERMINED_BEFORE = {"LDA": "0, 0", "DiscreteICA": "0, 0", "SingleTopic": "0, 2", "PolylingualLDA": "0, 0"}

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


def aligned() -> Iterator[Row]:
    """Two texts of 60 tokens with the same shares: errors of the topics over the words of both."""
    before = {
        (5.0, 2000): ".203 / .057",
        (0.1, 2000): ".057 / .017",
        (20.0, 2000): ".411 / .195",
        (5.0, 32000): ".199 / .034",
        (0.1, 32000): ".055 / .006",
        (20.0, 32000): ".412 / .173",
    }
    for (true, n), was in before.items():
        rng = np.random.default_rng(1)
        topics = [rng.dirichlet(np.full(size, 0.1), 5) for size in (120, 180)]
        shares = rng.dirichlet(np.full(5, true / 5), n)
        views = [rng.multinomial(60, shares @ each) for each in topics]
        fits = [PolylingualLDA(5, polish=polish).fit(views) for polish in ("off", "fast")]
        now = " / ".join(f"{l1_error(np.hstack(fit.components_) / 2, np.hstack(topics) / 2):.3f}" for fit in fits)
        yield f"two aligned texts, flat, total {true:g}, {n:,} rows: l1 of off / fast", was, now


def heavy_tail(n_documents: int, mean: int, seed: int) -> Any:
    lengths = np.random.default_rng(seed + 100).pareto(1.5, n_documents) * 0.4 * mean
    return np.clip(lengths, 5, 50 * mean).astype(int)


def far() -> Iterator[Row]:
    """Take starts that are not near the truth, or look so under a total that is too large: off / fast."""
    giants = ((1, False, ".182 / .215"), (1, True, ".226 / .249"), (2, True, ".217 / .251"))
    for seed, is_heavy, was in giants:
        length = heavy_tail(2000, 100, seed) if is_heavy else 100
        shares = np.array([15.0, 0.25, 0.25, 0.25, 0.25]) / 16
        sample = make_lda(2000, 300, 5, length=length, prior=20 * shares, random_state=seed)
        now, model = errors(LDA, sample.counts, sample.components, ("off", "fast"))
        yield f"one giant, total 20, 2,000 documents, sample {seed}: l1", was, f"{now} (total {total(model):.0f})"
    for seed, was in ((0, ".084 / .102"), (1, ".071 / .081"), (3, ".076 / .093")):
        topics = np.random.default_rng(seed).dirichlet(np.full(400, 0.1), 5)
        topics[1] = 0.9 * topics[0] + 0.1 * topics[1]
        sample = make_lda(8000, components=topics, length=100, prior=1.0, random_state=seed + 1)
        now, model = errors(LDA, sample.counts, topics, ("off", "fast"))
        yield f"two topics alike, total 5, 8,000 documents, sample {seed}: l1", was, f"{now} (total {total(model):.0f})"
    what = "eight topics, samples that nothing was chosen on: l1 of fast over off, geometric mean, largest"
    yield what, "-", kept_apart()


def given() -> Iterator[Row]:
    """Totals that are given too small, right and too large, without a pass."""
    shapes = {"flat": np.full(5, 0.2), "skewed": np.array([0.5, 0.25, 0.15, 0.07, 0.03])}
    shapes["giant"] = np.array([15, 0.25, 0.25, 0.25, 0.25]) / 16
    for name, shares in shapes.items():
        for true in (1.0, 5.0, 20.0):
            for n in (2000, 32000):
                sample = make_lda(n, 300, 5, length=100, prior=true * shares, random_state=1)
                fits = [
                    LDA(5, polish="off", concentration=times * true).fit(sample.counts) for times in (0.8, 1.0, 1.25)
                ]
                found = ", ".join(f"{l1_error(fit.components_, sample.components):.3f}" for fit in fits)
                yield f"{name}, total {true:g}, {n:,} documents: l1 with .8, 1 and 1.25 times the total", "", found


def doubted() -> Iterator[Row]:
    """Priors whose total triples of words hardly tell."""
    shares = np.array([15, 0.25, 0.25, 0.25, 0.25]) / 16
    for true in (0.1, 1.0, 5.0, 20.0):
        for n in (2000, 32000):
            sample = make_lda(n, 300, 5, length=100, prior=true * shares, random_state=1)
            now, model = errors(LDA, sample.counts, sample.components, ("off", "fast"))
            with_prior, _ = errors(
                lambda K, prior=true * shares, **options: LDA(K, doc_topic_prior=prior, **options),
                sample.counts,
                sample.components,
                ("off", "fast"),
            )
            what = f"one giant, total {true:g}, {n:,} documents: l1 of off / fast (with the prior given)"
            yield what, "", f"{now} ({with_prior}), total {total(model):.2g}"


def kept_apart() -> str:
    """Return how errors change with the passes on samples that nothing was chosen on."""
    K, found = 8, []
    kinds = np.ones(K), 0.6 ** np.arange(K), np.r_[20, np.ones(K - 1)], np.r_[8, 8, np.ones(K - 2)]
    for n, seed in ((2000, 11), (2000, 12), (8000, 11), (8000, 12), (32000, 11)):
        for shares in kinds:
            for true in (0.5, 3.0, 10.0, 30.0):
                for length in (80, heavy_tail(n, 80, seed)):
                    prior = true * shares / shares.sum()
                    sample = make_lda(n, 400, K, length=length, prior=prior, random_state=seed)
                    off, fast = (
                        l1_error(LDA(K, polish=polish).fit(sample.counts).components_, sample.components)
                        for polish in ("off", "fast")
                    )
                    found.append(fast / off)
    return f"{np.exp(np.mean(np.log(found))):.3f}, {max(found):.3f} ({len(found)} samples)"


def guard() -> Iterator[Row]:
    """Topics with a symmetric prior and without: where it is used, and mass and bits against two tokens on a word."""
    kinds = {
        "of the prior": ("drawn",),
        "without one": ("pair", "background", "zipf", "groups"),
    }
    for name, some in kinds.items():
        rng, mass, bits, n_samples = np.random.default_rng(7), [], [], 72
        for number in range(n_samples):
            M, K = int(rng.choice([200, 500, 1000, 3000])), int(rng.choice([4, 8, 15, 30]))
            n, length = int(rng.choice([300, 1000, 3000])), int(rng.choice([30, 80, 200]))
            b, alpha = rng.choice([0.005, 0.02, 0.05, 0.1, 0.3, 1.0]), rng.choice([0.05, 0.1, 0.3, 1.0])
            topics = guarded_topics(some[number % len(some)], M, K, b, rng)
            sample = make_lda(n + 500, components=topics, length=length, prior=alpha, random_state=number)
            told, two = (LDA(K, topic_word_prior=given).fit(sample.counts[:n]) for given in (None, 2.0 / K))
            if np.ptp(told.topic_word_prior_) > 0:  # the usual one, which is split by the tokens of topics
                continue
            shared, predicted = [], []
            for model in (told, two):
                order = match_rows(model.components_, topics)
                shared.append(np.minimum(model.components_[order], topics).sum(axis=1).mean())
                predicted.append(completion_bits(model.components_, model.doc_topic_prior_, sample.counts[n:]))
            mass.append(shared[0] - shared[1])
            bits.append(predicted[0] - predicted[1])
        now = f"{len(mass)} used; mass {min(mass):+.3f}, {np.median(mass):+.3f}"
        now += f"; bits {max(bits):+.4f}, {np.median(bits):+.4f}"
        yield f"{n_samples} samples {name}: used; worst and median change of mass and bits", "two tokens", now


def guarded_topics(kind: str, M: int, K: int, b: float, rng: np.random.Generator) -> Any:
    topics = np.maximum(rng.dirichlet(np.full(M, b), K), 1e-12)
    if kind == "pair":
        topics[1] = 0.6 * topics[0] + 0.4 * topics[1]
    if kind == "background":
        topics = 0.8 * topics + 0.2 * rng.dirichlet(np.full(M, 0.02))
    if kind == "zipf":
        words = 1 / np.arange(1, M + 1)
        topics = rng.dirichlet(np.maximum(M * b * words / words.sum(), 1e-4), K)
    if kind == "groups":
        heads = rng.dirichlet(np.full(M, b), max(K // 4, 1))
        topics = 0.5 * topics + 0.5 * heads[np.arange(K) % len(heads)]
    return topics / topics.sum(axis=1, keepdims=True)


def half_million() -> Iterator[Row]:
    """Half a million short documents: parts of the way from the moments to the topics of the passes."""
    n = 500_000
    sample = make_lda(n + 3000, 20000, 100, length=70, prior=0.05, topic_prior=0.05)
    learn, judge, prior = sample.counts[:n], sample.counts[n:], np.full(100, 0.05)
    off, fast = (LDA(100, polish=polish).fit(learn).components_ for polish in ("off", "fast"))
    fast = fast[match_rows(fast, off)]
    truth = completion_bits(sample.components, prior, judge)
    for part in (0.0, 0.5, 0.7, 0.8, 1.0):
        topics = part * fast + (1 - part) * off
        shared = np.minimum(topics[match_rows(topics, sample.components)], sample.components).sum(axis=1).mean()
        what = f"{n:,} short documents, {part:.2f} of the way that they go (truth {truth:.3f} bits): shared mass, bits"
        yield what, "", f"{shared:.3f}, {completion_bits(topics, prior, judge):.3f}"


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
    shares = np.array([0.5, 0.25, 0.15, 0.07, 0.03])
    sample = make_lda(2000, 3000, 5, length=120)
    halves = [sample.counts[:, ::2], sample.counts[:, 1::2]]
    for model, data in (
        (LDA, sample.counts),
        (DiscreteICA, make_gamma_poisson(2000, 3000, 5, mean_length=100.0, prior=shares).counts),
        (SingleTopic, make_single_topic(2000, 3000, 5, length=40, weights=shares).counts),
        (PolylingualLDA, halves),
    ):
        five, eight = (len(model(K, polish="off").fit(data).diagnostics_.undetermined) for K in (5, 8))
        what = f"{model.__name__}, five topics, 3,000 words, 2,000 documents; K = 5, 8: called undetermined"
        yield what, UNDETERMINED_BEFORE[model.__name__], f"{five}, {eight}"


SECTIONS = (
    flat,
    totals,
    giant,
    heavy,
    alike,
    correlated,
    aligned,
    far,
    given,
    doubted,
    gamma,
    single,
    bounds,
    selection,
    determined,
    words,
    short,
    million,
    guard,
    half_million,
)
LONG = {"given", "million", "guard", "half_million"}


def main() -> None:
    names = {section.__name__: section for section in SECTIONS}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=[*names, []], help="all but the longest without")
    chosen = parser.parse_args().sections or [name for name in names if name not in LONG]
    print("| sample | before | now |\n|---|---|---|")
    for name in chosen:
        for what, before, now in names[name]():
            print(f"| {what} | {before} | {now} |", flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
