"""Models and documents for tests of pages: a small honest corpus, and a hostile one."""

import numpy as np

from polyad import LDA
from polyad.corpus import TextOptions, count_words, make_corpus
from polyad.corpus.documents import Document

THEMES = {
    name: words.split()
    for name, words in {
        "weather": "rain wind cloud storm sun thunder snow ice fog gale drizzle sleet",
        "courts": "judge court trial jury appeal lawyer verdict crime prison sentence law witness",
        "markets": "stock bond price market trade profit bank loan share dividend fund rate",
    }.items()
}
HOSTILE = [
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=2</script>",
    "<img src=x onerror=window.pwned=3>",
    '"><svg onload=window.pwned=4>',
    "javascript:window.pwned=5",
    "\u202eevil\u202c",
    "nul\x00bell\x07esc\x1b[31m",
    "{{constructor.constructor('window.pwned=6')()}}",
    "<!--<script>",
    "]]>&lt;b&gt;",
    "العربية",
    "中文词语",
    "\u2028line\u2029",
    "a" * 300,
]


def honest_documents():
    """Return 120 short texts about three things, with a year and a place each."""
    themes = list(THEMES)
    documents = []
    for number in range(120):
        own, other = THEMES[themes[number % 3]], THEMES[themes[(number + 1) % 3]]
        words = [own[min((number * 5 + step * 7) % 12, (number * 3 + step * 5) % 12)] for step in range(24)]
        words += ["city", "people", "year"][: 1 + number % 3] * 2  # which every topic has
        words += [other[(number + step) % 12] for step in range(number % 5)]
        text = f"Report {number}: the {' and the '.join(words)}."
        documents.append((Document(f"doc-{number}", text), 1990 + number // 12, "north" if number % 2 else "south"))
    return documents


def honest():
    """Return a model, its corpus and the keywords of its page."""
    documents = honest_documents()
    corpus = count_words([document for document, _, _ in documents], TextOptions(stop_words="english"))
    known = {
        "texts": [document.text for document, _, _ in documents],
        "ids": corpus.ids,
        "dates": [year for _, year, _ in documents],
        "groups": [place for _, _, place in documents],
        "title": "Three things",
    }
    return LDA(3).fit(corpus), corpus, known


def hostile():
    """Return a model whose words, ids, names, groups, title and texts all try to break out of the page."""
    counts = np.random.default_rng(0).poisson(1.0, (60, len(HOSTILE)))
    counts[::2, : len(HOSTILE) // 2] += 5
    counts[1::2, len(HOSTILE) // 2 :] += 5
    ids = [f"{HOSTILE[number % len(HOSTILE)]} {number}" for number in range(60)]
    corpus = make_corpus(counts, HOSTILE, ids)
    model = LDA(2).fit(corpus)
    model.names_ = {0: HOSTILE[2], 1: HOSTILE[1]}
    known = {
        "texts": [" ".join(HOSTILE[::-1]) for _ in range(60)],
        "ids": ids,
        "groups": [HOSTILE[number % 6] for number in range(60)],
        "dates": [str(2000 + number % 7) + HOSTILE[0] for number in range(60)],
        "title": HOSTILE[1] + HOSTILE[3],
    }
    return model, corpus, known
