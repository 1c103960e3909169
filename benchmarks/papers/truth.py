"""Topics that samples are drawn from: learned from a real corpus by variational inference, or drawn themselves."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import corpora
from polyad import LDA
from polyad.datasets import make_gamma_poisson, make_lda
from polyad.datasets.topics import TopicSample
from polyad.engine import count_blocks, use
from polyad.inference.variational import variational_passes

KEPT = Path(__file__).resolve().parents[1] / "results" / "papers-truth"
PASSES = 60


@dataclass(frozen=True)
class Truth:
    """Topics, K x M, and Dirichlet parameters, K, in the proportions that were learned."""

    components: np.ndarray
    prior: np.ndarray


@cache
def learned(corpus: str, K: int) -> Truth:
    """Return the topics of a corpus by variational EM, started from our own fit; "drawn" needs no corpus.

    Words of the real vocabularies stay as they are; topics need not be apart, which is what makes them hard.
    """
    if corpus == "drawn":
        sample = make_lda(10, 60 * K, K, topic_prior=0.05, random_state=7)
        weights = np.random.default_rng(7).uniform(0.5, 2.0, K)
        return Truth(sample.components, weights / weights.sum())
    file = KEPT / f"{corpus}-{K}.npz"
    if not file.exists():
        X = corpora.load(corpus)
        start = LDA(K).fit(X)
        prior = start.doc_topic_prior_
        with use():
            found = variational_passes(
                count_blocks(X), start.components_, prior, n_passes=PASSES, smoothing=np.full(K, 0.01)
            )
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, components=found.components, prior=prior / prior.sum())
    with np.load(file) as kept:
        return Truth(kept["components"], kept["prior"])


def sample(
    truth: Truth, law: str, N: int, *, total: float, length: float, seed: int, share: float = 0.5
) -> TopicSample:
    """Draw documents: "gp" (gamma-Poisson), "fix" (one length) or "fix2" (20 and 200 tokens).

    Documents with fewer than three tokens are drawn again, as in the discrete ICA paper.
    """
    prior = total * truth.prior
    if law == "gp":
        drawn = make_gamma_poisson(N, components=truth.components, prior=prior, mean_length=length, random_state=seed)
        short = np.flatnonzero(np.asarray(drawn.counts.sum(axis=1)).ravel() < 3)
        if short.size == 0:
            return drawn
        rest = sample(truth, law, 4 * short.size + 20, total=total, length=length, seed=seed + 1_000_003)
        counts = drawn.counts.tolil()
        counts[short] = rest.counts[: short.size].tolil()
        return TopicSample(counts.tocsr(), drawn.components, drawn.intensities, drawn.prior, drawn.rate)
    lengths = (20, 200, share) if law == "fix2" else int(length)
    return make_lda(N, components=truth.components, prior=prior, length=lengths, random_state=seed)
