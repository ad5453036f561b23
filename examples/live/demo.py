#!/usr/bin/env python3
"""A whole federation on this machine: a private broker, a coordinator and three hospital agents with mutual
TLS on loopback. Each hospital's application replays patients through the decision API of its agent: it asks
which arm, draws a patient of that arm from its own part of the data, and reports the reward. Shows the rounds as
they happen; ends with the winner, each site's ledger and the bytes that left it; stops all it started.

usage: demo.py TACIT [--horizon N] [--rounds R] [--epsilon E]     (python3, standard library only)
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
SITES = ["hospital-0", "hospital-1", "hospital-2"]
ARMS = ["insulin", "metformin", "glipizide group", "glyburide group", "no medication"]
BATCH = 200


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def call(connection, method, path, body=None):
    connection.request(method, path, None if body is None else json.dumps(body))
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# ---- Patients ----

def hospital_rewards():
    """Rewards by (site, arm): each hospital's part of the data set, or its published shares."""
    folder = HERE.parents[1] / "experiments/hospital"
    sys.path.insert(0, str(folder))
    import make_means
    try:
        rows = make_means.read_rows()
    except SystemExit:
        lines = (folder / "means.csv").read_text().splitlines()
        means = [[float(field) for field in line.split(",")] for line in lines if line[:1] != "#"]
        cells = {(site, arm): [1] * round(1000 * mean) + [0] * (1000 - round(1000 * mean))
                 for site, row in enumerate(means) for arm, mean in enumerate(row)}
        return cells, "patients drawn with the hospitals' arm means (the data set is not here)"
    cells = {}
    for site in range(len(SITES)):
        part = rows[len(rows) * site // len(SITES):len(rows) * (site + 1) // len(SITES)]
        for arm, (_, is_pull) in enumerate(make_means.ARMS):
            cells[site, arm] = [int(row["readmitted"] == ">30") for row in part if is_pull(row)]
    return cells, "patients of the UCI diabetes data set"


# ---- The federation ----

class Federation:
    def __init__(self, tacit, folder, options):
        self.tacit, self.folder, self.options = tacit, folder, options
        self.processes = []
        self.broker_port, self.status_port = free_port(), free_port()

    def run(self, *words):
        subprocess.run([self.tacit, *map(str, words)], check=True)

    def start(self, name, *words):
        log = open(self.folder / f"{name}.log", "w")
        self.processes.append((name, subprocess.Popen(words, stdout=log, stderr=log)))

    def broker_section(self, name):
        pki = self.folder / "pki"
        return (f"broker: {{host: 127.0.0.1, port: {self.broker_port}, ca: {pki}/ca.crt, "
                f"certificate: {pki}/{name}.crt, key: {pki}/{name}.key}}\n")

    def write_files(self):
        arms = json.dumps(ARMS)
        (self.folder / "coordinator.yaml").write_text(
            f"federation: diabetes\nstate: state-coordinator\n{self.broker_section('coordinator')}"
            f"sites: {json.dumps(SITES)}\narms: {arms}\n"
            f"run: {{horizon: {self.options.horizon}, epsilon: {self.options.epsilon}, "
            f"rounds: {self.options.rounds}, gap: {2.0 ** -self.options.rounds}, quorum: 2, deadline_s: 60}}\n"
            f"status: {{port: {self.status_port}}}\n")
        for site in SITES:
            (self.folder / f"{site}.yaml").write_text(
                f"federation: diabetes\nsite: {site}\nstate: state-{site}\n{self.broker_section(site)}"
                f"arms: {arms}\napi: {{unix: {site}.sock}}\n"
                f"policy: {{epsilon: {self.options.epsilon}, budget: {self.options.epsilon}, range: [0, 1], "
                f"agents_max: 10, rounds_max: 40, pulls_max: {self.options.horizon}}}\n")

    def set_up(self):
        (self.folder / "broker").mkdir()
        self.run("pki", "--directory", self.folder / "pki", *SITES)
        self.run("broker-config", "--directory", self.folder / "broker", "--federation", "diabetes", "--pki",
                 self.folder / "pki", "--port", self.broker_port, *SITES)
        self.write_files()
        broker = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
        self.start("broker", broker, "-c", str(self.folder / "broker/mosquitto.conf"))
        self.start("coordinator", self.tacit, "coordinator", "--config", str(self.folder / "coordinator.yaml"))
        for site in SITES:
            self.start(site, self.tacit, "agent", "--config", str(self.folder / f"{site}.yaml"))

    def status(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.status_port, timeout=5)
        try:
            return call(connection, "GET", "/status")[1]
        except OSError:
            return None
        finally:
            connection.close()

    def stop(self):
        for _, process in reversed(self.processes):
            process.terminate()
        for _, process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


# ---- A hospital's application ----

class Application(threading.Thread):
    def __init__(self, federation, index, cells):
        super().__init__(daemon=True)
        self.path = federation.folder / f"{SITES[index]}.sock"
        self.rewards = [cells[index, arm] for arm in range(len(ARMS))]
        self.random = random.Random(index)
        self.pairs = 0
        self.over = threading.Event()
        self.trouble = None

    def connect(self):
        for _ in range(200):
            connection = UnixConnection(self.path)
            try:
                if call(connection, "GET", "/v1/status")[1]["phase"] not in ("waiting for an announcement",):
                    return connection
            except OSError:
                pass
            time.sleep(0.05)
        raise TimeoutError("the agent does not answer")

    def serve_patients(self, connection):
        code, answer = call(connection, "POST", "/v1/decisions/batch", {"requests": [{}] * BATCH})
        if code != 200:
            raise RuntimeError(answer)
        decisions = answer["decisions"]
        rewards = [{"id": one["id"], "reward": self.random.choice(self.rewards[one["arm"]])}
                   for one in decisions]
        code, answer = call(connection, "POST", "/v1/rewards/batch", {"rewards": rewards})
        if code != 200:
            raise RuntimeError(answer)
        self.pairs += len(rewards)
        if all(one["kind"] != "planned" for one in decisions):
            time.sleep(0.01)  # nothing to learn just now: patients come no faster for it

    def run(self):
        try:
            connection = self.connect()
            while not self.over.is_set():
                self.serve_patients(connection)
        except Exception as trouble:  # shown by the main thread
            self.trouble = trouble


# ---- The story ----

def watch(federation, applications):
    epoch = 0
    started = time.monotonic()
    while True:
        status = federation.status()
        trouble = [one.trouble for one in applications if one.trouble]
        dead = [name for name, process in federation.processes if process.poll() is not None]
        if trouble or dead:
            sys.exit(f"stopped: {trouble or dead}; see the logs in {federation.folder}")
        if time.monotonic() - started > 300:
            sys.exit("stopped: not finished after five minutes")
        if status and status["epoch"] != epoch:
            epoch = status["epoch"]
            gone = [arm["name"] for arm in status["arms"] if arm["eliminated_epoch"] == epoch - 1 > 0]
            print(f"{time.monotonic() - started:6.1f} s  epoch {epoch}: {status['active_arms']} arms in, each to "
                  f"{status['pulls']:,} pulls" + (f"; out: {', '.join(gone)}" if gone else ""), flush=True)
        if status and status["phase"] == "finished":
            return status, time.monotonic() - started
        time.sleep(0.05)


def tell(federation, applications, status, seconds):
    means = {arm["name"]: arm["mean"] for arm in status["arms"] if arm["eliminated_epoch"] == 0}
    winner = max(means, key=means.get)
    pairs = sum(one.pairs for one in applications)
    print(f"\nWinner: {winner} (noised mean {means[winner]:.4f}) after {status['rounds']} rounds; "
          f"{pairs:,} patients in {seconds:.1f} s\n")
    for site in SITES:
        connection = UnixConnection(federation.folder / f"{site}.sock")
        _, ledger = call(connection, "GET", "/v1/ledger")
        _, state = call(connection, "GET", "/v1/status")
        print(f"{site}: spent {ledger['spent']:g} of {ledger['budget']:g} epsilon per reward in "
              f"{len(ledger['releases'])} releases; {state['sent_bytes']:,} bytes in {state['sent_messages']} "
              f"messages left the site")
        connection.close()


def main():
    parser = argparse.ArgumentParser(description="A live federation on this machine.")
    parser.add_argument("tacit")
    parser.add_argument("--horizon", type=int, default=400000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epsilon", type=float, default=1.0)
    options = parser.parse_args()
    cells, source = hospital_rewards()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tacit-live-"))
    federation = Federation(os.path.abspath(options.tacit), folder, options)
    print(f"Three hospitals, {source}; epsilon {options.epsilon:g} per reward.", flush=True)
    try:
        federation.set_up()
        applications = [Application(federation, index, cells) for index in range(len(SITES))]
        for one in applications:
            one.start()
        status, seconds = watch(federation, applications)
        time.sleep(0.3)
        for one in applications:
            one.over.set()
            one.join(10)
        tell(federation, applications, status, seconds)
    finally:
        federation.stop()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
