"""Hidden Markov models by the method of moments, then Baum and Welch."""

from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from polyad.base.arrays import FloatArray
from polyad.base.caller import warn_caller
from polyad.base.plurals import how_many
from polyad.engine import Source, expect
from polyad.engine.sequences import sequences_of
from polyad.inference.mixtures.chains import (
    Chain,
    PolishedChain,
    chain_log_likelihood,
    chain_paths,
    chain_posterior,
    polish_chain,
    stationary,
)
from polyad.inference.mixtures.emissions import Emission, Gaussian, Multinomial, Poisson
from polyad.models.checks import refuse_bad_numbers, refuse_unknown
from polyad.models.fitting import fitted_at_once, running
from polyad.models.mixtures.base import MixtureModel, furthest
from polyad.models.mixtures.diagnostics import MixtureDiagnostics
from polyad.models.mixtures.plan import mixture_plan
from polyad.models.mixtures.sequences import checked_sequences
from polyad.models.recipes.chains import chain_starts, summarise_rows
from polyad.models.recipes.classes import softening_before
from polyad.models.recipes.mixture_certainty import chain_certainty
from polyad.models.stopwatch import StopWatch

EMISSIONS = ("categorical", "gaussian", "poisson", "multinomial")


class HiddenMarkov(MixtureModel):
    """A hidden Markov model, started from its moments.

    What was before a row, the row and what comes after it are independent given the state: three views, whose cross
    moments tell what states show and how they follow each other. Baum and Welch go on from there, and from groups of
    rows that lie far from each other; the likelihood decides. Nothing is drawn: the same sequences, in any order, give
    the same model.

    Names and meaning are those of hmmlearn.

    Parameters
    ----------
    n_components
        K, the number of states.
    emission
        "categorical" (one column of symbols, whole numbers from 0 up), "multinomial" (rows of counts), "poisson"
        (counts in every column) or "gaussian" (values, with a variance for every state and column).
    start
        "moments", "seeds", or "auto" for what the better of the two leads to.
    window
        Rows before and after that the moments look at; None takes as few as tell all states apart, up to four.
    max_iter
        Passes of Baum and Welch at most; 0 leaves the moments as they are.
    tol
        They end when a pass gains less than this for a row, in nats.
    smoothing
        Added to the expected number of every symbol in every state, of every transition and of every first state.
    prior_points
        How many times a tenth of the variance of all rows is added to the sum of squares of each column in every
        state ("gaussian"): without it the likelihood of a state of one row has no bound. 0 for the highest likelihood.
    n_jobs
        Threads; None for all cores. The result does not depend on it.
    verbose
        1 draws a progress bar and tells how the fit went.

    Attributes
    ----------
    startprob_, transmat_
        K probabilities of the first state, and K x K of the next one, one row for each state.
    emissionprob_
        K x M, of symbols ("categorical", "multinomial").
    means_, covars_
        K x M each ("gaussian").
    lambdas_
        K x M rates ("poisson").
    stationary_
        K, the share of rows in each state in the long run; states are in this order, the largest first.
    n_features
        M: symbols, or columns.
    diagnostics_
        A :class:`polyad.models.mixtures.MixtureDiagnostics`.

    Examples
    --------
    >>> from polyad.datasets import make_hmm
    >>> sample = make_hmm(20, 200, 8, 3)
    >>> model = HiddenMarkov(3).fit(sample.X, sample.lengths)
    >>> model.transmat_.shape, model.emissionprob_.shape
    ((3, 3), (3, 8))
    >>> model.predict([sample.X[:5, 0], sample.X[5:8, 0]]).shape
    (8,)
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        emission: Literal["categorical", "gaussian", "poisson", "multinomial"] = "categorical",
        start: Literal["auto", "moments", "seeds"] = "auto",
        window: int | None = None,
        max_iter: int = 200,
        tol: float = 1e-6,
        smoothing: float = 0.01,
        prior_points: float = 1.0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.emission = emission
        self.start = start
        self.window = window
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.prior_points = prior_points
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitted_at_once
    def fit(
        self,
        X: Any,
        lengths: Any = None,
        *,
        checkpoint: Any = None,
        client: Any = None,
    ) -> Self:
        """Learn transitions and what states show.

        Parameters
        ----------
        X
            The rows of all sequences under each other: an array, a sparse array or a source; or a list of sequences.
        lengths
            The number of rows of each sequence; None for one sequence, or for a list of them.
        checkpoint, client
            As of :meth:`polyad.LDA.fit`.
        """
        self._refuse_bad_parameters()
        watch = StopWatch()
        expect(mixture_plan(self.max_iter))
        with watch("read"):
            rows, sizes = checked_sequences(X, lengths, self.emission)
            source = sequences_of(rows, sizes)
            summary = summarise_rows(source)
        if source.n_rows < self.n_components:
            raise ValueError(
                f"X has {how_many(source.n_rows, 'rows')}, and {self.n_components} states were asked for. Ask for "
                "fewer."
            )
        if max(sizes) < 2 and self.n_components > 1:
            warn_caller("No sequence has two rows: what comes after a state is not known, and transitions are even.")
        with watch("moments"):
            starts, spectrum, energy, _, note = chain_starts(
                source,
                self.emission,
                summary,
                self.n_components,
                start=self.start,
                window=self.window,
                smoothing=self.smoothing,
                softening=softening_before(self.max_iter, source.n_rows, self.n_components),
                prior_points=float(self.prior_points),
            )
        if self.start == "moments" and "seeds" in starts and self.n_components > 1:
            warn_caller(f"There is no start from moments: {note}. The passes begin from groups of rows instead.")
        with watch("polish"):
            name, polished = self._polish(source, starts)
            name = name if name == "moments" else "seeds"
        self._set(polished.chain)
        if name == "seeds" and not note:
            note = "seeds led to the higher likelihood"
        with watch("certainty"):
            sure = chain_certainty(source, self._chain())
        self.diagnostics_ = MixtureDiagnostics(
            source.n_rows,
            spectrum,
            energy,
            name,
            note if name == "seeds" else "",
            polished.objective,
            0,
            polished.converged,
            watch.seconds,
            sure,
        )
        return self

    def predict_proba(self, X: Any, lengths: Any = None) -> FloatArray:
        """Return the posterior of the state of each row given its whole sequence (smoothing), N x K."""
        check_is_fitted(self)
        with running(self.n_jobs):
            return chain_posterior(self._sequences(X, lengths), self._chain())

    def predict(self, X: Any, lengths: Any = None) -> NDArray[np.int64]:
        """Return the likeliest states of all sequences (Viterbi), N."""
        return self.decode(X, lengths)[1]

    def decode(self, X: Any, lengths: Any = None) -> tuple[float, NDArray[np.int64]]:
        """Return the log-probability of the likeliest states together with the rows, and these states (Viterbi)."""
        check_is_fitted(self)
        with running(self.n_jobs):
            return chain_paths(self._sequences(X, lengths), self._chain())

    def score(self, X: Any, lengths: Any = None) -> float:
        """Return the log-likelihood of all sequences, in nats."""
        check_is_fitted(self)
        with running(self.n_jobs):
            return chain_log_likelihood(self._sequences(X, lengths), self._chain())

    def score_samples(self, X: Any, lengths: Any = None) -> tuple[float, FloatArray]:
        """Return the log-likelihood of all sequences, and the posteriors of the states."""
        return self.score(X, lengths), self.predict_proba(X, lengths)

    def bic(self, X: Any, lengths: Any = None) -> float:
        """Return the Bayesian information criterion on X; the lower, the better."""
        n_rows = checked_sequences(X, lengths, self.emission, self._known())[0].n_rows
        return float(-2 * self.score(X, lengths) + self._n_parameters() * np.log(n_rows))

    def aic(self, X: Any, lengths: Any = None) -> float:
        """Return Akaike's information criterion on X; the lower, the better."""
        return float(-2 * self.score(X, lengths) + 2 * self._n_parameters())

    def sample(
        self, n_samples: int = 1, *, trials: int = 10, random_state: Any = 0
    ) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Draw one sequence of so many rows, and its states.

        Parameters
        ----------
        n_samples
            Rows.
        trials
            Counts of a row ("multinomial").
        random_state
            Seed.
        """
        from polyad.datasets.mixtures import make_hmm

        check_is_fitted(self)
        shown = self.emission_rows_[:, : self.n_features]
        draw = make_hmm(
            1,
            n_samples,
            emission=self.emission,
            trials=trials,
            start=self.startprob_ / self.startprob_.sum(),
            transitions=self.transmat_,
            emissions=shown,
            variances=self.covars_ if self.emission == "gaussian" else None,
            random_state=random_state,
        )
        return draw.X, draw.states

    @property
    def stationary_(self) -> FloatArray:
        """The share of rows in each state in the long run, K."""
        return stationary(self.transmat_)

    def _polish(self, source: Source, starts: dict[str, Chain]) -> tuple[str, PolishedChain]:
        """Return the start that the passes bring furthest, and where they bring it."""
        if self.max_iter == 0:
            name, chain = next(iter(starts.items()))
            return name, PolishedChain((), False, chain)
        polish = partial(polish_chain, source, max_iter=self.max_iter, tol=self.tol, prior=self.smoothing)
        return furthest(starts, polish, self.tol)

    def _refuse_bad_parameters(self) -> None:
        refuse_bad_numbers(self, whole={"n_components": 1, "max_iter": 0}, numbers=("tol", "smoothing", "prior_points"))
        if self.window is not None:
            refuse_bad_numbers(self, whole={"window": 1})
        refuse_unknown("emission", self.emission, EMISSIONS)
        refuse_unknown("start", self.start, ("auto", "moments", "seeds"))

    def _known(self) -> int | None:
        return self.n_features if self.emission == "categorical" else None

    def _sequences(self, X: Any, lengths: Any) -> Source:
        rows, sizes = checked_sequences(X, lengths, self.emission, self._known())
        if rows.n_columns != self.n_features:
            raise ValueError(
                f"X has {how_many(rows.n_columns, 'columns')}, and the model was fitted on {self.n_features}."
            )
        return sequences_of(rows, sizes, order="given")

    def _set(self, chain: Chain) -> None:
        shares = stationary(chain.transitions)
        rows = _emission_rows(chain.emission)
        order = np.lexsort((*rows.T[::-1], -shares.round(12)))
        self.startprob_ = chain.start[order]
        self.transmat_ = np.ascontiguousarray(chain.transitions[np.ix_(order, order)])
        self.emission_rows_ = rows[order]
        self._unfold()

    def _unfold(self) -> None:
        """Set what follows from the rows of the emission; a model that was loaded has only these."""
        rows = self.emission_rows_
        if self.emission in ("categorical", "multinomial"):
            self.emissionprob_ = rows
        elif self.emission == "poisson":
            self.lambdas_ = rows
        else:
            if rows.shape[1] % 2:
                raise ValueError("a Gaussian emission has means and variances, as many of both")
            self.means_, self.covars_ = (np.ascontiguousarray(half) for half in np.split(rows, 2, axis=1))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that the input is sequences, which its own checks do not know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    @property
    def n_features(self) -> int:
        """M: symbols, or columns."""
        return self.emission_rows_.shape[1] // (2 if self.emission == "gaussian" else 1)

    def _chain(self) -> Chain:
        rows = self.emission_rows_
        emission: Emission
        if self.emission == "poisson":
            emission = Poisson(rows)
        elif self.emission == "gaussian":
            zeros = np.zeros(self.n_features)
            emission = Gaussian(self.means_, self.covars_, self.stationary_ @ self.means_, zeros, zeros)
        else:
            emission = Multinomial(rows)
        return Chain(self.startprob_, self.transmat_, emission)

    def _n_parameters(self) -> int:
        K, E = self.emission_rows_.shape
        free = E - 1 if self.emission in ("categorical", "multinomial") else E
        return K - 1 + K * (K - 1) + K * free


def _emission_rows(emission: Emission) -> FloatArray:
    if isinstance(emission, Multinomial):
        return emission.probabilities
    if isinstance(emission, Poisson):
        return emission.rates
    assert isinstance(emission, Gaussian)
    return np.hstack([emission.means, emission.variances])
