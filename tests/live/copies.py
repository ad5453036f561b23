#!/usr/bin/env python3
"""Copied, restored and cloned states of a site, with an application that asks at once: each reward leaves in one draw.
In every try a copy is made when the plan is nearly served; the original releases; then the copy plays on. See
support.py."""
import collections
import math
import shutil
import sys
import time

from support import IS_LONG, Application, main, require, test, wait_for
import wire

SITE = "site-2"
COPY = "copy"
LEFT = 5  # pulls that the copy has still to serve


class Trial:
    """A federation of three; in every epoch the last site is copied."""

    def __init__(self, federation_of):
        self.federation = federation_of([0.875, 0.87, 0.865], rounds=80, gap=2.0 ** -6, horizon=4000000)
        for site in self.federation.sites:
            self.federation.write_agent(site, self.federation.policy(rounds_max=80))
        self.federation.write_agent(SITE, self.federation.policy(rounds_max=80), name=COPY)
        self.federation.start_all()
        self.federation.apply(allowance=0, batch=20)
        self.application = self.federation.applications[2]
        self.drawn = collections.Counter()  # by kind: draws of epochs that were released before

    # The others

    def epoch(self):
        return wait_for("the coordinator answers", self.federation.status)["epoch"]

    def serve(self, site, left=0):
        """The application serves the plan but for so many pulls."""
        federation = self.federation
        application = next(one for one in federation.applications if one.site == site)
        epoch = self.epoch()
        status = wait_for(f"{site} is in epoch {epoch}", lambda: self.is_in(site, epoch))
        if status["phase"] != "exploring" or status["unserved"] <= left:
            return
        application.allowance = application.counts["planned"] + status["unserved"] - left
        wait_for(f"{site} has served all but {left}",
                 lambda: (federation.site_status(site) or {"unserved": math.inf, "open": 1}) and
                 self.has_left(site, left))
        application.allowance = 0

    def is_in(self, site, epoch):
        status = self.federation.site_status(site)
        return status if status and status["epoch"] >= epoch else None

    def has_left(self, site, left):
        status = self.federation.site_status(site)
        return status and status["unserved"] <= left and status["open"] == 0

    def end_round(self, epoch):
        for site in self.federation.sites:
            if self.epoch() == epoch:
                self.serve(site)
        wait_for(f"the end of round {epoch}", lambda: self.federation.is_at(epoch + 1), 40)

    # Copies

    def folder(self, name):
        return self.federation.folder / f"state-{name}"

    def copy(self, end):
        """Of the state in a plan that is nearly served."""
        self.serve(SITE, LEFT)
        end(SITE)
        shutil.rmtree(self.folder(COPY), ignore_errors=True)
        shutil.copytree(self.folder(SITE), self.folder(COPY))

    def outbox(self, name):
        """Of a copy: who reads a state leaves files beside it."""
        shutil.rmtree(self.folder("look"), ignore_errors=True)
        shutil.copytree(self.folder(name), self.folder("look"))
        return self.federation.outbox("look")

    def release(self, epoch):
        """The original goes on until its report is out."""
        self.federation.start(SITE)
        self.serve(SITE)
        wait_for(f"report {epoch}", lambda: epoch in self.federation.reports(SITE))

    def play_copy(self, epoch, kind):
        """It asks at once; until it says that it may not."""
        federation = self.federation
        before = len(self.commits().get(epoch, ()))
        federation.start(COPY)
        hasty = Application(federation, COPY, batch=20)
        hasty.start()
        if kind == "down":
            wait_for("the copy draws", lambda: "waits for its grant" in federation.log(COPY))
            federation.start("coordinator")
        wait_for("the copy stops", lambda: federation.phase(COPY) in ("blocked", "halted"), 40)
        status = federation.site_status(COPY)
        hasty.over = True
        hasty.join(20)
        federation.kill(COPY)
        require(status["trouble"] and status["release_epoch"] < epoch, f"{status}")
        require(" two-states: " in federation.log(COPY) or " halted: " in federation.log(COPY), "it stops in silence")
        self.drawn[kind] += len(self.commits().get(epoch, ())) - before
        (federation.folder / f"{COPY}.log").unlink()

    def commits(self):
        return self.federation.by_epoch(self.federation.topic(f"up/{SITE}/elimination"), wire.is_commit)

    def check(self):
        """What left: one report an epoch."""
        reports = self.federation.reports(SITE)
        several = {epoch: len(found) for epoch, found in reports.items() if len(found) > 1}
        require(not several, f"different reports: {several}")
        return len(reports)

    def end(self, kind, tries):
        released = self.check()
        draws = {epoch: len(found) for epoch, found in self.commits().items()}
        print(f"           {kind}: {tries} tries; {released} epochs released, {sum(draws.values())} draws committed, "
              f"{self.drawn[kind]} of them by copies", flush=True)
        self.federation.end_applications()
        return draws


def restore_often(federation_of, kind, tries):
    """The original released; an old copy is started in its place."""
    trial = Trial(federation_of)
    federation = trial.federation
    for _ in range(tries):
        epoch = trial.epoch()
        if kind == "ahead":
            trial.serve("site-0")
            trial.serve("site-1")
        trial.copy(federation.stop)
        trial.release(epoch)
        if kind == "ahead":
            wait_for("the hub is ahead", lambda: federation.is_at(epoch + 1))
        federation.kill(SITE)
        if kind == "down":
            federation.kill("coordinator")
        trial.play_copy(epoch, kind)
        federation.start(SITE)
        trial.end_round(epoch)
    draws = trial.end(kind, tries)
    sites = {site["name"]: site["two_states"] for site in federation.status()["sites"]}
    if max(draws.values()) > 1:
        require(sites[SITE] and f"two states of site {SITE}" in federation.log("coordinator"), "no word of the hub")
    require(not sites["site-0"] and not sites["site-1"], f"{sites}")
    if kind == "down":
        require(trial.drawn[kind] == tries, f"{trial.drawn[kind]} draws of copies in {tries} tries: no test")


