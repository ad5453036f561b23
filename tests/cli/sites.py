#!/usr/bin/env python3
"""Per-site results of `tacit run`: a site's own best arm and what the common one costs it are what the site saw, truth is called
truth, and table, JSON, CSV and page say the same.

usage: sites.py       $TACIT_PROGRAM
"""
import csv
import json
import re
import sys

from program import run, tacit

MEANS = [[0.9, 0.2, 0.5], [0.8, 0.1, 0.5], [0.3, 0.7, 0.4]]  # the common best is arm 0; agent 2 loses 0.4 by it
FILE = """name: sites
seed: 5
runs: {runs}
horizon: {horizon}
agents: 3
environment: {{kind: {kind}, means: means.csv}}
protocol: {protocol}
{rest}
"""


def make(folder, kind="constant", protocol="{kind: index, sharing: pooled}", rest="privacy: {mode: none}", horizon=3000, runs=3,
         means=None):
    (folder / "means.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in means or MEANS))
    (folder / "s.yaml").write_text(FILE.format(kind=kind, protocol=protocol, rest=rest, horizon=horizon, runs=runs))
    return folder / "s.yaml"


def a_site_sees_what_its_own_rewards_say(folder):
    told = json.loads(tacit("run", make(folder, protocol="{kind: index, index: uniform, sharing: pooled}"), "--json", "--quiet"))
    assert [site["name"] for site in told["sites"]] == ["agent 0", "agent 1", "agent 2"]
    assert [site["best_arm"] for site in told["sites"]] == ["arm 0", "arm 0", "arm 1"]
    assert all(site["share"] == 1 for site in told["sites"])
    costs = [site["cost_of_common"]["mean"] for site in told["sites"]]
    assert costs[:2] == [0, 0] and abs(costs[2] - 0.4) < 1e-9, costs
    assert [site["truth"]["best_arm"] for site in told["sites"]] == ["arm 0", "arm 0", "arm 1"]
    assert abs(told["sites"][2]["truth"]["cost_of_common"] - 0.4) < 1e-12
    assert [site["pulls_seen"] for site in told["sites"]] == [3000] * 3


def what_is_seen_is_not_the_truth(folder):
    """Noisy rewards: what a site saw differs from the means, by what chance allows (5 standard errors, 6e-7 a number)."""
    told = json.loads(tacit("run", make(folder, "bernoulli", "{kind: index, index: uniform, sharing: none}", runs=20), "--json",
                            "--quiet"))
    site = told["sites"][2]
    assert site["best_arm"] == "arm 1"
    off = site["cost_of_common"]["mean"] - 0.4
    assert 0 < abs(off) < 5 * (2 * 0.25 / 1000 / 20) ** 0.5, off
    assert site["cost_of_common"]["ci95"] > 0


def a_site_that_saw_little_has_no_opinion(folder):
    told = json.loads(tacit("run", make(folder, horizon=60), "--json", "--quiet", "--set", "protocol={kind: index, index: uniform}"))
    for site in told["sites"]:
        assert site["best_arm"] is None and site["cost_of_common"]["mean"] is None and site["pulls_seen"] == 60, site
    assert "too few pulls" in tacit("run", folder / "s.yaml", "--quiet", "--set", "protocol={kind: index, index: uniform}")


def agents_that_are_alike_are_not_told_apart(folder):
    path = make(folder, means=[[0.9, 0.2]])
    assert "sites" not in json.loads(tacit("run", path, "--json", "--quiet"))
    assert not re.search(r"^  site ", tacit("run", path, "--quiet", "--out", folder / "out"), re.M)
    assert not (folder / "out/sites.csv").exists()


def every_family_that_answers_tells_of_its_sites(folder):
    protocols = {"{kind: elimination}": "privacy: {mode: sound, epsilon: 1}",
                 "{kind: phased-index, confidence: 0.95}": "privacy: {mode: sound, epsilon: 1}",
                 "{kind: gossip-ucb}": "privacy: {mode: none}\nnetwork: {kind: ring}",
                 "{kind: gossip-ucb, release: doubling}": "privacy: {mode: sound, epsilon: 1}\nnetwork: {kind: ring}"}
    for protocol, rest in protocols.items():
        told = json.loads(tacit("run", make(folder, "bernoulli", protocol, rest, 6000), "--json", "--quiet"))
        assert len(told["sites"]) == 3 and all(site["pulls_seen"] > 90 for site in told["sites"]), (protocol, told["sites"])
        assert told["sites"][0]["best_arm"] == "arm 0", (protocol, told["sites"])


def the_same_in_json_csv_table_and_page(folder):
    path = make(folder, "bernoulli", runs=5)
    table = tacit("run", path, "--quiet", "--out", folder / "out")
    told = json.loads((folder / "out/summary.json").read_text(encoding="utf-8"))["sites"]
    with open(folder / "out/sites.csv", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    for row, site in zip(rows, told, strict=True):
        assert row["site"] == site["name"] and row["best_arm"] == site["best_arm"]
        assert float(row["cost_of_common"]) == site["cost_of_common"]["mean"]
        assert float(row["truth_cost_of_common"]) == site["truth"]["cost_of_common"]
        line = re.search(rf"^  {site['name']} .*$", table, re.M).group()
        assert site["best_arm"] in line
    page = (folder / "out/report.html").read_text(encoding="utf-8")
    section = re.search(r'<section id="sites">.*?</section>', page, re.S).group()
    assert section.count("<tr>") == 1 + len(told) and "only the simulator knows" in section and "in truth" in section
    assert "sites.csv" in page


def a_call_that_keeps_its_runs_says_the_same(folder):
    file = make(folder, "bernoulli", "{kind: index, index: uniform, sharing: none}", runs=5)
    plain = tacit("run", file, "--json", "--quiet")
    assert tacit("run", file, "--json", "--quiet", "--resume", folder / "kept") == plain


TESTS = [a_site_sees_what_its_own_rewards_say, what_is_seen_is_not_the_truth, a_site_that_saw_little_has_no_opinion,
         agents_that_are_alike_are_not_told_apart, every_family_that_answers_tells_of_its_sites,
         a_call_that_keeps_its_runs_says_the_same, the_same_in_json_csv_table_and_page]


if __name__ == "__main__":
    sys.exit(run(TESTS))
