"""Run the experiments of the papers: ``python benchmarks/papers/run.py [NAME ...] [--quick] [--list]``.

Rows are kept in ``docs/results`` as they come: a run that was stopped goes on where it ended. ``--quick`` takes small
samples of drawn topics, minutes in all, keeps its rows in ``benchmarks/results/papers`` and checks the claims.
"""

import argparse
import functools
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import lab  # noqa: E402 - benchmarks are files, not a package: their folders are put on the path first
from experiments import EXPERIMENTS  # noqa: E402

import topics  # noqa: E402

ROOT = HERE.parents[1]


def main() -> int:
    """Run what was asked for; 1 where a claim does not hold in the quick form."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="experiments, or the beginnings of their names; all without")
    parser.add_argument("--quick", action="store_true", help="small samples, minutes in all")
    parser.add_argument("--list", action="store_true", help="name the experiments and run nothing")
    parser.add_argument(
        "--page", action="store_true", help="write the page from the rows that are there, and run nothing"
    )
    args = parser.parse_args()
    chosen = [e for e in EXPERIMENTS if not args.names or e.name.startswith(tuple(args.names))]
    if args.list:
        for experiment in chosen:
            print(f"{experiment.name:26} {experiment.source}: {experiment.title}")
        return 0
    if not chosen:
        parser.error(f"no experiment begins with {' or '.join(args.names)}; --list names them all")
    folder = HERE.parent / "results" / "papers" if args.quick else ROOT / "docs" / "results"
    tell = functools.partial(print, file=sys.stderr, flush=True)
    failed = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small samples of hard cases warn, as they should
        if args.quick:
            for experiment in chosen:
                (folder / f"{experiment.name}.jsonl").unlink(missing_ok=True)  # rows of other code prove nothing
                failed += _broken(experiment, lab.run(experiment, folder, quick=True, tell=tell))
        elif not args.page:
            if not topics.PEERS_ENV.exists():  # for the sampler that the SVTD paper compares with
                topics.install()
            for experiment in lab.in_turn(chosen, folder, tell):
                _broken(experiment, lab.stored(experiment, folder), full=True)
    if not args.quick:
        from page import write_page

        write_page(EXPERIMENTS, folder, ROOT / "docs" / "results.md", "make papers")
    return int(bool(failed))


def _broken(experiment: lab.Experiment, rows: list[lab.Row], full: bool = False) -> int:
    """Tell which claims hold; return how many do not."""
    broken = 0
    for claim in experiment.claims if rows else ():
        if full or not claim.full_size_only:
            holds = claim.holds(rows)
            broken += not holds
            print(f"{experiment.name}: {'holds' if holds else 'DOES NOT HOLD'}: {claim.text}", flush=True)
    return broken


if __name__ == "__main__":
    sys.exit(main())
