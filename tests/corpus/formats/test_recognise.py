"""Recognising formats."""

import gzip
import io

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from polyad.corpus.documents import CorpusError
from polyad.corpus.formats.recognise import COUNT_FORMATS, FORMATS, TEXT_FORMATS, recognise, recognise_bytes

UCI = b"2\n3\n2\n1 1 4\n2 3 1\n"
LDAC = b"2 0:1 4:3\n0\n1 2:2\n"


def npz_bytes():
    out = io.BytesIO()
    save_npz(out, csr_array(np.eye(2, dtype=int)))
    return out.getvalue()


@pytest.mark.parametrize(
    ("sample", "name", "expected"),
    [
        (b"one document\nanother", "a.txt", "lines"),
        (b"", "empty.txt", "lines"),
        (b"12\n15\n18 is a number of mine\n", "diary.txt", "lines"),
        (b"some, words; here", "standard input", "lines"),
        (b'{"text": "x"}\n', "a.txt", "jsonl"),
        (b'\xef\xbb\xbf{"text": "x"}\n', "standard input", "jsonl"),
        (b'{"text": "' + b"x" * 1000, "standard input", "jsonl"),
        (b"{curly words}\n", "poem.txt", "lines"),
        (b"whatever", "a.JSONL.gz", "jsonl"),
        (b"whatever", "a.ndjson.zst", "jsonl"),
        (b"whatever", "a.csv", "csv"),
        (b"whatever", "a.tsv.gz", "tsv"),
        (b"id\ttext\n1\tx\n", "standard input", "tsv"),
        (b'id,"Text"\n1,x\n', "standard input", "csv"),
        (b"id;text\n1;x\n", "data", "csv"),
        (b"PAR1....", "standard input", "parquet"),
        (b"%%MatrixMarket matrix coordinate integer general\n", "x.txt", "mtx"),
        (npz_bytes(), "standard input", "npz"),
        (UCI, "docword.x.txt", "uci"),
        (UCI.replace(b"\n", b"\r\n"), "standard input", "uci"),
        (LDAC, "ap.dat", "ldac"),
        (LDAC, "standard input", "ldac"),
        (b"0\n", "empty.ldac", "ldac"),
    ],
)
def test_name_and_first_bytes_tell(sample, name, expected):
    assert recognise_bytes(sample, name) == expected


@pytest.mark.parametrize(
    ("sample", "name", "said"),
    [
        (b"%PDF-1.7", "a.pdf", "PDF"),
        (b"PK\x03\x04\x14\0word/document.xml", "a.docx", "zip"),
        (b'[{"text": "x"}]', "a.json", "jq -c"),
    ],
)
def test_what_is_no_corpus_is_named(sample, name, said):
    with pytest.raises(CorpusError, match=said):
        recognise_bytes(sample, name)


def test_files_are_looked_into_through_compression(tmp_path):
    (tmp_path / "counts.gz").write_bytes(gzip.compress(UCI))
    assert recognise(tmp_path / "counts.gz") == "uci"
    assert recognise(tmp_path) == "folder"


def test_every_format_is_text_or_counts():
    assert set(FORMATS) == TEXT_FORMATS | COUNT_FORMATS
    assert not TEXT_FORMATS & COUNT_FORMATS
