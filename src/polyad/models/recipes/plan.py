"""What the steps of a fit should cost, for the bar and the time left.

A step is compared with one column of the basis that whitening multiplies by all counts. The numbers are measured, on
some corpora and from 10 to 150 topics, and are right within a factor of two: more is not needed to tell a time.
"""

from polyad.decompose.whitening.symmetric import block_columns, krylov_columns
from polyad.engine.progress import Planned
from polyad.engine.runners import current_runner
from polyad.inference.few_topics import MANY_TOPICS
from polyad.inference.presets import Preset
from polyad.models.recipes.moment_start import MOST_BY_MOMENTS, SummedCounts, first_sample, is_sampled

READING = 6.0  # checking the counts, ordering the documents, summing up
READING_PASSES = 3
CELL_SECONDS = 6e-9  # of one core, for a cell and a unit of cost: 100 topics of 30 million cells, moments and passes
OTHER_MOMENT_PASSES = 6  # beside the products with blocks of columns: weights, diagonals, images and the third moment


def topic_plan(
    n_components: int, n_passes: int, *, pass_cost: float, prior_cost: float | None = None
) -> dict[str, Planned]:
    """Return the plan of a topic model's fit.

    Parameters
    ----------
    n_components, n_passes
        Of topics, and of likelihood passes at most.
    pass_cost
        Of one likelihood pass.
    prior_cost
        Of estimating the prior; None where that is no step.
    """
    plan = {
        "read": Planned(READING, READING_PASSES),
        "moments": moment_plan(n_components),
        "polish": Planned(n_passes * pass_cost),
    }
    return plan if prior_cost is None else {**plan, "prior": Planned(prior_cost, passes=1)}


def aligned_plan(n_components: int, n_passes: int, *, pass_cost: float) -> dict[str, Planned]:
    """Return the plan of a fit of aligned texts; see :func:`topic_plan`."""
    return {
        **topic_plan(n_components, n_passes, pass_cost=pass_cost, prior_cost=1.0),
        "projections": Planned(1 + 0.1 * n_components, passes=2),
    }


def moment_plan(n_components: int) -> Planned:
    """Return what the moments cost, and the topics that they give."""
    n_components = min(n_components, MOST_BY_MOMENTS)
    columns = krylov_columns(n_components)
    return Planned(columns, columns // block_columns(n_components) + OTHER_MOMENT_PASSES)


def dirichlet_pass_cost(n_components: int) -> float:
    """Return the cost of a likelihood pass of LDA and the gamma-Poisson model."""
    return 15 + 0.3 * min(n_components, MANY_TOPICS)  # of more topics a document has only some


def seconds_of(
    plan: dict[str, Planned], corpus: SummedCounts, preset: Preset, *, sampled: bool = True, few_passes: bool = True
) -> float:
    """Return about how many seconds a fit takes at most on the cores that it has, by the cells that each step sees.

    ``sampled`` and ``few_passes`` say whether moments of many shards are made of some, and passes over them are fewer.
    """
    cells, source = corpus.summary.n_cells, corpus.source
    share = first_sample(source, preset.n_passes).n_rows / max(source.n_rows, 1) if sampled else 1.0
    many = few_passes and is_sampled(source)
    n_passes = preset.for_corpus(many_shards=many, many_topics=False).n_passes
    work = sum(planned.cost * cells for name, planned in plan.items() if name not in ("moments", "polish"))
    work += plan["moments"].cost * cells * share
    work += plan["polish"].cost * cells * n_passes / max(preset.n_passes, 1)
    return CELL_SECONDS * work / _n_cores()


def _n_cores() -> int:
    """Return how many cores passes have: those of the cluster, or the threads of this process."""
    runner = current_runner()
    threads_of_workers = getattr(runner, "live", None)
    return max(1, sum(threads_of_workers().values()) if threads_of_workers else runner.threads.n_threads)


def mixture_pass_cost(n_components: int) -> float:
    """Return the cost of a likelihood pass of the single-topic model."""
    return 2 + 0.4 * n_components


def prior_cost(n_components: int) -> float:
    """Return the cost of estimating the total of a Dirichlet prior from pairs of words."""
    return 1 + 0.2 * n_components
