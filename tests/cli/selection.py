#!/usr/bin/env python3
"""What a person reads of a user selection: its own words (users, rounds, a user's whole budget), and no number of what was not done.

usage: selection.py       $TACIT_PROGRAM
"""
import csv
import json
import re
import sys

from program import run, tacit

TEXT = ("name: s\nseed: 1\nruns: 2\nhorizon: 20\nagents: 6\nenvironment: {kind: latency, source: two-groups}\n"
        "network: {kind: star}\nprotocol: {kind: select, users_per_round: 2}\nprivacy: {mode: paper, epsilon: 40}\n")
OF_TRAINING = {"accuracy", "loss", "accuracy_mean", "time_to_target", "bytes", "bytes_to_all", "bits_per_coordinate"}
OF_SEARCH = {"energy_gap", "optimal_share"}


def require(holds, what):
    if not holds:
        sys.exit(f"selection.py: {what}")


def settings(*given):
    return [word for setting in given for word in ("--set", setting)]


def absent_metrics(found):
    """Those of which nothing is said at all: neither mean nor spread nor ends."""
    absent = {name for name, metric in found["metrics"].items() if metric["mean"] is None}
    for name in absent:
        require(set(found["metrics"][name].values()) == {None}, f"{name} is half there")
    return absent


def what_was_not_done_has_no_number(folder):
    cases = {
        (): OF_TRAINING | {"iterations"},
        ("protocol.selector=sa",): OF_TRAINING,
        ("protocol.selector=random",): OF_TRAINING | OF_SEARCH | {"iterations"},
        ("privacy={mode: none}",): OF_TRAINING | {"iterations", "leakage_max"},
    }
    for given, expected in cases.items():
        for runs in ("runs=1", "runs=2"):
            found = json.loads(tacit("run", "s.yaml", "--json", "--quiet", *settings(runs, *given), folder=folder))
            require(absent_metrics(found) == expected, f"{given}: {sorted(absent_metrics(found))}")
        table = tacit("run", "s.yaml", "--quiet", "--out", "out", *settings(*given), folder=folder)
        page = (folder / "out/report.html").read_text(encoding="utf-8")
        page = re.sub(r'href="data:[^"]*"', "", page)
        rows = list(csv.DictReader((folder / "out/runs.csv").open(encoding="utf-8")))
        for name in found["metrics"]:
            there = name not in expected
            require((re.search(rf"^  {name} ", table, re.M) is not None) == there, f"table, {given}: {name}")
            require((f"<code>{name}</code>" in page) == there, f"page, {given}: {name}")
            require(all((row[name] != "") == there for row in rows), f"runs.csv, {given}: {name}")
    require(json.loads(tacit("run", "s.yaml", "--json", "--quiet", folder=folder))["metrics"]["energy_gap"]["mean"] == 0,
            "exact selection has no gap")


def a_budget_is_a_users(folder):
    for mode, epsilon in (("{mode: sound, epsilon: 7}", 7), ("{mode: none}", None)):
        given = settings(f"privacy={mode}")
        privacy = json.loads(tacit("run", "s.yaml", "--json", "--quiet", *given, folder=folder))["privacy"]
        require(privacy["epsilon_per_user"] == epsilon and "epsilon_per_reward" not in privacy, privacy)
    sound = settings("privacy={mode: sound, epsilon: 40}")
    told = tacit("check", "s.yaml", *sound, folder=folder) + tacit("run", "s.yaml", "--quiet", "--out", "out", *sound, folder=folder)
    require("epsilon of a user, in all rounds together: 40" in told and "epsilon 40 per user" in told, told)
    require("6 users, 20 rounds, 1 runs" not in told and "6 users, 20 rounds, 2 runs" in told and "2 runs, 6 users, 20 rounds" in told, told)
    page = (folder / "out/report.html").read_text(encoding="utf-8")
    told += re.sub(r'href="data:[^"]*"|<section id="settings".*?</section>', "", page, flags=re.S)  # keys are keys
    require("Epsilon per user" in page and "epsilon 40 per user" in page, "the page's budget")
    for word in ("per reward", "single arm", "When and where", "agents", "slot t", ">of<", "0 arms"):
        require(word not in told, f"'{word}' is said of a selection")
    for word in ("What leaves a user", "Round by round, and user by user", ">user</th>", ">round 1</th>", "took part, rounds"):
        require(word in page, f"'{word}' is not on the page")


def compared_selections_keep_their_words(folder):
    tacit("compare", "s.yaml", *settings("privacy.mode=sound"), "--over", "privacy.epsilon=5,40", "--quiet", "--out", "beside", folder=folder)
    rows = list(csv.DictReader((folder / "beside/comparison.csv").open(encoding="utf-8")))
    require([row["epsilon"] for row in rows] == ["5", "40"], rows)
    require(all(row["accuracy_mean"] == "" for row in rows), "no accuracy")


TESTS = [what_was_not_done_has_no_number, a_budget_is_a_users, compared_selections_keep_their_words]

if __name__ == "__main__":
    sys.exit(run(TESTS, {"s.yaml": TEXT}))
