#!/usr/bin/env python3
"""Writes the arm means of the heterogeneous experiments and of their homogeneous counterparts.

usage: make_means.py        (in this folder; the same numbers each time)

Global means mu_k are uniform on [0, 1]. Agent i has mu_k + b_ik with sum_i b_ik = 0 and
|b_ik| <= min(.3, mu_k, 1 - mu_k): b is uniform in these bounds, centred, and shrunk if centring took it
out of them. The homogeneous file has the averages of the columns, so both have the same best arm and gaps.
"""
import random


def biases(rng, agents, bound):
    draws = [rng.uniform(-bound, bound) for _ in range(agents)]
    average = sum(draws) / agents
    centred = [draw - average for draw in draws]
    largest = max(abs(bias) for bias in centred)
    return [bias * min(1, bound / largest) for bias in centred]


def column(rng, agents):
    mean = rng.random()
    bound = min(0.3, mean, 1 - mean)
    return [round(mean + bias, 4) for bias in biases(rng, agents, bound)]


def write(name, comment, rows):
    with open(name, "w") as file:
        file.write(f"# {comment}; made by make_means.py\n")
        file.writelines(",".join(row) + "\n" for row in rows)


def make(figure, agents, arms, seed):
    rng = random.Random(seed)
    columns = [column(rng, agents) for _ in range(arms)]
    rows = [[f"{columns[arm][agent]:g}" for arm in range(arms)] for agent in range(agents)]
    averages = [f"{sum(column) / agents:.6g}" for column in columns]
    write(f"{figure}_heterogeneous.csv", f"means of {agents} agents and {arms} arms", rows)
    write(f"{figure}_homogeneous.csv", f"averages of {figure}_heterogeneous.csv", [averages])


make("fig8", agents=5, arms=10, seed=1)
make("fig12", agents=100, arms=100, seed=1)
