#!/usr/bin/env python3
"""Computes means_whole.csv: the mean reward of each arm over all rows, which the parts of a random
split come near to. Rules and reader are those of ../hospital/make_means.py.

usage: make_means.py           print the file
       make_means.py --check   compare means_whole.csv, beside this script, with the data
"""
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = importlib.util.spec_from_file_location("hospital", os.path.join(HERE, "..", "hospital", "make_means.py"))
hospital = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(hospital)


def main():
    rows = hospital.read_rows()
    means = []
    for _, belongs in hospital.ARMS:
        rewards = [row["readmitted"] == ">30" for row in rows if belongs(row)]
        means.append(sum(rewards) / len(rewards))
    if sys.argv[1:] == ["--check"]:
        with open(os.path.join(HERE, "means_whole.csv"), encoding="utf-8") as file:
            kept = [line for line in file if not line.startswith("#")]
        numbers = [float(number) for number in kept[0].split(",")]
        same = len(kept) == 1 and all(abs(a - b) < 1e-12 for a, b in zip(numbers, means))
        sys.exit(0 if same and len(numbers) == len(means) else "means_whole.csv is not what the data say")
    print("# Share of patients readmitted after more than 30 days; a column an arm:")
    print("# insulin, metformin, glipizide group, glyburide group, no medication. All hospitals alike.")
    print("# Source: diabetes130/diabetic_data.csv (UCI, Diabetes 130-US hospitals 1999-2008, CC BY 4.0; Strack et al. 2014).")
    print("# Made by: experiments/p2-gossip/make_means.py > experiments/p2-gossip/means_whole.csv")
    print(",".join(repr(mean) for mean in means))


main()
