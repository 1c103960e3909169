"""Documents in: text and count files to a corpus of word counts, and counts out again.

`CorpusSource` is data for a model wherever they are; `read_corpus` reads anything; `count_words` counts texts that are
in memory already; `DocumentReader` gives the texts themselves.
"""

from polyad.corpus.atomic import atomic_write
from polyad.corpus.choices import TOPIC_WORDS, default_min_df, find_language
from polyad.corpus.convert import from_anndata, from_gensim, to_anndata, to_gensim
from polyad.corpus.corpus import Corpus, align_vocabulary, make_corpus, stack
from polyad.corpus.count import count_words
from polyad.corpus.documents import CorpusError, Document, ReadReport
from polyad.corpus.filtering import filter_words
from polyad.corpus.formats import FORMATS, Format, is_counts, recognise
from polyad.corpus.languages import StopWords, load_stop_words
from polyad.corpus.options import ReadOptions
from polyad.corpus.readers import DocumentReader
from polyad.corpus.reading import read_blocks, read_corpus
from polyad.corpus.report import CorpusReport, Dropped
from polyad.corpus.source import CorpusSource
from polyad.corpus.words import TextOptions, split_words, word_pattern
from polyad.corpus.writers import write_corpus

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
