#!/usr/bin/env python3
"""What CONTRIBUTING.md says of a new family is so: its number is found in list.c, and a family without a core, so without a
folder in src/proto, is held to its own folder all the same.

usage: family.py       $TACIT_SOURCE
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("TACIT_SOURCE", "."))


def numbers_are_there_once_and_without_a_gap():
    numbers = [int(number) for number in re.findall(r"X\(\w+_family, (\d+)\)", (ROOT / "src/families/list.c").read_text())]
    assert len(numbers) >= 7 and sorted(numbers) == list(range(len(numbers))), numbers


def leaks(folder):
    done = subprocess.run([sys.executable, ROOT / "tools/check_leaks.py", folder], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def a_family_without_a_core_stays_in_its_folder(folder):
    for room in ("src/proto", "src/families/lamp", "programs", "include/tacit"):
        (folder / room).mkdir(parents=True)
    (folder / "src/families/lamp/family.c").write_text("int tacit_lamp_shine(void);\n")
    assert leaks(folder)[0] == 0, leaks(folder)
    (folder / "programs/run.c").write_text("int tacit_lamp_shine(void);\n")
    code, said = leaks(folder)
    assert code != 0 and "programs/run.c:1: tacit_lamp_shine belongs to family lamp" in said, said


if __name__ == "__main__":
    numbers_are_there_once_and_without_a_gap()
    with tempfile.TemporaryDirectory() as name:
        a_family_without_a_core_stays_in_its_folder(pathlib.Path(name))
    print("ok")
