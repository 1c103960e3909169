"""Brute-force twins of the moments: loops over documents and words, for tiny sizes."""

from itertools import permutations, product
from math import factorial

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


def spherical_tensors(X, variance, along):
    """Second and third moment of the means of round Gaussians, about the mean of all points, from the definitions.

    ``along`` are orthonormal rows without any of the means; the last coordinate of the tensors is the constant 1.
    """
    N, M = X.shape
    mean = X.mean(axis=0)
    second, third, skew = np.zeros((M + 1, M + 1)), np.zeros((M + 1, M + 1, M + 1)), np.zeros(M + 1)
    for x in X:
        z = np.append(x - mean, 1.0)
        second += np.outer(z, z) / N
        third += np.einsum("i,j,k->ijk", z, z, z) / N
        skew += z * np.mean([(v @ (x - mean)) ** 2 for v in along]) / N
    for i in range(M):
        second[i, i] -= variance
    skew[M] = variance  # the variances of all components, weighted
    for a, b, c in product(range(M + 1), repeat=3):
        third[a, b, c] -= skew[a] * (b == c < M) + skew[b] * (a == c < M) + skew[c] * (a == b < M)
    return second, third


def gaussian_mixture_log_likelihoods(X, weights, means, covariances):
    """Log-density of each row of a mixture of Gaussians with full covariances, term by term."""
    found = []
    for x in X:
        density = 0.0
        for w, m, C in zip(weights, means, covariances):
            distance = (x - m) @ np.linalg.inv(C) @ (x - m)
            density += w * np.exp(-0.5 * distance) / np.sqrt((2 * np.pi) ** len(x) * np.linalg.det(C))
        found.append(np.log(density))
    return np.array(found)


def chain_by_enumeration(densities, start, transitions):
    """Likelihood, state posteriors and likeliest path of one sequence, from every path of states."""
    T, K = densities.shape
    likelihood, posterior, best, best_path = 0.0, np.zeros((T, K)), -1.0, None
    for path in product(range(K), repeat=T):
        p = start[path[0]] * densities[0, path[0]]
        for t in range(1, T):
            p *= transitions[path[t - 1], path[t]] * densities[t, path[t]]
        likelihood += p
        for t, state in enumerate(path):
            posterior[t, state] += p
        if p > best:
            best, best_path = p, path
    return likelihood, posterior / likelihood, best, np.array(best_path)


def window_tensors(sequences, features, size):
    """E[past future'] and E[past future' now] of all windows of 2 size + 1 rows, one after the other."""
    second, third, n = 0.0, 0.0, 0
    for rows in sequences:
        phi = [features(row) for row in rows]
        for t in range(size, len(rows) - size):
            past = np.concatenate([phi[t - lag] for lag in range(1, size + 1)])
            future = np.concatenate([phi[t + lag] for lag in range(1, size + 1)])
            second = second + np.outer(past, future)
            third = third + np.einsum("i,j,f->fij", past, future, phi[t])
            n += 1
    return second / n, third / n, n


def three_view_tensors(rows_of_features):
    """E[a b'] and E[a b' c] from the features of every row, one row after the other."""
    second, third, n = 0.0, 0.0, 0
    for a, b, c in rows_of_features:
        second = second + np.outer(a, b)
        third = third + np.einsum("i,j,f->fij", a, b, c)
        n += 1
    return second / n, third / n


def class_log_likelihood(row, weights, components, variances, kinds):
    """Log-likelihood of one row of several views, value by value; NaN and views without counts are left out."""
    likelihood = 0.0
    for k, w in enumerate(weights):
        p = w
        for x, shown, spread, kind in zip(row, components, variances, kinds):
            if kind == "counts":
                tokens = np.repeat(np.arange(len(x)), x.astype(int))
                orders = factorial(len(tokens)) / np.prod([factorial(int(n)) for n in x])
                p *= orders * np.prod([shown[k, token] for token in tokens])
            elif kind == "categorical":
                p *= 1.0 if np.isnan(x[0]) else shown[k, int(x[0])]
            else:
                for m, value in enumerate(x):
                    if np.isnan(value):
                        continue
                    if kind == "binary":
                        p *= shown[k, m] if value else 1 - shown[k, m]
                    else:
                        s = spread[k, m]
                        p *= np.exp(-0.5 * (value - shown[k, m]) ** 2 / s) / np.sqrt(2 * np.pi * s)
        likelihood += p
    return np.log(likelihood)


