#!/usr/bin/env python3
"""Gossip UCB without a hub: five sites on a ring under traffic from the first moment, and whatever happens to them;
a neighbour that lies; copies of a site. A checker reads what the agents keep. See support.py."""
import contextlib
import http.client
import json
import math
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import threading
import time

import support
import wire
from support import (IS_LONG, STEPS, TRIES, Application, UnixConnection, call, main, require, seeded, test, wait_for)
from wire import field, fields, fixed32, fixed64

WORD, FAMILY = "gossip-ucb", 2
MEANS = [0.5, 0.875, 0.125]
EPSILON = 1e5  # so that a single reward that was lost or counted twice shows in the sums
COUNTS, ASK, OFFER, SHIFT, REFUSE, TOLD = 1, 2, 3, 4, 5, 6


def long_test(function):
    """Of make check-long alone: what it holds, shorter ones hold too."""
    return test(function) if IS_LONG else function


class Gossip(support.Federation):
    """On a ring, unless another network is given."""
    protocol = WORD
    may_be_late = True  # what was open when an agent died

    def __init__(self, means=MEANS, sites=5, horizon=120, network=None, epsilon=EPSILON, strangers=(), runs=None, **run):
        self.network, self.run_keys = network or {"kind": "ring"}, {"exchange_s": 0.1, **run}
        super().__init__(means, sites=sites, horizon=horizon, epsilon=epsilon, strangers=strangers, runs=runs)
        self.write_access()
        self.allow_access("tap", "read tacit/v1/#")

    def run_section(self, **values):
        return {"id": 1, "horizon": self.horizon, "epsilon": self.epsilon, **self.run_keys, **values}

    def policy(self, **values):
        return {"epsilon": self.epsilon, "budget": self.epsilon, "range": [0, 1], "agents_max": 12,
                "pulls_max": self.horizon + len(self.means), **values}

    def write_coordinator(self, *words, **more):
        super().write_coordinator(*words, **{"network": self.network, **more})


def gossips(federation_of, **options):
    return federation_of(kind=Gossip, **options)


def all_finished(federation):
    return all(federation.phase(site) == "finished" for site in federation.sites)


# ---- What the agents keep ----

def look_at(federation, name):
    """A copy of what an agent keeps: who reads a state leaves files beside it."""
    folder = federation.folder / "look"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(federation.folder / f"state-{name}", folder)
    return folder / "state.db"


def kept(federation, name):
    """Of an agent that was stopped: its state, and the rows of its outbox as (arm, pulls, sum in rewards, epsilon)."""
    file = look_at(federation, name)
    with contextlib.closing(sqlite3.connect(file)) as database:
        parts = database.execute("SELECT bytes FROM core_parts ORDER BY number").fetchall()
        rows = database.execute("SELECT number, bytes, epsilon_nano FROM releases ORDER BY number").fetchall()
    block = b"".join(part for part, in parts)
    size, = database_size(file)
    (federation.folder / "block").write_bytes(block[:size])
    done = subprocess.run([os.environ["TACIT_GOSSIP_STATE_PROGRAM"], str(federation.epsilon), "0", "1",
                           str(federation.folder / "block")], capture_output=True, text=True, check=False)
    require(done.returncode == 0, f"{name}: what it keeps is no state")
    require([number for number, _, _ in rows] == list(range(1, len(rows) + 1)), f"{name}: rows of the outbox are missing")
    return json.loads(done.stdout), [release_of(data) + (nano,) for _, data, nano in rows]


def database_size(file):
    with contextlib.closing(sqlite3.connect(file)) as database:
        return database.execute("SELECT size FROM core").fetchone()


def release_of(data):
    found = fields(data)
    return found[1], found[2], struct.unpack("<q", struct.pack("<Q", found[3]))[0] / STEPS


def check_site(federation, name):
    """Each value that was drawn is in the outbox once, and X~ is the newest of its arm; theta is X~ and what the edges
    moved; no reward is lost or counted twice."""
    state, rows = kept(federation, name)
    pulls, sums = [0] * len(MEANS), [0.0] * len(MEANS)
    for arm, number, value, _ in rows:
        pulls[arm] += 1
        sums[arm] = value
        require(number == pulls[arm], f"{name}: arm {arm}: row {number} where {pulls[arm]} was due")
    require(len(rows) == state["draws"], f"{name}: {len(rows)} rows, {state['draws']} draws")
    for arm, mean in enumerate(MEANS):
        require(abs(state["mean"][arm] - sums[arm] / max(1, pulls[arm])) < 1e-12, f"{name}: X~ is not that of the outbox")
        require(abs(sums[arm] - pulls[arm] * mean) < 0.06, f"{name}: arm {arm}: {pulls[arm]} rewards add up to {sums[arm]}")
        made = state["mean"][arm] + math.fsum(edge["flow"][arm] for edge in state["edges"].values())
        require(abs(state["theta"][arm] - made) < 1e-9, f"{name}: theta is not what it is made of")
    return state


