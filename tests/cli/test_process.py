"""The command as a process of its own: pipes, terminals, signals."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import save_npz

from random_counts import random_counts

COMMAND = [sys.executable, "-m", "polyad.cli"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SHARED = Path(__file__).parents[3] / "shared" / "data"


def process(*arguments, **options):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, timeout=120, **options)


def on_terminal(arguments, columns=60, **environment):
    """Run the command on a terminal of so many columns, and give its exit code and all that was written to it."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    unset = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    child = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**unset, "TERM": "xterm-256color", **environment},
    )
    os.close(follower)
    written = b""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if select.select([leader], [], [], 0.1)[0]:
            try:
                block = os.read(leader, 65536)
            except OSError:  # the terminal is gone with the last process on it
                break
            if not block:
                break
            written += block
    os.close(leader)
    return child.wait(timeout=10), written.decode()


def width(line):
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)


def test_a_fit_of_one_process_gives_the_same_bytes_in_another(polyad, corpus, tmp_path):
    there, here = tmp_path / "there.polyad", tmp_path / "here.polyad"
    fitted = process("fit", corpus, "-k", 2, "-o", there, "--json")
    assert fitted.returncode == 0, fitted.stderr
    assert json.loads(fitted.stdout)["n_components"] == 2
    assert polyad("fit", corpus, "-k", 2, "-o", here, "-q").code == 0
    assert here.read_bytes() == there.read_bytes()


def test_data_and_messages_in_pipes(polyad, model, corpus):
    done = process("transform", model, "-", input=Path(corpus).read_bytes())
    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[0] == "id,topic,topic_words,topic_0,topic_1"
    assert len(done.stdout.splitlines()) == 13
    assert done.stdout.decode() == polyad("transform", model, corpus).out, "the same numbers in another process"
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"Documents: 12" in done.stderr


def test_a_closed_pipe_is_no_error_to_talk_about(model):
    command = f"{' '.join(COMMAND)} topics {model} -n 30 | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_sentence(model):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, "topics", model], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == ["polyad: No space left on device."]


def test_an_error_is_one_sentence_and_no_traceback(tmp_path):
    (tmp_path / "bad.polyad").write_bytes(b"PK\x03\x04 cut")
    done = process("topics", tmp_path / "bad.polyad")
    assert (done.returncode, done.stdout) == (1, b"")
    assert len(done.stderr.splitlines()) == 1
    assert b"damaged or cut short" in done.stderr
    debugged = process("topics", tmp_path / "bad.polyad", env={**os.environ, "POLYAD_DEBUG": "1"})
    assert b"Traceback" in debugged.stderr


def test_a_terminal_of_60_columns(corpus, tmp_path):
    code, written = on_terminal(["fit", corpus, "-k", 2, "-o", tmp_path / "m.polyad"])
    assert code == 0
    assert "\x1b[" in written
    lines = [line.split("\r")[-1] for line in ESCAPES.sub("", written.replace("\r\n", "\n")).split("\n")]
    assert any("budget" in line for line in lines)
    assert max(map(width, lines)) <= 60
    assert re.search(r"100% Learning 2 topics \d:\d\d 0:00 left", ESCAPES.sub("", written))  # the bar at its end
    code, written = on_terminal(["topics", tmp_path / "m.polyad"])
    lines = ESCAPES.sub("", written).replace("\r\n", "\n").split("\n")
    # Words are wrapped whole, under one another.
    assert all(line.startswith(" ") for line in lines[2:] if line.strip())
    assert max(map(width, lines)) <= 60


def test_no_color(model):
    _, coloured = on_terminal(["info", model])
    _, plain = on_terminal(["info", model], NO_COLOR="1")
    assert "\x1b[" in coloured
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", plain)


def test_help_fits_a_terminal_of_60_columns():
    code, written = on_terminal(["fit", "--help"])
    assert code == 0
    assert max(map(width, ESCAPES.sub("", written).replace("\r\n", "\n").split("\n"))) <= 60


def test_help_needs_no_numpy():
    code = "import sys, polyad.cli.app; sys.exit(any(name in sys.modules for name in ('numpy', 'numba', 'sklearn')))"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_fit_leaves_no_file(tmp_path, number):
    rng = np.random.default_rng(0)
    counts = random_counts(rng, (6000, 3000), 0.01)
    save_npz(tmp_path / "counts.npz", counts.astype(np.int32))
    options = ["--jobs", 1, "-k", 20, "--polish", 100_000]  # as long as anybody waits
    arguments = ["fit", tmp_path / "counts.npz", *options, "-o", tmp_path / "m.polyad"]
    child = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a suite in the background ignores it
    )
    assert "Documents: 6,000" in child.stderr.readline()  # what is left is the fit
    time.sleep(0.5)
    assert child.poll() is None
    child.send_signal(number)
    out, err = child.communicate(timeout=30)
    assert child.returncode == 128 + number
    assert out == ""
    assert "Traceback" not in err
    assert ("stopped" in err) == (number == signal.SIGINT)
    assert [file.name for file in tmp_path.iterdir()] == ["counts.npz"]


