#!/usr/bin/python3
"""An oracle for the private linear bandit with one aggregator, two, and two with a floor: written from GLM-PRIVATE and HELPER (2.6, 4) alone, in numpy, all runs at a time.

It knows nothing of the program but its output. The mean regret of both has to agree within 4 standard errors, at settings in which one aggregator, two and a
lost one of the two differ by more than that.

usage: two_linear.py PROGRAM [RUNS]
"""
import math
import sys

import numpy

from two_aggregators import regret_of

SITES, ARMS, DIMENSION, SLOTS = 12, 6, 3, 200
EPSILON, DELTA, FAILURE, SPREAD = 5, 1e-6, 0.01, 0.25
GRID = 1024


def rho_of(epsilon):
    return (math.sqrt(math.log(1 / DELTA) + epsilon) - math.sqrt(math.log(1 / DELTA))) ** 2


class Tree:
    """The noise of one owner's prefixes: a node is drawn once, and kept while it counts. Few batches: each by itself."""

    def __init__(self, rng, epsilon, batches, shape):
        self.levels, self.is_flat = batches.bit_length(), batches < batches.bit_length() ** 2
        self.nodes = batches if self.is_flat else self.levels  # in a prefix, at most
        self.variance = (1 if self.is_flat else self.levels) * 4.5 / (2 * rho_of(epsilon))
        self.rng, self.shape, self.kept = rng, shape, {}

    def prefix(self, batch):
        level = 0 if self.is_flat else (batch & -batch).bit_length() - 1
        drawn = self.rng.normal(0, math.sqrt(self.variance), self.shape)
        self.kept = {**{at: noise for at, noise in self.kept.items() if self.is_flat or at > level}, (batch if self.is_flat else level): drawn}
        return sum(self.kept.values())


def on_grid(values):
    return numpy.trunc(values * GRID) / GRID


def play(rng, trust, batches, runs):
    """Mean and standard error of the regret."""
    pairs = [(i, j) for i in range(DIMENSION) for j in range(i, DIMENSION)]
    shape = (runs, len(pairs) + DIMENSION)
    owners = [Tree(rng, EPSILON, batches, shape) for _ in range(SITES if trust[0] == 1 else 2)]
    owners += [Tree(rng, trust[1], batches, shape) for _ in range(SITES if trust[1] else 0)]
    s = math.sqrt(sum(tree.nodes * tree.variance for tree in owners))
    y = s * (2 * math.sqrt(DIMENSION) + 2 * math.sqrt(math.log(6 * batches / FAILURE)))
    g = s * (math.sqrt(DIMENSION) + math.sqrt(2 * math.log(3 * batches / FAILURE)))
    truth = rng.normal(size=(runs, DIMENSION))
    truth /= numpy.linalg.norm(truth, axis=1, keepdims=True)
    matrix = numpy.tile(2 * y * numpy.eye(DIMENSION), (runs, 1, 1))
    theta, sums, regret = numpy.zeros((runs, DIMENSION)), numpy.zeros(shape), numpy.zeros(runs)
    for slot in range(1, SLOTS + 1):
        radius = SPREAD * numpy.sqrt(2 * math.log(3 / FAILURE) + numpy.linalg.slogdet(matrix)[1] - DIMENSION * math.log(y)) + math.sqrt(3 * y) + g / math.sqrt(y)
        offers = rng.normal(size=(runs, SITES, ARMS, DIMENSION))
        offers /= numpy.linalg.norm(offers, axis=3, keepdims=True)
        x = on_grid(offers)
        width = numpy.sqrt(numpy.einsum("rmki,rij,rmkj->rmk", x, numpy.linalg.inv(matrix), x))
        arm = numpy.argmax(numpy.einsum("rmki,ri->rmk", x, theta) + 0.1 * radius[:, None, None] * width, axis=2)[..., None]
        means = numpy.einsum("rmki,ri->rmk", offers, truth)
        mean = numpy.take_along_axis(means, arm, 2)[..., 0]
        regret += (means.max(axis=2) - mean).sum(axis=1)
        reward = on_grid(numpy.clip(mean + rng.normal(0, SPREAD, mean.shape), -1, 1))
        chosen = numpy.take_along_axis(x, arm[..., None], 2)[:, :, 0]
        sums += numpy.concatenate([numpy.stack([(chosen[..., i] * chosen[..., j]).sum(axis=1) for i, j in pairs], 1), (chosen * reward[..., None]).sum(axis=1)], 1)
        if slot % (SLOTS // batches) == 0:
            total = sums + sum(tree.prefix(slot // (SLOTS // batches)) for tree in owners)
            fresh = numpy.tile(2 * y * numpy.eye(DIMENSION), (runs, 1, 1))
            for at, (i, j) in enumerate(pairs):
                fresh[:, i, j] += total[:, at]
                fresh[:, j, i] += total[:, at] * (i != j)
            good = numpy.linalg.eigvalsh(fresh)[:, 0] > 0
            matrix[good] = fresh[good]
            theta[good] = numpy.linalg.solve(fresh[good], total[good, len(pairs):, None])[..., 0]
    return regret.mean(), regret.std(ddof=1) / math.sqrt(runs)


def of_program(program, trust, batches, runs):
    floor = f", floor: {trust[1]}" if trust[1] else ""
    text = (f"name: two\nseed: 3\nruns: {runs}\nhorizon: {SLOTS}\nagents: {SITES}\nnetwork: {{kind: star}}\n"
            f"environment: {{kind: contextual, contextual: {{dimension: {DIMENSION}, arms: {ARMS}, link: identity}}}}\n"
            f"protocol: {{kind: glm-ucb, noise: {SPREAD}, delta: {FAILURE}, batches: {batches}}}\n"
            f"privacy: {{mode: sound, epsilon: {EPSILON}, delta: {DELTA}, trust: {{aggregators: {trust[0]}{floor}}}}}\n")
    return regret_of(program, text, runs)


def main():
    program, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 400
    bad, own = 0, {}
    for batches in (100, 20):  # a tree, and batches by themselves
        for trust in ((1, 0), (2, 0), (2, 15)):
            here, there = play(numpy.random.default_rng(5), trust, batches, runs), of_program(program, trust, batches, runs)
            distance = abs(here[0] - there[0]) / math.hypot(here[1], there[1])
            own[batches, trust] = here
            print(f"{batches} batches, aggregators {trust[0]}, floor {trust[1] or 'none'}: regret {here[0]:.1f} here, {there[0]:.1f} there: {distance:.1f} standard errors")
            bad += distance > 4
        for trust in ((2, 0), (2, 15)):  # the test is not blind
            bad += abs(own[batches, (1, 0)][0] - own[batches, trust][0]) < 8 * math.hypot(own[batches, (1, 0)][1], own[batches, trust][1])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
