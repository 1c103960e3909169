"""What the mixtures share: criteria of rows, and EM from several starts."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from polyad.base.arrays import FloatArray
from polyad.models.mixtures.diagnostics import MixtureDiagnostics
from polyad.models.saving import SavedModel
from polyad.models.showing import ShownModel


class PolishedStart(Protocol):
    """Where EM came from a start."""

    @property
    def objective(self) -> tuple[float, ...]:
        """What each pass found."""


Start = TypeVar("Start")
Polished = TypeVar("Polished", bound=PolishedStart)


class MixtureModel(SavedModel, ShownModel, BaseEstimator):  # type: ignore[misc]
    """Base of the mixtures; not a model by itself.

    A subclass has ``predict_proba`` and ``score_samples``, and says how many numbers it is free to choose.
    """

    has_topics: ClassVar[bool] = False
    n_views: ClassVar[int] = 1

    weights_: FloatArray
    diagnostics_: MixtureDiagnostics

    @property
    def n_iter_(self) -> int:
        """Passes of EM."""
        return self.diagnostics_.n_passes

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the posterior of each row's component, N x K; rows sum to 1."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest component of each row."""
        return self.predict_proba(X).argmax(axis=1)

    def score_samples(self, X: Any) -> Any:
        """Return the log-likelihood of each row, N."""
        raise NotImplementedError

    def score(self, X: Any, y: object = None) -> float:
        """Return the mean log-likelihood of a row, in nats."""
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion on X; the lower, the better."""
        likelihoods = self.score_samples(X)
        return float(-2 * likelihoods.sum() + self._n_parameters() * np.log(likelihoods.size))

    def aic(self, X: Any) -> float:
        """Return Akaike's information criterion on X; the lower, the better."""
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_parameters())

    def _n_parameters(self) -> int:
        raise NotImplementedError


def furthest(starts: Mapping[str, Start], polish: Callable[[Start], Polished], tol: float) -> tuple[str, Polished]:
    """Return the start that EM brings furthest, and where it brings it.

    First passes do not tell: on letters of a text the better of two starts is behind for forty of them.
    """
    found = {name: polish(start) for name, start in starts.items()}
    # The first start unless another is better by more than where passes end.
    best = max(found, key=lambda name: found[name].objective[-1] - (0.0 if name == "moments" else tol))
    return best, found[best]
