#!/usr/bin/env python3
"""Every public function has its contract: a comment right above it, or above the group it stands in
(declarations without an empty line between them share the comment).

usage: check_headers.py HEADER...
"""
import pathlib
import re
import sys

PROTOTYPE = re.compile(r"^[a-zA-Z_][\w \*]*\b(tacit_\w+)\(")


def undocumented(path):
    documented = False
    in_comment = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if in_comment or text.startswith("/*"):
            in_comment = "*/" not in text
            documented = True
        elif not text:
            documented = False
        elif PROTOTYPE.match(line) and not documented:
            yield number, PROTOTYPE.match(line).group(1)


def main(paths):
    bad = [f"{path}:{number}: {name} has no comment" for path in paths
           for number, name in undocumented(pathlib.Path(path))]
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
