#!/usr/bin/env python3
"""Writes the experiment files of this folder: one for each data set, algorithm and D or B.

usage: make_files.py   (in this folder)
"""
import pathlib

SPHERE = " {kind: contextual, contextual: {dimension: 10, arms: 25, link: logistic, source: sphere}}"
SMALL = " {kind: contextual, contextual: {dimension: 5, arms: 25, link: logistic, source: sphere}}"
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
# data set: environment, clients, slots, runs, what it is
DATA = {
    "synthetic": (SPHERE, 200, 2000, 5, "Sec. 5: the synthetic data"),
    "small": (SMALL, 20, 500, 10, "Table 1, small enough for each B and every baseline"),
    "movielens": (MOVIELENS, 37, 1000, 3, "Sec. 5: MovieLens, but the small set"),
    "lastfm": (LASTFM, 1892, 46, 3, "as MovieLens, but Last.fm (Cesa-Bianchi et al. 2013)"),
}
TRIGGERED = {"fedglb": "FedGLB-UCB", "dislinucb": "DisLinUCB"}
SCHEDULED = {"v1": "variant 1", "v2": "variant 2", "v3": "variant 3"}
ALONE = {"n-ons": "N-ONS-GLM", "n-ucb": "N-UCB-GLM", "one-ucb": "One-UCB-GLM, an update a round", "random": "uniform play"}
# data set: algorithm: values of D or B
PLAN = {
    "synthetic": {"fedglb": ("5000", "500", "50", "5", "0.5", "0.0775"), "v1": ("5", "10", "50"), "v2": ("5", "10", "50"),
                  "v3": ("50", "500", "5000"), "n-ons": (), "random": ()},
    # T/(N d log(NT)) = .5429; sqrt(NT) = 100; d^2 N log(NT) = 4605
    "small": {"fedglb": ("0.5429",), "v1": ("100",), "v2": ("4605",), "v3": ("100",), "n-ons": (), "n-ucb": (),
              "one-ucb": (), "random": ()},
    "movielens": {"fedglb": ("5000", "900", "300"), "v1": ("5",), "v2": ("5", "20"), "v3": ("100", "1000"),
                  "dislinucb": ("300", "30", "3", "0.3"), "n-ons": (), "random": ()},
    "lastfm": {"fedglb": ("30",), "dislinucb": ("0.3",), "n-ons": (), "random": ()},
}


def write(data, algorithm, value):
    environment, clients, slots, runs, what = DATA[data]
    title = {**TRIGGERED, **SCHEDULED, **ALONE}[algorithm]
    letter = "d" if algorithm in TRIGGERED else "b"
    name = f"{data}_{algorithm.replace('-', '_')}" + (f"_{letter}{value.replace('.', '_')}" if value else "")
    key = "threshold" if algorithm in TRIGGERED else "updates"
    protocol = f"kind: glm-ucb, variant: {algorithm}" + (f", {key}: {value}" if value else "")
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
