"""Mixtures of hidden classes that several views show: posteriors and passes of EM, each a sum over blocks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, rows, total
from polyad.inference.mixtures.emissions import TINY, Emission, log_prior
from polyad.inference.mixtures.gaussian import shares_and_evidence
from polyad.inference.mixtures.passes import Passes, passes_of_em


@dataclass(frozen=True)
class ClassMixture:
    """Parameters of a mixture with several views."""

    weights: FloatArray  # K probabilities of the classes
    emissions: tuple[Emission | None, ...]  # what the classes show in each view; None for a view that is left out

    def joint(self, block: Block) -> FloatArray:
        """Return log p(class, row), n x K."""
        found = np.repeat(np.log(np.maximum(self.weights, TINY))[None], block.n_rows, axis=0)
        for view, emission in zip(block.views, self.emissions):
            if emission is not None:
                found += emission.log_densities(view)
        return found

    def taken(self, order: Any) -> "ClassMixture":
        """Return the classes in another order."""
        shown = tuple(None if emission is None else emission.taken(order) for emission in self.emissions)
        return ClassMixture(self.weights[order], shown)


@dataclass(frozen=True)
class PolishedClasses(Passes):
    """A mixture after passes of EM."""

    mixture: ClassMixture  # its parameters


def class_posterior(source: Source, mixture: ClassMixture) -> FloatArray:
    """Return the posterior of each row's class, N x K."""
    return rows(_posterior, source, mixture)


def _posterior(block: Block, mixture: ClassMixture) -> FloatArray:
    return shares_and_evidence(mixture.joint(block))[0]


def class_log_likelihoods(source: Source, mixture: ClassMixture) -> FloatArray:
    """Return the log-likelihood of each row, N."""
    return rows(_evidence, source, mixture)


def _evidence(block: Block, mixture: ClassMixture) -> FloatArray:
    return shares_and_evidence(mixture.joint(block))[1]


def polish_classes(
    source: Source, mixture: ClassMixture, *, max_iter: int, tol: float, prior: float = 0.0
) -> PolishedClasses:
    """Improve a mixture by passes of EM.

    Parameters
    ----------
    source
        Aligned views.
    mixture
        Where to start.
    max_iter, tol
        Passes at most, and the gain per row, in nats, below which they end.
    prior
        Rows added to every class.
    """
    K = mixture.weights.size

    def expected(mixture: ClassMixture) -> tuple[float, Callable[[], ClassMixture]]:
        points, sums, likelihood = total(_expected, source, mixture)
        known = [emission for emission in mixture.emissions if emission is not None]
        logs = prior * float(np.log(np.maximum(mixture.weights, TINY)).sum()) + sum(map(log_prior, known))

        def maximised() -> ClassMixture:
            shown = tuple(
                None if emission is None else emission.maximised(of_view)
                for emission, of_view in zip(mixture.emissions, sums)
            )
            return ClassMixture((points + prior) / (source.n_rows + K * prior), shown)

        return (likelihood + logs) / source.n_rows, maximised

    went, found = passes_of_em(mixture, expected, max_iter=max_iter, tol=tol)
    return PolishedClasses(went.objective, went.converged, found)


def _expected(block: Block, mixture: ClassMixture) -> tuple[FloatArray, tuple[Any, ...], float]:
    """Return the expected rows of each class, the sums of every view, and the log-likelihood."""
    posterior, evidence = shares_and_evidence(mixture.joint(block))
    sums = tuple(
        () if emission is None else emission.sums(view, posterior)
        for view, emission in zip(block.views, mixture.emissions)
    )
    return posterior.sum(axis=0), sums, float(evidence.sum())
