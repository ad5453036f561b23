#!/usr/bin/env python3
"""Writes the experiment files of this folder: the phased index over sites and epsilons, by one aggregator, two, and without noise.

usage: make_files.py   (in this folder)
"""
import pathlib

SITES = (5, 10, 20, 50, 100, 200)
EPSILONS = ("0.1", "0.3", "1", "3")
TRUSTS = {
    "one": ("{{mode: sound, epsilon: {epsilon}}}", "one aggregator: each site noises its own sums"),
    "two": ("{{mode: sound, epsilon: {epsilon}, trust: {{aggregators: 2}}}}", "two aggregators"),
    "floor": ("{{mode: sound, epsilon: {epsilon}, trust: {{aggregators: 2, floor: 8}}}}", "two aggregators, and noise of the sites at epsilon 8"),
    "none": ("{{mode: sound, epsilon: inf}}", "no noise"),
}


UNIFORM = ("{kind: bernoulli, generated: {arms: 20, draw: uniform}}", "20 uniform means, drawn anew in each run")
VISITS = ("{kind: bernoulli, means: visits.csv}", "one arm of 3 %, nine of 2 %")


def write(trust, agents, epsilon, name, protocol="phased-index", runs=400, setting=UNIFORM):
    environment, what = setting
    privacy, words = TRUSTS[trust]
    pathlib.Path(f"{name}.yaml").write_text(f"""\
# {what}, {agents} sites, epsilon {epsilon} per reward: {words}.
name: {name}
seed: 1
runs: {runs}
horizon: 200000
agents: {agents}
environment: {environment}
network: {{kind: star}}
protocol: {{kind: {protocol}}}
privacy: {privacy.format(epsilon=epsilon)}
""")


LINEAR = {"one": "epsilon: 1", "two": "epsilon: 1", "none": "epsilon: 100000"}


def write_linear(trust, agents):
    """The private linear bandit; without noise, as good as: the same protocol at the largest epsilon."""
    two = ", trust: {aggregators: 2}" if trust == "two" else ""
    pathlib.Path(f"linear_{trust}_{agents}.yaml").write_text(f"""\
# The private linear bandit, {agents} clients, {LINEAR[trust].replace(":", "")} per interaction: {"next to no noise" if trust == "none" else TRUSTS[trust][1].replace("site noises its own", "client noises its own")}.
name: linear_{trust}_{agents}
seed: 1
runs: 20
horizon: 500
agents: {agents}
environment: {{kind: contextual, contextual: {{dimension: 5, arms: 10, link: identity}}}}
network: {{kind: star}}
protocol: {{kind: glm-ucb, noise: 0.25}}
privacy: {{mode: sound, {LINEAR[trust]}, delta: 1.0e-6{two}}}
""")


def main():
    for trust in LINEAR:
        for agents in (10, 20, 50, 100, 200):
            write_linear(trust, agents)
    for trust in TRUSTS:
        for agents in SITES:
            write(trust, agents, "1", f"sites_{trust}_{agents}")
    for trust in ("one", "two"):
        for epsilon in EPSILONS:
            write(trust, 50, epsilon, f"epsilon_{trust}_{epsilon.replace('.', '')}")
        write(trust, 50, "1", f"visits_{trust}", setting=VISITS)
        write(trust, 50, "1", f"elimination_{trust}", "elimination, bounds: exact", 200)


if __name__ == "__main__":
    main()
