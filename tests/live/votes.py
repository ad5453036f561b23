#!/usr/bin/env python3
"""Elimination by votes: a run that ends with one arm for everybody, whoever was idle, late or away; kills, crashes,
copies and clones that ask at once: one commitment a draw is granted, nothing is drawn anew, no vote is taken back.
Published sums: the same, and each release is what the ledger has. See support.py."""
import collections
import functools
import math
import pathlib
import random
import sys
import time

import support
from support import IS_LONG, main, require, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))  # the examples have files of these names, too
import copying  # noqa: E402
import restore  # noqa: E402
import terms  # noqa: E402
import wire  # noqa: E402

MEANS = [0.125, 0.875, 0.8, 0.5]
LONG_MEANS = [0.125, 0.875, 0.84, 0.5]  # more epochs
BEST = 1
HELLO, COMMIT, CAST, GRANTED, REFUSED, ROW, ANEW, RELEASE = range(16, 24)


# ---- Messages (src/wire/vote.proto) ----

def kind_of(body):
    return next((number for number in wire.fields(body) if 16 <= number < 32), None)


def part(body, number):
    """A field of what a message of this kind holds."""
    return wire.fields(wire.fields(body)[kind_of(body)])[number]


def cell_of(body):
    return wire.fields(body)[4]


def marks_of(body):
    return int.from_bytes(part(body, {CAST: 2, ROW: 3}[kind_of(body)]), "little")


# ---- A federation ----

class Votes(support.Federation):
    """Any three sites that agree are enough; rewards are their arm's mean."""
    protocol = "votes"
    ledger_has = COMMIT

    def __init__(self, means=MEANS, sites=5, votes=3, horizon=1000000, epsilon=1000.0, runs=None, **run):
        self.run_keys = {"accuracy": 0.02, "delta": 0.05, "tick_ms": 50, **self.threshold(votes), **run}
        super().__init__(means, sites=sites, horizon=horizon, epsilon=epsilon, runs=runs)

    @staticmethod
    def threshold(votes):
        return {"votes": votes}

    def run_section(self, **values):
        return {"id": 1, "horizon": self.horizon, "epsilon": self.epsilon, **self.run_keys, **values}

    def message(self, rest, body, **options):
        return super().message(rest, body, **{"family": 3, **options})

    def said(self, rest, kind):
        """What passed the broker on these topics, in order, without repetitions by retained state."""
        return [body for topic, body in list(self.tap.seen)
                if topic == self.topic(rest) and kind_of(body) == kind]

    def commits(self, site):
        """{cell: set of commitments that were asked for}"""
        found = collections.defaultdict(set)
        for body in self.said(f"up/{site}/votes", COMMIT):
            found[cell_of(body)].add(part(body, 1))
        return found

    def grants(self, site):
        """{cell: set of commitments that were granted}; an answer to HELLO names the last of them."""
        found = collections.defaultdict(set)
        for body in self.said(f"to/{site}/votes", GRANTED):
            found[cell_of(body)].add(part(body, 1))
        return found

    def two_states(self):
        return {site["name"] for site in wait_for("status", self.status)["sites"] if site["two_states"]}

    def have_all_decided(self, sites=None):
        return all(self.phase(site) == "decided" for site in sites or self.sites)


class Sums(Votes):
    """Three sites publish noised sums."""
    ledger_has = RELEASE

    def __init__(self, **options):
        super().__init__(sites=3, epsilon=8.0, **options)

    @staticmethod
    def threshold(votes):
        return {"sharing": "sums"}

    def policy(self, **values):
        return super().policy(**{"rounds_max": 1000, **values})

    def releases(self, site):
        """{cell: set of releases that left}"""
        found = collections.defaultdict(set)
        for body in self.said(f"up/{site}/votes", RELEASE):
            found[cell_of(body)].add(body)
        return found


def test(function, kind=Votes):
    """A test over federations of this kind."""
    @functools.wraps(function)
    def over_votes(federation_of):
        function(functools.partial(federation_of, kind=kind))
    return support.test(over_votes)


def test_sums(function):
    return test(function, Sums)


