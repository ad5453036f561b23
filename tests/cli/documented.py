#!/usr/bin/env python3
"""Every file that run, compare, plan, evaluate and reproduce leave, every key of their JSON and every column of their CSV stands in
docs/results.md, in `code`, or is a metric of `tacit help metrics`: small runs of every family are looked at. They are the same on any
number of threads.

usage: documented.py       $TACIT_PROGRAM, $TACIT_SOURCE
"""
import csv
import json
import os
import pathlib
import re
import subprocess
import sys

from program import TACIT, run, tacit

SOURCE = pathlib.Path(os.environ["TACIT_SOURCE"])
PAGE = (SOURCE / "docs/results.md").read_text(encoding="utf-8")
METRICS = subprocess.run([TACIT, "help", "metrics"], capture_output=True, text=True, check=True).stdout
METRIC_NAMES = set(re.findall(r"^  (\w+) +\S", METRICS, re.M))
WORDS = set(re.findall(r"`([^`]+)`", PAGE)) | METRIC_NAMES
BASE = "name: d\nseed: 1\nruns: 2\ncheckpoints: 3\n"
PLAIN = BASE + "agents: 3\nhorizon: 4000\nenvironment: {kind: bernoulli, means: means.csv}\n"
FILES = {
    "star": PLAIN + "protocol: {kind: elimination}\nprivacy: {mode: sound, epsilon: 1}\nbaselines: [pooled-ucb1]\n",
    "hybrid": PLAIN + "network: {kind: hybrid, components: [{agents: 2, kind: complete}, {agents: 1}]}\nprotocol: {kind: elimination}\n"
              "privacy: {mode: paper, epsilon: 1}\n",
    "index": PLAIN + "protocol: {kind: index}\nprivacy: {mode: none}\n",
    "phased": PLAIN + "protocol: {kind: phased-index, confidence: 0.95}\nprivacy: {mode: sound, epsilon: 1}\n",
    "gossip": PLAIN + "network: {kind: ring}\nprotocol: {kind: gossip-ucb}\nprivacy: {mode: none}\n",
    "doubling": PLAIN + "network: {kind: ring}\nprotocol: {kind: gossip-ucb, release: doubling}\nprivacy: {mode: sound, epsilon: 1}\n",
    "votes": PLAIN.replace("horizon: 4000", "horizon: 200000")
             + "network: {kind: broadcast}\nprotocol: {kind: votes, epsilon: 0.25, eta: 0.9}\nprivacy: {mode: paper}\n",
    "glm": BASE + "agents: 3\nhorizon: 60\nenvironment: {kind: contextual, contextual: {dimension: 3, arms: 4}}\n"
           "protocol: {kind: glm-ucb, threshold: 2}\nprivacy: {mode: none}\n",
    "select": BASE + "agents: 6\nhorizon: 20\nenvironment: {kind: latency, source: two-groups}\n"
              "protocol: {kind: select, users_per_round: 2}\nprivacy: {mode: paper, epsilon: 40, eta: 0.04}\n",
}
PAPER, SOUND = "privacy={mode: paper, epsilon: 1}", "privacy={mode: sound, epsilon: 1}"
NETWORKS = ("star-graph", "complete", "ring", "path", "grid", "random", "regular, degree: 3", "small-world, degree: 4, rewiring_probability: 0.2", "alone")
OTHERS = {"star": [("protocol={kind: elimination, bounds: exact}",),
                   *((f"network={{kind: {kind}}}", "agents=12", "horizon=20000", "environment={kind: bernoulli, generated: {arms: 5}}")
                     for kind in NETWORKS)], "phased": [("protocol.growth=1.5",)],
          "gossip": [(PAPER,), (SOUND,), (PAPER, "protocol.release=each")], "index": [("protocol.index=thompson",), ("protocol.sharing=none",)]}
# What stands below these is named by the file: settings, arms, baselines.
NAMED = {"settings"}


def keys_of(value, found):
    if isinstance(value, dict):
        for key, below in value.items():
            found.add(key)
            if key not in NAMED:
                keys_of(below, found)
    elif isinstance(value, list):
        for below in value:
            keys_of(below, found)
    return found


def look_at(folder, found):
    """Names of the files, keys and columns in them."""
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".json", ".csv", ".svg", ".html"):
            continue
        found.add(path.name)
        if path.suffix == ".json":
            keys_of(json.loads(path.read_text(encoding="utf-8")), found)
        if path.suffix == ".csv":
            with open(path, encoding="utf-8", newline="") as table:
                found.update(next(csv.reader(table)))


