#!/usr/bin/python3
"""An oracle for two aggregators: the phased index of EXACT-BOUNDS 5 with the noise terms of HELPER 2.6, written from these texts alone, in numpy.

It knows nothing of the program but its output: bounds by minima over a fine grid, rewards and noise drawn here. The mean regret of both has to agree
within 4 standard errors, with one aggregator, with two, and with two and a floor.

usage: two_aggregators.py PROGRAM [RUNS [SITES ARMS SLOTS EPSILON]]
"""
import json
import math
import subprocess
import sys
import tempfile

import numpy

SITES, ARMS, SLOTS, EPSILON = 20, 8, 20000, 0.7
GRID = numpy.linspace(0, 1, 1501)[1:-1] ** 2  # shares of the smallest epsilon, more of them where lambda is small
STEPS = 2**20


def terms(kinds, pulls_of_lambda):
    """Sum of m ln(1 - lambda^2/epsilon^2) over kinds of noise."""
    return sum(m * numpy.log1p(-(pulls_of_lambda / e) ** 2) for m, e in kinds)


def kinds_of(trust, sites, releases):
    if trust[0] == 1:
        return [(sites * releases, EPSILON)]
    return [(2 * releases, EPSILON)] + ([(sites * releases, trust[1])] if trust[1] else [])


def radius(pulls, kinds, level):
    lam = GRID * min(e for _, e in kinds)
    return float(numpy.min((level + pulls * lam**2 / 8 - terms(kinds, lam)) / (lam * pulls)))


def upper(pulls, mean, kinds, level):
    lam = GRID * min(e for _, e in kinds)
    x = lam * mean + (level - terms(kinds, lam)) / pulls
    bound = float(numpy.min(numpy.expm1(-x) / numpy.expm1(-lam)))
    return max(min(1.0, max(0.0, bound)), min(1.0, mean))


def laplace(rng, epsilon, size):
    p = 1 - math.exp(-epsilon / STEPS)
    return rng.geometric(p, size).astype(float) - rng.geometric(p, size)


def rungs(trust):
    level, rung = math.log(10 * ARMS), 1
    while radius(SITES * rung, kinds_of(trust, SITES, 1), level) > 0.5:
        rung += 1
    ladder = [rung]
    while ladder[-1] <= SLOTS:
        ladder.append(max(ladder[-1] + 1, math.ceil(2 * ladder[-1] - 1e-9)))
    return ladder


def play(rng, trust):
    means = rng.random(ARMS)
    gaps = means.max() - means
    ladder = rungs(trust)
    seen = [[] for _ in range(ARMS)]  # (pulls of all sites, sum in steps) of each release
    plan = {arm: ladder[0] for arm in range(ARMS)}
    slots, regret, leader = 0, 0.0, None
    while plan and slots + sum(plan.values()) <= SLOTS:
        for arm, count in plan.items():
            slots += count
            regret += SITES * count * gaps[arm]
            total = STEPS * float(rng.binomial(SITES * count, means[arm]))
            if trust[0] == 1:
                total += laplace(rng, EPSILON, SITES).sum()
            else:
                total += laplace(rng, EPSILON, 2).sum() + (laplace(rng, trust[1], SITES).sum() if trust[1] else 0)
            seen[arm].append((SITES * count, total))
        level = math.log(max(3, sum(n for releases in seen for n, _ in releases)))
        mean, bound = numpy.zeros(ARMS), numpy.zeros(ARMS)
        for arm in range(ARMS):
            best = None
            for first in range(len(seen[arm]) - 1, -1, -1):
                suffix = seen[arm][first:]
                width = radius(sum(n for n, _ in suffix), kinds_of(trust, SITES, len(suffix)), level)
                if best is None or width <= best[0]:
                    best = (width, suffix)
            pulls = sum(n for n, _ in best[1])
            mean[arm] = sum(y for _, y in best[1]) / (pulls * STEPS)
            bound[arm] = upper(pulls, mean[arm], kinds_of(trust, SITES, len(best[1])), level)
        leader = int(numpy.argmax(mean))
        challengers = sorted((arm for arm in range(ARMS) if arm != leader and bound[arm] >= bound[leader]), key=lambda arm: (-bound[arm], arm))[:3]
        step = {arm: ladder[len(seen[arm])] - ladder[len(seen[arm]) - 1] for arm in range(ARMS)}
        plan = {arm: step[arm] for arm in challengers}
        if not challengers or step[leader] <= sum(plan.values()):
            plan[leader] = step[leader]
        plan = dict(sorted(plan.items()))
    return regret + SITES * (SLOTS - slots) * gaps[leader]


def regret_of(program, text, runs):
    """Of the program, with its standard error."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        found = subprocess.run([program, "run", file.name, "--quiet", "--json"], capture_output=True, text=True, check=True)
    regret = json.loads(found.stdout)["metrics"]["regret"]
    return regret["mean"], regret["sd"] / math.sqrt(runs)


def of_program(program, trust, runs):
    privacy = f"{{mode: sound, epsilon: {EPSILON}, trust: {{aggregators: {trust[0]}{f', floor: {trust[1]}' if trust[1] else ''}}}}}"
    text = (f"name: two\nseed: 3\nruns: {runs}\nhorizon: {SLOTS}\nagents: {SITES}\nenvironment: {{kind: bernoulli, generated: {{arms: {ARMS}, draw: uniform}}}}\n"
            f"network: {{kind: star}}\nprotocol: {{kind: phased-index}}\nprivacy: {privacy}\n")
    return regret_of(program, text, runs)


def main():
    global SITES, ARMS, SLOTS, EPSILON
    program, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 400
    if len(sys.argv) > 3:
        SITES, ARMS, SLOTS, EPSILON = *map(int, sys.argv[3:6]), float(sys.argv[6])
    bad = 0
    for trust in ((1, 0), (2, 0), (2, 4)):
        rng = numpy.random.default_rng(5)
        own = numpy.array([play(rng, trust) for _ in range(runs)])
        mean, error = of_program(program, trust, 5 * runs)
        distance = abs(own.mean() - mean) / math.hypot(own.std(ddof=1) / math.sqrt(runs), error)
        print(f"aggregators {trust[0]}, floor {trust[1] or 'none'}: regret {own.mean():.1f} here, {mean:.1f} there: {distance:.1f} standard errors")
        bad += distance > 4
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
