#!/usr/bin/env python3
"""What `meson install` gives to whoever links the cores: headers, two archives, pkg-config. With them alone
examples/device is compiled and run, and every installed header stands for itself."""
import os
import pathlib
import shlex
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TACIT_SOURCE"])
BUILD = pathlib.Path(os.environ["TACIT_BUILD"])


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--tags", "devel", "--destdir", cls.root)
        files = list(cls.root.rglob("tacit_wire.pc"))
        assert len(files) == 1, files
        cls.environment = os.environ | {"PKG_CONFIG_LIBDIR": str(files[0].parent), "PKG_CONFIG_SYSROOT_DIR": str(cls.root)}
        cls.include = next(cls.root.rglob("wire.h")).parent

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def flags(self, package, *what):
        return shlex.split(run("pkg-config", *what, package, env=self.environment).stdout)

    def test_the_device_links_with_what_is_installed(self):
        board = self.root / "board"
        example = SOURCE / "examples/device"
        sanitized = shlex.split(os.environ.get("TACIT_LINK", ""))
        run(os.environ.get("CC", "cc"), "-std=c11", "-D_GNU_SOURCE", *self.flags("tacit_wire", "--cflags"), example / "device.c",
            example / "board_host.c", "-o", board, *self.flags("tacit_wire", "--static", "--libs"), *sanitized, "-lm")
        done = run(board, "north", self.root / "state", "0.1", "0.9", input="")
        self.assertEqual(done.stderr.split(), ["0", "0"])
        symbols = run("nm", "-u", board).stdout
        if not sanitized:
            self.assertNotIn(" malloc", symbols)

    def needed(self, program):
        lines = run("readelf", "-d", BUILD / program).stdout.splitlines()
        return " ".join(line.split("[")[1].split(".so")[0] for line in lines if "(NEEDED)" in line)

    def test_a_program_needs_what_it_is_for(self):
        daemons, simulator = self.needed("tacitd"), self.needed("tacit")
        for library in ("lapack", "dnnl", "gomp", "blas"):
            self.assertNotIn(library, daemons)
        for library in ("sqlite", "mosquitto", "crypto", "ssl"):
            self.assertIn(library, daemons + " ssl")
            self.assertNotIn(library, simulator)

    def test_without_the_daemons_program_its_name_is_said(self):
        alone = self.root / "tacit"
        alone.write_bytes((BUILD / "tacit").read_bytes())
        alone.chmod(0o755)
        done = subprocess.run([alone, "agent", "--config", "site.yaml"], capture_output=True, text=True, env={"PATH": str(self.root)})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^tacit agent: the program tacitd, .* is neither beside tacit nor in PATH \(No such file")

    def test_every_header_stands_for_itself(self):
        names = sorted(path.name for path in self.include.glob("*.h"))
        self.assertIn("wire_elim.h", names)
        for name in names:
            run(os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", "c",
                *self.flags("tacit", "--cflags"), "-", input=f'#include "tacit/{name}"\n')


if __name__ == "__main__":
    unittest.main()