def check_rows(federation):
    """Of fixed length; a word about a player only grows."""
    for site in federation.sites:
        rows = federation.said(f"down/{site}/votes", ROW)
        require(len({len(row) for row in rows}) <= 1, f"{site}: rows of different lengths")
        for before, after in zip(rows, rows[1:]):
            require(marks_of(before) & ~marks_of(after) == 0 or part(before, 2) < part(after, 2), f"{site}: a vote was taken back")
            require(not marks_of(after) >> BEST & 1, f"{site} votes against the best arm")


def check_draws(federation, site, is_copied=False):
    """One commitment a cell is granted, which is one of the ledger's rows; what is granted was asked for."""
    commits, grants = federation.commits(site), federation.grants(site)
    for cell, granted in grants.items():
        require(len(granted) == 1, f"{site}: {len(granted)} draws of cell {cell} were granted")
        require(granted <= commits[cell], f"{site}: cell {cell} was granted and never asked for")
    outbox = federation.outbox(site)
    for cell, (body, epsilon, _) in outbox.items():
        require(kind_of(body) == federation.ledger_has and cell_of(body) == cell, f"{site}: row {cell} is another's")
        require(epsilon == round(federation.epsilon * 1e9), f"{site}: row {cell} costs {epsilon}")
        if federation.ledger_has == RELEASE:
            require(federation.releases(site)[cell] <= {body} or is_copied, f"{site}: {cell} left as another")
            continue
        # The newest may be drawn, and not yet said, when a site is stopped.
        said = commits[cell] or {part(body, 1)} if cell == max(outbox) else commits[cell]
        require(said == {part(body, 1)} or is_copied, f"{site}: cell {cell} was drawn {len(commits[cell])} times")


def check_end(federation):
    """All of one mind; every acknowledged reward is counted; one draw a cell, in ledger, outbox and on the wire."""
    status = wait_for("the run ends", federation.is_finished, 60)
    wait_for("all sites know", federation.have_all_decided, 60)
    require(status["winner"] == f"arm {BEST}", f"the winner is {status['winner']}")
    require(status["active_arms"] == 1, f"{status}")
    federation.end_applications()
    for application in federation.applications:
        site = application.site
        one = federation.site_status(site)
        require(one["winner"] == f"arm {BEST}" and one["active_arms"] == [f"arm {BEST}"], f"{site}: {one}")
        require(one["pulls"] == sum(application.counts.values()), f"{site}: {one['pulls']}, {application.counts}")
        require(federation.get(site, "/v1/ledger")["spent"] in (0, federation.epsilon), f"{site} spent too much")
    check_rows(federation)
    for site in federation.sites:
        federation.stop(site)
        check_draws(federation, site)
    federation.stop("coordinator")
    return status


# ---- Runs ----

@test
def run_ends_with_one_arm_for_idle_and_late_players_too(federation_of):
    """Three sites are busy, one is idle, one comes when all is over and the broker has forgotten everything."""
    federation = federation_of()
    busy, idle, late = federation.sites[:3], federation.sites[3], federation.sites[4]
    federation.start_all(["coordinator", *busy, idle])
    federation.apply(busy)
    wait_for("the run ends", federation.is_finished, 60)
    wait_for("all that are there know", lambda: federation.have_all_decided([*busy, idle]), 20)
    status = federation.site_status(idle)
    require(status["pulls"] == 0 and status["sent_bytes"] > 0, f"{status}")
    require(not federation.get(idle, "/v1/ledger")["releases"], "the idle site has drawn")
    federation.kill("broker")
    federation.wipe_broker()
    federation.start("broker")
    federation.start(late)
    wait_for("who comes late knows", lambda: federation.phase(late) == "decided", 40)
    require(federation.site_status(late)["winner"] == f"arm {BEST}", "another winner")
    federation.apply([late], allowance=0)
    sites = {site["name"]: site for site in federation.status()["sites"]}
    require(all(sites[site]["reported"] for site in busy) and not sites[idle]["reported"], f"{sites}")
    require(all(arm["votes"] >= 3 or arm["in"] for arm in federation.status()["arms"]), "out without votes")
    page = federation.text("coordinator", "/")
    require("votes against it" in page and "wins" in page, page)
    support.check_answers(federation)
    check_end(federation)


