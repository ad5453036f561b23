#!/usr/bin/env python3
"""What proto/*/NOTES.md names stands where it says: functions in their file, tests in their room.

usage: check_notes.py ROOT
`hub.c: on_report, flag` are names in hub.c beside the notes, or in the only such path below src.
`unit/elim` is tests/unit/elim.c or .py.
"""
import pathlib
import re
import sys

FUNCTIONS = re.compile(r"`([a-z_0-9/]+\.[ch]): ([a-z_0-9, \n]+)`")
TEST = re.compile(r"`((?:unit|kat|oracle|trace|sim|stat|cli|live)/[a-z_0-9]+)(?:\.(?:c|py))?`")


def faults(root, notes):
    text = notes.read_text(encoding="utf-8")
    for match in FUNCTIONS.finditer(text):
        beside = notes.parent / match[1]
        paths = [beside] if beside.exists() else [p for p in (root / "src").rglob(pathlib.Path(match[1]).name)
                                                  if p.as_posix().endswith("/" + match[1])]
        if not paths:
            yield f"{match[1]}: there is no such file"
        source = "".join(path.read_text(encoding="utf-8") for path in paths)
        for name in re.findall(r"[a-z_0-9]+", match[2]):
            if paths and not re.search(rf"\b{name}\b", source):
                yield f"{match[1]}: has no {name}"
    for match in TEST.finditer(text):
        if not any((root / "tests" / f"{match[1]}{ending}").exists() for ending in (".c", ".py")):
            yield f"{match[1]}: there is no such test"


def main():
    root = pathlib.Path(sys.argv[1])
    found = [f"{notes.relative_to(root)}: {fault}" for notes in sorted(root.glob("src/proto/*/NOTES.md"))
             for fault in faults(root, notes)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
