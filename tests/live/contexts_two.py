#!/usr/bin/env python3
"""The private linear bandit with two aggregators: a helper beside the coordinator. What sites release is masked, the model is
that of the sums of all of them with the noise of two, and whoever is away, dies or is dropped costs time alone. See support.py."""
import math
import pathlib
import sys
import time

from support import control, main, require, test, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))  # the examples have files of these names, too
from contexts import D, DELTA, EPSILON, SITES, UNIT, Private, play_and_kill  # noqa: E402
from helper import causes_of, named  # noqa: E402

NUMBERS = D * (D + 3) // 2
FAILURE = 0.01


def sd_of(epsilon):
    """Of one owner's noise in a batch, as a part of a unit."""
    rho = (math.sqrt(math.log(1 / DELTA) + epsilon) - math.sqrt(math.log(1 / DELTA))) ** 2
    return math.sqrt(4.5 / (2 * rho))


class Two(Private):
    def __init__(self, floor=0, **options):
        self.floor = floor
        super().__init__(**options)
        self.write_helper(EPSILON, delta=DELTA)
        self.write_access()

    def make_certificates(self, *others):
        super().make_certificates("helper", *others)

    def both(self):
        return self.trust(**({"floor": self.floor} if self.floor else {}))

    def write_coordinator(self, run, **more):
        super().write_coordinator({**run, **(self.both() if more["protocol"] == "glm-ucb-sound" else {})}, **more)

    def write_agent(self, site, policy, **more):
        super().write_agent(site, {**policy, **(self.both() if more["protocol"] == "glm-ucb-sound" else {})}, **more)

    def start_all(self):
        self.start("broker")
        time.sleep(0.3)
        for name in ("coordinator", *SITES, "helper"):
            self.start(name)
        shown = self.agree()
        self.wait_for_sites("has joined", lambda site: "model" in (self.site_status(site) or {}), 60, sites=SITES)
        return shown

    def is_masked(self, site):
        """No word of what it released looks like a sum; who has the blind has the envelope, too."""
        drawn = self.released(site)
        words = [word for _, sums in drawn.values() for word in sums]
        require(sum(abs(word) > 2 ** 60 for word in words) > 0.7 * len(words), f"{site}: {words} is not masked")
        return drawn

    def check_model(self, sites=SITES, batches=None):
        """V = sum of x x' + 2 Y, of the noise of two (and of a floor), and V theta = sum of x y; both with noise of that size."""
        model = self.status()["model"]
        owners = [(2, sd_of(EPSILON)), *([(len(SITES), sd_of(self.floor))] if self.floor else [])]
        deviation = math.sqrt(sum(count * one * one for count, one in owners))  # of a batch
        shift = 2 * math.sqrt(self.batches) * deviation * (2 * math.sqrt(D) + 2 * math.sqrt(math.log(6 * self.batches / FAILURE)))
        matrix = inverted(model["inverse"])
        theta = [one["value"] for one in model["coefficients"]]
        found = [matrix[i][j] - shift * (i == j) for i in range(D) for j in range(i, D)]
        found += [sum(matrix[i][j] * theta[j] for j in range(D)) for i in range(D)]
        exact = [sum(self.given[site][at] for site in sites) / UNIT for at in range(NUMBERS)]
        noise = [a - b for a, b in zip(found, exact)]
        bound = 5.5 * deviation * math.sqrt(batches or self.batches)
        print(f"           noise: {math.sqrt(sum(one * one for one in noise) / NUMBERS) / (bound / 5.5):.2f} of its deviation", flush=True)
        require(max(map(abs, noise)) < bound, f"{found}, not {exact}: more than {bound}")
        require(max(map(abs, noise)) > 0, "nothing is noised")


def inverted(rows):
    """By elimination: they are few."""
    whole = [list(row) + [float(i == j) for j in range(D)] for i, row in enumerate(rows)]
    for i in range(D):
        pivot = max(range(i, D), key=lambda at, i=i: abs(whole[at][i]))
        whole[i], whole[pivot] = whole[pivot], whole[i]
        whole[i] = [value / whole[i][i] for value in whole[i]]
        for j in range(D):
            if j != i:
                whole[j] = [a - whole[j][i] * b for a, b in zip(whole[j], whole[i])]
    return [row[D:] for row in whole]


@test
def a_run_from_the_agreement_to_its_end(federation_of):
    trial = federation_of(kind=Two)
    shown = trial.start_all()
    require(f"epsilon per interaction: {EPSILON:g}" in shown and f"delta: {DELTA:g}" in shown and "none; you and the" in shown, shown)
    status = trial.play_all()
    require(status["helper_answers"] == trial.batches and status["helper_counted"] == 3, f"{status}")
    wait_for("the helper's key is gone", lambda: trial.get("helper", "/status")["phase"] == "over", 20)
    trial.check_model()
    for site in SITES:
        ledger = trial.get(site, "/v1/ledger")
        require(ledger["spent"] == ledger["budget"] == EPSILON and len(ledger["releases"]) == trial.batches, f"{ledger}")
        said = trial.text(site, "/v1/statement")
        require("There are two aggregators" in said and "nothing is protected" in said and "delta" in said, said[:600])
        require(sorted(trial.is_masked(site)) == list(range(1, trial.batches + 1)), f"{site} has other releases")


