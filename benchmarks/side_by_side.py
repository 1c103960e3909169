"""Two versions of the library on the same corpora, one fit after the other in turn: what a change costs or brings.

    python benchmarks/side_by_side.py OTHER/src --corpus ap nips --k 10 50 100 --polish fast

The machine does other things as well, and what it does changes from minute to minute: fits of the two versions are
taken in turn, and the median of their seconds is compared.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent


def serve(name, polish):
    """Fit whenever a number of topics comes in, and write seconds and held-out bits."""
    import time
    import warnings

    import topics
    from polyad import LDA
    from polyad.inference import completion_bits

    warnings.simplefilter("ignore")
    train, test = topics.split(name, 0)
    LDA(3, polish=polish).fit(train[:300])
    for line in sys.stdin:
        start = time.perf_counter()
        model = LDA(int(line), polish=polish).fit(train)
        seconds = time.perf_counter() - start
        bits = completion_bits(model.components_, np.maximum(model.doc_topic_prior_, 1e-6), test[:2000])
        print(json.dumps([seconds, bits, model.diagnostics_.n_passes, model.diagnostics_.memory_bytes]), flush=True)


def start(source, name, polish):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(HERE)])}
    command = [sys.executable, __file__, "--serve", name, polish]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def ask(process, K):
    process.stdin.write(f"{K}\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def compare(other, name, K, polish, repeats):
    processes = {"before": start(other, name, polish), "after": start(HERE.parent / "src", name, polish)}
    found = {version: [ask(process, K)] for version, process in processes.items()}
    for number in range(repeats):
        for version in sorted(processes, reverse=bool(number % 2)):
            found[version].append(ask(processes[version], K))
    for process in processes.values():
        process.stdin.close()
        process.wait()
    seconds = {version: statistics.median(answer[0] for answer in answers[1:]) for version, answers in found.items()}
    (_, old_bits, old_passes, old_bytes), (_, bits, passes, n_bytes) = (found[v][0] for v in ("before", "after"))
    print(
        f"{name:12} {K:4} {polish:5} {seconds['before']:8.3f} {seconds['after']:8.3f} "
        f"{seconds['after'] / seconds['before']:7.2f} {old_bits:9.4f} {bits:9.4f} {old_passes:5} {passes:5} "
        f"{old_bytes / 2**20:7.0f} {n_bytes / 2**20:7.0f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", nargs="?", help="the folder src of another version")
    parser.add_argument("--corpus", nargs="+", default=["ap", "nips"])
    parser.add_argument("--k", nargs="+", type=int, default=[10, 50, 100])
    parser.add_argument("--polish", default="fast")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(*options.serve)
    print(f"{'corpus':12} {'K':>4} {'':5} {'seconds, ratio':>25} {'bits':>19} passes, MB planned (before, after)")
    for name in options.corpus:
        for K in options.k:
            compare(Path(options.other).resolve(), name, K, options.polish, options.repeats)


if __name__ == "__main__":
    sys.exit(main())
