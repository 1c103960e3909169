"""Corpora whose documents belong together, row by row: whether they fit, and blocks of them with the same rows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polyad.corpus.corpus import Corpus


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


def check_pairs(
    names: Sequence[object],
    left: Corpus,
    right: Corpus,
    *,
    ignore_ids: bool,
    start: int = 0,
    can_be_ignored: bool = True,
) -> None:
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
    can_be_ignored
        Whether who calls can have ids ignored, and is told of that.
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
        advice = " ignore_ids=True pairs rows whatever their ids are." if can_be_ignored else ""
        raise ValueError(
            f"row {start + at + 1} is {_ids_of(left, right, at)} ({names[0]} and {names[1]}); documents that belong "
            f"together must be in the same row.{advice}"
        )


def with_one_list_of_ids(corpora: Sequence[Corpus]) -> list[Corpus]:
    """Return corpora whose rows belong together whatever their ids are: all have those of the first.

    Shards are returned as they are.
    """
    return [corpora[0], *(replace(one, ids=corpora[0].ids) if isinstance(one, Corpus) else one for one in corpora[1:])]


def aligned_blocks(
    names: Sequence[object], blocks: Sequence[Iterator[Corpus]], *, ignore_ids: bool
) -> Iterator[tuple[Corpus, ...]]:
    """Cut the blocks of several corpora so that those that are yielded together have the same rows."""
    rest: list[Corpus | None] = [None] * len(names)
    done = 0
    while True:
        rest = [part if part is not None and len(part) else next(of, None) for part, of in zip(rest, blocks)]
        parts = [part for part in rest if part is not None]
        if len(parts) < len(names):
            break
        rows = min(map(len, parts))
        if rows:
            for name, part in zip(names[1:], parts[1:]):
                check_pairs([names[0], name], parts[0][:rows], part[:rows], ignore_ids=ignore_ids, start=done)
            yield tuple(part[:rows] for part in parts)
        rest = [part[rows:] for part in parts]
        done += rows
    more = [str(name) for name, part in zip(names, rest) if part is not None and len(part)]
    if more:
        raise ValueError(
            f"{more[0]} has more than the {done:,} documents of {'the other side' if len(names) == 2 else 'another'}; "
            "each document needs its partner in the same row."
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
