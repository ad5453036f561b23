#!/usr/bin/env python3
"""How many samples votes take, and what regret releases that double and votes cost, as the formulas say, beside what simulated runs do.

usage: vote_forecast.py      $TACIT_PROGRAM is asked
"""
import csv
import json
import re
import sys

from program import run, tacit

NONE, PAPER, SOUND = "{mode: none}", "{mode: paper}", "{mode: sound, epsilon: 1}"
RUNS = 100
# privacy, protocol, how far the formula may be off: a ladder that doubles has steps of a factor 2
CASES = (
    (PAPER, "{kind: votes, subroutine: ser3, epsilon: 0.1, votes: cheapest}", 1.25),
    (PAPER, "{kind: votes, subroutine: successive, epsilon: 0.1, votes: cheapest}", 1.25),
    (PAPER, "{kind: votes, subroutine: ser3, epsilon: 0.1, sharing: none}", 1.25),
    (PAPER, "{kind: votes, subroutine: ser3, epsilon: 0.1, sharing: all}", 1.25),
    (PAPER, "{kind: votes, subroutine: ugapec, epsilon: 0.1, votes: cheapest}", 1.25),
    (PAPER, "{kind: votes, subroutine: lucb, epsilon: 0.1, votes: cheapest}", 1.25),
    (SOUND, "{kind: votes, epsilon: 0.1, votes: cheapest}", 2),
    (SOUND, "{kind: votes, epsilon: 0.1, sharing: sums}", 1.5),
    (SOUND[:-1] + ", trust: {aggregators: 2}}", "{kind: votes, epsilon: 0.1, sharing: sums}", 1.5),
)


def settings_of(privacy, protocol):
    return [f"--set=privacy={privacy}", f"--set=protocol={protocol}", "--set=network={kind: broadcast}"]


def share_decided(folder, privacy, protocol, horizon):
    """Runs that the horizon does not cut short, and in which all agree."""
    tacit("run", "file.yaml", "--quiet", f"--runs={RUNS}", "--set=checkpoints=2", f"--set=horizon={horizon}", "--out=out",
          *settings_of(privacy, protocol), folder=folder)
    with open(folder / "out" / "runs.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return sum(float(row["single_arm_fraction"]) == 1 and float(row["answer_share"]) > 0.95 for row in rows) / len(rows)


def samples_are_as_forecast(folder, privacy, protocol, factor):
    said = tacit("check", "file.yaml", "--set=horizon=10", *settings_of(privacy, protocol), folder=folder)
    found = re.search(r"takes ([\d,]+) samples of all players; you have 10", said)
    assert found, said
    forecast = int(found.group(1).replace(",", ""))
    late, early = (share_decided(folder, privacy, protocol, round(forecast * by)) for by in (factor, 1 / factor))
    print(f"    {protocol}: {forecast} samples; {early:.2f} decide at 1/{factor} of them, {late:.2f} at {factor}")
    assert late >= 0.9 and early <= 0.97, (late, early)


def regret_is_as_forecast(folder, privacy, agents):
    plans = json.loads(tacit("plan", "file.yaml", "--json", "--quiet", "--runs=40", f"--set=privacy={privacy}", f"--set=agents={agents}",
                             "--set=horizon=5000", folder=folder))["plans"]
    seen = 0
    for plan in plans:
        if plan["regret_formula"] is not None:
            ratio = plan["regret_formula"] / plan["regret"]
            print(f"    {plan['protocol']} over {plan['network']}: regret {plan['regret']:.1f}, by formula {plan['regret_formula']:.1f}")
            assert 0.7 < ratio < 1.3, plan
            seen += 1
    assert seen == 3, plans


def files_without_a_formula_say_nothing(folder):
    for more in ("--set=environment.drift={per_sample: -1e-5}", "--set=protocol.subroutine=kl-lucb",
                 "--set=activation={kind: groups, groups: [{share: 0.5, events: 0.8}, {share: 0.5, events: 0.2}]}"):
        said = tacit("check", "file.yaml", "--set=horizon=10", *settings_of(PAPER, "{kind: votes, epsilon: 0.1, votes: floor, eta: 0.9}"), more,
                     folder=folder)
        assert "samples of all players" not in said, (more, said)


TESTS = [*((samples_are_as_forecast, *case) for case in CASES),
         *((regret_is_as_forecast, privacy, agents) for privacy in (NONE, SOUND) for agents in (3, 8)), files_without_a_formula_say_nothing]
FILES = {"means.csv": "0.4,0.7,0.55\n",
         "file.yaml": "name: forecast\nseed: 7\nruns: 100\nhorizon: 20000\nagents: 6\nenvironment: {kind: bernoulli, means: means.csv}\n"
                      "protocol: {kind: elimination}\nprivacy: {mode: none}\n"}


if __name__ == "__main__":
    sys.exit(run(TESTS, FILES))