def check_edges(states):
    """What an edge moved is one number at both ends, with opposite signs. Result: nothing is in flight."""
    is_quiet = True
    for site, state in enumerate(states):
        for other, edge in state["edges"].items():
            there = states[int(other)]["edges"][str(site)]
            if site < int(other):
                require(edge["exchange"] >= there["exchange"], f"edge {site}-{other}: the keeper is behind")
            if edge["exchange"] != there["exchange"]:
                is_quiet = False
                continue
            require(edge["flow"] == [-value for value in there["flow"]], f"edge {site}-{other}: {edge} against {there}")
    return is_quiet


def stop_all_sites(federation):
    for site in federation.sites:
        federation.stop(site)


def check_average(federation):
    """Until nothing is in flight: then the mean of theta is that of X~. Leaves the sites stopped."""
    for attempt in range(100):
        stop_all_sites(federation)
        states = [check_site(federation, site) for site in federation.sites]
        if check_edges(states) and all(state["exchanges"] > 0 for state in states):
            break
        for site in federation.sites:
            federation.start(site)
        federation.wait_for_sites("is back", federation.site_status)
        time.sleep(random.random() * (0.5 + attempt / 20))  # what is slow to answer on a busy machine gets time
    else:
        raise AssertionError("something is always in flight, or a site exchanges nothing")
    for arm in range(len(MEANS)):
        apart = math.fsum(state["theta"][arm] - state["mean"][arm] for state in states)
        require(abs(apart) < 1e-9, f"arm {arm}: the mean of theta is {apart} away from that of X~")
    return states


def check_run(federation):
    """To its end: everybody has played the horizon, puts the best arm first, and the average is kept."""
    wait_for("all sites finish", lambda: all_finished(federation), 240)
    federation.end_applications()
    for application in federation.applications:
        require(application.counts["planned"] == federation.horizon + len(MEANS), f"{application.counts}")
    for site in federation.sites:
        wait_for(f"{site} puts the best arm first",
                 lambda site=site: federation.site_status(site)["estimates"][0]["name"] == "arm 1", 20)
        ledger = federation.get(site, "/v1/ledger")
        require(EPSILON * 0.999 < ledger["spent"] <= EPSILON, f"{site}: spent {ledger['spent']}")
        require(len(ledger["releases"]) == federation.horizon + len(MEANS), f"{site}: {len(ledger['releases'])} releases")
    status = wait_for("the coordinator has heard of the end", federation.is_finished)
    require(status["winner"] == "arm 1" and status["arms"][1]["spread"] < 0.4, f"{status}")
    states = check_average(federation)
    return states


# ---- Words (src/wire/gossip.proto) ----

def doubles(values):
    return struct.pack(f"<{len(values)}d", *values)


def numbers(values):
    return struct.pack(f"<{len(values)}Q", *values)


def word(sender, kind, body, run=1, life_number=1, life=77, version=1):
    return (fixed32(1, version) + fixed32(2, sender) + fixed64(3, run) + fixed64(4, life_number) + fixed64(5, life) +
            bytes([(15 + kind) << 3 & 127 | 2 | 128, (15 + kind) >> 4]) + wire.varint(len(body)) + body)


def offer(sender, exchange, theta, seen=None, flow=None, **options):
    seen = b"" if seen is None else field(2, numbers(seen))
    return word(sender, OFFER, fixed64(1, exchange) + seen + field(3, doubles(theta)) +
                field(4, doubles(flow or [0.0] * len(theta))), **options)


def shift(sender, exchange, moved, **options):
    return word(sender, SHIFT, fixed64(1, exchange) + field(3, doubles(moved)) +
                field(4, doubles([-value for value in moved])), **options)


def say(federation, client, sender, receiver, kind, payload):
    where = f"peer/{sender}/{receiver}/{WORD}"
    message = federation.message(where, payload, family=FAMILY, kind=kind, epoch=0)
    require(client.publish(federation.topic(where), message) == 0, "the broker refused a neighbour's word")


def peer_words(federation, kind):
    """(sender, receiver, fields of the body) of what neighbours said to each other."""
    found = []
    for topic, payload in list(federation.tap.seen):
        parts = topic.split("/")
        body = fields(payload).get(15 + kind) if "/peer/" in topic else None
        if body is not None:
            found.append((parts[-3], parts[-2], fields(body)))
    return found


