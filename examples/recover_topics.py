"""Draw a corpus from known topics, recover them by moments, and tell how well and how fast.

python examples/recover_topics.py
"""

import time

import numpy as np

from polyad.datasets import make_gamma_poisson
from polyad.decompose import polyadic_decomposition, simplex_rows
from polyad.engine import count_blocks, use
from polyad.metrics import l1_error, match_rows
from polyad.moments import raw_moments

K = 10
sample = make_gamma_poisson(20_000, 2_000, K, mean_length=150.0, prior=0.1, topic_prior=0.05, random_state=0)

start = time.perf_counter()
with use():
    moments = raw_moments(count_blocks(sample.counts), "length").at(1.0)
    topics = simplex_rows(polyadic_decomposition(moments, K).components)
seconds = time.perf_counter() - start

topics = topics[match_rows(topics, sample.components)]
print(f"{sample.counts.shape[0]:,} documents, {int(sample.counts.sum()):,} tokens, {K} topics\n")
for k, (found, true) in enumerate(zip(topics, sample.components)):
    best, wanted = (np.argsort(-row)[:8] for row in (found, true))
    print(f"topic {k}: " + " ".join(f"word{w:04}" for w in best) + f"   {len({*best} & {*wanted})} of 8 right")
print(f"\nl1 error {l1_error(topics, sample.components):.3f} (0 is perfect, 1 the worst) in {seconds:.2f} seconds")
