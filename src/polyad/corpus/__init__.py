"""Documents in: text and count files to a corpus of word counts, and counts out again.

`CorpusSource` is data for a model wherever they are; `read_corpus` reads anything; `count_words` counts texts that are
in memory already; `DocumentReader` gives the texts themselves.
"""

from typing import TYPE_CHECKING, Any

from polyad.lazy import importer

if TYPE_CHECKING:
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

_HOMES = {
    "FORMATS": "polyad.corpus.formats",
    "TOPIC_WORDS": "polyad.corpus.choices",
    "Corpus": "polyad.corpus.corpus",
    "CorpusError": "polyad.corpus.documents",
    "CorpusReport": "polyad.corpus.report",
    "CorpusSource": "polyad.corpus.source",
    "Document": "polyad.corpus.documents",
    "DocumentReader": "polyad.corpus.readers",
    "Dropped": "polyad.corpus.report",
    "Format": "polyad.corpus.formats",
    "ReadOptions": "polyad.corpus.options",
    "ReadReport": "polyad.corpus.documents",
    "StopWords": "polyad.corpus.languages",
    "TextOptions": "polyad.corpus.words",
    "align_vocabulary": "polyad.corpus.corpus",
    "atomic_write": "polyad.corpus.atomic",
    "count_words": "polyad.corpus.count",
    "default_min_df": "polyad.corpus.choices",
    "filter_words": "polyad.corpus.filtering",
    "find_language": "polyad.corpus.choices",
    "from_anndata": "polyad.corpus.convert",
    "from_gensim": "polyad.corpus.convert",
    "is_counts": "polyad.corpus.formats",
    "load_stop_words": "polyad.corpus.languages",
    "make_corpus": "polyad.corpus.corpus",
    "read_blocks": "polyad.corpus.reading",
    "read_corpus": "polyad.corpus.reading",
    "recognise": "polyad.corpus.formats",
    "split_words": "polyad.corpus.words",
    "stack": "polyad.corpus.corpus",
    "to_anndata": "polyad.corpus.convert",
    "to_gensim": "polyad.corpus.convert",
    "word_pattern": "polyad.corpus.words",
    "write_corpus": "polyad.corpus.writers",
}


def __getattr__(name: str) -> Any:
    return importer(__name__, _HOMES)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
