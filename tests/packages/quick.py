#!/usr/bin/env python3
"""What packages, images and the list of parts say, held against the tree; the real things are made by make check-packages. $TACIT_SOURCE, $TACIT_BUILD"""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TACIT_SOURCE"])
BUILD = pathlib.Path(os.environ["TACIT_BUILD"])
TOOLS = SOURCE / "tools"


def run(*words, code=0):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, cwd=SOURCE, check=False)
    assert code is None or done.returncode == code, f"{words}: {done.returncode} {done.stdout}{done.stderr}"
    return done


def stanzas():
    text = re.sub(r"\n[ \t]+", " ", (SOURCE / "packaging/debian/control").read_text(encoding="utf-8"))
    return [dict(line.split(": ", 1) for line in stanza.splitlines()) for stanza in text.strip().split("\n\n")]


class Quick(unittest.TestCase):
    def test_packages_are_built_with_what_a_build_installs(self):
        source, *binaries = stanzas()
        needed = {name.split(" ")[0] for name in source["Build-Depends"].split(", ")} - {"debhelper-compat"}
        text = (TOOLS / "install_dependencies.sh").read_text(encoding="utf-8")
        installed = set(re.search(r"^build='([^']*)'", text, re.M)[1].split()) - {"gcc", "libc6-dev", "ninja-build"}  # every Debian build has them
        self.assertEqual(needed, installed)
        self.assertEqual([one["Package"] for one in binaries], ["tacit", "tacitd", "libtacit-dev"])
        for one in binaries:
            self.assertIn("${misc:Depends}", one["Depends"])

    def test_units_manifests_and_images_start_what_a_package_has(self):
        programs = {"/usr/bin/tacitd", "/usr/bin/tacit", "/usr/sbin/mosquitto"}
        units = [path.read_text(encoding="utf-8").replace("/usr/local/bin", "/usr/bin") for path in (SOURCE / "docs/systemd").glob("*.service")]
        found = {match for text in units for match in re.findall(r"^ExecStart=(\S+)", text, re.M)}
        for path in [*(SOURCE / "packaging/containers").glob("Containerfile.*"), *(SOURCE / "packaging/kubernetes").glob("*.yaml")]:
            found |= set(re.findall(r"[\[\"](/usr/s?bin/\w+)", path.read_text(encoding="utf-8")))
        self.assertLessEqual(found, programs)
        self.assertIn("/usr/bin/tacitd", found)
        for text in units:  # docs/live.md
            self.assertIn("\nExecReload=/bin/kill -HUP $MAINPID\n", text)

    def test_what_the_threat_model_says_is_tested_is_there(self):
        rows = [line.split("|")[1:-1] for line in (SOURCE / "SECURITY.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
        self.assertGreater(len(rows), 12)
        for who, _, _, tests in rows[1:]:
            files = re.findall(r"`(\S+)`", tests)
            self.assertTrue(files or "nothing" in tests, who)
            for file in files:
                self.assertTrue((SOURCE / file).is_file(), file)

    def test_executables_are_closed_and_one_that_is_not_is_found(self):
        if b"__asan_init" in (BUILD / "tacitd").read_bytes():
            self.skipTest("a sanitizer links as it needs")
        check = TOOLS / "check_hardening.py"
        run("python3", check, "--linked", BUILD / "tacit", BUILD / "tacitd")
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "open"
            (pathlib.Path(folder) / "open.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
            run("gcc", "-no-pie", "-Wl,-z,norelro", "-Wl,-z,execstack", f"-Wl,-rpath,{folder}", f"{program}.c", "-o", program)
            said = run("python3", check, program, code=1).stderr
            self.assertEqual(len(said.splitlines()), 6, said)

    @unittest.skipUnless(pathlib.Path("/var/lib/dpkg/status").exists(), "not Debian: nobody knows whose the libraries are")
    def test_the_list_of_parts_names_what_executables_need_and_refers_to_what_is_there(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "tacit.spdx.json"
            run("python3", TOOLS / "make_sbom.py", BUILD, file)
            parts = json.loads(file.read_text(encoding="utf-8"))
        ids = [one["SPDXID"] for one in (parts, *parts["packages"], *parts["files"])]
        self.assertEqual(len(ids), len(set(ids)))
        for one in parts["relationships"]:
            self.assertLessEqual({one["spdxElementId"], one["relatedSpdxElement"]}, set(ids))
        names = {one["name"] for one in parts["packages"]}
        self.assertLessEqual({"libc6", "libsodium23", "libssl3", "libsqlite3-0", "libmosquitto1", "libyaml-0-2", "libjansson4", "libdnnl2", "librandom123-dev"}, names)
        self.assertNotIn("libcmocka-dev", names)
        daemons = {one["relatedSpdxElement"] for one in parts["relationships"] if one["spdxElementId"] == "SPDXRef-File-tacitd"}
        self.assertNotIn("SPDXRef-Package-libdnnl2", daemons)
        self.assertIn("SPDXRef-Package-libsqlite3-0", daemons)


if __name__ == "__main__":
    unittest.main()
