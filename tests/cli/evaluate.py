#!/usr/bin/env python3
"""`tacit evaluate` through the real program: what it refuses, what it warns of, that a log answers every pull of every protocol
that can be replayed, that table, JSON, CSV and page say the same, and that threads change nothing.

usage: evaluate.py       $TACIT_PROGRAM
"""
import csv
import json
import random
import re
import subprocess
import sys

from program import TACIT, run, tacit

MEANS = {"a": 0.2, "b": 0.5, "c": 0.35}
SITES = ["north", "south <&> \"east\""]
FILE = """name: offers
seed: 3
agents: 2
horizon: 400
environment:
  kind: logged
  logged: {csv: log.csv, agent: site, arm: arm, reward: paid, propensity: PROPENSITY}
network: {kind: star}
protocol: {kind: index}
privacy: {mode: none}
"""


def make(folder, rows=9000, propensity="p", chances=None, change=None):
    """A log whose propensities are right: in the half of the rows that a coin marks, b is likely."""
    chance = random.Random(4)
    likely = chances or [{"a": 0.5, "b": 0.25, "c": 0.25}, {"a": 0.2, "b": 0.6, "c": 0.2}]
    lines = []
    for number in range(rows):
        shares = likely[chance.random() < 0.5]
        arm = chance.choices(list(shares), shares.values())[0]
        site = SITES[number % 2]
        mean = MEANS[arm] + (0.3 if (site, arm) == (SITES[1], "c") else 0)
        lines.append([site, arm, int(chance.random() < mean), shares[arm]])
    if change is not None:
        change(lines)
    with open(folder / "log.csv", "w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([["site", "arm", "paid", "p"], *lines])
    (folder / "e.yaml").write_text(FILE.replace("PROPENSITY", propensity), encoding="utf-8")
    return folder / "e.yaml"


def estimates_find_the_means_and_the_best_arm(folder):
    told = json.loads(tacit("evaluate", make(folder, 9000), "--json", "--runs", 20))
    assert [arm["arm"] for arm in told["arms"]] == list(MEANS) and told["rows"] == 9000 and told["warnings"] == []
    for arm in told["arms"]:
        truth = MEANS[arm["arm"]] + (0.15 if arm["arm"] == "c" else 0)
        for name in ("ips", "self_normalised", "doubly_robust"):
            assert abs(arm[name]["value"] - truth) < 3 * arm[name]["ci95"], (arm, truth)
        assert arm["doubly_robust"]["ci95"] < arm["ips"]["ci95"] < 0.06
    north, south = told["sites"]
    assert (north["site"], north["best_arm"]) == (SITES[0], "b") and (south["site"], south["best_arm"]) == (SITES[1], "c")
    common = told["answer"]["arms"][0]
    other = {"b": south, "c": north}[common]
    assert abs(other["cost_of_common"]["value"] - 0.15) < 2 * other["cost_of_common"]["ci95"] < 0.2
    own = {"b": north, "c": south}[common]
    assert own["cost_of_common"] == {"value": 0, "ci95": 0}


def a_clear_winner_is_decided(folder):
    def lift(lines):
        for line in lines:
            line[2] = 1 if line[1] == "b" else line[2]

    told = json.loads(tacit("evaluate", make(folder, 2000, change=lift), "--json", "--runs", 2))
    assert told["answer"]["decided"] and told["answer"]["arms"] == ["b"]
    assert "b would have earned most: 1 +/- 0" in told["answer"]["sentence"], told["answer"]


def wrong_propensities_are_refused_in_words(folder):
    for text, says in (("0", "0 is no propensity"), ("1.5", "1.5 is no propensity"), ("-0.1", "-0.1 is no propensity"), ("1e-310", "1e-310 is no propensity"),
                       ("nan", "'nan' is not a number"), ("often", "'often' is not a number"), ("", "the row's propensity is missing"),
                       ("inf", "'inf' is not a number")):
        def spoil(lines, text=text):
            lines[6][3] = text

        error = tacit("evaluate", make(folder, 60, change=spoil), code=2)
        assert re.match(r"^\S*log\.csv:8: column 'p'", error) and says in error, error
        assert error.count("\n") == 1, error


def what_is_no_log_of_choices_is_refused(folder):
    path = make(folder, 600)
    text = path.read_text()
    for change, says in ((", propensity: p", "'propensity' is missing"),):
        path.write_text(text.replace(change, ""))
        assert says in tacit("evaluate", path, code=2)
    path.write_text(text.replace("propensity: p}", "propensity: chance}"))
    assert "no column 'chance'; the columns are site, arm, paid, p" in tacit("evaluate", path, code=2)
    path.write_text(text.replace("arm: arm,", "arm: [{name: a, any: [arm], equals: a}, {name: b, any: [arm], equals: b}],"))
    assert "environment.logged.propensity: the arms are rules here" in tacit("evaluate", path, code=2)
    (folder / "means.csv").write_text("0.1,0.2\n")
    path.write_text(re.sub(r"environment:\n.*\n.*\n", "environment: {kind: bernoulli, means: means.csv}\n", text))
    assert "there are no logged rows to evaluate" in tacit("evaluate", path, code=2)

    def never(lines):
        lines[:] = [line for line in lines if (line[0], line[1]) != (SITES[0], "c")]

    assert "arm 'c': no rows; every agent needs a row of every arm" in tacit("evaluate", make(folder, 300, change=never), code=2)
    path = make(folder, 60)
    (folder / "taken").write_text("a file")
    assert "--out" in tacit("evaluate", path, "--out", folder / "taken", code=1)


def few_effective_rows_are_said(folder):
    def rare(lines):
        kept = 0
        for line in lines:
            if line[1] == "c":
                kept += 1
                line[3] = 0.5 if kept > 3 else 0.001
        lines[:] = [line for line in lines if line[1] != "c" or line[3] in (0.5, 0.001)]

    told = json.loads(tacit("evaluate", make(folder, 900, change=rare), "--json", "--runs", 2))
    c = next(arm for arm in told["arms"] if arm["arm"] == "c")
    assert c["thin"] and c["effective_rows"] < 5 and "c" not in told["answer"]["arms"]
    assert any("the estimates of 'c' stand on" in warning and "too few to lean on" in warning for warning in told["warnings"])
    table = tacit("evaluate", folder / "e.yaml", "--runs", 2)
    assert "warning: the estimates of 'c' stand on" in re.sub(r"\s+", " ", table)
    assert re.search(r"^c .* !$", table, re.M)


def propensities_of_another_log_are_noticed(folder):
    """A log that is said to be uniform and is not; one that is, and is not accused."""
    told = json.loads(tacit("evaluate", make(folder, 3000, propensity="uniform"), "--json", "--runs", 2))
    assert any("right propensities make that 1" in warning for warning in told["warnings"])
    even = [{arm: 1 / 3 for arm in MEANS}]
    told = json.loads(tacit("evaluate", make(folder, 3000, "uniform", even * 2), "--json", "--runs", 2))
    assert told["warnings"] == [] and told["propensity"] == "uniform"


PROTOCOLS = {
    "index": ["protocol={kind: index, index: ucb1}"],
    "pooled": ["protocol={kind: index, index: thompson, sharing: pooled}"],
    "elimination over a star": ["protocol={kind: elimination, bounds: exact, confidence: 0.95}", "privacy={mode: sound, epsilon: 1}"],
    "elimination of the paper": ["protocol={kind: elimination}", "privacy={mode: paper, epsilon: 1}"],
    "elimination over a path": ["protocol={kind: elimination}", "network={kind: path}"],
    "phased": ["protocol={kind: phased-index}", "privacy={mode: sound, epsilon: 1}"],
    "gossip": ["protocol={kind: gossip-ucb}", "network={kind: path}"],
    "gossip with doubling": ["protocol={kind: gossip-ucb, release: doubling}", "network={kind: path}", "privacy={mode: sound, epsilon: 1}"],
}


def a_log_answers_every_pull_of_every_protocol(folder):
    """Also those that are played while a site waits: no slot of a site is without a row."""
    path = make(folder, 36000)
    for name, words in PROTOCOLS.items():
        settings = [word for setting in words for word in ("--set", setting)]
        told = json.loads(tacit("evaluate", path, "--json", "--runs", 3, "--set", "horizon=600", *settings))
        replay = told["replay"]
        assert replay is not None, (name, told)
        assert (replay["slots"], replay["pulls"], replay["ended_by"]) == (600, 1200, None), (name, replay)
        assert 0.2 < replay["reward"]["value"] < 0.6 and replay["reward"]["ci95"] > 0, (name, replay)


def a_log_that_is_used_up_says_where(folder):
    def shorten(lines):
        lines[:] = [line for i, line in enumerate(lines) if line[0] == SITES[0] or i % 8 == 1]

    path = make(folder, 4000, change=shorten)
    told = json.loads(tacit("evaluate", path, "--json", "--runs", 10))["replay"]
    assert told["ended_by"] == SITES[1] and 0 < told["slots"] < 400 == told["slots_asked"], told
    assert told["pulls"] == 2 * told["slots"]
    assert "are used up; 400 were asked for" in re.sub(r"\s+", " ", tacit("evaluate", path, "--runs", 10))


def a_protocol_that_is_not_played_pull_by_pull_is_not_replayed(folder):
    path = make(folder, 900)
    told = json.loads(tacit("evaluate", path, "--json", "--set", "protocol={kind: votes, epsilon: 0.25, eta: 0.9}", "--set", "network={kind: broadcast}"))
    assert told["replay"] is None and "pull by pull" in told["replay_note"] and told["answer"]["sentence"]


def threads_change_nothing(folder):
    path = make(folder, 3000)
    outputs = {tacit("evaluate", path, "--json", "--runs", 7, "--threads", threads) for threads in (1, 3)}
    assert len(outputs) == 1


def policies_are_refused_in_words(folder):
    """A wrong policy, context or field: the file, the line, what is allowed."""
    file = make(folder, 40)
    lines = (folder / "log.csv").read_text(encoding="utf-8").splitlines()
    more = ["rule,pa,pb,pc,age", *(["a,0.5,0.25,0.25,30"] * 40)]
    changes = {5: "z,0.5,0.25,0.25,30", 6: "a,0.5,0.25,0.3,30", 7: "a,-0.5,1,0.5,30", 8: "a,0.5,0.25,0.25,"}
    (folder / "log.csv").write_text("\n".join(f"{line},{changes.get(i + 1, own)}" for i, (line, own) in enumerate(zip(lines, more))) + "\n",
                                    encoding="utf-8")
    for keys, wanted in (
            ("policies=[{name: x, chosen: rule}]", "log.csv:5: column 'rule': 'z' is no arm of the log; allowed: those of column 'arm', like 'a'"),
            ("policies=[{name: x, probabilities: [pa, pb, pc]}]", "log.csv:6: column 'pa': this probability and those of the other arms add up to 1.05; allowed: 1"),
            ("policies=[{name: x, probabilities: [pb, pa, pc]}]", "log.csv:6: column 'pb'"),
            ("policies=[{name: x, probabilities: [pa, pb]}]", "log.csv: policy 'x' has 2 columns of probabilities, and there are 3 arms"),
            ("policies=[{name: x, chosen: nowhere}]", "no column 'nowhere'; the columns are site, arm, paid, p, rule"),
            ("policies=[{name: x}]", "'x' needs one of 'chosen'"),
            ("policies=[{name: x, chosen: rule, trained: ridge}]", "'x' needs one of 'chosen'"),
            ("policies=[{name: x, trained: ridge}]", "'x' is trained on contexts, and 'contexts' names no columns"),
            ("policies=[{name: x, chosen: rule}, {name: x, chosen: rule}]", "'x' stands here twice"),
            ("policies=[]", "a list of 1 to 50 is expected"),
            ("policies=[{name: x, trained: forest}]", "forest"),
            ("switch=0", "switch"), ("interval=exact", "interval: 'exact'")):
        assert wanted in tacit("evaluate", file, "--estimates", "--set", f"environment.logged.{keys}", code=2), keys
    trained = ["--set", "environment.logged.policies=[{name: x, trained: logistic}]", "--set"]
    assert "log.csv:8: column 'age': it is empty, and other rows have numbers" in tacit(
        "evaluate", file, "--estimates", *trained, "environment.logged.contexts=[age]", code=2)
    assert "no column 'height'" in tacit("evaluate", file, "--estimates", *trained, "environment.logged.contexts=[height]", code=2)
    assert "rewards that are 0 or 1" in tacit("evaluate", file, "--estimates", *trained, "environment.logged.contexts=[site]", "--set",
                                              "environment.logged.reward=p", code=2)


def wrong_propensities_of_a_policy_are_told_beside_many_thin_arms(folder):
    """Many arms share the rows of `a`: too few each, and more arms than are warned of."""
    def change(lines):
        for number, line in enumerate(lines):
            is_split = line[1] == "a"
            line[1] = f"a{number % 31}" if is_split else line[1]
            line[3] = line[3] / 31 if is_split else line[3] * 0.5
            line += ["b" if number % 2 else "c"]
    file = make(folder, 1500, change=change)
    text = (folder / "log.csv").read_text(encoding="utf-8")
    (folder / "log.csv").write_text(text.replace("site,arm,paid,p", "site,arm,paid,p,rule", 1), encoding="utf-8")
    warnings = json.loads(tacit("evaluate", file, "--estimates", "--json", "--set", "environment.logged.policies=[{name: half, chosen: rule}]"))["warnings"]
    assert sum("effective rows" in text for text in warnings) == 8, warnings
    assert any("the weights of policy 'half' do not average 1" in text for text in warnings), warnings


def a_policy_without_support_is_noticed(folder):
    """Propensities that say more than half of what happened; and a rule that hardly any row follows."""
    def change(lines):
        for number, line in enumerate(lines):
            line[3] = line[3] * 0.5
            line += ["a" if number % 2 else "b", "c" if line[1] == "a" else "a" if line[1] == "c" or number > 20 else "b"]
    file = make(folder, 4000, change=change)
    text = (folder / "log.csv").read_text(encoding="utf-8")
    (folder / "log.csv").write_text(text.replace("site,arm,paid,p", "site,arm,paid,p,rule,rare", 1), encoding="utf-8")
    told = json.loads(tacit("evaluate", file, "--estimates", "--json", "--set",
                            "environment.logged.policies=[{name: half, chosen: rule}, {name: rare, chosen: rare}]"))
    assert any("the weights of policy 'half' do not average 1" in text for text in told["warnings"]), told["warnings"]
    assert told["policies"][1]["thin"] and any("policy 'rare'" in text for text in told["warnings"])
    assert told["replay"] is None and told["replay_note"] == "estimates alone were asked for"
    drawn = [json.loads(tacit("evaluate", file, "--estimates", "--json", "--set", "environment.logged.interval=bootstrap", "--set", "environment.logged.contexts=[site]",
                              "--seed", seed, "--set", "environment.logged.policies=[{name: half, chosen: rule}, {name: x, trained: ridge}]"))["policies"]
             for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    for estimate in ("ips", "self_normalised", "doubly_robust", "switched", "gain"):  # the same law, by chance a little else
        near, drawn_near = told["policies"][0][estimate], drawn[0][0][estimate]
        assert near["value"] == drawn_near["value"] or estimate not in ("ips", "self_normalised")
        assert 0.85 < drawn_near["ci95"] / near["ci95"] < 1.15, (estimate, near, drawn_near)
    assert "effective" in tacit("evaluate", file, "--estimates", "--set", "environment.logged.policies=[{name: half, chosen: rule}]", "--out", folder / "out")
    assert "What other policies would have earned" in (folder / "out/report.html").read_text(encoding="utf-8")


def the_same_in_json_csv_table_and_page(folder):
    path = make(folder, 3000)
    table = tacit("evaluate", path, "--runs", 5, "--out", folder / "out")
    told = json.loads((folder / "out/evaluation.json").read_text(encoding="utf-8"))
    assert told == json.loads(tacit("evaluate", path, "--runs", 5, "--json"))
    with open(folder / "out/estimates.csv", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 3 * 3 and [row["site"] for row in rows[:4]] == ["", "", "", SITES[0]]
    groups = {"": told["arms"], **{site["site"]: site["arms"] for site in told["sites"]}}
    for row in rows:
        arm = next(arm for arm in groups[row["site"]] if arm["arm"] == row["arm"])
        assert int(row["rows"]) == arm["rows"] and float(row["direct"]) == arm["direct"]
        for name in ("ips", "self_normalised", "doubly_robust"):
            assert float(row[name]) == arm[name]["value"] and float(row[name + "_ci95"]) == arm[name]["ci95"]
    page = (folder / "out/report.html").read_text(encoding="utf-8")
    assert "south &lt;&amp;&gt;" in page and "<&>" not in page
    for part in ("What each arm would have earned", "Sites", "The protocol on this log", "<svg"):
        assert part in page, part
    assert "<svg" in (folder / "out/estimates.svg").read_text(encoding="utf-8")
    assert all(len(line) <= 80 for line in table.splitlines()), table
    assert table.splitlines()[-1].endswith("report.html")


def standard_input_is_a_file_too(folder):
    text = make(folder, 600).read_text()
    done = subprocess.run([TACIT, "evaluate", "-", "--runs", "2", "--json"], input=text, capture_output=True, text=True, check=False,
                          cwd=folder)
    assert done.returncode == 0 and json.loads(done.stdout)["rows"] == 600, done.stderr


def results_that_cannot_be_printed_are_said(folder):
    path = make(folder, 600)
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([TACIT, "evaluate", str(path), "--runs", "2"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "could not be printed: No space left on device" in done.stderr, done


TESTS = [policies_are_refused_in_words, a_policy_without_support_is_noticed, wrong_propensities_of_a_policy_are_told_beside_many_thin_arms,
         estimates_find_the_means_and_the_best_arm, a_clear_winner_is_decided, wrong_propensities_are_refused_in_words,
         what_is_no_log_of_choices_is_refused, few_effective_rows_are_said, propensities_of_another_log_are_noticed,
         a_log_answers_every_pull_of_every_protocol, a_log_that_is_used_up_says_where,
         a_protocol_that_is_not_played_pull_by_pull_is_not_replayed, threads_change_nothing, the_same_in_json_csv_table_and_page,
         standard_input_is_a_file_too, results_that_cannot_be_printed_are_said]


if __name__ == "__main__":
    sys.exit(run(TESTS))
