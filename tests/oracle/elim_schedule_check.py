#!/usr/bin/env python3
"""Epoch elimination without noise and with constant rewards, in closed form.

Third opinion on READINGS P1 1-7, 9, 18, 19: no slots, no agents, no messages, only the schedule.
S(r) is computed in 60 decimal digits, so that its ceiling is the true one. Reads from stdin

    {"agents": M, "means": [[..K numbers..], ..one row or M rows..], "horizon": T,
     "rounds": R or 0/null, "gap": Delta or 0/null, "cost_server_link": c1 (optional)}

and prints JSON: epochs (S, n, C, active set before and after, collected or not), regret, rounds,
cost. "closest" is the smallest distance of an elimination test from its threshold: where it is
above 1e-12, rounding decided nothing.
"""
import json
import math
import sys
from decimal import ROUND_CEILING, Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60
SAME = Fraction(1, 10**12)  # global means closer than this count as equal


def decimal_of(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def global_means(rows):
    columns = zip(*[[Fraction(x) for x in row] for row in rows])
    return [sum(column) / len(rows) for column in columns]


def smallest_gap(config, means):
    if config.get("gap"):
        return decimal_of(Fraction(config["gap"]))
    gaps = [max(means) - mean for mean in means]
    return decimal_of(min([gap for gap in gaps if gap > SAME], default=Fraction(1)))


def target(config, gap, r):
    """Delta-tilde: 2^-r, or Delta^(r/R) where the number of rounds is limited."""
    if not config.get("rounds"):
        return Decimal(2) ** -r
    return (gap.ln() * r / config["rounds"]).exp()


def log_term(config, active_count, r):
    return Decimal(8 * active_count * r * r * config["horizon"]).ln()


def ceil_s(config, gap, active_count, r):
    s = 8 * log_term(config, active_count, r) / (config["agents"] * target(config, gap, r) ** 2)
    return int(s.to_integral_value(rounding=ROUND_CEILING))


def width(config, active_count, r, s):
    return (log_term(config, active_count, r) / (2 * config["agents"] * s)).sqrt()


def split_by_test(means, active, c):
    """Survivors of the test, and how close any arm came to the threshold 2 C."""
    top = max(means[k] for k in active)
    excess = {k: decimal_of(top - means[k]) - 2 * c for k in active}
    return [k for k in active if excess[k] < 0], min(abs(x) for x in excess.values())


def cut_regret(gaps, active, slots):
    """One agent's regret of the first `slots` slots of a round robin over the active arms."""
    turns, rest = divmod(slots, len(active))
    return turns * sum(gaps[k] for k in active) + sum(gaps[k] for k in active[:rest])


def play(config):
    means = global_means(config["means"])
    gaps = [max(means) - mean for mean in means]
    gap = smallest_gap(config, means)
    active = list(range(len(means)))
    left, s, r, rounds = config["horizon"], 0, 0, 0
    regret, closest, epochs = Fraction(0), None, []
    while left > 0 and len(active) > 1 and not (config.get("rounds") and r == config["rounds"]):
        r += 1
        wanted = max(ceil_s(config, gap, len(active), r), s)
        n, s = wanted - s, wanted
        c = width(config, len(active), r, s)
        slots = min(n * len(active), left)
        cut = slots < n * len(active)
        regret += cut_regret(gaps, active, slots)
        left -= slots
        after = active
        if not cut:
            rounds += n > 0
            after, near = split_by_test(means, active, c)
            closest = near if closest is None else min(closest, near)
        epochs.append({"S": s, "n": n, "C": float(c), "before": active, "after": after,
                       "collected": not cut and n > 0})
        active = after
    best = max(active, key=lambda k: (means[k], -k)) if rounds else active[0]
    regret += left * gaps[best]
    total = regret * config["agents"]
    return {"epochs": epochs, "regret": float(total), "rounds": rounds,
            "cost": config.get("cost_server_link", 25) * config["agents"] * rounds,
            "final_arm_count": len(active), "final_arm": best,
            "closest": None if closest is None else float(closest)}


def main():
    config = json.load(sys.stdin)
    if len(config["means"]) not in (1, config["agents"]):
        sys.exit("means: one row, or one row per agent")
    if not math.isclose(config.get("participation", 1), 1):
        sys.exit("participation: only 1")
    json.dump(play(config), sys.stdout)
    print()


if __name__ == "__main__":
    main()
