"""Blocks of data, and passes over them.

Everything in polyad that touches data is a sum over blocks of rows. A *block* is a few hundred to a few
thousand rows; a *pass* maps one pure function over the blocks and adds the results in a fixed order, so the
number of threads never changes a bit of the result. Nothing else in the library knows where the data live.
"""

from polyad.engine.blocks import Block, Blocks, count_blocks, signal_blocks
from polyad.engine.order import ordered_by_content
from polyad.engine.passes import Runner, Serial, Threads, runner_for, single_threaded_blas

__all__ = [
    "Block",
    "Blocks",
    "Runner",
    "Serial",
    "Threads",
    "count_blocks",
    "ordered_by_content",
    "runner_for",
    "signal_blocks",
    "single_threaded_blas",
]
