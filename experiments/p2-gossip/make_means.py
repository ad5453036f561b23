#!/usr/bin/env python3
"""Computes means_whole.csv, the mean reward of each arm over all rows, which the parts of a random
split come near to; and means_no_record.csv, the same where no record of a readmission counts as 1,
too (Sec. 5.2, evidence 3). Rules and reader are those of ../hospital/make_means.py.

usage: make_means.py whole|no_record    print the file
       make_means.py --check            compare both, beside this script, with the data
"""
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = importlib.util.spec_from_file_location("hospital", os.path.join(HERE, "..", "hospital", "make_means.py"))
hospital = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(hospital)


REWARDS = {"whole": lambda row: row["readmitted"] == ">30", "no_record": lambda row: row["readmitted"] != "<30"}
SAYS = {"whole": "Share of patients readmitted after more than 30 days",
        "no_record": "Share of patients not known to be readmitted within 30 days"}


def compute(rows, reward):
    means = []
    for _, belongs in hospital.ARMS:
        rewards = [reward(row) for row in rows if belongs(row)]
        means.append(sum(rewards) / len(rewards))
    return means


def check(name, means):
    with open(os.path.join(HERE, f"means_{name}.csv"), encoding="utf-8") as file:
        kept = [line for line in file if not line.startswith("#")]
    numbers = [float(number) for number in kept[0].split(",")]
    same = len(kept) == 1 and all(abs(a - b) < 1e-12 for a, b in zip(numbers, means))
    if not same or len(numbers) != len(means):
        sys.exit(f"means_{name}.csv is not what the data say")


def main():
    rows = hospital.read_rows()
    if sys.argv[1:] == ["--check"]:
        for name, reward in REWARDS.items():
            check(name, compute(rows, reward))
        return
    name = sys.argv[1]
    print(f"# {SAYS[name]}; a column an arm:")
    print("# insulin, metformin, glipizide group, glyburide group, no medication. All hospitals alike.")
    print("# Source: diabetes130/diabetic_data.csv (UCI, Diabetes 130-US hospitals 1999-2008, CC BY 4.0; Strack et al. 2014).")
    print(f"# Made by: experiments/p2-gossip/make_means.py {name} > experiments/p2-gossip/means_{name}.csv")
    print(",".join(repr(mean) for mean in compute(rows, REWARDS[name])))


main()
