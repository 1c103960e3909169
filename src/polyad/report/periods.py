"""When documents were written and to which group they belong: a number for each of them, and the names of these."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_PERIODS = 100
MOST_GROUPS = 30

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?!\d)(?:-(\d{2})(?!\d))?)?(?!\d)")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?")


@dataclass(frozen=True)
class Labels:
    """The parts that documents are divided in."""

    names: tuple[str, ...]  # of the parts, in their order
    part_of: NDArray[np.int32]  # for each document the number of its part; -1 where it has none
    kind: str  # "number" (years too), "date" (ISO dates) or "name"

    @property
    def is_time(self) -> bool:
        """Whether parts are dates or years; other numbers tell an order alone."""
        return self.kind == "date" or all(name.isdecimal() and 1000 <= int(name) < 3000 for name in self.names)

    @property
    def n_without(self) -> int:
        """Documents in no part."""
        return int((self.part_of < 0).sum())


def groups_of(values: Iterable[Any]) -> Labels:
    """Return the groups of documents: the largest by their names, and one for all the others where there are many.

    Examples
    --------
    >>> found = groups_of(["b", "a", None, "b"])
    >>> found.names, found.part_of.tolist()
    (('a', 'b'), [1, 0, -1, 1])
    """
    labels = [_text(value) for value in values]
    sizes = Counter(label for label in labels if label)
    kept = {name for name, _ in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))[:MOST_GROUPS]}
    names = sorted(kept)
    number_of = {name: number for number, name in enumerate(names)}
    if len(sizes) > len(kept):
        names.append(f"{len(sizes) - len(kept):,} other groups")
    others = len(kept)
    parts = [number_of.get(label, others) if label else -1 for label in labels]
    return Labels(tuple(names), np.array(parts, np.int32), "name")


def periods_of(values: Iterable[Any]) -> Labels:
    """Return the periods of documents: days, months, years or decades, or ranges of numbers that tell an order.

    Dates are ISO dates (2024-07-31, 2024-07, 2024, with whatever follows); other numbers are an order.

    Examples
    --------
    >>> periods_of(["1945-Truman", "1946-Truman", "1946"]).names
    ('1945', '1946')
    >>> periods_of([3, 1, 2, None]).part_of.tolist()
    [2, 0, 1, -1]
    >>> periods_of(["yesterday"])
    Traceback (most recent call last):
    ...
    ValueError: The date of document 0 is 'yesterday'; give ISO dates (2024-07-31, 2024-07 or 2024) or numbers.
    """
    texts = [_text(value) for value in values]
    if not any(texts):
        raise ValueError("Not one document has a date; name another column, or give none.")
    if all(_NUMBER.fullmatch(text) for text in texts if text):
        return _ranges(texts)
    return _dates(texts)


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    return str(value).strip()


def _dates(texts: Sequence[str]) -> Labels:
    found = []
    for number, text in enumerate(texts):
        match = _DATE.match(text)
        if text and match is None:
            shown = text if len(text) <= 40 else f"{text[:40]}…"
            raise ValueError(
                f"The date of document {number} is {shown!r}; give ISO dates (2024-07-31, 2024-07 or 2024) or numbers."
            )
        found.append(tuple(part for part in match.groups() if part) if text and match else ())
    finest = min(len(date) for date in found if date)
    for length in range(finest, 0, -1):
        labels = ["-".join(date[:length]) for date in found]
        if len({label for label in labels if label}) <= MOST_PERIODS:
            return _numbered(labels, "number" if length == 1 else "date")
    decades = [f"{date[0][:3]}0" if date else "" for date in found]
    return _ranges(decades) if len(set(decades)) > MOST_PERIODS else _numbered(decades, "number")


def _ranges(texts: Sequence[str]) -> Labels:
    """Return the distinct values as periods, or ranges of the same width where there are many."""
    values = np.array([float(text) if text else np.nan for text in texts])
    known = ~np.isnan(values)
    distinct = np.unique(values[known])
    if distinct.size > MOST_PERIODS:
        low, high = distinct[0], distinct[-1]
        width = (high - low) / MOST_PERIODS
        values = low + width * np.minimum(np.floor((values - low) / width), MOST_PERIODS - 1)
        distinct = np.unique(values[known])
    parts = np.full(len(values), -1, np.int32)
    parts[known] = np.searchsorted(distinct, values[known])
    return Labels(tuple(f"{value:.10g}" for value in distinct), parts, "number")


def _numbered(labels: Sequence[str], kind: str) -> Labels:
    names = sorted({label for label in labels if label})
    number_of = {name: number for number, name in enumerate(names)}
    return Labels(tuple(names), np.array([number_of.get(label, -1) for label in labels], np.int32), kind)
