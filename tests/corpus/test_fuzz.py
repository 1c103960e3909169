"""Broken input of every kind: a corpus or a sentence, never anything else."""

import bz2
import csv
import gzip
import io
import json
import lzma
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, save_npz

from polyad.corpus import CorpusError, ReadOptions, TextOptions, read_blocks, read_corpus, recognise
from polyad.corpus.formats.recognise import FORMATS

# What looks suspicious is told, and read all the same.
pytestmark = pytest.mark.filterwarnings("ignore:.*line [0-9]+:UserWarning")

ROWS = [("a", "to be, or not"), ("b", ""), ("c", 'said "x"\nand more'), ("d", "été 日本")]


def _csv(delimiter):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([("id", "text"), *ROWS])
    return out.getvalue().encode()


def _npz():
    out = io.BytesIO()
    save_npz(out, csr_array(np.array([[1, 0, 2], [0, 0, 3]])), compressed=False)
    return out.getvalue()


def _parquet():
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return b"PAR1"
    out = io.BytesIO()
    pq.write_table(pa.table({"id": [row[0] for row in ROWS], "text": [row[1] for row in ROWS]}), out)
    return out.getvalue()


def _zstd(data):
    try:
        import zstandard
    except ImportError:
        return data
    return zstandard.ZstdCompressor().compress(data)


JSONL = "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in ROWS).encode()
VALID = {
    "lines": "one line\n\nété 日本\n".encode(),
    "jsonl": JSONL,
    "csv": _csv(","),
    "tsv": _csv("\t"),
    "parquet": _parquet(),
    "uci": b"3\n4\n3\n1 1 4\n3 4 1\n3 2 2\n",
    "ldac": b"2 0:1 2:3\n0\n1 1:2\n",
    "mtx": b"%%MatrixMarket matrix coordinate integer general\n%\n3 4 3\n1 1 4\n3 4 1\n3 2 2\n",
    "npz": _npz(),
}
PACKED = {
    "gzip": gzip.compress(JSONL, mtime=0),
    "zstd": _zstd(JSONL),
    "bzip2": bz2.compress(JSONL),
    "xz": lzma.compress(JSONL),
    "utf-16": ROWS[3][1].encode("utf-16"),
}
FILES = {
    "page": b"<!doctype html><head><title>A &amp; b</title><style>p {}</style></head><body><p>one &eacute; "
    b"<b>two</b><script>x = '<p>'</script><!-- no --></p><p>three&#8217;s</body>",
    "text": "été 日本, one two\n\nthree".encode(),
    "utf-16": ROWS[3][1].encode("utf-16"),
    "gzip": gzip.compress(b"one two three", mtime=0),
}
FUZZ = settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@st.composite
def mutated(draw, data):
    """A valid file with a few bytes changed, dropped, repeated or put in."""
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(changed)))
        action = draw(st.sampled_from(["set", "cut", "insert", "drop", "repeat"]))
        if action == "set" and at < len(changed):
            changed[at] = draw(st.integers(0, 255))
        elif action == "cut":
            del changed[at:]
        elif action == "insert":
            changed[at:at] = draw(st.binary(max_size=6) | st.sampled_from([b"\0", b"\n", b'"', b"-1", b"9" * 20, b":"]))
        elif action == "drop":
            del changed[at : at + draw(st.integers(1, 10))]
        else:
            changed[at:at] = changed[at : at + draw(st.integers(1, 10))]
    return bytes(changed)


def survives(file, format_=None):
    """Read strictly and leniently; whatever comes out must be sound."""
    rows = None
    for skip_bad in (True, False):
        reading = ReadOptions(format=format_, skip_bad=skip_bad, max_document_bytes=500)
        try:
            corpus = read_corpus(file, reading=reading, n_jobs=1)
        except CorpusError:
            continue
        assert corpus.counts.shape == (len(corpus.ids), len(corpus.vocabulary))
        assert corpus.counts.has_canonical_format
        assert corpus.report.reading.documents == len(corpus)
        assert (corpus.counts.data > 0).all()
        "\n".join(corpus.ids).encode()
        if skip_bad:
            rows = len(corpus)
        else:
            # What is read strictly has no bad record, so that skipping them changes nothing.
            assert corpus.report.reading.bad == 0
            assert rows == len(corpus)


@pytest.mark.parametrize("format_", [name for name in FORMATS if name != "folder"])
class TestEveryReader:
    @FUZZ
    @given(data=st.data())
    def test_mutated_files(self, format_, data, tmp_path):
        file = tmp_path / "input"
        file.write_bytes(data.draw(mutated(VALID[format_])))
        survives(file, format_)

    @FUZZ
    @given(data=st.binary(max_size=200))
    def test_random_bytes(self, format_, data, tmp_path):
        file = tmp_path / "input"
        file.write_bytes(data)
        survives(file, format_)

    @FUZZ
    @given(text=st.text(alphabet='01239 -:.,;"\t\n\\{}[]text%', max_size=80))
    def test_text_that_looks_nearly_right(self, format_, text, tmp_path):
        file = tmp_path / "input"
        head = {"uci": "3\n4\n3\n", "mtx": "%%MatrixMarket matrix coordinate integer general\n"}.get(format_, "")
        file.write_text(head + text, newline="")
        survives(file, format_)


@FUZZ
@given(data=st.data())
def test_mutated_compressed_files(data, tmp_path):
    file = tmp_path / "input"
    file.write_bytes(data.draw(mutated(data.draw(st.sampled_from(sorted(PACKED.values()))))))
    survives(file)


@FUZZ
@given(data=st.data())
def test_the_format_is_told_of_anything(data, tmp_path):
    file = tmp_path / data.draw(st.sampled_from(["input", "a.json", "a.txt", "a.dat", "a.csv.gz"]))
    file.write_bytes(data.draw(st.binary(max_size=100) | mutated(VALID[data.draw(st.sampled_from(sorted(VALID)))])))
    try:
        assert recognise(file) in FORMATS
    except CorpusError:
        return
    survives(file)


@FUZZ
@given(files=st.lists(st.binary(max_size=40), max_size=4))
def test_a_folder_of_anything(files, tmp_path_factory):
    folder = Path(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp()))
    for number, data in enumerate(files):
        (folder / f"{number}").write_bytes(data)
    survives(folder)


@FUZZ
@given(data=st.data(), format_=st.sampled_from(["uci", "ldac", "mtx", "lines", "jsonl"]))
def test_blocks_of_anything(data, format_, tmp_path):
    file = tmp_path / "input"
    file.write_bytes(data.draw(mutated(VALID[format_])))
    (tmp_path / "input.vocab.txt").write_bytes(data.draw(st.just(b"a\nb\nc\nd\n") | st.binary(max_size=20)))
    reading = ReadOptions(format=format_, skip_bad=data.draw(st.booleans()))
    try:
        blocks = list(read_blocks(file, TextOptions(), vocabulary=["a", "b", "c", "d"], reading=reading, documents=2))
    except CorpusError:
        return
    assert all(block.shape[1] == 4 and len(block) <= 2 for block in blocks)
