#!/usr/bin/env python3
"""Executables and loaded modules must have what a compiler can give against somebody who finds a fault in them: position-independent code, relocations
that are read-only before main begins (full RELRO), no executable stack, no library path of their own, stack protectors, and checked calls of the C library.

usage: check_hardening.py [--linked] FILE...     ELF files, or Debian packages, of which all executables and shared objects are looked at
--linked: without the last two, which are the compiler's flags of packages and not of every build.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

COMPILED = {"checked calls", "stack protectors"}  # a small module may have no use for them


def readelf(path):
    return subprocess.run(["readelf", "--wide", "--file-header", "--program-headers", "--dynamic", "--symbols", str(path)], capture_output=True, text=True,
                          check=True).stdout


def missing(path, is_linked_only):
    """Names of what this file has not."""
    text = readelf(path)
    is_program = " INTERP " in text
    has = {
        "position-independent code": re.search(r"Type:\s+DYN", text),
        "read-only relocations": " GNU_RELRO " in text and re.search(r"\(FLAGS(_1)?\).*NOW", text),
        "a stack that is not executable": re.search(r"GNU_STACK .* RW +0x", text),
        "no library path of its own": not re.search(r"\((RPATH|RUNPATH)\)", text),
        "stack protectors": "__stack_chk_fail" in text,
        "checked calls": re.search(r"__\w+_chk\b", text.replace("__stack_chk_fail", "")),
    }
    return [name for name, value in has.items() if not value and ((is_program and not is_linked_only) or name not in COMPILED)]


def elf_files(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF" and "debug" not in path.parts:
            yield path


def main(paths):
    is_linked_only = paths[:1] == ["--linked"]
    failed, looked = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for path in map(pathlib.Path, paths[is_linked_only:]):
            if path.suffix == ".deb":
                place = pathlib.Path(folder) / path.name
                subprocess.run(["dpkg-deb", "--extract", path, place], check=True)
                files += elf_files(place)
            else:
                files.append(path)
        for path in files:
            looked += 1
            for name in missing(path, is_linked_only):
                print(f"{path}: {name}: missing", file=sys.stderr)
                failed += 1
    if looked == 0:
        sys.exit("check_hardening.py: nothing to look at; allowed: ELF files, and packages with some")
    print(f"hardened: {looked} files") if failed == 0 else sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
