"""`polyad align`: which topic of one model is which topic of another."""

from typing import Annotated, Any

import typer

from polyad.cli.options import ModelPath, Shown
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import model_topics, refuse_pairs


def align(
    a: ModelPath,
    b: Annotated[str, typer.Argument(metavar="OTHER", help="Another model file.")],
    n_words: Annotated[int, typer.Option("-n", "--words", metavar="N", help="Words to show of a topic.", min=1)] = 4,
    *,
    shown: Shown,
) -> None:
    """Pair the topics of two models that have most in common.

    Similarity is the share of words that two topics have in common: 1 is the same topic. Models with different
    vocabularies are compared on the words that both know.

    For example:
    polyad align monday.polyad tuesday.polyad
    """
    from polyad import align as align_topics
    from polyad.io import load

    output = Output(shown)
    left, right = load(a), load(b)
    refuse_pairs(a, left)
    refuse_pairs(b, right)
    found = align_topics(left, right)
    shared = found.n_words
    names = [model_topics(model, n_words) for model in (left, right)]
    pairs = [
        {
            "a": i,
            "b": j,
            "similarity": float(similarity),
            "a_words": names[0][i]["words"],
            "b_words": names[1][j]["words"],
        }
        for (i, j), similarity in zip(found.pairs, found.similarity)
    ]
    if shown.json:
        output.result({"a": a, "b": b, "mean": found.mean, "shared_words": shared, "pairs": pairs})
        return
    rows = [
        (str(pair["a"]), str(pair["b"]), f"{pair['similarity']:.2f}", f"{_listed(pair, 'a')} | {_listed(pair, 'b')}")
        for pair in pairs
    ]
    output.table(("a", "b", "alike", "words"), rows, wide="words")
    output.note(f"{len(pairs)} pairs, {found.mean:.2f} alike on average over {shared:,} shared words.")


def _listed(pair: dict[str, Any], model: str) -> str:
    return ", ".join(pair[f"{model}_words"])
