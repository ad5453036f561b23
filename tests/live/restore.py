#!/usr/bin/env python3
"""Coordinators that lose their state, or get an old one: they stop and say so, are built again from what the sites
hold, and the run ends as if nothing had happened. See support.py.
TACIT_TEST_LONG=1: 100 rebuilt coordinators."""
import hashlib
import shutil
import time

import wire
from support import IS_LONG, check_sums, main, require, seeded, test, wait_for

MEANS = [0.875, 0.75, 0.125]  # two arms stay until the last round
STATE_LOST = 3  # exit code


# ---- What is seen at the broker ----

class Entry:
    def __init__(self, payload):
        found = wire.fields(payload)
        self.payload, self.run, self.term, self.number, self.body = payload, found[5], found[9], found[13], found[12]
        self.epoch = found[10]
        self.previous, self.has_state, self.state = self.body[:32], self.body[32] == 1, self.body[33:]

    def digest(self, agreement):
        """As src/live/replicated_log.c has it, written down once more."""
        def number(value):
            return value.to_bytes(8, "little")
        return hashlib.sha256(b"tacit entry 1\0" + self.run + agreement + number(self.term) + number(self.number) +
                              number(self.epoch) + self.previous + number(int(self.has_state)) + number(len(self.state)) +
                              self.state).digest()


def entries(federation):
    """As they were published, each once, in order."""
    found = {}
    for topic, payload in list(federation.tap.messages):
        if topic == federation.topic("down/chain"):
            entry = Entry(payload)
            found.setdefault((entry.term, entry.number), entry)
    return [found[key] for key in sorted(found)]


def check_chain(federation):
    """Every entry names the one before; what a rebuilt coordinator begins with is bit for bit what the lost one left.
    Result: how many were rebuilt."""
    chain = entries(federation)
    agreement = wire.fields(chain[0].payload)[6]
    rebuilt = 0
    for before, after in zip(chain, chain[1:]):
        require(after.number == before.number + 1, f"entry {after.number} follows {before.number}")
        require(after.previous == before.digest(agreement), f"entry {after.number} does not name the one before")
        if after.term > before.term:
            rebuilt += 1
            require(after.state == before.state, f"entry {after.number}: a closed round is another one after the rebuild")
    return rebuilt


# ---- What an operator does ----

def expect_stop(federation, *said):
    """It must not go on by itself: it ends with a code of its own, and says what to do."""
    federation.start("coordinator")
    process = federation.processes["coordinator"]
    wait_for("the coordinator stops", lambda: process.poll() is not None, 60)
    require(process.returncode == STATE_LOST, f"it ended with {process.returncode}")
    for words in said or ("--recover",):
        federation.wait_for_log("coordinator", words)


def goes_on(federation):
    status = federation.status()
    return status is not None and status["phase"] in ("collecting", "waiting", "watching", "finished")


def recover(federation, *more):
    federation.start_with("coordinator", "--recover", *more)
    wait_for("the coordinator is built again", lambda: goes_on(federation), 60)


def begin(federation_of, rounds=4):
    federation = federation_of(MEANS, rounds=rounds, gap=0.25, horizon=4000000)
    federation.play_rounds(1)
    return federation


def ledger_of(federation, site, adds_up=False):
    """{number: release} of a site that was stopped; what was on the wire is in it. adds_up: a sink says its component's sums."""
    shutil.copytree(federation.folder / f"state-{site}", federation.folder / f"state-look-{site}")
    outbox = {number: payload for number, (payload, _, _) in federation.outbox(f"look-{site}").items()}
    for epoch, payloads in federation.reports(site).items():
        for payload in () if adds_up else payloads:
            require(payload in outbox.values(), f"{site}: a report of epoch {epoch} is not in the ledger")
    return outbox


def check_releases(federation, site, adds_up=False):
    """Each reward is in one, once."""
    outbox = ledger_of(federation, site, adds_up)
    for payload in outbox.values():
        check_sums(federation, site, payload)
    return outbox


def end_run(federation, check=check_releases):
    """To its end, with what holds of each site."""
    federation.allow(10 ** 9)
    status = federation.finish()
    for site in federation.sites:
        seen = federation.site_status(site)
        require(seen["active_arms"] == ["arm 0"] and seen["trouble"] is None, f"{site}: {seen}")
        wait_for(f"{site} holds the last entry", lambda site=site: federation.site_status(site)["entry"] ==
                 federation.status()["entry"], 60)
        require(federation.site_status(site)["entry_digest"] == federation.status()["entry_digest"], f"{site}: another entry")
    for site in federation.sites:
        federation.stop(site)
        check(federation, site)
    return status


# ---- Lost ----

def lose_all_and_come_back(federation, end=end_run):
    federation.allow(10 ** 9)  # traffic does not wait
    federation.lose("coordinator")
    expect_stop(federation, "no state of it")
    expect_stop(federation)  # again and again
    recover(federation)
    federation.wait_for_log("coordinator", "the state is built from it")
    federation.stop("coordinator")
    federation.start("coordinator")  # as always, from now on
    end(federation)
    require(check_chain(federation) == 1, "not one rebuild")


