"""What is told about words that were left out, and about what a reader met."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyad.corpus import CorpusError, CorpusReport, Dropped, ReadReport
from polyad.corpus.documents import EXAMPLES, Tally

TOTALS = st.dictionaries(st.text("abcde", min_size=1, max_size=3), st.integers(1, 9), min_size=1, max_size=20)


@given(TOTALS)
@settings(max_examples=40, deadline=None)
def test_dropped_words_are_told_by_their_frequency(totals):
    found = Dropped.from_totals(totals)
    assert (found.words, found.tokens) == (len(totals), sum(totals.values()))
    assert len(found.examples) == min(len(totals), EXAMPLES)
    rarest = min(totals[word] for word in found.examples)
    assert all(count <= rarest for word, count in totals.items() if word not in found.examples)
    ranks = [(-totals[word], word) for word in found.examples]
    assert ranks == sorted(ranks)


def test_long_words_are_cut_short():
    (example,) = Dropped.from_totals({"x" * 500: 1}).examples
    assert example == "x" * 79 + "…"


def test_a_report_says_everything_that_happened():
    report = CorpusReport(
        documents=9, tokens=20,
        dropped={"stop words": Dropped(2, 7, ("the", "of")), "numbers": Dropped(1, 3, ("7",))},
        empty_documents=1, duplicate_ids=2, duplicate_examples=("a", "b"),
        reading=ReadReport(documents=9, bad=4, bad_examples=("line 3: no text",)),
        language="english", languages=(("english", 8), ("french", 1)), sampled=9, min_df=2,
    )  # fmt: skip
    assert report.tokens_found == 30
    assert str(report).splitlines() == [
        "9 documents, 20 words kept",
        "language: english found in 9 documents",
        "languages: english in 8 documents, french in 1 document",
        "words kept are in at least 2 documents, which their number decides",
        "stop words dropped: 2 words, 7 occurrences (the, of)",
        "numbers dropped: 1 word, 3 occurrences (7)",
        "documents without any kept word: 1",
        "documents with the id of an earlier one: 2 (a, b)",
        "bad records skipped: 4 (the first: line 3: no text)",
    ]
    assert str(CorpusReport()) == "0 documents, 0 words kept"


def test_a_reading_says_what_it_met():
    full = ReadReport(
        documents=5, bad=1, bad_examples=("line 2",), empty=2, with_nul=3, hidden_files=4, suspicious=2,
        suspicious_examples=("line 1 may be two",),
    )  # fmt: skip
    assert str(full) == (
        "5 documents, of which 2 empty, 3 with NUL characters, 1 bad record skipped (the first: line 2), 4 hidden "
        "files passed over, 2 suspicious (the first: line 1 may be two)"
    )
    assert full.warning() == "line 1 may be two (And 1 more such place.)"
    assert ReadReport(documents=1).warning() is None


def test_a_tally_raises_or_counts():
    strict, lenient = Tally(), Tally(skip_bad=True)
    error = CorpusError("no text", path="a.csv", line=3, unit="row")
    with pytest.raises(CorpusError, match=r"a\.csv, row 3: no text"):
        strict.reject(error)
    for _ in range(EXAMPLES + 3):
        lenient.reject(error)
        lenient.suspect("two in one")
    report = lenient.report()
    assert (report.bad, len(report.bad_examples)) == (EXAMPLES + 3, EXAMPLES)
    assert (report.suspicious, len(report.suspicious_examples)) == (EXAMPLES + 3, EXAMPLES)


def test_a_tally_names_and_counts_documents():
    tally = Tally()
    found = [tally.document(name, text) for name, text in ((None, "a"), ("x\udc80", " \n"), (None, "a\0b"))]
    assert [document.id for document in found] == ["0", found[1].id, "2"]
    found[1].id.encode()  # a name of a file in no encoding can be printed
    report = tally.report()
    assert (report.documents, report.empty, report.with_nul) == (3, 1, 1)


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ({}, "no"),
        ({"path": "a"}, "a: no"),
        ({"line": 2}, "line 2: no"),
        ({"path": "a", "line": 2, "unit": "document"}, "a, document 2: no"),
    ],
)
def test_errors_say_where(where, text):
    assert str(CorpusError("no", **where)) == text
