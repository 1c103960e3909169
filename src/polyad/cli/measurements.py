"""Tables of numbers for models of measurements: one row for each observation."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyad.base.arrays import FloatArray


def read_measurements(path: str) -> FloatArray:
    """Read a table of numbers: .npy, or text with commas or tabs, with or without a heading.

    Parameters
    ----------
    path
        The file.
    """
    import numpy as np

    if Path(path).suffix == ".npy":
        try:
            found = np.load(path, allow_pickle=False)
        except ValueError as error:
            raise ValueError(f"{path} cannot be read as numbers: {error}") from error
    else:
        found = _read_text(path)
    if found.ndim != 2 or found.dtype.kind not in "fiub":
        raise ValueError(f"{path} holds no table of numbers; give one row for each observation.")
    return np.asarray(found, dtype=np.float64)


def _read_text(path: str) -> FloatArray:
    import numpy as np

    with open(path, encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t" if Path(path).suffix == ".tsv" else ","))
    heading = 1 if rows and not all(map(_is_number, rows[0])) else 0
    for number, row in enumerate(rows[heading:], heading + 1):
        if len(row) != len(rows[0]) or not all(map(_is_number, row)):
            raise ValueError(f"Row {number} of {path} does not hold {len(rows[0])} numbers; correct it or give .npy.")
    if len(rows) <= heading:
        raise ValueError(f"{path} has no rows of numbers.")
    return np.array([[float(cell) for cell in row] for row in rows[heading:]])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
