"""What a fit tells on its way, and what is left when it is stopped."""

import logging
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_info

from polyad.datasets import make_lda
from polyad.engine import following, listening
from polyad.models.selection import select_n_components
from polyad.models.topics.discrete_ica import DiscreteICA
from polyad.models.topics.lda import LDA
from polyad.models.topics.single_topic import SingleTopic

X = make_lda(300, 120, 4, length=60).counts
OTHER = make_lda(300, 120, 4, length=60, random_state=1).counts
MODELS = [LDA, DiscreteICA, SingleTopic]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

pytestmark = pytest.mark.filterwarnings("ignore::polyad.models.recipes.moment_start.NoiseWarning")


def fit_bytes(model):
    found = {name: value for name, value in vars(model).items() if name.endswith("_") and name != "diagnostics_"}
    return {name: value.tobytes() if isinstance(value, np.ndarray) else value for name, value in sorted(found.items())}


def reports_of(body):
    reports = []
    with following(reports.append):
        body()
    return reports


@pytest.mark.parametrize("polish", ["off", "fast", 3, "full"])
@pytest.mark.parametrize("model", MODELS)
def test_reports_rise_to_one(model, polish):
    reports = reports_of(lambda: model(4, polish=polish).fit(X))
    fractions = [report.fraction for report in reports]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
    assert max(fractions[:-1]) < 1
    assert fractions[0] == 0
    assert len({report.fraction for report in reports if report.stage == "moments"}) > 4
    assert reports[-1].work == model.__name__


def test_reports_of_a_selection_rise_to_one():
    reports = reports_of(lambda: select_n_components(X, [2, 4]))
    fractions = [report.fraction for report in reports]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
    assert {"moments", "2 topics", "4 topics, one half", "4 topics, judging"} <= {report.stage for report in reports}
    assert any(re.fullmatch(r"4 topics, pass 2 of at most \d+", report.what) for report in reports)


@pytest.mark.parametrize("model", MODELS)
def test_the_logger_gets_every_pass(model, caplog):
    heard = []
    with caplog.at_level(logging.DEBUG, "polyad"), listening(heard.append):
        fitted = model(4, polish=3).fit(X)
    info = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    debug = [record.getMessage() for record in caplog.records if record.levelno == logging.DEBUG]
    likelihood = [line for line in info if "likelihood pass" in line]
    assert len(likelihood) == fitted.diagnostics_.n_passes == 3
    for number, (line, objective) in enumerate(zip(likelihood, fitted.diagnostics_.objective), 1):
        expected = f"{model.__name__}: likelihood pass {number} of at most 3, {objective:.4f} nats per token, "
        assert re.fullmatch(re.escape(expected) + r"\d+\.\d{3} s", line)
    steps = [line for line in info if re.fullmatch(rf"{model.__name__}: \w+, \d+\.\d+ s", line)]
    assert len(steps) == len(fitted.diagnostics_.seconds)
    assert len(debug) == sum(report.finished for report in heard)


@pytest.mark.parametrize("model", MODELS)
def test_verbose_writes_lines_where_there_is_no_terminal_and_changes_nothing(model, capsys):
    silent = model(4, polish=2).fit(X)
    assert capsys.readouterr() == ("", "")
    loud = model(4, polish=2, verbose=1).fit(X)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert "\x1b" not in err
    assert sum("likelihood pass" in line for line in lines) == 2
    assert sum("Diagnostics(" in line for line in lines) == 1
    assert lines[-1].startswith(f"{model.__name__}: Diagnostics(")
    assert lines[0].startswith(f"{model.__name__}: reading, ")
    assert fit_bytes(loud) == fit_bytes(silent)


