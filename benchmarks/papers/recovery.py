"""Topics from moments, step by step, with every way of the papers to choose the matrices that are diagonalised."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from polyad.decompose import simplex_rows, whiten
from polyad.decompose.orthogonal.jacobi import jacobi
from polyad.decompose.orthogonal.power import tensor_power
from polyad.decompose.orthogonal.spectral import spectral
from polyad.engine import count_blocks, single_threaded_blas, use
from polyad.metrics import match_rows
from polyad.moments import discrete_ica_moments, raw_moments

METHODS = ("JD", "JD(k)", "JD(f)", "Spec", "TPM")


@dataclass(frozen=True)
class Whitened:
    """What every diagonaliser starts from: S W', the whitened tensor, and the CPU seconds that both took."""

    images: np.ndarray
    tensor: np.ndarray
    seconds: float


def whitened(counts, K: int, kind: str, total: float) -> Whitened:
    """Whiten "GP" (cumulants of discrete ICA), "LDA" (moments, uniform weights) or "LDA length" (length weights)."""
    started = time.process_time()
    with use(), single_threaded_blas():
        source = count_blocks(counts)
        moments = (
            discrete_ica_moments(source)
            if kind == "GP"
            else raw_moments(source, "uniform" if kind == "LDA" else "length").at(total)
        )
        whitener = whiten(moments.second, K, strict=False).whitener
        images = moments.second @ whitener.T
        tensor = np.asarray(moments.third(whitener, images))
    return Whitened(images, tensor, time.process_time() - started)


def whitened_at_totals(counts, K: int, weights: str, totals: Sequence[float]) -> list[Whitened]:
    """Whiten moments of LDA at several totals of the prior with one whitening of the raw second moment."""
    started = time.process_time()
    with use(), single_threaded_blas():
        raw = raw_moments(count_blocks(counts), weights)
        projected = raw.project(whiten(raw.moments.second, K, strict=False).whitener)
        found = []
        for total in totals:
            whitener, tensor = projected.at(total)
            images = raw.at(total).second @ whitener.T
            found.append(Whitened(images, tensor, time.process_time() - started))
    return found


def topics_by(start: Whitened, method: str, seed: int = 0) -> tuple[np.ndarray, float]:
    """Return topics by a diagonaliser of the discrete ICA paper, and the CPU seconds from the counts on."""
    _compile()
    started = time.process_time()
    with single_threaded_blas():
        rotation = _rotation(start.tensor, start.images, method, seed)
    topics = simplex_rows((start.images @ rotation).T)
    return topics, start.seconds + time.process_time() - started


@cache
def _compile() -> None:
    """Run every diagonaliser once: compiled code is loaded before the clock starts."""
    tensor = np.zeros((3, 3, 3))
    tensor[range(3), range(3), range(3)] = 1.0, 2.0, 3.0
    for method in METHODS:
        _rotation(tensor, np.eye(3), method, 0)


def _rotation(tensor, images, method, seed):
    K = tensor.shape[0]
    if method == "JD(k)":  # option (a) of Algorithm 1: directions drawn on the sphere
        directions = np.random.default_rng(seed).standard_normal((K, K))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return jacobi(np.tensordot(directions, tensor, axes=1)).rotation
    if method == "JD(f)":
        # Every word of the vocabulary. The sum of squares that the rotation minimises depends on the Gram matrix of
        # the directions alone: K of them with the same Gram matrix do for all M words.
        return jacobi(np.tensordot(np.linalg.qr(images, mode="r"), tensor, axes=1)).rotation
    if method == "Spec":
        direction = np.random.default_rng(seed).standard_normal((1, K))
        return spectral(tensor, directions=direction / np.linalg.norm(direction)).rotation
    return {"JD": jacobi, "TPM": tensor_power}[method](tensor).rotation


def l2_error(estimated: np.ndarray, true: np.ndarray) -> float:
    """Return the mean l2 distance of matched topics, each with unit l2 norm, over sqrt(2): in [0, 1]."""
    order = match_rows(estimated, true)
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (estimated[order], true)]
    return float(np.linalg.norm(unit[0] - unit[1], axis=1).mean() / np.sqrt(2))
