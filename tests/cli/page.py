#!/usr/bin/env python3
"""Runs the commands of a page and compares what they print: in a block ```console a line "$ COMMAND" is run, and what
stands below it is its output, in which a line "..." stands for any lines. Commands run in a copy of the folder.

usage: page.py PAGE FOLDER      $TACIT_PROGRAM is what the page calls tacit
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# What is announced where a machine is slow.
LONG = re.compile(r"^tacit (plan|evaluate): .* take less\n", re.MULTILINE)


def blocks(text):
    """(command, lines of output) in the order of the page."""
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        command, lines = None, []
        for line in block.rstrip("\n").split("\n"):
            if line.startswith("$ "):
                if command is not None:
                    yield command, lines
                command, lines = line[2:], []
            else:
                lines.append(line)
        if command is not None:
            yield command, lines


def fits(wanted, got):
    if not wanted:
        return not got
    if wanted[0] == "...":
        return any(fits(wanted[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and wanted[0] == got[0] and fits(wanted[1:], got[1:])


def run(command, folder):
    environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}")
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    told = done.stdout + LONG.sub("", done.stderr)
    return told.rstrip("\n").split("\n") if told else []


def main(page, source):
    failed = ran = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "page"
        shutil.copytree(source, folder)
        (folder / "bin").mkdir()
        (folder / "bin/tacit").symlink_to(os.path.abspath(os.environ["TACIT_PROGRAM"]))
        for number, (command, wanted) in enumerate(blocks(pathlib.Path(page).read_text(encoding="utf-8"))):
            got = run(command, folder)
            ran += 1
            if fits(wanted, got):
                print(f"[       OK ] command_{number}")
                continue
            failed += 1
            print(f"[  FAILED  ] command_{number}\n$ {command}\n" + "\n".join(got))
    if ran == 0:
        print("[  FAILED  ] the_page_has_commands")
    return 1 if failed or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
