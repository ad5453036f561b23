#!/usr/bin/env python3
"""Copied, restored and cloned states of a site, with an application that asks at once: each reward leaves in one draw.
In every try a copy is made when the plan is nearly served; the original releases; then the copy plays on. See
support.py."""
import shutil

from copying import COPY, SITE, Trial, clone_often, lose_log_often, restore_often
from support import IS_LONG, main, require, test

TRIES = 13 if IS_LONG else 3


@test
def hasty_restore_with_the_hub_there_releases_nothing_anew(federation_of):
    restore_often(Trial(federation_of), "up", TRIES)


@test
def hasty_restore_without_the_hub_releases_nothing_anew(federation_of):
    restore_often(Trial(federation_of), "down", TRIES)


@test
def hasty_restore_a_round_behind_releases_nothing_anew(federation_of):
    restore_often(Trial(federation_of), "ahead", TRIES)


@test
def two_clones_at_once_release_once(federation_of):
    clone_often(Trial(federation_of), 50 if IS_LONG else 4)


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
    lose_log_often(Trial(federation_of), 12 if IS_LONG else 2)


if __name__ == "__main__":
    main()
