"""Topics from moments, step by step, with every way of the papers to choose the matrices that are diagonalised."""

import time

import numpy as np

from polyad.decompose import simplex_rows, whiten
from polyad.decompose.orthogonal.jacobi import jacobi
from polyad.decompose.orthogonal.power import tensor_power
from polyad.decompose.orthogonal.spectral import spectral
from polyad.engine import count_blocks, single_threaded_blas, use
from polyad.metrics import match_rows
from polyad.moments import discrete_ica_moments, raw_moments
from polyad.moments.symmetric import SymmetricMoments

METHODS = ("JD", "JD(k)", "JD(f)", "Spec", "TPM")


def moments_of(counts, kind: str, total: float) -> SymmetricMoments:
    """Return "GP" (cumulants of discrete ICA), "LDA" (moments, uniform weights) or "LDA length" (length weights)."""
    source = count_blocks(counts)
    if kind == "GP":
        return discrete_ica_moments(source)
    return raw_moments(source, "uniform" if kind == "LDA" else "length").at(total)


def topics_by(moments: SymmetricMoments, K: int, method: str, seed: int = 0) -> np.ndarray:
    """Return topics by a diagonaliser of the discrete ICA paper: whiten, contract, diagonalise, turn back, clip."""
    with single_threaded_blas():
        whitener = whiten(moments.second, K, strict=False).whitener
        images = moments.second @ whitener.T
        tensor = np.asarray(moments.third(whitener, images))
        rotation = _rotation(tensor, images, method, seed)
        return simplex_rows((images @ rotation).T)


def _rotation(tensor, images, method, seed):
    K = tensor.shape[0]
    if method == "JD(k)":  # option (a) of Algorithm 1: directions drawn on the sphere
        directions = np.random.default_rng(seed).standard_normal((K, K))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return jacobi(np.tensordot(directions, tensor, axes=1)).rotation
    if method == "JD(f)":  # every word of the vocabulary
        return jacobi(np.tensordot(images, tensor, axes=1)).rotation
    if method == "Spec":
        direction = np.random.default_rng(seed).standard_normal((1, K))
        return spectral(tensor, directions=direction / np.linalg.norm(direction)).rotation
    return {"JD": jacobi, "TPM": tensor_power}[method](tensor).rotation


def timed_topics(counts, K: int, kind: str, total: float, method: str, seed: int) -> tuple[np.ndarray, float]:
    """Return topics and the seconds that they took, moments included."""
    started = time.perf_counter()
    with use():
        topics = topics_by(moments_of(counts, kind, total), K, method, seed)
    return topics, time.perf_counter() - started


def l2_error(estimated: np.ndarray, true: np.ndarray) -> float:
    """Return the mean l2 distance of matched topics, each with unit l2 norm, over sqrt(2): in [0, 1]."""
    order = match_rows(estimated, true)
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (estimated[order], true)]
    return float(np.linalg.norm(unit[0] - unit[1], axis=1).mean() / np.sqrt(2))
