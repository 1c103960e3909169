"""Documents, errors and reports."""

import pickle

import pytest

from polyad.corpus.documents import CorpusError, Document, Tally, listed, printable


def test_an_error_names_file_and_line_and_survives_pickling():
    error = CorpusError("the count is negative", path="a.txt", line=7)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == "a.txt, line 7: the count is negative"
    assert (again.path, again.line, again.problem) == ("a.txt", 7, "the count is negative")
    assert isinstance(error, ValueError)
    assert str(CorpusError("bad", path="t.parquet", line=2, unit="row")) == "t.parquet, row 2: bad"
    assert str(CorpusError("bad")) == "bad"


def test_bad_records_raise_or_are_counted_with_the_first_examples():
    with pytest.raises(CorpusError, match="line 1"):
        Tally(skip_bad=False).reject(CorpusError("bad", line=1))
    tally = Tally(skip_bad=True)
    for line in range(100):
        tally.reject(CorpusError("bad", line=line))
    report = tally.report()
    assert report.bad == 100
    assert report.bad_examples[:2] == ("line 0: bad", "line 1: bad")
    assert len(report.bad_examples) == 5
    assert "100 bad records skipped (the first: line 0: bad)" in str(report)


def test_documents_without_a_name_are_numbered_and_empty_ones_are_counted():
    tally = Tally()
    documents = [tally.document(None, "a"), tally.document("x", " \n"), tally.document(None, "b\0c")]
    assert documents == [Document("0", "a"), Document("x", " \n"), Document("2", "b\0c")]
    assert (tally.report().empty, tally.report().with_nul) == (1, 1)


def test_names_can_always_be_written():
    assert printable("naïve") == "naïve"
    assert printable("\ud800").encode() == b"\\ud800"


def test_long_lists_are_cut():
    assert listed(map(str, range(30)), 2) == "'0', '1' and 28 more"
    assert len(listed(["x" * 1000])) < 70
