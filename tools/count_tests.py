#!/usr/bin/env python3
"""Counts the tests that really ran, from what each test program printed (cmocka's own lines).

usage: count_tests.py TESTLOG.JSON      last line: N passed, N failed, N skipped
A program that failed without a failing test (a crash, a sanitizer) counts as one failure.
"""
import json
import re
import sys

VERDICT = {"OK": "passed", "FAILED": "failed", "ERROR": "failed", "SKIPPED": "skipped"}


def main(path):
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for line in open(path, encoding="utf-8"):
        program = json.loads(line)
        output = program.get("stdout", "") + program.get("stderr", "")
        # A failing test is named twice: when it fails, and in the list at the end.
        tests = {}
        for match in re.finditer(r"^\[\s*(OK|FAILED|SKIPPED|ERROR)\s*\] (\w+)\s*$", output, re.M):
            tests[match.group(2)] = VERDICT[match.group(1)]
        for verdict in tests.values():
            total[verdict] += 1
        if program["result"] not in ("OK", "SKIP") and "failed" not in tests.values():
            total["failed"] += 1
        if program["result"] == "OK" and not tests:
            total["passed"] += 1
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
