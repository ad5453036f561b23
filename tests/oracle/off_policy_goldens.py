#!/usr/bin/env python3
"""Makes tests/oracle/off_policy/log.csv, a small log of our own with propensities that depend on the site and on a feature,
and goldens.json: what Open Bandit Pipeline (Saito et al. 2021) estimates from it. Called by hand when the log is to change:
needs numpy, scipy, scikit-learn and obp; of obp only its estimators are imported, so torch need not be there.

usage: off_policy_goldens.py              writes both files
       off_policy_goldens.py LOG.csv SITE ARM REWARD PROPENSITY     prints the goldens of another log
"""
import csv
import functools
import importlib.util
import json
import pathlib
import random
import sys
import types
from unittest.mock import MagicMock

FOLDER = pathlib.Path(__file__).parent / "off_policy"
FOLDS = 5


@functools.cache
def estimators():
    """The estimators of obp, without the rest of it."""
    import scipy.stats, sklearn.linear_model, sklearn.utils  # noqa: E401  before anything pretends to be torch

    if importlib.util.find_spec("torch") is None:
        sys.modules["torch"] = MagicMock()
    folder = pathlib.Path(importlib.util.find_spec("obp").submodule_search_locations[0])
    for name, place in (("obp", folder), ("obp.ope", folder / "ope")):
        module = types.ModuleType(name)
        module.__path__ = [str(place)]
        sys.modules[name] = module
    from obp.ope import estimators as found

    return found


def write_log(path):
    chance = random.Random(7)
    sites, arms = ["Bergen", "Ålesund", "Tromsø"], ["blue", "green", "red", "white"]
    mean = {(site, arm): 0.5 + 0.3 * i - 0.2 * j * (i == 2) for i, site in enumerate(sites) for j, arm in enumerate(arms)}
    with open(path, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["row", "town", "colour", "spent", "chance"])
        for row in range(600):
            site = chance.choice(sites)
            weights = [1 + chance.random() * 3 * (k + 1) for k in range(len(arms))]
            shares = [round(weight / sum(weights), 6) for weight in weights]
            arm = chance.choices(range(len(arms)), shares)[0]
            reward = chance.gauss(mean[site, arms[arm]], 0.4 + 0.1 * arm)
            writer.writerow([row, site, arms[arm], f"{reward:.4f}", f"{shares[arm]:.6f}"])


def order(values):
    """As tacit sorts: whole numbers by value, then the rest by bytes."""
    def key(text):
        plain = text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")
        return (0, len(text), text.encode()) if plain else (1, 0, text.encode())
    return sorted(set(values), key=key)


