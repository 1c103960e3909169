"""Documents in: text and count files to a corpus of word counts, and counts out again.

`CorpusSource` is data for a model wherever they are; `read_corpus` reads anything; `count_words` counts texts that are
in memory already; `DocumentReader` gives the texts themselves.
"""

from typing import TYPE_CHECKING

from polyad.base.lazy import lazily

if TYPE_CHECKING:
    from polyad.base.atomic import atomic_write
    from polyad.corpus.convert import from_anndata, from_gensim, to_anndata, to_gensim
    from polyad.corpus.corpus import Corpus, align_vocabulary, make_corpus, stack
    from polyad.corpus.documents import CorpusError, Document, ReadReport
    from polyad.corpus.formats.options import ReadOptions
    from polyad.corpus.formats.recognise import FORMATS, Format, is_counts, recognise
    from polyad.corpus.formats.text import DocumentReader
    from polyad.corpus.formats.writers import write_corpus
    from polyad.corpus.indexing.folder import IndexedCorpus
    from polyad.corpus.indexing.index import index
    from polyad.corpus.reading import read_blocks, read_corpus
    from polyad.corpus.report import CorpusReport, Dropped
    from polyad.corpus.source import CorpusSource
    from polyad.corpus.words.choices import TOPIC_WORDS, default_min_df, find_language
    from polyad.corpus.words.counting import count_words
    from polyad.corpus.words.filtering import filter_words
    from polyad.corpus.words.languages import StopWords, load_stop_words
    from polyad.corpus.words.tokens import TextOptions, split_words, word_pattern

__all__ = [
    "FORMATS",
    "TOPIC_WORDS",
    "Corpus",
    "CorpusError",
    "CorpusReport",
    "CorpusSource",
    "Document",
    "DocumentReader",
    "Dropped",
    "Format",
    "IndexedCorpus",
    "ReadOptions",
    "ReadReport",
    "StopWords",
    "TextOptions",
    "align_vocabulary",
    "atomic_write",
    "count_words",
    "default_min_df",
    "filter_words",
    "find_language",
    "from_anndata",
    "from_gensim",
    "index",
    "is_counts",
    "load_stop_words",
    "make_corpus",
    "read_blocks",
    "read_corpus",
    "recognise",
    "split_words",
    "stack",
    "to_anndata",
    "to_gensim",
    "word_pattern",
    "write_corpus",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "polyad.base.atomic": ("atomic_write",),
        "polyad.corpus.convert": ("from_anndata", "from_gensim", "to_anndata", "to_gensim"),
        "polyad.corpus.corpus": ("Corpus", "align_vocabulary", "make_corpus", "stack"),
        "polyad.corpus.documents": ("CorpusError", "Document", "ReadReport"),
        "polyad.corpus.formats.options": ("ReadOptions",),
        "polyad.corpus.formats.recognise": ("FORMATS", "Format", "is_counts", "recognise"),
        "polyad.corpus.formats.text": ("DocumentReader",),
        "polyad.corpus.formats.writers": ("write_corpus",),
        "polyad.corpus.indexing.folder": ("IndexedCorpus",),
        "polyad.corpus.indexing.index": ("index",),
        "polyad.corpus.reading": ("read_blocks", "read_corpus"),
        "polyad.corpus.report": ("CorpusReport", "Dropped"),
        "polyad.corpus.source": ("CorpusSource",),
        "polyad.corpus.words.choices": ("TOPIC_WORDS", "default_min_df", "find_language"),
        "polyad.corpus.words.counting": ("count_words",),
        "polyad.corpus.words.filtering": ("filter_words",),
        "polyad.corpus.words.languages": ("StopWords", "load_stop_words"),
        "polyad.corpus.words.tokens": ("TextOptions", "split_words", "word_pattern"),
    },
)