def test_verbose_needs_no_rich(monkeypatch, capsys):
    monkeypatch.setattr("polyad.base.terminal.find_spec", lambda name: None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    LDA(4, polish=1, verbose=1).fit(X)
    assert "LDA: likelihood pass 1 of at most 1" in capsys.readouterr().err


@contextmanager
def terminal(monkeypatch, columns=100):
    """Put a terminal in place of standard error while the body runs, and give what was written to it."""
    leader, follower = pty.openpty()
    blocks, text = [], []

    def read():
        with suppress(OSError):  # the other end is closed
            while block := os.read(leader, 65536):
                blocks.append(block)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with open(follower, "w") as stream, monkeypatch.context() as patch:
            patch.setenv("TERM", "xterm-256color")
            patch.setenv("COLUMNS", str(columns))
            patch.setattr(sys, "stderr", stream)
            yield text
    finally:
        reader.join(timeout=10)
        os.close(leader)
        text.append(b"".join(blocks).decode())


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_the_bar_on_a_terminal(monkeypatch, columns):
    pytest.importorskip("rich")
    silent = LDA(4, polish=8).fit(X)
    # Each pass waits, so that the bar is drawn a few times on its way.
    with terminal(monkeypatch, columns) as written, listening(lambda report: time.sleep(0.03)):
        loud = LDA(4, polish=8, verbose=1).fit(X)
    [text] = written
    plain = ESCAPES.sub("", text)
    assert re.search(r"\d+% likelihood pass \d of at most 8 0:0\d 0:0\d left", plain)
    assert re.search(r"\d+% moments", plain)
    frames = re.split(r"[\r\n]+", plain)
    assert max(len(frame) for frame in frames if "Diagnostics" not in frame) <= columns
    assert ("━" in plain) == (columns > 60)
    # The bar is wiped, the cursor shown again, and the summary is all that stays.
    frames, summary = text.rsplit("LDA: Diagnostics", 1)
    assert frames.endswith("\x1b[2K")
    assert text.count("\x1b[?25h") == text.count("\x1b[?25l") == 1
    assert "\x1b" not in summary
    assert fit_bytes(loud) == fit_bytes(silent)


def test_a_stopped_fit_leaves_no_bar_on_the_terminal(monkeypatch):
    pytest.importorskip("rich")
    with (
        pytest.raises(KeyboardInterrupt),
        terminal(monkeypatch) as written,
        following(stopper("polish", KeyboardInterrupt())),
    ):
        LDA(4, polish=8, verbose=1).fit(X)
    [text] = written
    assert text.count("\x1b[?25h") == text.count("\x1b[?25l") == 1
    assert text.endswith("\x1b[2K")


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def stopper(stage, error, event="moved"):
    """Raise in the thread of the fit, in the middle of a stage."""

    def stop(report):
        if report.stage == stage and report.event == event:
            raise error

    return stop


STOPS = [
    ("read", "moved"),
    ("moments", "begun"),
    ("moments", "moved"),
    ("polish", "moved"),
    ("polish", "round"),
    ("prior", "begun"),
    ("prior", "ended"),
]


@pytest.mark.usefixtures("two_threads_of_blas")
@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("half-way")], ids=["Ctrl-C", "error"])
@pytest.mark.parametrize(("stage", "event"), STOPS)
def test_a_stopped_fit_leaves_the_estimator_as_it_was(stage, event, error):
    expected = LDA(4, polish=2).fit(X)
    before, model = blas_threads(), LDA(4, polish=2, n_jobs=2)
    with pytest.raises(type(error)) as caught, following(stopper(stage, error, event)):
        model.fit(X)
    # Still with the traceback and all its frames at hand:
    assert caught.value is error
    assert blas_threads() == before
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert not [name for name in vars(model) if name.endswith("_")]

    assert fit_bytes(model.fit(X)) == fit_bytes(expected)
    complete = model.diagnostics_
    with pytest.raises(type(error)), following(stopper(stage, error, event)):
        model.fit(OTHER)
    assert fit_bytes(model) == fit_bytes(expected)
    assert model.diagnostics_ is complete
    assert fit_bytes(model.fit(OTHER)) == fit_bytes(LDA(4, polish=2).fit(OTHER))


def test_an_interrupted_pass_leaves_no_thread_at_work():
    from polyad.engine import Threads, count_blocks
    from polyad.engine.sums import tree_sum

    at_work, lock = [0], threading.Lock()

    def slow(part):
        with lock:
            at_work[0] += 1
        time.sleep(0.02)
        with lock:
            at_work[0] -= 1
        return Stops(part)

    class Stops(int):
        def __add__(self, other):
            raise KeyboardInterrupt

    runner = Threads(2)
    with pytest.raises(KeyboardInterrupt):
        tree_sum(runner.map(slow, range(50)))
    assert at_work == [0]
    assert runner.total(lambda block: block.rows.sum(), count_blocks([[1, 2], [3, 4]])) == 10


# Ctrl-C by a real signal: the process tells when it is inside the stage, and works on until the signal comes.
SIGNALLED = """
import sys, threading, warnings
from polyad.datasets import make_lda
from polyad.engine import following
from polyad.models.topics.lda import LDA
warnings.simplefilter("ignore")

X, other = (make_lda(300, 120, 4, length=60, random_state=seed).counts for seed in (0, 1))
passes = 1_000_000

def found(model):
    return {name: value.tobytes() for name, value in vars(model).items() if hasattr(value, "tobytes")}

def tell(report):
    if report.event == "round" and report.number == 3:
        print("inside", flush=True)

fresh, fitted = LDA(4, polish=passes, n_jobs=2), LDA(4, polish=2, n_jobs=2).fit(X)
before = found(fitted)
for model in (fresh, fitted.set_params(polish=passes)):
    try:
        with following(tell):
            model.fit(other)
    except KeyboardInterrupt:
        print("stopped", flush=True)
assert not [name for name in vars(fresh) if name.endswith("_")], vars(fresh)
assert found(fitted) == before
assert found(fresh.set_params(polish=2).fit(X)) == before
assert "rich" not in sys.modules  # it is for the bar alone
print("whole", flush=True)
"""


def test_ctrl_c_in_the_middle_of_a_fit():
    child = subprocess.Popen(
        [sys.executable, "-c", SIGNALLED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        for _ in range(2):
            assert child.stdout.readline() == "inside\n"
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "stopped\n"
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert (out, err, child.returncode) == ("whole\n", "", 0)


def test_warnings_of_a_followed_fit_point_to_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        LDA(60, polish=1).fit(X)
    assert caught
    assert {warning.filename for warning in caught} == {__file__}