def read(path, site, arm, reward, propensity):
    with open(path, encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    sites, arms = order(row[site] for row in rows), order(row[arm] for row in rows)
    return sites, arms, [(sites.index(r[site]), arms.index(r[arm]), float(r[reward]), float(r[propensity])) for r in rows]


def models(rows, site_count, arm_count):
    """q of each row and arm: the mean of the arm at the row's site over the rows of the other folds, by the book."""
    def mean(values):
        return sum(values) / len(values) if values else None

    tables = []
    for fold in range(FOLDS):
        others = [row for i, row in enumerate(rows) if i % FOLDS != fold]
        by_cell, by_arm = {}, {}
        for s, a, r, _ in others:
            by_cell.setdefault((s, a), []).append(r)
            by_arm.setdefault(a, []).append(r)
        whole = mean([r for _, _, r, _ in others]) or 0.0

        def guess(s, a):
            for found in (mean(by_cell.get((s, a))), mean(by_arm.get(a))):
                if found is not None:
                    return found
            return whole

        tables.append([[guess(s, a) for a in range(arm_count)] for s in range(site_count)])
    return [tables[i % FOLDS][row[0]] for i, row in enumerate(rows)]


def with_policies(path):
    """The log with two policies: by a rule, and by probabilities. Neither looks at more than the row's number."""
    with open(path, encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    arms = order(row["colour"] for row in rows)
    for number, row in enumerate(rows):
        weights = [1 + number * (k + 2) % 5 for k in range(len(arms))]
        row["rule"] = arms[number * 7 % len(arms)]
        row.update({f"p{k}": weight / sum(weights) for k, weight in enumerate(weights)})
    return arms, rows


SWITCH = 5.0


def policy_goldens(path):
    """What obp's estimators say of them, with a ridge regression on the town, by the book, for each arm and fold."""
    import numpy as np
    from scipy.stats import t

    obp = estimators()
    arms, rows = with_policies(path)
    towns = sorted({row["town"] for row in rows})
    contexts = np.array([[1.0, *(float(row["town"] == town) for town in towns)] for row in rows])
    action = np.array([arms.index(row["colour"]) for row in rows])
    rewards, pscore = np.array([float(row["spent"]) for row in rows]), np.array([float(row["chance"]) for row in rows])
    fold, n = np.arange(len(rows)) % FOLDS, len(rows)
    q, before = np.zeros((n, len(arms), 1)), np.zeros((n, len(arms)))
    for k in range(len(arms)):
        for each in range(FOLDS):
            for rows_of, into in ((fold != each, q[:, :, 0]), (fold < each, before)):
                x = contexts[rows_of & (action == k)]
                theta = np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ rewards[rows_of & (action == k)])
                into[fold == each, k] = contexts[fold == each] @ theta
    dist = {"rule": np.array([[float(row["rule"] == arm) for arm in arms] for row in rows]),
            "soft": np.array([[row[f"p{k}"] for k in range(len(arms))] for row in rows]),
            "ridge": np.eye(len(arms))[before.argmax(axis=1)]}
    told = {}
    for name, chances in dist.items():
        of = fold > 0 if name == "ridge" else fold >= 0  # its first fold trains only
        n, r, q_of = int(of.sum()), rewards[of], q[of]
        log = dict(reward=r, action=action[of], pscore=pscore[of], action_dist=chances[of][:, :, None], position=np.zeros(n, dtype=int))
        guessed = dict(log, estimated_rewards_by_reg_model=q_of)
        w = chances[of][np.arange(n), action[of]] / pscore[of]
        robust = obp.DoublyRobust()._estimate_round_rewards(**guessed)
        found = dict(rows=(w > 0).sum(), effective_rows=w.sum() ** 2 / (w ** 2).sum(),
                     ips=obp.InverseProbabilityWeighting().estimate_policy_value(**log),
                     self_normalised=obp.SelfNormalizedInverseProbabilityWeighting().estimate_policy_value(**log),
                     direct=obp.DirectMethod().estimate_policy_value(estimated_rewards_by_reg_model=q_of, action_dist=log["action_dist"],
                                                                     position=log["position"]),
                     doubly_robust=robust.mean(), switched=obp.SwitchDoublyRobust(tau=SWITCH).estimate_policy_value(**guessed),
                     doubly_robust_ci95=t.ppf(0.975, n - 1) * np.std(robust, ddof=1) / np.sqrt(n), gain=(robust - r).mean(),
                     gain_ci95=t.ppf(0.975, n - 1) * np.std(robust - r, ddof=1) / np.sqrt(n))
        told[name] = {key: float(number) for key, number in found.items()}
    return told


def goldens(path, site, arm, reward, propensity):
    import numpy as np
    from scipy.stats import t

    obp = estimators()
    sites, arms, rows = read(path, site, arm, reward, propensity)
    q = np.array(models(rows, len(sites), len(arms)))[:, :, None]
    of_site, action = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    rewards, pscore = np.array([r[2] for r in rows]), np.array([r[3] for r in rows])

    def told(values):
        n = len(values)
        return float(t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n))

    def of(chosen, k):
        n = int(chosen.sum())
        one_hot = np.zeros((n, len(arms), 1))
        one_hot[:, k, 0] = 1
        log = dict(reward=rewards[chosen], action=action[chosen], pscore=pscore[chosen], action_dist=one_hot,
                   position=np.zeros(n, dtype=int))
        ips, snips, dr = (obp.InverseProbabilityWeighting(), obp.SelfNormalizedInverseProbabilityWeighting(), obp.DoublyRobust())
        w = (action[chosen] == k) / pscore[chosen]
        result = dict(rows=int((action[chosen] == k).sum()), effective_rows=float(w.sum() ** 2 / (w ** 2).sum()) if w.any() else 0.0,
                      ips=ips.estimate_policy_value(**log), ips_ci95=told(ips._estimate_round_rewards(**log)),
                      doubly_robust=dr.estimate_policy_value(estimated_rewards_by_reg_model=q[chosen], **log),
                      doubly_robust_ci95=told(dr._estimate_round_rewards(estimated_rewards_by_reg_model=q[chosen], **log)),
                      direct=obp.DirectMethod().estimate_policy_value(estimated_rewards_by_reg_model=q[chosen], action_dist=one_hot,
                                                                      position=np.zeros(n, dtype=int)))
        if w.any():
            value = snips.estimate_policy_value(**log)
            result["self_normalised"] = value
            result["self_normalised_ci95"] = told(w * (rewards[chosen] - value) / w.mean())  # the delta method: ours, not obp's
        return {key: float(number) for key, number in result.items()}

    everything = np.ones(len(rows), dtype=bool)
    return {"arms": {name: of(everything, k) for k, name in enumerate(arms)},
            "sites": {where: {name: of(of_site == s, k) for k, name in enumerate(arms)} for s, where in enumerate(sites)}}


def main(words):
    if words:
        json.dump(goldens(*words), sys.stdout, indent=1)
        return
    FOLDER.mkdir(exist_ok=True)
    write_log(FOLDER / "log.csv")
    told = goldens(FOLDER / "log.csv", "town", "colour", "spent", "chance")
    told["policies"] = policy_goldens(FOLDER / "log.csv")
    (FOLDER / "goldens.json").write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
