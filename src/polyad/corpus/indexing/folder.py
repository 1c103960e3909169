"""A corpus in a folder of shards: words, ids and how it came to be, beside the counts."""

import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyad.base.items import Items
from polyad.corpus.corpus import Corpus
from polyad.corpus.documents import CorpusError, ReadReport
from polyad.corpus.indexing.chunks import unpacked
from polyad.corpus.report import CorpusReport, Dropped
from polyad.corpus.words.tokens import TextOptions
from polyad.engine.disk.shards import MANIFEST, Shards, checksum

DESCRIPTION = "corpus.json"
WORDS, IDS, ID_ENDS = "vocabulary.txt", "ids.npy", "id-ends.npy"
FORMAT, VERSION = "polyad-corpus", 1


def is_indexed(path: str | os.PathLike[str]) -> bool:
    """Tell whether there is a folder of shards at a path."""
    return os.fspath(path) != "-" and (Path(path) / MANIFEST).is_file()


class Ids(Sequence[str]):
    """Names of documents that lie in a file, read as they are asked for."""

    def __init__(self, raw: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self._raw, self._ends = raw, ends

    def __len__(self) -> int:
        return int(self._ends.size)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            first, last, step = place.indices(len(self))
            if step != 1:
                return tuple(self[at] for at in range(first, last, step))
            begin = int(self._ends[first - 1]) if first else 0
            ends = np.asarray(self._ends[first:last])
            return tuple(unpacked(np.asarray(self._raw[begin : int(ends[-1])]), ends - begin)) if ends.size else ()
        at = range(len(self))[place]
        return self[at : at + 1][0]


class Numbers(Items[str]):
    """Names of documents that are their numbers in the input."""

    def __init__(self, numbers: NDArray[np.int64] | range) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def item(self, place: int) -> str:
        """Return the name of a document."""
        return str(self._numbers[place])


class IndexedCorpus:
    r"""A folder of shards with its words, for models and commands in the place of a corpus in memory.

    Only the words are read into memory; counts and ids stay on disk.

    Parameters
    ----------
    path
        A folder that :func:`polyad.corpus.index` made, or one of counts alone from
        :func:`polyad.engine.write_shards`.

    Attributes
    ----------
    counts
        The shards, a source for any model.
    report
        How the corpus came to be.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polyad.corpus import index
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("the rain and the wind\nthe wind and the sea\n")
    >>> corpus = index(folder / "a.txt", folder / "a.shards")
    >>> corpus, corpus.vocabulary
    (IndexedCorpus(2 documents, 3 words, 4 tokens), ('rain', 'sea', 'wind'))
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.counts = Shards(path)
        self.path = self.counts.path
        self._description = _read(self.path)
        self.report = report_from(self._description["report"]) if self._description else CorpusReport()
        if not self._description:
            self.report = replace(self.report, documents=self.counts.n_rows)

    @cached_property
    def words(self) -> tuple[str, ...] | None:
        """The word of each column; None where the counts came without."""
        if WORDS not in self._files:
            return None
        words = tuple(self._checked(WORDS).read_text(encoding="utf-8").split("\n")[:-1])
        if len(words) != self.counts.n_columns:
            raise CorpusError(
                f"there are {len(words):,} words, and {self.counts.n_columns:,} columns in the shards; index again",
                path=str(self.path / WORDS),
            )
        return words

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The word of each column; its number where no words are known."""
        return tuple(map(str, range(self.counts.n_columns))) if self.words is None else self.words

    @cached_property
    def ids(self) -> Sequence[str]:
        """The name of each document, in the order of the shards; its number in the input where it has none."""
        if IDS in self._files:
            return Ids(*(np.load(self._checked(name), mmap_mode="r", allow_pickle=False) for name in (IDS, ID_ENDS)))
        numbers = self.counts.row_numbers()
        return Numbers(range(self.counts.n_rows) if numbers is None else numbers)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of documents and of words."""
        return self.counts.shape

    @property
    def numbered(self) -> bool:
        """Whether the words are only the numbers of their columns."""
        return self.words is None

    @property
    def n_bytes(self) -> int:
        """The size of all files."""
        return sum(file.stat().st_size for file in self.path.iterdir())

    def __len__(self) -> int:
        return self.counts.n_rows

    def __repr__(self) -> str:
        return f"IndexedCorpus({len(self)} documents, {self.shape[1]} words, {self.report.tokens} tokens)"

    def blocks(self) -> Iterator[Corpus]:
        """Yield the documents block after block, in the order of the shards."""
        for block in self.counts:
            rows = block.rows
            counts = csr_array((_whole(rows.data), rows.indices, rows.indptr), shape=rows.shape)
            ids = self.ids[block.start : block.start + block.n_rows]
            report = replace(self.report, documents=len(ids), tokens=int(rows.data.sum()), dropped={})
            yield Corpus(counts, self.vocabulary, tuple(ids), report)

    def verify(self) -> None:
        """Read everything and compare it with the sums that were written; the first damaged file is named."""
        self.counts.verify()
        for name in self._files:
            self._checked(name)

    @property
    def _files(self) -> Mapping[str, int]:
        return self._description.get("files", {})

    def _checked(self, name: str) -> Path:
        file = self.path / name
        try:
            found = checksum(file)
        except FileNotFoundError:
            raise CorpusError("the file is missing; index the corpus again", path=str(file)) from None
        if found != self._files[name]:
            raise CorpusError(
                "the file is damaged: it is not what was written there; index the corpus again", path=str(file)
            )
        return file


def _whole(counts: NDArray[np.float64]) -> NDArray[Any]:
    """Return counts as whole numbers; as they are where they are fractions, or too large for it."""
    with np.errstate(invalid="ignore"):
        whole = counts.astype(np.int32)
    return whole if np.array_equal(whole, counts) else counts


def write_description(
    folder: Path, report: CorpusReport, words: Sequence[str] | None, ids: tuple[NDArray[Any], NDArray[Any]] | None
) -> None:
    """Write words, ids and the report into a folder of shards."""
    files: dict[str, int] = {}
    if words is not None:
        (folder / WORDS).write_text("".join(f"{word}\n" for word in words), encoding="utf-8", newline="\n")
        files[WORDS] = 0
    if ids is not None:
        for name, array in zip((IDS, ID_ENDS), ids):
            np.save(folder / name, array, allow_pickle=False)
            files[name] = 0
    files = {name: checksum(folder / name) for name in files}
    content = {"format": FORMAT, "version": VERSION, "files": files, "report": plain_report(report)}
    text = json.dumps(content, indent=1)
    (folder / DESCRIPTION).write_text(_with_sum(text), encoding="utf-8")


def _with_sum(text: str) -> str:
    return f"{text}\n{zlib.crc32(text.encode()):08x}\n"


def _read(folder: Path) -> dict[str, Any]:
    file = folder / DESCRIPTION
    try:
        raw = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}  # counts without words
    except ValueError:
        raw = ""
    text = raw[: raw[:-1].rfind("\n")] if raw.count("\n") > 1 else ""
    if not text or _with_sum(text) != raw:
        raise CorpusError("the file is damaged; index the corpus again", path=str(file))
    content: dict[str, Any] = json.loads(text)
    if content.get("format") != FORMAT or content.get("version") != VERSION:
        raise CorpusError(
            f"this is version {content.get('version')} of {content.get('format')}, and this polyad reads version "
            f"{VERSION} of {FORMAT}; index the corpus again",
            path=str(file),
        )
    return content


def plain_report(report: CorpusReport) -> dict[str, Any]:
    """Return a report as plain JSON values, without times."""
    plain = asdict(replace(report, options=None, seconds_reading=0.0, seconds_splitting=0.0))
    plain["options"] = None if report.options is None else report.options.to_dict()
    return plain


def report_from(plain: Mapping[str, Any]) -> CorpusReport:
    """Return a report from what :func:`plain_report` gave."""
    values = dict(plain)
    values["dropped"] = {
        reason: Dropped(drop["words"], drop["tokens"], tuple(drop["examples"]))
        for reason, drop in values["dropped"].items()
    }
    values["duplicate_examples"] = tuple(values["duplicate_examples"])
    values["languages"] = tuple((name, documents) for name, documents in values.get("languages", ()))
    if values["reading"] is not None:
        reading: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values["reading"].items()
        }
        values["reading"] = ReadReport(**reading)
    if values["options"] is not None:
        values["options"] = TextOptions.from_dict(values["options"])
    return CorpusReport(**values)
