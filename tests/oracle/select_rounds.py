#!/usr/bin/env python3
"""Rounds of user selection against a plain twin: total latency and largest leakage of the selectors over 300
rounds agree within 4 standard errors (14 comparisons; fixed seeds, false alarm below 1e-3).

The twin keeps lists, sorts, and tries what it is told to; it shares no code and no draws with the program.
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

USERS, PER_ROUND, ROUNDS, RUNS = 30, 5, 300, 24
ALPHA, GAMMA, EPSILON, ETA, LEAST = 100.0, 5.0, 40.0, 0.04, 0.05

FILE = f"""name: rounds
seed: 11
runs: 200
horizon: {ROUNDS}
agents: {USERS}
environment: {{kind: latency, source: two-groups}}
network: {{kind: star}}
protocol: {{kind: select, selector: exact, users_per_round: {PER_ROUND}, alpha: {ALPHA}, beta: 2, gamma: {GAMMA}}}
privacy: {{mode: paper, epsilon: {EPSILON}, eta: {ETA}}}
"""


def centers():
    half = USERS // 2
    return [0.05 + 0.15 * (k + 1) / half if k < half else 0.7 + 0.2 * (k + 1 - half) / (USERS - half)
            for k in range(USERS)]


def spent(times):
    return sum(EPSILON * (math.exp(ETA) - 1) * math.exp(-ETA * i) for i in range(1, times + 1))


class Twin:
    def __init__(self, seed, sizes):
        self.chance = random.Random(seed)
        self.times = [0] * USERS
        self.sums = [0.0] * USERS
        self.sizes = sizes
        self.rounds = 0

    def scores(self):
        total = sum(self.sizes)
        ucb, weight = [], []
        for k in range(USERS):
            distance = PER_ROUND * self.sizes[k] / total - (self.times[k] / self.rounds if self.rounds else 0)
            general = math.copysign(abs(distance) ** 2, distance)
            private = 1 - spent(self.times[k]) / EPSILON
            weight.append((ALPHA * general + GAMMA * private) / PER_ROUND)
            ucb.append(math.inf if self.times[k] == 0 else self.sums[k] / self.times[k] +
                       math.sqrt((PER_ROUND + 1) * math.log(self.rounds) / self.times[k]))
        return ucb, weight

    def exact(self):
        ucb, weight = self.scores()
        unseen = [k for k in range(USERS) if math.isinf(ucb[k])]
        if len(unseen) >= PER_ROUND:
            return sorted(unseen, key=lambda k: -weight[k])[:PER_ROUND]
        best, chosen = -math.inf, None
        for last in range(USERS):
            others = sorted((k for k in range(USERS) if k != last and ucb[k] >= ucb[last]), key=lambda k: -weight[k])
            if len(others) < PER_ROUND - 1:
                continue
            users = [last] + others[:PER_ROUND - 1]
            value = min(ucb[k] for k in users) + sum(weight[k] for k in users)
            if value > best:
                best, chosen = value, users
        return chosen

    def random(self):
        return self.chance.sample(range(USERS), PER_ROUND)

    def fastest(self):
        return range(PER_ROUND)

    def clustered(self):
        order = sorted(range(USERS), key=lambda k: -self.sizes[k])
        tokens = [k for k in order for _ in range(PER_ROUND * self.sizes[k])]
        urn = len(tokens) // PER_ROUND
        return {tokens[i * urn + self.chance.randrange(urn)] for i in range(PER_ROUND)}

    def all(self):
        return range(USERS)

    def play(self, selector):
        latency = 0.0
        center = centers()
        for _ in range(ROUNDS):
            users = list(getattr(self, selector)())
            taken = [max(LEAST, center[k] + 0.05 * self.chance.gauss(0, 1)) for k in users]
            latency += max(taken)
            self.rounds += 1
            for k, tau in zip(users, taken):
                self.times[k] += 1
                self.sums[k] += LEAST / tau
        return latency, max(spent(times) for times in self.times)


def program(folder, selector, more=()):
    path = os.path.join(folder, "rounds.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(FILE)
    settings = [f"protocol.selector={selector}", *more]
    words = [os.environ["TACIT_PROGRAM"], "run", path, "--json", "--quiet"]
    for setting in settings:
        words += ["--set", setting]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["metrics"]


def average(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))


def compare(selector, metrics):
    results = [Twin(seed, [1] * USERS).play(selector) for seed in range(RUNS)]
    for index, name in enumerate(("latency", "leakage_max")):
        mean, error = average([result[index] for result in results])
        ours = metrics[name]
        both = math.hypot(error, ours["sd"] / math.sqrt(200))
        ok = abs(mean - ours["mean"]) <= 4 * both + 1e-9 * abs(mean)
        print(f"{selector} {name}: twin {mean:.4f}, program {ours['mean']:.4f}, standard error {both:.4f}")
        if not ok:
            sys.exit(f"{selector} {name} differ by more than 4 standard errors")


def refuse(folder):
    """What is wrong ends with code 2 and one line that says what is allowed."""
    for setting, words in (("protocol.selector=exakt", "allowed: exact, brute"),
                           ("protocol.users_per_round=31", "1 to 30"),
                           ("protocol.kappa=0", "protocol.kappa"),
                           ("environment.trace=x.csv", "belongs to source: trace"),
                           ("privacy.participations=3", "belongs to budget: uniform"),
                           ("privacy.budget=given", "belongs to budget: geometric"),
                           ("privacy.eta=3", "privacy.eta"),
                           ("network.kind=ring", "'ring' is not for protocol: select"),
                           ("environment.kind=bernoulli", "environment.kind"),
                           ("sizes=even", "balanced")):
        path = os.path.join(folder, "rounds.yaml")
        result = subprocess.run([os.environ["TACIT_PROGRAM"], "check", path, "--set", setting],
                                capture_output=True, text=True, check=False)
        line = result.stderr.strip()
        if result.returncode != 2 or "\n" in line or words not in line:
            sys.exit(f"{setting}: code {result.returncode}, {line!r}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        exact = program(folder, "exact")
        for selector in ("exact", "random", "fastest", "clustered", "all"):
            compare(selector, exact if selector == "exact" else program(folder, selector))
        # brute force plays the very same rounds (by value: ties may be broken another way)
        brute = program(folder, "brute", ["runs=1", "horizon=40"])
        same = program(folder, "exact", ["runs=1", "horizon=40"])
        if abs(brute["regret_genie"]["mean"] - same["regret_genie"]["mean"]) > 1e-9:
            sys.exit("brute force and the exact search differ")
        # a sound budget ends, and is never exceeded
        ended = program(folder, "fastest", ["privacy.mode=sound", "horizon=1000", "runs=2"])
        if ended["exhausted"]["mean"] != 0 or not 39.9 < ended["leakage_max"]["mean"] <= 40:
            sys.exit(f"sound budgets: {ended['exhausted']} {ended['leakage_max']}")
        ended = program(folder, "all", ["privacy.mode=sound", "horizon=1000", "runs=2"])
        if ended["exhausted"]["mean"] != 1 or ended["rounds"]["mean"] != 341:
            sys.exit(f"sound budgets of all: {ended['exhausted']} {ended['rounds']}")
        # annealing comes near the optimum, and the printed sign does not
        near = program(folder, "sa", ["runs=4", "protocol.iterations=500", "protocol.kappa=30"])
        far = program(folder, "sa", ["runs=4", "protocol.iterations=500", "protocol.sign=printed", "protocol.keep=last"])
        print(f"energy gap: sa {near['energy_gap']['mean']:.4f}, as printed {far['energy_gap']['mean']:.4f}")
        if not near["energy_gap"]["mean"] < 0.5 * far["energy_gap"]["mean"]:
            sys.exit("annealing does not come near the best set")
        if exact["energy_gap"]["mean"] != 0 or not exact["regret_genie"]["min"] >= 0:
            sys.exit("the exact search has a gap, or beats the genie in expectation")
        refuse(folder)


if __name__ == "__main__":
    main()
