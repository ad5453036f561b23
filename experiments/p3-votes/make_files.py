#!/usr/bin/env python3
"""Writes the experiment files of this folder: one for each problem, algorithm and number of players.

usage: make_files.py   (in this folder)
"""
import pathlib

PLAYERS = (2, 8, 32, 64, 128, 256, 1024)
FEW = (2, 32, 64, 256)
SHARED = (2, 64, 1024)  # 0-PRIVACY, where it makes no difference who samples
GAP_SAMPLES = (5000, 10000, 20000, 40000)
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
runs: {400 if sharing == "0p" and players == 64 else 20}
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


def write_equal_epsilon(sharing, epsilon):
    """The same protection of each reward as private votes: published sums, or every reward randomised."""
    subroutine = "" if sharing == "sums" else ", subroutine: ser3"
    name = f"{sharing if sharing == 'sums' else 'randomised'}_eps{epsilon.replace('.', '')}_64"
    what = "published sums" if sharing == "sums" else "every reward shared, randomised (Sec. 1.2)"
    pathlib.Path(f"{name}.yaml").write_text(f"""\
# Problem 1 with {what}, epsilon {epsilon} per reward, 64 players.
name: {name}
seed: 1
runs: 20
horizon: 1000000000
{ENVIRONMENT[1]}
agents: 64
network: {{kind: broadcast}}
protocol: {{kind: votes{subroutine}, epsilon: 0.25, delta: 0.05, sharing: {sharing}}}
privacy: {{mode: sound, epsilon: {epsilon}}}
""")


def write_gap(letter, samples):
    """Fig. 3: one player that has seen so many samples, of which the mean gap is asked."""
    drift = ", drift: {per_sample: -1.0e-5, arms: suboptimal, floor: 0}" if letter == "a" else ""
    # Stretches of 20,000 samples: arm k has the mean of k + 1 in the second.
    switches = "" if letter == "a" or samples <= 20000 else f", switches: {samples // 20000 - 1}"
    what = "means of suboptimal arms fall" if letter == "a" else "a switch after 20,000 samples"
    kind = "ser3" if letter == "a" else "ser4"
    means = "problem.csv" if letter == "a" else "switch.csv"
    epsilon = 0.25 if letter == "a" else 0.3
    reset = "" if letter == "a" else ", reset: 1.0e-9"
    pathlib.Path(f"fig3{letter}_{samples}.yaml").write_text(f"""\
# Fig. 3{letter}: the mean gap after {samples} samples, {what}.
name: fig3{letter}_{samples}
seed: 1
runs: 2
horizon: {samples}
checkpoints: 1
environment: {{kind: constant, means: {means}{drift}}}
agents: 1000
network: {{kind: broadcast}}
protocol: {{kind: votes, subroutine: {kind}, epsilon: {epsilon}, delta: 0.05, eta: 0.9{reset}{switches}}}
privacy: {{mode: paper}}
""")


def write_switch(name, reset, what):
    """One switch of the best arm half way: with resets and without."""
    pathlib.Path("switch.csv").write_text("# the next stretch has each arm's right neighbour's mean\n0.7,0.1,0.6\n")
    pathlib.Path(f"switch_{name}_64.yaml").write_text(f"""\
# Sec. 4: the best arm switches half way, 64 players: DSER4 with {what}.
name: switch_{name}_64
seed: 1
runs: 20
horizon: 1000000
environment: {{kind: bernoulli, means: switch.csv}}
agents: 64
network: {{kind: broadcast}}
protocol: {{kind: votes, subroutine: ser4, epsilon: 0.4, delta: 0.05, eta: 0.9, switches: 1, reset: {reset}}}
privacy: {{mode: paper}}
""")


def write_differing():
    """Sec. 6: 40 players make 80 % of the events and like arm 0 best, the others like arm 1 best."""
    rows = ["0.7,0.3,0.1,0.1"] * 40 + ["0.3,0.7,0.1,0.1"] * 24
    pathlib.Path("differing.csv").write_text("# 40 players who like arm 0 best, 24 who like arm 1 best\n" +
                                             "\n".join(rows) + "\n")
    pathlib.Path("differing_64.yaml").write_text("""\
# Sec. 6: means differ from player to player; the 40 players who like arm 0 best make 80 % of the events.
name: differing_64
seed: 1
runs: 20
horizon: 1000000000
environment: {kind: bernoulli, means: differing.csv}
activation: {kind: groups, groups: [{share: 0.625, events: 0.8}, {share: 0.375, events: 0.2}]}
agents: 64
network: {kind: broadcast}
protocol: {kind: votes, subroutine: ser3, epsilon: 0.25, delta: 0.05, eta: 0.9}
privacy: {mode: paper}
""")


def main():
    for problem in (1, 2, 3):
        for players in PLAYERS:
            for subroutine in ("ser3", "ugapec"):
                write(problem, "d", subroutine, players)
                write(problem, "1p", subroutine, players)
    for problem in (1, 2, 3):
        for subroutine in ("ser3", "ugapec"):
            for players in PLAYERS if problem == 1 else SHARED:
                write(problem, "0p", subroutine, players)
    for problem in (1, 2):
        for players in FEW:
            for subroutine in ("median", "successive"):
                write(problem, "d", subroutine, players)
    for rule in ("committee", "binomial"):
        write(1, "d", "ser3", 64, rule)
        write(1, "d", "ser3", 256, rule)
    for epsilon in ("0.1", "1", "inf"):
        write_private(epsilon)
        write_equal_epsilon("sums", epsilon)
        if epsilon != "inf":
            write_equal_epsilon("all", epsilon)
    for samples in GAP_SAMPLES:
        write_gap("a", samples)
        write_gap("b", samples)
    write_switch("resets", "1.0e-5", "ten resets on average")
    write_switch("none", "1.0e-12", "no reset in most runs: DSER3 that goes on")
    write_differing()


if __name__ == "__main__":
    main()
