"""SVTD paper, Figures 3b, 3c and 4b and Table 1: words of topics by relevance, and their shares over the documents."""

import gzip
import json
from collections.abc import Sequence
from functools import partial

import numpy as np
import svtd_texts
from lab import Chart, Claim, Experiment, Row, chosen

import corpora
from polyad import LDA, SingleTopic
from polyad.datasets import make_single_topic
from polyad.metrics import relevance

WEIGHT, N_WORDS = 0.7, 5
DRAWN = "drawn in three parts"
MODELS = {
    "single topic": lambda k: SingleTopic(k, method="svtd", polish="off"),
    "LDA": lambda k: LDA(k, method="svtd", concentration=svtd_texts.TOTAL, polish="off"),
}


def settings(quick):
    if quick:
        return [{"text": DRAWN, "k": 3}]
    return [{"text": text, "k": given[3]} for text, given in svtd_texts.TEXTS.items() if corpora.available("dante")]


def _text(name):
    """Return counts, words, and for each document the part that it belongs to."""
    if name == DRAWN:  # sixty documents: twenty of each of three topics, one after the other
        parts = [
            make_single_topic(
                20, components=topic[None], weights=np.ones(1), length=200, random_state=k
            ).counts.toarray()
            for k, topic in enumerate(np.random.default_rng(0).dirichlet(np.full(80, 0.2), 3))
        ]
        return np.vstack(parts).astype(float), [f"w{m}" for m in range(80)], np.repeat(["first", "second", "third"], 20)
    corpus = svtd_texts.corpus(name)
    with gzip.open(corpora.DATA / svtd_texts.TEXTS[name][0], "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    parts = [row["cantica"] if "cantica" in row else row["name"].split("-", 1)[1] for row in rows]
    return corpus.counts.astype(float), corpus.vocabulary, np.array(parts)


def measure(text, k) -> list[Row]:
    counts, words, parts = _text(text)
    rows: list[Row] = []
    for name, make in MODELS.items():
        model = make(k).fit(counts)
        shares = model.transform(counts)
        ranked = relevance(model.components_, model.word_probabilities_, weight=WEIGHT).argsort(axis=1)[:, ::-1]
        for topic in range(k):
            leading = ", ".join(words[word] for word in ranked[topic, :N_WORDS])
            rows.append({"text": text, "model": name, "topic": topic + 1, "words": leading})
        for document, own in enumerate(shares):
            rows += [
                {
                    "panel": f"{text}, {name}",
                    "text": text,
                    "model": name,
                    "document": document + 1,
                    "part": str(parts[document]),
                    "topic": int(topic) + 1,
                    "share": round(float(own[topic]), 3),
                }
                for topic in np.flatnonzero(own >= 0.01)
            ]
    return rows


def table(rows: Sequence[Row]) -> list[str]:
    lines = []
    for text in dict.fromkeys(row["text"] for row in rows):
        own = [row for row in rows if row["text"] == text and "words" in row]
        lines += [f"{text}, the {N_WORDS} words of each topic with the largest relevance (weight {WEIGHT}):", ""]
        lines += ["| topic | single topic (SVTD) | LDA (SVTD) |", "|---|---|---|"]
        for topic in sorted({row["topic"] for row in own}):
            cells = [chosen(own, model=model, topic=topic)[0]["words"] for model in MODELS]
            lines.append(f"| {topic} | {cells[0]} | {cells[1]} |")
        lines.append("")
    return lines


def _shares(rows, text, model):
    return [row for row in rows if row["text"] == text and row["model"] == model and "share" in row]


def _by_part(rows, text, model) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for row in _shares(rows, text, model):
        part = found.setdefault(row["part"], {})
        part[row["topic"]] = part.get(row["topic"], 0.0) + row["share"]
    return found


def _each_part_has_its_topic(rows, model) -> bool:
    """Tell whether in a text of three parts each has a leading topic of its own, with more than a third of it."""
    texts = {row["text"] for row in rows} & {"Divina Commedia", DRAWN}
    if not texts:
        raise LookupError("no text of three parts")
    for text in texts:
        shares = _by_part(rows, text, model).values()
        leading = [max(own, key=own.__getitem__) for own in shares]
        if len(set(leading)) != 3 or any(own[k] < sum(own.values()) / 3 for own, k in zip(shares, leading)):
            return False
    return True


def _neighbours_are_alike(rows) -> bool:
    """Tell whether documents of one part share more of their topics than documents of different parts."""
    texts = {row["text"] for row in rows} & {"State of the Union", DRAWN}
    if not texts:
        raise LookupError("no text of several speakers")
    for text in texts:
        for model in MODELS:
            own = _shares(rows, text, model)
            parts = {row["document"]: row["part"] for row in own}
            shares = np.zeros((max(parts), max(row["topic"] for row in own)))
            for row in own:
                shares[row["document"] - 1, row["topic"] - 1] = row["share"]
            documents = sorted(parts)
            overlap = np.minimum(shares[:, None], shares[None]).sum(axis=2)
            same = np.array([[parts[a] == parts[b] for b in documents] for a in documents]) & ~np.eye(
                len(documents), dtype=bool
            )
            other = np.array([[parts[a] != parts[b] for b in documents] for a in documents])
            index = np.ix_(np.array(documents) - 1, np.array(documents) - 1)
            if not overlap[index][same].mean() > 1.5 * overlap[index][other].mean():
                return False
    return True


EXPERIMENT = Experiment(
    name="svtd-words",
    source="SVTD paper, Figures 3b, 3c and 4b, Table 1",
    title="Words of the topics, and how much of each document they have (Divina Commedia, k = 3; State of the Union, "
    "k = 18)",
    found="Each of three topics of the Divina Commedia is dominant in one of Inferno, Purgatorio and Paradiso; "
    "speeches of the same president have similar topics.",
    differs="Stop words and the cut to the most frequent words (1,820 and 1,184) are ours: the paper does not give "
    "its lists. Topics have no order, so that their numbers differ from the paper's, and the leading words of "
    "ours are more frequent ones. With a single topic for each canto the leading words of all three topics "
    "are those of the whole poem (disse, occhi, qual), and Inferno and Paradiso share their leading topic; "
    "with shares of topics in each canto (LDA) the parts come apart.",
    settings=settings,
    measure=measure,
    claims=(
        *(
            Claim(
                f"Each of the three parts of the Divina Commedia has a leading topic of its own ({model}).",
                partial(_each_part_has_its_topic, model=model),
            )
            for model in MODELS
        ),
        Claim(
            "Speeches of the same president share half as much again of their topics as speeches of different ones "
            "do, or more.",
            _neighbours_are_alike,
        ),
    ),
    charts=(
        Chart("document", "share", "topic", "panel", "document", "topic", only=lambda row: "share" in row, areas=True),
    ),
    tables=(table,),
)
