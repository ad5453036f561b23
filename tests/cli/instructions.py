#!/usr/bin/env python3
"""What bench/instructions.py says of counts: it counts what is above its limit with the compiler of the table, and what nobody recorded; what
another compiler made, and what became faster, is only told. The table has a row for each workload, and a reason in each.

usage: instructions.py      $TACIT_SOURCE
"""
import contextlib
import importlib.util
import io
import os
import pathlib
import sys

SOURCE = pathlib.Path(os.environ["TACIT_SOURCE"])
SPEC = importlib.util.spec_from_file_location("counts", SOURCE / "bench/instructions.py")
COUNTS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(COUNTS)
ROWS = {"one": {"instructions": "1000000", "limit_percent": "3", "compiler": "gcc 12"}}


def require(holds, what):
    if not holds:
        sys.exit(f"instructions.py: {what}")


def judged(count, compiler="gcc 12", name="one"):
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        above = COUNTS.check({name: count}, ROWS, compiler)
    return above, told.getvalue()


def main():
    require(judged(1030000)[0] == 0 and judged(500000)[0] == 0, "at its limit, or below, is fine")
    require(judged(1030001)[0] == 1 and "ABOVE" in judged(1030001)[1], "above its limit is not")
    above, told = judged(2000000, "gcc 14")
    require(above == 0 and "only reported" in told and "+100.00 %" in told, "another compiler's is reported")
    require(judged(1, name="two")[0] == 1, "a workload without a number")
    rows = COUNTS.read_table()
    require(set(rows) == {*COUNTS.RUNS, *COUNTS.AGENT}, "a row a workload")
    for name, row in rows.items():
        limit = COUNTS.LIVE_LIMIT if name in COUNTS.AGENT else COUNTS.LIMIT
        require(list(row) == COUNTS.COLUMNS and float(row["limit_percent"]) == limit and row["reason"], f"row {name}")
    print("[       OK ] instructions_are_held_against_their_limits")


if __name__ == "__main__":
    main()
