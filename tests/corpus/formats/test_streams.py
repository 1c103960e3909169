"""Compression, pipes and damage."""

import gzip
import io
import os
import sys
import threading

import pytest

from polyad.corpus.documents import CorpusError
from polyad.corpus.formats.streams import open_stream, seekable

zstandard = pytest.importorskip("zstandard")

TEXT = b"".join(b"line %d of some text\n" % number for number in range(50_000))


def packed(kind):
    if kind == "gzip":
        return gzip.compress(TEXT)
    if kind == "zstd":
        return zstandard.ZstdCompressor().compress(TEXT)
    if kind == "zstd frames":
        compress = zstandard.ZstdCompressor().compress
        return compress(TEXT[:1000]) + compress(TEXT[1000:])
    if kind == "gzip members":
        return gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:])
    return TEXT


@pytest.mark.parametrize("kind", ["plain", "gzip", "gzip members", "zstd", "zstd frames"])
def test_all_bytes_come_out_and_the_fraction_reaches_one(kind, tmp_path):
    file = tmp_path / "anything"
    file.write_bytes(packed(kind))
    with open_stream(file) as stream:
        assert stream.compression == (None if kind == "plain" else kind.split()[0])
        assert TEXT.startswith(stream.sample()[:100])
        assert stream.reader.read() == TEXT
        assert stream.fraction() == 1.0


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_file_cut_short_is_never_taken_for_a_whole_one(kind, tmp_path):
    whole = packed(kind)
    for length in (20, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut").write_bytes(whole[:length])
        with open_stream(tmp_path / "cut") as stream, pytest.raises(CorpusError, match="damaged or cut short"):
            stream.reader.read()


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_damage_inside_is_a_sentence(kind, tmp_path):
    whole = bytearray(packed(kind))
    whole[len(whole) // 2 : len(whole) // 2 + 50] = b"\xff" * 50
    (tmp_path / "damaged").write_bytes(whole)
    with open_stream(tmp_path / "damaged") as stream, pytest.raises(CorpusError, match="damaged"):
        stream.reader.read()


def test_standard_input_is_read_through_compression(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed("gzip"))))
    with open_stream("-") as stream:
        assert stream.name == "standard input"
        assert stream.fraction() is None
        assert stream.reader.read() == TEXT


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_slow_pipe_is_looked_into_far_enough(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def trickle():
        with open(pipe, "wb", buffering=0) as out:
            for byte in packed("gzip")[:3]:
                out.write(bytes([byte]))
            out.write(packed("gzip")[3:])

    writer = threading.Thread(target=trickle)
    writer.start()
    with open_stream(pipe) as stream:
        assert stream.compression == "gzip"
        assert stream.reader.read() == TEXT
    writer.join()


@pytest.mark.parametrize("kind", ["plain", "gzip"])
def test_formats_that_jump_about_get_a_file(kind, tmp_path):
    (tmp_path / "a").write_bytes(packed(kind))
    with open_stream(tmp_path / "a") as stream, seekable(stream) as file:
        file.seek(-5, os.SEEK_END)
        assert file.read() == TEXT[-5:]


def test_what_cannot_be_opened_is_a_sentence(tmp_path):
    for path in (tmp_path / "absent", tmp_path, "nul\0byte"):
        with pytest.raises(CorpusError), open_stream(path):
            pass


def test_zstd_without_its_library_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "a.zst").write_bytes(packed("zstd"))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(CorpusError, match="pip install"), open_stream(tmp_path / "a.zst"):
        pass