# ---- A ring ----

@test
def ring_keeps_the_average_whoever_is_killed_at_any_time(federation_of):
    """Ten kills a site in the long form, two in the short one, while all play."""
    federation = gossips(federation_of, horizon=5000 if IS_LONG else 250)
    chance = seeded()
    federation.start_all()
    federation.apply(batch=1)
    kills = [site for site in federation.sites for _ in range(10 if IS_LONG else 2)]
    chance.shuffle(kills)
    for site in kills:
        time.sleep(chance.random() * 0.8)
        federation.kill(site)
        federation.start(site)
    states = check_run(federation)
    lives = [state["life_number"] for state in states]  # some were killed before they were up
    require(sum(lives) > len(kills) // 2, f"{lives} lives")


@test
def crash_at_every_step_of_a_reward_keeps_the_average(federation_of):
    """Each site dies at a step of its own: before and after a draw is written, before and after a word leaves."""
    federation = gossips(federation_of, horizon=600 if IS_LONG else 150)
    points = ["release", "before-commit", "after-commit", "before-send", "after-send"]
    deaths = dict.fromkeys(federation.sites, 0)
    most = 10 if IS_LONG else 2
    federation.start_all(["coordinator"])

    def start(number, site):
        passages = 3 * number + 5 * deaths[site] + 4
        hook = {"TACIT_CRASH_AT": f"{points[number]}:{passages}"} if deaths[site] < most else {}
        federation.start(site, **hook)

    for number, site in enumerate(federation.sites):
        start(number, site)
    federation.apply(batch=1)
    end = time.monotonic() + 60  # words go on after the last pull, too
    while min(deaths.values()) < most:
        time.sleep(0.02)
        require(time.monotonic() < end, f"a step was not passed often enough: {deaths}")
        for number, site in enumerate(federation.sites):
            code = federation.processes[site].poll()
            if code is not None:
                require(code == -signal.SIGKILL, f"{site} ended with {code}: {federation.log(site)[-500:]}")
                deaths[site] += 1
                start(number, site)
    check_run(federation)


@test
def estimates_between_two_sites_are_made_of_the_outbox_alone(federation_of):
    """Over one edge an offer says theta and what the edge moved: their difference is X~, of an arm's newest row then."""
    federation = gossips(federation_of, sites=2, network={"kind": "path"}, horizon=200)
    federation.start_all()
    federation.apply(batch=1)
    wait_for("both finish", lambda: all_finished(federation), 60)
    federation.end_applications()
    # A quick machine has finished before three exchanges; sites go on with them.
    wait_for("three offers", lambda: len(peer_words(federation, OFFER)) > 2, 60)
    stop_all_sites(federation)
    _, rows = kept(federation, "site-1")
    values = [{0.0} | {value / pulls for which, pulls, value, _ in rows if which == arm} for arm in range(len(MEANS))]
    offers = peer_words(federation, OFFER)
    require(len(offers) > 2 and {sender for sender, _, _ in offers} == {"site-1"}, f"{len(offers)} offers")
    for _, _, body in offers:
        theta, flow = struct.unpack("<3d", body[3]), struct.unpack("<3d", body[4])
        for arm in range(len(MEANS)):
            mean = theta[arm] - flow[arm]
            require(min(abs(mean - value) for value in values[arm]) < 1e-9, f"X~ = {mean} of arm {arm} is in no row")


@long_test
def site_that_is_away_holds_nobody_up_and_comes_back(federation_of):
    federation = gossips(federation_of)
    names = [site for site in federation.sites if site != "site-3"]
    federation.start_all(["coordinator", *names])
    federation.apply(batch=1)
    federation.wait_for_sites("finishes without site-3", lambda site: federation.phase(site) == "finished", 60, sites=names)
    federation.start("site-3")
    check_run(federation)


@long_test
def broker_and_coordinator_may_be_away(federation_of):
    federation = gossips(federation_of)
    federation.start_all()
    federation.apply(batch=1)
    federation.wait_for_sites("plays", lambda site: (federation.site_status(site) or {"pulls": 0})["pulls"] > 30)
    federation.kill("coordinator")
    federation.kill("broker")
    federation.wipe_broker()
    time.sleep(0.5)
    federation.start("broker")
    federation.start("coordinator")
    check_run(federation)


# ---- Byte for byte ----

class Cores:
    """The simulator's agents, fed what the daemons are fed."""

    def __init__(self, federation, tapes, exchange_s):
        words = [len(MEANS), federation.horizon, federation.epsilon, exchange_s, *tapes]
        self.process = subprocess.Popen([os.environ["TACIT_GOSSIP_CORES_PROGRAM"], *map(str, words)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.plans = [self.read()[2:] for _ in range(2)]
        self.releases = [[], []]

    def read(self):
        return self.process.stdout.readline().split()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def reward(self, site, arm, value):
        self.tell(f"reward {site} {arm} {value!r}")
        self.releases[site].append(bytes.fromhex(self.read()[2]))
        plan = self.read()[2:]
        self.plans[site] = plan or [one for one in self.plans[site] if one != str(arm)]

    def exchange(self):
        self.tell("exchange")
        return {word: bytes.fromhex(data) for word, data in (self.read() for _ in range(3))}

    def end(self):
        self.tell("end")
        theta = [list(map(float, self.read()[2:])) for _ in range(2)]
        self.process.stdin.close()
        self.process.stdout.close()
        require(self.process.wait(60) == 0, "the cores end in trouble")
        return theta


def decide(federation, site, cores, value_of):
    """One decision and its reward, at a daemon and at its core."""
    connection = UnixConnection(federation.socket_of(federation.sites[site]))
    _, decision = call(connection, "POST", "/v1/decisions", {})
    require(decision["kind"] == "planned" and str(decision["arm"]) in cores.plans[site],
            f"site-{site} was to play {cores.plans[site]}: {decision}")
    value = value_of(decision["arm"])
    _, answer = call(connection, "POST", "/v1/rewards", {"id": decision["id"], "reward": value})
    require(answer["status"] == "accepted", f"{answer}")
    connection.close()
    cores.reward(site, decision["arm"], value)


@test
def hooked_sites_say_the_bytes_of_the_simulator_s_agents(federation_of):
    """Two daemons and two bare cores on the same tapes, with the same rewards, meeting at the same times: same arms, same
    noised sums, same offers and shifts, same estimates to the last bit. Who meets when is said by a word in the keeper's
    name, for the clocks of this run would wait a day."""
    federation = gossips(federation_of, sites=2, network={"kind": "path"}, horizon=60, epsilon=1.0, strangers=("asker",),
                         exchange_s=86400, pulls_per_second=1000000)
    federation.allow_access("asker", f"write {federation.topic('peer/site-0/site-1/' + WORD)}")
    chance = random.Random(3)
    tapes = []
    federation.start_all(["coordinator"])
    for site in federation.sites:
        tapes.append(federation.folder / f"{site}.tape.noise")
        tapes[-1].write_bytes(chance.randbytes(1 << 20))
        federation.start(site, TACIT_TEST_TAPE=str(tapes[-1].with_suffix("")))
        wait_for(f"{site} joins", lambda site=site: federation.has_joined(site))
    cores = Cores(federation, tapes, 86400)
    left = [federation.horizon + len(MEANS)] * 2
    said = []
    asker = federation.client("asker")
    while any(left):
        for site in range(2):
            for _ in range(min(left[site], chance.randrange(1, 9))):
                decide(federation, site, cores, lambda arm: float(chance.random() < MEANS[arm]))
                left[site] -= 1
        if min(federation.site_status(site)["pulls"] for site in federation.sites) <= len(MEANS):
            continue  # first pulls: it does not exchange yet
        words = cores.exchange()
        where = f"peer/site-0/site-1/{WORD}"
        message = federation.message(where, words["ask"], family=FAMILY, kind=ASK, epoch=0)
        require(asker.publish(federation.topic(where), message) == 0, "the broker refuses to ask")
        said += [words["offer"], words["shift"]]
        wait_for("the exchange", lambda: len(offers_and_shifts(federation)) == len(said), 10)
        wait_for("both ends agree", lambda: agree(federation))
    require(offers_and_shifts(federation) == said, "other offers or shifts")
    require(len(said) >= 12, f"hardly a run: {len(said)} words")
    theta = cores.end()
    time.sleep(0.3)
    for index, site in enumerate(federation.sites):
        federation.stop(site)
        outbox = [data for _, (data, _, _) in sorted(federation.outbox(site).items())]
        require(outbox == cores.releases[index], f"{site}: other noised sums")
        state, _ = kept(federation, site)
        require(state["theta"] == theta[index], f"{site}: {state['theta']} against {theta[index]}")


def agree(federation):
    here, there = [{one["name"]: one["estimate"] for one in federation.site_status(site)["estimates"]}
                   for site in federation.sites]
    return all(abs(here[arm] - there[arm]) < 1e-9 for arm in here)


def offers_and_shifts(federation):
    return [payload for topic, payload in list(federation.tap.seen)
            if "/peer/" in topic and (15 + OFFER in fields(payload) or 15 + SHIFT in fields(payload))]


# ---- Neighbours that are no friends ----

@test
def hostile_neighbour_is_refused_in_words_and_changes_nothing(federation_of):
    federation = gossips(federation_of)
    federation.start_all(["coordinator", "site-0"])
    federation.apply(["site-0"], batch=1, allowance=40)
    wait_for("it has estimates", lambda: (federation.site_status("site-0") or {"pulls": 0})["pulls"] > 40)
    time.sleep(0.3)
    before = federation.site_status("site-0")
    fair, nan = [0.5, 0.8, 0.1], [0.5, float("nan"), 0.1]
    rubbish = random.Random(5).randbytes
    cases = [(OFFER, one) for one in (
        rubbish(60000), rubbish(60), b"\0", offer(1, 0, fair)[:-1], offer(1, 0, fair) + b"\0", offer(1, 0, fair[:2]),
        offer(1, 0, fair + fair), offer(1, 0, nan), offer(1, 0, [1e200, 0, 0]), offer(1, 0, fair, flow=nan),
        offer(1, 0, fair, seen=[1, 2]), offer(1, 0, fair, seen=[1, 2, 1 << 50]), offer(1, 0, fair, version=2),
        offer(1, 0, fair, life_number=0), offer(1, 0, fair, run=2),  # another run, a life without a number
        offer(2, 0, fair), offer(0, 0, fair), offer(4, 0, fair), offer(7, 0, fair), offer(wire.HUB, 0, fair),  # names
        word(1, SHIFT, b""), word(1, REFUSE, b""))]  # another kind than the envelope's
    cases += [(ASK, word(1, ASK, b"")), (SHIFT, shift(1, 1, fair)),  # what only the keeper of an edge says
              (COUNTS, word(1, COUNTS, b"")), (TOLD, word(1, OFFER, b"")), (9, offer(1, 0, fair))]
    neighbour = federation.client("site-1")
    where = f"peer/site-1/site-0/{WORD}"
    federation.expect_refusals("site-0", neighbour, [(where, federation.message(where, payload, family=FAMILY, kind=kind, epoch=0))
                                                     for kind, payload in cases])
    neighbour.close()
    after = federation.site_status("site-0")
    require(federation.log("site-0").count(" refused: ") == after["refused_messages"], "not every refusal is in the log")
    for name in ("phase", "estimates", "pulls", "estimate_spread", "release_epoch", "trouble"):
        require(before[name] == after[name], f"{name} was {before[name]}, is {after[name]}")
    federation.end_applications()


class Counting(list):
    """Means that know how often each was asked for: once a decision."""

    def __init__(self, values):
        super().__init__(values)
        self.counts = [0] * len(values)

    def __getitem__(self, index):
        self.counts[index] += 1
        return super().__getitem__(index)


@test
def lie_about_pulls_forces_no_arm_for_ever(federation_of):
    """n~ is cut to what anybody can have pulled by now, so the liar's arm is caught up with, and others are played."""
    federation = gossips(federation_of, horizon=20000, pulls_per_second=10)
    began = time.monotonic()
    federation.start_all(["coordinator", "site-0"])
    federation.apply(["site-0"], batch=1, allowance=20)
    wait_for("it has estimates", lambda: (federation.site_status("site-0") or {"pulls": 0})["pulls"] > 20)
    time.sleep(3)  # in which nobody can have pulled an arm more than some thirty times
    liar = federation.client("site-1")
    say(federation, liar, "site-1", "site-0", OFFER, offer(1, 0, [0.1, 0.2, 0.3], seen=[1, 1, 20001]))
    wait_for("the exchange", lambda: peer_words(federation, SHIFT))
    possible = 10 * (time.monotonic() - began) + 2
    played = Counting(MEANS)
    federation.means = played
    federation.allow(math.inf)
    wait_for("it plays the others, too", lambda: min(played.counts[:2]) > 20, 60)
    federation.end_applications()
    federation.stop("site-0")
    state, _ = kept(federation, "site-0")
    require(state["forced"] > 0, "nothing was forced: the lie was not heard")
    require(state["seen"][2] <= max(possible, state["counts"][2]), f"n~ of the liar's arm is {state['seen'][2]}")


# ---- Copies ----

def client_of_neighbour_hears(federation, site, kind):
    return [one for one in peer_words(federation, kind) if one[0] == site or one[1] == site]


def start_playing(federation, name):
    federation.start(name)
    hasty = Application(federation, name, batch=1)
    hasty.start()
    return hasty


def wait_for_halt(federation, name):
    wait_for(f"{name} halts", lambda: federation.phase(name) == "halted", 30)
    require("another incarnation of this site" in federation.site_status(name)["trouble"], "it does not say why")
    federation.wait_for_log(name, " halted: ")
    connection = UnixConnection(federation.socket_of(name))
    code, _ = call(connection, "GET", "/health")
    connection.close()
    require(code == 503, f"/health says {code}")


@test
def old_copy_and_lost_state_halt_and_the_rest_goes_on(federation_of):
    federation = gossips(federation_of, horizon=600 if IS_LONG else 300)
    federation.start_all()
    federation.apply([site for site in federation.sites if site != "site-2"], batch=1)
    hasty = Application(federation, "site-2", batch=1)
    hasty.start()
    wait_for("site-2 exchanges", lambda: len(client_of_neighbour_hears(federation, "site-2", SHIFT)) > 3)
    federation.kill("site-2")
    shutil.copytree(federation.folder / "state-site-2", federation.folder / "state-old")
    for _ in range(2):  # it lives on, twice
        seen = len(client_of_neighbour_hears(federation, "site-2", SHIFT))
        federation.start("site-2")
        wait_for("site-2 exchanges again", lambda: len(client_of_neighbour_hears(federation, "site-2", SHIFT)) > seen + 2)
        federation.kill("site-2")
    hasty.aborted = True
    for name in ("old", "lost"):  # a backup is put back; the disk is gone
        federation.write_agent("site-2", federation.policy(), name=name)
        one = start_playing(federation, name)
        wait_for_halt(federation, name)
        one.aborted = True
        draws = len(federation.get(name, "/v1/ledger")["releases"])
        time.sleep(0.5)
        require(len(federation.get(name, "/v1/ledger")["releases"]) == draws, f"{name} goes on drawing")
        federation.kill(name)
        federation.start(name)  # and stays halted
        wait_for(f"{name} is still halted", lambda name=name: federation.phase(name) == "halted")
        federation.kill(name)
    federation.apply(["site-2"], batch=1)
    federation.applications[-1].counts["planned"] = hasty.counts["planned"]
    federation.applications[-1].asked = hasty.asked + 1000
    federation.start("site-2")
    wait_for("all sites finish", lambda: all_finished(federation), 120)
    federation.end_applications()
    check_average(federation)


@test
def two_clones_that_play_at_once_do_not_both_go_on(federation_of):
    """Whichever a neighbour hears first stays with that neighbour; one that any neighbour refuses halts."""
    federation = gossips(federation_of, horizon=100000)
    federation.start_all()
    federation.apply([site for site in federation.sites if site != "site-2"], batch=1)
    hasty = Application(federation, "site-2", batch=1)
    hasty.start()
    wait_for("site-2 exchanges", lambda: len(client_of_neighbour_hears(federation, "site-2", SHIFT)) > 3)
    federation.kill("site-2")
    hasty.aborted = True
    shutil.copytree(federation.folder / "state-site-2", federation.folder / "state-clone")
    federation.write_agent("site-2", federation.policy(), name="clone")
    both = [start_playing(federation, name) for name in ("clone", "site-2")]
    wait_for("one of them halts", lambda: "halted" in [federation.phase(name) for name in ("clone", "site-2")], 60)
    for one in both:
        one.aborted = True
    name = next(name for name in ("clone", "site-2") if federation.phase(name) == "halted")
    wait_for_halt(federation, name)
    federation.end_applications()


# ---- Copies of what runs ----

MARK = 0.3  # the reward of the decision that is open in a copy: no arm's own


def draws_of_mark(federation, name):
    """In what an agent keeps: rows whose noised sum grew by the marked reward."""
    with contextlib.closing(sqlite3.connect(look_at(federation, name))) as database:
        rows = [release_of(data) for data, in database.execute("SELECT bytes FROM releases ORDER BY number")]
    sums = [0.0] * len(MEANS)
    found = 0
    for arm, _, value in rows:
        found += abs(value - sums[arm] - MARK) < 0.03
        sums[arm] = value
    return found


def ask(federation, name, path, body):
    """Until it answers; it may still be starting."""
    def answer():
        try:
            connection = UnixConnection(federation.socket_of(name))
            code, said = call(connection, "POST", path, body)
            connection.close()
            return said if code == 200 else None
        except (OSError, http.client.HTTPException, ValueError):
            return None
    return wait_for(f"{name} answers {path}", answer, 10)


def mark(federation, name, decision):
    return ask(federation, name, "/v1/rewards", {"id": decision["id"], "reward": MARK})["status"]


def open_planned(federation, name):
    """A decision that waits for its reward; others get theirs."""
    for _ in range(200):
        decision = ask(federation, name, "/v1/decisions", {})
        if decision["kind"] == "planned":
            return decision
        ask(federation, name, "/v1/rewards", {"id": decision["id"], "reward": MEANS[decision["arm"]]})
    raise AssertionError("nothing is planned")


def play(federation, name, count):
    for _ in range(count):
        decision = open_planned(federation, name)
        ask(federation, name, "/v1/rewards", {"id": decision["id"], "reward": MEANS[decision["arm"]]})


def copy_running(federation, name, copy):
    """As `cp -a` does it, while the agent writes."""
    shutil.rmtree(federation.folder / f"state-{copy}", ignore_errors=True)
    shutil.copytree(federation.folder / f"state-{name}", federation.folder / f"state-{copy}")


def offers_of(federation, site):
    return len(client_of_neighbour_hears(federation, site, SHIFT))


def site_with_open_decision(federation_of):
    federation = gossips(federation_of, sites=3, horizon=100000)
    federation.start_all()
    federation.apply(federation.sites[:2], batch=1)
    wait_for("site-2 joins", lambda: federation.has_joined("site-2"))
    play(federation, "site-2", 20)
    return federation


@test
def copy_of_a_running_site_never_draws_again_for_what_was_open(federation_of):
    """The original gets the reward, draws and sends; then the copy takes its place and gets the same reward at once."""
    federation = site_with_open_decision(federation_of)
    late = 0
    for _ in range(max(3, TRIES)):
        decision = open_planned(federation, "site-2")
        copy_running(federation, "site-2", "copy")
        require(mark(federation, "site-2", decision) == "accepted", "the original does not take its reward")
        seen = offers_of(federation, "site-2")
        play(federation, "site-2", 5)
        wait_for("what was drawn is sent", lambda seen=seen: offers_of(federation, "site-2") > seen + 1)
        federation.kill("site-2")
        require(draws_of_mark(federation, "site-2") == 1, "the original did not draw")
        shutil.rmtree(federation.folder / "state-site-2")
        (federation.folder / "state-copy").rename(federation.folder / "state-site-2")
        federation.start("site-2")
        late += mark(federation, "site-2", decision) == "late"
        play(federation, "site-2", 20)
        given_out_again = federation.site_status("site-2")["given_out_again"]
        federation.kill("site-2")
        drawn = draws_of_mark(federation, "site-2")
        require(drawn == 0, f"{drawn} second draws for one reward")
        require(given_out_again > 0, "it is not counted")
        federation.start("site-2")
    require(late > 0, "no reward was late: no test")
    print(f"           {late} rewards of an earlier life were late, none was drawn again", flush=True)
    federation.end_applications()


@test
def clones_of_a_running_site_accept_nothing_that_was_open(federation_of):
    """Two copies start at once and are asked at once: neither draws for the decision that was open in both."""
    late = drawn = 0
    for number in range(max(3, TRIES)):
        federation = site_with_open_decision(federation_of)
        decision = open_planned(federation, "site-2")
        copy_running(federation, "site-2", "clone")
        federation.kill("site-2")
        federation.write_agent("site-2", federation.policy(), name="clone")
        both = ("site-2", "clone")
        for name in both:
            federation.start(name)
        threads = [threading.Thread(target=mark, args=(federation, name, decision)) for name in both]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        late += sum(mark(federation, name, decision) == "late" for name in both)
        for name in both:
            play(federation, name, 5)
            federation.kill(name)
        federation.close()
        drawn += sum(draws_of_mark(federation, name) for name in both)
        require(drawn == 0, f"{drawn} draws of clones in try {number}")
    require(late == 2 * (number + 1), f"{late} rewards were late in {number + 1} tries")
    print(f"           {late} rewards of an earlier life were late, none was drawn", flush=True)


# ---- Files ----

@test
def wrong_files_are_refused_in_words_before_a_state_comes_into_being(federation_of):
    federation = gossips(federation_of)
    run = {"id": 1, "horizon": 120, "epsilon": EPSILON}
    cases = [({**run, "quorum": 2}, "run.quorum: sites that gossip wait for nobody; allowed: not to give it"),
             ({**run, "deadline_s": 60}, "run.deadline_s: sites that gossip wait for nobody"),
             ({**run, "rounds": 4}, "run.rounds: unknown key"),
             ({**run, "exchange_s": 0}, "run.exchange_s: "), ({**run, "pulls_per_second": -1}, "run.pulls_per_second: "),
             ({**run, "log_base": 2}, "run.log_base: "), ({**run, "horizon": 1}, "run.horizon: the noise of 1 slot"),
             ({**run, "epsilon": 2e-6}, "run.epsilon: the share of one of the noised sums")]
    for section, says in cases:
        federation.write_coordinator(section, name="coordinator-2")
        code, said = federation.run_to_end("coordinator-2")
        require(code == 2 and said.count("\n") == 1 and says in said, f"{section}: {code} {said}")
    for more, says in [({"network": {"kind": "star"}}, "'star' is no network for gossip-ucb"),
                       ({"network": {"kind": "hybrid", "components": [{"agents": 5, "kind": "ring"}]}}, "network.kind: ")]:
        federation.write_coordinator(run, name="coordinator-2", **more)
        code, said = federation.run_to_end("coordinator-2")
        require(code == 2 and says in said, f"{more}: {code} {said}")
    federation.write_agent("site-0", federation.policy(rounds_max=40), name="agent-2")
    code, said = federation.run_to_end("agent-2")
    require(code == 2 and "policy.rounds_max: unknown key" in said, f"{code} {said}")
    federation.write_agent("site-0", federation.policy(), name="agent-2", missing={"after_s": 60, "counts_as": 0})
    code, said = federation.run_to_end("agent-2")
    require(code == 2 and "missing: a reward that waits for its time is kept on the disk" in said, f"{code} {said}")
    require(not list(federation.folder.glob("state-*-2")), "a state came into being")


@test
def sites_that_do_not_agree_stay_out_and_say_so(federation_of):
    federation = gossips(federation_of)
    cases = {"site-0": (federation.policy(epsilon=EPSILON / 2), "another epsilon per reward than policy.epsilon"),
             "site-1": (federation.policy(pulls_max=122), "more pulls than policy.pulls_max: its horizon, and a first"),
             "site-2": (federation.policy(agents_max=4), "more sites than policy.agents_max"),
             "site-3": (federation.policy(range=[0, 2]), "range")}
    for site, (own, _) in cases.items():
        federation.write_agent(site, own)
    federation.start_all(["coordinator", *cases])
    for site, (_, says) in cases.items():
        status = wait_for(f"{site} refuses", lambda site=site: federation.phase(site) == "refused" and
                          federation.site_status(site))
        require(says in status["refusal"], f"{site}: {status['refusal']}")


@test
def statement_says_what_leaves_and_what_copies_cost(federation_of):
    federation = gossips(federation_of, sites=2, network={"kind": "path"}, horizon=20)
    federation.start_all()
    wait_for("it has joined", lambda: federation.has_joined("site-0"))
    said = federation.text("site-0", "/v1/statement")
    for words in ("in at most 5 noised sums", "estimates of all arms", "How often each arm was pulled is told openly",
                  "given the times at which rewards come", "copies of the disk cost no epsilon",
                  "A copy of the running memory (a cloned virtual machine) would draw again"):
        require(words in said, f"not said: {words}\n{said}")


@test
def page_status_and_metrics_tell_the_estimates_and_how_far_they_are_apart(federation_of):
    federation = gossips(federation_of, sites=2, network={"kind": "path"}, horizon=60)
    federation.start_all()
    require("estimates" not in wait_for("it answers", lambda: federation.site_status("site-0")), "estimates of nothing")
    federation.apply(batch=1)
    status = wait_for("all is over", federation.is_finished, 60)
    federation.end_applications()
    site = federation.site_status("site-0")
    require([one["name"] for one in site["estimates"]] == ["arm 1", "arm 0", "arm 2"], f"{site}")
    require(site["estimate_spread"] >= 0 and site["winner"] is None and site["phase"] == "finished", f"{site}")
    require([one["pulls"] for one in status["sites"]] == [63, 63] and status["winner"] == "arm 1", f"{status}")
    require(all(one["spread"] >= 0 and abs(one["mean"] - mean) < 0.1 for one, mean in
                zip(status["arms"], MEANS, strict=True)), f"{status['arms']}")
    metrics = federation.text("site-0", "/metrics")
    require('tacit_agent_estimate{arm="arm 1"} 0.8' in metrics and "tacit_agent_estimate_spread " in metrics, metrics)
    metrics = federation.text("coordinator", "/metrics")
    require('tacit_hub_site_pulls{site="site-1"} 63' in metrics and 'tacit_hub_spread{arm="arm 1"} ' in metrics, metrics)
    support.check_answers(federation, estimates=True)
    page = federation.text("coordinator", "/")
    require("arm 1 wins" in page and "mean, noised" in page and page.count(">63 pulls<") == 2, page)


if __name__ == "__main__":
    main()
