"""Sources of data, and passes over them.

Everything in polyad that touches data is a sum over blocks of rows. A *source* says where rows live, in *shards* that
depend on the rows alone. A *pass* maps one pure function over the shards, or over the small blocks of each, and adds
the results in a fixed tree; a *runner* decides where that is done. In memory, on disk and in any number of threads the
same code gives the same bytes, and nothing else in the library knows where the data live.
"""

from polyad.engine.blas import single_threaded_blas
from polyad.engine.blocks import Block
from polyad.engine.checkpoints.checkpoint import Checkpoint, CheckpointError
from polyad.engine.checks import count_blocks, signal_blocks
from polyad.engine.cluster.runner import DaskRunner
from polyad.engine.cluster.workers import ClusterError
from polyad.engine.disk.shards import Shards
from polyad.engine.disk.writer import write_shards, writing_bytes
from polyad.engine.local import for_each, sum_over
from polyad.engine.order.canonical import ordered_by_content
from polyad.engine.progress import PassReport, Planned, Report, expect, following, listening, one_round, stage, working
from polyad.engine.runners import Runner, Threads, rows, step, total, use
from polyad.engine.sources import (
    Arrays,
    Source,
    aligned,
    columns_of,
    every,
    first_rows,
    halves,
    quarters,
    resident,
    side_by_side,
    view_of,
)
from polyad.engine.states import StateStore, new_states
from polyad.engine.sums import Best, Largest, Stacked

__all__ = [
    "Arrays",
    "Best",
    "Block",
    "Checkpoint",
    "CheckpointError",
    "ClusterError",
    "DaskRunner",
    "Largest",
    "PassReport",
    "Planned",
    "Report",
    "Runner",
    "Shards",
    "Source",
    "Stacked",
    "StateStore",
    "Threads",
    "aligned",
    "columns_of",
    "count_blocks",
    "every",
    "expect",
    "first_rows",
    "following",
    "for_each",
    "halves",
    "listening",
    "new_states",
    "one_round",
    "ordered_by_content",
    "quarters",
    "resident",
    "rows",
    "side_by_side",
    "signal_blocks",
    "single_threaded_blas",
    "stage",
    "step",
    "sum_over",
    "total",
    "use",
    "view_of",
    "working",
    "write_shards",
    "writing_bytes",
]
