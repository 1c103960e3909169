"""The claims of the papers on small samples: one that stops holding fails."""

import sys
import warnings
from pathlib import Path

import pytest

PAPERS = Path(__file__).resolve().parents[1] / "benchmarks" / "papers"
SLOW = {"discrete-ica-figure-2", "discrete-ica-figure-3", "discrete-ica-figure-5", "beyond-cca-figure-2"}

if not PAPERS.is_dir():
    pytest.skip("the experiments are in the repository, and not in the package", allow_module_level=True)
sys.path[:0] = [str(PAPERS), str(PAPERS.parent)]

import lab  # noqa: E402 - experiments are files, not a package: their folders are put on the path first
from experiments import EXPERIMENTS  # noqa: E402


@pytest.mark.parametrize(
    "experiment", [pytest.param(e, id=e.name, marks=[pytest.mark.slow] if e.name in SLOW else []) for e in EXPERIMENTS]
)
def test_what_the_papers_claim_holds_on_small_samples(experiment, tmp_path):
    if not list(experiment.settings(True)):
        pytest.skip("real text alone can show it: make papers runs it")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small samples of hard cases warn, as they should
        rows = lab.run(experiment, tmp_path, quick=True)
    broken = [claim.text for claim in experiment.claims if not claim.full_size_only and not claim.holds(rows)]
    assert not broken


def test_a_run_goes_on_where_it_was_stopped(tmp_path):
    measured = []

    def measure(N):
        measured.append(N)
        return [{"N": N, "error": 1 / N}]

    def experiment(sizes):
        return lab.Experiment("toy", "", "", "", lambda quick: [{"N": N} for N in sizes], measure, ())

    lab.run(experiment([1, 2]), tmp_path, quick=True)
    with (tmp_path / "toy.jsonl").open("a") as file:
        file.write('{"setting": {"N": 4}, "ro')  # a line that was being written when the power went
    rows = lab.run(experiment([1, 2, 4]), tmp_path, quick=True)
    assert measured == [1, 2, 4]
    assert [row["N"] for row in rows] == [1, 2, 4]
    assert lab.falls(rows)


def test_a_claim_can_fail():
    rows = [{"N": N, "error": 1.0, "method": "a"} for N in (10, 100)]
    assert not lab.falls(rows, method="a", by=0.9)
    with pytest.raises(LookupError, match="no row"):
        lab.mean(rows, "error", method="b")
