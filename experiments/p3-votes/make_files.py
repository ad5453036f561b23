#!/usr/bin/env python3
"""Writes the experiment files of this folder: one for each problem, algorithm and number of players.

usage: make_files.py   (in this folder)
"""
import pathlib

PLAYERS = (2, 8, 32, 64, 128, 256, 1024)
FEW = (2, 32, 64, 256)
ENVIRONMENT = {
    1: "environment: {kind: bernoulli, means: problem.csv}",
    2: "environment: {kind: bernoulli, means: problem.csv}\n"
       "activation: {kind: groups, groups: [{share: 0.5, events: 0.8}, {share: 0.5, events: 0.2}]}",
    3: "environment: {kind: bernoulli, means: problem.csv, "
       "drift: {per_sample: -1.0e-5, arms: suboptimal, floor: 0}}",
}
WHO = {
    1: "all players alike",
    2: "half of the players make 80 % of the events",
    3: "the means of suboptimal arms fall by 1e-5 a sample",
}
SHARING = {
    "d": ("votes", ", eta: 0.9", "DECENTRALIZED"),
    "1p": ("none", "", "1-PRIVACY"),
    "0p": ("all", "", "0-PRIVACY"),
}


def write(problem, sharing, subroutine, players, votes=""):
    word, eta, title = SHARING[sharing]
    name = f"p{problem}_{sharing}_{subroutine}{'_' + votes if votes else ''}_{players}"
    rule = f", votes: {votes}" if votes else ""
    pathlib.Path(f"{name}.yaml").write_text(f"""\
# Problem {problem}, {WHO[problem]}: {title} with {subroutine}, {players} players{', ' + votes if votes else ''}.
name: {name}
seed: 1
runs: 20
horizon: 1000000000
{ENVIRONMENT[problem]}
agents: {players}
network: {{kind: broadcast}}
protocol: {{kind: votes, subroutine: {subroutine}, epsilon: 0.25, delta: 0.05{eta}, sharing: {word}{rule}}}
privacy: {{mode: paper}}
""")
    return name


def write_private(epsilon):
    name = f"private_eps{epsilon.replace('.', '')}_64"
    pathlib.Path(f"{name}.yaml").write_text(f"""\
# Ours: Problem 1 with private votes, epsilon {epsilon} per reward, a committee of 29 of 64 players.
name: {name}
seed: 1
runs: 20
horizon: 1000000000
{ENVIRONMENT[1]}
agents: 64
network: {{kind: broadcast}}
protocol: {{kind: votes, epsilon: 0.25, delta: 0.05, eta: 0.9, votes: committee}}
privacy: {{mode: sound, epsilon: {epsilon}}}
""")


def main():
    for problem in (1, 2, 3):
        for players in PLAYERS:
            for subroutine in ("ser3", "ugapec"):
                write(problem, "d", subroutine, players)
                write(problem, "1p", subroutine, players)
    for subroutine in ("ser3", "ugapec"):
        for players in PLAYERS:
            write(1, "0p", subroutine, players)
    for problem in (1, 2):
        for players in FEW:
            for subroutine in ("median", "successive"):
                write(problem, "d", subroutine, players)
    for rule in ("committee", "binomial"):
        write(1, "d", "ser3", 64, rule)
        write(1, "d", "ser3", 256, rule)
    for epsilon in ("0.1", "1", "inf"):
        write_private(epsilon)


if __name__ == "__main__":
    main()
