#!/usr/bin/env python3
"""A family stays in its folders: no identifier of family X (tacit_X_*, TACIT_X_*, tacit_wire_X_*) and no
include of its headers or folders outside src/proto/X, src/families/X, src/wire/X*, include/tacit/X.h,
X_*.h, wire_X.h and the tests. A family is a folder of src/families, and of
src/proto where it has a core.

usage: check_leaks.py ROOT
KNOWN lists what is let through for now: each entry is printed, and one that is no longer needed is a failure.
"""
import pathlib
import re
import sys

SHARED = {"round", "helper"}  # of src/proto: what families have in common
# (file, family): why it is still there.
KNOWN = {}
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def blank_comments(text):
    """Comments may speak of families; their line breaks stay, so that line numbers do."""
    return COMMENT.sub(lambda match: "\n" * match.group().count("\n"), text)


def pattern_of(family):
    upper = family.upper()
    return re.compile(rf"\btacit_(?:wire_)?{family}(?:_\w+)?\b|\bTACIT_(?:WIRE_)?{upper}_\w+|"
                      rf'"tacit/(?:wire_)?{family}(?:_\w+)?\.h"|"[^"]*\b(?:proto|families)/{family}/[^"]*"')


def is_home(path, family):
    parts = path.parts
    return (parts[:3] in (("src", "proto", family), ("src", "families", family))
            or (parts[:2] == ("src", "wire") and re.match(rf"{family}(_|\.)", path.name) is not None)
            or (parts[:2] == ("include", "tacit") and re.match(rf"(wire_)?{family}(_|\.)", path.name) is not None))


def leaks(root):
    families = sorted({path.name for room in ("src/proto", "src/families") for path in (root / room).iterdir() if path.is_dir()} - SHARED)
    patterns = {family: pattern_of(family) for family in families}
    for folder in ("src", "programs", "include"):
        for file in sorted((root / folder).rglob("*.[ch]")):
            path = file.relative_to(root)
            lines = blank_comments(file.read_text()).splitlines()
            for family, pattern in patterns.items():
                if is_home(path, family):
                    continue
                for number, line in enumerate(lines, 1):
                    for match in pattern.finditer(line):
                        yield str(path), family, number, match.group()


def main(root):
    seen = set()
    bad = []
    for path, family, number, what in leaks(root):
        if (path, family) in KNOWN:
            seen.add((path, family))
        else:
            bad.append(f"{path}:{number}: {what} belongs to family {family}")
    for key in sorted(KNOWN):
        if key in seen:
            print(f"known: {key[0]} speaks of {key[1]}: {KNOWN[key]}")
        else:
            bad.append(f"{key[0]}: does not speak of {key[1]} any more; take it off the list")
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
