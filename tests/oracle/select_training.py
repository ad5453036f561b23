#!/usr/bin/env python3
"""Trainings that a selection serves, on MNIST: a model comes of it, the same bits come of any number of threads, honest
noise drowns a large model, and what is missing is named. Skipped where the data set is not here.
"""
import contextlib
import csv
import json
import os
import subprocess
import sys
import tempfile
import time

FILE = """name: training
seed: 5
runs: 2
horizon: 12
agents: 30
environment: {kind: latency, source: two-groups}
network: {kind: star}
protocol: {kind: select, selector: exact, users_per_round: 5}
privacy: {mode: none}
training: {data: mnist, batches_max: 40}
"""


def run(path, *settings, threads=2, code=0, out=None):
    words = [os.environ["TACIT_PROGRAM"], "run", path, "--json", "--quiet", "--threads", str(threads)]
    words += ["--out", out] if out else []
    for setting in settings:
        words += ["--set", setting]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode != code:
        sys.exit(f"{settings}: code {result.returncode}: {result.stderr}")
    return result


def mean(result, metric):
    return json.loads(result.stdout)["metrics"][metric]["mean"]


def require(condition, what):
    if not condition:
        sys.exit(what)


def most_threads(path, *settings, threads):
    """The most that the process was seen to have, by the names of its tasks."""
    words = [os.environ["TACIT_PROGRAM"], "run", path, "--quiet", "--threads", str(threads)]
    for setting in settings:
        words += ["--set", setting]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        most = 0
        while process.poll() is None:
            with contextlib.suppress(OSError):  # it has just ended
                most = max(most, len(os.listdir(f"/proc/{process.pid}/task")))
            time.sleep(0.002)
    require(process.returncode == 0, f"{threads} threads: code {process.returncode}")
    return most


def check_threads(path):
    """A run's own helper and oneDNN's threads count, too."""
    require(most_threads(path, "runs=1", threads=1) == 1, "one thread is one thread")
    require(most_threads(path, "runs=1", "training.model=cnn", "horizon=2", threads=1) == 1, "of a network of layers, too")
    require(most_threads(path, "runs=1", threads=2) == 2, "a run alone has both threads")
    require(most_threads(path, "runs=2", threads=2) == 2, "two runs have one each")


