"""How much polishing: the presets of the models, each number with its reason and the measurement behind it.

Bits are held-out bits per token by document completion. AP and NIPS, on which numbers were chosen, are the corpora of
``benchmarks/topics.py``; what the presets do on corpora that nothing was chosen on is in ``docs/benchmarks.md``.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

Polish = Literal["off", "fast", "full"] | int
# Topics that start from documents take longer to settle than those of the moments: NIPS with 500 topics has 10.535 bits
# after 5 passes, and 10.527 after 10. That all passes are worth their time was chosen on the Acts of Canada (7.541 bits
# after 5 passes, 7.511 after 8, 7.497 after 11), and holds on an eighth of the speeches of the European Parliament
# (11.173 after 8, 11.165 after 11 in a sixth more time) and on AP (11.038 and 11.037).
LEAST_OF_MANY_TOPICS = 11
# For many topics of long documents: rounds in which documents forget their shares (see ``polish``), and passes in
# which they settle then. NIPS, 500 topics: 10.535 bits after 6 passes and 10.530 after 11 without; 10.485 after 2
# rounds and 2 passes, 10.434 after 4 and 3, 10.405 after 6 and 4; with 1,000 topics 10.490 after 11, and 10.322 after 6
# and 4.
ROUNDS, PASSES_OF_A_ROUND, SETTLING_PASSES = 6, 2, 4
LEAST_SETTLING_PASSES = 2  # where passes are few there are fewer rounds
# Tokens that documents have on average. AP (194 tokens, 500 topics) gets worse by rounds, from 11.037 to 11.059 bits;
# of NIPS with a third of its tokens (442) bits fall from 10.765 to 10.743.
LONG_DOCUMENTS = 400.0


@dataclass(frozen=True)
class Preset:
    """When polishing stops, and how a pass goes.

    From the second pass on documents do not see their own tokens of a word, and tokens not their own vote in the shares
    of their document, so that the likelihood of a pass estimates prediction, for words of which no document has much;
    the others learn by heart. Polishing stops after two passes in a row, not before ``least_passes``, that gained less
    than ``least_gain`` each; at the latest after ``most_passes``.
    """

    # Bounds of the number of passes.
    least_passes: int
    most_passes: int
    # Nats that a pass must gain for each document, times the tokens of the corpus for each pair of topics, for another
    # to follow; minus infinity never stops.
    least_gain: float = -np.inf
    wide_passes: int = 0  # passes that follow under a wide prior of the topics: see :mod:`polyad.inference.wide`
    most_of_many: int | None = None  # as most_passes, of a corpus of many shards; None for the same
    rounds: int = 0  # at the beginning, in which documents forget their shares: see :func:`polyad.inference.polish`

    @property
    def n_passes(self) -> int:
        """Passes of both kinds at most."""
        return self.most_passes + self.wide_passes

    def for_corpus(self, *, many_shards: bool, many_topics: bool, long_documents: bool = False) -> "Preset":
        """Return the preset for a corpus of many shards, and for topics that start from documents.

        Where documents are long as well, the first passes are rounds, as many as there is room for.

        Examples
        --------
        >>> many = PRESETS["fast"].for_corpus(many_shards=False, many_topics=True, long_documents=True)
        >>> many.rounds, many.most_passes
        (6, 16)
        """
        most = self.most_of_many if many_shards and self.most_of_many is not None else self.most_passes
        most, least, rounds = min(self.most_passes, most), self.least_passes, 0
        may_choose = np.isfinite(self.least_gain)
        if many_topics and may_choose:
            least = max(least, LEAST_OF_MANY_TOPICS)
        if many_topics and long_documents:
            if may_choose and most >= LEAST_OF_MANY_TOPICS:
                most = least = max(most, ROUNDS * PASSES_OF_A_ROUND + SETTLING_PASSES)
            rounds = min(ROUNDS, max(most - LEAST_SETTLING_PASSES, 0) // PASSES_OF_A_ROUND)
        return replace(self, most_passes=most, least_passes=min(least, most), rounds=rounds)

    def begins_a_round(self, number: int) -> bool:
        """Tell whether documents forget their shares in a pass, of which the first has number 1."""
        return self.is_in_a_round(number) and (number - 1) % PASSES_OF_A_ROUND == 0

    def is_in_a_round(self, number: int) -> bool:
        """Tell whether a pass, of which the first has number 1, is one of the rounds."""
        return number <= self.rounds * PASSES_OF_A_ROUND

    def has_enough(self, gained: float, n_passes: int, n_components: int, n_tokens: float) -> bool:
        """Tell whether to stop after so many passes, given the nats for each document that the last ones gained."""
        tokens_for_a_pair = max(n_tokens, 1.0) / (n_components**2 / 2)
        return n_passes >= self.least_passes and gained * tokens_for_a_pair < self.least_gain


PRESETS = {
    "off": Preset(0, 0),
    "fast": Preset(
        # The first gains that compare like with like are those of the third and the fourth pass.
        least_passes=4,
        # Where this is met (AP with 10 topics, and NIPS) a further pass brings .0004 to .003 bits.
        most_passes=11,
        # Polishing tells topics apart from each other: there are as many things to tell as pairs of topics, and it is
        # the tokens that tell them. Where they are few for each pair a pass must gain more to be worth its time. Of the
        # scales that were tried (for each token, document, topic or pair alone, and over the whole corpus) this is the
        # one that takes few passes where they gain little for their time (AP, K = 50 and 100: 5 and 4) and many where
        # they go on gaining (AP with K = 10; NIPS, whose documents are seven times as long).
        least_gain=250.0,
        # Every pass is a read of all shards. Of 30 million cells with 100 topics, drawn from topics of the European
        # Parliament, the fifth pass gained .0003 nats for each token, and the sixth nothing.
        most_of_many=6,
    ),
    "full": Preset(
        # The wide passes want topics that have settled. From 12 passes they end .006 bits behind (AP, K = 50, one
        # split); where topics are few and settle slowly, from 40 at 11.50 and from 89 at 11.486 (AP, K = 10).
        least_passes=40,
        most_passes=64,
        least_gain=10.0,  # AP with 50 topics and more stops at 40, AP with 10 and NIPS go on
        # AP, K = 50, three splits: 11.149 bits; 80 passes and 200 sweeps of a Gibbs sampler gave 11.155.
        wide_passes=30,
    ),
}


def preset_of(polish: str | int) -> Preset:
    """Return a preset by its name, or one that takes a given number of passes.

    Examples
    --------
    >>> preset_of("off").n_passes, preset_of(3).n_passes
    (0, 3)
    """
    if isinstance(polish, str) and polish in PRESETS:
        return PRESETS[polish]
    if isinstance(polish, bool) or not isinstance(polish, int | np.integer) or polish < 0:
        raise ValueError(f"polish is {polish!r}; give 'off', 'fast', 'full' or a number of passes.")
    return Preset(int(polish), int(polish))
