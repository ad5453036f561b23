#!/usr/bin/env python3
"""As copies.py, on a ring: the neighbours of a site hold its releases, and there is no hub. See copying.py."""

from copying import RingTrial, clone_often, lose_log_often, restore_often
from support import IS_LONG, main, test

TRIES = 9 if IS_LONG else 1


@test
def hasty_restore_with_its_neighbours_there_releases_nothing_anew(federation_of):
    restore_often(RingTrial(federation_of), "up", TRIES)


@test
def hasty_restore_without_its_neighbours_releases_nothing_anew(federation_of):
    restore_often(RingTrial(federation_of), "down", TRIES)


@test
def hasty_restore_a_round_behind_releases_nothing_anew(federation_of):
    restore_often(RingTrial(federation_of), "ahead", TRIES)


@test
def two_clones_at_once_release_once(federation_of):
    clone_often(RingTrial(federation_of), 25 if IS_LONG else 2)


@test
def site_without_its_log_and_witness_releases_nothing_anew(federation_of):
    lose_log_often(RingTrial(federation_of), 6 if IS_LONG else 1)


if __name__ == "__main__":
    main()
