#!/usr/bin/env python3
"""Counts the tests that really ran, from what each test program printed (cmocka's own lines), and names
what failed and every skip with its reason.

usage: count_tests.py TESTLOG.JSON [AGAIN.JSON]       last line: N passed, N failed, N skipped
       count_tests.py --by-the-clock TESTLOG.JSON      which failed that are worth another try: their names, one a line
What AGAIN.JSON says of a program, run a second time by itself, stands in place of the first. A program that failed without a failing test (a crash, a sanitizer) counts as one failure. A skip whose
reason is not in REASONS is a failure: what a package would cure is to be installed.
"""
import json
import re
import sys

VERDICT = {"OK": "passed", "FAILED": "failed", "ERROR": "failed", "SKIPPED": "skipped"}
# Why a test may be skipped: what no package can cure.
REASONS = (
    r"no data set \S+ here",
    r"no pseudo-terminal here",
    r"no tracing of processes here",
    r"no AVX2 here",
    r"only root can .*",
    r"a sanitizer makes system calls of its own",
    r"(a browser|a Prometheus) is started by make check-long only",
    r"promtool is installed by make check-long only",
    r"the version before, \w+, is not in this clone",
    r"no axe-core here: the registry does not answer",
)
CLOCKED = {"cli", "live"}  # suites whose tests wait for other processes
FINDING = re.compile(r"Sanitizer|runtime error:")
LINE = re.compile(r"^(?:\[\s*(OK|FAILED|SKIPPED|ERROR)\s*\] (\w+)|skip: (.*?))\s*$", re.M)


def verdicts(output):
    """Test -> (verdict, reason). A failing or skipped test is named twice: the first time counts."""
    tests, reason = {}, ""
    for match in LINE.finditer(output):
        verdict, test, why = match.groups()
        if why is not None:
            reason = why
        else:
            tests.setdefault(test, (VERDICT[verdict], reason))
            reason = ""
    return tests


def is_allowed(reason):
    return any(re.fullmatch(pattern, reason) for pattern in REASONS)


def programs(*paths):
    """Name -> what a program of the last log that names it did."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                program = json.loads(line)
                found[program["name"]] = program
    return found


def has_failed(program):
    return program["result"] not in ("OK", "SKIP")


def by_the_clock(path):
    """As meson is to be told: without project and suites."""
    for name, program in programs(path).items():
        suites, _, test = name.rpartition(" / ")
        if has_failed(program) and CLOCKED & set(re.split(r"[:+]", suites)) and not FINDING.search(output_of(program)):
            print(test)


def main(first, *again):
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for name, program in programs(*again).items():
        print(f"played again: {name}: {'failed again' if has_failed(program) else 'passed by itself'}")
    for program in programs(first, *again).values():
        count(program, total)
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] or not total["passed"] else 0


def output_of(program):
    return program.get("stdout", "") + program.get("stderr", "")


def count(program, total):
    tests = verdicts(output_of(program))
    for test, (verdict, reason) in tests.items():
        if verdict == "skipped":
            allowed = is_allowed(reason)
            print(f"skipped: {program['name']} {test}: {reason or 'says no reason'}"
                  f"{'' if allowed else ' (no reason that is allowed)'}")
            verdict = "skipped" if allowed else "failed"
        elif verdict == "failed":
            print(f"failed: {program['name']} {test}")
        total[verdict] += 1
    failed = any(verdict == "failed" for verdict, _ in tests.values())
    if has_failed(program) and not failed:
        print(f"failed: {program['name']}: {program['result']}")
        total["failed"] += 1
    if program["result"] == "OK" and not tests:
        total["passed"] += 1
    if program["result"] == "SKIP" and not tests:
        print(f"skipped: {program['name']}: says no reason (no reason that is allowed)")
        total["failed"] += 1


if __name__ == "__main__":
    if sys.argv[1] == "--by-the-clock":
        by_the_clock(sys.argv[2])
    else:
        sys.exit(main(*sys.argv[1:]))