def exchangeable_pairs(views):
    """Covariances of all ordered pairs of views that differ, averaged, with the mean of all views."""
    mean = np.mean([row for view in views for row in view], axis=0)
    pairs, n = 0.0, 0
    for a, left in enumerate(views):
        for b, right in enumerate(views):
            if a != b:
                for x, y in zip(left, right):
                    pairs = pairs + np.outer(x - mean, y - mean)
                    n += 1
    return mean, pairs / n


def exchangeable_triples(groups, mean, pairs, poisson):
    """Triples of two groups of views, of which one stands twice, or of three; all M x M x M, row by row."""
    M, N = mean.size, len(groups[0][0])
    triples = np.zeros((M, M, M))
    for n in range(N):
        rows = [np.mean([view[n] for view in group], axis=0) - mean for group in groups]
        if len(rows) == 3:
            orders = list(permutations(rows))
        else:
            a, b = rows
            orders = [(a, a, b), (a, b, a), (b, a, a), (b, b, a), (b, a, b), (a, b, b)]
        for x, y, z in orders:
            triples += np.einsum("i,j,k->ijk", x, y, z) / (6 * N)
    if poisson:
        for group in groups:
            for i in range(M):
                for k in range(M):
                    for place in ((i, i, k), (i, k, i), (k, i, i)):
                        triples[place] -= pairs[i, k] / (6 * len(group))
    return triples


def exchangeable_quadruples(groups, mean, pairs, poisson):
    """Fourth cumulants of two groups of views that stand twice, or of four, all M x M x M x M, row by row."""
    M, N = mean.size, len(groups[0][0])
    left, right, both = np.zeros((M, M)), np.zeros((M, M)), np.zeros((M, M, M, M))
    for n in range(N):
        rows = [np.mean([view[n] for view in group], axis=0) - mean for group in groups]
        s, t = np.outer(rows[0], rows[-2]), np.outer(rows[1], rows[-1])
        if poisson:
            s = s - np.diag(rows[0] + mean) / len(groups[0])
            t = t - np.diag(rows[1] + mean) / len(groups[1])
        left, right = left + s / N, right + t / N
        both += np.einsum("ij,kl->ikjl", s, t) / N  # the groups of s and t in turn
    expected = np.einsum("ij,kl->ikjl", left, right)
    return both - expected - np.einsum("ik,jl->ikjl", pairs, pairs) - np.einsum("il,jk->ikjl", pairs, pairs)


def told_smoothing(first, second):
    """The Dirichlet parameter of topics, from tokens of two halves, words x topics: one pair of topics at a time."""
    M, K = first.shape
    weights = (first + second).sum(axis=0) / (first + second).sum()
    topics = [half / half.sum(axis=0) for half in (first, second)]
    product = {(k, j): sum(topics[0][:, k] * topics[1][:, j]) for k in range(K) for j in range(K)}
    same = sum(weights[k] * product[k, k] for k in range(K))
    pairs = [(k, j) for k in range(K) for j in range(K) if k != j]
    chances = {pair: weights[pair[0]] * weights[pair[1]] for pair in pairs}
    different = sum(chances[pair] * product[pair] for pair in pairs) / sum(chances.values())
    if M * same <= 1:
        return None
    shared = (M * different - 1) / (M * same - 1)
    spread = sum((chance / sum(chances.values())) ** 2 for chance in chances.values())  # both orders of a pair are one
    if shared > max(min(0.05, 2 / (M - 1) ** 0.5), 3 * (2 * spread / (M - 1)) ** 0.5):
        return None
    b = max((1 - same) / (M * same - 1), 0.1 / K)
    return b if K * b <= 2 or K * b >= 8 or (first + second).sum() >= 10 * K * M else None