TRIES = 13 if IS_LONG else 3


@test
def hasty_restore_with_the_hub_there_releases_nothing_anew(federation_of):
    restore_often(federation_of, "up", TRIES)


@test
def hasty_restore_without_the_hub_releases_nothing_anew(federation_of):
    restore_often(federation_of, "down", TRIES)


@test
def hasty_restore_a_round_behind_releases_nothing_anew(federation_of):
    restore_often(federation_of, "ahead", TRIES)


def one_that_was_granted(trial, epoch):
    for name in (SITE, COPY):
        status = trial.federation.site_status(name)
        if status and status["release_epoch"] >= epoch:
            return name
    return None


def have_both_drawn(federation):
    return all((federation.site_status(name) or {}).get("waits_for", {}).get("for") == "the grant of its release"
               for name in (SITE, COPY))


@test
def two_clones_at_once_release_once(federation_of):
    """In every other try the hub comes when both have drawn."""
    trial = Trial(federation_of)
    federation = trial.federation
    tries = 50 if IS_LONG else 4
    granted = collections.Counter()
    both = 0
    for number in range(tries):
        epoch = trial.epoch()
        trial.copy(federation.stop)
        if number % 2 == 0:
            federation.kill("coordinator")
        clone = Application(federation, COPY, batch=20)
        federation.start(SITE)
        federation.start(COPY)
        trial.application.allowance = math.inf
        clone.start()
        if number % 2 == 0:
            wait_for("both have drawn", lambda: have_both_drawn(federation), 40)
            federation.start("coordinator")
        winner = wait_for("one of them is granted", lambda: one_that_was_granted(trial, epoch), 60)
        wait_for(f"report {epoch}", lambda: epoch in federation.reports(SITE), 60)
        time.sleep(1)
        trial.application.allowance = 0
        clone.over = True
        clone.join(20)
        federation.kill(SITE)
        federation.kill(COPY)
        drawn = {outbox[epoch][0] for outbox in map(trial.outbox, (SITE, COPY)) if epoch in outbox}
        require(federation.reports(SITE)[epoch] <= drawn, f"epoch {epoch}: what left is in neither ledger")
        both += len(drawn) > 1
        trial.check()
        granted[winner] += 1
        if winner == COPY:
            shutil.rmtree(trial.folder(SITE))
            shutil.move(trial.folder(COPY), trial.folder(SITE))
        federation.start(SITE)
        trial.end_round(epoch)
    trial.end(f"clones ({dict(granted)} granted; both drew in {both} tries)", tries)
    require(both >= tries // 2, f"both drew in {both} tries only")


def log_is_tampered_with(federation_of, kind, tamper):
    """After a kill; `tamper` changes the log. It does not start, and goes on with the log as it was."""
    trial = Trial(federation_of)
    federation = trial.federation
    tries = 12 if IS_LONG else 2
    for _ in range(tries):
        epoch = trial.epoch()
        trial.copy(federation.kill)
        trial.release(epoch)
        federation.kill(SITE)
        whole = federation.folder / "whole"
        shutil.copytree(trial.folder(SITE), whole)
        tamper(trial.folder(SITE) / "state.db-wal", trial.folder(COPY) / "state.db-wal")
        code, said = federation.run_to_end(SITE)
        require(code == 2 and "rejoin as a new site" in said, f"{kind}: {code} {said}")
        shutil.rmtree(trial.folder(SITE))
        shutil.move(whole, trial.folder(SITE))
        federation.start(SITE)
        trial.end_round(epoch)
    trial.end(f"log {kind}", tries)


@test
def site_whose_log_was_deleted_says_so_and_does_not_start(federation_of):
    log_is_tampered_with(federation_of, "deleted", lambda log, _: log.unlink())


@test
def site_whose_log_was_emptied_says_so_and_does_not_start(federation_of):
    log_is_tampered_with(federation_of, "emptied", lambda log, _: log.write_bytes(b""))


@test
def site_whose_log_is_an_older_one_says_so_and_does_not_start(federation_of):
    log_is_tampered_with(federation_of, "of a copy", lambda log, older: shutil.copy(older, log))


@test
def site_without_its_log_and_witness_releases_nothing_anew(federation_of):
    """As if the process had ended by itself: then it is the hub that finds it out."""
    trial = Trial(federation_of)
    federation = trial.federation
    tries = 12 if IS_LONG else 2
    for _ in range(tries):
        epoch = trial.epoch()
        trial.copy(federation.kill)
        trial.release(epoch)
        federation.kill(SITE)
        shutil.rmtree(trial.folder(COPY))
        shutil.copytree(trial.folder(SITE), trial.folder(COPY))
        for name in ("state.db-wal", "state.db-witness"):
            (trial.folder(COPY) / name).unlink()
        trial.play_copy(epoch, "log and witness deleted")
        federation.start(SITE)
        trial.end_round(epoch)
    trial.end("log and witness deleted", tries)


if __name__ == "__main__":
    sys.exit(main())
