#!/usr/bin/env python3
"""Coordinators of play in phases that lose their state, or get an old one: they stop and say so, are built again from what
the sites hold in a new term, and the run ends as if nothing had happened: closed rounds are the same to the last bit, each
reward is in one release, and no release has a number twice. See support.py.
TACIT_TEST_LONG=1: 100 rebuilt coordinators."""
import math
import pathlib
import shutil
import sys

from support import main, require, test, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))  # the examples have files of these names, too
import phased  # noqa: E402
import restore  # noqa: E402
import wire  # noqa: E402

MEANS = [0.875, 0.5, 0.825, 0.125]
PULLS = 3000  # of a site, about, until it is decided


def begin(federation_of):
    federation = phased.made_by(federation_of, MEANS)
    federation.start_all()
    federation.apply(allowance=1, batch=20)
    federation.play_to(2, 10)
    federation.begun = federation.applications[0].allowance
    return federation


def check_releases(federation, site):
    """A release has the sums of its own rewards, by the plan of its round, and no number twice."""
    outbox, orders, rewards = restore.ledger_of(federation, site), federation.orders(), 0
    for number, payload in outbox.items():
        sums = phased.sums_of(payload)
        plans = [phased.plan_of(one)[2] for one in orders[wire.epoch_of(payload)]]
        fits = [plan for plan in plans if len(plan) == len(sums) and all(
            abs(value - pulls * round(federation.means[arm] * wire.STEPS) / wire.STEPS) < 0.1
            for (arm, pulls), value in zip(plan.items(), sums, strict=True))]
        require(fits, f"{site}: release {number}: {sums} is of no plan of its round: {plans}")
        rewards += sum(fits[0].values())
    return outbox, rewards


def check_site(federation, site):
    outbox, rewards = check_releases(federation, site)
    rounds, pulls = federation.status()["rounds"], sum(sum(one.counts.values()) for one in federation.applications if one.site == site)
    require(len(outbox) >= rounds, f"{site}: {len(outbox)} releases in {rounds} rounds")
    require(rewards <= pulls, f"{site}: {rewards} rewards in releases, {pulls} pulls")


def end_run(federation):
    restore.end_run(federation, check_site)


@test
def coordinator_that_lost_all_is_built_again_in_a_new_term(federation_of):
    federation = begin(federation_of)
    restore.lose_all_and_come_back(federation, end_run)
    for site in federation.sites:
        federation.wait_for_log(site, "begins: a grantor has lost its state")


@test
def site_that_was_put_back_with_it_releases_nothing_twice(federation_of):
    """Coordinator and a site are restored together, from copies of before: both have forgotten what was granted."""
    federation = begin(federation_of)
    site = federation.sites[0]
    names = ("coordinator", site)
    for name in names:
        federation.back_up(name)
    federation.play_to(federation.site_status(federation.sites[1])["epoch"] + 1, 10)
    known = federation.applications.pop(0)  # whose decisions this state will have forgotten
    known.over = known.aborted = True
    known.join(60)
    for name in names:
        federation.kill(name)
        federation.put_back(name)
    federation.allow(10 ** 9)
    federation.start(site)
    federation.apply([site], batch=20, prefix="another ")  # traffic does not wait
    restore.expect_stop(federation)
    restore.recover(federation)
    for other in federation.sites:
        wait_for(f"{other} is in the term", lambda other=other: federation.site_status(other)["term"] > 1, 120)
    federation.allow(math.inf)
    wait_for("the run ends", federation.is_finished, 120)
    require(federation.status()["winner"] == "arm 0", f"{federation.status()}")
    require(federation.site_status(site)["trouble"] is None, f"{federation.site_status(site)}")
    federation.end_applications()
    for other in federation.sites[1:]:
        federation.stop(other)
        check_releases(federation, other)


@test
def a_longer_chain_stops_it_and_another_quorum_is_refused(federation_of):
    federation = begin(federation_of)
    restore.longer_chain_stops_it(federation)
    federation.write_coordinator(federation.run_section(quorum=2))
    shutil.rmtree(federation.folder / "state-coordinator")
    client = federation.client("site-2")
    client.publish(federation.topic("up/site-2/chain"), b"", retain=True)
    code, said = federation.run_to_end("coordinator", "--recover", "--sites", "2")
    require(code != 0 and "run.quorum and run.deadline_s" in said, f"{code} {said}")


@test
def coordinators_that_are_lost_in_every_hasty_way_come_back(federation_of):
    restore.come_back_again_and_again(lambda: begin(federation_of), lambda federation, number, count:
                                      federation.allow(federation.begun + PULLS ** (number / count)), end_run)


if __name__ == "__main__":
    main()
