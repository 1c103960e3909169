"""Files that are whole or not there: alone, together, through links and pipes, and when something goes wrong."""

import os
import signal
import stat
import threading

import pytest

from polyad.base import atomic
from polyad.base.atomic import atomic_write, atomic_writes, is_written_through


def write(path, data):
    with atomic_write(path) as out:
        out.write(data)


def write_all(paths, data):
    with atomic_writes(paths) as outs:
        for out in outs:
            out.write(data)


def test_a_file_takes_its_name_at_the_end(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with atomic_write(path) as out:
        out.write(b"new")
        out.flush()
        assert path.read_bytes() == b"old"
        (part,) = (file for file in tmp_path.iterdir() if file != path)
        assert part.name.startswith(".a.bin.")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_what_was_there_and_nothing_else(tmp_path, error):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def fail():
        with atomic_write(path) as out:
            out.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        write(tmp_path / "none" / "a.bin", b"")
    assert error.value.filename == str(tmp_path / "none" / "a.bin")


def test_a_link_keeps_pointing_where_it_points(tmp_path):
    target, link = tmp_path / "real.bin", tmp_path / "link.bin"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_name_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("n" * 255)
    write(path, b"long")
    assert path.read_bytes() == b"long"


def test_rights_are_those_of_a_plain_open(tmp_path):
    fresh, kept = tmp_path / "fresh", tmp_path / "kept"
    kept.write_bytes(b"")
    kept.chmod(0o640)
    before = os.umask(0o027)
    try:
        write(fresh, b"x")
        write(kept, b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o640
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640
    kept.chmod(0o604)
    write(kept, b"y")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o604


def test_several_files_take_their_names_together_or_not_at_all(tmp_path, monkeypatch):
    paths = [tmp_path / name for name in "abc"]
    paths[0].write_bytes(b"old")
    replace, renamed = os.replace, []

    def failing(source, target):
        if str(target) == str(paths[2]):
            raise OSError("no space")
        renamed.append(str(target))
        replace(source, target)

    monkeypatch.setattr(atomic.os, "replace", failing)
    with pytest.raises(OSError, match="no space"):
        write_all(paths, b"new")
    assert str(paths[1]) in renamed  # b had its name, and gave it back
    assert paths[0].read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [paths[0]]


def test_disks_without_links_give_names_back_as_well(tmp_path, monkeypatch):
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        path.write_bytes(b"old")
    replace = os.replace

    def no_links(*_):
        raise PermissionError("links are not supported")

    def failing(source, target):
        if str(target) == str(paths[1]) and not str(source).endswith(".before"):
            raise OSError("no space")
        replace(source, target)

    monkeypatch.setattr(atomic.os, "link", no_links)
    monkeypatch.setattr(atomic.os, "replace", failing)
    with pytest.raises(OSError, match="no space"), atomic_writes(paths) as outs:
        outs[0].write(b"new")
    assert [path.read_bytes() for path in paths] == [b"old", b"old"]
    assert sorted(tmp_path.iterdir()) == paths


def test_a_check_before_the_names_can_refuse(tmp_path):
    path = tmp_path / "a"
    seen = []

    def check():
        seen.append(path.exists())
        raise FileExistsError("somebody was faster")

    with pytest.raises(FileExistsError), atomic_writes([path], check) as (out,):
        out.write(b"x")
    assert seen == [False]
    assert not list(tmp_path.iterdir())


def test_a_pipe_gets_all_bytes_at_the_end(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert is_written_through(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    with atomic_write(pipe) as out:
        out.write(b"one ")
        out.write(b"two")
        assert not received
    reader.join(timeout=10)
    assert received == [b"one two"]
    assert pipe.is_fifo()


def test_names_of_open_files_are_written_through():
    read, write_end = os.pipe()
    try:
        assert is_written_through(f"/dev/fd/{write_end}")
        write(f"/dev/fd/{write_end}", b"through")
        os.close(write_end)
        assert os.read(read, 100) == b"through"
    finally:
        os.close(read)


def test_a_signal_in_the_last_moment_is_obeyed_after_it(tmp_path, monkeypatch):
    paths = [tmp_path / name for name in "ab"]
    replace = os.replace

    def interrupted(source, target):
        signal.raise_signal(signal.SIGINT)
        replace(source, target)

    monkeypatch.setattr(atomic.os, "replace", interrupted)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        write_all(paths, b"whole")
    assert [path.read_bytes() for path in paths] == [b"whole", b"whole"]
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_write_without_handlers(tmp_path):
    failed = []

    def work():
        try:
            write(tmp_path / "a", b"x")
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failed
    assert (tmp_path / "a").read_bytes() == b"x"
