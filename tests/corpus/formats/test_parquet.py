"""Parquet."""

import gzip
import io
import sys

import pytest

from polyad.corpus import CorpusError, Document, DocumentReader, ReadOptions

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def write(file, columns, **options):
    pq.write_table(pa.table(columns), file, **options)
    return file


def test_rows_are_documents_and_null_is_empty(tmp_path):
    file = write(tmp_path / "a.parquet", {"ID": [1, 2, None], "Text": ["to be", None, "x"], "n": [1.0, 2.0, 3.0]})
    reader = DocumentReader(file)
    assert list(reader) == [Document("1", "to be"), Document("2", ""), Document("2", "x")]
    assert (reader.report.empty, reader.fraction) == (1, 1.0)


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
def test_all_kinds_of_text_columns(kind, tmp_path):
    texts = pa.array(["a", "b", "a"])
    texts = texts.dictionary_encode() if kind == "dictionary" else texts.cast(getattr(pa, kind)())
    file = write(tmp_path / "a.parquet", {"text": texts})
    assert [document.text for document in DocumentReader(file)] == ["a", "b", "a"]


def test_columns_that_are_missing_or_no_text(tmp_path):
    file = write(tmp_path / "a.parquet", {"body": ["x"], "n": [1]})
    with pytest.raises(CorpusError, match="'body', 'n'"):
        list(DocumentReader(file))
    with pytest.raises(CorpusError, match="'n' is not text but int64"):
        list(DocumentReader(file, ReadOptions(text_column="n")))


def test_rows_come_in_batches(tmp_path):
    file = write(tmp_path / "a.parquet", {"text": [f"t{number}" for number in range(5000)]}, row_group_size=700)
    reader = DocumentReader(file)
    stream = iter(reader)
    next(stream)
    assert reader.report.documents == 1
    assert [document.text for document in stream][-1] == "t4999"


def test_bytes_that_are_no_text_name_their_row(tmp_path):
    bad = pa.array([b"fine", b"\xff\xfe", b"fine"], pa.binary()).view(pa.string())
    file = write(tmp_path / "a.parquet", {"text": bad})
    with pytest.raises(CorpusError, match="row 2: the text is not valid UTF-8"):
        list(DocumentReader(file))
    reader = DocumentReader(file, ReadOptions(skip_bad=True))
    assert len(list(reader)) == 2
    assert reader.report.bad == 1


def test_a_long_text_is_malformed(tmp_path):
    file = write(tmp_path / "a.parquet", {"text": ["x" * 11, "y"]})
    with pytest.raises(CorpusError, match="row 1: the text is longer than 10"):
        list(DocumentReader(file, ReadOptions(max_document_bytes=10)))


def test_through_gzip_and_standard_input(tmp_path, monkeypatch):
    whole = write(tmp_path / "a.parquet", {"text": ["to be"]}).read_bytes()
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(whole))
    assert [document.text for document in DocumentReader(tmp_path / "a.parquet.gz")] == ["to be"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(whole)))
    assert [document.text for document in DocumentReader("-")] == ["to be"]


def test_without_pyarrow_it_says_what_to_install(tmp_path, monkeypatch):
    file = write(tmp_path / "a.parquet", {"text": ["x"]})
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(CorpusError, match="pip install"):
        list(DocumentReader(file))


def test_two_columns_of_one_name_are_told(tmp_path):
    table = pa.Table.from_arrays([pa.array(["rain"]), pa.array(["wind"])], names=["text", "text"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match="two columns are named 'text'; rename one"):
        list(DocumentReader(tmp_path / "a.parquet"))
    (tmp_path / "a.csv").write_text("id,text,text\n1,rain,wind\n")
    with pytest.raises(CorpusError, match="two columns are named 'text'; rename one"):
        list(DocumentReader(tmp_path / "a.csv"))


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.timestamp("us", "UTC"), pa.date32()])
def test_dates_that_python_does_not_have_are_ids_too(tmp_path, kind):
    far = {"timestamp[s]": 10**15, "timestamp[us, tz=UTC]": 10**18, "date32[day]": 10**8}[str(kind)]
    dates = pa.array([0, far, None], pa.int32() if far == 10**8 else pa.int64()).cast(kind)
    pq.write_table(pa.table({"id": dates, "text": ["a", "b", "c"]}), tmp_path / "a.parquet")
    ids = [document.id for document in DocumentReader(tmp_path / "a.parquet")]
    assert ids[0].startswith("1970-01-01")
    assert ids[1].startswith("10000000")
    assert ids[2] == "2"
