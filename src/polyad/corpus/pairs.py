"""Corpora whose documents belong together, row by row: whether they fit, and blocks of them with the same rows."""

from collections.abc import Iterator, Sequence

from polyad.corpus.corpus import Corpus

__all__ = ["aligned_blocks", "check_lengths", "check_pairs"]


def check_lengths(names: Sequence[object], left: Corpus, right: Corpus, *, ignore_ids: bool) -> None:
    """Refuse corpora with different numbers of documents."""
    if len(left) == len(right):
        return
    apart = None if ignore_ids else _first_difference(left.ids, right.ids, 0)
    where = "" if apart is None else f" The first difference is row {apart + 1}: {_ids_of(left, right, apart)}."
    raise ValueError(
        f"{names[0]} has {len(left):,} documents and {names[1]} has {len(right):,}; each document needs its partner in "
        f"the same row.{where}"
    )


def check_pairs(names: Sequence[object], left: Corpus, right: Corpus, *, ignore_ids: bool, start: int = 0) -> None:
    """Refuse documents that do not belong together, as far as their ids tell.

    Parameters
    ----------
    names
        What the two are called in messages.
    left, right
        As many documents of both.
    ignore_ids
        Whether rows belong together whatever their ids are.
    start
        The number of the first of the documents.
    """
    numbered = any(_numbered(corpus.ids, start) for corpus in (left, right))
    bad = sum(corpus.report.reading.bad for corpus in (left, right) if corpus.report.reading is not None)
    if bad and (ignore_ids or numbered):
        raise ValueError(
            f"bad records were skipped ({bad:,}), and without ids it is not known which documents belong together; "
            "correct these records, or give the documents ids."
        )
    at = None if ignore_ids else _first_difference(left.ids, right.ids, start)
    if at is not None:
        raise ValueError(
            f"row {start + at + 1} is {_ids_of(left, right, at)} ({names[0]} and {names[1]}); documents that belong "
            "together must be in the same row. ignore_ids=True pairs rows whatever their ids are."
        )


def aligned_blocks(
    names: Sequence[object], left: Iterator[Corpus], right: Iterator[Corpus], *, ignore_ids: bool
) -> Iterator[tuple[Corpus, Corpus]]:
    """Cut the blocks of two corpora so that those that are yielded together have the same rows."""
    rest: list[Corpus | None] = [None, None]
    done = 0
    while True:
        rest = [
            part if part is not None and len(part) else next(blocks, None) for part, blocks in zip(rest, (left, right))
        ]
        x, y = rest
        if x is None or y is None:
            break
        rows = min(len(x), len(y))
        if rows:
            check_pairs(names, x[:rows], y[:rows], ignore_ids=ignore_ids, start=done)
            yield x[:rows], y[:rows]
        rest = [x[rows:], y[rows:]]
        done += rows
    more = [str(name) for name, part in zip(names, rest) if part is not None and len(part)]
    if more:
        raise ValueError(
            f"{more[0]} has more than the {done:,} documents of the other side; each document needs its partner in the "
            "same row."
        )


def _first_difference(left: Sequence[str], right: Sequence[str], start: int) -> int | None:
    """Return the first place where ids differ, None where they agree or one side has none."""
    if _numbered(left, start) != _numbered(right, start) and set(left) != set(right):
        return None  # numbers that reading gave are no ids
    return next((at for at, (a, b) in enumerate(zip(left, right)) if a != b), None)


def _ids_of(left: Corpus, right: Corpus, at: int) -> str:
    return f"{left.ids[at]!r} on the left and {right.ids[at]!r} on the right"


def _numbered(ids: Sequence[str], start: int) -> bool:
    return all(name == str(number) for number, name in enumerate(ids, start))
