"""Files that are not ours: inputs, neighbours, links, pipes and devices are what they were before."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from polyad.corpus import atomic_write, make_corpus, read_corpus, write_corpus
from polyad.corpus.formats.writers import OtherListError
from polyad.io import load

COMMAND = [sys.executable, "-m", "polyad.cli"]


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


@pytest.fixture
def here(tmp_path, monkeypatch, corpus, model):
    """A folder with a corpus and a model, in which commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_bytes(Path(corpus).read_bytes())
    (tmp_path / "m.polyad").write_bytes(Path(model).read_bytes())
    (tmp_path / "stop.txt").write_text("the\nand\n")
    (tmp_path / "texts").mkdir()
    for number in range(6):
        (tmp_path / "texts" / f"{number}.txt").write_text("the rain and the wind of the sea")
    return tmp_path


@pytest.mark.parametrize(
    "call",
    [
        "fit a.csv -k 2 -o a.csv",
        "fit a.csv -k 2 -o ./texts/../a.csv",
        "fit a.csv -k 2 -o link.csv",
        "fit a.csv -k 2 --stop-words stop.txt -o stop.txt",
        "fit texts -k 2 -o texts/0.txt",
        "fit2 a.csv a.csv -k 2 -o a.csv",
        "transform m.polyad a.csv -o a.csv",
        "transform m.csv a.csv -o m.csv",
        "convert a.csv a.csv --to uci",
        "convert own.vocab.txt own.mtx --format lines",
        "fit counts.mtx -k 2 -o counts.vocab.txt",
    ],
)
def test_what_is_read_is_never_written_over(polyad, here, call):
    (here / "link.csv").symlink_to("a.csv")
    (here / "m.csv").write_bytes((here / "m.polyad").read_bytes())
    (here / "own.vocab.txt").write_text("the rain\nthe wind\n")
    write_corpus(make_corpus(np.eye(6, dtype=int), list("abcdef")), here / "counts.mtx")
    before, texts = contents(here), contents(here / "texts")
    done = polyad(*call.split())
    assert done.code == 2, done.err
    assert "is read by this very command" in done.err
    assert (contents(here), contents(here / "texts")) == (before, texts)


def test_standard_input_is_not_written_over(here):
    before = contents(here)
    with open("a.csv", "rb") as file:
        done = subprocess.run([*COMMAND, "transform", "m.polyad", "-", "-o", "a.csv"], stdin=file, capture_output=True)
    assert done.returncode == 2
    assert contents(here) == before


def test_a_file_in_the_folder_that_is_not_read_may_be_written(polyad, here):
    call = ["fit", "texts", "-k", "1", "--pattern", "*.txt", "-o", "texts/m.polyad", "--json"]
    assert polyad(*call).code == 0
    assert polyad(*call).code == 0


@pytest.mark.parametrize("call", ["fit a.csv -k 2 -o -", "fit2 a.csv a.csv -k 2 -o -", "convert a.csv - --to uci"])
def test_a_dash_is_no_file(polyad, here, call):
    done = polyad(*call.split())
    assert done.code == 2
    assert "give the name of a file" in done.err
    assert not (here / "-").exists()


def test_a_link_is_followed_and_stays(polyad, here):
    (here / "real").mkdir()
    (here / "old.polyad").symlink_to("real/old.polyad")
    (here / "new.polyad").symlink_to("real/new.polyad")
    (here / "real" / "old.polyad").write_bytes(b"old")
    (here / "real" / "old.polyad").chmod(0o600)
    for name in ("old.polyad", "new.polyad"):
        assert polyad("fit", "a.csv", "-k", 2, "-o", name).code == 0
        assert (here / name).is_symlink()
        assert load(here / "real" / name).n_components == 2
    assert stat.S_IMODE((here / "real" / "old.polyad").stat().st_mode) == 0o600
    assert not [file for file in (here / "real").iterdir() if file.name.endswith(".part")]


def test_a_pipe_gets_the_bytes_of_a_file(polyad, here):
    polyad("fit", "a.csv", "-k", 2, "-o", "file.polyad", "-q")
    os.mkfifo("pipe.polyad")
    got = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe.polyad").read_bytes()))
    reader.start()
    assert polyad("fit", "a.csv", "-k", 2, "-o", "pipe.polyad", "-q").code == 0
    reader.join(30)
    assert stat.S_ISFIFO(os.stat("pipe.polyad").st_mode)
    assert got == [Path("file.polyad").read_bytes()]


def test_a_device_stays_a_device(polyad, here):
    (here / "null.csv").symlink_to(os.devnull)
    assert polyad("transform", "m.polyad", "a.csv", "-o", "null.csv").code == 0
    assert polyad("convert", "a.csv", "null.csv", "--to", "uci").code == 0
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert (here / "null.csv").is_symlink()
    assert not (here / "null.vocab.txt").exists()


def test_a_name_that_is_too_long_is_told_before_the_work(polyad, here, monkeypatch):
    def never(*_):
        raise AssertionError("the work was done in vain")

    monkeypatch.setattr("polyad.models.topics.lda.LDA.fit", never)
    done = polyad("fit", "a.csv", "-k", 2, "-o", "x" * 300)
    assert done.code == 1
    assert "file name too long" in done.err
    assert len(done.err) < 200
    longest = "x" * 248 + ".csv"
    assert polyad("transform", "m.polyad", "a.csv", "-o", longest).code == 0
    assert polyad("convert", "a.csv", "x" * 248 + ".mtx").code == 1, "its words would need a longer name"
    assert "file name too long" in polyad("convert", "a.csv", "x" * 248 + ".mtx").err


