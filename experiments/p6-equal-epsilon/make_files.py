#!/usr/bin/env python3
"""Writes the experiment files of this folder: one for each setting, algorithm and epsilon per reward.

usage: make_files.py   (in this folder)
"""
import pathlib

UNIFORM = "{kind: bernoulli, generated: {arms: 20, draw: uniform}}"
SETTINGS = {
    "uniform": (UNIFORM, 50, 200000, ("0.1", "0.3", "1", "3"), "20 uniform means, drawn anew in each run"),
    "visits": ("{kind: bernoulli, means: visits.csv}", 50, 200000, ("1",), "one arm of 3 %, nine of 2 %"),
    "hospital": ("{kind: bernoulli, means: hospital.csv}", 3, 1000000, ("1", "inf"), "five arms of the hospitals"),
}
RUNS = {"uniform": 400, "visits": 400, "hospital": 60}
ALGORITHMS = {
    "letter": ("{kind: elimination}", "elimination with the paper's bounds"),
    "exact": ("{kind: elimination, bounds: exact}", "elimination with exact bounds"),
    "index": ("{kind: phased-index}", "the phased index"),
}


# Other families at the same epsilon: protocol, network, runs, horizon (None: slots of a site), what it is.
OTHERS = {
    "gossip": ("{kind: gossip-ucb, release: doubling}", "{kind: complete}", 12, None, "gossip, every site a neighbour of all"),
    "votes": ("{kind: votes, sharing: sums, epsilon: 0.01, delta: 0.05}", "{kind: broadcast}", 40, 50 * 200000,
              "elimination by votes with noised sums, an answer within 0.01 of the best"),
}


def write(name, title, setting, protocol, privacy, network="{kind: star}", runs=None, length=None):
    environment, agents, horizon, _, _ = SETTINGS[setting]
    runs, horizon = runs or RUNS[setting], length or horizon
    pathlib.Path(f"{name}.yaml").write_text(f"""\
# {title}.
name: {name}
seed: 1
runs: {runs}
horizon: {horizon}
agents: {agents}
environment: {environment}
network: {network}
protocol: {protocol}
privacy: {privacy}
""")


def main():
    for setting, (_, _, _, epsilons, what) in SETTINGS.items():
        for word, (protocol, title) in ALGORITHMS.items():
            for epsilon in epsilons:
                name = f"{setting}_{word}_eps{epsilon.replace('.', '')}"
                write(name, f"{what}: {title}, epsilon {epsilon} per reward", setting, protocol,
                      f"{{mode: sound, epsilon: {epsilon}}}")
    for word, (protocol, network, runs, length, title) in OTHERS.items():
        for epsilon in SETTINGS["uniform"][3]:
            name = f"uniform_{word}_eps{epsilon.replace('.', '')}"
            write(name, f"{SETTINGS['uniform'][4]}: {title}, epsilon {epsilon} per reward", "uniform", protocol,
                  f"{{mode: sound, epsilon: {epsilon}}}", network, runs, length)
    for setting, runs in (("uniform", 24), ("visits", 24), ("hospital", None)):
        write(f"{setting}_pooled", f"{SETTINGS[setting][4]}: one KL-UCB that sees every reward, not private", setting,
              "{kind: index, index: kl-ucb, sharing: pooled}", "{mode: none}", runs=runs)
    pathlib.Path("visits.csv").write_text("0.03" + 9 * ",0.02" + "\n")
    pathlib.Path("hospital.csv").write_text("0.3766,0.3626,0.34,0.3355,0.3087\n")


if __name__ == "__main__":
    main()
