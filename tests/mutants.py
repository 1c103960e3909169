"""Mutants: one sign, weight or exponent is changed at a time, and a test must fail for each.

``make mutants`` runs all of them; names as arguments choose some. A mutant lives in a copy of the project, where the
tests nearest to it run. The copy as it is must pass them first: a test that fails anyway kills nothing.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

PRIOR, GAMMA = "tests/models/recipes/test_moment_prior.py", "tests/models/topics/test_discrete_ica.py"
COUNTS, CONSISTENT = "tests/moments/counts", "tests/models/test_consistency.py"
VIEWS, METHODS = "tests/models/test_consistency_views.py", "tests/decompose/test_methods.py"
BRUTE_FORCE, EXACT = f"{COUNTS}/test_lda.py::test_moments_equal_brute_force", f"{PRIOR}::test_exact_moments"
GIVEN, MATCHED = f"{PRIOR}::test_what_the_user_gives_helps", f"{PRIOR}::test_a_given_prior_belongs"
GENERALISED = f"{GAMMA}::test_generalised_slices_are_differences"
OWN_PRIOR, LDA_MODEL, SHAPES = "models/recipes/own_prior.py", "models/topics/lda.py", "models/topics/discrete_ica.py"
TOPIC_PRIOR, TOLD = "inference/topic_prior.py", "tests/inference/test_topic_prior.py"
ALIGNED = "models/views/polylingual.py"
PREDICTED = "models/recipes/predicted_total.py"
BOUNDS, CUMULANTS = "decompose/bounds.py", "moments/counts/discrete_ica_accuracy.py"
BOUNDED = f"{COUNTS}/test_bounds.py"
MERGING, CERTAIN = "inference/mixtures/merging.py", "models/recipes/mixture_certainty.py"
TOLD_APART = "tests/models/test_determined.py"
SURE = "tests/models/mixtures/test_mixture_certainty.py"
MOMENT_PRIOR, DIRICHLET = "models/recipes/moment_prior.py", "models/recipes/dirichlet.py"


@dataclass(frozen=True)
class Mutant:
    """A change of one place in a file of ``src/polyad``, and the tests that must notice, as pytest names them."""

    name: str
    file: str
    before: str
    after: str
    tests: str


MUTANTS = [
    # The total concentration.
    Mutant(
        "c0-pairs",
        "moments/counts/lda.py",
        "pair, square, cube = c0 / (c0 + 1)",
        "pair, square, cube = c0 / (c0 + 2)",
        BRUTE_FORCE,
    ),
    Mutant(
        "c0-cube-sign", "moments/counts/lda.py", "+ cube * np.outer(means**2", "- cube * np.outer(means**2", BRUTE_FORCE
    ),
    Mutant("c0-value", MOMENT_PRIOR, "values = 2 / ((c0 + 2) * _away", "values = 2 / ((c0 + 1) * _away", EXACT),
    Mutant(
        "c0-square-sign",
        MOMENT_PRIOR,
        "(own.square - other.square) * self._pairs",
        "(other.square - own.square) * self._pairs",
        EXACT,
    ),
    Mutant(
        "c0-cube-weight", MOMENT_PRIOR, "2 * c0**2 / ((c0 + 1) * (c0 + 2)))", "c0**2 / ((c0 + 1) * (c0 + 2)))", EXACT
    ),
    Mutant(
        "c0-whitening-exponent", MOMENT_PRIOR, "along = (value**power - 1)", "along = (value ** (power / 2) - 1)", EXACT
    ),
    Mutant(
        "c0-by-pairs-sign",
        "moments/counts/concentration.py",
        "(means - squares).sum() / spread",
        "(means + squares).sum() / spread",
        f"{PRIOR}::test_a_sample_tells_its_total",
    ),
    Mutant(
        "c0-by-pairs-exponent",
        "moments/counts/concentration.py",
        "(squares - means**2).sum()",
        "(squares - means**3).sum()",
        f"{PRIOR}::test_exact_pairs",
    ),
    Mutant(
        "c0-words-decide",
        OWN_PRIOR,
        "above is None or _predicted_bits(above, judged) >= bits",
        "above is None or _predicted_bits(above, judged) <= bits",
        f"{PRIOR}::test_words_have_a_say",
    ),
    Mutant(
        "c0-doubt",
        OWN_PRIOR,
        "max(totals) <= AGREE * min(totals)",
        "max(totals) > AGREE * min(totals)",
        f"{PRIOR}::test_totals_that_agree",
    ),
    Mutant(
        "c0-hardly-lower",
        PREDICTED,
        "(by_prediction / NARROW) ** 2",
        "(by_prediction / NARROW) ** -2",
        f"{PRIOR}::test_prediction_has_more",
    ),
    Mutant(
        "c0-safe-side",
        PREDICTED,
        "total * (1 + error / 2)",
        "total * (1 - error / 2)",
        f"{PRIOR}::test_prediction_tells_a_narrow",
    ),
    Mutant(
        "c0-predicted-vertex",
        PREDICTED,
        "(below - above) / 2",
        "(above - below) / 2",
        f"{PRIOR}::test_a_total_in_doubt",
    ),
    Mutant(
        "c0-predicted-error",
        PREDICTED,
        "(n_parts - 1) * again.var()",
        "again.var()",
        f"{PRIOR}::test_a_total_in_doubt",
    ),
    Mutant(
        "c0-second-opinion",
        OWN_PRIOR,
        "if opinion.contradicts(c0)}",
        "if not opinion.contradicts(c0)}",
        f"{CONSISTENT}::test_a_total_below_one",
    ),
    Mutant(
        "c0-error",
        MOMENT_PRIOR,
        "max(self.half + self.twice - 2, 1e-12)",
        "max(self.half * self.twice - 2, 1e-12)",
        f"{PRIOR}::test_the_error_of_a_total_by_triples",
    ),
    Mutant(
        "c0-of-aligned-texts",
        ALIGNED,
        "c0 = USUAL_CONCENTRATION if told is None else told",
        "c0 = USUAL_CONCENTRATION",
        f"{CONSISTENT}::test_aligned_texts",
    ),
    Mutant(
        "prior-of-aligned-texts",
        ALIGNED,
        "prior = own * shares_of_documents",
        "prior = 0.01 * shares_of_documents",
        f"{CONSISTENT}::test_aligned_texts",
    ),
    # What the user gives.
    Mutant(
        "given-total-to-moments",
        OWN_PRIOR,
        "raw.at(c0), corpus, n_components, method)\n    return with_own_prior(start, corpus, c0,",
        "raw.at(2.0), corpus, n_components, method)\n    return with_own_prior(start, corpus, c0,",
        f"{PRIOR}::test_a_given_total",
    ),
    Mutant(
        "given-total-to-passes",
        OWN_PRIOR,
        "raw.at(c0), corpus, n_components, method)\n    return with_own_prior(start, corpus, c0,",
        "raw.at(c0), corpus, n_components, method)\n    return with_own_prior(start, corpus, 1.0,",
        f"{PRIOR}::test_a_given_total",
    ),
    Mutant(
        "given-total-not-read",
        LDA_MODEL,
        "return float(self.concentration)",
        "return None",
        f"{PRIOR}::test_a_given_total",
    ),
    Mutant(
        "given-prior-order",
        OWN_PRIOR,
        "own[np.argsort(-begun.prior",
        "own[np.argsort(begun.prior",
        f"{MATCHED} {GIVEN}",
    ),
    Mutant(
        "given-prior-total",
        OWN_PRIOR,
        "c0 = float(np.sort(prior).sum())",
        "c0 = float(np.sort(prior).mean())",
        f"{MATCHED} {GIVEN}",
    ),
    Mutant("given-prior-numbers", LDA_MODEL, "start.in_one(prior)[order]", "start.in_one(prior)", MATCHED),
    Mutant(
        "given-prior-unused",
        DIRICHLET,
        "polish_prior(topics.shape[0]) if prior is None else prior",
        "polish_prior(topics.shape[0])",
        f"{PRIOR}::test_a_giant_with_dwarfs",
    ),
    # How far topics near the truth go.
    Mutant(
        "reach-shares",
        DIRICHLET,
        "np.minimum(shares.size * shares, MOSTLY_OWN * own)",
        "np.minimum(shares.size / shares, MOSTLY_OWN * own)",
        f"src/polyad/{DIRICHLET}",
    ),
    Mutant(
        "reach-swapped",
        DIRICHLET,
        "return part * polished + (1 - part) * topics",
        "return (1 - part) * polished + part * topics",
        f"{PRIOR}::test_a_topic_goes_as_far",
    ),
    Mutant(
        "words-decide-how-far",
        DIRICHLET,
        "bits(topics, times) > bits(polished, times) + FAR_BEHIND",
        "bits(topics, times) < bits(polished, times) + FAR_BEHIND",
        f"{PRIOR}::test_words_say_how_far",
    ),
    Mutant(
        "far-under-one-total",
        DIRICHLET,
        "for times in (1.0, OTHER_TOTAL)):",
        "for times in (1.0, 1.0)):",
        f"{CONSISTENT}::test_a_total_too_large",
    ),
    Mutant(
        "documents-or-tokens",
        OWN_PRIOR,
        "np.divide(1.0, block.tokens,",
        "np.divide(block.tokens, block.tokens,",
        f"{PRIOR}::test_the_prior_is_in_proportions_of_documents",
    ),
    # Weights of documents.
    Mutant(
        "weights-triples",
        "moments/counts/weights.py",
        "L * (L - 1) * (L - 2), 0.0)",
        "L * (L - 1) * (L - 1), 0.0)",
        BRUTE_FORCE,
    ),
    Mutant(
        "weights-exponent",
        "moments/counts/weights.py",
        "** float(power), 0.0)",
        "** (float(power) / 2), 0.0)",
        BRUTE_FORCE,
    ),
    Mutant(
        "weights-unread",
        LDA_MODEL,
        "preset.n_passes), self.weights)",
        "preset.n_passes), LENGTH_POWER)",
        f"{PRIOR}::test_weights_reach_the_moments",
    ),
    # The gamma-Poisson model.
    Mutant(
        "gamma-fallback-sign",
        SHAPES,
        "excess >= min(LENGTHS_VARY, 1 - noise)",
        "excess <= min(LENGTHS_VARY, 1 - noise)",
        f"{GAMMA}::test_lengths_without {GAMMA}::test_the_total_is_found",
    ),
    Mutant(
        "gamma-fallback-exponent",
        SHAPES,
        "summary.mean_length**2 / by_pairs",
        "summary.mean_length / by_pairs",
        f"{GAMMA}::test_lengths_without {GAMMA}::test_the_total_is_found",
    ),
    Mutant(
        "gamma-fallback-weight",
        SHAPES,
        "np.clip(2 - abs(apart) / np.log(AGREEING), 0.0, 1.0)",
        "np.clip(1.0, 0.0, 1.0)",
        f"{GAMMA}::test_lengths_with_a_heavy_tail",
    ),
    Mutant(
        "gamma-values-exponent",
        OWN_PRIOR,
        "SMALLEST**-0.5) ** -2)",
        "SMALLEST**-0.5) ** -1)",
        f"{PRIOR}::test_exact_cumulants",
    ),
    Mutant(
        "gamma-values-weight",
        OWN_PRIOR,
        "expected = 2 / np.sqrt(shares)",
        "expected = 1 / np.sqrt(shares)",
        f"{PRIOR}::test_exact_cumulants",
    ),
    Mutant(
        "gamma-lengths-exponent",
        OWN_PRIOR,
        "corpus.summary.mean_length**2 / excess",
        "corpus.summary.mean_length / excess",
        f"{GAMMA}::test_polishing_begins",
    ),
    Mutant(
        "gamma-own-rates",
        SHAPES,
        "own = means**2 / np.where",
        "own = means / np.where",
        f"{GAMMA}::test_rates_of_their_own",
    ),
    Mutant(
        "gamma-rate",
        SHAPES,
        "self.doc_topic_prior_.sum() / corpus.summary.mean_length)",
        "self.doc_topic_prior_.sum() * corpus.summary.mean_length)",
        f"{GAMMA}::test_rates_of_their_own {GAMMA}::test_half_a_document",
    ),
    Mutant(
        "gamma-density-exponent",
        "models/intensities.py",
        "p1**4 - 6 * p1**2 * p2",
        "p1**4 - 6 * p1 * p2",
        "tests/models/test_source_shapes.py::test_powers",
    ),
    # Processing points.
    Mutant(
        "points-sign",
        "moments/counts/generalised_ica.py",
        "return (ahead - behind) *",
        "return (ahead + behind) *",
        GENERALISED,
    ),
    Mutant("points-weight", "moments/counts/generalised_ica.py", "(sizes / (2 * step))", "(sizes / step)", GENERALISED),
    Mutant(
        "points-size",
        "moments/counts/generalised_ica.py",
        "np.sqrt(1 + whitener**2 @ moments.mean)",
        "np.sqrt(whitener**2 @ moments.mean)",
        GENERALISED,
    ),
    Mutant(
        "delta-of-the-paper",
        "models/recipes/cross.py",
        "step * source.n_rows * columns / max",
        "step * source.n_rows / max",
        f"{VIEWS}::test_the_step_reaches",
    ),
    Mutant(
        "delta-unread",
        "models/recipes/cross.py",
        "PAPER_STEP if options.step is None else options.step)",
        "PAPER_STEP)",
        f"{VIEWS}::test_the_step_reaches",
    ),
    Mutant(
        "delta-unit",
        "moments/views/covariances.py",
        "step / np.sqrt(np.maximum",
        "step / (np.maximum",
        f"{VIEWS}::test_the_step_reaches",
    ),
    # Single topics, SVTD and the other diagonalisers.
    Mutant(
        "single-weights",
        "models/topics/single_topic.py",
        "weights = document_shares(topics, corpus.source)",
        "weights = start.values**-2 / (start.values**-2).sum()",
        f"{CONSISTENT}::test_weights_of_single",
    ),
    Mutant(
        "svtd-words",
        "decompose/polyadic.py",
        "np.argsort(-moments.mean, kind",
        "np.argsort(moments.mean, kind",
        METHODS,
    ),
    Mutant("svtd-all-words", "decompose/methods.py", 'svtd, words="all"', 'svtd, words="frequent"', METHODS),
    Mutant(
        "svtd-gap",
        "decompose/orthogonal/spectral.py",
        "gaps.argmax()",
        "gaps.argmin()",
        "tests/decompose/orthogonal/test_diagonalisers.py::test_svtd",
    ),
    # The prior of the topics.
    Mutant(
        "topic-prior-value",
        TOPIC_PRIOR,
        "(1 - same) / (M * same - 1)",
        "(1 + same) / (M * same + 1)",
        f"{TOLD}::test_population_topics",
    ),
    Mutant(
        "topic-prior-squares",
        TOPIC_PRIOR,
        "products[:K] / weights**2",
        "products[:K] / weights",
        f"{TOLD}::test_what_is_told_equals",
    ),
    Mutant(
        "topic-prior-alike",
        TOPIC_PRIOR,
        "if shared > max(allowed,",
        "if shared > 100 + max(allowed,",
        f"{TOLD}::test_words_that_all_topics_have",
    ),
    Mutant(
        "topic-prior-many-words",
        TOPIC_PRIOR,
        "min(MOST_SHARED, MOST_ALIKE * deviation)",
        "MOST_SHARED",
        f"{TOLD}::test_topics_of_many_words",
    ),
    Mutant(
        "topic-prior-pairs",
        TOPIC_PRIOR,
        "others**2 / (2 * (",
        "others**2 / (200 * (",
        f"{TOLD}::test_what_is_told_equals",
    ),
    Mutant(
        "topic-prior-tokens",
        TOPIC_PRIOR,
        ">= ENOUGH_TOKENS * K * M",
        ">= ENOUGH_TOKENS * M / K",
        f"{TOLD}::test_too_few_tokens",
    ),
    Mutant(
        "svtd-weights",
        "decompose/polyadic.py",
        "third_rows(directions) / values[:, None]",
        "third_rows(directions) * values[:, None]",
        METHODS,
    ),
    Mutant(
        "jd-k-projections",
        "decompose/orthogonal/jacobi.py",
        "n_projections=stack.shape[1])",
        "n_projections=1)",
        f"{METHODS}::test_projections",
    ),
    Mutant(
        "jd-k-name",
        "decompose/methods.py",
        'Method("jd_k", "rotation", jacobi_of_projections)',
        'Method("jd_k", "rotation", jacobi)',
        METHODS,
    ),
    Mutant(
        "jd-f-weights",
        "decompose/polyadic.py",
        "vectors * np.sqrt(np.maximum(values, 0.0))",
        "vectors * np.maximum(values, 0.0)",
        f"{METHODS}::test_all_words_summed",
    ),
    # Bounds, and how many documents they ask for.
    Mutant(
        "bound-whitened-exponent",
        BOUNDS,
        "((1 - r) * smallest) ** 1.5",
        "((1 - r) * smallest) ** 2.5",
        f"{BOUNDED}::test_the_bound_of_the_whitened",
    ),
    Mutant(
        "bound-whitened-sign",
        BOUNDS,
        "(2 + e + np.sqrt(1 + e))",
        "(2 + e - np.sqrt(1 + e))",
        f"{BOUNDED}::test_the_bound_of_the_whitened",
    ),
    Mutant(
        "bound-noise-exponent",
        BOUNDS,
        "float(np.min(values)) ** 3 /",
        "float(np.min(values)) ** 2 /",
        f"{BOUNDED}::test_noise_that_hides",
    ),
    Mutant("bound-components-sign", BOUNDS, "+ e * sizes", "- e * sizes", f"{BOUNDED}::test_the_bound_of_components"),
    Mutant(
        "bound-components-weight",
        BOUNDS,
        "TURNED * error / values",
        "TURNED * error * values",
        f"{BOUNDED}::test_the_bound_of_components",
    ),
    Mutant("bound-constant", BOUNDS, "TURNED = 1.2", "TURNED = 0.7", f"{BOUNDED}::test_a_noisy_tensor"),
    Mutant(
        "documents-of-lda",
        BOUNDS,
        "(c * (c0 + 2) ** 2)",
        "(c * (c0 + 2))",
        f"{BOUNDED}::test_with_that_many",
    ),
    Mutant(
        "documents-of-single-topics",
        BOUNDS,
        "variances, values = c, 1 / np.sqrt(c)",
        "variances, values = c, 2 / np.sqrt(c)",
        f"{BOUNDED}::test_with_that_many",
    ),
    Mutant(
        "documents-of-discrete-ica",
        BOUNDS,
        "c / rate**2, 2 / np.sqrt(c)",
        "c / rate, 2 / np.sqrt(c)",
        f"{BOUNDED}::test_with_that_many",
    ),
    Mutant(
        "documents-failure",
        BOUNDS,
        "_of_words(c0, failure / 3)",
        "_of_words(c0, failure)",
        f"{BOUNDED}::test_with_that_many",
    ),
    Mutant(
        "documents-markov",
        BOUNDS,
        "1 / np.sqrt(failure / 2)",
        "1 / np.sqrt(failure)",
        f"{BOUNDED}::test_with_that_many",
    ),
    Mutant(
        "cumulants-weight",
        CUMULANTS,
        "6 * k2 @ powers[1]",
        "5 * k2 @ powers[1]",
        f"{BOUNDED}::test_the_error_of_discrete",
    ),
    Mutant(
        "cumulants-sign",
        CUMULANTS,
        "/ 4 - size",
        "/ 4 + size",
        f"{BOUNDED}::test_the_error_of_discrete",
    ),
    Mutant(
        "cumulants-triples", CUMULANTS, "+ 9 * falling[4]", "+ 6 * falling[4]", f"{BOUNDED}::test_the_third_cumulant"
    ),
    Mutant("cumulants-exponent", CUMULANTS, "2 * ones**1.5", "2 * ones", f"{BOUNDED}::test_the_third_cumulant"),
    # Which components the data determine.
    Mutant(
        "halves-are-others",
        "models/recipes/standing_out.py",
        "first @ (there @ second.T)",
        "first @ (here @ second.T)",
        f"{TOLD_APART}::test_directions_that_other",
    ),
    Mutant(
        "halves-fall",
        "models/recipes/standing_out.py",
        "known[:-1] >= least * known[1:]",
        "known[1:] >= least * known[:-1]",
        f"{TOLD_APART}::test_directions_that_other",
    ),
    Mutant(
        "halves-of-lda",
        MOMENT_PRIOR,
        "1 - parts[len(parts) - self._usual.n_noise",
        "1 + parts[len(parts) - self._usual.n_noise",
        f"{TOLD_APART}::test_topics_of_another_total",
    ),
    Mutant(
        "halves-of-aligned-texts",
        "models/recipes/aligned_start.py",
        "(1 - noise.mean(axis=0))",
        "(1 + noise.mean(axis=0))",
        f"{TOLD_APART}::test_every_model_of_topics",
    ),
    Mutant(
        "halves-noise-sign",
        "models/recipes/moment_start.py",
        "start.certainty * (1 - noise)",
        "start.certainty * (1 + noise)",
        f"{TOLD_APART}::test_a_component_is_as_certain",
    ),
    Mutant(
        "certain-noise-sign",
        CERTAIN,
        "2 * losses - 2 * noise",
        "2 * losses + 2 * noise",
        f"{SURE}::test_certainty_of_pairs",
    ),
    Mutant(
        "certain-noise-weight",
        CERTAIN,
        "n_parameters + 2 * np.sqrt(n_parameters)",
        "n_parameters + np.sqrt(n_parameters)",
        f"{SURE}::test_certainty_of_pairs",
    ),
    Mutant(
        "certain-weights-swapped",
        CERTAIN,
        "1 - weights[other] / weights[own]",
        "1 - weights[own] / weights[other]",
        f"{SURE}::test_certainty_of_pairs",
    ),
    Mutant(
        "certain-covariances",
        "inference/mixtures/moves.py",
        "n_columns * (n_columns + 1) // 2",
        "n_columns * (n_columns - 1) // 2",
        f"{SURE}::test_what_tells_two",
    ),
    Mutant(
        "certain-arriving",
        CERTAIN,
        "n_parameters += np.minimum(arriving",
        "n_parameters -= np.minimum(arriving",
        f"{SURE}::test_what_tells_two",
    ),
    Mutant(
        "merged-values",
        MERGING,
        "between = shares.prod(axis=1)[:, None]",
        "between = shares.sum(axis=1)[:, None]",
        f"{SURE}::test_two_values",
    ),
    Mutant(
        "merged-gaussians-sign",
        MERGING,
        "within + product * between",
        "within - product * between",
        f"{SURE}::test_losses_are_those",
    ),
    Mutant(
        "merged-states",
        MERGING,
        "share @ chain.transitions[pair]",
        "share[::-1] @ chain.transitions[pair]",
        f"{SURE}::test_two_states",
    ),
    Mutant(
        "merged-distances-sign",
        MERGING,
        "xlogy(ones, ones) + xlogy(1 - ones, 1 - ones)",
        "xlogy(ones, ones) - xlogy(1 - ones, 1 - ones)",
        f"{SURE}::test_what_a_row_loses",
    ),
    Mutant(
        "merged-distances-weight",
        MERGING,
        "weights[k] * own[k] - of_both * together",
        "own[k] - of_both * together",
        f"{SURE}::test_what_a_row_loses",
    ),
    Mutant(
        "merged-evidence-sign",
        MERGING,
        "together[:, number] - evidence[:, 0]",
        "together[:, number] + evidence[:, 0]",
        f"{SURE}::test_losses",
    ),
]


def copied_project(folder: Path) -> None:
    """Copy what tests need; times of files stay, so that compiled loops are found in the copied caches."""
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy2(ROOT / "pyproject.toml", folder)


def passes(folder: Path, tests: list[str]) -> tuple[bool, str]:
    """Run tests in a copy, and tell whether they pass, with the last lines of what they said."""
    files = {name.split("::")[0] for name in tests}
    wanted = [name.split("::")[1] for name in tests if "::" in name]
    whole = [name for name in tests if "::" not in name]
    if whole and wanted:
        raise ValueError("Name whole files of tests or single tests, not both.")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *sorted(files)]
    command += ["-k", " or ".join(sorted(set(wanted)))] if wanted else []
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if found.returncode not in (0, 1, 2):  # 5: no test has such a name
        raise RuntimeError(f"pytest could not run {' '.join(tests)}:\n{found.stdout}{found.stderr}")
    return found.returncode == 0, "\n".join(found.stdout.splitlines()[-3:])


def is_killed(mutant: Mutant, folder: Path) -> bool:
    """Put a mutant into a copy, run its tests, and put the file back."""
    path = folder / "src" / "polyad" / mutant.file
    text = path.read_text()
    if text.count(mutant.before) != 1:
        raise ValueError(f"{mutant.file} has {text.count(mutant.before)} places like {mutant.before!r}; one is needed.")
    path.write_text(text.replace(mutant.before, mutant.after))
    try:
        passed, _ = passes(folder, mutant.tests.split())
    finally:
        path.write_text(text)
        shutil.copystat(ROOT / "src" / "polyad" / mutant.file, path)
    return not passed


def main() -> int:
    """Run mutants; 1 if one survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="mutants to run; all of them without")
    names = parser.parse_args().names
    chosen = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    survivors = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        copied_project(folder)
        for tests in sorted({mutant.tests for mutant in chosen}):
            passed, said = passes(folder, tests.split())
            if not passed:
                raise RuntimeError(f"{tests} fails without any mutant:\n{said}")
        for mutant in chosen:
            killed = is_killed(mutant, folder)
            survivors += [] if killed else [mutant.name]
            print(f"{mutant.name:26s} {'killed' if killed else 'SURVIVED'}", flush=True)  # noqa: T201
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants were killed.")  # noqa: T201
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