@test
def coordinator_that_lost_all_stops_and_is_built_again(federation_of):
    lose_all_and_come_back(begin(federation_of))


def put_old_copy_back(federation):
    """In the second epoch, of the first."""
    federation.start_all()
    federation.apply(allowance=0)
    wait_for("the first epoch", lambda: federation.is_at(1), 60)
    federation.back_up("coordinator")
    federation.allow(federation.all_to(1))
    wait_for("the second epoch", lambda: federation.are_in(2), 60)
    federation.kill("coordinator")
    federation.put_back("coordinator")
    expect_stop(federation, "its state is an old one")


@test
def old_copy_stops_and_is_built_again(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25, horizon=4000000)
    put_old_copy_back(federation)
    recover(federation)
    end_run(federation)
    require(check_chain(federation) == 1, "not one rebuild")


@test
def broker_that_lost_all_too_is_told_by_the_sites(federation_of):
    federation = begin(federation_of)
    for name in ("coordinator", "broker", *federation.sites):
        federation.kill(name)
    shutil.rmtree(federation.folder / "state-coordinator")
    federation.wipe_broker()
    federation.start("broker")
    federation.start_with("coordinator", "--recover")
    status = wait_for("it waits", lambda: (federation.status() or {}).get("phase") == "recovering" and federation.status(), 60)
    require(sorted(status["waits_for"]) == sorted(federation.sites) and status["needed"] == len(federation.sites), f"{status}")
    for site in federation.sites[1:]:
        federation.start(site)
    wait_for("all but one have shown what they hold", lambda: (federation.status() or {}).get("shown") == len(federation.sites) - 1, 60)
    federation.kill("coordinator")  # nothing is written yet
    federation.start(federation.sites[0])
    expect_stop(federation)  # sites came first
    recover(federation)
    end_run(federation)


@test
def operator_says_how_many_sites_suffice_and_a_longer_chain_stops_it(federation_of):
    longer_chain_stops_it(begin(federation_of))


def longer_chain_stops_it(federation):
    federation.kill("site-2")  # it holds what all hold
    held = federation.site_status("site-0")["entry"]
    newest = next(entry for entry in reversed(entries(federation)) if entry.number == held)
    federation.lose("coordinator")
    # The broker forgets what site-2 showed: who knows what it holds?
    client = federation.client("site-2")
    client.publish(federation.topic("up/site-2/chain"), b"", retain=True)
    recover(federation, "--sites", "2")
    family = wire.fields(newest.payload)[2]  # It held one more.
    longer = wire.message(federation.name, "coordinator", "", newest.digest(federation.agreement()) + newest.body[32:],
                         agreement=federation.agreement(), run=federation.run(), kind=2 ** 32 - 1, epoch=newest.epoch + 1,
                         family=family, term=newest.term, entry=newest.number + 1)
    longer = federation.signed(longer, "coordinator", "down/chain")
    shown = federation.message("up/site-2/chain", longer, kind=2 ** 32 - 1, epoch=0, family=family, term=newest.term)
    client = federation.client("site-2")
    client.publish(federation.topic("up/site-2/chain"), shown, retain=True)
    process = federation.processes["coordinator"]
    wait_for("it stops", lambda: process.poll() is not None, 60)
    require(process.returncode == STATE_LOST and "was built again" in federation.log("coordinator"), "it goes on")


@test
def two_entries_of_one_number_are_an_alarm(federation_of):
    federation = begin(federation_of)
    newest = entries(federation)[-1]
    other = wire.message(federation.name, "coordinator", "", newest.previous + b"\x01" + b"another state",
                        agreement=federation.agreement(), run=federation.run(), kind=2 ** 32 - 1, epoch=newest.epoch,
                        term=newest.term, entry=newest.number)
    forged = other[:-1] + b"\x40" + bytes(64)
    client = federation.client("coordinator")  # takes the coordinator's place at the broker
    client.publish(federation.topic("down/chain"), forged, retain=True)
    for site in federation.sites:  # not signed: it is refused, and nothing else
        wait_for(f"{site} refuses it", lambda site=site: federation.site_status(site)["refused_messages"] > 0, 60)
        require(federation.site_status(site)["trouble"] is None, f"{federation.site_status(site)}")
    client = federation.client("coordinator")
    client.publish(federation.topic("down/chain"), federation.signed(other, "coordinator", "down/chain"), retain=True)
    for site in federation.sites:
        wait_for(f"{site} sees the fork",
                 lambda site=site: "two entries of one number" in (federation.site_status(site)["trouble"] or ""), 60)
    # A site shows it to the coordinator; it has no other by now.
    federation.kill("site-1")
    shown = federation.message("up/site-1/chain", federation.signed(other, "coordinator", "down/chain"), kind=2 ** 32 - 1,
                              epoch=0, term=newest.term)
    client = federation.client("site-1")
    client.publish(federation.topic("up/site-1/chain"), shown, retain=True)
    process = federation.processes["coordinator"]
    wait_for("the coordinator stops", lambda: process.poll() is not None, 60)
    require(process.returncode == STATE_LOST and "is not of its log" in federation.log("coordinator"), "it goes on")
    federation.start_with("coordinator", "--recover")
    process = federation.processes["coordinator"]
    wait_for("nothing is built of a fork", lambda: process.poll() is not None, 60)
    require(process.returncode == STATE_LOST and "nothing was written" in federation.log("coordinator"), "it goes on")


