#!/usr/bin/env python3
"""An hour of ordinary life at 500 decisions a second and site: broker, coordinator and two agents, real ones. Applications ask
for single decisions and for batches, with keys and units and without, hand rewards in, twice, late, or never, open lines anew, and
look at the status; rounds close; the broker is started again now and then. Whatever the processes keep must have its limit:
resident memory, descriptors and state, once as much is remembered as `remember_s` allows, are level.

usage: TACIT_PROGRAM=build/tacit soak.py        TACIT_SOAK_S: seconds, 3600 unless given; 120 at least
TACIT_SOAK_REMEMBER_S: what is remembered, a twelfth of it unless given. If it is more than the whole run, the state grows, and the
test must fail: so one sees that it can."""
import os
import pathlib
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "live"))
from support import Federation, UnixConnection, call, main, require, test, wait_for  # noqa: E402

SECONDS = int(os.environ.get("TACIT_SOAK_S", "3600"))
REMEMBER_S = int(os.environ.get("TACIT_SOAK_REMEMBER_S", str(max(10, SECONDS // 12))))
WAIT_S = max(5, SECONDS // 60)
RATE = 500  # decisions a second, each site
APPLICATIONS = 4  # of each site, with a line each
BATCH = {"site-0": 20, "site-1": 50}
SINGLES = 10  # of as many batches, one is asked for decision by decision
BROKER_LIFE_S = max(SECONDS / 12, 120)  # long enough that nobody suspects a quarrel over his session
PATIENCE_S = 60
MIB = 1 << 20
# What a quantity may have more in the last third than in the one before, at its lowest and at its highest: a part of it, and so much besides.
# Lines that are opened anew and files that are merged are two for a moment: many at once are a peak, and no leak, which lifts the lowest, too.
SLACK = {"memory": (0.02, 1 * MIB, 1 * MIB), "descriptors": (0, 2, 2 * APPLICATIONS + 4), "state": (0.1, 1 * MIB, 1 * MIB)}
LOG_BYTES = 1 * MIB


# ---- What is looked at ----

def memory_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))


def descriptors_of(pid):
    """Only root may count them; others see the size of their table, which grows when it is full."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("FDSize"))


def bytes_of(folder):
    """Files come and go while we look."""
    total = 0
    for entry in os.scandir(folder):
        try:
            total += entry.stat(follow_symlinks=False).st_size
        except FileNotFoundError:
            pass
    return total


class Series:
    """(name, quantity): [(seconds, value)]."""

    def __init__(self):
        self.values = {}

    def add(self, seconds, name, quantity, value):
        self.values.setdefault((name, quantity), []).append((seconds, value))

    def troubles(self, end_s):
        """Of the three thirds the first is for warming up; the other two are compared."""
        found = []
        for (name, quantity), series in sorted(self.values.items()):
            middle = [value for seconds, value in series if end_s / 3 <= seconds < 2 * end_s / 3]
            last = [value for seconds, value in series if seconds >= 2 * end_s / 3]
            part, at_lowest, at_highest = SLACK[quantity]
            print(f"   {name}: {quantity}: {min(middle)} to {max(middle)}, median {statistics.median(middle):.0f}; then "
                  f"{min(last)} to {max(last)}, median {statistics.median(last):.0f}", flush=True)
            for words, of, besides in (("least", min, at_lowest), ("most", max, at_highest)):
                if of(last) > of(middle) * (1 + part) + besides:
                    found.append(f"{quantity} of {name} grows: {of(middle)} at {words}, and {of(last)} in the last third")
        return found


def check_the_checker():
    """A leak of 4 KiB a second is found in half an hour, and one of a descriptor in three minutes; a saw is none, nor is a peak."""
    for leak, is_found in ((4096, True), (0, False)):  # a decision that is never forgotten takes 20 bytes: 10 KiB a second
        series = Series()
        for second in range(1800):
            series.add(second, "made up", "memory", 20 * MIB + second % 60 * 10000 + second * leak)
        require(bool(series.troubles(1800)) == is_found, f"a leak of {leak} bytes a second")
    for every_s, is_found in ((180, True), (10 ** 6, False)):
        series = Series()
        for second in range(1800):
            series.add(second, "made up", "descriptors", 42 + second % 9 + second // every_s + 5 * (second == 1500))
        require(bool(series.troubles(1800)) == is_found, f"a leak of a descriptor in {every_s} s")


# ---- Those who ask ----

class Life(threading.Thread):
    """An application of a site. Its rate is steady: what is lost to a busy moment is made up for."""

    def __init__(self, federation, site, name):
        super().__init__(daemon=True)
        self.federation, self.site, self.name, self.batch = federation, site, name, BATCH[site]
        self.asked = self.rewarded = self.number = 0
        self.slowest = 0.0
        self.owed = []  # (when, ids): their rewards come later
        self.kinds = {}
        self.connection = None
        self.over = False
        self.trouble = None

    def ask(self, path, body, expected=200):
        if self.connection is None:
            self.connection = UnixConnection(self.federation.socket_of(self.site), PATIENCE_S)
        began = time.monotonic()
        code, answer = call(self.connection, "POST" if body is not None else "GET", path, body)
        self.slowest = max(self.slowest, time.monotonic() - began)
        require(code == expected, f"{path}: {code} {answer}")
        return answer

    def wishes(self):
        """Some with keys, some with units."""
        first = self.number * self.batch
        return [{"key": f"{self.name}-{first + i}"} if i % 5 == 0 else {"unit": f"u{(first + i) % 5000}"} if i % 5 == 1 else {}
                for i in range(self.batch)]

    def decide(self):
        wishes = self.wishes()
        if self.number % SINGLES:
            return self.ask("/v1/decisions/batch", {"requests": wishes})["decisions"]
        return [self.ask("/v1/decisions", wish) for wish in wishes]

    def reward(self, ids):
        if self.number % SINGLES:
            given = {"rewards": [{"id": one, "reward": 0.5} for one in ids]}
            answers = self.ask("/v1/rewards/batch", given)["rewards"]
        else:
            answers = [self.ask("/v1/rewards", {"id": one, "reward": 0.5}) for one in ids]
        require(all(one.get("status") in ("accepted", "repeated", "late") for one in answers), f"{answers}")
        self.rewarded += len(ids)

    def turn(self):
        decisions = self.decide()
        self.asked += len(decisions)
        for one in decisions:
            self.kinds[one["kind"]] = self.kinds.get(one["kind"], 0) + 1
        ids = [one["id"] for one in decisions]
        if self.number % 20 == 7:
            self.owed.append((time.monotonic() + WAIT_S / 2, ids[1:]))  # and the first one never
        else:
            self.reward(ids)
        if self.number % 50 == 9:
            self.reward(ids)  # twice
        if self.owed and self.owed[0][0] <= time.monotonic():
            self.reward(self.owed.pop(0)[1])
        if self.number % 100 == 11:
            self.connection.close()
            self.connection = None
        if self.number % 100 == 13:
            self.ask("/v1/status", None)
            self.ask("/v1/ledger", None)
        self.number += 1

    def run(self):
        try:
            began = time.monotonic()
            while not self.over:
                self.turn()
                ahead_s = self.asked * APPLICATIONS / RATE - (time.monotonic() - began)
                if ahead_s > 0:
                    time.sleep(ahead_s)
        except Exception as trouble:  # shown by the test
            self.trouble = trouble


# ---- The hour ----

def look(federation, series, seconds):
    for name, process in federation.processes.items():
        require(process.poll() is None, f"{name} ended")
        series.add(seconds, name, "memory", memory_of(process.pid))
        series.add(seconds, name, "descriptors", descriptors_of(process.pid))
        if name != "broker":
            series.add(seconds, name, "state", bytes_of(federation.folder / f"state-{name}"))


def live_through(federation, lives, series):
    began = time.monotonic()
    told = restarted = 0.0
    while (seconds := time.monotonic() - began) < SECONDS:
        time.sleep(min(1.0, SECONDS / 600))
        require(all(life.trouble is None for life in lives), f"{[life.trouble for life in lives]}")
        if seconds - restarted >= BROKER_LIFE_S:
            require(federation.status()["connected"] and all(federation.site_status(site)["connected"] for site in
                                                             federation.sites), f"after {BROKER_LIFE_S} s not everybody is back")
            federation.stop("broker")
            federation.start("broker")
            restarted = seconds
        look(federation, series, seconds)
        if seconds - told >= max(SECONDS / 30, 10):
            told = seconds
            now = {f"{name} {quantity}": values[-1][1] for (name, quantity), values in series.values.items()}
            print(f"   {seconds:.0f} s: {sum(life.asked for life in lives)} decisions; {now}", flush=True)
    return time.monotonic() - began


@test
def an_hour_of_ordinary_life_leaves_everything_level(federation_of):
    check_the_checker()
    federation = federation_of([0.5, 0.5, 0.5], sites=2, horizon=10 ** 8, kind=Federation)
    federation.write_coordinator({"id": 1, "horizon": federation.horizon, "epsilon": federation.epsilon, "bounds": "exact",
                                  "growth": 1.25, "quorum": 2, "deadline_s": 3600})
    for site in federation.sites:
        federation.write_agent(site, federation.policy(rounds_max=10000), decisions={
            "wait_s": WAIT_S, "deadline_s": WAIT_S, "remember_s": REMEMBER_S})
    for name in ("broker", "coordinator", *federation.sites):
        federation.start(name)
    wait_for("the run is joined", lambda: all(federation.has_joined(site) for site in federation.sites))
    lives = [Life(federation, site, f"application-{i}") for site in federation.sites for i in range(APPLICATIONS)]
    series = Series()
    for life in lives:
        life.start()
    lasted_s = live_through(federation, lives, series)
    for life in lives:
        life.over = True
        life.join(2 * PATIENCE_S)
        require(not life.is_alive() and life.trouble is None, f"{life.site}: {life.trouble or 'it hangs'}")
    for site in federation.sites:
        here = [life for life in lives if life.site == site]
        asked = sum(life.asked for life in here)
        print(f"   {site}: {asked} decisions, {asked / lasted_s:.0f} a second, {here[0].kinds} and so on; the slowest answer took "
              f"{max(life.slowest for life in here):.2f} s", flush=True)
        require(asked >= 0.95 * RATE * lasted_s, f"{site}: {asked} decisions in {lasted_s} s")
    rounds = federation.status()["epoch"]
    print(f"   {rounds} rounds", flush=True)
    require(rounds > 10, f"{rounds} rounds only")
    troubles = series.troubles(lasted_s)
    troubles += [f"the log of {name} has {len(federation.log(name))} bytes" for name in federation.processes
                 if len(federation.log(name)) > LOG_BYTES]
    require(not troubles, "; ".join(troubles))


if __name__ == "__main__":
    sys.exit(main())
