#!/usr/bin/env python3
"""A newcomer's table (support/newcomer_table.py) through the real program: whoever chose the offers looked at the customer, so
plain means and weighted ones name different offers. With the propensities every command names the same one, and says that it
weighs; without them every command names that of the plain means, and `evaluate` says what it needs.

usage: newcomer.py       $TACIT_PROGRAM
"""
import collections
import csv
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import newcomer_table as table
from program import TACIT, run, tacit

FILE = """name: newcomer
runs: 20
horizon: 20000
environment:
  kind: logged
  logged: {csv: offers.csv, agent: store, arm: offer, reward: REWARD}
agents: 5
protocol: {kind: phased-index, confidence: 0.95}
privacy: {mode: sound, epsilon: 1, range: [0, TOP]}
"""
WEIGHTED = "--set=environment.logged.propensity=propensity"
SAID = "rows are weighted by 1/propensity (column 'propensity')"


def told(*words):
    return json.loads(tacit(*words, "--json"))


def spaced(text):
    return " ".join(text.split())


def means(folder, column, is_weighted):
    """Mean over the stores of each offer's mean there."""
    sums = collections.defaultdict(lambda: [0.0, 0.0])
    with open(folder / "offers.csv", encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            weight = 1 / float(row["propensity"]) if is_weighted else 1
            cell = sums[row["store"], row["offer"]]
            cell[0] += weight * float(row[column])
            cell[1] += weight
    return {offer: sum(sums[store, offer][0] / sums[store, offer][1] for store in table.STORES) / len(table.STORES)
            for offer in table.LIFT}


def best_of(shares):
    return max(shares, key=shares.get)


def expect_one_answer(folder, file, column, words, best):
    """check, run, compare and plan, of one file, name one offer and the same gap."""
    is_weighted = WEIGHTED in words
    expected = means(folder, column, is_weighted)
    assert best_of(expected) == best
    lines = tacit("check", file, *words).splitlines()
    shown = collections.defaultdict(list)
    for line in lines:
        for offer in table.LIFT:
            if f" {offer} " in line and line.split()[0] in table.STORES:
                shown[offer].append(float(line.split()[-1]))
    assert {offer: len(values) for offer, values in shown.items()} == dict.fromkeys(table.LIFT, len(table.STORES))
    for offer, values in shown.items():
        assert abs(sum(values) / len(values) / expected[offer] - 1) < 1e-5, (offer, values, expected)
    run = told("run", file, *words)
    assert run["answer"]["arms"] == [best] and run["answer"]["decided"], run["answer"]
    truth = {arm["name"]: arm["mean"] for arm in run["arms"]} if "arms" in run else expected
    assert best_of(truth) == best
    compared = told("compare", file, *words, "--over", "privacy.epsilon=1,2")
    assert [cell["answer"]["arms"] for cell in compared["results"]] == [[best], [best]]
    first = spaced("\n".join(tacit("run", file, *words).splitlines()[:4]))
    assert first.startswith(f"answer: decided for {best}, in ")
    heads = [spaced("\n".join(lines[:3])), first, spaced("\n".join(tacit("compare", file, *words, "--over", "privacy.epsilon=1,2")
                                                                  .splitlines()[:4]))]
    assert all((SAID in head) == is_weighted for head in heads), heads
    assert (SAID in run.get("remark", "")) == is_weighted
    return expected


def page_of(folder, text, words):
    """A page says at its top that rows are weighted, where they are."""
    header = (folder / "out" / "report.html").read_text(encoding="utf-8").split("</header>")[0]
    assert (SAID in spaced("\n".join(text.splitlines()[:4]))) == (WEIGHTED in words), text
    assert ("weighted by 1/propensity" in header) == (WEIGHTED in words), header


def planned(file, *words):
    """The text, and what a program reads, of one call: the search for horizons takes seconds."""
    out = file.parent / "out"
    text = tacit("plan", file, *words, "--runs", 5, "--out", out)
    return text, json.loads((out / "plan.json").read_text(encoding="utf-8"))


def expect_plan(file, words, expected):
    """What plan tells apart is what the commands above name."""
    order = sorted(expected.values())
    text, plan = planned(file, *words)
    page_of(file.parent, text, words)
    assert plan["sentence"].startswith(f"to tell {order[-1] - order[-2]:.3g} apart"), (plan["sentence"], order)
    assert any(choice["decides"] for choice in plan["plans"])
    assert (SAID in plan.get("remark", "")) == (WEIGHTED in words)


def with_propensities_all_commands_name_what_is_best_in_truth(folder):
    for column, top in (("clicked", 1), ("amount", 60)):
        (folder / "n.yaml").write_text(FILE.replace("REWARD", column).replace("TOP", str(top)), encoding="utf-8")
        expected = expect_one_answer(folder, folder / "n.yaml", column, [WEIGHTED], table.BEST)
        expect_plan(folder / "n.yaml", [WEIGHTED], expected)
        evaluated = told("evaluate", folder / "n.yaml", WEIGHTED, "--runs", 5)
        assert evaluated["answer"]["arms"] == [table.BEST] and evaluated["answer"]["decided"]
        assert {site["best_arm"] for site in evaluated["sites"]} == {table.BEST}
        for arm in evaluated["arms"]:
            assert abs(arm["self_normalised"]["value"] / expected[arm["arm"]] - 1) < 0.02, (arm, expected)


def without_them_all_commands_name_that_of_the_plain_means(folder):
    for column, top in (("clicked", 1), ("amount", 60)):
        file = folder / "n.yaml"
        file.write_text(FILE.replace("REWARD", column).replace("TOP", str(top)), encoding="utf-8")
        words = ["--set=horizon=60000"]
        expected = expect_one_answer(folder, file, column, words, table.BEST_PLAIN)
        expect_plan(file, words, expected)
        error = tacit("evaluate", file, code=2)
        assert "'propensity' is missing" in error and error.count("\n") == 1, error


def the_regret_is_that_of_the_weighted_means(folder):
    """Uniform play loses what the weighted means say, and what each site then saw as best is what they say, too."""
    file = folder / "n.yaml"
    file.write_text(FILE.replace("REWARD", "amount").replace("TOP", "60"), encoding="utf-8")
    expected = means(folder, "amount", True)
    run = told("run", file, WEIGHTED, "--set=protocol={kind: index, index: uniform}", "--set=privacy={mode: none}", "--runs", 4)
    regret = sum(expected[table.BEST] - mean for mean in expected.values()) / 4 * 5 * 20000
    assert abs(run["metrics"]["regret"]["mean"] / regret - 1) < 1e-3, (run["metrics"]["regret"], regret)
    assert {site["truth"]["best_arm"] for site in run["sites"]} == {site["best_arm"] for site in run["sites"]} == {table.BEST}


def a_gap_is_in_the_unit_of_the_rewards(folder):
    """2 euros of 60 are as far apart as 1/30 of rewards from 0 to 1."""
    file = folder / "n.yaml"
    file.write_text(FILE.replace("REWARD", "amount").replace("TOP", "60"), encoding="utf-8")
    plan = told("plan", file, "--gap", 2, "--runs", 5)
    assert plan["sentence"].startswith("to tell 2 apart at epsilon 1 takes "), plan["sentence"]
    assert "gap: 0.0333333333333333" in plan["instance"], plan["instance"]
    unit = told("plan", file, "--set", plan["instance"], "--set=privacy.range=[0, 1]", "--runs", 5)
    assert unit["sentence"].startswith("to tell 0.0333 apart"), unit["sentence"]
    for in_euros, of_one in zip(plan["plans"], unit["plans"], strict=True):
        assert in_euros["settings"] == of_one["settings"] and in_euros["horizon_needed"] == of_one["horizon_needed"]
        assert abs(in_euros["regret"] / of_one["regret"] - 60) < 1e-9
    assert tacit("plan", file, "--gap", 60.5, code=2) == (
        "tacit plan: --gap: '60.5' is not allowed; allowed: a number above 0 and up to 60, as rewards are from 0 to 60\n")
    for wrong in ("0", "-1", "x", "inf"):
        assert "allowed: a number above 0, in the unit of the rewards" in tacit("plan", file, "--gap=" + wrong, code=2)


def plan_lists_the_protocol_of_the_file(folder):
    file = folder / "n.yaml"
    file.write_text(FILE.replace("REWARD", "clicked").replace("TOP", "1"), encoding="utf-8")
    for protocol, network, count in (("{kind: phased-index, confidence: 0.95}", "{kind: star}", 11),  # one of those offered
                                     ("{kind: phased-index, confidence: 0.8, growth: 3}", "{kind: star}", 12),
                                     ("{kind: elimination}", "{kind: path}", 12)):
        text, plan = planned(file, "--set", f"protocol={protocol}", "--set", f"network={network}")
        plans = plan["plans"]
        own = [plan for plan in plans if plan["own"]]
        assert len(plans) == count and len(own) == 1, plans
        assert own[0]["settings"] == {"protocol": protocol, "network": network}, own
        assert text.count(" *\n") == 1


def estimates_need_no_range(folder):
    file = folder / "n.yaml"
    text = FILE.replace("REWARD", "amount")
    file.write_text(text.replace("TOP", "60"), encoding="utf-8")
    whole = told("evaluate", file, WEIGHTED, "--runs", 5)
    file.write_text(text.replace(", range: [0, TOP]", ""), encoding="utf-8")
    rows = told("evaluate", file, WEIGHTED, "--runs", 5)
    assert whole["replay"] is not None and rows["replay"] is None and "privacy.range" in rows["replay_note"]
    assert rows["arms"] == whole["arms"] and rows["answer"] == whole["answer"] and rows["sites"] == whole["sites"]
    assert "sound mode needs 'range'" in tacit("run", file, WEIGHTED, code=2)
    assert "protocol.kind" in tacit("evaluate", file, WEIGHTED, "--set=protocol={kind: nothing}", code=2)


def what_takes_long_is_announced(folder):
    """Before it begins: the call is ended as soon as the line is there. With -q there is no line."""
    file = folder / "n.yaml"
    file.write_text(FILE.replace("REWARD", "amount").replace("TOP", "60"), encoding="utf-8")
    for words, said in ((["evaluate", file, WEIGHTED, "--runs", "1000000"], "tacit evaluate: 1000000 replays of the log take about "),
                        (["plan", file, WEIGHTED, "--runs", "3000"], "tacit plan: a simulation of {kind: ")):
        with subprocess.Popen([TACIT, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as called:
            line = called.stderr.readline()
            called.kill()
        assert line.startswith(said), line
    done = subprocess.run([TACIT, "evaluate", "-q", file, WEIGHTED, "--runs", "5"], capture_output=True, text=True, check=True)
    assert done.stderr == "" and "replay of" in done.stdout


def pages_say_it_at_the_top(folder):
    file = folder / "n.yaml"
    file.write_text(FILE.replace("REWARD", "clicked").replace("TOP", "1"), encoding="utf-8")
    for words in (["run", file], ["compare", file, "--over", "privacy.epsilon=1,2"]): # and plan: expect_plan
        for settings in ([], [WEIGHTED]):
            page_of(folder, tacit(*words, *settings, "--runs", 3, "--out", folder / "out"), settings)


TESTS = [with_propensities_all_commands_name_what_is_best_in_truth, without_them_all_commands_name_that_of_the_plain_means,
         the_regret_is_that_of_the_weighted_means, a_gap_is_in_the_unit_of_the_rewards, plan_lists_the_protocol_of_the_file,
         estimates_need_no_range, what_takes_long_is_announced, pages_say_it_at_the_top]


if __name__ == "__main__":
    sys.exit(run(TESTS, prepare=lambda folder: table.draw(folder / "offers.csv")))
