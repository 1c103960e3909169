"""Models for other libraries: pyLDAvis, gensim and AnnData; and tables in files.

Topics keep their numbers everywhere. The libraries are imported only when an object of theirs is made.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

TABLE_ENDINGS = (".parquet", ".csv", ".jsonl")


def to_pyldavis(model: Any, X: Any) -> dict[str, Any]:
    """Return what ``pyLDAvis.prepare`` takes, in its own names.

    Give it ``sort_topics=False, start_index=0``, so that its topics keep the numbers that they have here.

    Parameters
    ----------
    model
        A fitted model of topics.
    X
        Documents; those without a word of the model, which pyLDAvis cannot take, are left out.

    Examples
    --------
    >>> from polyad import LDA
    >>> from polyad.datasets import make_lda
    >>> sample = make_lda(300, 60, 3, length=60)
    >>> sorted(to_pyldavis(LDA(3).fit(sample.counts), sample.counts))
    ['doc_lengths', 'doc_topic_dists', 'term_frequency', 'topic_term_dists', 'vocab']
    """
    from polyad.engine import total
    from polyad.models.text_sources import words_of

    source = model._checked_input(X)
    lengths = np.concatenate([block.tokens for block in source])
    shares = _shares(model, source)
    kept = lengths > 0
    return {
        "topic_term_dists": model.components_,
        "doc_topic_dists": shares[kept],
        "doc_lengths": lengths[kept],
        "vocab": list(words_of(model)),
        "term_frequency": total(_word_totals, source),
    }


def _shares(model: Any, source: Any) -> Any:
    """Return topic shares that sum to 1, also of a model that transforms to intensities."""
    from polyad.models.fitting import running

    with running(model.n_jobs):
        return np.asarray(model._shares(source))


def _word_totals(block: Any) -> Any:
    return np.asarray(block.rows.sum(axis=0)).ravel()


def gensim_model(model: Any) -> Any:
    """Return a gensim ``LdaModel`` with the topics and the prior of a model.

    Its ``get_topics()`` are the rows of ``components_``, and it infers shares by gensim's own rule.

    Parameters
    ----------
    model
        A fitted model of topics with a Dirichlet prior.
    """
    try:
        from gensim.models import LdaModel
    except ImportError as error:
        raise ImportError("to_gensim needs the package gensim; install it with: pip install gensim.") from error
    from polyad.models.text_sources import words_of

    K, M = model.components_.shape
    least = 1e-10  # gensim adds its prior of words to the counts, and topics are to stay as they are
    made = LdaModel(
        id2word=dict(enumerate(words_of(model))),
        num_topics=K,
        alpha=np.asarray(model.doc_topic_prior_, dtype=np.float64),
        eta=np.full(M, least),
        dtype=np.float64,
        random_state=0,
    )
    tokens = model.topic_shares_[:, None] * max(float(model.diagnostics_.n_tokens), 1.0)
    made.state.sstats[...] = np.maximum(tokens * model.components_ - least, 0)
    made.sync_state()
    return made


def write_to_anndata(model: Any, data: Any, *, key: str = "topics") -> None:
    """Write what a model found into an AnnData, observations being documents and variables words.

    Parameters
    ----------
    model
        A fitted model of topics.
    data
        An AnnData whose variables are the words of the model, in any order and with others among them.
    key
        ``obsm[f"X_{key}"]`` gets the topic shares, ``varm[key]`` the words' probabilities (0 for words that the model
        does not have), ``uns[key]`` shares, prior and names of the topics.

    Raises
    ------
    ValueError
        Where not one variable is a word of the model.
    """
    from scipy.sparse import csr_array

    from polyad.corpus import align_vocabulary, from_anndata
    from polyad.metrics.names import topic_names
    from polyad.models.text_sources import words_of

    words = words_of(model)
    place = {word: m for m, word in enumerate(words)}
    columns = np.array([place.get(str(name), -1) for name in data.var_names])
    known = columns >= 0
    if not known.any():
        raise ValueError("Not one variable of the AnnData is a word of the model: give the data it was fitted to.")
    corpus = align_vocabulary(from_anndata(data), words)
    data.obsm[f"X_{key}"] = _shares(model, model._checked_input(csr_array(corpus.counts)))
    probabilities = np.zeros((len(columns), len(model.topic_shares_)))
    probabilities[known] = model.components_.T[columns[known]]
    data.varm[key] = probabilities
    data.uns[key] = {
        "model": type(model).__name__,
        "shares": np.array(model.topic_shares_),
        "prior": np.array(model.doc_topic_prior_),
        "names": np.array(topic_names(model, model.components_, model.word_probabilities_, words), dtype=object),
    }


def write_topics(model: Any, path: str | os.PathLike[str], *, n: int = 50, by: str = "relevance") -> None:
    """Write the most telling words of every topic as a table: topic, name, rank, word, probability, score, certainty.

    Parameters
    ----------
    model
        A fitted model of topics.
    path
        The file: .parquet, .csv or .jsonl; it appears only when it is complete.
    n, by
        As for ``topics``.
    """
    from polyad.corpus import atomic_write

    ending = Path(path).suffix.lower()
    if ending not in TABLE_ENDINGS:
        raise ValueError(f"{os.fspath(path)!r} does not tell the format of the table; end it in {TABLE_ENDINGS}.")
    table = model.topics(n, by, as_frame=True)
    with atomic_write(path) as out:
        if ending == ".parquet":
            table.to_parquet(out, index=False)
        elif ending == ".csv":
            out.write(table.to_csv(index=False, lineterminator="\n").encode("utf-8"))
        else:
            out.write(table.to_json(orient="records", lines=True, force_ascii=False).encode("utf-8"))
