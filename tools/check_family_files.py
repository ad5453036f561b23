#!/usr/bin/env python3
"""Which files that were there already did the commits of a family edit? Fails if one of them is not in the list of
CONTRIBUTING.md ("A new family").

usage: check_family_files.py NAME RANGE      (a range of git, like main~3..main)
"""
import pathlib
import re
import subprocess
import sys


def allowed(root):
    text = (root / "CONTRIBUTING.md").read_text()
    return re.search(r"```files\n(.*?)```", text, re.DOTALL).group(1).split()


def is_own(path, name):
    return re.search(rf"(^|[/_]){re.escape(name)}([/_.]|$)", path) is not None


def edited(root, commits):
    """Paths that were changed or removed, not added."""
    out = subprocess.run(["git", "diff", "--name-status", "--no-renames", commits], cwd=root, check=True,
                         capture_output=True, text=True).stdout
    for line in out.splitlines():
        status, path = line.split("\t", 1)
        if status != "A":
            yield path


def main(name, commits):
    root = pathlib.Path(__file__).resolve().parent.parent
    listed = allowed(root)
    bad = [path for path in edited(root, commits)
           if not is_own(path, name) and not any(path == one or (one.endswith("/") and path.startswith(one))
                                                 for one in listed)]
    print("\n".join(f"{path}: not in the list of CONTRIBUTING.md" for path in bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
