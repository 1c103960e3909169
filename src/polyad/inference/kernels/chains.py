"""Compiled loops over sequences: forward and backward probabilities, scaled, and the likeliest path.

Arithmetic is strict: sums of a few states gain nothing from another order, and the bytes are those of the definition.
"""

import numpy as np

from polyad.base.compiled import compiled


@compiled
def forward_backward(logs, begins, start, transitions):  # type: ignore[no-untyped-def]
    """Return posteriors, expected first states, expected transitions and the log-likelihood of some sequences.

    Parameters
    ----------
    logs
        n x K: log p(row | state).
    begins
        First row of each sequence, and the number of rows.
    start, transitions
        K and K x K.
    """
    n, K = logs.shape
    densities, forward, scales = np.empty((n, K)), np.empty((n, K)), np.empty(n)
    posterior = np.empty((n, K))
    firsts, pairs = np.zeros(K), np.zeros((K, K))
    backward, ahead = np.empty(K), np.empty(K)
    transposed = transitions.T.copy()
    likelihood, product = 0.0, 1.0  # a logarithm for every row would take a third of the time
    for s in range(begins.size - 1):
        first, last = begins[s], begins[s + 1]
        for t in range(first, last):
            for j in range(K):
                forward[t, j] = start[j] if t == first else 0.0
            if t > first:
                for i in range(K):
                    before = forward[t - 1, i]
                    for j in range(K):
                        forward[t, j] += before * transitions[i, j]
            largest = logs[t, 0]
            for j in range(1, K):
                largest = max(largest, logs[t, j])
            size = 0.0
            for j in range(K):
                densities[t, j] = np.exp(logs[t, j] - largest)
                forward[t, j] *= densities[t, j]
                size += forward[t, j]
            size = max(size, 1e-300)
            scales[t] = size
            likelihood += largest
            if size > 1e-150:
                product *= size
            else:
                likelihood += np.log(size)
            if product < 1e-150:
                likelihood += np.log(product)
                product = 1.0
            for j in range(K):
                forward[t, j] /= size
        for j in range(K):
            backward[j] = 1.0
            posterior[last - 1, j] = forward[last - 1, j]
        for t in range(last - 2, first - 1, -1):
            for j in range(K):
                ahead[j] = densities[t + 1, j] * backward[j] / scales[t + 1]
                backward[j] = 0.0
            for j in range(K):
                for i in range(K):
                    backward[i] += transposed[j, i] * ahead[j]
            for i in range(K):
                before = forward[t, i]
                for j in range(K):
                    pairs[i, j] += before * ahead[j]
                posterior[t, i] = before * backward[i]
        for j in range(K):
            firsts[j] += posterior[first, j]
    for i in range(K):
        for j in range(K):
            pairs[i, j] *= transitions[i, j]
    return posterior, firsts, pairs, likelihood + np.log(product)


@compiled
def forward_likelihood(logs, begins, start, transitions):  # type: ignore[no-untyped-def]
    """Return the log-likelihood of some sequences, as :func:`forward_backward` does, and nothing else.

    Parameters
    ----------
    logs
        n x K: log p(row | state).
    begins
        First row of each sequence, and the number of rows.
    start, transitions
        K and K x K.
    """
    K = logs.shape[1]
    before, now = np.empty(K), np.empty(K)
    likelihood = 0.0
    for s in range(begins.size - 1):
        first, last = begins[s], begins[s + 1]
        for t in range(first, last):
            for j in range(K):
                now[j] = start[j] if t == first else 0.0
            if t > first:
                for i in range(K):
                    for j in range(K):
                        now[j] += before[i] * transitions[i, j]
            largest = logs[t, 0]
            for j in range(1, K):
                largest = max(largest, logs[t, j])
            size = 0.0
            for j in range(K):
                now[j] *= np.exp(logs[t, j] - largest)
                size += now[j]
            size = max(size, 1e-300)
            likelihood += largest + np.log(size)
            for j in range(K):
                before[j] = now[j] / size
    return likelihood


@compiled
def likeliest_paths(logs, begins, log_start, log_transitions):  # type: ignore[no-untyped-def]
    """Return the likeliest states of some sequences (Viterbi), and the log-probability of each path with its rows.

    Parameters
    ----------
    logs
        n x K: log p(row | state).
    begins
        First row of each sequence, and the number of rows.
    log_start, log_transitions
        K and K x K.
    """
    n, K = logs.shape
    path, back = np.empty(n, np.int64), np.empty((n, K), np.int64)
    best, after = np.empty(K), np.empty(K)
    found = np.empty(begins.size - 1)
    for s in range(begins.size - 1):
        first, last = begins[s], begins[s + 1]
        for j in range(K):
            best[j] = log_start[j] + logs[first, j]
        for t in range(first + 1, last):
            for j in range(K):
                chosen, value = 0, best[0] + log_transitions[0, j]
                for i in range(1, K):
                    other = best[i] + log_transitions[i, j]
                    if other > value:
                        chosen, value = i, other
                back[t, j] = chosen
                after[j] = value + logs[t, j]
            for j in range(K):
                best[j] = after[j]
        state = 0
        for j in range(1, K):
            if best[j] > best[state]:
                state = j
        found[s] = best[state]
        for t in range(last - 1, first - 1, -1):
            path[t] = state
            if t > first:
                state = back[t, state]
    return path, found
