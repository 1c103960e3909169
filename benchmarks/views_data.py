"""Two views of real data against peers: the sections canada, europarl and citeseq of ``benchmarks/views.py``."""

import gzip
import json
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import roc_auc_score

from polyad.corpus import TextOptions, count_words
from polyad.inference.heldout import split_tokens
from polyad.metrics import align
from polyad.models.views.mixed import MixedCCA
from polyad.models.views.polylingual import PolylingualLDA
from polyad.models.views.stability import matched_cosines

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
Table = dict[str, dict[str, list[float]]]
Loadings = tuple[np.ndarray, np.ndarray]


def imported(name: str) -> Any:
    """Return a module, or None with a reason."""
    try:
        return __import__(name, fromlist=["_"])
    except ImportError:
        print(f"  ({name} is not installed: skipped)")
        return None


def show(title: str, table: Table, digits: int = 3) -> None:
    columns = list(next(iter(table.values())))
    width = max(len(name) for name in table) + 2
    print(f"\n{title}\n" + " " * width + "".join(f"{column:>16}" for column in columns))
    for name, row in table.items():
        cells = [
            f"{np.mean(v):.{digits}f} ± {np.std(v) / len(v) ** 0.5:.{digits}f}" if v else "-" for v in row.values()
        ]
        print(f"{name:<{width}}" + "".join(f"{cell:>16}" for cell in cells))


def bits(probabilities: np.ndarray, counts: Any) -> float:
    cells = counts.tocoo()
    return float(-(cells.data * np.log2(np.maximum(probabilities[cells.row, cells.col], 1e-12))).sum() / cells.sum())


def top1(left: np.ndarray, right: np.ndarray) -> float:
    left, right = (
        rows[:1000] / np.maximum(np.linalg.norm(rows[:1000], axis=1, keepdims=True), 1e-300) for rows in (left, right)
    )
    return float(((left @ right.T).argmax(axis=1) == np.arange(len(left))).mean())


Peer = tuple[Callable[[Any, Any], Loadings], SimpleNamespace]


def cross_lsi(X: Any, Y: Any, K: int) -> Peer:
    """Cross-language LSI: one SVD of the two tf-idf matrices side by side."""
    left, right = TfidfTransformer(sublinear_tf=True).fit(X), TfidfTransformer(sublinear_tf=True).fit(Y)
    model = TruncatedSVD(K, random_state=0).fit(sparse.hstack([left.transform(X), right.transform(Y)]).tocsr())
    V = model.components_.T
    halves = V[: X.shape[1]], V[X.shape[1] :]
    loadings = SimpleNamespace(x_loadings_=halves[0], y_loadings_=halves[1])
    return lambda A, B: (left.transform(A) @ halves[0], right.transform(B) @ halves[1]), loadings


def lsa_cca(X: Any, Y: Any, K: int) -> Peer:
    """LSA of each language to 2K dimensions, then classical CCA to K."""
    tfidf = [TfidfTransformer(sublinear_tf=True).fit(view) for view in (X, Y)]
    svd = [TruncatedSVD(2 * K, random_state=0).fit(t.transform(view)) for t, view in zip(tfidf, (X, Y))]
    rows = [s.transform(t.transform(view)) for s, t, view in zip(svd, tfidf, (X, Y))]
    means = [r.mean(axis=0) for r in rows]
    A, B = (r - m for r, m in zip(rows, means))
    Ra, Rb = (linalg.fractional_matrix_power(M.T @ M + 1e-6 * np.eye(2 * K), -0.5).real for M in (A, B))
    U, s, Vt = linalg.svd(Ra @ A.T @ B @ Rb)
    left, right = Ra @ U[:, :K] * s[:K], Rb @ Vt[:K].T * s[:K]
    words = [s.components_.T @ (M.T @ (M @ side)) for s, M, side in zip(svd, (A, B), (left, right))]
    loadings = SimpleNamespace(x_loadings_=words[0], y_loadings_=words[1])

    def project(P: Any, Q: Any) -> Loadings:
        rows = (s.transform(t.transform(view)) for s, t, view in zip(svd, tfidf, (P, Q)))
        x, y = ((r - mean) @ side for r, mean, side in zip(rows, means, (left, right)))
        return x, y

    return project, loadings


def halves_stability(fit: Callable[[Any, Any], Any], A: Any, B: Any, wanted: bool) -> str:
    """Return the mean cosine between matched factors of two fits, each on half of the pairs."""
    if not wanted:
        return ""
    halves = np.array_split(np.random.default_rng(1).permutation(A.shape[0]), 2)
    one, two = (fit(A[np.sort(rows)], B[np.sort(rows)]) for rows in halves)
    return f"{matched_cosines(one, two).mean():11.3f}"


def aligned_loadings(X: Any, Y: Any, K: int, given: dict[str, Any]) -> SimpleNamespace:
    """Return the topics of two aligned texts as loadings."""
    x_topics, y_topics = PolylingualLDA(K, **given).fit([X, Y]).components_
    return SimpleNamespace(x_loadings_=x_topics.T, y_loadings_=y_topics.T)


