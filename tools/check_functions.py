#!/usr/bin/env python3
"""The function-length ratchet: no function is longer than LIMIT lines (Universal Ctags counts).

usage: check_functions.py FILE...
"""
import json
import subprocess
import sys

LIMIT = 70


def main(paths):
    command = ["ctags", "--output-format=json", "--fields=+ne", "--kinds-C=f", "-f", "-", *paths]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    bad = 0
    longest = (0, "")
    for line in output.splitlines():
        tag = json.loads(line)
        if tag.get("_type") != "tag" or "end" not in tag:
            continue
        length = tag["end"] - tag["line"] + 1
        longest = max(longest, (length, f"{tag['path']}:{tag['line']} {tag['name']}"))
        if length > LIMIT:
            print(f"{tag['path']}:{tag['line']}: {tag['name']} has {length} lines; {LIMIT} are allowed")
            bad += 1
    print(f"longest function: {longest[0]} lines ({longest[1]})")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
