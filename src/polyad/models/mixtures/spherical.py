"""Mixtures of Gaussians by the method of moments, then EM."""

from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from polyad.base.arrays import FloatArray
from polyad.base.caller import warn_caller
from polyad.base.plurals import how_many
from polyad.engine import Source, expect, ordered_by_content
from polyad.engine.runners import in_this_thread
from polyad.inference.mixtures.gaussian import (
    COVARIANCE_TYPES,
    CovarianceRule,
    GaussianMixtureParameters,
    gaussian_log_densities,
    gaussian_posterior,
)
from polyad.models.checks import refuse_bad_numbers, refuse_unknown
from polyad.models.features import signal_source
from polyad.models.fitting import fitted_at_once, running
from polyad.models.mixtures.base import MixtureModel
from polyad.models.mixtures.diagnostics import MixtureDiagnostics
from polyad.models.mixtures.plan import mixture_plan
from polyad.models.recipes.gaussian import (
    FittedMixture,
    Starts,
    better_start,
    moment_start,
    polish_with_moves,
    sample_points,
    seed_start,
    with_covariances,
)
from polyad.models.recipes.mixture_certainty import gaussian_certainty
from polyad.models.stopwatch import StopWatch

ALONG_MEANS = "seeds along the means"  # told as seeds
THREADS_PAY = 5_000_000  # rows x columns x components from which on