def test_lists_of_others_beside_the_counts_are_left_alone(polyad, here):
    save_npz("counts.npz", csr_array(np.eye(5, dtype=int)))
    Path("x.vocab.txt").write_text("precious\nwords\n")
    Path("x.ids.txt").write_text("precious\nids\n")
    before = contents(here)
    for source in ("counts.npz", "a.csv"):
        done = polyad("convert", source, "x.mtx")
        assert done.code == 1
        assert "--force replaces it" in done.err
        assert contents(here) == before
    assert polyad("convert", "counts.npz", "x.mtx", "--force").code == 0
    again = read_corpus("x.mtx")
    assert again.vocabulary == again.ids == tuple("01234"), "numbers are written where other words would be read"
    # A vocab.txt of the whole folder is no list of these counts either.
    Path("vocab.txt").write_text("precious\nwords\nof\nthe\nfolder\n")
    assert polyad("convert", "counts.npz", "y.mtx", "--vocabulary", "none").code == 0
    assert read_corpus("y.mtx").vocabulary == tuple("01234")
    assert Path("vocab.txt").read_text() == "precious\nwords\nof\nthe\nfolder\n"


def test_counts_are_converted_beside_themselves(polyad, here):
    assert polyad("convert", "a.csv", "x.mtx").code == 0
    assert polyad("convert", "x.mtx", "x.npz").code == 0
    assert read_corpus("x.npz").vocabulary == read_corpus("x.mtx").vocabulary
    before = contents(here)
    assert polyad("convert", "x.mtx", "x.npz", "--min-df", 3).code == 1
    assert polyad("convert", "x.mtx", "x.npz", "--min-df", 3, "--force").code == 2
    assert contents(here) == before


OLD = make_corpus([[1, 2], [3, 4]], ["a", "b"], ["old", "older"])
NEW = make_corpus([[5, 6, 7]], ["c", "d", "e"], ["new"])


@pytest.mark.parametrize("at", range(3))
def test_files_that_belong_together_change_together_or_not_at_all(tmp_path, monkeypatch, at):
    write_corpus(OLD, tmp_path / "x.mtx")
    before = contents(tmp_path)
    real, calls = os.replace, []

    def failing(source, target):
        calls.append(target)
        if len(calls) == at + 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(source, target)

    monkeypatch.setattr("polyad.base.atomic.os.replace", failing)
    with pytest.raises(OSError, match="No space left"):
        write_corpus(NEW, tmp_path / "x.mtx", overwrite=True)
    assert contents(tmp_path) == before
    calls.clear()
    with pytest.raises(OSError, match="No space left"):
        write_corpus(NEW, tmp_path / "y.mtx")
    assert contents(tmp_path) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_the_files_waits_for_the_last(tmp_path, monkeypatch, number):
    write_corpus(OLD, tmp_path / "x.mtx")
    real = os.replace

    def interrupted(source, target):
        real(source, target)
        signal.raise_signal(number)

    def stop(*_):
        raise SystemExit(128)

    monkeypatch.setattr("polyad.base.atomic.os.replace", interrupted)
    before = signal.signal(signal.SIGTERM, stop)
    try:
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            write_corpus(NEW, tmp_path / "x.mtx", overwrite=True)
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGTERM, before)
    assert read_corpus(tmp_path / "x.mtx").ids == ("new",)
    assert sorted(contents(tmp_path)) == ["x.ids.txt", "x.mtx", "x.vocab.txt"]


def test_a_full_disk_in_the_last_file_leaves_the_first_ones(tmp_path, monkeypatch):
    write_corpus(OLD, tmp_path / "x.mtx")
    before = contents(tmp_path)

    def full(counts, out):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setitem(write_corpus.__globals__["WRITTEN_FORMATS"], "mtx", full)
    with pytest.raises(OSError, match="No space left"):
        write_corpus(NEW, tmp_path / "x.mtx", overwrite=True)
    assert contents(tmp_path) == before


WRITER = """
import sys
from polyad.corpus import make_corpus, write_corpus
name, count = sys.argv[1:]
for _ in range(int(count)):
    words = None if name == "z" else [f"{name}{n}" for n in range(2000)]
    write_corpus(make_corpus([[ord(name)] * 2000], words, [name]), "x.ldac", overwrite=True)
"""


def test_two_writers_at_once_never_mix(tmp_path):
    """Whoever is last, words, ids and counts are of one corpus."""
    command = [sys.executable, "-c", WRITER]
    writers = [subprocess.Popen([*command, name, "10"], cwd=tmp_path, stderr=subprocess.PIPE) for name in "ab"]
    errors = [writer.communicate(timeout=60)[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0], errors
    found = read_corpus(tmp_path / "x.ldac")
    assert {found.vocabulary[0][0], found.ids[0]} == {chr(found.counts.data[0])}
    assert sorted(contents(tmp_path)) == ["x.ids.txt", "x.ldac", "x.vocab.txt"]


def test_a_list_that_comes_meanwhile_is_seen(tmp_path, monkeypatch):
    def slow(counts, out):
        (tmp_path / "x.vocab.txt").write_text("of\nanother\n")

    monkeypatch.setitem(write_corpus.__globals__["WRITTEN_FORMATS"], "mtx", slow)
    for overwrite in (False, True):
        (tmp_path / "x.vocab.txt").unlink(missing_ok=True)
        with pytest.raises(OtherListError, match="words of other counts"):
            write_corpus(make_corpus([[1, 2]]), tmp_path / "x.mtx", overwrite=overwrite)
        assert list(contents(tmp_path)) == ["x.vocab.txt"]


def test_a_file_that_only_just_has_room_for_its_name(tmp_path):
    with atomic_write(tmp_path / ("é" * 127)) as out:
        out.write(b"x")
    assert [file.name for file in tmp_path.iterdir()] == ["é" * 127]
