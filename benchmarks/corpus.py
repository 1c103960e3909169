"""Documents per second of splitting and counting, beside scikit-learn's CountVectorizer, with the same result.

    python benchmarks/corpus.py

The text is the English side of the Acts of Canada (35,416 sections) in ../shared/data, or where that is absent
made-up words with Zipf's frequencies. It is normalised beforehand (NFKC, no soft hyphens), which polyad does to
the words and CountVectorizer does not, so that both have the same words to find; then the counts must be equal.
"""

import argparse
import gzip
import json
import platform
import time
import unicodedata
from pathlib import Path
from statistics import median

import joblib
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from polyad.corpus import TextOptions, count_words, read_corpus
from polyad.corpus.formats.options import ReadOptions

ACTS = Path(__file__).resolve().parents[2] / "shared" / "data" / "canada_acts_en_fr" / "sections.jsonl.gz"
STOP_WORDS = ["a", "an", "and", "by", "for", "in", "is", "of", "or", "the", "to"]
# What polyad takes for a word, but for combining marks, which this text does not have: the faster the fairer.
PATTERN = r"\w+(?:['’·_]+\w+)*"
SETTINGS = {
    "all words": ({}, {}),
    "stop words, in 5 documents to half of them": (
        {"stop_words": STOP_WORDS, "min_df": 5, "max_df": 0.5},
        {"stop_words": STOP_WORDS, "min_df": 5, "max_df": 0.5},
    ),
    "words and pairs, in 5 documents or more": (
        {"ngrams": (1, 2), "min_df": 5},
        {"ngram_range": (1, 2), "min_df": 5},
    ),
}


def texts():
    if not ACTS.exists():
        print("the Acts of Canada are not in ../shared/data: made-up words instead")
        rng = np.random.default_rng(0)
        return [" ".join(f"w{number}" for number in np.minimum(rng.zipf(1.2, 170), 30_000)) for _ in range(20_000)]
    with gzip.open(ACTS, "rt", encoding="utf-8") as lines:
        raw = [json.loads(line)["en"] for line in lines]
    return [unicodedata.normalize("NFKC", text.replace("\u00ad", "")) for text in raw]


def seconds(action, repeat):
    taken, result = [], None
    for _ in range(repeat):
        start = time.perf_counter()
        result = action()
        taken.append(time.perf_counter() - start)
    return taken, result


def compare(name, documents, repeat):
    ours, theirs = SETTINGS[name]
    options = TextOptions(apostrophes="keep", numbers="keep", min_length=1, **ours)
    vectorizer = CountVectorizer(token_pattern=PATTERN, **theirs)
    reference, expected = seconds(lambda: vectorizer.fit_transform(documents), repeat)
    print(f"\n{name}: {expected.shape[0]:,} documents x {expected.shape[1]:,} terms")
    show("CountVectorizer", median(reference), len(documents), median(reference))
    alone, corpus = seconds(lambda: count_words(documents, options, n_jobs=1), repeat)
    check(corpus, vectorizer, expected)
    show("polyad, one process", median(alone), len(documents), median(reference))
    together, corpus = seconds(lambda: count_words(documents, options, n_jobs=2), repeat + 1)
    check(corpus, vectorizer, expected)
    # Workers stay for the next call, so only the first setting pays for starting them.
    if name == next(iter(SETTINGS)):
        show("polyad, two processes, starting them", together[0], len(documents), median(reference))
    show("polyad, two processes", median(together[1:]), len(documents), median(reference))


def check(corpus, vectorizer, expected):
    assert list(corpus.vocabulary) == list(vectorizer.get_feature_names_out())
    assert (corpus.counts != expected).nnz == 0


def show(what, taken, n_documents, reference):
    print(f"  {what:<40}{taken:7.2f} s {n_documents / taken:10,.0f} documents/s {reference / taken:6.2f} x")


def read_everything():
    if not ACTS.exists():
        return
    start = time.perf_counter()
    corpus = read_corpus(ACTS, reading=ReadOptions(text_column="en"))
    taken = time.perf_counter() - start
    report = corpus.report
    print(f"\nread_corpus of the compressed JSONL, default options: {taken:.2f} s, of which")
    print(f"  reading   {report.seconds_reading:6.2f} s {len(corpus) / report.seconds_reading:10,.0f} documents/s")
    print(f"  splitting {report.seconds_splitting:6.2f} s {len(corpus) / report.seconds_splitting:10,.0f} documents/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print(f"Python {platform.python_version()}, {joblib.cpu_count()} cores")
    documents = texts()
    for name in SETTINGS:
        compare(name, documents, arguments.repeat)
    read_everything()


if __name__ == "__main__":
    main()
