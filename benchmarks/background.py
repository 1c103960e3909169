"""Topics with a background on texts that its settings were not chosen on: rows of a table of docs/command.md.

python benchmarks/background.py                            # some of Europarl in two languages, docstrings
python benchmarks/background.py TEXTS.jsonl STOP.txt 10    # other texts, a list of their stop words, topics
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from corpora import DATA, load, vocabulary
from polyad import LDA
from polyad.corpus import TextOptions, count_words, read_corpus
from polyad.corpus.docstrings import library_docstrings

SPEECHES = 20_000
ALL_WORDS = TextOptions(min_df="auto")  # no list: stop words stay


def compared(name: str, counts: Any, words: Any, stop_words: Path, n_topics: int) -> str:
    """Return a row: stop words among the ten top words of topics, and held-out bits, without and with a background."""
    listed = set(stop_words.read_text(encoding="utf-8").split())
    test = np.arange(counts.shape[0]) % 5 == 0
    parts, bits = [], []
    for background in (False, True):
        model = LDA(n_topics, background=background).fit(counts[~test])
        topics = model.topics(vocabulary=words)[:n_topics]
        parts.append(np.mean([word in listed for topic in topics for word in topic]))
        bits.append(-model.score(counts[test]) / np.log(2))
    return f"| {name} | {n_topics} | {parts[0]:.1%} | {parts[1]:.1%} | {bits[0]:.3f} | {bits[1]:.3f} |\n"


def main(texts: str = "", stop_words: str = "", n_topics: str = "10") -> None:
    """Print the rows of given texts, or of those that are here."""
    lists = DATA / "stopwords"
    if texts:
        corpus = read_corpus(texts, ALL_WORDS)
        sys.stdout.write(compared(Path(texts).stem, corpus.counts, corpus.vocabulary, Path(stop_words), int(n_topics)))
        return
    for corpus_name, language in (("europarl_en", "english"), ("europarl_fr", "french")):
        counts = load(corpus_name)
        some = counts[:: counts.shape[0] // SPEECHES][:SPEECHES]
        sys.stdout.write(compared(corpus_name, some, vocabulary(corpus_name), lists / f"{language}.txt", 20))
    docs = count_words((document.text for document in library_docstrings()), ALL_WORDS)
    sys.stdout.write(compared("docstrings", docs.counts, docs.vocabulary, lists / "english.txt", 20))


if __name__ == "__main__":
    main(*sys.argv[1:])
