"""Small files that ask for all memory there is: each is a sentence, or is read in the room that a small file takes."""

import gzip
import io
import json
import os
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, save_npz

import polyad
from polyad.corpus import CorpusError, ReadOptions, TextOptions, count_words, read_blocks, read_corpus
from polyad.corpus.words.chunks import WINDOW, windows

SCRIPT = """
    import json, resource, sys, traceback
    from polyad.corpus import (
        CorpusError,
        ReadOptions,
        read_blocks,
        read_corpus
    )
    try:
        import pyarrow.parquet
    except ImportError:
        pass

    def held():
        return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData")) << 10

    folder, megabytes = sys.argv[1], int(sys.argv[2])
    read_corpus(f"{folder}/warm.txt")
    limit = held() + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    found = {}
    for name in json.loads(sys.argv[3]):
        for skip_bad in (False, True):
            path = f"{folder}/{name}"
            reading = ReadOptions(skip_bad=skip_bad, max_document_bytes=2**22 if name == "lines.txt.gz" else 2**26)
            try:
                if skip_bad and name.startswith("docword"):
                    words = range(int(2e9)) if "header" in name else "abc"
                    for block in read_blocks(path, vocabulary=words, reading=reading):
                        pass
                elif not (skip_bad and ".txt" in name):
                    read_corpus(path, reading=reading, n_jobs=1)
                else:
                    continue
                found[name] = "read"
            except (CorpusError, ValueError) as error:
                found[name] = str(error).removeprefix(path)
            except BaseException as error:
                found[name] = f"FAILED {type(error).__name__}: {error}"
                traceback.print_exc()
                break
    print(json.dumps(found))
"""


