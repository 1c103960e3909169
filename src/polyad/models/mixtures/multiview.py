"""Mixtures of hidden classes that several views show, by the method of moments, then EM."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from polyad.base.arrays import FloatArray
from polyad.base.caller import warn_caller
from polyad.base.plurals import there_are
from polyad.engine import Source, expect, ordered_by_content
from polyad.engine.inputs import names_of_columns
from polyad.engine.sources.repeated import weighted
from polyad.inference.mixtures.classes import (
    ClassMixture,
    PolishedClasses,
    class_log_likelihoods,
    class_posterior,
    polish_classes,
)
from polyad.inference.mixtures.emissions import Bernoulli, Emission, Gaussian, Multinomial
from polyad.models.checks import refuse_bad_numbers, refuse_unknown
from polyad.models.features import refuse_other_names, views_by_name
from polyad.models.fitting import fitted_at_once, running
from polyad.models.mixtures.base import MixtureModel, furthest
from polyad.models.mixtures.diagnostics import MixtureDiagnostics
from polyad.models.mixtures.plan import mixture_plan
from polyad.models.mixtures.views import KINDS, fitted_views, known_views, views_of_table
from polyad.models.recipes.classes import class_starts, softening_before
from polyad.models.recipes.mixture_certainty import class_certainty
from polyad.models.stopwatch import StopWatch


class MultiViewMixture(MixtureModel):
    """Hidden classes that three or more views show, started from their cross moments.

    Views are independent given the class, and may be of different kinds and widths. Latent class analysis and naive
    Bayes without labels are cases of it. What was not seen (NaN, a row without counts) is left out, not filled in. EM
    begins from the moments and from groups of rows that lie far from each other; the likelihood decides. Nothing is
    drawn: the same rows, in any order, give the same mixture.

    Parameters
    ----------
    n_components
        K, the number of classes.
    kinds
        Of every view: "counts" (sparse or dense, a multinomial distribution over columns), "categorical" (one column of
        whole numbers from 0 up), "binary" (independent columns of 0 and 1) or "gaussian" (independent columns of
        values); one for all, a list, or "auto", which looks at the values: sparse rows and several columns of integers
        are counts, one column of integers, or of whole numbers with gaps, is categorical.
    route
        "direct" whitens each pair of views, contracts along the third and takes the mean of the three; "symmetric"
        turns all views into the first one (Proposition 1 of the spectral LDA paper). More than three views are put
        together in three groups.
    start
        "moments", "seeds", or "auto" for what the better of the two leads to.
    max_iter
        Passes of EM at most; 0 leaves the moments as they are.
    tol
        They end when a pass gains less than this for a row, in nats.
    smoothing
        Added to the expected number of every category and of every 0 and 1 in every class, and of rows of every class.
    n_jobs
        Threads; None for all cores. The result does not depend on it.
    verbose
        1 draws a progress bar and tells how the fit went.

    Attributes
    ----------
    weights_
        K probabilities of the classes, largest first.
    components_
        A list, K x M_v for each view: probabilities of columns or of ones, or means.
    variances_
        A list, K x M_v for each Gaussian view, and None for others.
    kinds_
        The kind of each view.
    view_columns_
        The names of the columns of each view that was a table, and None for others.
    view_names_
        The names of the views where they were given by name, and None where the fit was on a list.
    diagnostics_
        A :class:`polyad.models.mixtures.MixtureDiagnostics`.

    Examples
    --------
    >>> from polyad.datasets import make_multiview_mixture
    >>> sample = make_multiview_mixture(2000, (10, 6, 4), 3, kinds=("counts", "binary", "gaussian"))
    >>> model = MultiViewMixture(3).fit(sample.views)
    >>> model.kinds_, [shown.shape for shown in model.components_]
    (['counts', 'binary', 'gaussian'], [(3, 10), (3, 6), (3, 4)])
    >>> model.predict_proba([sample.views[0], None, None]).shape
    (2000, 3)
    """

    n_views: ClassVar[int] = 0  # any number of them

    view_columns_: list[tuple[str, ...] | None]
    view_names_: tuple[str, ...] | None

    def __init__(
        self,
        n_components: int = 1,
        *,
        kinds: str | Sequence[str] = "auto",
        route: Literal["direct", "symmetric"] = "direct",
        start: Literal["auto", "moments", "seeds"] = "auto",
        max_iter: int = 300,
        tol: float = 1e-5,
        smoothing: float = 0.01,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kinds = kinds
        self.route = route
        self.start = start
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitted_at_once
    def fit(
        self,
        views: Any,
        y: object = None,
        sample_weight: Any = None,
        *,
        checkpoint: Any = None,
        client: Any = None,
    ) -> Self:
        """Learn the classes and what each view shows of them.

        Parameters
        ----------
        views
            A list of three or more, samples x columns each, rows in the same order: arrays, sparse arrays, DataFrames,
            lists of parts, or sources. With names: a mapping of views, or one DataFrame whose columns are named by
            view, with two levels of names, of which the first is the view, or as "view.column".
        y
            Not used.
        sample_weight
            How often each sample counts, whole numbers from 0 up: the same as repeating its rows.
        checkpoint, client
            As of :meth:`polyad.LDA.fit`.
        """
        self._refuse_bad_parameters()
        watch = StopWatch()
        expect(mixture_plan(self.max_iter))
        with watch("read"):
            table = views_of_table(views)
            self.view_names_ = None if table is None else tuple(table)
            views = views if table is None else list(table.values())
            given, kinds, widths = fitted_views(views, self.kinds)
            source = ordered_by_content(weighted(given, sample_weight))
        if source.n_rows < self.n_components:
            raise ValueError(
                f"{there_are(source.n_rows, 'rows')}, and {self.n_components} classes were asked for. Ask for fewer."
            )
        with watch("moments"):
            starts, spectrum, energy, note = class_starts(
                source,
                kinds,
                self.n_components,
                start=self.start,
                route=self.route,
                smoothing=self.smoothing,
                softening=softening_before(self.max_iter, source.n_rows, self.n_components),
            )
        if self.start == "moments" and self.n_components > 1 and note:
            instead = " EM begins from groups of rows instead." if "seeds" in starts else " The others are used."
            warn_caller(f"The moments say too little: {note}.{instead}")
        with watch("polish"):
            name, polished = self._polish(source, starts)
        self._set(polished.mixture, kinds, widths)
        self._set_columns([names_of_columns(view) for view in views])
        if name == "seeds" and not note:
            note = "seeds led to the higher likelihood"
        with watch("certainty"):
            sure = class_certainty(source, self._mixture(range(len(kinds))))
        self.diagnostics_ = MixtureDiagnostics(
            source.n_rows, spectrum, energy, name, note, polished.objective, 0, polished.converged, watch.seconds, sure
        )
        return self

    def predict_proba(self, views: Any) -> FloatArray:
        """Return the posterior of each row's class, N x K; views that are None are left out."""
        check_is_fitted(self)
        with running(self.n_jobs):
            return class_posterior(*self._known(views))

    def score_samples(self, views: Any) -> FloatArray:
        """Return the log-likelihood of each row, N."""
        check_is_fitted(self)
        with running(self.n_jobs):
            return class_log_likelihoods(*self._known(views))

    def sample(
        self, n_samples: int = 1, *, length: int = 10, random_state: Any = 0
    ) -> tuple[list[Any], NDArray[np.intp]]:
        """Draw rows, a list with an array for each view, and their classes.

        Parameters
        ----------
        n_samples
            How many.
        length
            Counts of a row of a view of counts.
        random_state
            Seed.
        """
        from polyad.datasets.mixtures import draw_views

        check_is_fitted(self)
        rng = np.random.default_rng(random_state)
        labels = rng.choice(self.weights_.size, n_samples, p=self.weights_ / self.weights_.sum())
        return draw_views(rng, self.kinds_, self.components_, self.variances_, labels, length), labels

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that the input is a list of views, which its own checks do not know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    def _refuse_bad_parameters(self) -> None:
        refuse_bad_numbers(self, whole={"n_components": 1, "max_iter": 0}, numbers=("tol", "smoothing"))
        refuse_unknown("route", self.route, ("direct", "symmetric"))
        refuse_unknown("start", self.start, ("auto", "moments", "seeds"))

    def _polish(self, source: Source, starts: dict[str, ClassMixture]) -> tuple[str, PolishedClasses]:
        """Return the start that EM brings furthest, and where it brings it."""
        if self.max_iter == 0:
            name, mixture = next(iter(starts.items()))
            return name, PolishedClasses((), False, mixture)
        polish = partial(polish_classes, source, max_iter=self.max_iter, tol=self.tol, prior=self.smoothing)
        return furthest(starts, polish, self.tol)

    def _set(self, mixture: ClassMixture, kinds: Sequence[str], widths: Sequence[int]) -> None:
        rows = [_emission_rows(emission) for emission in mixture.emissions]
        together = np.hstack(rows)
        order = np.lexsort((*together.T[::-1], -mixture.weights))
        self.weights_ = mixture.weights[order]
        self.parameter_rows_ = together[order]
        self.layout_ = np.array([[KINDS.index(kind), width] for kind, width in zip(kinds, widths)], dtype=np.float64)
        self._unfold()

    def _unfold(self) -> None:
        """Set what follows from the rows of all parameters; a model that was loaded has only these."""
        if not np.isin(self.layout_[:, 0], range(len(KINDS))).all() or not (self.layout_[:, 1] >= 1).all():
            raise ValueError("its views are of no kind that is known")
        self.kinds_ = [KINDS[int(kind)] for kind in self.layout_[:, 0]]
        self.components_: list[FloatArray] = []
        self.variances_: list[FloatArray | None] = []
        first = 0
        for kind, width in zip(self.kinds_, self.layout_[:, 1].astype(int)):
            self.components_.append(np.ascontiguousarray(self.parameter_rows_[:, first : first + width]))
            first += width
            if kind == "gaussian":
                self.variances_.append(np.ascontiguousarray(self.parameter_rows_[:, first : first + width]))
                first += width
            else:
                self.variances_.append(None)
        if first != self.parameter_rows_.shape[1]:
            raise ValueError("its views have other widths than its parameters")

    def _set_columns(self, columns: list[tuple[str, ...] | None] | None) -> None:
        """Set the names of the columns of each view; None where none are known."""
        widths = [1 if kind == "categorical" else shown.shape[1] for kind, shown in zip(self.kinds_, self.components_)]
        columns = [None] * len(widths) if columns is None else columns
        found = [width if names is None else len(names) for width, names in zip(widths, columns)]
        if len(columns) != len(widths) or found != widths:
            raise ValueError(f"its {len(widths)} views have {widths} columns, and there are names for {found}")
        self.view_columns_ = columns

    def _known(self, views: Any) -> tuple[Source, ClassMixture]:
        table = views_of_table(views)
        if table is not None:
            views = views_by_name(table, self.view_names_)
        if isinstance(views, list | tuple):
            for number, (view, names) in enumerate(zip(views, self.view_columns_)):
                refuse_other_names(view, names, f"view {number}")
        source, there = known_views(views, self.kinds_, [shown.shape[1] for shown in self.components_])
        return source, self._mixture(there)

    def _mixture(self, there: Iterable[int]) -> ClassMixture:
        """Return the parameters of the views that are there."""
        return ClassMixture(self.weights_, tuple(self._emission(view) for view in there))

    def _emission(self, view: int) -> Emission:
        kind, shown, variances = self.kinds_[view], self.components_[view], self.variances_[view]
        if kind == "binary":
            return Bernoulli(shown)
        if variances is not None:
            zeros = np.zeros(shown.shape[1])
            return Gaussian(shown, variances, self.weights_ @ shown, zeros, zeros)
        return Multinomial(shown)

    def _n_parameters(self) -> int:
        K = self.weights_.size
        free = sum(
            shown.shape[1] * (2 if kind == "gaussian" else 1) - (kind in ("counts", "categorical"))
            for kind, shown in zip(self.kinds_, self.components_)
        )
        return K - 1 + K * free


def _emission_rows(emission: Emission | None) -> FloatArray:
    if isinstance(emission, Gaussian):
        return np.hstack([emission.means, emission.variances])
    assert isinstance(emission, Multinomial | Bernoulli)
    return emission.probabilities
