"""One function for every input."""

import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from polyad.corpus import (
    CorpusError,
    ReadOptions,
    TextOptions,
    count_words,
    make_corpus,
    read_blocks,
    read_corpus,
    stack,
    write_corpus,
)

TEXTS = ["To be, or not to be", "", "that is the question", "be that as it may"]
IDS = ["a", "b", "c", "d"]
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def text_file(folder, kind):
    file = folder / f"texts.{kind}"
    if kind == "folder":
        file.mkdir()
        for name, text in zip(IDS, TEXTS):
            (file / name).write_text(text)
    elif kind == "txt":
        file.write_text("\n".join(TEXTS))
    elif kind.startswith("jsonl"):
        lines = "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in zip(IDS, TEXTS))
        file.write_bytes(gzip.compress(lines.encode()) if kind.endswith("gz") else lines.encode())
    elif kind in ("csv", "tsv"):
        mark = "," if kind == "csv" else "\t"
        file.write_text(f"id{mark}text\n" + "".join(f'{n}{mark}"{t}"\n' for n, t in zip(IDS, TEXTS)))
    else:
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pa.table({"id": IDS, "text": TEXTS}), file)
    return file


KINDS = ["folder", "txt", "jsonl", "jsonl.gz", "csv", "tsv", "parquet"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_text_format_gives_the_same_corpus(kind, tmp_path):
    corpus = read_corpus(text_file(tmp_path, kind))
    expected = count_words(TEXTS)
    assert corpus.vocabulary == expected.vocabulary
    np.testing.assert_array_equal(corpus.counts.toarray(), expected.counts.toarray())
    assert corpus.ids == (("0", "1", "2", "3") if kind == "txt" else tuple(IDS))
    assert (corpus.report.reading.documents, corpus.report.reading.empty) == (4, 1)
    assert corpus.report.empty_documents == 1
    assert corpus.report.seconds_splitting > 0


@pytest.mark.parametrize("kind", KINDS[1:])
def test_standard_input_of_every_text_format(kind, tmp_path, monkeypatch):
    data = text_file(tmp_path, kind).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    np.testing.assert_array_equal(read_corpus("-").counts.toarray(), count_words(TEXTS).counts.toarray())


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_are_the_corpus_in_parts(kind, tmp_path):
    file = text_file(tmp_path, kind)
    vocabulary = ("be", "question", "unseen")
    whole = read_corpus(file, vocabulary=vocabulary)
    blocks = list(read_blocks(file, vocabulary=vocabulary, documents=3))
    assert [len(block) for block in blocks] == [3, 1]
    np.testing.assert_array_equal(stack(blocks).counts.toarray(), whole.counts.toarray())


@pytest.mark.parametrize("name", ["docword.x.txt", "x.ldac", "x.mtx", "x.npz"])
@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_blocks_of_counts_are_the_corpus_in_parts(name, size, tmp_path, monkeypatch):
    monkeypatch.setattr("polyad.corpus.formats.integers.BLOCK_BYTES", 40)
    rng = np.random.default_rng(1)
    counts = rng.poisson(0.4, (20, 6)) * (rng.random((20, 1)) < 0.7)
    words = [f"w{number}" for number in range(6)]
    write_corpus(make_corpus(counts, words, [f"d{number}" for number in range(20)]), tmp_path / name)
    vocabulary = [*reversed(words), "new"]
    whole = read_corpus(tmp_path / name, vocabulary=vocabulary)
    blocks = list(read_blocks(tmp_path / name, vocabulary=vocabulary, documents=size))
    assert all(len(block) <= size for block in blocks)
    again = stack(blocks)
    assert again.ids == whole.ids
    np.testing.assert_array_equal(again.counts.toarray(), whole.counts.toarray())


def test_blocks_of_counts_out_of_order_are_a_sentence(tmp_path):
    (tmp_path / "docword.x.txt").write_text("3\n1\n2\n3 1 1\n1 1 1\n")
    assert len(read_corpus(tmp_path / "docword.x.txt")) == 3
    with pytest.raises(CorpusError, match="document 1 come after those of a later one"):
        list(read_blocks(tmp_path / "docword.x.txt", vocabulary=["0"]))
    (tmp_path / "x.ldac").write_text("1 0:1\n")
    with pytest.raises(CorpusError, match="words is needed"):
        list(read_blocks(tmp_path / "x.ldac", vocabulary=["0"]))


def test_options_choose_words_of_counts_only_if_given(tmp_path):
    write_corpus(make_corpus([[3, 1], [2, 0]], ["the", "x"]), tmp_path / "x.mtx")
    assert read_corpus(tmp_path / "x.mtx").vocabulary == ("the", "x")
    assert read_corpus(tmp_path / "x.mtx", TextOptions(stop_words=["the"])).vocabulary == ("x",)


def test_counts_are_put_in_the_order_of_a_vocabulary(tmp_path):
    write_corpus(make_corpus([[3, 1]], ["b", "a"]), tmp_path / "x.mtx")
    assert read_corpus(tmp_path / "x.mtx", vocabulary=["a", "b"]).counts.toarray().tolist() == [[1, 3]]


def test_a_vocabulary_in_another_place(tmp_path):
    write_corpus(make_corpus([[3, 1]]), tmp_path / "x.mtx")
    (tmp_path / "words").write_text("b\r\na")
    corpus = read_corpus(tmp_path / "x.mtx", reading=ReadOptions(vocabulary_file=str(tmp_path / "words")))
    assert corpus.vocabulary == ("b", "a")
    with pytest.raises(CorpusError, match="no such file"):
        read_corpus(tmp_path / "x.mtx", reading=ReadOptions(vocabulary_file=str(tmp_path / "absent")))


def test_progress_is_told_with_the_share(tmp_path, monkeypatch):
    monkeypatch.setattr("polyad.corpus.words.counting.CHUNK_CHARACTERS", 10)
    told = []
    read_corpus(text_file(tmp_path, "jsonl"), progress=lambda done, share: told.append((done, share)))
    assert [done for done, _ in told] == [1, 3, 4]
    assert all(0 < share <= 1 for _, share in told)
    write_corpus(make_corpus([[1]]), tmp_path / "x.mtx")
    read_corpus(tmp_path / "x.mtx", progress=lambda done, share: told.append((done, share)))
    assert told[-1] == (1, 1.0)


def test_an_input_without_documents_is_a_sentence(tmp_path):
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "a.jsonl").write_text("broken\n")
    (tmp_path / "x.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n0 3 0\n")
    for name in ("a.txt", "x.mtx"):
        with pytest.raises(CorpusError, match="no documents"):
            read_corpus(tmp_path / name)
        assert len(read_corpus(tmp_path / name, vocabulary=["a", "b", "c"])) == 0
    with pytest.raises(CorpusError, match="1 bad record skipped"):
        read_corpus(tmp_path / "a.jsonl", reading=ReadOptions(skip_bad=True))


def test_bad_records_are_in_the_report(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "fine"}\nbroken\n')
    report = read_corpus(tmp_path / "a.jsonl", reading=ReadOptions(skip_bad=True)).report
    assert report.reading.bad == 1
    assert "bad records skipped: 1" in str(report)
    assert "a.jsonl, line 2" in str(report)


def test_the_papers_own_corpus():
    if not (DATA / "ap").is_dir():
        pytest.skip("the Associated Press corpus is not in ../shared/data")
    corpus = read_corpus(DATA / "ap" / "ap.dat.gz")
    assert corpus.shape == (2246, 10473)
    assert corpus.report.tokens == 435838
    assert corpus.counts.nnz == 302031
    assert corpus.vocabulary[:3] == ("i", "new", "percent")
