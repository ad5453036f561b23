#!/usr/bin/env python3
"""Holders that lose their state: what they say, how the operator begins a new term, and what the sites drop. See
support.py."""
import shutil
import subprocess
import sys
import time

import wire
from support import PATIENCE, TACIT, TRIES, main, require, test, wait_for

MEANS = [0.875, 0.75, 0.125]  # two arms stay until the last round
BEGINS = "begins: a holder has lost its state"


def begin_term(federation, *words):
    """As an operator does, with the coordinator stopped."""
    done = subprocess.run([*federation.words_of("coordinator"), "--new-term", *words], capture_output=True, text=True, timeout=30,
                          check=False)
    require(done.returncode == 0 and "begins with the next start" in done.stderr, f"{done.returncode} {done.stderr}")


def lose(federation, name):
    federation.kill(name)
    shutil.rmtree(federation.folder / f"state-{name}")


def expect_stop(federation):
    """What the sites hold is newer than its state; it says so, and what is to be done."""
    federation.start("coordinator")
    process = federation.processes["coordinator"]
    wait_for("the coordinator stops", lambda: process.poll() is not None, 120)
    require(process.returncode == 3 and "its state is an old one" in federation.log("coordinator"), f"{process.returncode}")


def open_decisions(federation, site, count):
    """Asked for, and not rewarded yet."""
    application = next(one for one in federation.applications if one.site == site)
    wait_for(f"{site} has a plan", lambda: (federation.site_status(site) or {"unserved": 0})["unserved"] >= count, 120)
    keys = [{"key": f"before {time.monotonic()} {i}"} for i in range(count)]
    return application.ask("/v1/decisions/batch", {"requests": keys})["decisions"]


def check_rewards_of_before(federation, site, decisions):
    """They are taken, and enter nothing: the plan of the term is as long as it was."""
    application = next(one for one in federation.applications if one.site == site)
    require(all(one["kind"] == "planned" for one in decisions), f"{decisions}")
    before = federation.site_status(site)
    rewards = [{"id": one["id"], "reward": 1 - federation.means[one["arm"]]} for one in decisions]  # would show in the sums
    application.ask("/v1/rewards/batch", {"rewards": rewards})
    after = federation.site_status(site)
    require(before["unserved"] == after["unserved"], f"{before} {after}")
    require(after["epoch"] == before["epoch"], f"{before} {after}")
    application.counts["exploit"] += len(decisions)


def check_outbox(federation, site):
    """Each release has the sum of its own rewards, none has a number twice, and the numbers go on over terms."""
    shutil.copytree(federation.folder / f"state-{site}", federation.folder / f"state-look-{site}")
    outbox = federation.outbox(f"look-{site}")
    for number, (payload, _, _) in outbox.items():
        pulls, sums = wire.sums_of(payload)
        for arm, value in sums.items():
            expected = pulls * round(federation.means[arm] * wire.STEPS) / wire.STEPS
            require(abs(value - expected) < 0.1, f"{site}: release {number}, arm {arm}: {value}, not {expected}")
    return outbox


def end_run(federation):
    federation.allow(10 ** 9)
    decided = ("decided", "finished")
    wait_for("all sites decide", lambda: all(federation.phase(site) in decided for site in federation.sites), 120)
    for site in federation.sites:
        require(federation.site_status(site)["active_arms"] == ["arm 0"], f"{federation.site_status(site)}")
        require(federation.site_status(site)["trouble"] is None, f"{federation.site_status(site)}")
    federation.end_applications()