def split_side(A: Any, B: Any, K: int, model: PolylingualLDA) -> None:
    """Tell how much of the topics comes back where the tokens, or the words, of one side are split in two views."""
    for name, views in (("tokens", [*split_tokens(A), B]), ("words", [A[:, ::2], A[:, 1::2], B])):
        again = PolylingualLDA(K).fit(views)
        left, right = model.components_
        wanted = [left, left, right] if name == "tokens" else [left[:, ::2], left[:, 1::2], right]
        shared = [
            align(topics / topics.sum(axis=1, keepdims=True), found).mean
            for topics, found in zip(wanted, again.components_)
        ]
        print(f"{f'three views, {name} of one side split':44}mass shared " + " ".join(f"{s:.3f}" for s in shared))


def stacked_lda(X: Any, Y: Any, K: int, test: tuple[Any, Any]) -> tuple[float, float] | None:
    lda = imported("polyad.models.topics.lda")
    if lda is None:
        return None
    topics = lda.LDA(K).fit(sparse.hstack([X, Y]).tocsr())
    halves = [topics.components_[:, : X.shape[1]], topics.components_[:, X.shape[1] :]]
    halves = [half / half.sum(axis=1, keepdims=True) for half in halves]
    blank = [sparse.csr_matrix(view.shape, dtype=view.dtype) for view in test]
    theta = [topics.transform(sparse.hstack(pair).tocsr()) for pair in ((test[0], blank[1]), (blank[0], test[1]))]
    return bits(theta[0] @ halves[1], test[1]), top1(*(np.sqrt(rows) for rows in theta))


def bilingual(name: str, X: Any, Y: Any, words: tuple[Any, Any], sizes: tuple[int, ...], args: Any) -> None:
    order = np.random.default_rng(0).permutation(X.shape[0])
    test, train = np.sort(order[:2000]), np.sort(order[2000:])
    (A, B), (P, Q) = (X[train], Y[train]), (X[test], Y[test])
    unigram = (np.asarray(B.sum(axis=0)).ravel() + 0.5) / (B.sum() + 0.5 * B.shape[1])
    print(f"\n{name}: {len(train)} pairs, {X.shape[1]} and {Y.shape[1]} words; {len(test)} held out")
    print(
        f"unigram {-float((Q @ np.log2(unigram)).sum() / Q.sum()):.3f} bits; bits are of the French given the English"
    )
    print(f"{'':34}{'seconds':>9}{'bits':>8}{'top-1 theta':>13}{'top-1 proj.':>13}{'stability':>11}")
    for K in sizes:
        model: Any = None
        for label, given in (("moments", {"polish": "off"}), ("moments + polish", {})):
            start = time.perf_counter()
            model = PolylingualLDA(K, **given).fit([A, B])
            seconds = time.perf_counter() - start
            theta = [model.transform([P, None]), model.transform([None, Q])]
            found = bits(theta[0] @ model.components_[1], Q)
            row = f"{found:8.3f}{top1(*(np.sqrt(shares) for shares in theta)):13.3f}"
            stable = halves_stability(lambda x, y, K=K, given=given: aligned_loadings(x, y, K, given), A, B, args.full)
            projected = top1(model.project(P), model.project(Q, 1))
            print(f"{f'two views, K={K}, {label}':34}{seconds:9.1f}{row}{projected:13.3f}{stable}", flush=True)
        for label, peer in (("cross-language LSI", cross_lsi), ("LSA + classical CCA", lsa_cca)):
            start = time.perf_counter()
            found = top1(*peer(A, B, K)[0](P, Q))
            seconds = time.perf_counter() - start
            stable = halves_stability(lambda x, y, K=K, peer=peer: peer(x, y, K)[1], A, B, args.full)
            print(f"{f'{label}, K={K}':34}{seconds:9.1f}{'':21}{found:13.3f}{stable}", flush=True)
        start = time.perf_counter()
        if (lda := stacked_lda(A, B, K, (P, Q))) is not None:
            print(
                f"{f'LDA, stacked, K={K}':34}{time.perf_counter() - start:9.1f}{lda[0]:8.3f}{lda[1]:13.3f}", flush=True
            )
        if args.full:
            split_side(A, B, K, model)
        if sizes[0] == K:
            topics_side_by_side(model, words)


def topics_side_by_side(model: Any, words: tuple[Any, Any], n: int = 7) -> None:
    for k in range(model.n_components):
        sides = []
        for topics, vocabulary in zip(model.components_, words):
            lift = topics[k] * np.log(np.maximum(topics[k], 1e-12) / np.maximum(topics.mean(axis=0), 1e-12))
            sides.append(" ".join(vocabulary[w] for w in lift.argsort()[::-1][:n]))
        print(f"  {k:2d}  {sides[0][:72]:74}| {sides[1][:90]}")


