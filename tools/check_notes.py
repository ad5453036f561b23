#!/usr/bin/env python3
"""What NOTES.md of arms and proto/* name stands where it says: functions in their file, tests in their room. And so it is with
experiments/CLAIMS.md: claims are in claims.yaml with that verdict, and its counts are those of its rows. The table of
experiments/README.md has a row for each claims.yaml, with the number of its verdicts.

usage: check_notes.py ROOT
`hub.c: on_report, flag` are names in hub.c beside the notes, or in the only such path below src.
`unit/elim` is tests/unit/elim.c or .py, `unit/elim: one, another` are names in it; so with `round/storm_votes` and `round/rule_votes`.
`p1: fig4-order` (does not hold) is a claim of paper p1; without a verdict it holds.
"""
import collections
import pathlib
import re
import sys

FUNCTIONS = re.compile(r"`([a-z_0-9/]+\.[ch]): ([a-z_0-9, \n]+)`")
TEST = re.compile(r"`((?:(?:unit|kat|oracle|sim|stat|cli|live)/|round/(?:storm|rule))[a-z_0-9]+)(?:\.(?:c|py))?(?:: (\w[\w, \n]*))?`")
CLAIM = re.compile(r"`(p\d[a-z-]*): ([\w-]+)`(?: \((does not hold|not reached|not run)\))?")
ROW = re.compile(r"^\| (P\d)\.\d+ \|.*\| ([^|]+) \|$", re.MULTILINE)


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
        tests = [test for ending in (".c", ".py") if (test := root / "tests" / f"{match[1]}{ending}").exists()]
        if not tests:
            yield f"{match[1]}: there is no such test"
        for name in re.findall(r"\w+", match[2] or "") if tests else ():
            if not any(re.search(rf"\b{name}\b", test.read_text(encoding="utf-8")) for test in tests):
                yield f"{match[1]}: has no {name}"


def verdicts_on_record(root):
    verdicts = {}
    for path in root.glob("experiments/*/claims.yaml"):
        text = path.read_text(encoding="utf-8")
        paper = re.search(r"^paper: (\S+)$", text, re.MULTILINE)[1]
        for claim in re.split(r"^ {6}- id: ", text, flags=re.MULTILINE)[1:]:
            verdicts[paper, claim.split()[0]] = re.search(r"^ {8}verdict: (.+)$", claim, re.MULTILINE)[1]
    return verdicts


def counts_of(rows):
    papers, reasons = collections.defaultdict(collections.Counter), collections.Counter()
    for paper, tested in rows:
        kind = re.match(r"(?:(none|part): )?([a-z ]*)", tested)
        reasons[kind[2].rstrip()] += kind[1] == "none"
        for name in (paper, "all"):
            papers[name][kind[1]] += 1
    yield from (f"| {paper} | {count.total()} | {count[None]} | {count['part']} | {count['none']} |" for paper, count in papers.items())
    yield from (f"| {reason} | {count} |" for reason, count in reasons.items() if count > 0)


def claim_faults(root, list_of_claims):
    text = list_of_claims.read_text(encoding="utf-8")
    verdicts = verdicts_on_record(root)
    for match in CLAIM.finditer(text):
        verdict = verdicts.get((match[1], match[2]))
        if verdict is None:
            yield f"{match[1]}: has no claim {match[2]}"
        elif verdict != (match[3] or "holds"):
            yield f"{match[1]}: {match[2]}: its verdict on record is '{verdict}'"
    rows = ROW.findall(text)
    for paper, tested in rows:
        if not tested.startswith("none: ") and not CLAIM.search(tested) and not TEST.search(tested):
            yield f"a row of {paper} names nothing: {tested}"
    for line in counts_of(rows):
        if f"\n{line}" not in text:
            yield f"its head should have: {line}"


def table_faults(root, table):
    counts = collections.defaultdict(collections.Counter)
    for (paper, _), verdict in verdicts_on_record(root).items():
        counts[paper][verdict] += 1
    text = table.read_text(encoding="utf-8")
    for paper, count in sorted(counts.items()):
        end = " | ".join(str(count[verdict]) for verdict in ("holds", "does not hold", "not reached", "not run"))
        if not re.search(rf"^\| `{paper}` \|.* \| {re.escape(end)} \|$", text, re.MULTILINE):
            yield f"the row of {paper} should end with: | {end} |"


def main():
    root = pathlib.Path(sys.argv[1])
    claims = root / "experiments" / "CLAIMS.md"
    found = [f"{notes.relative_to(root)}: {fault}" for notes in (root / "src/arms/NOTES.md", *sorted(root.glob("src/proto/*/NOTES.md")), claims)
             for fault in faults(root, notes)]
    found += [f"{claims.relative_to(root)}: {fault}" for fault in claim_faults(root, claims)]
    table = root / "experiments" / "README.md"
    found += [f"{table.relative_to(root)}: {fault}" for fault in table_faults(root, table)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
