"""Brute-force twins of the moments: loops over documents and words, for tiny sizes."""

from itertools import product

import numpy as np


def lda_weights(lengths, weights):
    """Weight of each document's tuples of one, two and three words, written out from the definitions."""
    result = []
    for order in (1, 2, 3):
        tuples = np.array([np.prod([max(L - i, 0) for i in range(order)]) for L in lengths], dtype=float)
        if weights == "length":
            share = tuples.copy()
        else:
            power = 0.0 if weights == "uniform" else weights
            share = np.array([float(L) ** power if t > 0 else 0.0 for L, t in zip(lengths, tuples)])
        total = share.sum()
        result.append(np.array([s / total / t if t > 0 and total > 0 else 0.0 for s, t in zip(share, tuples)]))
    return result


def lda_tensors(X, weights, c0):
    """M1, S and T of LDA from every pair and triple of distinct tokens of every document."""
    N, M = X.shape
    w1, w2, w3 = lda_weights(X.sum(axis=1), weights)
    M1, M2, M3 = np.zeros(M), np.zeros((M, M)), np.zeros((M, M, M))
    for n in range(N):
        tokens = np.repeat(np.arange(M), X[n].astype(int))
        for i, a in enumerate(tokens):
            M1[a] += w1[n]
            for j, b in enumerate(tokens):
                if j == i:
                    continue
                M2[a, b] += w2[n]
                for k, c in enumerate(tokens):
                    if k not in (i, j):
                        M3[a, b, c] += w3[n]
    S = M2 - c0 / (c0 + 1) * np.outer(M1, M1)
    T = M3.copy()
    for a, b, c in product(range(M), repeat=3):
        T[a, b, c] -= c0 / (c0 + 2) * (M2[a, b] * M1[c] + M2[a, c] * M1[b] + M2[b, c] * M1[a])
        T[a, b, c] += 2 * c0**2 / ((c0 + 1) * (c0 + 2)) * M1[a] * M1[b] * M1[c]
    return M1, S, T


def discrete_ica_tensors(X):
    """Mean, S and T of discrete ICA from the unbiased estimates of the first three cumulants."""
    N, M = X.shape
    mean = X.mean(axis=0)
    Z = X - mean
    cov = np.zeros((M, M))
    cum = np.zeros((M, M, M))
    for n in range(N):
        for a, b in product(range(M), repeat=2):
            cov[a, b] += Z[n, a] * Z[n, b] / (N - 1)
            for c in range(M):
                cum[a, b, c] += N / ((N - 1) * (N - 2)) * Z[n, a] * Z[n, b] * Z[n, c]
    S = cov - np.diag(mean)
    T = cum.copy()
    for a, b, c in product(range(M), repeat=3):
        T[a, b, c] += 2 * (a == b == c) * mean[a]
        T[a, b, c] -= (b == c) * cov[a, b] + (a == c) * cov[a, b] + (a == b) * cov[a, c]
    return mean, S, T


def generalised_s_covariance(X, t):
    """exp(-t) (C(t) - diag E(t)) exp(-t) of discrete ICA, eqs (4.31), (4.32) and (4.35) of the thesis."""
    N, M = X.shape
    weights = np.array([np.exp(t @ x) for x in X])
    weights /= weights.sum()
    E, C = np.zeros(M), np.zeros((M, M))
    for n in range(N):
        E += weights[n] * X[n]
        C += weights[n] * np.outer(X[n], X[n])
    C -= np.outer(E, E)
    scale = np.diag(np.exp(-t))
    return scale @ (C - np.diag(E)) @ scale


def whitened(T, W):
    """T(W, W, W)."""
    return np.einsum("abc,ia,jb,kc->ijk", T, W, W, W)


def row_contractions(T, V):
    """T(v_j, v_j, e_m)."""
    return np.einsum("abm,ja,jb->jm", T, V, V)
