#!/usr/bin/env python3
"""Crashes, full disks, and states that are damaged or old: nothing that was acknowledged is lost, nothing is released twice, and what
cannot be trusted is refused with its reason. See support.py."""
import math
import shutil
import sqlite3
import subprocess

from support import IS_LONG, check_end, crash_everywhere, kill_anybody, main, require, test, wait_for


# Kills

@test
def kill_9_of_anybody_loses_nothing(federation_of):
    federation = federation_of([0.875, 0.5, 0.825, 0.125])
    federation.start_all()
    federation.apply(allowance=1, batch=20)
    kill_anybody(federation, 300 if IS_LONG else 40, pulls=16000)
    check_end(federation)


def crash_at(federation_of, point, sites=10 if IS_LONG else 8, rounds=5 if IS_LONG else 4):
    """Site i dies at the i-th passage of the point, the coordinator at the 1st, 2nd, 3rd .."""
    federation = federation_of([0.875, 0.75, 0.125], sites=sites, rounds=rounds, gap=2.0 ** (-rounds / 2))
    first = {site: number for number, site in enumerate(federation.sites, 1)} | {"coordinator": 1}
    crash_everywhere(federation, point, first, lambda name, count: count + (1 if name == "coordinator" else 1 + sites), least=2 * sites)
    check_end(federation)


@test
def crash_before_commit_loses_nothing(federation_of):
    crash_at(federation_of, "before-commit")


@test
def crash_after_commit_loses_nothing(federation_of):
    crash_at(federation_of, "after-commit")


@test
def crash_after_send_loses_nothing(federation_of):
    crash_at(federation_of, "after-send", sites=3, rounds=3 if IS_LONG else 2)


# States

@test
def sigterm_ends_cleanly_and_a_restart_goes_on(federation_of):
    federation = federation_of([0.875, 0.8, 0.75])
    federation.play_rounds(3)
    before = {site: federation.site_status(site) for site in federation.sites}
    for name in ["coordinator", *federation.sites]:
        federation.stop(name)
        federation.start(name)
    for site in federation.sites:
        after = wait_for(f"{site} is back", lambda site=site: federation.site_status(site))
        require(after["pulls"] >= before[site]["pulls"], f"{site}: pulls are gone")
        require(after["release_epoch"] == before[site]["release_epoch"], f"{site}: releases are gone")
    federation.allow(math.inf)
    check_end(federation)


@test
def second_process_and_damaged_state_are_refused(federation_of):
    federation = federation_of([0.875, 0.8, 0.75])
    federation.play_rounds(2)
    for name in ("site-0", "coordinator"):
        code, said = federation.run_to_end(name)
        holder = federation.processes[name].pid
        require(code == 2 and f"process {holder}" in said, f"second {name}: {code} {said}")
    federation.end_applications()
    for name in ("site-0", "coordinator"):
        wait_for(f"{name} is in epoch 3", lambda name=name: epoch_of(federation, name) == 3)
        federation.stop(name)
        damage_everything(federation, name)


def epoch_of(federation, name):
    status = federation.status() if name == "coordinator" else federation.site_status(name)
    return status and status["epoch"]


def damage_everything(federation, name):
    state = federation.folder / f"state-{name}"
    whole = (state / "state.db").read_bytes()
    middle = len(whole) // 2
    with sqlite3.connect(f"file:{state / 'state.db'}?mode=ro&immutable=1", uri=True) as base: # a page that is in use: free ones hold nothing
        page = 4096 * (base.execute("SELECT max(pageno) FROM dbstat").fetchone()[0] - 1)
    for what, data in (("truncated", whole[:middle]), ("empty", b""), ("half a page", whole[:-1000]),
                       ("not a database", b"\xa5" * len(whole)),
                       ("flipped", whole[:page] + bytes(byte ^ 255 for byte in whole[page:page + 4096]) + whole[page + 4096:])):
        (state / "state.db").write_bytes(data)
        code, said = federation.run_to_end(name)
        require(code == 2 and "state" in said, f"{name}, {what}: {code} {said}")
        require((state / "state.db").read_bytes() == data, f"{name}, {what}: it was written over")
    (state / "state.db").write_bytes(whole)
    federation.start(name)
    wait_for(f"{name} is back in epoch 3", lambda: epoch_of(federation, name) == 3)


