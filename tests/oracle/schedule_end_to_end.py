#!/usr/bin/env python3
"""The program, from experiment file to JSON, against the independent computation in
elim_schedule_check.py: without noise and with constant rewards there is no chance, so regret, rounds,
cost and the epoch of each elimination must be equal (regret to 1e-9).

usage: schedule_end_to_end.py          the program is $TACIT_PROGRAM
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def random_case(rng):
    agents, arms = rng.randint(1, 30), rng.randint(2, 40)
    rows = agents if rng.random() < 0.5 else 1
    means = [[round(rng.random(), 3) for _ in range(arms)] for _ in range(rows)]
    rounds = rng.randint(1, 10) if rng.random() < 0.4 else 0
    return {"agents": agents, "means": means, "horizon": rng.choice([20000, 100000, 1000000]),
            "rounds": rounds, "gap": 0, "cost_server_link": 25}


def run_program(case, folder):
    (folder / "means.csv").write_text(
        "\n".join(",".join(map(repr, row)) for row in case["means"]) + "\n")
    (folder / "case.yaml").write_text(
        f"name: case\nhorizon: {case['horizon']}\nagents: {case['agents']}\n"
        "environment: {kind: constant, means: means.csv}\nnetwork: {kind: star}\n"
        f"protocol: {{kind: elimination, rounds: {case['rounds'] or 'none'}}}\n"
        "privacy: {mode: paper, epsilon: inf}\ncost: {server_link: 25}\n")
    done = subprocess.run([os.environ["TACIT_PROGRAM"], "run", str(folder / "case.yaml"), "--json"],
                          capture_output=True, text=True, check=False)
    if done.returncode == 2 and "too short for the first round" in done.stderr:
        return None
    if done.returncode != 0:
        sys.exit(f"the program ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def expected(case):
    done = subprocess.run([sys.executable, str(HERE / "elim_schedule_check.py")],
                          input=json.dumps(case), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def eliminations(epochs, arms):
    found = [0] * arms
    for number, epoch in enumerate(epochs, 1):
        for arm in set(epoch["before"]) - set(epoch["after"]):
            found[arm] = number
    return found


def differences(case, got, want):
    metrics = {name: values["mean"] for name, values in got["metrics"].items()}
    if abs(metrics["regret"] - want["regret"]) > 1e-9 * (1 + abs(want["regret"])):
        yield f"regret {metrics['regret']} is not {want['regret']}"
    for name in ("rounds", "cost"):
        if metrics[name] != want[name]:
            yield f"{name} {metrics[name]} is not {want[name]}"
    seen = [arm["eliminated_epoch_mean"] or 0 for arm in got["arms"]]
    if seen != eliminations(want["epochs"], len(case["means"][0])):
        yield "the arms were not eliminated in the same epochs"


def main():
    rng = random.Random(2026)
    compared = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        while compared < 60:
            case = random_case(rng)
            got = run_program(case, pathlib.Path(folder))
            if got is None:
                continue
            want = expected(case)
            if want["closest"] < 1e-12:
                continue  # rounding decides: not a case to compare
            compared += 1
            for difference in differences(case, got, want):
                bad += 1
                print(f"{json.dumps(case)}: {difference}")
    verdict = "FAILED" if bad else "      OK"
    print(f"[ {verdict} ] program_equals_the_independent_schedule")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
