"""The claims of the papers on small samples: one that stops holding fails."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

PAPERS = Path(__file__).resolve().parents[1] / "benchmarks" / "papers"

if not PAPERS.is_dir():
    pytest.skip("the experiments are in the repository, and not in the package", allow_module_level=True)
sys.path[:0] = [str(PAPERS), str(PAPERS.parent)]

import lab  # noqa: E402 - experiments are files, not a package: their folders are put on the path first
import recovery  # noqa: E402
from experiments import EXPERIMENTS  # noqa: E402
from page import draw, map_rows, write_page  # noqa: E402

from polyad.decompose.orthogonal.jacobi import jacobi  # noqa: E402


@pytest.mark.parametrize("experiment", [pytest.param(e, id=e.name) for e in EXPERIMENTS])
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


def toy(name, claims=(), charts=()):
    """Return an experiment of three draws with two methods."""

    def measure(draw):
        return [{"x": x, "draw": draw, "method": m, "y": x * (1 + draw)} for x in (1, 10) for m in ("a", "b")]

    settings = [{"draw": draw} for draw in range(3)]
    return lab.Experiment(name, f"Paper of {name}", "Title", "Found.", lambda _: settings, measure, claims, charts)


def test_a_map_has_a_row_for_topics_that_no_document_has():
    chart = lab.Chart("document", "share", "topic", only=lambda row: "share" in row, areas=True)
    same = {"text": "Acts", "model": "LDA"}
    named = [{**same, "topic": topic, "words": ""} for topic in (1, 2, 3)]
    others = [{"text": "Acts", "model": "single topic", "topic": 4, "words": ""}]
    drawn = [{**same, "topic": 2, "document": 1, "share": 1.0}]
    assert map_rows(chart, drawn, [*named, *others, *drawn]) == [1, 2, 3]


def test_an_experiment_that_has_taken_less_time_goes_first(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(lab.time, "perf_counter", lambda: clock[0])
    order = []

    def experiment(name, seconds):
        def measure(draw):
            clock[0] += seconds
            order.append(name)
            return [{"draw": draw}]

        return lab.Experiment(name, "", "", "", lambda _: [{"draw": d} for d in range(3)], measure, ())

    ended = [e.name for e in lab.in_turn([experiment("slow", 10.0), experiment("fast", 4.0)], tmp_path)]
    assert order == ["slow", "fast", "fast", "fast", "slow", "slow"]
    assert ended == ["fast", "slow"]


def test_the_page_says_what_holds_what_does_not_and_what_is_not_measured(tmp_path):
    claims = (
        lab.Claim("Sums are positive.", lambda rows: lab.mean(rows, "y") > 0),
        lab.Claim("Sums are negative.", lambda rows: lab.mean(rows, "y") < 0, is_ours=True),
        lab.Claim("Method c is there.", lambda rows: lab.mean(rows, "y", method="c") > 0),
    )
    chart = lab.Chart("x", "y", "method", "", "size", "error", paper=({"x": 10, "y": 2.0, "method": "a"},))
    run, later = toy("run", claims, (chart,)), toy("later", claims)
    lab.run(run, tmp_path, quick=False)
    write_page((run, later), tmp_path, tmp_path / "results.md", "make papers")
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert "- The paper: Sums are positive. **Holds.**" in page
    assert "- Ours: Sums are negative. **Does not hold here.**" in page
    assert "- The paper: Method c is there. **Not measured yet.**" in page
    assert "| Paper of run | 1 of 2 | 0 of 1 | all |" in page
    assert "| Paper of later | – | – | 0 of 3 settings |" in page
    assert "| a | 2 | 20 |" in page  # means over the draws
    assert lab.versions() in page
    assert "paper: a" in (tmp_path / "run-1.svg").read_text(encoding="utf-8")


def test_a_map_of_shares_is_drawn(tmp_path):
    rows = [{"document": d, "share": 0.5, "topic": k, "text": "t"} for d in (1, 2) for k in (1, 2)]
    chart = lab.Chart("document", "share", "topic", "text", "document", "topic", areas=True)
    draw(chart, rows, tmp_path / "map.svg")
    assert "document" in (tmp_path / "map.svg").read_text(encoding="utf-8")


def test_as_many_contractions_as_topics_do_for_those_along_all_words():
    rng = np.random.default_rng(0)
    tensor = rng.standard_normal((4, 4, 4))
    tensor = sum(tensor.transpose(p) for p in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)))
    images = rng.standard_normal((50, 4))
    few = recovery._rotation(tensor, images, "JD(f)", 0)
    all_words = jacobi(np.tensordot(images, tensor, axes=1)).rotation
    np.testing.assert_allclose(np.abs(few.T @ all_words).round(6), np.eye(4)[np.abs(few.T @ all_words).argmax(axis=1)])
