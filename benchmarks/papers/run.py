"""Run the experiments of the papers: ``python benchmarks/papers/run.py [NAME ...] [--quick] [--list]``.

Rows are kept in ``docs/results`` as they come: a run that was stopped goes on where it ended. ``--quick`` takes small
samples of drawn topics, minutes in all, keeps its rows in ``benchmarks/results/papers`` and checks the claims.
"""

import argparse
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import lab  # noqa: E402 - benchmarks are files, not a package: their folders are put on the path first
from experiments import EXPERIMENTS  # noqa: E402

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
    failed = 0
    if not args.page:
        for experiment in chosen:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # small samples of hard cases warn, as they should
                rows = lab.run(experiment, folder, quick=args.quick, tell=lambda line: print(line, file=sys.stderr))
            for claim in experiment.claims if rows else ():
                if args.quick and claim.full_size_only:
                    continue
                holds = claim.holds(rows)
                failed += not holds
                print(f"{experiment.name}: {'holds' if holds else 'DOES NOT HOLD'}: {claim.text}")
    if not args.quick:
        from page import write_page

        rows_of = [(experiment, lab.stored(experiment, folder)) for experiment in EXPERIMENTS]
        write_page(rows_of, folder, ROOT / "docs" / "results.md", "make papers")
    return int(bool(failed) and args.quick)


if __name__ == "__main__":
    sys.exit(main())
