"""What it costs to keep counts on disk: writing shards, and a pass over them, against memory.

Run it as ``python benchmarks/disk.py [corpus]``.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from corpora import load
from measure import Steps
from polyad.engine import count_blocks, ordered_by_content, use, write_shards
from polyad.moments.counts.lda import raw_moments

PART_ROWS = 5000
N_COLUMNS = 16
PASSES = 5


def main(corpus: str = "europarl_en") -> None:
    counts = load(corpus)
    parts = range(0, counts.shape[0], PART_ROWS)
    columns = np.random.default_rng(0).standard_normal((counts.shape[1], N_COLUMNS))
    steps = Steps()
    with tempfile.TemporaryDirectory() as name, use(-1):
        source = count_blocks(counts)
        print(f"{corpus}: {counts.shape}, {source.n_cells:,} cells, {source.n_shards} shards")
        with steps("order in memory"):
            in_memory = ordered_by_content(source)
        with steps("write in canonical order, from memory"):
            on_disk = write_shards(source, Path(name, "content"))
        with steps("write in canonical order, from parts read once"):
            write_shards((counts[first : first + PART_ROWS] for first in parts), Path(name, "parts"))
        with steps("write in the given order, from parts read once"):
            write_shards((counts[first : first + PART_ROWS] for first in parts), Path(name, "given"), order="given")
        with steps("verify"):
            on_disk.verify()
        products = []
        for where, rows in (("memory", in_memory), ("disk", on_disk)):
            with steps(f"raw moments from {where}"):
                second = raw_moments(rows, "uniform").moments.second
            name_of_pass = f"a product with {N_COLUMNS} columns from {where}, the best of {PASSES}"
            best = float("inf")
            for _ in range(PASSES):
                with steps(name_of_pass):
                    product = second @ columns
                best = steps.seconds[name_of_pass] = min(best, steps.seconds[name_of_pass])
            products.append(product)
    for step, seconds in steps.seconds.items():
        print(f"{step:65} {seconds:8.2f} s {steps.megabytes[step]:8.0f} MB")
    print("the same bytes:", products[0].tobytes() == products[1].tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
