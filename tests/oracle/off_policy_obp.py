#!/usr/bin/env python3
"""`tacit evaluate` against Open Bandit Pipeline's estimators: on a small log of our own by the goldens that lie beside it
(off_policy_goldens.py made them), and, where the Open Bandit data and obp are, on those data directly. Equal to 1e-9.

usage: off_policy_obp.py       $TACIT_PROGRAM, $TACIT_SOURCE, $TACIT_DATA; $OBP_PYTHON: an interpreter that has obp
"""
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import off_policy_goldens

TACIT = os.environ["TACIT_PROGRAM"]
HERE = pathlib.Path(os.environ["TACIT_SOURCE"]).resolve() / "tests/oracle"
FILE = """name: obp
agents: {agents}
horizon: 20
runs: 2
environment:
  kind: logged
  logged: {{csv: {csv}, agent: {site}, arm: {arm}, reward: {reward}, propensity: {propensity}{more}}}
protocol: {{kind: index}}
privacy: {{mode: none}}
"""
ESTIMATES = ("ips", "self_normalised", "doubly_robust")


def evaluate(folder, log, agents, columns, more=None):
    path = pathlib.Path(folder) / "obp.yaml"
    keys = "".join(f", {key}: {json.dumps(value)}" for key, value in (more or {}).items())
    path.write_text(FILE.format(csv=log, agents=agents, more=keys, **columns), encoding="utf-8")
    done = subprocess.run([TACIT, "evaluate", str(path), "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def is_near(got, wanted, where):
    if got is None:
        assert wanted is None, (where, wanted)
        return
    assert math.isclose(got, wanted, rel_tol=1e-9, abs_tol=1e-9), (where, got, wanted)


def compare(told, wanted):
    """Every number of every arm, over all rows and at each site. Returns how many there were."""
    groups = [("all", told["arms"], wanted["arms"])]
    groups += [(site["site"], site["arms"], wanted["sites"][site["site"]]) for site in told["sites"]]
    assert len(groups) == 1 + len(wanted["sites"])
    count = 0
    for place, arms, goldens in groups:
        assert len(arms) == len(goldens)
        for arm in arms:
            golden, where = goldens[arm["arm"]], (place, arm["arm"])
            assert arm["rows"] == golden["rows"], where
            is_near(arm["effective_rows"], golden["effective_rows"], where)
            is_near(arm["direct"], golden["direct"], where)
            for name in ESTIMATES:
                is_near(arm[name]["value"], golden.get(name), (*where, name))
                is_near(arm[name]["ci95"], golden.get(name + "_ci95"), (*where, name + "_ci95"))
            count += 2 * len(ESTIMATES)
    return count


def estimates_are_those_of_the_goldens():
    goldens = json.loads((HERE / "off_policy/goldens.json").read_text(encoding="utf-8"))
    columns = dict(site="town", arm="colour", reward="spent", propensity="chance")
    with tempfile.TemporaryDirectory() as folder:
        told = evaluate(folder, HERE / "off_policy/log.csv", 3, columns)
    assert compare(told, goldens) == 4 * 4 * 6


def policies_are_those_of_the_goldens():
    """A rule, probabilities, and one that is trained: every estimator."""
    goldens = json.loads((HERE / "off_policy/goldens.json").read_text(encoding="utf-8"))["policies"]
    arms, rows = off_policy_goldens.with_policies(HERE / "off_policy/log.csv")
    probabilities = [f"p{k}" for k in range(len(arms))]
    more = {"contexts": ["town"], "switch": off_policy_goldens.SWITCH,
            "policies": [{"name": "rule", "chosen": "rule"}, {"name": "soft", "probabilities": probabilities}, {"name": "ridge", "trained": "ridge"}]}
    with tempfile.TemporaryDirectory() as folder:
        with open(pathlib.Path(folder) / "log.csv", "w", encoding="utf-8", newline="") as table:
            writer = csv.DictWriter(table, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        told = evaluate(folder, "log.csv", 3, dict(site="town", arm="colour", reward="spent", propensity="chance"), more)
    assert [policy["policy"] for policy in told["policies"]] == list(goldens)
    for policy in told["policies"]:
        golden = goldens[policy["policy"]]
        for name, wanted in golden.items():
            part, end = (name[:-5], "ci95") if name.endswith("_ci95") else (name, "value")
            got = policy[part]
            is_near(got[end] if isinstance(got, dict) else got, wanted, (policy["policy"], name))


def estimates_of_the_open_bandit_data_are_those_of_obp():
    packed = pathlib.Path(os.environ.get("TACIT_DATA", "/nonexistent")) / "obd/obd-small.tar.xz"
    python = os.environ.get("OBP_PYTHON")
    if python is None or not packed.exists():
        return "no data set obd-with-obp here"
    columns = dict(site="position", arm="item_id", reward="click", propensity="propensity_score")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(packed) as archive:
            archive.extractall(folder)
        for policy in ("random", "bts"):
            for campaign in ("men", "women"):
                log = pathlib.Path(folder) / f"obd/{policy}/{campaign}/{campaign}.csv"
                if policy == "bts":
                    drop_unseen(log)
                wanted = subprocess.run([python, str(HERE / "off_policy_goldens.py"), str(log), *columns.values()],
                                        capture_output=True, text=True, check=True).stdout
                count = compare(evaluate(folder, log, 3, columns), json.loads(wanted))
                print(f"{policy}/{campaign}: {count} numbers equal")
    return None


def drop_unseen(path):
    """tacit wants every arm at every site: leaves out the arms that some position never showed."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    at = {name: i for i, name in enumerate(lines[0].rstrip("\n").split(","))}
    seen = {}
    for line in lines[1:]:
        cells = line.split(",")
        seen.setdefault(cells[at["item_id"]], set()).add(cells[at["position"]])
    kept = [line for line in lines[1:] if len(seen[line.split(",")[at["item_id"]]]) == 3]
    path.write_text("".join(lines[:1] + kept), encoding="utf-8")


def main():
    failed = 0
    for test in (estimates_are_those_of_the_goldens, policies_are_those_of_the_goldens, estimates_of_the_open_bandit_data_are_those_of_obp):
        try:
            why = test()
            if why is not None:
                print(f"skip: {why}")
            print(f"[{'  SKIPPED ' if why else '       OK '}] {test.__name__}")
        except AssertionError as wrong:
            failed += 1
            print(f"[  FAILED  ] {test.__name__}: {wrong}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