@test
def coordinator_that_lost_all_goes_on_in_a_new_term(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25)
    federation.start_all()
    federation.apply(allowance=federation.all_to(1))
    wait_for("the second epoch", lambda: federation.is_at(2), 120)
    wait_for("all sites are in it",
             lambda: all((federation.site_status(site) or {"epoch": 0})["epoch"] >= 2 for site in federation.sites), 120)
    decisions = open_decisions(federation, "site-1", 5)
    run = federation.site_status("site-0")["run"]
    lose(federation, "coordinator")
    code, said = federation.run_to_end("coordinator", [*federation.words_of("coordinator"), "--new-term"])
    require(code == 2 and "--run" in said, f"a term of no run: {code} {said}")
    begin_term(federation, "--run", run)
    code, said = federation.run_to_end("coordinator", [*federation.words_of("coordinator"), "--new-term", "--run", "1"])
    require(code == 0, f"the state knows its run now: {code} {said}")
    federation.start("coordinator")
    for site in federation.sites:
        wait_for(f"{site} is in the term", lambda site=site: BEGINS in federation.log(site), 120)
    wait_for("site-1 has an order", lambda: federation.site_status("site-1")["unserved"] > 0, 120)
    check_rewards_of_before(federation, "site-1", decisions)
    end_run(federation)
    status = wait_for("the run ends", federation.is_finished, 120)
    require(status["winner"] == "arm 0", f"{status}")
    for site in federation.sites:
        federation.stop(site)
        numbers = sorted(check_outbox(federation, site))
        require(numbers[0] == 1 and len(numbers) > status["rounds"], f"{site}: {numbers} in {status['rounds']} rounds")


@test
def coordinator_that_was_put_back_hears_that_it_is_behind(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25)
    federation.start_all()
    federation.apply(allowance=0)
    wait_for("the first epoch", lambda: federation.is_at(1), 120)
    federation.stop("coordinator")
    state, backup = federation.folder / "state-coordinator", federation.folder / "backup"
    shutil.copytree(state, backup)
    federation.start("coordinator")
    federation.allow(federation.all_to(1))
    wait_for("the second epoch", lambda: all((federation.site_status(site) or {"epoch": 0})["epoch"] >= 2
                                             for site in federation.sites), 120)
    federation.kill("coordinator")
    shutil.rmtree(state)
    shutil.copytree(backup, state)
    expect_stop(federation)
    require(all(federation.site_status(site)["epoch"] >= 2 for site in federation.sites), "a site went back by itself")
    # The operator may let it go on from there all the same.
    begin_term(federation)
    federation.start("coordinator")
    wait_for("it goes on", federation.status, 120)
    code, said = federation.run_to_end("coordinator", [*federation.words_of("coordinator"), "--new-term"])
    require(code == 2, f"a term begins beside a coordinator that runs: {code} {said}")
    end_run(federation)
    # Another backup of before the term.
    federation.kill("coordinator")
    shutil.rmtree(state)
    shutil.copytree(backup, state)
    expect_stop(federation)


@test
def site_of_a_ring_that_lost_all_joins_again_in_a_new_term(federation_of):
    federation = federation_of(MEANS, sites=4, rounds=4, gap=0.25)
    run = federation.run_section()
    del run["quorum"]
    federation.write_coordinator(run)
    federation.write_network({"kind": "ring"}, "--persistence", federation.persistence)
    federation.allow_access("tap", "read tacit/v1/#")
    federation.start_all()
    federation.apply(allowance=federation.all_to(1))
    wait_for("the second epoch",
             lambda: all((federation.site_status(site) or {"epoch": 0})["epoch"] >= 2 for site in federation.sites), 120)
    lose(federation, "site-3")
    federation.start("site-3")
    wait_for("site-3 is halted", lambda: federation.phase("site-3") == "halted", 120)
    federation.stop("coordinator")
    begin_term(federation)
    federation.start("coordinator")
    wait_for("site-3 is in the term", lambda: BEGINS in federation.log("site-3"), 120)
    for site in ("site-0", "site-1", "site-2"):
        wait_for(f"{site} is in the term", lambda site=site: BEGINS in federation.log(site), 120)
    end_run(federation)
    for site in federation.sites:
        federation.stop(site)
        numbers = sorted(check_outbox(federation, site))
        require(numbers == list(range(1, len(numbers) + 1)), f"{site}: {numbers}")


# Holders whose state is of the same round, but not the newest

WITHIN_S = 60  # whoever asks is told what holds the run up


def told(federation, name):
    """Exit code of `tacit status`, and what it says."""
    done = subprocess.run([TACIT, "status", "--config", federation.folder / f"{name}.yaml"], capture_output=True, text=True,
                          timeout=30, check=False)
    return done.returncode, done.stdout


