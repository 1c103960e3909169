"""What a hidden class or state shows: densities of rows, and their parameters from expected sums.

Every kind has the same three parts: ``log_densities(rows)``, n x K; ``sums(rows, posterior)``, what a pass adds up; and
``maximised(sums)``, the parameters that these sums make likeliest. NaN in a dense row is a value that was not seen: it
is left out of all three.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy.special import gammaln

from polyad.base.arrays import FloatArray
from polyad.engine.blocks import is_sparse
from polyad.inference.mixtures.passes import further, further_shares

TINY = 1e-300
PRIOR_SHARE = 0.1  # of the variance of all rows: squares that every Gaussian component is given in each column


class Emission(Protocol):
    """What all kinds can do."""

    @property
    def n_components(self) -> int:
        """K."""
        ...

    def log_densities(self, rows: Any) -> FloatArray:
        """Return log p(row | component), n x K."""
        ...

    def sums(self, rows: Any, posterior: FloatArray) -> tuple[FloatArray, ...]:
        """Return the sums over rows that :meth:`maximised` needs."""
        ...

    def maximised(self, sums: tuple[FloatArray, ...]) -> "Emission":
        """Return the parameters that are likeliest given these sums."""
        ...

    def taken(self, order: Any) -> "Emission":
        """Return the components in another order."""
        ...


@dataclass(frozen=True)
class Multinomial:
    """Counts over M symbols; a row with one count is a category."""

    probabilities: FloatArray  # K x M
    smoothing: float = 0.0  # tokens added to every symbol of every component

    @property
    def n_components(self) -> int:
        """K."""
        return int(self.probabilities.shape[0])

    def log_densities(self, rows: Any) -> FloatArray:
        """Return the log-probability of the counts of each row."""
        table = np.ascontiguousarray(np.log(np.maximum(self.probabilities, TINY)).T)
        if not _is_categories(rows):
            logs: FloatArray = rows @ table
            return logs + _log_orders(rows)[:, None]
        if rows.indices.size == rows.shape[0]:
            return table[rows.indices]
        found = np.zeros((rows.shape[0], table.shape[1]))
        found[np.diff(rows.indptr) > 0] = table[rows.indices]
        return found

    def sums(self, rows: Any, posterior: FloatArray) -> tuple[FloatArray, ...]:
        """Return the expected counts, M x K."""
        return (np.asarray(rows.T @ posterior),)

    def maximised(self, sums: tuple[FloatArray, ...]) -> "Multinomial":
        """Return the shares of the expected counts."""
        counts = sums[0].T + self.smoothing
        totals = counts.sum(axis=1, keepdims=True)
        return replace(self, probabilities=np.where(totals > 0, counts / np.maximum(totals, TINY), self.probabilities))

    def taken(self, order: Any) -> "Multinomial":
        """Return the components in another order."""
        return replace(self, probabilities=self.probabilities[order])


def _is_categories(rows: Any) -> bool:
    """Tell rows with a single 1, or with nothing, which have one order each."""
    if not is_sparse(rows) or rows.indices.size > rows.shape[0]:
        return False
    return bool((rows.data == 1).all()) and bool((np.diff(rows.indptr) <= 1).all())


def _log_orders(rows: Any) -> FloatArray:
    """Return the logarithm of the number of orders that the tokens of each row can have."""
    if is_sparse(rows):
        totals = np.asarray(rows.sum(axis=1)).ravel()
        logs = rows.copy()
        logs.data = gammaln(logs.data + 1)
        return gammaln(totals + 1) - np.asarray(logs.sum(axis=1)).ravel()
    return gammaln(rows.sum(axis=1) + 1) - gammaln(rows + 1).sum(axis=1)


@dataclass(frozen=True)
class Poisson:
    """Independent Poisson counts."""

    rates: FloatArray  # K x M
    floor: float = 1e-6  # smallest rate: a count where a component has none must not be impossible

    @property
    def n_components(self) -> int:
        """K."""
        return int(self.rates.shape[0])

    def log_densities(self, rows: Any) -> FloatArray:
        """Return the log-probability of the counts of each row."""
        logs: FloatArray = rows @ np.log(np.maximum(self.rates, TINY)).T
        return logs - self.rates.sum(axis=1) - _log_factorials(rows)[:, None]

    def sums(self, rows: Any, posterior: FloatArray) -> tuple[FloatArray, ...]:
        """Return the expected counts, M x K, and the expected rows."""
        return np.asarray(rows.T @ posterior), posterior.sum(axis=0)

    def maximised(self, sums: tuple[FloatArray, ...]) -> "Poisson":
        """Return the mean counts."""
        counts, n_rows = sums
        means = counts.T / np.maximum(n_rows, TINY)[:, None]
        return replace(self, rates=np.where(n_rows[:, None] > 1e-8, np.maximum(means, self.floor), self.rates))

    def taken(self, order: Any) -> "Poisson":
        """Return the components in another order."""
        return replace(self, rates=self.rates[order])


def _log_factorials(rows: Any) -> FloatArray:
    if is_sparse(rows):
        logs = rows.copy()
        logs.data = gammaln(logs.data + 1)
        return np.asarray(logs.sum(axis=1)).ravel()
    return np.asarray(gammaln(rows + 1).sum(axis=1))


@dataclass(frozen=True)
class Bernoulli:
    """Independent columns of 0 and 1; NaN was not seen."""

    probabilities: FloatArray  # K x M, of a 1
    smoothing: float = 0.0  # rows with a 1, and rows with a 0, added to every column of every component

    @property
    def n_components(self) -> int:
        """K."""
        return int(self.probabilities.shape[0])

    def log_densities(self, rows: FloatArray) -> FloatArray:
        """Return the log-probability of what was seen of each row."""
        seen = ~np.isnan(rows)
        ones = np.where(seen, rows, 0.0)
        log_one = np.log(np.maximum(self.probabilities, TINY))
        log_zero = np.log(np.maximum(1 - self.probabilities, TINY))
        return ones @ (log_one - log_zero).T + seen.astype(np.float64) @ log_zero.T

    def sums(self, rows: FloatArray, posterior: FloatArray) -> tuple[FloatArray, ...]:
        """Return the expected ones, and the expected rows seen, K x M each."""
        seen = ~np.isnan(rows)
        return posterior.T @ np.where(seen, rows, 0.0), posterior.T @ seen.astype(np.float64)

    def maximised(self, sums: tuple[FloatArray, ...]) -> "Bernoulli":
        """Return the shares of ones."""
        ones, seen = sums
        sizes = seen + 2 * self.smoothing
        shares = np.where(sizes > 1e-8, (ones + self.smoothing) / np.maximum(sizes, TINY), self.probabilities)
        return replace(self, probabilities=np.clip(shares, 0.0, 1.0))

    def taken(self, order: Any) -> "Bernoulli":
        """Return the components in another order."""
        return replace(self, probabilities=self.probabilities[order])


@dataclass(frozen=True)
class Gaussian:
    """Independent Gaussian columns; NaN was not seen."""

    # K x M each.
    means: FloatArray
    variances: FloatArray
    centre: FloatArray  # M: taken off all values, so that squares do not lose what is far from 0
    floor: FloatArray  # M: added to every variance
    # M: squares that every component is given in each column, so many times, and no rows with them. That is the prior
    # exp(-prior / 2 variance), under which a component of one row has a bounded likelihood, and one of many rows moves
    # by next to nothing.
    prior: FloatArray
    prior_points: float = 1.0

    @property
    def n_components(self) -> int:
        """K."""
        return int(self.means.shape[0])

    def log_densities(self, rows: FloatArray) -> FloatArray:
        """Return the log-density of what was seen of each row."""
        values, seen = self._centred(rows)
        means, factors = self.means - self.centre, 1 / self.variances
        constants = (means**2 * factors + np.log(2 * np.pi * self.variances)).T
        scaled = (means * factors).T
        squares = values**2 @ factors.T - 2 * values @ scaled
        return -0.5 * (squares + (constants.sum(axis=0) if seen is None else seen @ constants))

    def sums(self, rows: FloatArray, posterior: FloatArray) -> tuple[FloatArray, ...]:
        """Return expected values seen, their sums and their squares, K x M each."""
        values, seen = self._centred(rows)
        sizes = np.repeat(posterior.sum(axis=0)[:, None], rows.shape[1], axis=1) if seen is None else posterior.T @ seen
        return sizes, posterior.T @ values, posterior.T @ values**2

    def maximised(self, sums: tuple[FloatArray, ...]) -> "Gaussian":
        """Return means and variances."""
        sizes, firsts, squares = sums
        counts = np.maximum(sizes, 1e-8)
        means = firsts / counts
        scatters = np.maximum(squares - counts * means**2, 0.0) + self.prior_points * self.prior
        variances = scatters / counts + self.floor
        alive = sizes > 1e-8
        return replace(
            self,
            means=np.where(alive, means + self.centre, self.means),
            variances=np.where(alive, variances, self.variances),
        )

    def taken(self, order: Any) -> "Gaussian":
        """Return the components in another order."""
        return replace(self, means=self.means[order], variances=self.variances[order])

    def _centred(self, rows: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Return values less the centre, 0 where not seen, and what was seen; None for all."""
        values = rows - self.centre
        missing = np.isnan(values)
        if not missing.any():
            return values, None
        return np.where(missing, 0.0, values), (~missing).astype(np.float64)