@test
def player_that_has_decided_for_itself_waits_for_the_others(federation_of):
    federation = federation_of()
    alone = federation.sites[0]
    federation.start_all()
    federation.apply([alone])
    wait_for("it has told its arm from the others",
             lambda: (federation.site_status(alone) or {}).get("active_arms") == [f"arm {BEST}"], 60)
    time.sleep(0.5)
    status = federation.site_status(alone)
    require(status["phase"] == "waiting" and status["waits_for"]["for"] == "the other sites", f"{status}")
    require(not federation.is_finished() and federation.phase(federation.sites[1]) == "exploring", "it is over")
    federation.apply(federation.sites[1:])
    check_end(federation)


def kill_and_end(federation, pulls):
    federation.start_all()
    federation.apply(allowance=1, batch=20)
    support.kill_anybody(federation, 60 if IS_LONG else 12, pulls)
    return check_end(federation)


@test
def kill_9_of_anybody_takes_no_vote_back_and_draws_nothing_anew(federation_of):
    kill_and_end(federation_of(), pulls=20000)


def crash_everywhere(federation, points):
    """Each dies at one of the points, site i at its i-th passage; each comes back, and goes on."""
    names = ["coordinator", *federation.sites]
    support.crash_everywhere(federation, {name: points[number % len(points)] for number, name in enumerate(names, 1)},
                             {name: number for number, name in enumerate(names, 1)}, lambda name, count: 5 * count, least=3)
    check_end(federation)


@test
def crash_at_any_step_draws_nothing_anew(federation_of):
    points = ["before-commit", "after-commit", "before-send", "release"]
    crash_everywhere(federation_of(), points)
    for point in points if IS_LONG else ():
        crash_everywhere(federation_of(), [point])


# ---- A coordinator that has forgotten ----

def votes_of(federation):
    """{arm: sites that have voted it out}"""
    return {arm["name"]: arm["votes"] for arm in (federation.status() or {"arms": []})["arms"]}


def begin_with_two_votes(federation_of):
    """Two of the three that are needed have voted, and say no more."""
    federation = federation_of()
    busy = federation.sites[:2]
    federation.start_all()
    federation.apply(busy)
    for site in busy:
        wait_for(f"{site} has told its arm from the others",
                 lambda site=site: (federation.site_status(site) or {}).get("active_arms") == [f"arm {BEST}"], 60)
    wait_for("all votes are there", lambda: sum(votes_of(federation).values()) == 2 * (len(federation.means) - 1), 60)
    return federation


@test
def coordinator_that_lost_all_has_all_votes_again(federation_of):
    federation = begin_with_two_votes(federation_of)
    before = votes_of(federation)
    federation.lose("coordinator")
    restore.expect_stop(federation)
    restore.recover(federation)
    wait_for("all votes are there again", lambda: votes_of(federation) == before, 60)
    require(restore.check_chain(federation) == 1, "not one rebuild")
    federation.stop("coordinator")
    federation.start("coordinator")  # as always, from now on
    federation.apply(federation.sites[2:])
    check_end(federation)


@test
def old_state_of_the_coordinator_goes_on_in_a_new_term(federation_of):
    federation = federation_of()
    federation.start_all()
    federation.apply(allowance=1, batch=20)
    federation.back_up("coordinator")
    federation.allow(1000)
    wait_for("a draw is granted", lambda: any(federation.grants(site) for site in federation.sites), 60)
    federation.stop("coordinator")
    federation.put_back("coordinator")
    terms.begin_term(federation)
    federation.start("coordinator")
    federation.allow(math.inf)
    status = check_end(federation)
    require(not any(site["two_states"] for site in status["sites"]), f"{status}")


@test
def no_word_changes_votes_and_each_hears_why(federation_of):
    federation = federation_of()
    federation.start_all(["coordinator"])
    wait_for("it has started", federation.status)
    for words, why in ((["drop", "site-0"], "wait for nobody"), (["quorum", "1"], "no quorum"), (["deadline", "5"], "no deadline"),
                       (["end"], "no arm is the answer"), (["horizon", "9"], "a longer one"), (["retire", "arm 0"], "by votes alone")):
        said = terms.control(federation, "coordinator", *words, code=1)
        require(why in said, f"{words}: {said}")


