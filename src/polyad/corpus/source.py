"""A corpus to be read: where it is, how to read it, and which words to keep; small enough to be sent anywhere."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace

from polyad.corpus.corpus import Corpus, align_vocabulary, stack
from polyad.corpus.documents import CorpusError
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.indexing.folder import IndexedCorpus, is_indexed
from polyad.corpus.reading import ReadProgress, read_blocks, read_corpus
from polyad.corpus.words.choices import TOPIC_WORDS
from polyad.corpus.words.tokens import TextOptions


@dataclass(frozen=True)
class CorpusSource:
    r"""A folder, a file of text or counts, or standard input, as data for a model.

    Fitting reads it once and chooses words as ``polyad fit`` does: the same folder gives the same model. A fitted
    model counts new text over its own words, split as its own was, whatever the options of the source say. Nothing
    is read before it is needed and nothing is kept: each use reads the input anew (standard input has one use).

    Iterating gives blocks of counts, `Corpus` after `Corpus`.

    Parameters
    ----------
    path
        What to read; the format is recognised. ``-`` is standard input. A folder of shards (see `index`) has its
        words and its order of documents already.
    options
        How to split text and which words to keep. The default drops the stop words of the language that is found in
        the text, and words in few documents; None keeps all words.
    reading
        How to read the file: format, columns, encoding, bad lines.
    vocabulary
        Count these words only, in this order.
    n_jobs
        Processes for splitting; see `count_words`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polyad import LDA
    >>> from polyad.corpus import CorpusSource
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> texts = ["my cat likes the dog and the dog likes the cat", "the vet saw a dog and two cats and a cat",
    ...          "stocks and bonds fell, and bonds fell most", "the market for stocks and bonds and more stocks"]
    >>> for number in range(100):
    ...     _ = (folder / f"{number}.txt").write_text(texts[number % 4])
    >>> source = CorpusSource(folder)
    >>> model = LDA(2).fit(source)
    >>> model.vocabulary_
    ('bonds', 'cat', 'cats', 'dog', 'fell', 'likes', 'market', 'saw', 'stocks', 'vet')
    >>> model.text_options_.stop_words.source, model.text_options_.min_df
    ('english', 2)
    >>> model.transform(source).shape
    (100, 2)
    """

    path: str | os.PathLike[str]
    _: KW_ONLY
    options: TextOptions | None = TOPIC_WORDS
    reading: ReadOptions | None = None
    vocabulary: tuple[str, ...] | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.vocabulary, str):
            raise TypeError("vocabulary must be a list of words, not one text.")
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", tuple(self.vocabulary))

    def over(self, vocabulary: Sequence[str], options: TextOptions | None = None) -> "CorpusSource":
        """Give the same input counted over the words of a model, with its text options.

        Examples
        --------
        >>> CorpusSource("new.csv").over(["rain", "wind"]).vocabulary
        ('rain', 'wind')
        """
        return replace(self, vocabulary=tuple(vocabulary), options=options)

    def corpus(self, progress: ReadProgress | None = None) -> Corpus:
        r"""Read everything, once, and choose the words.

        Parameters
        ----------
        progress
            Called now and then with the number of documents so far, and the share of the input (None if unknown).

        Returns
        -------
        Corpus
            Its report has the options as they were settled, and the language that was found.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp(), "a.txt")
        >>> _ = file.write_text("the rain and the wind\nthe wind and the sea\n")
        >>> corpus = CorpusSource(file).corpus()
        >>> corpus.vocabulary, corpus.report.language
        (('rain', 'sea', 'wind'), 'english')
        """
        if is_indexed(self.path):
            return stack(list(self.blocks(progress=progress)))
        corpus = read_corpus(
            self.path,
            self.options,
            reading=self.reading,
            vocabulary=self.vocabulary,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        if self.vocabulary is None and len(corpus.vocabulary) == 0:
            reasons = (f"{drop.words:,} {reason}" for reason, drop in corpus.report.dropped.items())
            raise CorpusError(
                f"not one word of the {len(corpus):,} documents is left; lower the bound min_df or raise max_df. "
                f"Dropped were: {', '.join(reasons) or 'nothing'}",
                path=_name(self.path),
            )
        return corpus

    def blocks(self, documents: int = 4096, progress: ReadProgress | None = None) -> Iterator[Corpus]:
        """Read block after block of at most so many documents; see `read_blocks`.

        Without a vocabulary the words have to be chosen first: everything is then read before the first block.
        """
        if is_indexed(self.path):
            yield from self._indexed_blocks(progress)
            return
        if self.vocabulary is None:
            whole = self.corpus(progress)
            yield from (whole[start : start + documents] for start in range(0, len(whole), documents))
            return
        yield from read_blocks(
            self.path,
            self.options,
            vocabulary=self.vocabulary,
            reading=self.reading,
            documents=documents,
            n_jobs=self.n_jobs,
            progress=progress,
        )

    def _indexed_blocks(self, progress: ReadProgress | None) -> Iterator[Corpus]:
        """Read the blocks of a folder of shards, whose words were chosen when it was made."""
        indexed, done = IndexedCorpus(self.path), 0
        for block in indexed.blocks():
            yield block if self.vocabulary is None else align_vocabulary(block, self.vocabulary)
            done += len(block)
            if progress is not None:
                progress(done, done / len(indexed))

    def __iter__(self) -> Iterator[Corpus]:
        return self.blocks()

    def __str__(self) -> str:
        return _name(self.path)


def _name(path: str | os.PathLike[str]) -> str:
    return "standard input" if os.fspath(path) == "-" else os.fspath(path)
