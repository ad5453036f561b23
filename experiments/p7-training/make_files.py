#!/usr/bin/env python3
"""Writes the experiment files of this folder: a model of 30 users over epsilon, by one aggregator and by two.

usage: make_files.py   (in this folder)
"""
import pathlib

EPSILONS = ("1", "3", "10", "30", "100", "300")
MATCHED = "38.73"  # 10 sqrt(30 / 2): there the noise of thirty users is that of two aggregators at 10


def write(aggregators, epsilon, name):
    trust = f", trust: {{aggregators: {aggregators}}}"
    words = {1: "one aggregator: each user noises its own update", 2: "two aggregators"}[aggregators]
    pathlib.Path(f"{name}.yaml").write_text(f"""\
# MNIST, one round of 30 users, who train the head of an MLP whose hidden layers public pictures taught; epsilon {epsilon} a user: {words}.
name: {name}
seed: 1
runs: 50
horizon: 1
agents: 30
environment: {{kind: latency, source: two-groups}}
network: {{kind: star}}
protocol: {{kind: select, selector: all, quorum: 2}}
privacy: {{mode: sound, epsilon: {epsilon}, budget: uniform, participations: 1{trust}}}
training: {{data: mnist, model: mlp, optimizer: sgd, rate: 0.5, epochs: 10, clip: 10, frozen: {{pictures: 15000, labels: 5}}}}
""")


def main():
    for aggregators, word in ((1, "one"), (2, "two")):
        for epsilon in EPSILONS:
            write(aggregators, epsilon, f"{word}_{epsilon}")
    write(1, MATCHED, "one_matched")
    none = pathlib.Path("one_1.yaml").read_text().replace("epsilon 1 a user: one aggregator: each user noises its own update", "no noise")
    none = none.replace("name: one_1", "name: none").replace("epsilon: 1, budget: uniform, participations: 1, trust: {aggregators: 1}", "epsilon: inf")
    pathlib.Path("none.yaml").write_text(none)


if __name__ == "__main__":
    main()
