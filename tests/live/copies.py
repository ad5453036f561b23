#!/usr/bin/env python3
"""Copied, restored and cloned states of a site, with an application that asks at once: each reward leaves in one draw, over a star and on a
ring, where neighbours hold a site's releases and there is no hub. In every try a copy is made when the plan is nearly served; the original
releases; then the copy plays on. See copying.py."""
import shutil

from copying import COPY, SITE, RingTrial, Trial, clone_often, lose_log_often, restore_often
from support import IS_LONG, main, require, test

SUITE = {  # what is tried, and how often over a star and on a ring: in the long form, else
    "hasty_restore_with_the_holders_there_releases_nothing_anew": (restore_often, ["up"], (13, 3), (9, 1)),
    "hasty_restore_without_the_holders_releases_nothing_anew": (restore_often, ["down"], (13, 3), (9, 1)),
    "hasty_restore_a_round_behind_releases_nothing_anew": (restore_often, ["ahead"], (13, 3), (9, 1)),
    "two_clones_at_once_release_once": (clone_often, [], (50, 4), (25, 2)),
    "site_without_its_log_and_witness_releases_nothing_anew": (lose_log_often, [], (12, 2), (6, 1)),
}


def suite_of(kind, place, column):
    for name, (tried, words, *often) in SUITE.items():
        def over(federation_of, tried=tried, words=words, tries=often[column]):
            tried(kind(federation_of), *words, tries[0 if IS_LONG else 1])
        over.__name__ = f"{name}_over_a_{place}"
        test(over)


suite_of(Trial, "star", 0)
suite_of(RingTrial, "ring", 1)


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


TAMPERS = {  # the log, and that of an older copy
    "was_deleted": lambda log, _: log.unlink(),
    "was_emptied": lambda log, _: log.write_bytes(b""),
    "is_an_older_one": lambda log, older: shutil.copy(older, log),
}

for one, way in TAMPERS.items():
    def tampered(federation_of, one=one, way=way):
        log_is_tampered_with(federation_of, one, way)
    tampered.__name__ = f"site_whose_log_{one}_says_so_and_does_not_start"
    test(tampered)


if __name__ == "__main__":
    main()
