#!/usr/bin/python3
"""An oracle for trainings with one aggregator and two: what HELPER says of model updates (equal weights, L1 clip, noise of each at 2Q/epsilon, a floor's of each
user), written from that text alone, in numpy, over a logistic model of MNIST in 4 x 4 means that 30 users train for two rounds. Mean accuracy and loss of both
have to agree within 4 standard errors, at settings in which the noise of one term more or less is farther away. Skipped where the data set is not here.

usage: two_updates.py PROGRAM [RUNS]
"""
import gzip
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy

USERS, SIDE, CLASSES, BATCH, BATCHES, RATE, CLIP, EPSILON, ROUNDS = 30, 4, 10, 20, 40, 0.5, 10, 12, 2
EXAM = 2000


def folder():
    places = [os.environ.get("TACIT_DATA", ""), os.path.expanduser("~/.local/share/tacit")]
    return next((os.path.join(place, "mnist") for place in places if os.path.exists(os.path.join(place, "mnist/train-images-idx3-ubyte.gz"))), None)


def pictures(place, name):
    with gzip.open(os.path.join(place, f"{name}-images-idx3-ubyte.gz")) as file:
        raw = numpy.frombuffer(file.read(), numpy.uint8, offset=16).reshape(-1, 28, 28).astype(float)
    with gzip.open(os.path.join(place, f"{name}-labels-idx1-ubyte.gz")) as file:
        labels = numpy.frombuffer(file.read(), numpy.uint8, offset=8)
    part = 28 // SIDE
    means = numpy.floor(raw.reshape(-1, SIDE, part, SIDE, part).mean(axis=(2, 4)) + 0.5)
    return numpy.hstack([means.reshape(-1, SIDE * SIDE) / 255, numpy.ones((len(raw), 1))]), labels


def gradient(model, x, y):
    """Mean over the batch of each user: x is users x batch x inputs."""
    score = numpy.exp(x @ model - (x @ model).max(axis=-1, keepdims=True))
    share = score / score.sum(axis=-1, keepdims=True)
    share -= numpy.eye(CLASSES)[y]
    return numpy.swapaxes(x, -1, -2) @ share / x.shape[-2]


def clipped(update):
    norm = numpy.abs(update).sum(axis=(1, 2), keepdims=True)
    return update * numpy.minimum(1, CLIP / norm)


def play(rng, trust, lessons, exam):
    width = SIDE * SIDE + 1
    model = rng.uniform(-1, 1, (width, CLASSES)) / math.sqrt(width - 1)
    deal = rng.permutation(len(lessons[1]))[:USERS * (len(lessons[1]) // USERS)].reshape(USERS, -1)
    epsilon = EPSILON / ROUNDS
    for _ in range(ROUNDS):
        own = numpy.repeat(model[None], USERS, axis=0)
        rows = numpy.stack([rng.permutation(user)[:BATCH * BATCHES] for user in deal]).reshape(USERS, BATCHES, BATCH)
        for step in range(BATCHES):
            own -= RATE * gradient(own, lessons[0][rows[:, step]], lessons[1][rows[:, step]])
        total = clipped(own - model).sum(axis=0)
        noises = [epsilon] * (USERS if trust[0] == 1 else 2) + ([trust[1] / ROUNDS] * USERS if trust[1] else [])
        for each in noises:
            total += rng.laplace(0, 2 * CLIP / each, total.shape)
        model = model + total / USERS
    score = exam[0] @ model
    loss = numpy.log(numpy.exp(score - score.max(axis=1, keepdims=True)).sum(axis=1)) + score.max(axis=1) - score[numpy.arange(len(score)), exam[1]]
    return (score.argmax(axis=1) == exam[1]).mean(), loss.mean()


def of_program(program, trust, runs):
    floor = f", floor: {trust[1]}" if trust[1] else ""
    text = (f"name: two\nseed: 3\nruns: {runs}\nhorizon: {ROUNDS}\nagents: {USERS}\nnetwork: {{kind: star}}\nenvironment: {{kind: latency, source: two-groups}}\n"
            "protocol: {kind: select, selector: all, quorum: 2}\nsizes: balanced\n"
            f"privacy: {{mode: sound, epsilon: {EPSILON}, budget: uniform, participations: {ROUNDS}, trust: {{aggregators: {trust[0]}{floor}}}}}\n"
            f"training: {{data: mnist, model: logistic, features: {SIDE}, optimizer: sgd, rate: {RATE}, batch: {BATCH}, batches_max: {BATCHES}, clip: {CLIP}, exam: {EXAM}}}\n")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        found = subprocess.run([program, "run", file.name, "--quiet", "--json"], capture_output=True, text=True, check=True)
    metrics = json.loads(found.stdout)["metrics"]
    return [(metrics[name]["mean"], metrics[name]["sd"] / math.sqrt(runs)) for name in ("accuracy", "loss")]


def main():
    program, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    place = folder()
    if place is None:
        print("skip: no data set mnist here\n[  SKIPPED ] two_updates")
        return 77
    lessons, exam = pictures(place, "train"), pictures(place, "t10k")
    exam = (exam[0][:EXAM], exam[1][:EXAM])
    bad, losses = 0, {}
    for trust in ((1, 0), (2, 0), (2, 24)):
        rng = numpy.random.default_rng(5)
        own = numpy.array([play(rng, trust, lessons, exam) for _ in range(runs)])
        for at, (mean, error) in enumerate(of_program(program, trust, runs)):
            here, spread = own[:, at].mean(), own[:, at].std(ddof=1) / math.sqrt(runs)
            distance = abs(here - mean) / math.hypot(spread, error)
            print(f"aggregators {trust[0]}, floor {trust[1] or 'none'}: {('accuracy', 'loss')[at]} {here:.4f} here, {mean:.4f} there: {distance:.1f} standard errors")
            bad += distance > 4
        losses[trust] = here, spread
    for trust in ((1, 0), (2, 24)):  # the test is not blind
        bad += abs(losses[trust][0] - losses[2, 0][0]) < 8 * math.hypot(losses[trust][1], losses[2, 0][1])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