def test_the_cantiche_of_dante_have_topics_of_their_own(tmp_path):
    """The finding of the SVTD paper, with the defaults: Hell, Purgatory and Heaven are dominated by a topic each."""
    file = SHARED / "dante" / "divina_commedia.jsonl.gz"
    if not file.exists():
        pytest.skip("the texts of ../shared/data are not here")
    fitted = process("fit", file, "-k", 3, "--stop-words", "italian", "-o", tmp_path / "m", "-q")
    assert fitted.returncode == 0, fitted.stderr
    done = process("transform", tmp_path / "m", file, "--id-column", "cantica", "--json")
    table = {name: np.zeros(3, int) for name in ("Inferno", "Purgatorio", "Paradiso")}
    for name, *shares in json.loads(done.stdout)["rows"]:
        table[name][np.argmax(shares)] += 1
    assert sorted(counts.argmax() for counts in table.values()) == [0, 1, 2], table
    assert all(counts.max() > 0.5 * counts.sum() for counts in table.values()), table


def children(process):
    """The processes that a process has started."""
    with open(f"/proc/{process}/task/{process}/children") as file:
        return [int(number) for number in file.read().split()]


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")
def test_workers_end_after_a_process_that_was_killed(tmp_path):
    """Also where they wait for work that will never come."""
    command = [*COMMAND, "fit", "-", "-k", "2", "--jobs", "2"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes) as child:
        child.stdin.write(b"the rain and the wind\n" * 60_000)  # and more is to come
        child.stdin.flush()
        deadline = time.monotonic() + 60
        workers = []
        while time.monotonic() < deadline and len(workers) < 3:  # the workers, and what tracks their resources
            time.sleep(0.1)
            workers = children(child.pid)
        time.sleep(1.0)  # for the work that they have
        child.kill()
        assert len(workers) >= 2
        deadline = time.monotonic() + 20
        while any(map(is_alive, workers)) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert [worker for worker in workers if is_alive(worker)] == []


WAITS = """
import os, signal, sys, time
from polyad.cli.app import run
from polyad.corpus import atomic_write
import polyad.cli.commands.fit

def waits(*_, **__):
    with atomic_write("table.csv") as out:
        out.write(b"half")
        print("waiting", flush=True)
        time.sleep(60)

polyad.cli.commands.fit.make_model = waits
sys.exit(run(["fit", "none.txt"]))
"""


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGQUIT])
def test_no_signal_that_can_be_heard_leaves_half_a_file(tmp_path, number):
    with subprocess.Popen(
        [sys.executable, "-c", WAITS],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # a suite under nohup ignores it
    ) as child:
        assert child.stdout.readline() == "waiting\n"
        assert len(list(tmp_path.iterdir())) == 1
        child.send_signal(number)
        _, err = child.communicate(timeout=30)
    assert child.returncode == 128 + number
    assert err == ""
    assert list(tmp_path.iterdir()) == []


def test_streams_that_are_closed(model, tmp_path):
    def shell(command):
        done = subprocess.run(["bash", "-c", f"{' '.join(COMMAND)} {command}"], capture_output=True, timeout=60)
        return done.returncode, done.stderr.decode()

    assert shell(f"topics {model} >&-") == (1, "polyad: Standard output is closed.\n")
    assert shell(f"topics {model} 2>&-") == (0, "")
    told = "polyad: standard input: it is closed; give the path of a file or a folder\n"
    assert shell(f"convert - {tmp_path}/a.mtx <&-") == (1, told)


def test_a_table_on_a_terminal_has_no_bar_in_it(corpus, model):
    """What a person sees of `transform` is one row for each document, and nothing run into it."""
    code, written = on_terminal(["transform", model, corpus], columns=120)
    lines = ESCAPES.sub("", written).replace("\r\n", "\n").split("\n")
    assert code == 0
    assert not any("100%" in line or "Finding" in line for line in lines)
    start = next(number for number, line in enumerate(lines) if line.startswith("id "))
    rows = [line.split() for line in lines[start + 1 : start + 13]]
    assert [row[0] for row in rows] == [f"w{n}" for n in range(1, 7)] + [f"t{n}" for n in range(1, 7)]
    assert all(abs(sum(map(float, row[-2:])) - 1) < 2e-4 for row in rows)