def canada(args: Any) -> None:
    path = DATA / "canada_acts_en_fr" / "sections.jsonl.gz"
    if not path.exists():
        print(f"(no {path}: skipped)")
        return
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    counts, words = [], []
    for field, language in (("en", "english"), ("fr", "french")):
        # As `polyad fit2` reads a file of this size, with the stop words that lie beside the data.
        stop_words = (DATA / "stopwords" / f"{language}.txt").read_text().split()
        options = TextOptions(stop_words=stop_words, min_length=2, min_df="auto")
        corpus = count_words([row[field] for row in rows], options)
        counts.append(sparse.csr_matrix(corpus.counts, dtype=np.float64))
        words.append(corpus.vocabulary)
    bilingual("Acts of Canada", *counts, tuple(words), (20, 50, 100) if args.full else (20, 50), args)


def europarl(args: Any) -> None:
    folder = DATA / "europarl_en_fr"
    if not folder.exists():
        print(f"(no {folder}: skipped)")
        return

    def load(language: str) -> Any:
        z = np.load(folder / f"counts_{language}.npz")
        starts = np.r_[0, np.cumsum(z["nnz_row"].astype(np.int64))]
        columns = np.cumsum(z["gap_hi"].astype(np.int64) * 256 + z["gap_lo"])
        base = np.r_[0, columns][starts[:-1]]
        indices = (columns - np.repeat(base, np.diff(starts))).astype(np.int32)
        return sparse.csr_matrix((z["data"].astype(np.float64), indices, starts), shape=tuple(z["shape"]))

    words = tuple((folder / f"vocab_{language}.txt").read_text().split() for language in ("en", "fr"))
    bilingual("Europarl", load("en"), load("fr"), words, (20, 50) if args.full else (20,), args)


MARKERS = {  # of a cell type: its protein, and genes known for it
    "B cells": ("CD19", ("MS4A1", "CD79A", "CD79B")),
    "myeloid": ("CD11c", ("LYZ", "S100A8", "S100A9")),
    "CD4 T": ("CD4", ("CD4", "IL7R", "CCR7")),
    "CD8 T": ("CD8", ("CD8A", "CD8B")),
    "NK": ("CD56", ("NKG7", "GNLY", "KLRD1")),
}


def upper_mode(values: np.ndarray) -> np.ndarray:
    """Tell which values lie above the threshold that parts them best into two groups (Otsu)."""
    ordered = np.sort(values)
    n, sums = len(ordered), np.cumsum(ordered)
    below = np.arange(1, n)
    apart = below * (n - below) * (sums[:-1] / below - (sums[-1] - sums[:-1]) / (n - below)) ** 2
    return np.asarray(values > ordered[apart.argmax()])


def citeseq(args: Any) -> None:
    folder = DATA / "citeseq_pbmc"
    if not folder.exists():
        print(f"(no {folder}: skipped)")
        return
    names = [line.split(" ")[0] for line in (folder / "proteins.txt").read_text().strip().split("\n")]
    genes = [line.split("_", 1)[1] for line in (folder / "genes.txt").read_text().strip().split("\n")]
    logs = np.log1p(np.load(folder / "adt.npy").astype(float))
    proteins = logs - logs.mean(axis=1, keepdims=True)
    every_gene = sparse.load_npz(folder / "rna_counts.npz").tocsr().astype(float)
    rna = every_gene[:, np.flatnonzero(np.asarray((every_gene > 0).sum(axis=0)).ravel() >= 25)]
    depth = np.asarray(every_gene.sum(axis=1))
    known = {
        cell: np.log1p(every_gene[:, [genes.index(gene) for gene in own]] * 1e4 / depth).sum(axis=1)
        for cell, (_, own) in MARKERS.items()
    }
    folds = np.random.default_rng(0).permutation(rna.shape[0]) % 5
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: {cell: [] for cell in MARKERS})
    for fold in range(5):
        fit, test = folds != fold, folds == fold
        mixed = MixedCCA(10).fit(proteins[fit], rna[fit])
        logged = TfidfTransformer(use_idf=False, sublinear_tf=True).fit(rna)
        svd = TruncatedSVD(10, random_state=0).fit(logged.transform(rna[fit]))
        both = {
            "mixed CCA, RNA side only": [mixed.transform(None, rna[rows]) for rows in (fit, test)],
            "mixed CCA, protein side only": [mixed.transform(proteins[rows]) for rows in (fit, test)],
            "SVD of log RNA": [svd.transform(logged.transform(rna[rows])) for rows in (fit, test)],
        }
        for cell, (marker, _) in MARKERS.items():
            high = upper_mode(proteins[:, names.index(marker)])
            scores["genes known for the cell type"][cell].append(
                roc_auc_score(high[test], np.asarray(known[cell])[test])
            )
            for name, (seen, unseen) in both.items():  # the factor is chosen on the cells it was fitted to
                aucs = [roc_auc_score(high[fit], seen[:, k]) for k in range(10)]
                best = int(np.argmax(np.abs(np.array(aucs) - 0.5)))
                sign = 1 if aucs[best] > 0.5 else -1
                scores[name][cell].append(roc_auc_score(high[test], sign * unseen[:, best]))
    show("CITE-seq, 500 cells, 5 folds: AUC of the best single factor for cells high in a marker protein", dict(scores))