def log_prior(emission: Emission) -> float:
    """Return what the smoothing of an emission adds to the log-likelihood."""
    if isinstance(emission, Multinomial):
        return emission.smoothing * float(np.log(np.maximum(emission.probabilities, TINY)).sum())
    if isinstance(emission, Bernoulli):
        p = emission.probabilities
        return emission.smoothing * float((np.log(np.maximum(p, TINY)) + np.log(np.maximum(1 - p, TINY))).sum())
    if isinstance(emission, Gaussian):
        return -0.5 * emission.prior_points * float((emission.prior / emission.variances).sum())
    return 0.0


def stretched(before: Emission, after: Emission, stretch: float) -> Emission:
    """Return an emission further along the way from one to another, of symbols, counts or values."""
    if isinstance(before, Multinomial) and isinstance(after, Multinomial):
        return replace(after, probabilities=further_shares(before.probabilities, after.probabilities, stretch))
    if isinstance(before, Poisson) and isinstance(after, Poisson):
        return replace(after, rates=np.maximum(further(before.rates, after.rates, stretch), after.floor))
    assert isinstance(before, Gaussian)
    assert isinstance(after, Gaussian)
    means = before.means + stretch * (after.means - before.means)
    return replace(after, means=means, variances=further(before.variances, after.variances, stretch))
