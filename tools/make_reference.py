#!/usr/bin/env python3
"""The reference of the public headers, made from them: what each function, type and constant says of itself, in Markdown.

usage: make_reference.py FOLDER HEADER...      a page a header, and README.md
       make_reference.py --check HEADER...     is every function of the headers there, with a contract?

A comment belongs to what follows it up to the next empty line. Its sentences after Requires, Ensures, Errors, Cost, Source,
Reference and Tested by become a list.
"""
import pathlib
import re
import sys

LABELS = ("Requires", "Ensures", "Result", "Errors", "Cost", "Accuracy", "Source", "Reference", "Tested by")
LABEL = re.compile(r"(?:(?<=[\s.;)])|^)(%s)( \([^)]*\))?:\s+" % "|".join(LABELS))
SECTION = re.compile(r"^/\* -{3,} (.*?) -*\s*(?:\*/)?$")
NAME = re.compile(r"\b(tacit_\w+)\s*\(")
KINDS = (("type", re.compile(r"^(?:struct|enum|union) (tacit_\w+)")), ("constant", re.compile(r"^#define (TACIT_\w+)")))


def text_of(comment):
    """The words of a comment, without its stars."""
    inner = comment.strip().removeprefix("/*").removesuffix("*/")
    lines = [re.sub(r"^\s*\*(?!/) ?", "", line).strip() for line in inner.splitlines()]
    return "\n\n".join(" ".join(part.split("\n")).strip() for part in "\n".join(lines).split("\n\n")).strip()


def parts_of(text):
    """(what it says, [(label, sentence)])"""
    found = list(LABEL.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    said = text[:found[0].start()] if found else text
    return said.strip(), [(match.group(1) + (match.group(2) or ""), text[match.end():end].strip())
                          for match, end in zip(found, ends)]


def blocks_of(source):
    """Comments and declarations, in order: (kind, text). Blank lines come as ("gap", "")."""
    lines = source.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        start = at
        if not line.strip():
            yield "gap", ""
        elif line.startswith("/*"):
            while "*/" not in lines[at]:
                at += 1
            yield "comment", "\n".join(lines[start:at + 1])
        elif line.startswith("#define"):
            while lines[at].endswith("\\"):
                at += 1
            yield "code", "\n".join(lines[start:at + 1])
        elif line.startswith(("#", "extern \"C\"", "}")):
            pass
        else:
            depth = 0
            while True:
                bare = re.sub(r"/\*.*?(\*/|$)", "", lines[at])
                depth += bare.count("{") - bare.count("}")
                if depth <= 0 and (bare.rstrip().endswith(";") or bare.startswith("}") or
                                   (at + 1 < len(lines) and not lines[at + 1].strip())):
                    break
                at += 1
            yield "code", "\n".join(lines[start:at + 1])
        at += 1


def entry_of(code):
    """(kind, name) of a declaration; None: nothing of ours."""
    for kind, pattern in KINDS:
        match = pattern.match(code)
        if match and kind == "constant" and not code[match.end():].strip():
            return None # what keeps a header from being read twice
        if match and not (kind == "type" and "{" not in code and "(" in code):
            return kind, match.group(1)
    match = NAME.search(re.sub(r"/\*.*?\*/", "", code, flags=re.S))
    return ("function", match.group(1)) if match else None


def shape_of(code):
    """What is shown of it: a function's body is not."""
    return code[:code.index("\n{")] + ";" if "static inline" in code and "\n{" in code else code


def read(path):
    """(what the header is, [("section", title) or (kind, name, code, comment)])"""
    head, comment, entries, is_fresh = "", "", [], False
    for kind, text in blocks_of(path.read_text()):
        section = SECTION.match(text.splitlines()[0]) if kind == "comment" else None
        if section:
            entries.append(("section", section.group(1).strip()))
            rest = text_of("\n".join(text.splitlines()[1:])) if "\n" in text else ""
            comment = rest
            if rest:
                entries.append(("words", rest))
        elif kind == "comment":
            if not head:
                head, comment = text_of(text), ""
            else:
                comment = text_of(text)
            is_fresh = True
        elif kind == "gap":
            if is_fresh and comment and head != comment:
                entries.append(("words", comment)) # of nothing in particular
            comment, is_fresh = "", False
        else:
            entry = entry_of(text)
            if entry:
                entries.append((*entry, shape_of(text), comment))
            is_fresh = False
    return head, entries


def page_of(path):
    head, entries = read(path)
    lines = [f"# tacit/{path.name}", "", head, ""]
    for entry in entries:
        if entry[0] == "section":
            lines += [f"## {entry[1]}", ""]
        elif entry[0] == "words":
            lines += [entry[1], ""]
        else:
            kind, name, code, comment = entry
            said, contract = parts_of(comment)
            lines += [f"### `{name}`", "", "```c", code, "```", ""]
            lines += [said, ""] if said else []
            lines += [f"- **{label}**: {text}" for label, text in contract] + ([""] if contract else [])
    return "\n".join(lines).rstrip() + "\n"


def prototypes(path):
    """The functions that a compiler sees, found in another way: the names before a parenthesis outside of comments and bodies."""
    source = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    source = re.sub(r"(?m)^\s*#(?:.*\\\n)*.*$", "", source)
    while True:
        flat = re.sub(r"\{[^{}]*\}", ";", source)
        if flat == source:
            break
        source = flat
    return re.findall(r"\b(tacit_\w+)\s*\((?!\*)", source)


def check(paths):
    bad = []
    for path in paths:
        page = page_of(path)
        _, entries = read(path)
        of = {entry[1]: entry for entry in entries if entry[0] == "function"}
        for name in prototypes(path):
            if f"### `{name}`" not in page:
                bad.append(f"{path}: {name} is not in the reference")
            elif not of[name][3]:
                bad.append(f"{path}: {name} has no words")
            else:
                _, contract = parts_of(of[name][3])
                missing = [text for _, text in contract if text not in page]
                bad += [f"{path}: {name}: '{text}' is not in the reference" for text in missing]
                for label in LABELS: # none is lost on the way
                    if len(re.findall(rf"\b{label}: ", of[name][3])) > sum(l == label for l, _ in contract):
                        bad.append(f"{path}: {name}: '{label}' is not a point of its contract")
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


def main(words):
    if words[0] == "--check":
        return check([pathlib.Path(word) for word in words[1:]])
    folder = pathlib.Path(words[0])
    folder.mkdir(parents=True, exist_ok=True)
    index = ["# The headers of tacit", ""]
    for path in sorted(pathlib.Path(word) for word in words[1:]):
        (folder / f"{path.stem}.md").write_text(page_of(path))
        head, entries = read(path)
        count = sum(entry[0] == "function" for entry in entries)
        first = re.split(r"\.\s", head)[0].rstrip(".")
        index.append(f"- [tacit/{path.name}]({path.stem}.md), {count} functions: {first}.")
    (folder / "README.md").write_text("\n".join(index) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
