#!/usr/bin/env python3
"""Computes means.csv: the mean reward of each arm at each hospital, three rows of five numbers.

usage: make_means.py           print the file
       make_means.py --check   compare means.csv, beside this script, with the data

The data set is looked for in $TACIT_DATA and in ~/.local/share/tacit. The rules are those of
hospital.yaml, written down a second time on purpose: a check that shares code with what it checks
finds little.
"""
import csv
import gzip
import lzma
import os
import sys

NAME = "diabetes130/diabetic_data.csv"
COMMAND = "experiments/hospital/make_means.py > experiments/hospital/means.csv"
HOSPITALS = 3
TOLERANCE = 1e-12

GLIPIZIDE_GROUP = ["repaglinide", "glipizide", "rosiglitazone", "acarbose", "miglitol", "troglitazone"]
GLYBURIDE_GROUP = ["nateglinide", "chlorpropamide", "glyburide", "examide", "glimepiride",
                   "acetohexamide", "tolbutamide", "pioglitazone", "citoglipton",
                   "glyburide-metformin", "glipizide-metformin", "glimepiride-pioglitazone",
                   "metformin-rosiglitazone", "metformin-pioglitazone"]
DRUGS = ["insulin", "metformin", *GLIPIZIDE_GROUP, *GLYBURIDE_GROUP, "tolazamide"]

# Is a row a pull of the arm?
ARMS = [
    ("insulin", lambda row: row["insulin"] == "Steady"),
    ("metformin", lambda row: row["metformin"] == "Steady"),
    ("glipizide group", lambda row: any(row[drug] == "Steady" for drug in GLIPIZIDE_GROUP)),
    ("glyburide group", lambda row: any(row[drug] == "Steady" for drug in GLYBURIDE_GROUP)),
    ("no medication", lambda row: all(row[drug] == "No" for drug in DRUGS)),
]


def find_data():
    directories = [os.environ.get("TACIT_DATA", ""), os.path.expanduser("~/.local/share/tacit")]
    for directory in filter(None, directories):
        for ending, opener in (("", open), (".xz", lzma.open), (".gz", gzip.open)):
            path = os.path.join(directory, NAME + ending)
            if os.path.isfile(path):
                return opener, path
    sys.exit(f"make_means.py: no {NAME}[.xz|.gz] in {' or '.join(filter(None, directories))}")


def read_rows():
    opener, path = find_data()
    with opener(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def compute(rows):
    """Means by hospital and arm; hospital i has the rows from n i / 3 up to n (i + 1) / 3."""
    means = []
    for hospital in range(HOSPITALS):
        part = rows[len(rows) * hospital // HOSPITALS:len(rows) * (hospital + 1) // HOSPITALS]
        line = []
        for _, is_pull in ARMS:
            rewards = [row["readmitted"] == ">30" for row in part if is_pull(row)]
            line.append(sum(rewards) / len(rewards))
        means.append(line)
    return means


def show(means):
    print("# Share of patients readmitted after more than 30 days; a row a hospital, a column an arm:")
    print(f"# {', '.join(name for name, _ in ARMS)}.")
    print(f"# Source: {NAME} (UCI, Diabetes 130-US hospitals 1999-2008, CC BY 4.0; Strack et al. 2014).")
    print(f"# Made by: {COMMAND}")
    for line in means:
        print(",".join(repr(mean) for mean in line))


def check(means):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "means.csv")
    with open(path, encoding="utf-8") as file:
        stated = [[float(field) for field in line.split(",")] for line in file if not line.startswith("#")]
    if [len(line) for line in stated] != [len(line) for line in means]:
        sys.exit(f"{path}: not {HOSPITALS} rows of {len(ARMS)} numbers")
    worst = max(abs(a - b) for one, other in zip(stated, means) for a, b in zip(one, other))
    print(f"largest difference: {worst!r}; allowed: {TOLERANCE!r}")
    if worst > TOLERANCE:
        sys.exit(f"{path}: not what the data says")


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__.strip())
    means = compute(read_rows())
    if arguments:
        check(means)
    else:
        show(means)


if __name__ == "__main__":
    main(sys.argv[1:])
