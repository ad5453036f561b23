#!/usr/bin/env python3
"""The exact sums of an epoch are in no file of a site once they are drawn: not in its database, not in the database's
log, not after a kill at any step of overwriting that; and a source of entropy that is none starts nothing. See support.py."""
import signal

from support import STEPS, main, require, test, wait_for

MEANS = [0.734912, 0.518273, 0.391846]  # sums in steps are then no round numbers
POINTS = ("fold", "mark", "zeros")  # between the commit of a draw and the end of what it overwrites


def sums_in(data, most):
    """Two neighbouring sums of two arms, of any number of pulls up to `most`, as a core holds them; at any offset."""
    first, second = ({pulls * round(mean * STEPS) for pulls in range(1, most + 1)} for mean in MEANS[:2])
    found = []
    for start in range(8):
        words = memoryview(data[start:len(data) - (len(data) - start) % 8]).cast("Q")
        if not first.isdisjoint(words):
            found += [(start + 8 * at, one, other) for at, (one, other) in enumerate(zip(words, words[1:]))
                      if one in first and other in second]
    return found


def places(federation, site, most):
    """{file: sums} of a state directory."""
    state = federation.folder / f"state-{site}"
    found = {file.name: sums_in(file.read_bytes(), most) for file in sorted(state.iterdir()) if file.is_file()}
    return {name: sums for name, sums in found.items() if sums}


def is_drawn(federation, site, epoch):
    status = federation.site_status(site)
    return status is not None and status["release_epoch"] >= epoch


def expect_gone(federation, most, when):
    for site in federation.sites:
        found = places(federation, site, most)
        require(not found, f"{site}, {when}: exact sums can be read: {found}")


@test
def exact_sums_are_in_no_file_once_they_are_drawn(federation_of):
    federation = federation_of(MEANS)
    most = federation.pulls(3, len(MEANS))
    federation.start_all()
    federation.apply(allowance=federation.all_to(1) // 2, batch=7)
    for application in federation.applications:
        wait_for("half of the epoch", lambda one=application: one.counts["planned"] >= one.allowance)
    for site in federation.sites:  # else the search proves nothing
        require("state.db-wal" in places(federation, site, most), f"{site}: no sums in the log before the draw")
    federation.allow(federation.all_to(1))
    wait_for("epoch 2", lambda: federation.is_at(2))
    expect_gone(federation, most, "after the draw of epoch 1")
    federation.allow(federation.all_to(2))
    wait_for("epoch 3", lambda: federation.is_at(3))
    for site in federation.sites:
        federation.kill(site)
    expect_gone(federation, most, "killed after the draw of epoch 2")
    for site in federation.sites:
        federation.start(site)
        wait_for(f"{site} is back", lambda site=site: is_drawn(federation, site, 2))
    expect_gone(federation, most, "started again")
    federation.end_applications()
    for site in federation.sites:
        federation.stop(site)
    expect_gone(federation, most, "ended")


@test
def a_kill_while_the_log_is_overwritten_leaves_no_sums(federation_of):
    """Site i dies at the i-th point of its n-th draw, and starts again."""
    federation = federation_of(MEANS, sites=len(POINTS))
    most = federation.pulls(3, len(MEANS))
    federation.start_all([])
    federation.start("coordinator")
    for passage in (1, 2):
        for site, point in zip(federation.sites, POINTS, strict=True):
            federation.start(site, TACIT_CRASH_AT=f"{point}:1")
        if passage == 1:
            federation.apply(batch=7, allowance=federation.all_to(1))
        federation.allow(federation.all_to(passage))
        for site in federation.sites:
            process = federation.processes[site]
            wait_for(f"{site} dies", lambda process=process: process.poll() is not None, 40)
            require(process.returncode == -signal.SIGKILL, f"{site} ended with {process.returncode}")
            federation.start(site)
        wait_for(f"epoch {passage + 1}", lambda passage=passage: federation.is_at(passage + 1))
        expect_gone(federation, most, f"after {passage} kills")
        if passage == 1:
            for site in federation.sites:
                federation.stop(site)
    federation.allow(federation.all_to(2))
    federation.end_applications()
    for site in federation.sites:
        reports = federation.reports(site)
        require(all(len(payloads) == 1 for payloads in reports.values()), f"{site}: two reports of one epoch")


@test
def hooked_source_that_gives_one_byte_for_ever_starts_nothing(federation_of):
    federation = federation_of(MEANS)
    federation.start("broker")
    for byte in (0, 255):
        for name in ("coordinator", "site-0"):
            federation.start(name, TACIT_TEST_STUCK=str(byte))
            process = federation.processes[name]
            wait_for(f"{name} ends", lambda process=process: process.poll() is not None)
            said = federation.log(name)
            require(process.returncode not in (0, -signal.SIGABRT) and "gives no randomness" in said,
                    f"{name}: {process.returncode}: {said[-500:]}")
            require(not (federation.folder / f"state-{name}" / "state.db").exists(), f"{name} made a state")


if __name__ == "__main__":
    main()
