"""Work in real processes that are killed: run as a script, so that nothing of the tests is forked with its threads.

    python tests/faults.py TASK FOLDER KILLS SEED

The task is done once undisturbed, to learn how long it takes, and then again in children of which all but the last get
SIGKILL at a random moment. What is left is for the test to compare.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path


def index_task(folder, name):
    from polyad.corpus import index
    from polyad.corpus.indexing import index as module
    from polyad.corpus.words import counting as count

    count.CHUNK_CHARACTERS = module.CHUNK_CHARACTERS = 4_000
    index(sorted(folder.glob("texts-*.jsonl")), folder / name, n_jobs=1)


def fit_task(folder, name):
    from polyad import LDA
    from polyad.engine import Checkpoint, Shards, blocks, use

    blocks.BLOCK_CELLS, blocks.BLOCK_ROWS = 400, 40
    with use(Checkpoint(folder / f"{name}.run", seconds=0.0)):
        model = LDA(5, n_jobs=1).fit(Shards(folder / "corpus.shards"))
    model.save(folder / f"{name}.polyad")


TASKS = {"index": index_task, "fit": fit_task}


def in_child(work):
    """Start work in a child, and return its process number."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            sys.stderr.flush()
            os._exit(1)
    return pid


def main():
    task, folder, kills, seed = sys.argv[1:]
    folder, chance = Path(folder), random.Random(int(seed))
    import polyad.corpus
    import polyad.engine
    import polyad.models  # noqa: F401  so that children need not

    def undisturbed():
        TASKS[task](folder, "whole")

    started = time.perf_counter()
    if os.waitpid(in_child(undisturbed), 0)[1]:
        sys.exit(1)
    seconds = time.perf_counter() - started
    died = 0
    for _ in range(int(kills)):
        pid = in_child(lambda: TASKS[task](folder, "killed"))
        time.sleep(chance.uniform(0, 0.9) * seconds)
        os.kill(pid, signal.SIGKILL)
        died += os.waitpid(pid, 0)[1] == signal.SIGKILL
    pid = in_child(lambda: TASKS[task](folder, "killed"))
    status = os.waitpid(pid, 0)[1]
    sys.stdout.write(str(died))
    sys.stdout.flush()
    sys.exit(1 if status and not (task == "index" and (folder / "killed").exists()) else 0)


if __name__ == "__main__":
    main()
