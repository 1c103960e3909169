"""The UCI bag of words: three header lines (documents, words, entries), then ``document word count``, from 1."""

from collections.abc import Iterator

from polyad.corpus.documents import CorpusError, Tally
from polyad.corpus.formats.entries import Entries, check_size, numbers_of
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.streams import ByteStream
from polyad.corpus.formats.triples import read_triples


def read_uci(stream: ByteStream, tally: Tally, reading: ReadOptions) -> tuple[tuple[int, int], Iterator[Entries]]:
    """Read the header, and give the shape and the entries, a batch at a time.

    The header may announce more than there is: whoever makes room for it must look at what has come.
    """
    sizes: list[int] = []
    number = 0
    for name in ("documents", "words", "entries"):
        line = b""
        while not line.strip():
            line = stream.reader.readline(1000)
            number += 1
            if not line:
                raise CorpusError(f"the file ends before the number of {name}", path=stream.name, line=number)
        values = numbers_of(line.split())
        if values is None or len(values) != 1:
            raise CorpusError(
                f"the header must be three lines with the numbers of documents, words and entries, "
                f"but the number of {name} is {line.strip()[:40]!r}",
                path=stream.name,
                line=number,
            )
        sizes += values
    n_documents, n_words, n_entries = sizes
    check_size("documents", n_documents, n_entries, stream.name, reading.max_announced)
    check_size("words", n_words, n_entries, stream.name, reading.max_announced)
    shape = (n_documents, n_words)
    return shape, read_triples(stream, tally, shape, n_entries, number, reading.max_document_bytes)