@test
def old_copy_of_the_state_halts_and_releases_nothing(federation_of):
    federation = federation_of([0.875, 0.8, 0.75], quorum=2, deadline_s=1)
    federation.play_rounds(1)
    old = federation.application_of("site-2")
    federation.stop("site-2")
    shutil.copytree(federation.folder / "state-site-2", federation.folder / "copy")
    federation.start("site-2")
    federation.allow(federation.all_to(3))
    wait_for("release 3", lambda: (federation.site_status("site-2") or {}).get("release_epoch", 0) >= 3)
    wait_for("epoch 4", lambda: federation.is_at(4))
    seen = federation.reports("site-2")
    federation.stop("site-2")
    shutil.rmtree(federation.folder / "state-site-2")
    shutil.move(federation.folder / "copy", federation.folder / "state-site-2")
    federation.start("site-2")
    wait_for("the old copy halts", lambda: federation.phase("site-2") == "halted")
    planned = old.counts["planned"]
    federation.allow(math.inf)
    wait_for("the others go on", federation.is_finished, 40)
    federation.end_applications()
    require(old.counts["planned"] == planned, f"a halted agent handed out {old.counts['planned'] - planned} of a plan")
    require(federation.reports("site-2") == seen, "an old copy released something")
    federation.wait_for_log("site-2", "halted")
    last = {site["name"]: site["last_report_epoch"] for site in federation.status()["sites"]}
    require(last["site-2"] == max(seen) and last["site-0"] > max(seen), f"{last}")


# Full disks

class SmallDisk:
    """For a state directory: a file system of `kib`; or, where none can be mounted, a limit on what a file may hold."""

    def __init__(self, folder, kib):
        self.folder, self.kib = folder, kib
        folder.mkdir(mode=0o700)
        self.is_mounted = self.run("mount", "-t", "tmpfs", "-o", f"size={kib}k,mode=0700", "tmpfs", folder) == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.is_mounted:
            self.run("umount", "--lazy", self.folder)

    @staticmethod
    def run(*words):
        return subprocess.run(list(map(str, words)), capture_output=True, check=False).returncode

    def words(self, words):
        if self.is_mounted:
            return words
        return ["sh", "-c", f"trap '' XFSZ; ulimit -f {2 * self.kib}; exec \"$@\"", "sh", *words]

    def grow(self):
        if self.is_mounted:
            require(self.run("mount", "-o", "remount,size=64m", self.folder) == 0, "the disk cannot grow")


def ends_because_of_its_disk(federation, name):
    process = federation.processes[name]
    wait_for(f"{name} ends", lambda: process.poll() is not None, 30)
    require(process.returncode == 1, f"{name} ended with {process.returncode}")
    reasons = [line for line in federation.log(name).splitlines() if " stopping: " in line]
    require(len(reasons) == 1 and "state.db: cannot" in reasons[0], f"{name}: {reasons}")


@test
def full_disk_stops_with_the_reason_and_loses_nothing(federation_of):
    federation = federation_of([0.875, 0.5, 0.825])
    with SmallDisk(federation.folder / "state-site-0", 600) as disk:
        federation.start_all(["coordinator", "site-1", "site-2"])
        words = disk.words(federation.words_of("site-0"))
        federation.start("site-0", words)
        federation.apply()
        ends_because_of_its_disk(federation, "site-0")
        code, said = federation.run_to_end("site-0", words=words)  # systemd tries by itself
        require(code == 1 and "state.db: cannot" in said, f"it starts on a full disk: {code} {said}")
        disk.grow()
        federation.start("site-0")
        check_end(federation)


@test
def coordinator_on_a_full_disk_stops_and_goes_on(federation_of):
    federation = federation_of([0.875, 0.5, 0.825])
    with SmallDisk(federation.folder / "state-coordinator", 100) as disk:
        federation.start_all([])
        federation.start("coordinator", disk.words(federation.words_of("coordinator")))
        for site in federation.sites:
            federation.start(site)
        federation.apply()
        ends_because_of_its_disk(federation, "coordinator")
        disk.grow()
        federation.start("coordinator")
        check_end(federation)


if __name__ == "__main__":
    main()
