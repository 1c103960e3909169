"""The first fit of a fresh environment compiles, later ones load: all of them, in any thread, give the same bytes."""

import json
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import polyad
from polyad import ICA, LDA
from polyad.base.atomic import atomic_write
from polyad.datasets import make_ica, make_lda
from polyad.engine import single_threaded_blas

PACKAGE = Path(polyad.__file__).parent
FINGERPRINTS = Path(__file__).with_name("fingerprints.py")


def run_python(*arguments: str, source: Path = PACKAGE.parent, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(source)} | variables
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)


def copy_package(folder: Path) -> Path:
    """Copy the source without anything compiled; files keep their times, by which numba knows its code again."""
    return shutil.copytree(PACKAGE, folder / "polyad", ignore=shutil.ignore_patterns("__pycache__"))


def hand_over(copy: Path) -> None:
    """Give the loops that were compiled in a copy to the package itself, so that other tests need not compile them.

    Loops that are there already stay; where nothing can be written, all of them are compiled again.
    """
    for index in copy.rglob("*.nbi"):
        place = PACKAGE / index.parent.relative_to(copy)
        name = index.name.removesuffix("nbi")
        if os.access(place.parent, os.W_OK) and not any(place.glob(f"{name}*")):
            place.mkdir(exist_ok=True)
            for file in [*index.parent.glob(f"{name}*.nbc"), index]:  # the index last: it names the others
                with atomic_write(place / file.name) as out:
                    out.write(file.read_bytes())


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    copy = copy_package(folder)
    found = []
    for threads in ("2", "1"):  # of BLAS: they do not change a byte either
        done = run_python(str(FINGERPRINTS), source=folder, NUMBA_CACHE_DIR="", OPENBLAS_NUM_THREADS=threads)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
        hand_over(copy)
    return found


def test_fits_that_compile_and_fits_that_load_give_the_same_bytes_in_every_thread(two_processes):
    first = two_processes[0]["main"]
    models = {name for name in polyad.__all__ if hasattr(getattr(polyad, name), "get_params")}
    assert models == {case.partition(",")[0] for case in first} & models, "a model has no case in fingerprints.py"
    for process in two_processes:
        assert process["main"] == first
        assert process["worker"] == first


def test_no_function_with_fast_arithmetic_is_there_in_several_copies(two_processes):
    assert two_processes[0]["shared"] == []


def test_without_a_place_for_the_cache_polyad_compiles_and_warns_once(tmp_path):
    copy_package(tmp_path)
    for folder in [tmp_path / "polyad", *(path for path in (tmp_path / "polyad").rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("")  # a file: no folder of this name can be made, not even by root
    no_folder = tmp_path / "home"
    no_folder.write_text("")
    script = """
import polyad, polyad.inference.heldout, polyad.models
from polyad.datasets import make_lda
model = polyad.SingleTopic(2, polish="off").fit(make_lda(50, 30, 2, length=20).counts)
print(polyad.__file__, model.components_.shape)
"""
    variables = {"HOME": str(no_folder), "XDG_CACHE_HOME": str(no_folder), "LOCALAPPDATA": str(no_folder)}
    variables |= {"NUMBA_CACHE_DIR": "", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "always"}
    done = run_python("-c", script, source=tmp_path, **variables)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tmp_path / "polyad" / "__init__.py"), "(2,", "30)"]
    assert done.stderr.count("Set the environment variable NUMBA_CACHE_DIR") == 1


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def in_new_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


@pytest.mark.usefixtures("two_threads_of_blas")
def test_the_limit_of_blas_holds_in_a_thread_that_was_not_the_first_to_set_it():
    def limited() -> list[int]:
        with single_threaded_blas():
            return blas_threads()

    before = blas_threads()
    assert set(limited()) == {1}
    assert set(in_new_thread(limited)) == {1}
    assert blas_threads() == before


@pytest.mark.usefixtures("two_threads_of_blas")
def test_the_last_to_leave_lifts_the_limit_of_blas_though_another_thread_has_set_it():
    before = blas_threads()
    entered, may_leave = threading.Event(), threading.Event()

    def first_to_come() -> None:
        with single_threaded_blas():
            entered.set()
            may_leave.wait()

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(first_to_come)
        entered.wait()
        with single_threaded_blas():
            may_leave.set()
            first.result()
            assert set(blas_threads()) == {1}
        assert blas_threads() == before  # while the thread that set it lives


@pytest.mark.usefixtures("two_threads_of_blas")
def test_fits_in_many_threads_at_once_give_the_same_bytes():
    counts, signals = make_lda(200, 80, 3, length=50).counts, make_ica(1000, 4).X

    def fits(_: int) -> tuple[bytes, bytes]:
        return LDA(3).fit(counts).components_.tobytes(), ICA().fit(signals).components_.tobytes()

    alone = fits(0)
    before = blas_threads()
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(fits, range(16))) == {alone}
    assert blas_threads() == before
    assert np.isfinite(np.frombuffer(alone[0])).all()