def is_documented(name):
    """As it is; or as a metric, with what is told of it: regret_mean, regret_ci95."""
    return name in WORDS or re.sub(r"_(mean|ci95)$", "", name) in WORDS


def missing(found):
    return sorted(name for name in found if not is_documented(name))


def what_every_family_writes_is_documented(folder):
    for name, text in FILES.items():
        (folder / f"{name}.yaml").write_text(text)
        tacit("run", f"{name}.yaml", "--quiet", "--out", name, folder=folder)
        found = set()
        look_at(folder / name, found)
        assert len(found) > 15 and not missing(found), (name, missing(found))


def threads_change_nothing(folder):
    for name, text in FILES.items():
        (folder / f"{name}.yaml").write_text(text)
        for settings in ((), *OTHERS.get(name, ())):
            words = [word for setting in settings for word in ("--set", setting)]
            said = {tacit("run", f"{name}.yaml", "--json", "--quiet", "--runs", 40, "--threads", threads, *words, folder=folder) for threads in (1, 3)}
            assert len(said) == 1, (name, settings)


def what_compare_plan_and_evaluate_write_is_documented(folder):
    found = set()
    for name, text in FILES.items():
        (folder / f"{name}.yaml").write_text(text)
        tacit("compare", f"{name}.yaml", "--over", "seed=1,2", "--quiet", "--out", f"compare-{name}", folder=folder)
        look_at(folder / f"compare-{name}", found)
    for more in ((), ("--gap", "0.4")):
        keys_of(json.loads(tacit("plan", "star.yaml", "--runs", 2, "--json", "--quiet", *more, folder=folder)), found)
    rows = [(site, arm, i % 3 == 0, 0.5) for i in range(100) for site in "xyz" for arm in "ab"]
    (folder / "log.csv").write_text("site,arm,paid,p\n" + "".join(f"{s},{a},{int(r)},{p}\n" for s, a, r, p in rows))
    (folder / "log.yaml").write_text(FILES["index"].replace("{kind: bernoulli, means: means.csv}",
                                                            "{kind: logged, logged: {csv: log.csv, agent: site, arm: arm, reward: paid, propensity: p}}"))
    tacit("evaluate", "log.yaml", "--runs", 2, "--out", "evaluate", folder=folder)
    look_at(folder / "evaluate", found)
    assert len(found) > 60 and not missing(found), missing(found)


def every_metric_of_the_sources_is_explained(folder):
    del folder
    names = set()
    for path in (SOURCE / "src/families").glob("*/*.c"):
        names.update(re.findall(r'\(struct tacit_profile\)\{\.name = "(\w+)"', path.read_text(encoding="utf-8")))
        for table in re.findall(r"const struct tacit_(?:metric|profile) \w+(?:\[\w*\])? = \{(.*?)\n?\};", path.read_text(encoding="utf-8"), re.S):
            names.update(re.findall(r'\{\s*"(\w+)",\s*"', table))
    assert len(names) > 40 and not missing(names), missing(names)
    assert not re.findall(r"^  \w+ +\S+$", METRICS, re.M), "a name alone explains nothing"


def one_protocol_is_explained_alone_and_a_wrong_one_refused(folder):
    alone = tacit("help", "metrics", "votes", folder=folder)
    assert alone in METRICS and alone.count("====") == 1 and "samples_vote" in alone and "rounds_bound" not in alone, alone
    tacit("help", "metrics", "ucb", folder=folder, code=2)
    tacit("help", "metrics", "--schema", folder=folder, code=2)


def what_is_documented_is_there(folder):
    """No metric on the page that no family has."""
    del folder
    names = set(re.findall(r"`(\w+)`(?=[:,]| \()", PAGE.split("## Metrics")[1].split("## ")[0]))
    assert len(names) > 3 and names <= METRIC_NAMES, names - METRIC_NAMES


TESTS = [what_every_family_writes_is_documented, threads_change_nothing, what_compare_plan_and_evaluate_write_is_documented,
         every_metric_of_the_sources_is_explained, one_protocol_is_explained_alone_and_a_wrong_one_refused, what_is_documented_is_there]


if __name__ == "__main__":
    sys.exit(run(TESTS, {"means.csv": "0.8,0.3\n0.7,0.4\n0.9,0.2\n"}))
