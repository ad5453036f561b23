#!/usr/bin/env python3
"""The reference that is made from the headers: every public function is in it with its contract, and what is missing is said."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TACIT_SOURCE"])
HEADERS = sorted((SOURCE / "include/tacit").glob("*.h"))

GOOD = """/* Room: what it is. */
#ifndef ROOM_H
#define ROOM_H

/* ---- Doors ---- */

/* Opens it. Requires: a key. Errors: TACIT_IO. Cost: O(1). */
enum tacit_status tacit_room_open(const char *key);
"""


def make(*words):
    return subprocess.run([SOURCE / "tools/make_reference.py", *words], capture_output=True, text=True, timeout=60)


class Reference(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def of(self, text):
        (self.root / "room.h").write_text(text)
        return make("--check", self.root / "room.h")

    def test_every_public_function_is_there_with_its_contract(self):
        done = make("--check", *HEADERS)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_functions_that_the_archives_define_are_there(self):
        pages = self.root / "api"
        self.assertEqual(make(pages, *HEADERS).returncode, 0)
        text = "".join(page.read_text() for page in pages.glob("*.md"))
        build = pathlib.Path(os.environ["TACIT_BUILD"])
        for archive in ("src/libtacit.a", "src/wire/libtacit_wire.a"):
            names = subprocess.run(["nm", "--defined-only", "--extern-only", build / archive], capture_output=True, text=True).stdout
            public = {line.split()[2] for line in names.splitlines() if len(line.split()) == 3 and line.split()[1] == "T"}
            declared = "".join(header.read_text() for header in HEADERS)
            bare = {name for name in public if f"### `{name}`" not in text and f" {name}(" in declared}
            self.assertEqual(bare, set())
        self.assertGreater(text.count("**Requires**"), 100)

    def test_a_contract_becomes_a_list(self):
        self.assertEqual(self.of(GOOD).returncode, 0)
        make(self.root / "api", self.root / "room.h")
        page = (self.root / "api/room.md").read_text()
        for part in ("## Doors", "### `tacit_room_open`", "Opens it.", "- **Requires**: a key.", "- **Errors**: TACIT_IO.",
                     "- **Cost**: O(1)."):
            self.assertIn(part, page)
        self.assertIn("[tacit/room.h](room.md), 1 functions: Room: what it is.", (self.root / "api/README.md").read_text())

    def test_what_is_missing_is_said(self):
        done = self.of(GOOD + "\nint tacit_room_close(void);\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tacit_room_close has no words", done.stdout)


if __name__ == "__main__":
    unittest.main()
