#!/usr/bin/env python3
"""Counts the tests that really ran, from what each test program printed (cmocka's own lines), and names
every skip with its reason.

usage: count_tests.py TESTLOG.JSON      last line: N passed, N failed, N skipped
A program that failed without a failing test (a crash, a sanitizer) counts as one failure. A skip whose
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
    r"a sanitizer makes system calls of its own",
    r"no oneDNN .*",
    r"a browser is started by make check-long only",
    r"no (chromium|npm|rsvg-convert|pdfinfo) here",  # tools/install_dependencies.sh browser
    r"no axe-core here: the registry does not answer",
    r"flwr .*",
    r"networkx is not installed .*",  # where there is no apt-get
)
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


def main(path):
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for line in open(path, encoding="utf-8"):
        program = json.loads(line)
        tests = verdicts(program.get("stdout", "") + program.get("stderr", ""))
        for test, (verdict, reason) in tests.items():
            if verdict == "skipped":
                allowed = is_allowed(reason)
                print(f"skipped: {program['name']} {test}: {reason or 'says no reason'}"
                      f"{'' if allowed else ' (no reason that is allowed)'}")
                verdict = "skipped" if allowed else "failed"
            total[verdict] += 1
        failed = any(verdict == "failed" for verdict, _ in tests.values())
        if program["result"] not in ("OK", "SKIP") and not failed:
            total["failed"] += 1
        if program["result"] == "OK" and not tests:
            total["passed"] += 1
        if program["result"] == "SKIP" and not tests:
            print(f"skipped: {program['name']}: says no reason (no reason that is allowed)")
            total["failed"] += 1
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
