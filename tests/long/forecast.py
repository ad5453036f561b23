#!/usr/bin/env python3
"""`tacit plan` on instances that nobody chose by hand, held against fresh runs of another seed: the
slots that it asks for are within 20 % of those at which 95 % of the runs decide, and its regret is
within 30 % of theirs, simulated and, where there is one, by formula, for every choice that it offers.

usage: TACIT_PROGRAM=build/tacit forecast.py [INSTANCES]      30 unless given

A share of FRESH runs is compared with 95 % and three standard errors of it, so that a choice whose
slots are right is refused with chance 2e-3 for each of two comparisons; about 330 choices are tried,
and two of them may be refused (expected 0.5; chance of more than two: 2 %; the seeds are fixed)."""
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

TACIT = os.path.abspath(os.environ["TACIT_PROGRAM"])
RUNS = 400
FRESH = 400
ALLOWED = 2
ERROR = 3 * math.sqrt(0.95 * 0.05 / FRESH)


def tacit(*words):
    done = subprocess.run([TACIT, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stderr)
    return json.loads(done.stdout)


def instance(rng):
    arms = rng.randint(2, 6)
    gap = math.exp(rng.uniform(math.log(0.04), math.log(0.25)))
    best = rng.uniform(0.35, 0.9)
    means = [best, best - gap] + [max(0.02, best - gap * rng.uniform(1, 3)) for _ in range(arms - 2)]
    rng.shuffle(means)
    return means, rng.choice([2, 3, 5, 8, 16]), rng.choice([0.3, 1, 3, "inf"])


def write(folder, means, agents, epsilon):
    with open(os.path.join(folder, "means.csv"), "w", encoding="utf-8") as out:
        out.write(",".join(f"{mean:.4f}" for mean in means) + "\n")
    privacy = "{mode: none}" if epsilon == "inf" else f"{{mode: sound, epsilon: {epsilon}}}"
    path = os.path.join(folder, "file.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"name: held out\nseed: 11\nruns: {RUNS}\nhorizon: 50000\nagents: {agents}\n"
                  f"environment: {{kind: bernoulli, means: means.csv}}\nprivacy: {privacy}\n"
                  "protocol: {kind: elimination}\n")
    return path


def fresh(path, plan, horizon):
    """Share of the runs that decide, and their regret."""
    settings = [f"--set={key}={value}" for key, value in plan["settings"].items()]
    with tempfile.TemporaryDirectory() as out:
        got = tacit("run", path, "--json", "-q", "--seed=7001", f"--runs={FRESH}", f"--out={out}/out",
                    f"--set=horizon={horizon}", "--set=checkpoints=2", *settings)
        with open(f"{out}/out/runs.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    # of votes a run has decided when all players have ended, and more than 95 % of them with one arm
    decided = sum(float(row.get("single_arm_fraction", "nan")) == 1 and float(row.get("answer_share", 1)) > 0.95 for row in rows)
    return decided / len(rows), got["metrics"]["regret"]["mean"]


def wrong(path, plan, agents):
    """Why the forecast does not hold, or None."""
    needed = plan["horizon_needed"]
    if needed is not None:
        late, _ = fresh(path, plan, math.floor(1.2 * needed))
        early, _ = fresh(path, plan, max(math.floor(0.8 * needed), 1)) if needed > 100 else (0, 0)
        if late < 0.95 - ERROR or early > 0.95 + ERROR:
            return f"{needed} slots: {early:.3f} decide at 0.8 of them, {late:.3f} at 1.2"
    _, regret = fresh(path, plan, 50000 * (agents if plan["protocol"] == "votes" else 1))
    for by in ("regret", "regret_formula"):
        if plan[by] is not None and abs(regret / plan[by] - 1) >= 0.3:
            return f"{by} {plan[by]:.1f}, and {regret:.1f} in fresh runs"
    return None


def main(count):
    rng = random.Random(20261122)
    tried, refused, ratios = 0, 0, {}
    for index in range(count):
        means, agents, epsilon = instance(rng)
        with tempfile.TemporaryDirectory() as folder:
            path = write(folder, means, agents, epsilon)
            for plan in tacit("plan", path, "--json", "-q", f"--runs={RUNS}")["plans"]:
                why = wrong(path, plan, agents)
                if plan["horizon_formula"] is not None and plan["horizon_needed"] is not None:
                    ratios.setdefault(plan["protocol"], []).append(plan["horizon_formula"] / plan["horizon_needed"])
                tried += 1
                refused += why is not None
                if why:
                    print(f"instance {index} ({means}, {agents} sites, epsilon {epsilon}), "
                          f"{plan['settings']}: {why}", flush=True)
        print(f"{index + 1} of {count} instances: {refused} of {tried} choices refused", flush=True)
    for protocol, list_of in sorted(ratios.items()):
        print(f"{protocol}: by formula {min(list_of):.2f} to {max(list_of):.2f} of the slots needed, {len(list_of)} choices")
    assert tried >= 4 * count and refused <= ALLOWED, (tried, refused)
    print(f"[  OK  ] forecasts_hold_on_{count}_instances")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