# ---- Copies ----

class Copied(copying.Trial):
    """It votes on alone: a round is a cell, which ends with its grant."""
    DRAWS = ("up", "down")
    ON = copying.LEFT + 1  # who is granted must not play to the end

    def made(self, federation_of):
        federation = federation_of(means=LONG_MEANS if IS_LONG else MEANS)
        federation.write_agent(copying.SITE, federation.policy(), name=copying.COPY)
        return federation

    def status(self):
        return wait_for("status", lambda: self.federation.site_status(copying.SITE))

    def epoch(self):
        return self.is_in(copying.SITE, 0)["release_epoch"] + 1

    def is_in(self, site, epoch):
        return wait_for("it has a plan", lambda: (now := self.federation.site_status(site)) and now["phase"] == "exploring" and
                        now["unserved"] > copying.LEFT and now)

    def release(self, epoch):
        self.federation.start(copying.SITE)
        wait_for("it is back", lambda: self.federation.phase(copying.SITE) == "exploring")
        self.application.allowance = self.application.counts["planned"] + self.ON
        wait_for(f"cell {epoch} is granted", lambda: epoch in self.federation.grants(copying.SITE))
        wait_for("it goes on", lambda: self.status()["phase"] != "waiting")
        self.application.allowance = 0

    def end_round(self, epoch):
        self.is_in(copying.SITE, epoch)

    def commits(self):
        return self.federation.commits(copying.SITE)

    def left(self):
        return self.federation.grants(copying.SITE)

    def in_ledger(self, payload):
        return part(payload, 1)

    def check(self):
        """And no vote of a draw that was not granted."""
        granted = set().union(*self.federation.grants(copying.SITE).values())
        require(all(part(body, 3) in granted for body in self.federation.said(f"up/{copying.SITE}/votes", CAST)), "a vote without a grant")
        return super().check()

    def finish(self):
        """All play; nobody's vote was taken back, and one draw a cell was granted."""
        federation = self.federation
        federation.applications.clear()
        federation.apply(prefix="last ")
        wait_for("the run ends", federation.is_finished, 60)
        wait_for("all sites know", federation.have_all_decided, 60)
        federation.end_applications()
        check_rows(federation)
        for site in federation.sites:
            federation.stop(site)
            check_draws(federation, site, is_copied=site == copying.SITE)


def restore_hastily(federation_of, kind):
    trial = Copied(federation_of)
    copying.restore_often(trial, kind, 4 if IS_LONG else 2)
    trial.finish()


@test
def hasty_restore_with_the_hub_there_draws_nothing_that_counts(federation_of):
    restore_hastily(federation_of, "up")


@test
def hasty_restore_without_the_hub_draws_nothing_that_counts(federation_of):
    restore_hastily(federation_of, "down")


@test
def of_two_clones_at_once_one_is_granted(federation_of):
    trial = Copied(federation_of)
    copying.clone_often(trial, 4 if IS_LONG else 2)
    trial.finish()


# ---- Hostile ----

@test
def hostile_bytes_are_refused_and_nobody_dies(federation_of):
    federation = federation_of()
    federation.start_all()
    wait_for("all are there", lambda: all(map(federation.has_joined, federation.sites)), 20)
    site, rng = federation.sites[1], random.Random(5)
    federation.kill(site)  # somebody has its key
    liar = federation.client(site)
    garbage = [bytes(rng.randrange(256) for _ in range(rng.randrange(200))) for _ in range(30)]
    head = b"\x0d" + (1).to_bytes(4, "little") + b"\x15" + (1).to_bytes(4, "little") + b"\x19" + \
        (1).to_bytes(8, "little") + b"\x25" + (0).to_bytes(4, "little")
    cast = head + wire.field(18, b"\x09" + bytes(8) + wire.field(2, b"\x0d" + bytes(7)) + wire.field(3, bytes(32)))
    bad = [*garbage, cast, cast[:-1], cast + b"\0", cast.replace(b"\x15\x01", b"\x15\x02")]
    before = federation.status()["refused"]
    for body in bad:
        for payload in (body, federation.message(f"up/{site}/votes", body)):
            liar.publish(federation.topic(f"up/{site}/votes"), payload)
    wait_for("all are refused", lambda: federation.status()["refused"] == before + 2 * len(bad), 20)
    for rest in (f"down/{site}/votes", "down/votes", f"up/{federation.sites[0]}/votes"):
        require(liar.publish(federation.topic(rest), cast, retain=True) == wire.REFUSED_BY_ACL, f"{rest} is open")
    require(federation.status()["reports"] == 0, "a vote without a draw counts")
    federation.apply([one for one in federation.sites if one != site])
    wait_for("the run ends", federation.is_finished, 60)
    federation.end_applications()


