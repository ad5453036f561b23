#!/usr/bin/env python3
"""Decisions by contexts: three clients and a hub over a broker end with the model of the simulator on the same events,
to the bit, whoever is killed in the midst of an update; requests that do not fit are refused; only what was chosen is
kept. See support.py."""
import http.client
import json
import math
import os
import pathlib
import random
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import time

import support
import wire
from support import IS_LONG, TACIT, UnixConnection, call, main, require, test, wait_for

EVENTS = os.path.abspath(os.environ["TACIT_GLM_EVENTS_PROGRAM"])
SITES = ["clinic-0", "clinic-1", "clinic-2"]
ARMS = ["low", "middle", "high"]
FEATURES = ["constant", "age", "dose"]
D = len(FEATURES)


class Trial(support.Tested):
    def __init__(self, threshold=0.6, horizon=400, explore=0, deadline_s=600, **policy):
        super().__init__(TACIT, pathlib.Path(tempfile.mkdtemp(prefix="tacit-glm-")), "trial", SITES, ARMS)
        self.threshold, self.horizon, self.explore = threshold, horizon, explore
        self.events, self.random, self.keys, self.updates = [], random.Random(7), 0, 0
        persistence = self.folder / "persistence"
        persistence.mkdir()
        self.make_certificates()
        self.write_broker("--persistence", persistence)
        self.write_coordinator({"features": FEATURES, "threshold": threshold, "horizon": horizon, "explore": explore,
                                "deadline_s": deadline_s}, protocol="glm-ucb")
        for site in SITES:
            self.write_agent(site, {"privacy": "none", "features": FEATURES, "range": [0, 1], "agents_max": 5,
                                    "rounds_max": 10000, "pulls_max": 10 ** 6, **policy}, protocol="glm-ucb")

    def start_all(self):
        self.start("broker")
        time.sleep(0.3)
        for name in ("coordinator", *SITES):
            self.start(name)
        self.wait_for_sites("has joined", lambda site: "model" in (self.site_status(site) or {}), 60, sites=SITES)

    # Applications

    def ask(self, site, method, path, body=None):
        """Until it is answered, whoever dies in between."""
        for _ in range(1000):
            connection = UnixConnection(self.socket_of(site))
            try:
                code, answer = call(connection, method, path, body)
                if code != 503:
                    return code, answer
            except (OSError, ValueError, http.client.HTTPException):
                pass
            finally:
                connection.close()
            time.sleep(0.02)
        raise AssertionError(f"{site} does not answer")

    def contexts(self):
        made = []
        for _ in ARMS:
            x = [self.random.gauss(0, 1) for _ in range(D)]
            length = math.sqrt(sum(value * value for value in x))
            made.append([value / length * 0.999 for value in x])
        return made

    def decide(self, index):
        contexts = self.contexts()
        self.keys += 1
        code, decision = self.ask(SITES[index], "POST", "/v1/decisions", {"key": f"k{self.keys}", "contexts": contexts})
        require(code == 200, f"{code} {decision}")
        require(decision["kind"] == "chosen" and decision["name"] == ARMS[decision["arm"]], f"{decision}")
        return contexts, decision

    def reward(self, index, contexts, decision):
        chosen = contexts[decision["arm"]]
        mean = 1 / (1 + math.exp(-(0.3 * chosen[0] - 0.7 * chosen[1] + 0.6 * chosen[2])))
        value = int(self.random.random() < mean)
        code, answer = self.ask(SITES[index], "POST", "/v1/rewards", {"id": decision["id"], "reward": value})
        require(code == 200 and answer["status"] in ("accepted", "repeated"), f"{code} {answer}")
        self.events.append((index, contexts, decision["arm"], value))

    def step(self, index):
        self.reward(index, *self.decide(index))

    def is_updating(self, index):
        return self.ask(SITES[index], "GET", "/v1/status")[1]["phase"] == "waiting"

    def is_settled(self):
        """Everybody has the hub's newest model, and no update is under way."""
        states = [self.site_status(site) for site in SITES]
        hub = self.status()
        if hub is None or None in states:
            return False
        return (all(one["phase"] != "waiting" for one in states) and
                {one["model"]["number"] for one in states} == {hub["model"]["number"]})

    def play(self, count, during=None):
        """One event after another; an update is over before the next one, so that the order is that of the
        simulator. `during(number)` is called while the number-th update is under way."""
        before = self.updates
        for step in range(count):
            self.step(step % len(SITES))
            if self.is_updating(step % len(SITES)):
                self.updates += 1
                if during is not None:
                    during(self.updates)
                wait_for("the update is over", self.is_settled, 120)
        return self.updates - before

    def kept(self, site):
        """Stops the agent, and reads what is kept with its decisions, in no order: ids are drawn."""
        self.stop(site)
        database = sqlite3.connect(f"file:{self.folder}/state-{site}/state.db?mode=ro", uri=True)
        rows = [row[0] for row in database.execute("SELECT kept FROM decisions")]
        database.close()
        return rows

    def check_model(self, abandons=False):
        """The hub's model is the simulator's of the same events. Updates that were abandoned have had numbers, too."""
        lines = [f"{len(SITES)} {D} {self.horizon} {self.threshold!r} {self.explore!r}"]
        for index, contexts, arm, value in self.events:
            numbers = " ".join(repr(x) for row in contexts for x in row)
            lines.append(f"{index} {len(contexts)} {numbers} {arm} {value}")
        done = subprocess.run([EVENTS], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
        require(done.returncode == 0, f"the simulator: {done.stderr}")
        sync, count, *numbers = done.stdout.split()
        model = self.status()["model"]
        require((model["number"] > int(sync) if abandons else model["number"] == int(sync)) and model["observations"] == int(count),
                f"{model['number']} updates of {model['observations']} rewards, not {sync} of {count}")
        found = [one["value"] for one in model["coefficients"]]
        expected = [float(number) for number in numbers[:D]]
        require(found == expected, f"{found} is not {expected}")  # the same bits
        matrix = [[float(numbers[D + i * D + j]) for j in range(D)] for i in range(D)]
        for i in range(D):  # A A^-1 = I: the ellipsoid is that of the same matrix
            for j in range(D):
                product = sum(matrix[i][k] * model["inverse"][k][j] for k in range(D))
                require(abs(product - (i == j)) < 1e-9, f"the matrix differs at {i}, {j}: {product}")
        require([one["name"] for one in model["coefficients"]] == FEATURES, "the features")
        require(all(one["lower"] < one["value"] < one["upper"] for one in model["coefficients"]), "the ellipsoid")
        return model


def trial_of(federation_of, **options):
    """A federation of contexts in the hands of support.py, which closes and removes it."""
    return federation_of(kind=Trial, **options)


# ---- Tests ----

@test
def the_live_model_is_that_of_the_simulator(federation_of):
    trial = trial_of(federation_of)
    trial.start_all()
    updates = trial.play(120 if IS_LONG else 45)
    require(updates >= 3, f"{updates} updates")
    model = trial.check_model()
    support.check_answers(trial, members=["model"])
    for site in SITES:
        require(trial.get(site, "/v1/result")["model"] == trial.site_status(site)["model"], f"{site}: another model")
        require(trial.site_status(site)["model"]["number"] == model["number"], f"{site} has another model")


@test
def kills_in_the_midst_of_updates_change_no_bit(federation_of):
    trial = trial_of(federation_of, threshold=0.3)
    trial.start_all()
    deaths = {name: 0 for name in ("coordinator", *SITES)}
    order = list(deaths)
    wanted = 10 if IS_LONG else 1

    def kill(number):
        name = order[number % len(order)]
        if deaths[name] >= wanted:
            return
        time.sleep(trial.random.uniform(0, 0.05))
        trial.kill(name)
        deaths[name] += 1
        trial.start(name)

    for _ in range(100):
        trial.play(3 * len(SITES), during=kill)
        if min(deaths.values()) >= wanted:
            break
    require(min(deaths.values()) >= wanted, f"{deaths}")
    trial.check_model()


@test
def below_the_quorum_an_update_is_abandoned_and_the_silent_site_is_named(federation_of):
    trial = trial_of(federation_of, deadline_s=3)  # the quorum is all of them
    trial.start_all()
    trial.kill(SITES[2])
    while not trial.is_updating(0):
        trial.step(0)
    # A site that a busy machine keeps from its answer is named, too; some later attempt lacks this one alone.
    wait_for("it is named", lambda: f"below the quorum; silent: {SITES[2]}; the next" in trial.log("coordinator"), 120)
    trial.wait_for_log("coordinator", "2 of the 3 sites of the quorum reported")
    lacking = wait_for("the status says that it waits, and for whom", lambda: (
        lambda now: now if now and now["phase"] == "waiting" and now["missing"] == 1 else None)(trial.status()), 120)
    require([(one["name"], one["reported"]) for one in lacking["sites"]] == list(zip(SITES, [True, True, False])),
            f"{lacking}")
    require(lacking["model"]["number"] == 0, f"{lacking}")
    require(lacking["state"] == "waiting" and any(f"missing: {SITES[2]}" in one["what"] for one in lacking["causes"]),
            f"{lacking}")
    trial.start(SITES[2])
    wait_for("the update is made when the site is back", lambda: (trial.status() or {}).get("rounds") and
             trial.is_settled(), 120)
    trial.check_model(abandons=True)


@test
def nothing_is_promised_where_nothing_is_protected(federation_of):
    """The ledger has no number, and the statement speaks neither of a loss nor of noise."""
    trial = trial_of(federation_of)
    trial.start_all()
    ledger = trial.get(SITES[0], "/v1/ledger")
    require(ledger == {"epsilon_per_reward": None, "spent": None, "budget": None, "releases": []}, f"{ledger}")
    said = trial.text(SITES[0], "/v1/statement")
    require("nothing protects a context or a reward" in said, said)
    for word in ("epsilon", "less noise", "entropy", "loses"):
        require(word not in said, f"'{word}': {said}")


@test
def requests_that_do_not_fit_are_refused(federation_of):
    trial = trial_of(federation_of)
    trial.start_all()
    good = [[0.1, 0.2, 0.3], [0, 0, 1], [1, 0, 0]]
    bad = [{}, {"contexts": good[:2]}, {"contexts": []}, {"contexts": 3}, {"contexts": [[0.1, 0.2], [0, 1], [1, 0]]},
           {"contexts": [[0.1, 0.2, 0.3], [0, 0, 1], [1, 0]]}, {"contexts": [["a", 0, 0], *good[1:]]},
           {"contexts": [[0.9, 0.9, 0.9], *good[1:]]}, {"contexts": [[1e308, 1e308, 0], *good[1:]]},
           {"contexts": good, "unit": "ann"}, {"contexts": good, "unavailable": ["low"]}]
    for request in bad:
        code, answer = trial.ask(SITES[0], "POST", "/v1/decisions", request)
        require(code == 400 and "contexts" in answer["error"], f"{request}: {code} {answer}")
    raw = '{"contexts": [[NaN, 0, 0], [0, 0, 1], [1, 0, 0]]}'
    connection = UnixConnection(trial.socket_of(SITES[0]))
    connection.request("POST", "/v1/decisions", raw)
    require(connection.getresponse().status == 400, "NaN was taken")
    connection.close()
    code, first = trial.ask(SITES[0], "POST", "/v1/decisions", {"key": "same", "contexts": good})
    require(code == 200 and first["probability"] == 1 and first["model"] == 0, f"{code} {first}")
    code, again = trial.ask(SITES[0], "POST", "/v1/decisions", {"key": "same", "contexts": good[::-1]})
    require(again == first, f"the same key was answered with {again}, not {first}")


@test
def only_the_chosen_context_is_kept_and_nothing_else_of_it_leaves(federation_of):
    trial = trial_of(federation_of)
    trial.start_all()
    contexts, decision = trial.decide(0)
    kept = trial.kept(SITES[0])[0]
    require(len(kept) == 24 + 8 * D, f"{len(kept)} bytes are kept")
    for arm, row in enumerate(contexts):
        is_there = bytes_of(row) in kept
        require(is_there == (arm == decision["arm"]), f"arm {arm} kept: {is_there}")
    trial.start(SITES[0])
    trial.reward(0, contexts, decision)  # after a restart: the reward finds its context
    state = trial.ask(SITES[0], "GET", "/v1/status")[1]
    require(state["pulls"] == 1, f"{state}")


def bytes_of(row):
    return struct.pack(f"<{len(row)}d", *row)


@test
def exploration_is_answered_with_its_probability_and_logged(federation_of):
    trial = trial_of(federation_of, explore=0.5)
    trial.start_all()
    seen = set()
    for _ in range(30):
        contexts, decision = trial.decide(0)
        seen.add(round(decision["probability"], 9))
    require(seen == {round(0.5 / 3, 9), round(0.5 / 3 + 0.5, 9)}, f"{seen}")
    require(any(all(bytes_of(row) in kept for row in contexts) for kept in trial.kept(SITES[0])),
            "a context is not in the log")


@test
def a_site_refuses_features_that_are_not_its_own(federation_of):
    trial = trial_of(federation_of)
    text = (trial.folder / f"{SITES[1]}.yaml").read_text()
    (trial.folder / f"{SITES[1]}.yaml").write_text(text.replace(json.dumps(FEATURES), json.dumps(FEATURES[::-1])))
    trial.start("broker")
    time.sleep(0.3)
    for name in ("coordinator", *SITES[:2]):
        trial.start(name)
    refused = wait_for("it refuses", lambda: (trial.site_status(SITES[1]) or {}).get("refusal"), 30)
    require("features" in refused, refused)


# ---- The private one (protocol glm-ucb-sound; src/wire/glm.proto) ----

GRID, UNIT = 1 << 10, 1 << 20
EPSILON, DELTA = 1000.0, 1e-6  # so that a reward that is missing, or there twice, shows in the sums
NOISE = 6 * math.sqrt(4.5 / 2) / (math.sqrt(math.log(1 / DELTA) + EPSILON) - math.sqrt(math.log(1 / DELTA)))
COPY = "copy"


def moments(context, value):
    """Of one interaction, in whole units: clipped and on the grid, toward zero."""
    length = max(1, math.sqrt(sum(one * one for one in context)))
    x = [int(one / length * GRID) for one in context]
    return [x[i] * x[j] for i in range(D) for j in range(i, D)] + [one * int(min(max(value, -1), 1) * GRID) for one in x]


def report_of(payload):
    """(batch, sums) of a release, as the schema has it."""
    found = wire.fields(payload)
    data = wire.fields(found[18])[1]
    return found[4], struct.unpack(f"<{len(data) // 8}q", data)


class Private(Trial):
    """Each interaction leaves once, in a noised sum of its batch."""

    def __init__(self, batches=3, batch=12, quorum=None, deadline_s=600, **policy):
        self.batches, self.batch = batches, batch
        self.given = {site: [0] * (D * (D + 3) // 2) for site in SITES}  # exact sums of all rewards, never said by anybody
        super().__init__(horizon=batches * batch, **policy)
        more = {} if quorum is None else {"quorum": quorum}
        self.write_coordinator({"features": FEATURES, "horizon": self.horizon, "batches": batches, "epsilon": EPSILON,
                                "delta": DELTA, "link": "identity", "range": [-1, 1], "deadline_s": deadline_s, **more}, protocol="glm-ucb-sound")
        for site in (*SITES, COPY):
            self.write_private(site, **policy)

    def write_private(self, name, **policy):
        site = SITES[2] if name == COPY else name
        self.write_agent(site, {"features": FEATURES, "range": [-1, 1], "agents_max": 5, "rounds_max": 100, "pulls_max": 10 ** 6,
                                "epsilon": EPSILON, "budget": EPSILON, "delta": DELTA, **policy}, name=name, protocol="glm-ucb-sound")

    def one(self, site, name=None):
        """A decision by contexts of any length, and its reward; of a copy it counts for nobody."""
        contexts = [[self.random.gauss(0, 1) for _ in range(D)] for _ in ARMS]
        value = self.random.uniform(-1.2, 1.2)
        self.keys += 1
        code, decision = self.ask(name or site, "POST", "/v1/decisions", {"key": f"k{self.keys}", "contexts": contexts})
        require(code == 200 and decision["kind"] == "chosen", f"{code} {decision}")
        code, answer = self.ask(name or site, "POST", "/v1/rewards", {"id": decision["id"], "reward": value})
        require(code == 200 and answer["status"] in ("accepted", "repeated"), f"{code} {answer}")
        if name is None:
            self.last = moments(contexts[decision["arm"]], min(max(value, -1), 1))
            self.given[site] = [a + b for a, b in zip(self.given[site], self.last)]

    def is_open(self, batch, sites=None):
        hub = self.status()
        return hub is not None and hub["epoch"] >= batch and all((self.site_status(site) or {"epoch": 0})["epoch"] >= batch
                                                                 for site in sites or SITES)

    def fill(self, sites=SITES):
        """As many rewards as a batch has of each."""
        for _ in range(self.batch):
            for site in sites:
                self.one(site)

    def play_all(self):
        for number in range(1, self.batches + 1):
            self.play_batch(number)
        return self.finished()

    def finished(self):
        return wait_for("it is over", lambda: (lambda now: now if now and now["phase"] == "finished" else None)(self.status()), 60)

    def play_batch(self, number, during=None):
        wait_for(f"batch {number} is open", lambda: self.is_open(number), 60)
        for step in range(self.batch):
            for site in SITES:
                self.one(site)
            if during is not None:
                during(step)
        wait_for(f"batch {number} is over", lambda: self.is_open(number + 1), 120)

    def released(self, site):
        """Stops it; {number: (batch, sums)} of what it drew, each of which has left or leaves as it is there."""
        self.stop(site)
        with sqlite3.connect(f"file:{self.folder}/state-{site}/state.db?mode=ro", uri=True) as database:
            return {number: report_of(data) for number, data in database.execute("SELECT number, bytes FROM releases")}

    def check_releases(self, site, batches=None):
        """All that was rewarded is in the releases together, and once."""
        drawn = self.released(site)
        require(sorted(drawn) == list(range(1, (batches or self.batches) + 1)), f"{site}: {sorted(drawn)}")
        total = [sum(column) / UNIT for column in zip(*(sums for _, sums in drawn.values()))]
        exact = [one / UNIT for one in self.given[site]]
        worst = max(abs(a - b) for a, b in zip(total, exact))
        require(worst < NOISE * math.sqrt(len(drawn)), f"{site}: {total}, not {exact}")
        require(total != exact, "nothing is noised")
        return drawn


@test
def a_private_run_adds_up_to_what_was_released(federation_of):
    trial = federation_of(kind=Private)
    trial.start_all()
    trial.play_all()
    for site in SITES:
        trial.one(site)  # goes on with the last model; nobody learns from it
        require(trial.site_status(site)["model"]["number"] == trial.batches, f"{trial.site_status(site)}")
        ledger = trial.get(site, "/v1/ledger")
        require(ledger["spent"] == ledger["budget"] == EPSILON and len(ledger["releases"]) == trial.batches, f"{ledger}")
        said = trial.text(site, "/v1/statement")
        require("interaction" in said and "delta" in said and "1000" in said, said)
    model = trial.status()["model"]
    require(model["number"] == trial.batches and model["observations"] == 3 * trial.horizon, f"{model}")
    everything = [0] * (D * (D + 3) // 2)
    for site in SITES:
        drawn = trial.released(site)
        everything = [a + sum(sums[i] for _, sums in drawn.values()) for i, a in enumerate(everything)]
    # theta = V^-1 u of what was released, and nothing else
    packed, moment = everything[:-D], everything[-D:]
    sums = {}
    for i in range(D):
        for j in range(i, D):
            sums[i, j] = sums[j, i] = packed.pop(0) / UNIT
    inverse = model["inverse"]
    theta = [one["value"] for one in model["coefficients"]]
    shift = (sum(theta[i] * moment[i] for i in range(D)) / UNIT -
             sum(theta[i] * sums[i, j] * theta[j] for i in range(D) for j in range(D))) / sum(one * one for one in theta)
    for i in range(D):
        require(abs(sum((sums[i, k] + shift * (i == k)) * theta[k] for k in range(D)) - moment[i] / UNIT) < 1e-6, "not V theta = u")
        for j in range(D):
            product = sum((sums[i, k] + shift * (i == k)) * inverse[k][j] for k in range(D))
            require(abs(product - (i == j)) < 1e-6, f"the matrix differs at {i}, {j}: {product}")


def play_and_kill(trial, names):
    def kill(_):
        if trial.random.random() < (0.7 if IS_LONG else 0.25):
            name = trial.random.choice(names)
            trial.kill(name)
            trial.start(name)

    for number in range(1, trial.batches + 1):
        trial.play_batch(number, during=kill)


@test
def kills_of_anybody_neither_lose_nor_double_a_private_reward(federation_of):
    trial = federation_of(kind=Private, batches=4)
    trial.start_all()
    play_and_kill(trial, ["coordinator", *SITES])
    trial.finished()
    for site in SITES:
        trial.check_releases(site)


@test
def a_copy_of_a_private_site_gets_no_second_release(federation_of):
    trial = federation_of(kind=Private, batches=2)
    site, others = SITES[2], SITES[:2]
    trial.start_all()
    wait_for("batch 1 is open", lambda: trial.is_open(1), 60)
    for _ in range(trial.batch - 3):
        trial.one(site)
    trial.stop(site)
    shutil.copytree(trial.folder / f"state-{site}", trial.folder / f"state-{COPY}")
    trial.start(site)
    for _ in range(3):
        trial.one(site)
    waits = wait_for("it waits for the others, and says so", lambda: (lambda now: now if now and now["waits_for"]["for"] == "the other sites"
                                                                      else None)(trial.site_status(site)), 60)
    require(waits["release_epoch"] == 1, f"{waits}")
    trial.kill(site)
    trial.start(COPY)
    for _ in range(trial.batch):
        trial.one(site, name=COPY)
    stopped = wait_for("the copy stops", lambda: (lambda now: now if now and now["trouble"] else None)(trial.site_status(COPY)), 60)
    require(stopped["release_epoch"] == 0, f"{stopped}")
    trial.kill(COPY)
    trial.start(site)
    trial.fill(others)
    trial.play_batch(2)
    for one in SITES:
        trial.check_releases(one)


def lose_coordinator(trial, *words):
    """After batch 1, with rewards in open sums and decisions open; `words` bring it back, in a new term."""
    trial.start_all()
    trial.play_batch(1)
    open_ones = []
    for site in SITES:
        trial.one(site)  # in the open sums: the new term drops them
        code, decision = trial.ask(site, "POST", "/v1/decisions", {"key": f"open {site}", "contexts": [[1, 0, 0]] * 3})
        require(code == 200, f"{code} {decision}")
        open_ones.append((site, decision["id"]))
    run = trial.site_status(SITES[0])["run"]
    trial.lose("coordinator")
    if "--new-term" in words:
        code, said = trial.run_to_end("coordinator", "--new-term", "--run", run)
        require(code == 0, said)
        words = ()
    trial.start_with("coordinator", *words)
    trial.wait_for_sites("is in the term", lambda site: "begins: a grantor has lost its state" in trial.log(site), 60, sites=SITES)
    for site, identity in open_ones:  # decided before: taken, and in no sum
        code, answer = trial.ask(site, "POST", "/v1/rewards", {"id": identity, "reward": 1})
        require(code == 200, f"{code} {answer}")
    for site in SITES:
        trial.given[site] = [0] * len(trial.given[site])


def check_newest(trial, count):
    """The last `count` releases of each site have what was rewarded in the new term, and nothing of before."""
    for site in SITES:
        drawn = trial.released(site)
        newest = [drawn[number] for number in sorted(drawn)[-count:]]
        require(len(drawn) == count + 1 and [batch for batch, _ in newest] == list(range(3 - count, 3)), f"{drawn}")
        total = [sum(column) for column in zip(*(sums for _, sums in newest))]
        worst = max(abs(a - b) / UNIT for a, b in zip(total, trial.given[site]))
        require(worst < NOISE * math.sqrt(count), f"{site}: {total}, not {trial.given[site]}")


@test
def a_lost_coordinator_begins_a_new_term_and_no_private_reward_is_in_two(federation_of):
    trial = federation_of(kind=Private, batches=2)
    lose_coordinator(trial, "--new-term")
    trial.play_batch(1)
    trial.play_batch(2)
    check_newest(trial, 2)


@test
def a_lost_coordinator_is_built_again_from_what_the_sites_keep(federation_of):
    trial = federation_of(kind=Private, batches=2)
    lose_coordinator(trial, "--recover")
    trial.wait_for_log("coordinator", "the state is built from it")
    trial.play_batch(2)
    model = trial.finished()["model"]
    require(model["observations"] == 2 * 3 * trial.batch, f"{model}")
    check_newest(trial, 1)


@test
def a_site_refuses_less_privacy_than_its_file_asks_for(federation_of):
    trial = federation_of(kind=Private)
    trial.write_private(SITES[0], epsilon=EPSILON / 2)
    trial.write_private(SITES[1], delta=DELTA / 2)
    trial.start("broker")
    time.sleep(0.3)
    for name in ("coordinator", *SITES):
        trial.start(name)
    for site, word in ((SITES[0], "policy.epsilon"), (SITES[1], "policy.delta")):
        refused = wait_for(f"{site} refuses", lambda site=site: (trial.site_status(site) or {}).get("refusal"), 30)
        require(word in refused, refused)
    wait_for("the third does not", lambda: "model" in (trial.site_status(SITES[2]) or {}), 60)


if __name__ == "__main__":
    main()
