#!/usr/bin/env python3
"""Decisions before any run was joined; and what an agent remembers of those that closed: on disk, not in memory, over
restarts and kills. TACIT_TEST_LONG=1: ten million of them. See support.py."""
import os
import random
import signal
import time

from support import IS_LONG, UnixConnection, call, main, require, test, wait_for

MEANS = [0.2, 0.4, 0.6, 0.8]
BATCH = 1000
KEYED = 500
ROWS = 10_000_000 if IS_LONG else 12_000
RSS_KIB = 64 * 1024
START_CPU_S = 1.0


def resident_kib(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def cpu_s(process):
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Caller:
    """One line to the agent's API; batches only."""

    def __init__(self, federation, site):
        self.path = federation.socket_of(site)
        self.connection = None

    def ask(self, path, value):
        self.connection = self.connection or UnixConnection(self.path)
        return call(self.connection, "POST", path, value)[1]

    def decide(self, requests):
        return self.ask("/v1/decisions/batch", {"requests": requests})["decisions"]

    def reward(self, ids, value=0.5):
        given = {"rewards": [{"id": one, "reward": value} for one in ids]}
        return [one.get("status", "unknown") for one in self.ask("/v1/rewards/batch", given)["rewards"]]


def restart(federation, site, how):
    federation.processes[site].send_signal(how)
    federation.processes[site].wait(60)
    federation.start(site)
    wait_for(f"{site} answers", lambda: federation.site_status(site))


def alone(federation, **decisions):
    """One site, and nobody who announces a run."""
    site = federation.sites[0]
    federation.write_agent(site, federation.policy(), decisions={"caller_calls_per_s": 1000000, **decisions})
    federation.start_all([site])
    wait_for(f"{site} answers", lambda: federation.site_status(site))
    return site, Caller(federation, site)


@test
def early_decisions_are_spread_and_count_nowhere(federation_of):
    federation = federation_of(MEANS, sites=1)
    site, caller = alone(federation, open_max=20000)
    decisions = [one for _ in range(4) for one in caller.decide([{}] * BATCH)]
    require({one["kind"] for one in decisions} == {"early"}, f"{decisions[0]}")
    counts = [sum(one["arm"] == arm for one in decisions) for arm in range(4)]
    require(all(800 < count < 1200 for count in counts), f"{counts}")  # 7 standard deviations
    ids = [int(one["id"], 16) for one in decisions]
    bits = [sum(one >> bit & 1 for one in ids) for bit in range(128)]
    require(len(set(ids)) == len(ids) and ids != sorted(ids), "ids tell of each other")
    require(all(1800 < count < 2200 for count in bits), f"a bit of ids tells something: {bits}")  # 6 standard deviations
    require(set(caller.reward(one["id"] for one in decisions[:BATCH])) == {"accepted"}, "a reward was not accepted")
    require(set(caller.reward(one["id"] for one in decisions[:10])) == {"repeated"}, "it was not remembered")
    status = federation.site_status(site)
    require(status["early_decisions"] == 4000 and status["early_rewards"] == 1000 and status["pulls"] == 0, f"{status}")
    federation.start("coordinator")
    wait_for("the site joins", lambda: federation.phase(site) == "exploring")
    status = federation.site_status(site)
    require(status["pulls"] == 0, f"early decisions were counted: {status}")
    require(set(caller.reward(one["id"] for one in decisions[1000:1010])) == {"accepted"}, "late early ones")
    require(federation.site_status(site)["unserved"] == status["unserved"], "an early reward filled a place")
    require(caller.decide([{}])[0]["kind"] == "planned", "the plan is not served")


@test
def what_closed_is_remembered_on_disk(federation_of):
    """Twice each: the same key, the same answer; a reward twice, or too late. With kills in between."""
    federation = federation_of(MEANS, sites=1)
    site, caller = alone(federation, open_max=20000)
    chance = random.Random(7)
    sample = []  # key, id, arm, answer to a further reward
    made = 0
    started = time.monotonic()
    while made < ROWS:
        keyed = made < KEYED * 20 and made % (4 * BATCH) == 0
        requests = [{"key": f"key-{made + i}"} if keyed else {} for i in range(BATCH)]
        decisions = caller.decide(requests)
        ids = [one["id"] for one in decisions]
        if keyed:
            for one in ids[:5]:
                call(caller.connection, "DELETE", f"/v1/decisions/{one}")
            sample += [(f"key-{made + i}", one["id"], one["arm"], "late" if i < 5 else "repeated")
                       for i, one in enumerate(decisions) if i < 5 or chance.random() < 0.1]
        answers = caller.reward(ids[5:] if keyed else ids)
        require(set(answers) == {"accepted"}, f"{set(answers)}")
        made += BATCH
        if not IS_LONG and made % (4 * BATCH) == 0:
            caller.connection = None
            restart(federation, site, signal.SIGKILL if made % (8 * BATCH) else signal.SIGTERM)
    file = federation.folder / f"state-{site}" / "remembered.db"
    require(file.exists(), "nothing was written beside the database")
    for _ in range(2):
        for key, one, arm, answer in sample:
            again = caller.decide([{"key": key}])[0]
            require(again["id"] == one and again["arm"] == arm, f"{key}: {again}, and not {one}, {arm}")
            require(caller.reward([one]) == [answer], f"{key}: not {answer}")
        caller.connection = None
        restart(federation, site, signal.SIGTERM)
    require(caller.reward(["0" * 32]) == ["unknown"], "an id that was never given")
    process = federation.processes[site]
    used, kib = cpu_s(process), resident_kib(process)
    print(f"{made} decisions in {time.monotonic() - started:.0f} s, {file.stat().st_size} bytes, started in {used:.2f} s of a "
          f"processor, {kib} KiB resident", flush=True)
    if IS_LONG:
        require(used < START_CPU_S, f"started in {used} s")
        require(kib < RSS_KIB, f"{kib} KiB")


@test
def what_is_remembered_is_forgotten_in_time(federation_of):
    federation = federation_of(MEANS, sites=1)
    site, caller = alone(federation, open_max=20000, remember_s=2)
    first = caller.decide([{"key": f"key-{i}"} for i in range(BATCH)])
    caller.reward(one["id"] for one in first)
    folder = (federation.folder / f"state-{site}")
    for _ in range(5):
        caller.reward(one["id"] for one in caller.decide([{}] * BATCH))

    def is_forgotten():
        caller.reward(one["id"] for one in caller.decide([{}]))
        return not (folder / "remembered.db").exists()
    wait_for("the file goes when everything in it is forgotten", is_forgotten)
    require(caller.reward([first[0]["id"]]) == ["unknown"], "it was not forgotten")
    require(caller.decide([{"key": "key-0"}])[0]["id"] != first[0]["id"], "its key was not forgotten")


if __name__ == "__main__":
    main()
