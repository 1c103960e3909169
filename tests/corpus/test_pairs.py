"""Corpora whose rows belong together: what is refused, and blocks with the same rows whatever the cuts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyad.corpus import make_corpus
from polyad.corpus.pairs import aligned_blocks, check_lengths, check_pairs

NAMES = ("en.txt", "fr.txt")


def corpus_of(numbers, ids=None, n_words=3):
    """Documents whose first count says which they are."""
    counts = np.zeros((len(numbers), n_words))
    counts[:, 0] = numbers
    return make_corpus(counts, [f"w{n}" for n in range(n_words)], ids=ids or [str(number) for number in numbers])


def cut(corpus, sizes):
    start = 0
    for size in sizes:
        yield corpus[start : start + size]
        start += size


SIZES = st.lists(st.integers(0, 4), max_size=8)


@given(SIZES, SIZES)
def test_blocks_have_the_same_rows_whatever_the_cuts(left, right):
    n_rows = min(sum(left), sum(right))
    both = corpus_of(range(1, n_rows + 1))
    # The last block of the longer side ends where the other one does.
    found = list(
        aligned_blocks(NAMES, cut(both, _ended(left, n_rows)), cut(both, _ended(right, n_rows)), ignore_ids=False)
    )
    assert all(x.ids == y.ids and len(x) == len(y) > 0 for x, y in found)
    assert [number for x, _ in found for number in x.ids] == list(both.ids)
    for side in (0, 1):
        rows = np.concatenate([pair[side].counts.toarray() for pair in found]) if found else np.zeros((0, 3))
        assert np.array_equal(rows, both.counts.toarray())


def _ended(sizes, n_rows):
    kept, left = [], n_rows
    for size in sizes:
        kept.append(min(size, left))
        left -= kept[-1]
    return kept


@pytest.mark.parametrize(("lengths", "longer"), [((3, 2), "en.txt"), ((2, 5), "fr.txt")])
def test_the_longer_of_two_streams_is_named(lengths, longer):
    blocks = [iter([corpus_of(range(n))]) for n in lengths]
    with pytest.raises(ValueError, match=f"{longer} has more than the 2 documents of the other side"):
        list(aligned_blocks(NAMES, *blocks, ignore_ids=False))


def test_ids_that_differ_are_told_with_their_row_in_all_blocks():
    left, right = corpus_of(range(5), ids=list("abcde")), corpus_of(range(5), ids=list("abcxe"))
    blocks = [cut(left, [2, 3]), cut(right, [1, 4])]
    with pytest.raises(ValueError, match=r"row 4 is 'd' on the left and 'x' on the right \(en\.txt and fr\.txt\)"):
        list(aligned_blocks(NAMES, *blocks, ignore_ids=False))
    again = [cut(left, [2, 3]), cut(right, [1, 4])]
    assert sum(len(x) for x, _ in aligned_blocks(NAMES, *again, ignore_ids=True)) == 5


def test_numbers_that_reading_gave_are_no_ids():
    named, numbered = corpus_of(range(3), ids=list("abc")), corpus_of(range(3))
    check_pairs(NAMES, named, numbered, ignore_ids=False)
    check_pairs(NAMES, numbered, named, ignore_ids=False)
    # but numbers in another order were given by somebody
    with pytest.raises(ValueError, match="row 1 is '0' on the left and '2' on the right"):
        check_pairs(NAMES, numbered, corpus_of([2, 1, 0]), ignore_ids=False)


def test_different_lengths_are_told_with_the_first_row_that_differs():
    check_lengths(NAMES, corpus_of(range(3)), corpus_of(range(3)), ignore_ids=False)
    left, right = corpus_of(range(4), ids=list("abcd")), corpus_of(range(3), ids=list("acd"))
    with pytest.raises(ValueError, match=r"en\.txt has 4 documents and fr\.txt has 3; .* is row 2: 'b' on the left"):
        check_lengths(NAMES, left, right, ignore_ids=False)
    with pytest.raises(ValueError, match=r"has 3; each document needs its partner in the same row\.$"):
        check_lengths(NAMES, left, right, ignore_ids=True)