@test
def a_floor_is_the_sites_own_noise(federation_of):
    trial = federation_of(kind=Two, floor=500)
    require("noise of the sites' own: epsilon 500" in trial.start_all(), "the helper is not shown the floor")
    trial.play_all()
    trial.check_model()


@test
def kill_9_of_anybody_neither_loses_nor_doubles_a_reward(federation_of):
    trial = federation_of(kind=Two, batches=4)
    trial.start_all()
    play_and_kill(trial, ["coordinator", "helper", *SITES])
    status = trial.finished()
    require(not any(site["two_states"] for site in status["sites"]), f"{status}")
    trial.check_model()


@test
def a_helper_that_is_away_is_named_and_nothing_goes_on_without_it(federation_of):
    trial = federation_of(kind=Two, batches=2)
    trial.start_all()
    trial.play_batch(1)
    trial.stop("helper")
    trial.fill()
    named("the coordinator names it", lambda: "the run waits for the helper (" in causes_of(trial.status()))
    named("a site names it", lambda: "the run waits for the helper (" in causes_of(trial.site_status(SITES[0])))
    require(trial.status()["epoch"] == 2, "it went on without the helper")
    trial.one(SITES[0])  # goes on deciding; that one is in no batch any more
    trial.given[SITES[0]] = [a - b for a, b in zip(trial.given[SITES[0]], trial.last)]
    trial.start("helper")
    trial.finished()
    trial.check_model()


@test
def a_dropped_site_that_is_silent_is_not_waited_for(federation_of):
    """All are the quorum, and the deadline is far."""
    trial = federation_of(kind=Two, batches=2)
    trial.start_all()
    trial.play_batch(1)
    trial.kill(SITES[2])
    trial.fill(SITES[:2])
    wait_for("it is waited for alone", lambda: trial.status()["missing"] == 1, 60)
    time.sleep(3)
    require(trial.status()["epoch"] == 2, "it was not waited for")
    early = control(trial, "coordinator", "repeat", code=1)
    require("no round waits for that" in early, early)
    done = control(trial, "coordinator", "drop", SITES[2])
    require(f"done: drop {SITES[2]}" in done, done)
    status = trial.finished()
    require(status["helper_counted"] == 2 and status["helper_answers"] == 2 and status["missing"] == 0, f"{status}")
    trial.check_model()


@test
def the_operator_ends_a_run_that_waits(federation_of):
    """The model stays as it is: what the open batch has is never added up."""
    trial = federation_of(kind=Two, batches=3)
    trial.start_all()
    trial.play_batch(1)
    trial.stop("helper")
    given = {site: list(sums) for site, sums in trial.given.items()}
    trial.fill()
    wait_for("the helper is asked", lambda: trial.status()["helper_waited_s"] > 0, 40)
    done = control(trial, "coordinator", "end")
    require("the model stays as it is" in done, done)
    trial.finished()
    trial.given = given
    trial.check_model(batches=1)
    trial.start("helper")
    wait_for("the helper's key is gone", lambda: (trial.get("helper", "/status") or {}).get("phase") == "over", 20)


@test
def a_lost_coordinator_is_built_again_from_what_the_sites_keep(federation_of):
    trial = federation_of(kind=Two, batches=2)
    trial.start_all()
    trial.play_batch(1)
    trial.one(SITES[0])  # in the open sums: the new term drops it
    trial.given[SITES[0]] = [a - b for a, b in zip(trial.given[SITES[0]], trial.last)]
    trial.lose("coordinator")
    trial.start_with("coordinator", "--recover")
    trial.wait_for_sites("is in the term", lambda site: "begins: a grantor has lost its state" in trial.log(site), 60, sites=SITES)
    trial.play_batch(2)
    status = trial.finished()
    require(status["helper_answers"] == 2, f"{status}")
    trial.check_model()


@test
def a_helper_refuses_a_larger_delta_than_its_file_says(federation_of):
    trial = federation_of(kind=Two)
    trial.write_helper(EPSILON, delta=DELTA / 2)
    trial.start("broker")
    time.sleep(0.3)
    for name in ("coordinator", *SITES, "helper"):
        trial.start(name)
    trial.agree()
    wait_for("it refuses", lambda: "larger delta than this file allows" in trial.log("helper"), 40)
    require(not any("model" in (trial.site_status(site) or {}) for site in SITES), "a run was joined without the helper's word")


if __name__ == "__main__":
    main()
