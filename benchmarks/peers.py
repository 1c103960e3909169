"""Fit one other library on one training corpus; runs in the peers' own environment.

    python benchmarks/peers.py METHOD TRAIN.npz K OUT.npz [SEED]

prints {"seconds": ..., "megabytes": ...} for the fit alone (turning counts into the library's own format is not
counted) and writes topics (K x M, rows sum to 1) and the library's prior over topics to OUT.npz.
"""

import json
import os
import sys

import numpy as np
from scipy import sparse

from measure import Steps

CORES = os.cpu_count() or 1


def word_names(n_words):
    """Names of letters only, which every tokenizer keeps whole."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = []
    for word in range(n_words):
        name = ""
        for _ in range(4):
            word, digit = divmod(word, 26)
            name = letters[digit] + name
        names.append("w" + name)
    return names


def token_lists(X, names):
    return [
        [names[w] for w, c in zip(X.indices[a:b], X.data[a:b].astype(int)) for _ in range(c)]
        for a, b in zip(X.indptr[:-1], X.indptr[1:])
    ]


def in_place(rows, found_names, names):
    """Topics over a library's own vocabulary, put back into the order of ours."""
    place = {name: i for i, name in enumerate(names)}
    topics = np.zeros((len(rows), len(names)))
    topics[:, [place[name] for name in found_names]] = rows
    return topics


def sklearn_lda(X, K, steps, seed, iterations):
    from joblib.externals.loky import get_reusable_executor
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(K, max_iter=iterations, n_jobs=-1, random_state=seed)
    with steps("fit"):
        model.fit(X)
        get_reusable_executor().shutdown(wait=True)  # seconds of processes count when they have ended
    return model.components_, np.full(K, model.doc_topic_prior_)


def tomotopy_lda(X, K, steps, seed, iterations, eta=0.01):
    import tomotopy

    names = word_names(X.shape[1])
    model = tomotopy.LDAModel(k=K, eta=eta, seed=seed + 1, rm_top=0)
    for tokens in token_lists(X, names):
        if tokens:
            model.add_doc(tokens)
    with steps("fit"):
        model.train(iterations, workers=CORES, show_progress=False)
    rows = np.array([model.get_topic_word_dist(k) for k in range(K)])
    return in_place(rows, model.used_vocabs, names), np.array(model.alpha)


def pyrmallet_lda(X, K, steps, seed, iterations, burn_in):
    from pyrmallet import _rust_mallet

    names = word_names(X.shape[1])
    corpus = _rust_mallet.Corpus.from_strings([" ".join(tokens) for tokens in token_lists(X, names)])
    with steps("fit"):
        model = _rust_mallet.train(corpus, num_topics=K, iterations=iterations, burn_in=burn_in, seed=seed + 1)
    alpha, vocabulary = (value() if callable(value) else value for value in (model.alpha, model.vocabulary))
    return in_place(np.asarray(model.topic_word_matrix()), list(vocabulary), names), np.broadcast_to(alpha, K)


def gensim_lda(X, K, steps, seed, passes):
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaMulticore

    corpus = list(Sparse2Corpus(X, documents_columns=False))
    names = dict(enumerate(word_names(X.shape[1])))
    with steps("fit"):
        model = LdaMulticore(corpus, K, id2word=names, passes=passes, workers=max(CORES - 1, 1), random_state=seed)
    return model.get_topics(), model.alpha


def bigartm_plsa(X, K, steps, seed, passes):
    import artm

    vectorizer = artm.BatchVectorizer(
        data_format="bow_n_wd",
        n_wd=sparse.csc_matrix(X.T).toarray(),
        vocabulary=dict(enumerate(word_names(X.shape[1]))),
    )
    options = {"num_processors": CORES, "seed": seed + 1, "cache_theta": False}
    model = artm.ARTM(num_topics=K, dictionary=vectorizer.dictionary, **options)
    with steps("fit"):
        model.fit_offline(vectorizer, num_collection_passes=passes)
    phi = model.get_phi()
    return in_place(phi.to_numpy().T, list(phi.index), word_names(X.shape[1])), np.full(K, 1 / K)


def anchor_topics(X, K, steps, seed):
    import anchortopics

    model = anchortopics.OTFR(K, random_state=seed)
    with steps("fit"):
        model.fit(X)
    return model.components_, np.full(K, 1 / K)


def gibbs_lda(X, K, steps, seed, iterations):
    import lda

    model = lda.LDA(n_topics=K, n_iter=iterations, random_state=seed)
    with steps("fit"):
        model.fit(X.astype(np.int64))
    return model.topic_word_, np.full(K, model.alpha)


METHODS = {
    "sklearn 10": lambda *a: sklearn_lda(*a, 10),
    "sklearn 50": lambda *a: sklearn_lda(*a, 50),
    "tomotopy 200": lambda *a: tomotopy_lda(*a, 200),
    "tomotopy 1000": lambda *a: tomotopy_lda(*a, 1000),
    "tomotopy 200 eta .1": lambda *a: tomotopy_lda(*a, 200, eta=0.1),
    "tomotopy 1000 eta .1": lambda *a: tomotopy_lda(*a, 1000, eta=0.1),
    "pyrmallet 200": lambda *a: pyrmallet_lda(*a, 200, 50),
    "pyrmallet 1000": lambda *a: pyrmallet_lda(*a, 1000, 200),
    "gensim 1": lambda *a: gensim_lda(*a, 1),
    "gensim 10": lambda *a: gensim_lda(*a, 10),
    "bigartm 20": lambda *a: bigartm_plsa(*a, 20),
    "anchortopics": anchor_topics,
}
OF_THE_PAPERS = {"lda 2000": lambda *a: gibbs_lda(*a, 2000)}  # too slow for the corpora of the other benchmarks


def tomotopy_inference(X, K, observed, out):
    """Train, then time the inference of new documents; shares, topics and seconds for those who judge them."""
    import tomotopy

    names = word_names(X.shape[1])
    model = tomotopy.LDAModel(k=K, eta=0.1, seed=1, rm_top=0)
    for tokens in token_lists(X, names):
        if tokens:
            model.add_doc(tokens)
    model.train(200, workers=CORES, show_progress=False)
    documents = [model.make_doc(tokens or names[:1]) for tokens in token_lists(observed, names)]
    steps = Steps()
    with steps("infer"):
        shares, _ = model.infer(documents, workers=1)
    rows = np.array([model.get_topic_word_dist(k) for k in range(K)])
    np.savez(out, components=in_place(rows, model.used_vocabs, names), shares=np.asarray(shares))
    print(json.dumps({"seconds": steps.seconds["infer"]}))


def main():
    if sys.argv[1] == "--infer":
        train, K, observed, out = sys.argv[2:6]
        X, new = (sparse.csr_matrix(sparse.load_npz(file)) for file in (train, observed))
        return tomotopy_inference(X, int(K), new, out)
    method, train, K, out = sys.argv[1:5]
    X = sparse.csr_matrix(sparse.load_npz(train))
    steps = Steps()
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    topics, prior = (METHODS | OF_THE_PAPERS)[method](X, int(K), steps, seed)
    topics = np.asarray(topics, dtype=float)
    np.savez(out, components=topics / topics.sum(axis=1, keepdims=True), prior=np.asarray(prior, dtype=float))
    told = {"seconds": steps.seconds["fit"], "processor_seconds": steps.processor_seconds["fit"]}
    print(json.dumps(told | {"megabytes": steps.megabytes["fit"]}))


if __name__ == "__main__":
    main()