class SphericalMixture(DensityMixin, MixtureModel):  # type: ignore[misc]
    """A mixture of Gaussians, started from its moments.

    The third moments of a mixture of round Gaussians tell their means, weights and variances exactly (Hsu and Kakade).
    EM begins there, or from seeds that lie far from each other where the first passes say that these are better: with
    more components than columns, with means that do not span as many directions, or with few points. Where EM has come
    to rest, components that share a group are put together and such as cover two are parted, as long as the likelihood
    grows. Nothing is drawn: the same points, in any order, give the same mixture.

    Names and meaning are those of scikit-learn's ``GaussianMixture``.

    Parameters
    ----------
    n_components
        K.
    covariance_type
        "spherical" (a variance for each component), "diag" (one for each column) or "full".
    shared
        Whether all components have the same covariance.
    start
        "moments", "seeds", or "auto" for the better of the two.
    max_iter
        Passes of EM at most; 0 leaves the moments as they are.
    tol
        EM has come to rest when a pass gains less than this for a point, in nats.
    reg_covar
        Added to every variance.
    prior_points
        Points with the mean covariance of a component that every component is given in addition to its own. Without
        them the likelihood of a component of one point has no bound, and EM finds such components in many dimensions.
    n_jobs
        Threads; None for all cores. The result does not depend on it.
    verbose
        1 draws a progress bar and tells how the fit went.

    Attributes
    ----------
    weights_, means_
        K probabilities, largest first, and K x M.
    covariances_
        K variances ("spherical"), K x M ("diag") or K x M x M ("full").
    covariance_rows_
        The same with one row for each component.
    precisions_
        Inverses of the covariances, in their shape.
    converged_, n_iter_, lower_bounds_, lower_bound_
        Whether EM came to rest, its passes, and what each and the last of them found: the mean log-likelihood of a
        point, with the prior points.
    diagnostics_
        A :class:`polyad.models.mixtures.MixtureDiagnostics`.

    Examples
    --------
    >>> from polyad.datasets import make_spherical_mixture
    >>> sample = make_spherical_mixture(2000, 10, 4, separation=6)
    >>> model = SphericalMixture(4).fit(sample.X)
    >>> model.diagnostics_.start, model.predict(sample.X[:5]).shape
    ('moments', (5,))
    >>> bool(abs(np.sort(model.weights_) - np.sort(sample.weights)).max() < 0.03)
    True
    """

    score = MixtureModel.score  # that of the mixin says nothing

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: Literal["spherical", "diag", "full"] = "spherical",
        shared: bool = False,
        start: Literal["auto", "moments", "seeds"] = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        reg_covar: float = 1e-6,
        prior_points: float = 1.0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.shared = shared
        self.start = start
        self.max_iter = max_iter
        self.tol = tol
        self.reg_covar = reg_covar
        self.prior_points = prior_points
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitted_at_once
    def fit(
        self,
        X: Any,
        y: object = None,
        *,
        checkpoint: Any = None,
        client: Any = None,
    ) -> Self:
        """Learn weights, means and covariances.

        Parameters
        ----------
        X
            Samples x columns: an array, a DataFrame, an iterable of blocks, or a source.
        y
            Not used.
        checkpoint, client
            As of :meth:`polyad.LDA.fit`.
        """
        self._refuse_bad_parameters()
        expect(mixture_plan(self.max_iter))
        source = self._source(X)
        with in_this_thread(source.n_rows * source.n_columns * self.n_components < THREADS_PAY):
            return self._learn(source)

    def _learn(self, given: Source) -> Self:
        watch = StopWatch()
        with watch("read"):
            source = ordered_by_content(given)
            points = sample_points(source, self.n_components)
        with watch("moments"):
            found, spectrum, note = self._moments(source)
        with watch("start"):
            starts = self._starts(None if found is None else found.mixture)
            rule = CovarianceRule(self.covariance_type, self.shared, self.reg_covar, None, float(self.prior_points))
            begun = better_start(source, points, starts, rule, max_iter=self.max_iter, tol=self.tol)
            name = "moments" if begun.name == "moments" else "seeds"
        with watch("polish"):
            fitted = FittedMixture(begun.polished, 0)
            if not begun.settled:
                fitted = polish_with_moves(
                    source, points, begun.polished, begun.rule, max_iter=self.max_iter, tol=self.tol
                )
        polished = fitted.polished
        self._set(_canonical(polished.mixture))
        if name == "seeds" and not note:
            note = "seeds had the higher likelihood after the first passes"
        with watch("certainty"):
            sure = gaussian_certainty(source, self._parameters(), shared=self.shared)
        self.diagnostics_ = MixtureDiagnostics(
            source.n_rows,
            spectrum,
            float("nan") if found is None else found.energy,
            name,
            note if name == "seeds" else "",
            polished.objective,
            fitted.n_moves,
            polished.converged,
            watch.seconds,
            sure,
        )
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the posterior of each row's component, N x K; rows sum to 1."""
        check_is_fitted(self)
        with running(self.n_jobs):
            return gaussian_posterior(signal_source(self, X, reset=False), self._parameters())

    def fit_predict(self, X: Any, y: object = None) -> NDArray[np.intp]:
        """Fit, and return the likeliest component of each row."""
        return self.fit(X).predict(X)

    def score_samples(self, X: Any) -> FloatArray:
        """Return the logarithm of the density at each row, N."""
        check_is_fitted(self)
        with running(self.n_jobs):
            return gaussian_log_densities(signal_source(self, X, reset=False), self._parameters())

    def sample(self, n_samples: int = 1, *, random_state: Any = 0) -> tuple[FloatArray, NDArray[np.intp]]:
        """Draw points, n x M, and their components.

        Parameters
        ----------
        n_samples
            How many.
        random_state
            Seed.
        """
        check_is_fitted(self)
        rng = np.random.default_rng(random_state)
        labels = rng.choice(self.weights_.size, n_samples, p=self.weights_ / self.weights_.sum())
        noise = rng.standard_normal((n_samples, self.n_features_in_))
        if self.covariances_.ndim < 3:
            scales = np.sqrt(self.covariances_.reshape(self.weights_.size, -1))[labels]
            return self.means_[labels] + scales * noise, labels
        roots = np.linalg.cholesky(self.covariances_)
        for k, root in enumerate(roots):
            noise[labels == k] = noise[labels == k] @ root.T
        return self.means_[labels] + noise, labels

    @property
    def converged_(self) -> bool:
        """Whether EM came to rest."""
        return self.diagnostics_.converged

    @property
    def n_iter_(self) -> int:
        """Passes of EM."""
        return max(self.diagnostics_.n_passes, 1)

    @property
    def lower_bound_(self) -> float:
        """Mean log-likelihood of a point, with the prior points, that the last pass of EM found."""
        return self.diagnostics_.objective[-1] if self.diagnostics_.objective else float("-inf")

    @property
    def lower_bounds_(self) -> list[float]:
        """The same of every pass."""
        return list(self.diagnostics_.objective)

    @property
    def precisions_(self) -> FloatArray:
        """Inverses of the covariances, in their shape."""
        return np.linalg.inv(self.covariances_) if self.covariances_.ndim == 3 else 1 / self.covariances_

    def _refuse_bad_parameters(self) -> None:
        refuse_bad_numbers(self, whole={"n_components": 1, "max_iter": 0}, numbers=("tol", "reg_covar", "prior_points"))
        asked: str = self.covariance_type  # a user of GaussianMixture may hand in another one
        if asked == "tied":
            raise ValueError(
                "covariance_type is 'tied'; for one covariance of all components give 'full', shared=True."
            )
        refuse_unknown("covariance_type", self.covariance_type, COVARIANCE_TYPES)
        refuse_unknown("start", self.start, ("auto", "moments", "seeds"))

    def _source(self, X: Any) -> Source:
        source = signal_source(self, X, reset=True)
        if source.n_rows < self.n_components:
            raise ValueError(
                f"X has {how_many(source.n_rows, 'rows')}, and {self.n_components} components were asked for: "
                f"Expected n_samples >= n_components. Ask for fewer components."
            )
        return source

    def _moments(self, source: Source) -> Any:
        """Return the mixture of the moments, the spectrum, and why there is none; where it was asked for, tell."""
        if self.start == "seeds":
            return None, np.zeros(0), "as asked for"
        found, spectrum, note = moment_start(source, self.n_components, shared=self.shared)
        if found is None and self.start == "moments" and self.n_components > 1:
            warn_caller(
                f"There is no start from moments: {note}. EM begins from seeds that lie far from each other instead."
            )
        return found, spectrum, note

    def _starts(self, moments: GaussianMixtureParameters | None) -> Starts:
        """Return what makes each start from some points, the most trusted first."""

        def begin(along_means: bool, points: FloatArray) -> GaussianMixtureParameters:
            found = seed_start(points, self.n_components, self.covariance_type, along_means=along_means)
            return with_covariances(found, points, self.covariance_type)

        starts: Starts = {}
        if moments is not None:
            starts["moments"] = lambda points: with_covariances(moments, points, self.covariance_type)
        if moments is None or self.start != "moments":
            if 1 < self.n_components <= self.n_features_in_:
                starts[ALONG_MEANS] = partial(begin, True)
            starts["seeds"] = partial(begin, False)
        return starts

    def _set(self, mixture: GaussianMixtureParameters) -> None:
        self.weights_, self.means_ = mixture.weights, mixture.means
        self.covariance_rows_ = mixture.covariances.reshape(mixture.weights.size, -1)
        self._unfold()

    def _unfold(self) -> None:
        """Set what follows from the rest; a model that was loaded has covariances in rows only."""
        K, M = self.means_.shape
        shape = {"spherical": (K,), "diag": (K, M), "full": (K, M, M)}[self.covariance_type]
        if self.covariance_rows_.size != np.prod(shape):
            raise ValueError(f"covariances of {self.covariance_rows_.shape[1]} numbers are not {self.covariance_type}")
        self.covariances_ = self.covariance_rows_.reshape(shape)

    def _parameters(self) -> GaussianMixtureParameters:
        return GaussianMixtureParameters(self.weights_, self.means_, self.covariances_)

    def _n_parameters(self) -> int:
        K, M = self.means_.shape
        of_one = {1: 1, 2: M, 3: M * (M + 1) // 2}[self.covariances_.ndim]
        return K - 1 + K * M + of_one * (1 if self.shared else K)


def _canonical(mixture: GaussianMixtureParameters) -> GaussianMixtureParameters:
    """Order components by their weight, largest first, and equal ones by their means."""
    return mixture.taken(np.lexsort((*mixture.means.T[::-1], -mixture.weights)))
