#!/usr/bin/env python3
"""Upgrades of a federation under way, one machine at a time, in any order: from the version before (the commit that tests/version_before
names, built here from git) to this one; from this one to a next one, which is this source with the next number of messages and of states;
and what is said where that is too far. See tests/live/support.py.

usage: upgrade.py [TEST...]      TACIT_PROGRAM; TACIT_UPGRADE: folder of the builds (default: build-upgrade)
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/live"))
import support  # noqa: E402
from support import Federation, Skipped, main, require, seeded, test, wait_for  # noqa: E402

BUILDS = pathlib.Path(os.environ.get("TACIT_UPGRADE", ROOT / "build-upgrade")).resolve()
MEANS = [0.875, 0.75, 0.125]


# ---- Versions ----

def number(file, name):
    return int(re.search(rf"#define {name} (\d+)", (ROOT / file).read_text())[1])


MESSAGES = number("include/tacit/wire.h", "TACIT_WIRE_VERSION")
STATES = number("src/live/store/store_base.h", "STORE_FORMAT")


def build(name, source, *options):
    folder = BUILDS / name
    if not (folder / "build.ninja").exists():
        subprocess.run(["meson", "setup", folder, source, "-Dtests=false", *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, "--quiet", "tacitd"], check=True, stdout=sys.stderr)
    return str(folder / "tacitd")


def before():
    """The version before, as git has it."""
    commit = (ROOT / "tests/version_before").read_text().strip()
    source = BUILDS / f"source-{commit[:8]}"
    if not source.exists():
        archive = subprocess.run(["git", "-C", ROOT, "archive", commit], capture_output=True, check=False)
        if archive.returncode != 0:
            raise Skipped(f"the version before, {commit[:8]}, is not in this clone")
        source.mkdir(parents=True)
        subprocess.run(["tar", "x", "-C", source], input=archive.stdout, check=True)
    return build(f"before-{commit[:8]}", source)


def now():
    return str(pathlib.Path(support.TACIT).parent / "tacitd")


def later(steps):
    """This source, whose numbers are `steps` further on, and which speaks and reads the ones before them, too."""
    numbers = {"TACIT_WIRE_VERSION": f"{MESSAGES + steps}u", "TACIT_WIRE_VERSION_OLDEST": f"{MESSAGES + steps - 1}u",
               "STORE_FORMAT": STATES + steps, "STORE_FORMAT_OLDEST": STATES + steps - 1}
    return build(f"later-{steps}", ROOT, "-Dc_args=" + " ".join(f"-D{key}={value}" for key, value in numbers.items()))


class Mixed(Federation):
    """Each daemon is of a program of its own."""

    def begin(self, program):
        self.programs = dict.fromkeys(["coordinator", *self.sites], program)
        self.start_all()
        self.apply(batch=20)

    def words_of(self, name):
        words = super().words_of(name)
        return words if name == "broker" else [self.programs[name], *words[1:]]

    def upgrade(self, name, program):
        """And a round is closed after it."""
        self.stop(name)
        self.programs[name] = program
        self.start(name)
        epoch = wait_for("the coordinator answers", self.status)["epoch"]
        wait_for(f"a round after {name}", lambda: self.is_at(epoch + 1) or self.is_finished(), 60)

    def versions(self):
        """Of messages, as each daemon says it."""
        return {name: (self.status() if name == "coordinator" else self.site_status(name) or {}).get("message_version")
                for name in self.programs}


def orders(federation):
    """The hub first, the hub last, and one that is drawn."""
    drawn = ["coordinator", *federation.sites]
    seeded().shuffle(drawn)
    return {"hub first": ["coordinator", *federation.sites], "hub last": [*federation.sites, "coordinator"], "drawn": drawn}


def roll(federation_of, older, newer, version):
    for what in ("hub first", "hub last", "drawn"):
        federation = federation_of(MEANS, rounds=16, gap=2.0 ** -7, kind=Mixed)
        federation.begin(older)
        wait_for("a first round", lambda one=federation: one.is_at(2), 60)
        for name in orders(federation)[what]:
            federation.upgrade(name, newer)
        wait_for(f"{what}: all say messages of version {version}: {federation.versions()}",
                 lambda one=federation: set(one.versions().values()) == {version}, 30)
        support.check_end(federation)
        for name in federation.programs:
            said = federation.log(name)
            require(f"messages are of version {version}; this program speaks" in said or version == MESSAGES, f"{what}: {name}: {said}")
            require("refused" not in said, f"{what}: {name}: {said}")
        federation.close()


@test
def a_federation_of_the_version_before_is_upgraded_in_any_order(federation_of):
    roll(federation_of, before(), now(), MESSAGES)


@test
def a_federation_of_this_version_is_upgraded_in_any_order(federation_of):
    roll(federation_of, now(), later(1), MESSAGES + 1)


@test
def a_state_that_was_taken_over_is_refused_by_the_program_before(federation_of):
    federation = federation_of(MEANS, rounds=16, gap=2.0 ** -7, kind=Mixed)
    newer = later(1)  # a run goes on while it is built
    federation.begin(now())
    wait_for("a first round", lambda: federation.is_at(2), 60)
    federation.upgrade("site-0", newer)
    require("has the format of the version before: from its next change on" in federation.log("site-0"), federation.log("site-0"))
    federation.stop("site-0")
    federation.programs["site-0"] = now()
    code, said = federation.run_to_end("site-0")
    require(code == 2 and f"has format {STATES + 1}; this program reads formats {STATES} to {STATES}" in said, f"{code} {said}")


@test
def two_versions_are_too_far_in_words(federation_of):
    """A site two versions on hears no run, and its state of before is refused; one that stayed behind is named by the coordinator."""
    federation = federation_of(MEANS, rounds=16, gap=2.0 ** -7, kind=Mixed)
    newest = later(2)
    federation.begin(now())
    wait_for("a first round", lambda: federation.is_at(2), 60)
    federation.stop("site-0")
    federation.programs["site-0"] = newest
    code, said = federation.run_to_end("site-0")
    require(code == 2 and f"has format {STATES}; this program reads formats {STATES + 1} to {STATES + 2}" in said, f"{code} {said}")
    shutil.move(federation.folder / "state-site-0", federation.folder / "kept")
    federation.start("site-0")
    words = f"a message of version {MESSAGES}; this program speaks versions {MESSAGES + 1} to {MESSAGES + 2}"
    wait_for("it says so", lambda: words in str((federation.site_status("site-0") or {}).get("refusal")), 30)
    federation.stop("site-0")
    shutil.rmtree(federation.folder / "state-site-0")
    shutil.move(federation.folder / "kept", federation.folder / "state-site-0")
    federation.programs["site-0"] = now()
    federation.start("site-0")
    for name in ("coordinator", "site-0", "site-1", "site-2"):
        if name == "site-0":
            federation.stop(name)
            shutil.copytree(federation.folder / "state-site-0", federation.folder / "kept")
            federation.start(name)
        federation.upgrade(name, later(1))
    wait_for("all speak the next version", lambda: set(federation.versions().values()) == {MESSAGES + 1}, 30)
    federation.stop("site-0")
    shutil.rmtree(federation.folder / "state-site-0")
    shutil.move(federation.folder / "kept", federation.folder / "state-site-0")
    federation.programs["site-0"] = now()
    federation.start("site-0")
    words = f"site site-0 says messages of version {MESSAGES}, and this run is of version {MESSAGES + 1}"
    wait_for("the coordinator names it", lambda: words in str((federation.status() or {}).get("causes")), 30)


if __name__ == "__main__":
    sys.exit(main())
