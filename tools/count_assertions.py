#!/usr/bin/env python3
"""Assertions a function, room by room: TACIT_ASSERT and TACIT_IMPLIES of src, against a floor.

usage: count_assertions.py ROOT

A room is a folder; what stands in a header counts for the folder of the header. FLOORS says what a room
must not sink below, the longest prefix decides. Exit code 1: a room is below its floor.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

ASSERTION = re.compile(r"\b(?:TACIT_ASSERT|TACIT_IMPLIES)\(")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
FLOORS = {"src": 0.03, "src/arms": 0.4, "src/base": 0.3, "src/config": 0.2, "src/data": 0.19, "src/env": 0.45,
          "src/families": 0.06, "src/families/elim": 0.09, "src/families/gossip": 0.15, "src/families/index": 0.7,
          "src/families/phased": 0.12, "src/families/select": 0.14, "src/families/vote": 0.15, "src/learn": 0.35,
          "src/linalg": 0.17, "src/live": 0.19, "src/live/api": 0.19, "src/live/bus": 0.19, "src/live/daemon": 0.22,
          "src/live/pki": 0.19, "src/live/store": 0.19, "src/privacy": 0.55, "src/proto": 0.6,
          "src/proto/select": 0.75, "src/proto/vote": 0.85, "src/random": 0.4, "src/report": 0.13, "src/sim": 0.75, "src/study": 0.1,
          "src/topo": 0.17, "src/wire": 0.3}


def functions(paths):
    command = ["ctags", "--output-format=json", "--kinds-C=f", "-f", "-", *map(str, paths)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return collections.Counter(pathlib.Path(json.loads(line)["path"]).parent for line in told.splitlines() if line)


def floor_of(room):
    return max((name for name in FLOORS if f"{room}/".startswith(f"{name}/")), key=len)


def main(root):
    paths = sorted(p.relative_to(root) for p in (root / "src").rglob("*.[ch]"))
    function_count = functions(paths)
    assertion_count = collections.Counter()
    for path in paths:
        assertion_count[path.parent] += len(ASSERTION.findall(COMMENT.sub("", path.read_text())))
    below = 0
    for room in sorted(function_count):
        rate, floor = assertion_count[room] / function_count[room], FLOORS[floor_of(room)]
        is_below = rate < floor
        below += is_below
        print(f"{str(room):22} {assertion_count[room]:4} in {function_count[room]:4} functions: {rate:4.2f} (floor {floor:.2f})"
              + (" BELOW" if is_below else ""))
    total, all_of_them = sum(assertion_count.values()), sum(function_count.values())
    print(f"{'all':22} {total:4} in {all_of_them:4} functions: {total / all_of_them:4.2f}")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