# ---- Graphs and hybrids ----

def begin_graph(federation_of, network, sites):
    federation = federation_of(MEANS, sites=sites, rounds=4, gap=0.25, horizon=4000000)
    federation.play_over(network)
    federation.play_rounds(1)
    return federation


def all_decide(federation, adds_up=False):
    federation.allow(10 ** 9)
    federation.wait_for_sites("decides", federation.has_decided, 120)
    for site in federation.sites:
        require(federation.site_status(site)["active_arms"] == ["arm 0"], f"{federation.site_status(site)}")
    federation.end_applications()
    for site in federation.sites:
        federation.stop(site)
        check_releases(federation, site, adds_up)


@test
def coordinator_of_a_ring_comes_back_in_the_same_term(federation_of):
    federation = begin_graph(federation_of, {"kind": "ring"}, 4)
    federation.lose("coordinator")
    expect_stop(federation)
    recover(federation)
    all_decide(federation)
    require(len(entries(federation)) == 1, "another entry")  # it keeps nothing but its run


@test
def coordinator_of_a_hybrid_is_built_again(federation_of):
    stars = {"kind": "hybrid", "components": [{"agents": 3, "kind": "star-graph"}, {"agents": 3, "kind": "star-graph"}]}
    federation = begin_graph(federation_of, stars, 6)
    federation.lose("coordinator")
    expect_stop(federation)
    recover(federation)
    all_decide(federation, adds_up=True)
    require(check_chain(federation) == 1, "not one rebuild")


# ---- Words ----

@test
def wrong_words_are_refused(federation_of):
    federation = begin(federation_of)
    federation.lose("coordinator")
    code, said = federation.run_to_end("coordinator", "--recover", "--new-term")
    require(code == 2 and "allowed is one of" in said, f"{code} {said}")
    code, said = federation.run_to_end("coordinator", "--sites", "2")
    require(code == 2 and "--recover" in said, f"{code} {said}")
    code, said = federation.run_to_end("coordinator", "--recover", "--run", "1")
    require(code == 2 and "--run" in said, f"{code} {said}")


# ---- Again and again, in every hasty way ----

def lose_hastily(federation, rng, backup):
    """Under traffic, at any moment."""
    way = rng.choice(["emptied", "old copy", "killed while it recovers", "sites first", "two at once"])
    federation.lose("coordinator")
    if way == "old copy":
        shutil.copytree(backup, federation.folder / "state-coordinator")
    if way == "sites first":
        federation.kill("broker")
        federation.wipe_broker()
        federation.start("broker")
    if way == "killed while it recovers":
        for _ in range(2):
            federation.start_with("coordinator", "--recover")
            time.sleep(rng.uniform(0.02, 0.4))
            federation.kill("coordinator")
    if way == "two at once":  # one of them has begun a new run in silence, for a moment
        federation.start("coordinator")
        time.sleep(rng.uniform(0.02, 0.8))
        if federation.processes["coordinator"].poll() is None:
            federation.kill("coordinator")
    recover(federation)
    return way


def come_back_again_and_again(begin, allow, end=end_run):
    """Coordinators of runs that begin so are lost ten times each, until enough were rebuilt; allow(federation, number, count) lets the
    applications go on before the one of this number is lost."""
    rng = seeded()
    wanted, rebuilt = (100, 0) if IS_LONG else (4, 0)
    while rebuilt < wanted:
        federation, count, ways = begin(), min(10, wanted), []
        backup = federation.folder / "backup"
        shutil.copytree(federation.folder / "state-coordinator", backup)
        for number in range(1, count + 1):
            allow(federation, number, count)
            time.sleep(rng.uniform(0.05, 0.5))
            ways.append(lose_hastily(federation, rng, backup))
        end(federation)
        found = check_chain(federation)
        require(found >= count, f"{found} of {count} lost coordinators came back in a term of their own: {ways}")
        rebuilt += found
    print(f"{rebuilt} rebuilt coordinators, closed rounds bit-equal")


@test
def coordinators_that_are_lost_in_every_hasty_way_come_back(federation_of):
    come_back_again_and_again(lambda: begin(federation_of, rounds=12), lambda federation, number, _:
                              federation.allow(int(federation.all_to(1) * (1 + 0.5 * number))))


if __name__ == "__main__":
    main()
