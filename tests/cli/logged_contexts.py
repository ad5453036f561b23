#!/usr/bin/env python3
"""`tacit run` and `check` of glm-ucb on logged decisions, with stand-ins in the format of MovieLens and Last.fm that a script
makes: what is read is what Python's csv module counts; folder and archive, one thread and three are the same; the page has
what it should; `check` prints the bounds of the paper, worked out here anew. Needs no data set.

usage: logged_contexts.py    $TACIT_PROGRAM, $TACIT_SOURCE
"""
import collections
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tarfile

from program import run

TACIT = os.environ["TACIT_PROGRAM"]
SOURCE = pathlib.Path(os.environ["TACIT_SOURCE"])
EXPERIMENTS = SOURCE / "experiments/p4-glm"


def tacit(*words, data=None, code=0):
    environment = dict(os.environ, HOME="/nonexistent")
    environment.pop("TACIT_DATA", None)
    if data is not None:
        environment["TACIT_DATA"] = str(data)
    done = subprocess.run([TACIT, *map(str, words)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout if code == 0 else done.stderr


def settings(**values):
    words = []
    for key, value in values.items():
        words += ["--set", f"{key.replace('__', '.')}={value}"]
    return words


SMALL = dict(runs=2, agents=5, environment__contextual__arms=8, environment__contextual__dimension=6,
             protocol__threshold=2, checkpoints=5)


def rows_of(path, **how):
    with open(path, newline="", encoding="latin-1") as table:
        return list(csv.DictReader(table, **how))


def movielens_is_read_as_csv_reads_it(folder):
    ratings = rows_of(folder / "ml-small/ratings.csv")
    counts = collections.Counter(row["userId"] for row in ratings)
    users = {user for user, _ in counts.most_common(5)}
    chosen = [row for row in ratings if row["userId"] in users]
    liked = sum(float(row["rating"]) > 2 for row in chosen)
    slots = math.ceil(len(chosen) / 5)
    small = settings(**SMALL, horizon=slots, environment__contextual__folder=folder / "ml-small")
    told = tacit("check", EXPERIMENTS / "movielens_fedglb_d900.yaml", *small)
    assert f"{len(chosen)} of {len(ratings)} rows, those of the 5 most active of {len(counts)} agents, in order" in told, told
    first = tacit("run", EXPERIMENTS / "movielens_fedglb_d900.yaml", *small, "--json", "--quiet", "--threads", 1)
    assert first == tacit("run", EXPERIMENTS / "movielens_fedglb_d900.yaml", *small, "--json", "--quiet", "--threads", 3)
    result = json.loads(first)
    metrics = result["metrics"]
    assert abs(metrics["reward"]["mean"] + metrics["regret"]["mean"] - liked) < 1e-9
    assert abs(metrics["reward_over_uniform"]["mean"] * liked / 8 - metrics["reward"]["mean"]) < 1e-9
    assert result["answer"] is None
    assert [len(result["profiles"][name]["mean"]) for name in ("coefficients", "half_widths")] == [6, 6]
    over = settings(**SMALL, horizon=slots + 1, environment__contextual__folder=folder / "ml-small")
    assert f"allowed: up to {slots} slots" in tacit("check", EXPERIMENTS / "movielens_fedglb_d900.yaml", *over, code=2)


def the_same_experiment_reads_the_large_set_where_it_is(folder):
    """By the one setting that the documents name; 37 clients, 25 dimensions and 25 arms as the file has them."""
    data, name = folder / "large", EXPERIMENTS / "movielens_fedglb_d900.yaml"
    ratings = rows_of(data / "movielens/ml-20m/ratings.csv")
    counts = collections.Counter(row["userId"] for row in ratings)
    users = {user for user, _ in counts.most_common(37)}
    assert counts.most_common(38)[36][1] > counts.most_common(38)[37][1]  # no tie: it is clear who they are
    chosen = [row for row in ratings if row["userId"] in users]
    there = {row["movieId"] for table in ("movies", "tags") for row in rows_of(data / f"movielens/ml-20m/{table}.csv")}
    assert {row["movieId"] for row in ratings} <= there
    slots = math.ceil(len(chosen) / 37)
    large = settings(environment__contextual__folder="movielens/ml-20m", runs=1, checkpoints=5, horizon=slots, protocol__threshold=20)
    told = tacit("check", name, *large, data=data)
    assert f"{len(chosen)} of {len(ratings)} rows, those of the 37 most active of {len(counts)} agents, in order" in told, told
    words = {"action", "comedy", "drama", "film", "noir", "sci", "fi", "thriller", "western", "no", "genres", "listed", "quotes",
             "ending", "good", "bad", "slow", "space", "heist", "court", "road", "war", "ship", "room", "trip"}
    assert f"by {len(words)} words" in told, told
    result = json.loads(tacit("run", name, *large, "--json", "--quiet", data=data))
    metrics = result["metrics"]
    liked = sum(float(row["rating"]) > 2 for row in chosen)
    assert abs(metrics["reward"]["mean"] + metrics["regret"]["mean"] - liked) < 1e-9
    assert metrics["updates"]["mean"] > 0 and metrics["reward"]["mean"] > 0
    assert [len(result["profiles"][name]["mean"]) for name in ("coefficients", "half_widths")] == [25, 25]


def an_archive_in_a_data_directory_is_the_same(folder):
    small = settings(**SMALL, horizon=20, environment__contextual__folder=folder / "ml-small")
    plain = tacit("run", EXPERIMENTS / "movielens_v2_b5.yaml", *small, "--json", "--quiet")
    (folder / "data/set").mkdir(parents=True)
    for ending in ("", ".xz", ".gz"):
        path = folder / f"data/set/ml.tar{ending}"
        with tarfile.open(path, "w" + ending.replace(".", ":")) as archive:
            archive.add(folder / "ml-small", "inner")
        packed = settings(**SMALL, horizon=20, environment__contextual__folder="set/ml.tar/inner")
        assert plain == tacit("run", EXPERIMENTS / "movielens_v2_b5.yaml", *packed, "--json", "--quiet", data=folder / "data")
        path.unlink()


def lastfm_has_names_of_tags_and_no_order(folder):
    small = settings(**SMALL, horizon=16, environment__contextual__folder=folder / "lastfm-small")
    told = tacit("check", EXPERIMENTS / "lastfm_fedglb_d30.yaml", *small)
    words = {"rock", "post", "trip", "hop", "motörhead", "80", "s", "live", "island", "b", "side"}
    assert f"by {len(words)} words" in told and "shuffled anew in each run" in told, told
    tagged = {row["artistID"] for row in rows_of(folder / "lastfm-small/user_taggedartists.dat", delimiter="\t")}
    listened = rows_of(folder / "lastfm-small/user_artists.dat", delimiter="\t")
    blank = len({row["artistID"] for row in listened} - tagged)
    rows = sum(row["artistID"] in tagged and int(row["userID"]) <= 5 for row in listened)
    assert blank > 0 and f"; {blank} have no direction and are left out" in told, told
    assert f"Logged decisions: {rows} of {len(listened)} rows" in told, told
    result = json.loads(tacit("run", EXPERIMENTS / "lastfm_fedglb_d30.yaml", *small, "--json", "--quiet"))
    assert result["metrics"]["reward"]["min"] > 0


def data_that_are_not_here_are_named(folder):
    told = tacit("run", EXPERIMENTS / "movielens_fedglb_d900.yaml", "--quiet", data=folder / "nowhere", code=2)
    assert "environment.contextual: 'movielens/ml-latest-small.tar' is neither beside" in told, told
    assert told.count("\n") == 1


WRONG = (
    ("source=offers", "environment.contextual.ratings: belongs to source: ratings"),
    ("source=sphere", "belongs to source: ratings"),
    ("pool=5", "environment.contextual.pool: belongs to source: pool"),
    ("ratings.abov=2", "environment.contextual.ratings.abov: unknown key; did you mean 'above'?"),
    ("words=x", "environment.contextual.words: a list of 1 to 16 is expected"),
    ("encoding=utf8", "environment.contextual.encoding"),
    ("constant=maybe", "environment.contextual.constant: 'maybe' is not known here; allowed: no, yes"),
    ("standardise=2", "environment.contextual.standardise: '2' is not known here; allowed: no, yes"),
    ("ratings.value=stars", "there is no column 'stars'"),
    ("ratings.table=absent.csv", "is neither beside"),
)


WRONG_UPDATES = (
    ("clock=hours", "protocol.clock: 'hours' is not known here; allowed: slots, rewards"),
    ("descent=newton", "protocol.descent: 'newton' is not known here; allowed: printed, authors"),
    ("start=one", "protocol.start: 'one' is not known here; allowed: last, zero"),
    ("rounds=10001", "protocol.rounds: '10001' is not allowed; allowed: a whole number from 1 to 10000"),
)


def wrong_keys_say_what_is_allowed(folder):
    small = settings(**SMALL, horizon=5, environment__contextual__folder=folder / "ml-small")
    for setting, says in WRONG:
        told = tacit("check", EXPERIMENTS / "movielens_fedglb_d900.yaml", *small, "--set", f"environment.contextual.{setting}",
                     code=2)
        assert says in told, (setting, told)
    for setting, says in WRONG_UPDATES:
        told = tacit("check", EXPERIMENTS / "movielens_fedglb_d900.yaml", *small, "--set", f"protocol.{setting}", code=2)
        assert says in told, (setting, told)
    told = tacit("check", EXPERIMENTS / "movielens_fedglb_d900.yaml", *small, *settings(environment__contextual__dimension=1),
                 *settings(environment__contextual__constant="yes"), code=2)
    assert "environment.contextual.dimension: the constant coordinate is one of them; allowed: 2 or more" in told, told
    told = tacit("check", EXPERIMENTS / "pool_fedglb_d5.yaml", *settings(environment__contextual__constant="yes"), code=2)
    assert "environment.contextual.constant: belongs to source: ratings, and offers; a pool has it anyway" in told, told
    told = tacit("check", EXPERIMENTS / "movielens_fedglb_d900.yaml", *small, *settings(privacy="{mode: sound, epsilon: 1, delta: 1e-6}"),
                 "--set", "protocol={kind: glm-ucb}", code=2)
    assert "sound mode plays every client in every slot" in told, told


def offers_and_vectors_of_a_table_are_played(folder):
    lines = ["case,who,age,dose,good"]
    for case in range(40):
        lines += [f"{case},{'ab'[case % 2]},{0.1 * (case % 5):.1f},{dose},{1 if dose == 0.5 else 0}" for dose in (-0.5, 0, 0.5)]
    (folder / "offers.csv").write_text("\n".join(lines) + "\n")
    (folder / "offers.yaml").write_text("""\
name: offers
seed: 1
runs: 2
horizon: 20
agents: 2
environment:
  kind: contextual
  contextual:
    dimension: 2
    arms: 3
    source: offers
    offers: {table: offers.csv, agent: who, decision: case, reward: good, features: [age, dose]}
protocol: {kind: glm-ucb, variant: fedglb, threshold: 1}
""")
    result = json.loads(tacit("run", folder / "offers.yaml", "--json", "--quiet"))
    assert result["metrics"]["reward"]["mean"] > 20  # of 40; chance has 13.3
    assert result["profiles"]["coefficients"]["rows"] == ["age", "dose"]
    assert result["profiles"]["coefficients"]["mean"][1] > 0  # the larger dose is the good one
    told = tacit("check", folder / "offers.yaml", *settings(environment__contextual__dimension=1), code=2)
    assert "environment.contextual.offers.features: a list of 1 columns is expected" in told, told
    # Vectors of length 1, which single precision makes a little longer or shorter; and one that is longer, which has a row.
    turned = [lines[0]]
    for row, line in enumerate(lines[1:]):
        case, who, _, _, good = line.split(",")
        turned.append(f"{case},{who},{math.cos(row):.17g},{math.sin(row):.17g},{good}")
    (folder / "offers.csv").write_text("\n".join(turned) + "\n")
    tacit("run", folder / "offers.yaml", "--quiet")
    (folder / "offers.csv").write_text("\n".join(turned[:7] + ["2,a,0.8,0.7,1"] + turned[8:]) + "\n")
    told = tacit("run", folder / "offers.yaml", "--quiet", code=2)
    assert "environment.contextual: " in told and "offers.csv:8: the vector is longer than 1" in told, told


def the_page_shows_communication_updates_and_the_model(folder):
    tacit("run", EXPERIMENTS / "synthetic_fedglb_d5.yaml", *settings(runs=2, agents=4, horizon=60, checkpoints=10), "--quiet",
          "--out", folder / "page")
    page = (folder / "page/report.html").read_text(encoding="utf-8")
    for part in ("<h2>Updates over time</h2>", "<h2>Regret against Links used</h2>", "<h2>Regret against Bytes</h2>",
                 "Half of its interval", "Coefficient", "Truth"):
        assert part in page, part
    head = (folder / "page/curve.csv").read_text().splitlines()[0].split(",")
    assert [name for name in head if name.endswith("_mean")] == [
        f"{name}_mean" for name in ("regret", "reward", "updates", "links", "scalars", "bytes", "reward_over_uniform")]
    assert json.loads((folder / "page/summary.json").read_text())["answer"] is None


# ---- What check prints, worked out anew ----

N, T, DIMENSION, DELTA, LAMBDA = 200, 2000, 10, 0.01, 2
K_MU, R_MAX = 0.25, 0.5
C_MU = math.exp(-1) / (1 + math.exp(-1)) ** 2


def expected(variant, value):
    """(updates, B or D of the theorem, regret, links): constants left out."""
    size, log_nt, log_delta = N * T, math.log(N * T), math.log(N * T / DELTA)
    k = K_MU * (K_MU + R_MAX) / C_MU
    good = k * DIMENSION * math.sqrt(size) * log_delta
    growth = DIMENSION * math.log(1 + size * C_MU / (LAMBDA * DIMENSION))
    if variant == "fedglb":
        length = math.sqrt(value * T / growth)
        return (math.ceil(T / length) + math.ceil(growth * length / value), T / (N * DIMENSION * log_nt),
                good + k * (DIMENSION * log_delta) ** 1.5 * N * math.sqrt(value),
                math.sqrt(DIMENSION / value) * log_delta ** 1.5 * T * N ** 1.5)
    if variant == "v1":
        return (value, math.sqrt(size), K_MU * R_MAX / C_MU * DIMENSION * math.sqrt(size) * log_delta, N * N * T * log_nt)
    if variant == "v2":
        b = DIMENSION ** 2 * N * log_nt
        return value, b, good * math.sqrt(max(math.log(T / b), 1)), DIMENSION ** 2 * N ** 2.5 * math.sqrt(T) * log_nt ** 2
    return value, math.sqrt(size), k * DIMENSION * size ** 0.75 * log_delta, N ** 1.5 * math.sqrt(T)


def check_prints_the_bounds_of_the_paper(folder):
    _ = folder
    for name, variant, value in (("fedglb_d5", "fedglb", 5), ("v1_b10", "v1", 10), ("v2_b50", "v2", 50), ("v3_b500", "v3", 500)):
        told = tacit("check", EXPERIMENTS / f"synthetic_{name}.yaml")
        updates, special, regret, links = expected(variant, value)
        got = [float(re.search(rf"\n  {word} +([0-9.e+-]+)", told).group(1)) for word in ("updates", "regret", "links")]
        assert got[0] == updates, (variant, got, updates)
        assert abs(got[1] / regret - 1) < 1e-3 and abs(got[2] / links - 1) < 1e-3, (variant, got, regret, links)
        shown = float(re.search(r"NT\)+ = ([0-9.e+-]*[0-9])", told).group(1))
        assert abs(shown / special - 1) < 2e-3, (variant, shown, special)
        rounds = re.search(r"\n  rounds +([0-9]+)", told)
        n = N * T
        by_eq3 = 1 + math.sqrt(K_MU / LAMBDA * n + 1) * math.log((K_MU + 2 * LAMBDA / n) * n * n / 2)
        assert (rounds is None) == (variant == "v3")
        assert rounds is None or abs(float(rounds.group(1)) - by_eq3) <= 1, (rounds.group(1), by_eq3)


TESTS = (movielens_is_read_as_csv_reads_it, the_same_experiment_reads_the_large_set_where_it_is, an_archive_in_a_data_directory_is_the_same, lastfm_has_names_of_tags_and_no_order,
         data_that_are_not_here_are_named, wrong_keys_say_what_is_allowed, offers_and_vectors_of_a_table_are_played,
         the_page_shows_communication_updates_and_the_model, check_prints_the_bounds_of_the_paper)


def small_ratings(folder):
    subprocess.run([sys.executable, SOURCE / "tests/support/small_ratings.py", folder], check=True)


if __name__ == "__main__":
    sys.exit(run(TESTS, prepare=small_ratings))
