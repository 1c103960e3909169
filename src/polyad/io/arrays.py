"""Arrays as `.npy` entries: written in C order as little-endian float64, and checked before a number is made."""

import io
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from polyad.io.archive import ModelFileError, Pieces
from polyad.io.registry import LEAST_POSITIVE, MOST_POSITIVE, ArrayRule

_STORED_TYPE = np.dtype("<f8")
_MAX_NPY_HEADER = 4096
_SUM_TOLERANCE = 1e-6


def array_pieces(array: Any) -> tuple[tuple[int, ...], Pieces]:
    """Return the shape of an array, and its `.npy` bytes without a copy of the numbers.

    Examples
    --------
    >>> shape, pieces = array_pieces([[0.5, 0.5]])
    >>> np.load(io.BytesIO(b"".join(pieces)))
    array([[0.5, 0.5]])
    """
    values = np.ascontiguousarray(array, dtype=_STORED_TYPE)
    header = io.BytesIO()
    npy.write_array_header_1_0(header, npy.header_data_from_array_1_0(values))
    return values.shape, [header.getvalue(), values.reshape(-1).data.cast("B")]


def checked_array(data: bytes, name: str, shape: Any, rule: ArrayRule, axes: dict[str, int]) -> NDArray[np.float64]:
    """Make an array of an entry whose shape, type, length and values are as they must be.

    Parameters
    ----------
    data
        The entry.
    name
        The name of the array.
    shape
        The shape that the header declares.
    rule
        What the array must be like.
    axes
        The lengths of the axes that are known; those of this array are added.
    """
    _check_axes(name, shape, rule, axes)
    stream = io.BytesIO(data)
    try:
        version = npy.read_magic(stream)
        if version != (1, 0):
            raise ValueError(f"npy version {version}")
        found, fortran, dtype = npy.read_array_header_1_0(stream, max_header_size=_MAX_NPY_HEADER)
    except Exception as error:  # the header is parsed as Python literals, which fail in many ways
        raise ModelFileError(f"its array {name} has no readable npy header ({error})") from error
    if list(found) != shape or fortran or dtype != _STORED_TYPE:
        raise ModelFileError(
            f"its array {name} is {dtype} of shape {found}; its header declares float64 of shape {shape}"
        )
    start = stream.tell()
    if len(data) - start != _STORED_TYPE.itemsize * int(np.prod(shape, dtype=object)):
        raise ModelFileError(f"its array {name} has {len(data) - start:,} bytes, which is not what {shape} needs")
    values = np.frombuffer(data, _STORED_TYPE, offset=start).reshape(shape).astype(np.float64)
    check_values(name, values, rule)
    return values


def _check_axes(name: str, shape: Any, rule: ArrayRule, axes: dict[str, int]) -> None:
    whole = isinstance(shape, list) and all(isinstance(n, int) and not isinstance(n, bool) and n >= 1 for n in shape)
    if not whole or len(shape) != len(rule.shape):
        raise ModelFileError(f"its array {name} has the shape {shape!a}; wanted is {' x '.join(rule.shape)}")
    for axis, length in zip(rule.shape, shape):
        if axes.setdefault(axis, length) != length:
            raise ModelFileError(f"its array {name} has the shape {shape}, but {axis} is {axes[axis]} elsewhere")


def check_values(name: str, values: NDArray[np.float64], rule: ArrayRule) -> None:
    """Refuse numbers that the rule does not allow."""
    if not np.isfinite(values).all():
        raise ModelFileError(f"its array {name} has numbers that are not finite")
    positive = {
        "positive": values,
        "not negative": values[values != 0],
        "covariance": np.diagonal(values) if values.ndim == 2 else values,
    }.get(rule.values, np.ones(1))
    if not ((positive >= LEAST_POSITIVE) & (positive <= MOST_POSITIVE)).all():
        raise ModelFileError(
            f"its array {name} has numbers that are not between {LEAST_POSITIVE:g} and {MOST_POSITIVE:g}"
        )
    if rule.values in ("probabilities", "topics"):
        if values.min() < 0:
            raise ModelFileError(f"its array {name} has negative probabilities")
        totals = values.sum(axis=-1)
        if rule.values == "topics":  # a row of zeros is a topic that the view does not have
            totals = totals[totals > 0]
        if np.abs(totals - 1).max(initial=0.0) > _SUM_TOLERANCE:
            raise ModelFileError(f"the probabilities of its array {name} do not sum to 1")
