"""Where data live: sources of shards.

A source is small or in memory, can be sent to another process, and gives the same shards each time it is asked. The
shards of the same rows are the same wherever the rows lie.
"""

from polyad.engine.sources.arrays import Arrays, arrays_of, gathered, resident, rows_of_block
from polyad.engine.sources.parts import Part, Thinned, every, first_rows, halves, part_of, quarters
from polyad.engine.sources.source import Derived, Source
from polyad.engine.sources.views import Aligned, Columns, SideBySide, View, aligned, columns_of, side_by_side, view_of

__all__ = [
    "Aligned",
    "Arrays",
    "Columns",
    "Derived",
    "Part",
    "SideBySide",
    "Source",
    "Thinned",
    "View",
    "aligned",
    "arrays_of",
    "columns_of",
    "every",
    "first_rows",
    "gathered",
    "halves",
    "part_of",
    "quarters",
    "resident",
    "rows_of_block",
    "side_by_side",
    "view_of",
]
