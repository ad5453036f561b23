#!/usr/bin/env python3
"""Does the interval of a policy that was trained on a log hold what the policy is worth? 1,000 draws of 5,000 rows, 5 offers, 4 segments,
logged by chances that depend on the segment. The truth is known: a row is valued by the policy of the folds before its own, whose choices
are worked out here anew. Some arms are nearly alike: policies that were trained on all other folds get intervals that hold their worth too seldom.

usage: policies.py [DRAWS]       $TACIT_PROGRAM
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

TACIT = os.environ["TACIT_PROGRAM"]
OFFERS, SEGMENTS, FOLDS, ROWS = "abcde", ["gone", "new", "old", "vip"], 5, 5000
MEANS = [[0.10 + 0.03 * ((2 * segment + offer) % 5) for offer in range(5)] for segment in range(4)]
CHANCES = [[0.5 if offer == segment else 0.125 for offer in range(5)] for segment in range(4)]
FILE = """name: draws
horizon: 1
agents: 1
environment:
  kind: logged
  logged:
    {csv: log.csv, split: sequential, arm: offer, reward: won, propensity: p, contexts: [segment], 
     policies: [{name: ours, trained: ridge}, {name: of others, chosen: others}]}
protocol: {kind: index}
privacy: {mode: none}
"""


def solve(matrix, right):
    """By elimination; the matrix is positive definite."""
    n = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for i in range(n):
        for k in range(i + 1, n):
            factor = rows[k][i] / rows[i][i]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][k] * x[k] for k in range(i + 1, n))) / rows[i][i]
    return x


def guesses(counts, sums):
    """A ridge regression on a constant and the four segments: its guess for each segment."""
    matrix = [[float(i == j) for j in range(5)] for i in range(5)]
    matrix[0][0] += sum(counts)
    for i in range(4):
        matrix[i + 1][i + 1] += counts[i]
        matrix[0][i + 1] = matrix[i + 1][0] = counts[i]
    theta = solve(matrix, [sum(sums), *sums])
    return [theta[0] + theta[i + 1] for i in range(4)]


def policies(rows, is_of_others):
    """Of each fold, the offer for each segment: trained on the folds before it, or on all others."""
    told = []
    for fold in range(FOLDS):
        counts = [[0] * 4 for _ in OFFERS]
        sums = [[0] * 4 for _ in OFFERS]
        for number, (segment, offer, won) in enumerate(rows):
            if number % FOLDS != fold if is_of_others else number % FOLDS < fold:
                counts[offer][segment] += 1
                sums[offer][segment] += won
        guessed = [guesses(counts[offer], sums[offer]) for offer in range(5)]
        told.append([max(range(5), key=lambda offer, segment=segment: guessed[offer][segment]) for segment in range(4)])
    return told


def worth(chosen):
    return sum(MEANS[segment][policy[segment]] / 4 for policy in chosen for segment in range(4)) / len(chosen)


def main(draws):
    chance, covered = random.Random(11), {"ours": 0, "of others": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "e.yaml").write_text(FILE, encoding="utf-8")
        for _ in range(draws):
            rows = []
            for _ in range(ROWS):
                segment = chance.randrange(4)
                offer = chance.choices(range(5), CHANCES[segment])[0]
                rows.append((segment, offer, int(chance.random() < MEANS[segment][offer])))
            before, others = policies(rows, False), policies(rows, True)
            (folder / "log.csv").write_text("segment,offer,won,p,others\n" + "".join(
                f"{SEGMENTS[s]},{OFFERS[o]},{won},{CHANCES[s][o]},{OFFERS[others[number % FOLDS][s]]}\n"
                for number, (s, o, won) in enumerate(rows)), encoding="utf-8")
            done = subprocess.run([TACIT, "evaluate", "e.yaml", "--estimates", "--json"], cwd=folder, capture_output=True, text=True, check=True)
            for policy, chosen in zip(json.loads(done.stdout)["policies"], (before[1:], others)):
                estimate = policy["doubly_robust"]
                covered[policy["policy"]] += abs(estimate["value"] - worth(chosen)) <= estimate["ci95"]
    shares = {key: count / draws for key, count in covered.items()}
    print(f"{draws} draws; intervals that hold the truth: {shares}")
    return 0 if (0.93 <= shares["ours"] <= 0.97 and shares["of others"] < 0.92) or draws < 1000 else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
