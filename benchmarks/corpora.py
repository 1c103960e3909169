"""Real corpora for the benchmarks, where they lie beside the project, and samples that need no file."""

import gzip
from pathlib import Path

import numpy as np
from scipy import sparse

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def available(name: str) -> bool:
    """Tell whether the files of a corpus are there."""
    return (DATA / name).is_dir()


def load(name: str) -> sparse.csr_array:
    """Return the counts of a corpus: a name of ``FOLDERS``, or "gp50k" (a gamma-Poisson sample)."""
    if name == "gp50k":
        return _gamma_poisson()
    collection, _, side = name.partition("_")
    if collection == "europarl":
        return _europarl(side)
    if collection == "canada":
        return _canada(side)
    return {"ap": _ap, "nips": _nips}[name]()


# Where corpora are read from; those of two sides are texts in English and in French.
FOLDERS = {
    "ap": "ap",
    "nips": "nips",
    "europarl_en": "europarl_en_fr",
    "europarl_fr": "europarl_en_fr",
    "canada_en": "canada_acts_en_fr",
    "canada_fr": "canada_acts_en_fr",
}


def vocabulary(name: str) -> list[str]:
    """Return the words of a corpus."""
    side = name.partition("_")[2]
    return (DATA / folder(name) / f"vocab{side and '_' + side}.txt").read_text().splitlines()


def folder(name: str) -> str:
    """Return the folder that a corpus is read from, or an empty string for a sample."""
    return FOLDERS.get(name, "")


def _ap() -> sparse.csr_array:
    indptr, indices, counts = [0], [], []
    with gzip.open(DATA / "ap" / "ap.dat.gz", "rt") as lines:
        for line in lines:
            pairs = [pair.split(":") for pair in line.split()[1:]]
            indices += [int(word) for word, _ in pairs]
            counts += [float(count) for _, count in pairs]
            indptr.append(len(indices))
    matrix = sparse.csr_array((counts, indices, indptr))
    matrix.sum_duplicates()
    return matrix


def _nips() -> sparse.csr_array:
    return sparse.csr_array(sparse.load_npz(DATA / "nips" / "counts.npz"), dtype=np.float64)


def _europarl(side: str = "en") -> sparse.csr_array:
    """Column numbers are stored as the gaps between them, in two bytes."""
    with np.load(DATA / "europarl_en_fr" / f"counts_{side}.npz") as stored:
        indptr = np.concatenate([[0], np.cumsum(stored["nnz_row"], dtype=np.int64)])
        running = np.cumsum(stored["gap_hi"].astype(np.int64) * 256 + stored["gap_lo"])
        before = np.concatenate([[0], running])[indptr[:-1]]
        columns = (running - np.repeat(before, np.diff(indptr))).astype(np.int32)
        counts = sparse.csr_array((stored["data"].astype(np.float64), columns, indptr), shape=tuple(stored["shape"]))
    counts.sort_indices()
    return counts


def _canada(side: str) -> sparse.csr_array:
    """Sections of the Acts of Canada with all their words, also stop words, that are in five of them or more."""
    from polyad.corpus import ReadOptions, TextOptions, read_corpus

    file = DATA / "canada_acts_en_fr" / "sections.jsonl.gz"
    words = TextOptions(stop_words=None, min_df=5)
    return read_corpus(file, words, reading=ReadOptions(text_column=side)).counts.astype(np.float64)


def _gamma_poisson() -> sparse.csr_array:
    from polyad.datasets import make_gamma_poisson

    return make_gamma_poisson(50_000, 10_000, 50, mean_length=200.0, prior=0.05, random_state=0).counts
