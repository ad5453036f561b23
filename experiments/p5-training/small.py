#!/usr/bin/env python3
"""A model of 15 numbers in a live training federation of five sites (examples/live/training.py): accuracy on new rows
against the budget of each site's whole data set. Guessing is right in a third.

usage: small.py TACIT [RUNS]      about 6 s a run on a quiet machine
"""
import contextlib
import io
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/live"))
import training  # noqa: E402

BUDGETS = [5.0, 20.0, 60.0, 200.0, 10000.0]


def main():
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    for training.BUDGET in BUDGETS:
        found = []
        for _ in range(runs):
            with contextlib.redirect_stdout(io.StringIO()):
                found.append(training.play(sys.argv[1])["accuracy"])
        print(f"budget {training.BUDGET:g}: accuracy {sum(found) / runs:.3f} of {runs} runs, "
              f"from {min(found):.3f} to {max(found):.3f}", flush=True)


if __name__ == "__main__":
    main()