def npz(**arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def zeros_that_unpack(method):
    """A matrix whose data are 200 MB of zeros in a few bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, array in (("format", np.array(b"coo")), ("shape", np.array([3, 3])), ("row", np.zeros(1))):
            with archive.open(f"{name}.npy", "w") as entry:
                np.save(entry, array)
        for name in ("data", "col"):
            with archive.open(f"{name}.npy", "w") as entry:
                np.save(entry, np.zeros(1_500_000))
    return out.getvalue()


def array_that_lies():
    """A header of 8 TB before 8 bytes."""
    sound = npz(format=np.array(b"coo"), shape=np.array([3, 3]), row=[0], col=[0], data=np.zeros(1000))
    return sound.replace(b"(1000,), }            ", b"(1000000000000,), }   ")


def parquet(texts, ids=None):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table({"text": texts} | ({} if ids is None else {"id": ids})), out, compression="zstd")
    return out.getvalue()


def hostile():
    pa = pytest.importorskip("pyarrow")
    digits = np.random.default_rng(0).integers(48, 58, 9_000_000, dtype=np.uint8).tobytes()
    one = pa.array(["rain and wind " * 70_000])
    return {
        "one.ldac": b"1 2147483646:1\n",
        "shape.npz": npz(
            format=np.array(b"coo"), shape=np.array([2**31 - 1, 2**31 - 1]), row=[0], col=[0], data=np.ones(1)
        ),
        "bzip2.npz": zeros_that_unpack(zipfile.ZIP_BZIP2),
        "deflated.npz": zeros_that_unpack(zipfile.ZIP_DEFLATED),
        "lies.npz": array_that_lies(),
        "words.mtx": b"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1\n",
        "words.vocab.txt.gz": gzip.compress(b"a\n" * 3_000_000, 6),
        "line.ldac.gz": gzip.compress(digits, 1),
        "docword.line.txt.gz": gzip.compress(b"3\n3\n3\n1 1 1\n" + digits, 1),
        "docword.header.txt": b"2000000000\n2000000000\n2000000000\n1 1 1\n",
        "docword.last.txt": b"2000000000\n3\n200000000\n2000000000 1 1\n",
        "header.mtx": b"%%MatrixMarket matrix coordinate integer general\n2000000000 2000000000 999999999\n1 1 1\n",
        "shared.parquet": parquet(pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, np.int32)), one)),
        "nulls.parquet": parquet(pa.nulls(1_500_000, pa.string())),
        "pages.parquet": parquet(pa.array(["a" * 6_000_000])),
        "lines.txt.gz": gzip.compress(b"a\n" * 1_000_000, 6),
        "joined.txt": b"a_" * 4_000_000,
        "blanks.txt": b"ab " * 2_500_000,
    }


EXPECTED = {
    "one.ldac": "there would be 2,147,483,647 words for 1 entry",
    "shape.npz": "there would be 2,147,483,647 rows for 1 entry",
    "bzip2.npz": "in a way that save_npz does not use",
    "deflated.npz": "unpack to 24,",
    "lies.npz": "not as large as it declares",
    "words.mtx": "unpack to 4,",
    "line.ldac.gz": "line 1: the line is longer than 8,388,608 bytes",
    "docword.line.txt.gz": "line 5: the line is longer than 8,388,608 bytes",
    "docword.header.txt": "2,000,000,000 documents for 1 entry",
    "docword.last.txt": "2,000,000,000 documents for 1 entry",
    "header.mtx": "2,000,000,000 documents for 1 entry",
    "shared.parquet": "unpack to 4,",
    "nulls.parquet": "rows that are read from",
    "pages.parquet": "unpack to 6,",
    "lines.txt.gz": "only read up to 262,144",
    "joined.txt": "read",
    "blanks.txt": "read",
}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the memory of a process by its data")
def test_files_that_ask_for_all_memory(tmp_path):
    for name, data in hostile().items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "warm.txt").write_text("to be or not to be\n")
    environment = {**os.environ, "PYTHONPATH": str(Path(polyad.__file__).parents[1]), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SCRIPT), str(tmp_path), "300"]
    done = subprocess.run(
        [*command, json.dumps(list(EXPECTED))], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {name: text for name, text in found.items() if EXPECTED[name] not in text} == {}, done.stderr
    assert all(len(text) < 400 for text in found.values())


def test_what_is_meant_is_read_when_it_is_said(tmp_path):
    (tmp_path / "a.ldac").write_bytes(b"1 1500:1\n")
    with pytest.raises(CorpusError, match="at most 1,010 are read; if it is right, raise max_announced"):
        read_corpus(tmp_path / "a.ldac", reading=ReadOptions(max_announced=1000))
    corpus = read_corpus(tmp_path / "a.ldac", reading=ReadOptions(max_announced=2000))
    assert corpus.shape == (1, 1501)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"rain " * 10_000))
    with pytest.raises(CorpusError, match="raise max_document_bytes"):
        read_corpus(tmp_path / "a.txt.gz", reading=ReadOptions(max_document_bytes=2**16))
    corpus = read_corpus(tmp_path / "a.txt.gz", n_jobs=1)
    assert corpus.report.tokens == 10_000


@pytest.mark.parametrize("form", [csr_array, coo_array])
@pytest.mark.parametrize("compressed", [True, False])
def test_every_sound_npz_is_still_read(tmp_path, form, compressed):
    counts = np.eye(5, dtype=np.int64)
    save_npz(tmp_path / "a.npz", form(counts), compressed=compressed)
    np.testing.assert_array_equal(read_corpus(tmp_path / "a.npz").counts.toarray(), counts)


def test_texts_that_many_rows_share_are_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0]), pa.array(["rain", "wind sea"]))
    (tmp_path / "a.parquet").write_bytes(parquet(texts, ["a", "b", "c", "a"]))
    corpus = read_corpus(tmp_path / "a.parquet")
    assert corpus.ids == ("a", "b", "c", "a")
    assert corpus.counts.toarray().tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 0], [1, 0, 0]]


def test_a_very_long_text_is_cut_where_it_changes_nothing(monkeypatch):
    text = " ".join(f"word{number % 977}" for number in range(5000))
    whole = count_words([text, "short"])
    monkeypatch.setattr("polyad.corpus.words.chunks.WINDOW", 100)
    cut = list(windows(text))
    assert len(cut) > 200
    assert "".join(cut) == text
    again = count_words([text, "short"])
    assert again.vocabulary == whole.vocabulary
    np.testing.assert_array_equal(again.counts.toarray(), whole.counts.toarray())
    pairs = count_words([text], TextOptions(ngrams=(1, 2)))
    monkeypatch.setattr("polyad.corpus.words.chunks.WINDOW", WINDOW)
    assert pairs.vocabulary == count_words([text], TextOptions(ngrams=(1, 2))).vocabulary


def test_blobs_are_no_words():
    corpus = count_words(["rain " + "x" * 131_073 + " wind " + "y" * 131_072])
    assert corpus.vocabulary == ("rain", "wind", "y" * 131_072)
    dropped = corpus.report.dropped["endless words"]
    assert (dropped.words, dropped.tokens, len(dropped.examples[0])) == (1, 1, 80)


def test_blocks_of_counts_need_as_many_words(tmp_path):
    (tmp_path / "docword.a.txt").write_bytes(b"1\n3\n1\n1 1 1\n")
    with pytest.raises(CorpusError, match="have 3 columns and no words, but the vocabulary has 2"):
        list(read_blocks(tmp_path / "docword.a.txt", vocabulary=["a", "b"]))
