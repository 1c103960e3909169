"""Documents in: text and count files to a corpus of word counts, and counts out again.

`CorpusSource` is data for a model wherever they are; `read_corpus` reads anything; `count_words` counts texts that are
in memory already; `DocumentReader` gives the texts themselves.
"""

from typing import TYPE_CHECKING, Any

from polyad.base.lazy import importer

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

_HOMES = {
    "FORMATS": "polyad.corpus.formats.recognise",
    "TOPIC_WORDS": "polyad.corpus.words.choices",
    "Corpus": "polyad.corpus.corpus",
    "CorpusError": "polyad.corpus.documents",
    "CorpusReport": "polyad.corpus.report",
    "CorpusSource": "polyad.corpus.source",
    "Document": "polyad.corpus.documents",
    "DocumentReader": "polyad.corpus.formats.text",
    "Dropped": "polyad.corpus.report",
    "Format": "polyad.corpus.formats.recognise",
    "IndexedCorpus": "polyad.corpus.indexing.folder",
    "ReadOptions": "polyad.corpus.formats.options",
    "ReadReport": "polyad.corpus.documents",
    "StopWords": "polyad.corpus.words.languages",
    "TextOptions": "polyad.corpus.words.tokens",
    "align_vocabulary": "polyad.corpus.corpus",
    "atomic_write": "polyad.base.atomic",
    "count_words": "polyad.corpus.words.counting",
    "default_min_df": "polyad.corpus.words.choices",
    "filter_words": "polyad.corpus.words.filtering",
    "find_language": "polyad.corpus.words.choices",
    "from_anndata": "polyad.corpus.convert",
    "from_gensim": "polyad.corpus.convert",
    "index": "polyad.corpus.indexing.index",
    "is_counts": "polyad.corpus.formats.recognise",
    "load_stop_words": "polyad.corpus.words.languages",
    "make_corpus": "polyad.corpus.corpus",
    "read_blocks": "polyad.corpus.reading",
    "read_corpus": "polyad.corpus.reading",
    "recognise": "polyad.corpus.formats.recognise",
    "split_words": "polyad.corpus.words.tokens",
    "stack": "polyad.corpus.corpus",
    "to_anndata": "polyad.corpus.convert",
    "to_gensim": "polyad.corpus.convert",
    "word_pattern": "polyad.corpus.words.tokens",
    "write_corpus": "polyad.corpus.formats.writers",
}


def __getattr__(name: str) -> Any:
    return importer(__name__, _HOMES)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
