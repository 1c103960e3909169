"""The model of what a fit costs finds the slopes that made some fits, and predicts the largest from the others."""

import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"
if not (FOLDER / "cost_model.py").is_file():
    pytest.skip("benchmarks are in the repository, and not in the package", allow_module_level=True)
sys.path.insert(0, str(FOLDER))

import cost_model  # noqa: E402 - a file, not a package: its folder is put on the path first

SLOPES = {
    "read": {"cells": 2e-8},
    "moments": {"sampled cells": 1e-7, "K sampled cells": 3e-9, "K words": 1e-7},
    "polish": {"passes cells": 5e-8, "passes K cells": 2e-9, "passes K words": 2e-8},
    "prior": {"cells": 1e-8, "K cells": 1e-10},
}


def fit(n_cells, K, passes, sampled=1.0, factor=1.0):
    found = {"cells": n_cells, "topics": K, "passes": passes, "sampled": sampled, "words": 10_000, "cores": 2}
    steps = {
        step: factor * sum(slope * cost_model.term(name, found) for name, slope in terms.items()) / 2
        for step, terms in SLOPES.items()
    }
    seconds = sum(steps.values())
    busy = {step: 3 * time for step, time in steps.items()}  # others have used the machine: the clock shows more
    return {**found, "steps": busy, "seconds": 3 * seconds, "processor seconds": 2 * seconds}


def results(factor=1.0):
    return {
        "fit 1/16 shards": fit(10**6, 100, 6),
        "fit 1/16 shards 20": fit(10**6, 20, 5),
        "fit 1/16 memory": fit(10**6, 100, 6, factor=99),
        "fit 1/4 shards": fit(4 * 10**6, 100, 5, 0.5),
        "fit 1 shards": fit(16 * 10**6, 100, 6, 0.2, factor),
    }


def test_the_largest_fit_is_predicted_from_the_others():
    model = cost_model.from_results(results())
    assert model.largest == "fit 1 shards"
    assert np.isclose(model.predicted, model.measured, rtol=1e-6)
    for step, terms in SLOPES.items():
        for name, slope in terms.items():
            assert np.isclose(model.slopes[step][name], slope, rtol=1e-4)
    slower = cost_model.from_results(results(factor=1.5))
    assert np.isclose(slower.predicted, model.predicted, rtol=1e-6), "it is not looked at"
    assert np.isclose(slower.measured, 1.5 * model.measured)
    assert "predicted" in str(slower)


def test_workers_divide_the_work_and_pay_for_the_network():
    found = results()
    threads = {"seconds": 20.0, "passes": 6, "topics": 100, "words": 10_000}
    found |= {"europarl shards 100": threads, "europarl dask 2 100": {**threads, "seconds": 24.0}}
    model = cost_model.from_results(found)
    n_bytes = 2 * 2 * 10_000 * (2 * 6 * 4 * 112 + 8 * (400 + 128))  # two workers, there and back
    assert np.isclose(model.byte_seconds, 4.0 / n_bytes)
    alone = model.seconds(found["fit 1 shards"])
    four = model.seconds(found["fit 1 shards"], n_workers=4)
    assert np.isclose(four, alone / 4 + 8.0)
    slow_wire = model.seconds(found["fit 1 shards"], n_workers=4, bandwidth=1e8)
    assert np.isclose(slow_wire, four + 2 * n_bytes / 1e8)
    few = cost_model.network({**threads, "shards": 2}, 4)
    assert np.isclose(few, n_bytes + 2 * 10_000 * 8 * (400 + 128)), "columns go to all, topics to those with a shard"
    assert cost_model.from_results({}) is None


def test_larger_corpora_sample_the_root_of_their_shards():
    found = fit(1 << 24, 100, 5)
    assert cost_model.grown(found, 1)["sampled"] == 1
    assert cost_model.grown(found, 4)["sampled"] == 1, "four shards at least"
    larger = cost_model.grown(found, 100)
    assert larger["cells"] == 100 << 24
    assert larger["sampled"] == 0.1
    assert cost_model.network(larger, 10) == cost_model.network(found, 10), "what travels does not go by documents"
