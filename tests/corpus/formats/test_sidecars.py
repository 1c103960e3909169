"""Files of words and of ids beside a count file, and columns beside texts."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyad.corpus import CorpusError, ReadOptions
from polyad.corpus.formats.columns import read_column
from polyad.corpus.formats.sidecars import find_ids, find_vocabulary, names_bytes, read_names, sidecar_names


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("docword.nips.txt", ("vocab.nips.txt", "docword.nips.vocab.txt", "docword.nips.vocab", "vocab.txt")),
        ("x/ap.dat.zst", ("ap.vocab.txt", "ap.vocab", "vocab.txt")),
        ("plain", ("plain.vocab.txt", "plain.vocab", "vocab.txt")),
    ],
)
def test_names_of_the_files_beside(path, names):
    assert sidecar_names(path, "vocab") == names


@pytest.mark.parametrize("packed", ["", ".gz", ".xz"])
def test_the_best_name_is_found_first(tmp_path, packed):
    counts = tmp_path / "a.mtx.gz"
    counts.touch()
    assert find_vocabulary(counts) is None
    for name in ("vocab.txt", "a.vocab", "a.vocab.txt"):  # each better than the one before
        (tmp_path / f"{name}{packed}").touch()
        assert find_vocabulary(counts).name == f"{name}{packed}"
    (tmp_path / "ids.txt").touch()
    assert find_ids(counts) is None  # may be of anything
    (tmp_path / "a.ids.txt").touch()
    assert find_ids(counts).name == "a.ids.txt"
    assert find_vocabulary(tmp_path / "vocab.txt") != tmp_path / "vocab.txt"


NAMES = st.lists(st.text("abé \t'\"", max_size=5), max_size=6)


@given(NAMES)
@settings(max_examples=40, deadline=None)
def test_names_come_back(tmp_path_factory, names):
    path = tmp_path_factory.mktemp("names") / "vocab.txt"
    path.write_bytes(names_bytes(names, path))
    assert read_names(path) == tuple(names)


@pytest.mark.parametrize("name", ["a\nb", "a\r", "\n"])
def test_names_with_line_breaks_are_told(tmp_path, name):
    with pytest.raises(CorpusError, match="has a line break, and cannot stand in a list of one per line"):
        names_bytes(["good", name], tmp_path / "v")


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b"a\nb", ("a", "b")),
        (b"a\r\nb\r\n", ("a", "b")),
        (b"\xef\xbb\xbfa\n", ("a",)),
        (b"", ()),
        (b"\n\n", ("", "")),
    ],
)
def test_lists_of_names_as_people_have_them(tmp_path, data, names):
    (tmp_path / "v").write_bytes(data)
    (tmp_path / "v.gz").write_bytes(gzip.compress(data))
    assert read_names(tmp_path / "v") == names
    assert read_names(tmp_path / "v.gz") == names


def test_lists_that_cannot_be_are_told(tmp_path):
    path = tmp_path / "v"
    path.write_bytes(b"caf\xe9\n")
    with pytest.raises(CorpusError, match="v"):
        read_names(path)
    path.write_bytes(gzip.compress(b"\n" * 10**6))
    with pytest.raises(CorpusError, match="names that are read; if this is right, raise max_announced"):
        read_names(path, ReadOptions(max_announced=10))


ROWS = [{"text": "one", "year": 1990, "party": "a"}, {"text": "two"}, {"text": "three", "year": "1992"}]


def write_table(folder, ending):
    path = folder / f"t{ending}"
    if ending == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    else:
        gap = "," if ending == ".csv" else "\t"
        lines = [gap.join(["text", "year", "party"])]
        lines += [gap.join(str(row.get(name, "")) for name in ("text", "year", "party")) for row in ROWS]
        path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".tsv"])
def test_a_column_beside_the_text(tmp_path, ending):
    path = write_table(tmp_path, ending)
    assert list(read_column(path, "year")) == ["1990", "", "1992"]
    assert list(read_column(path, "party")) == ["a", "", ""]


def test_columns_that_are_not_there_are_told(tmp_path):
    path = write_table(tmp_path, ".csv")
    with pytest.raises(CorpusError, match="name one of these"):
        list(read_column(path, "month"))
    with pytest.raises(CorpusError, match="no document has anything in a column 'month'; name another"):
        list(read_column(write_table(tmp_path, ".jsonl"), "month"))
    with pytest.raises(CorpusError, match="this is a folder, whose files have no column 'year'; give a table"):
        list(read_column(tmp_path, "year"))
    (tmp_path / "a.txt").write_text("one line\nand another\n")
    with pytest.raises(CorpusError, match=r"a file of this format \(lines\) has no column 'year'; give a table"):
        list(read_column(tmp_path / "a.txt", "year"))