def says_who_is_old(federation, name, words):
    code, said = told(federation, name)
    return code == 2 and words in said and "--new-term" in said


def put_back(federation, name, backup):
    federation.kill(name)
    state = federation.folder / f"state-{name}"
    shutil.rmtree(state)
    shutil.copytree(backup, state)
    federation.start(name)


def let(federation, site, allowance):
    next(one for one in federation.applications if one.site == site).allowance = allowance


def expect_nobody_blamed(federation):
    for site in federation.sites:
        require(not federation.site_status(site).get("two_states"), f"{site}: {federation.site_status(site)}")
    for name in ("coordinator", *federation.sites):
        require("two states of site" not in federation.log(name), f"{name} blames somebody")
    sites = federation.status()["sites"]
    require(not any(site["two_states"] for site in sites), f"{sites}")


def expect_words(federation, holder, words, others):
    """Within a minute, at the holder that is behind and at those that it holds up."""
    seconds = WITHIN_S / PATIENCE
    wait_for(f"{holder} says that its state is old", lambda: says_who_is_old(federation, holder, words), seconds)
    for site in others:
        wait_for(f"{site} says whose state is old",
                 lambda site=site: says_who_is_old(federation, site, f"{holder} knows nothing of a grant"), seconds)


def new_term(federation):
    federation.stop("coordinator")
    begin_term(federation)
    federation.start("coordinator")
    for site in federation.sites:
        wait_for(f"{site} is in the term", lambda site=site: BEGINS in federation.log(site), 120)
    end_run(federation)


def ring_put_back(federation):
    """A second process of site-2 grants what its neighbours release, stops and is forgotten."""
    run = federation.run_section()
    del run["quorum"]
    federation.write_coordinator(run)
    federation.write_network({"kind": "ring"}, "--persistence", federation.persistence)
    federation.start_all()
    federation.apply(allowance=0)
    for site in federation.sites:
        wait_for(f"{site} explores", lambda site=site: federation.phase(site) == "exploring", 120)
    federation.stop("site-2")
    backup = federation.folder / "backup"
    shutil.copytree(federation.folder / "state-site-2", backup)
    federation.start("site-2")
    for site in ("site-0", "site-1", "site-3"):
        let(federation, site, federation.all_to(1))
    for site in ("site-1", "site-3"):
        wait_for(f"{site} has its grants", lambda site=site: federation.site_status(site)["release_epoch"] == 1, 120)
    put_back(federation, "site-2", backup)
    federation.allow(10 ** 9)


@test
def holder_in_a_ring_that_granted_and_was_forgotten_says_so_and_blames_nobody(federation_of):
    for _ in range(TRIES):
        federation = federation_of(MEANS, sites=5, rounds=4, gap=0.25)
        ring_put_back(federation)
        expect_words(federation, "site-2", "this site's state is an old one", ("site-1", "site-3"))
        expect_nobody_blamed(federation)
        new_term(federation)
        federation.close()


@test
def coordinator_of_the_same_round_that_was_put_back_says_so_and_blames_nobody(federation_of):
    for _ in range(TRIES):
        federation = federation_of(MEANS, rounds=4, gap=0.25)
        federation.start_all()
        federation.apply(allowance=0)
        for site in federation.sites:
            wait_for(f"{site} explores", lambda site=site: federation.phase(site) == "exploring", 120)
        federation.stop("coordinator")
        backup = federation.folder / "backup"
        shutil.copytree(federation.folder / "state-coordinator", backup)
        federation.start("coordinator")
        for site in ("site-0", "site-1"):
            let(federation, site, federation.all_to(1))
        wait_for("two reports", lambda: (federation.status() or {"reports": 0})["reports"] == 2, 120)
        put_back(federation, "coordinator", backup)
        let(federation, "site-2", federation.all_to(1))
        expect_words(federation, "coordinator", "this coordinator's state is an old one", ("site-0", "site-1"))
        wait_for("site-2 has its grant", lambda: federation.site_status("site-2")["release_epoch"] == 1, 120)
        expect_nobody_blamed(federation)
        new_term(federation)
        federation.close()


if __name__ == "__main__":
    sys.exit(main())