# ---- Resets ----

@test
def resets_bring_all_arms_back_for_everybody(federation_of):
    """A coin a second, every other one of which resets: votes count for one reset, and nothing is decided for good."""
    federation = federation_of(votes=2, accuracy=0.05, reset_after_s=2)
    busy, idle = federation.sites[:2], federation.sites[2:]
    federation.start_all()
    federation.apply(busy)

    def resets():
        return [part(body, 1) for body in federation.said("down/votes", ANEW)]

    def votes():
        return {part(body, 2) for site in busy for body in federation.said(f"down/{site}/votes", ROW)}
    wait_for("votes of several resets", lambda: len(votes()) >= 3, 60)
    require(resets() == sorted(set(resets())), f"resets {resets()}")
    require(votes() <= {0, *resets()}, f"votes of {votes()}, resets {resets()}")
    require(federation.status()["phase"] != "finished", "it has ended")
    count = len(resets())
    wait_for("a reset", lambda: len(resets()) > count, 40)
    status = federation.status()
    require(status["epoch"] >= count + 2, f"{status}")
    late = idle[-1]
    federation.kill(late)
    federation.start(late)
    wait_for("it is back", lambda: federation.phase(late) == "exploring", 20)
    federation.end_applications()
    for site in federation.sites:
        federation.stop(site)
        check_draws(federation, site)


# ---- Published sums ----

def check_sums(federation):
    """What left was granted, once a cell, and the hub has it."""
    for site in federation.sites:
        releases, grants = federation.releases(site), federation.grants(site)
        require(all(len(bodies) == 1 for bodies in releases.values()), f"{site}: two releases of a cell")
        require(releases and releases.keys() <= grants.keys(), f"{site}: {sorted(releases)} left, {sorted(grants)} granted")
        heard = {cell_of(body) for body in federation.said(f"down/{site}/votes", ROW)}
        require(max(releases) in heard | {0}, f"{site}: {max(releases)} left, {sorted(heard)} heard")
    print("           " + ", ".join(f"{len(federation.releases(site))} releases of {site}" for site in federation.sites),
          flush=True)


@test_sums
def sums_of_all_end_the_run_whoever_is_killed(federation_of):
    federation = federation_of()
    status = kill_and_end(federation, pulls=3000)
    require(not any(site["two_states"] for site in status["sites"]), f"{status}")
    check_sums(federation)


@test_sums
def crash_at_any_step_releases_nothing_twice(federation_of):
    federation = federation_of()
    crash_everywhere(federation, ["before-commit", "after-commit", "before-send", "release"])
    check_sums(federation)


@test_sums
def coordinator_that_lost_all_has_its_pool_again(federation_of):
    federation = federation_of()
    federation.start_all()
    federation.apply(allowance=2000, batch=20)
    wait_for("arms are out", lambda: sum(arm["in"] for arm in (federation.status() or {"arms": []})["arms"]) in (1, 2, 3), 60)
    arms = {arm["name"]: arm["in"] for arm in federation.status()["arms"]}
    federation.lose("coordinator")
    federation.allow(math.inf)
    for site in federation.sites:
        wait_for("it says what it waits for",
                 lambda site=site: federation.site_status(site)["waits_for"]["for"] == "the grant of its release", 60)
    federation.allow(0)
    restore.expect_stop(federation)
    restore.recover(federation)
    wait_for("it is back", lambda: {arm["name"]: arm["in"] for arm in (federation.status() or {"arms": []})["arms"]} == arms, 60)
    federation.stop("coordinator")
    federation.start("coordinator")  # as always, from now on
    federation.allow(math.inf)
    check_end(federation)


if __name__ == "__main__":
    main()
