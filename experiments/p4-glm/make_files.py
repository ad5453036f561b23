#!/usr/bin/env python3
"""Writes the experiment files of this folder: one for each data set, algorithm and D or B.

usage: make_files.py   (in this folder)
"""
import pathlib

SPHERE = " {kind: contextual, contextual: {dimension: 10, arms: 25, link: logistic, source: sphere}}"
SMALL = " {kind: contextual, contextual: {dimension: 5, arms: 25, link: logistic, source: sphere}}"
POOL = " {kind: contextual, contextual: {dimension: 10, arms: 25, link: logistic, source: pool}}"
MOVIELENS = """
  kind: contextual
  contextual:
    dimension: 25
    arms: 25
    link: logistic
    source: ratings
    folder: movielens/ml-latest-small.tar/ml-latest-small
    ratings: {table: ratings.csv, agent: userId, item: movieId, value: rating, above: 2, time: timestamp}
    words:
      - {table: movies.csv, item: movieId, text: genres}
      - {table: tags.csv, item: movieId, text: tag}"""
LASTFM = """
  kind: contextual
  contextual:
    dimension: 25
    arms: 25
    link: logistic
    source: ratings
    folder: lastfm/lastfm-hetrec2011.tar/lastfm-hetrec2011
    encoding: latin1
    ratings: {table: user_artists.dat, agent: userID, item: artistID, value: weight, above: 0}
    words:
      - {table: user_taggedartists.dat, item: artistID, text: tagID, names: {table: tags.dat, key: tagID, text: tagValue}}"""
# As the authors' program has it: features of mean 0 and variance 1, a constant one, and users in random order, not in that of time.
TIMED = MOVIELENS.replace("dimension: 25", "dimension: 26") + """
    standardise: yes
    constant: yes"""
AUTHORS = TIMED.replace(", time: timestamp", "")
# Their descent; on the synthetic data it begins at 0, on MovieLens it goes on from the last model and ends after 1,000 rounds.
DESCENT = ", descent: authors, start: zero"
FIXED = ", lambda: 0.2, exploration: constant, alpha: 0.3, descent: authors, rounds: 1000"
# data set: environment, keys of the protocol, clients, slots, runs, what it is
DATA = {
    "synthetic": (SPHERE, "", 200, 2000, 10, "Sec. 5: the synthetic data"),
    "pool": (POOL, DESCENT, 200, 2000, 10, "Sec. 5: the synthetic data as the authors ran them"),
    "pool_printed": (POOL, "", 200, 2000, 10, "Sec. 5: the authors' pool of arms, Alg. 3 as printed"),
    "sphere_authors": (SPHERE, DESCENT, 200, 2000, 10, "Sec. 5: arms on the sphere, Alg. 3 as the authors ran it"),
    "small": (SMALL, "", 20, 500, 10, "Table 1, small enough for each B and every baseline"),
    "loose": (SMALL, ", suboptimality: 0.001", 20, 500, 10, "as small, updates that end at eps = .001"),
    "long": (SMALL, "", 20, 2000, 10, "as small, four times as long, each D and B by its theorem"),
    "movielens": (MOVIELENS, "", 37, 1000, 3, "Sec. 5: MovieLens, but the small set"),
    "authors": (AUTHORS, FIXED + ", clock: rewards", 37, 1000, 10, "Sec. 5: MovieLens as the authors ran it, but the small set"),
    "authors_slots": (AUTHORS, FIXED, 37, 1000, 10, "as MovieLens by the authors, the trigger by slots"),
    "authors_timed": (TIMED, FIXED + ", clock: rewards", 37, 1000, 10, "as MovieLens by the authors, decisions in order of time"),
    "lastfm": (LASTFM, "", 1892, 46, 3, "as MovieLens, but Last.fm (Cesa-Bianchi et al. 2013)"),
}
TRIGGERED = {"fedglb": "FedGLB-UCB", "dislinucb": "DisLinUCB"}
SCHEDULED = {"v1": "variant 1", "v2": "variant 2", "v3": "variant 3"}
ALONE = {"n-ons": "N-ONS-GLM", "n-ucb": "N-UCB-GLM", "one-ucb": "One-UCB-GLM, an update a round", "random": "uniform play"}
SYNTHETIC = {"fedglb": ("5000", "500", "50", "5", "0.5", "0.0775"), "v1": ("5", "10", "50"), "v2": ("5", "10", "50"),
             "v3": ("50", "500", "5000"), "n-ons": (), "random": ()}
# data set: algorithm: values of D or B
PLAN = {
    "synthetic": {**SYNTHETIC, "n-ucb": (), "one-ucb": ()},
    "pool": SYNTHETIC,
    "pool_printed": {"fedglb": ("5",)},
    "sphere_authors": {"fedglb": ("5",)},
    # T/(N d log(NT)) = .5429; sqrt(NT) = 100; d^2 N log(NT) = 4605
    "small": {"fedglb": ("0.5429",), "v1": ("100",), "v2": ("4605",), "v3": ("100", "10000"), "n-ons": (), "n-ucb": (),
              "one-ucb": (), "random": ()},
    "loose": {"fedglb": ("0.5429",)},
    # T/(N d log(NT)) = 1.887; sqrt(NT) = 200
    "long": {"fedglb": ("1.887",), "v1": ("200",), "v3": ("200",)},
    "movielens": {"fedglb": ("5000", "900", "300"), "v1": ("5",), "v2": ("5", "20"), "v3": ("100", "1000"),
                  "dislinucb": ("300", "30", "3", "0.3"), "n-ons": (), "random": ()},
    # D and B times 36,985/121,934, our decisions over theirs
    "authors": {"fedglb": ("1517", "273", "91"), "v1": ("2", "6"), "v2": ("2", "6"), "v3": ("30", "303"),
                "dislinucb": ("91", "9.1", "0.91", "0.091"), "n-ons": (), "n-ucb": (), "one-ucb": (), "random": ()},
    "authors_slots": {"fedglb": ("273",), "dislinucb": ("0.091",)},
    "authors_timed": {"fedglb": ("273",), "v2": ("6",), "dislinucb": ("0.091",)},
    "lastfm": {"fedglb": ("30",), "dislinucb": ("0.3",), "n-ons": (), "random": ()},
}


def write(data, algorithm, value):
    environment, keys, clients, slots, runs, what = DATA[data]
    title = {**TRIGGERED, **SCHEDULED, **ALONE}[algorithm]
    letter = "d" if algorithm in TRIGGERED else "b"
    name = f"{data}_{algorithm.replace('-', '_')}" + (f"_{letter}{value.replace('.', '_')}" if value else "")
    key = "threshold" if algorithm in TRIGGERED else "updates"
    protocol = f"kind: glm-ucb, variant: {algorithm}" + (f", {key}: {value}" if value else "") + keys
    said = f", {letter.upper()} = {value}" if value else ""
    pathlib.Path(f"{name}.yaml").write_text(f"""\
# Li, Wang, {what}: {title}{said}.
name: p4-{name}
seed: 4
runs: {runs}
horizon: {slots}
checkpoints: 50
environment:{environment}
agents: {clients}
network: {{kind: star}}
protocol: {{{protocol}}}
privacy: {{mode: none}}
""", encoding="utf-8")


def main():
    for data, algorithms in PLAN.items():
        for algorithm, values in algorithms.items():
            for value in values or (None,):
                write(data, algorithm, value)


if __name__ == "__main__":
    main()