def check_series(folder, path):
    """What is examined on the way is in series.csv, and what it sums up to is in the metrics."""
    out = os.path.join(folder, "out")
    found = run(path, "training.evaluate_every=4", "training.exam=2000", "training.target=0.6", out=out)
    with open(os.path.join(out, "series.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    require([(row["run"], row["t"]) for row in rows] == [(r, t) for r in "01" for t in ("4", "8", "12")], "slots")
    for one in range(2):
        own = rows[3 * one:3 * one + 3]
        accuracies = [float(row["accuracy_by_round"]) for row in own]
        means = [float(row["accuracy_mean_by_round"]) for row in own]
        require(abs(means[2] - sum(accuracies) / 3) < 1e-12 and means[0] == accuracies[0], "means of ten rounds")
        require(all(abs(value * 2000 - round(value * 2000)) < 1e-6 for value in accuracies), "of 2,000 pictures")
    reached = [next(float(row["time_by_round"]) for row in rows[3 * r:3 * r + 3]
                    if float(row["accuracy_mean_by_round"]) >= 0.6 or row["t"] == "12") for r in range(2)]
    require(abs(mean(found, "time_to_target") - sum(reached) / 2) < 1e-9, "time to the target")
    last = sum(float(row["accuracy_by_round"]) for row in rows[2::3]) / 2
    require(abs(mean(found, "accuracy") - last) < 1e-12, "the last examination is the accuracy")


def check_head(path):
    """Five digits are public and teach the hidden layers; users who tell of the other five under a sound budget of 40 lift
    the model above whatever can be known from the public ones: 5,139 pictures of the exam show digits below 5."""
    one_round = ("horizon=1", "agents=300", "protocol.selector=all", "protocol.users_per_round=300", "training.model=mlp",
                 "training.optimizer=sgd", "training.rate=0.5", "training.epochs=10", "training.batches_max=100",
                 "training.frozen={pictures: 15000, labels: 5}")
    head = run(path, *one_round)
    require(mean(head, "bytes") == 300 * 2 * 4 * 170, "170 numbers")
    require(mean(head, "accuracy") > 0.68, f"head: {mean(head, 'accuracy')}")
    sound = run(path, *one_round, "privacy={mode: sound, epsilon: 40, budget: uniform, participations: 1}", "training.clip=10")
    require(mean(sound, "accuracy") > 0.5139, f"head with honest noise: {mean(sound, 'accuracy')}")
    for setting, words in (("training.model=logistic", "belongs to model: mlp"), ("training.batch_norm=on", "batch_norm: off"),
                           ("training.dropout=0.1", "dropout: 0"),
                           ("training.features=3", "training.frozen")):
        line = run(path, *one_round, setting, code=2).stderr
        require(words in line and line.count("\n") == 1, f"{setting}: {line}")


def check_two(path):
    """One aggregator that is named is as none is; two are another result, the same with any number of threads, and without noise nobody's."""
    sound = ("horizon=1", "protocol.selector=all", "protocol.users_per_round=30", "protocol.quorum=2", "training.model=logistic", "training.features=4",
             "privacy={mode: sound, epsilon: %s, budget: %s, trust: {aggregators: %s}}")
    def of(aggregators, epsilon="30", budget="uniform, participations: 1", threads=2):
        return run(path, *sound[:-1], sound[-1] % (epsilon, budget, aggregators), threads=threads)

    one, two, bare = of(1), of(2), run(path, *sound[:-1], "privacy={mode: sound, epsilon: 30, budget: uniform, participations: 1}")
    require(one.stdout == bare.stdout, "one aggregator is not as before")
    require(of(2, threads=1).stdout == two.stdout, "two aggregators hang on threads")
    require(of(1, "inf", "geometric").stdout == of(2, "inf", "geometric").stdout, "no noise is of nobody")
    require(mean(two, "messages") == 62 and mean(two, "leakage_max") == 30, "a request and its answer; the budget is spent")
    require(mean(two, "bytes") > mean(one, "bytes"), "envelopes are counted")
    require(mean(of(2, "1000"), "loss") < mean(of(1, "1000"), "loss"), "less noise teaches more")
    low = abs(mean(of("2, floor: 60"), "loss") - mean(two, "loss"))
    high = abs(mean(of("2, floor: 90000", "1000"), "loss") - mean(of(2, "1000"), "loss"))
    require(low > 100 * high > 0, f"a floor is noise, too, and a high one hardly: {low}, {high}")
    statement = json.loads(two.stdout)["privacy"]["statement"]
    require(statement.startswith("There are two aggregators") and "the exact update of each user" in statement.split(". ")[0], statement)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "training.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(FILE)
        folders = [os.environ.get("TACIT_DATA", ""), os.path.expanduser("~/.local/share/tacit")]
        if not any(os.path.exists(os.path.join(f, "mnist/train-images-idx3-ubyte.gz")) for f in folders):
            missing = run(path, code=2).stderr
            require("training.data" in missing and missing.count("\n") == 1, missing)
            print("skip: no data set mnist here\n[  SKIPPED ] select_training")
            sys.exit(77)
        plain = run(path)
        require(mean(plain, "accuracy") > 0.85, f"accuracy {mean(plain, 'accuracy')}")
        require(mean(plain, "bytes") == 12 * 5 * 2 * 4 * 25818, "bytes of models and updates")
        require(mean(plain, "bytes_to_all") == 12 * (30 + 5) * 4 * 25818, "bytes, the model to all")
        require(run(path, threads=1).stdout == plain.stdout, "another result with one thread")
        check_threads(path)
        check_series(folder, path)
        dropped = run(path, "training.dropout=0.2")
        require(mean(dropped, "accuracy") > 0.7, f"dropout: {mean(dropped, 'accuracy')}")
        require(run(path, "training.dropout=0.2", threads=1).stdout == dropped.stdout, "who drops what hangs on threads")
        require(dropped.stdout != plain.stdout, "nothing is dropped")
        require(run(path, "training.dropout=0").stdout == plain.stdout, "something is dropped")
        skewed = run(path, "labels=dominant")
        require(mean(skewed, "accuracy") > 0.7, f"dominant labels: {mean(skewed, 'accuracy')}")
        paper = run(path, "privacy.mode=paper", "privacy.epsilon=40")
        require(mean(paper, "leakage_max") > 1.5, "budgets are spent")
        sound = run(path, "privacy.mode=sound", "privacy.epsilon=40", "training.model=logistic")
        require(mean(sound, "accuracy") < 0.5, f"honest noise on 7,850 numbers: {mean(sound, 'accuracy')}")
        require(mean(sound, "bits_per_coordinate") == 64, "an int64 a coordinate")
        small = ("training.model=logistic", "training.features=4", "training.optimizer=sgd", "training.rate=0.5")
        few = run(path, *small)
        require(mean(few, "accuracy") > 0.5, f"16 features: {mean(few, 'accuracy')}")
        require(mean(few, "bytes") == 12 * 5 * 2 * 4 * 170, "170 numbers")
        ten = run(path, *small[:1], *small[2:], "training.classes=2", "training.features=2")
        require(mean(ten, "bytes") == 12 * 5 * 2 * 4 * 10, "ten numbers")
        require(mean(ten, "accuracy") > 0.85, f"zeros and ones: {mean(ten, 'accuracy')}")
        check_head(path)
        check_two(path)
        for setting, words in (("training.features=29", "as many as"), ("training.data=imagenet", "mnist, cifar10"),
                               ("training.clip=2", "belongs to privacy mode: sound"),
                               ("training.sensitivity=1", "belongs to privacy mode: paper"),
                               ("training.rate=0", "training.rate"), ("training.dropout=1", "training.dropout"),
                               ("training.hidden=2", "belongs to model: cnn"), ("training.classes=11", "training.classes"),
                               ("training.classes=1", "training.classes"),
                               ("training.frozen={pictures: 70000}", "there are only 60000"),
                               ("training.frozen={pictures: 100, labels: 11}", "training.frozen.labels"),
                               ("training.frozen={labels: 5}", "training.frozen.pictures"),
                               ("training.frozen={pictures: 100, rate: 1}", "rate"),
                               ("agents=4000", "20 pictures")):
            line = run(path, setting, code=2).stderr
            require(words in line and line.count("\n") == 1, f"{setting}: {line}")


if __name__ == "__main__":
    main()
