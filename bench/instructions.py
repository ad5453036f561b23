#!/usr/bin/env python3
"""Instructions that fixed workloads take, counted by callgrind: a net for speed that a noisy machine cannot fool. One thread, fixed
seeds; what an agent does for a caller, too, with the entropy of a tape. Held against bench/instructions.csv: above its limit the
check fails, where the compiler is the one that the numbers were recorded with (and the processor has AVX2, as there); elsewhere it reports.

usage: instructions.py RELEASE TESTS [WORKLOAD...]                     the check; build directories: for release, and with tests
       instructions.py RELEASE TESTS --record REASON [WORKLOAD...]     writes new numbers and why they moved
"""
import concurrent.futures
import csv
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "examples/live"))
from federation import Federation, UnixConnection, call  # noqa: E402

TABLE = HERE / "instructions.csv"
COLUMNS = ["workload", "instructions", "limit_percent", "compiler", "valgrind", "reason"]
LIMIT, LIVE_LIMIT = 3, 10
BANDIT = "environment: {kind: bernoulli, generated: {arms: 20, draw: uniform}}\n"
STAR = BANDIT + "agents: 20\nhorizon: 100000\nruns: 20\n"
SOUND = "privacy: {mode: sound, epsilon: 1}\n"
# A workload's file; the words behind --set, or more options.
RUNS = {
    "elimination-paper": (HERE / "cdp.yaml", "--runs", "10"),
    "elimination-sound": (HERE / "cdp.yaml", "--runs", "10", "--set", "privacy={mode: sound, epsilon: 50}"),
    "elimination-graph": (BANDIT + SOUND + "network: {kind: hybrid, components: [{agents: 12, kind: ring}, {agents: 8, kind: complete}]}\n"
                          "agents: 20\nhorizon: 100000\nruns: 40\nprotocol: {kind: elimination}\n",),
    "elimination-exact": (STAR + SOUND + "protocol: {kind: elimination, bounds: exact}\n", "--runs", "60"),
    "phased-index": (STAR + SOUND + "protocol: {kind: phased-index}\n", "--runs", "40"),
    "index": (BANDIT + "agents: 1\nhorizon: 100000\nruns: 3\nprotocol: {kind: index, index: kl-ucb}\nprivacy: {mode: none}\n",),
    "gossip-none": (BANDIT + "agents: 10\nhorizon: 40000\nruns: 1\nnetwork: {kind: ring}\nprotocol: {kind: gossip-ucb}\nprivacy: {mode: none}\n",),
    "gossip-sound": (BANDIT + SOUND + "agents: 10\nhorizon: 15000\nruns: 1\nnetwork: {kind: ring}\nprotocol: {kind: gossip-ucb}\n",),
    "votes": (BANDIT + "agents: 64\nhorizon: 2000000\nruns: 1\nnetwork: {kind: broadcast}\n"
              "protocol: {kind: votes, subroutine: ser3, epsilon: 0.25, delta: 0.05, eta: 0.9}\nprivacy: {mode: paper}\n", "--runs", "10"),
    "votes-private": (BANDIT + SOUND + "agents: 20\nhorizon: 1000000\nruns: 1\nnetwork: {kind: broadcast}\n"
                      "protocol: {kind: votes, epsilon: 0.25, votes: cheapest}\n", "--runs", "10"),
    "select": ("environment: {kind: latency, source: two-groups}\nagents: 300\nhorizon: 600\nruns: 1\nnetwork: {kind: star}\n"
               "protocol: {kind: select, selector: exact, users_per_round: 15}\nprivacy: {mode: paper, epsilon: 40}\n",),
    "linear": ("environment: {kind: contextual, contextual: {dimension: 10, arms: 25, link: logistic, source: sphere}}\nagents: 20\nhorizon: 200\n"
               "runs: 2\nnetwork: {kind: star}\nprotocol: {kind: glm-ucb, variant: fedglb, threshold: 0.27}\nprivacy: {mode: none}\n",),
    "report": (STAR + SOUND + "protocol: {kind: elimination}\n", "--out", "OUT", "--runs", "5",
               "--set", "horizon=20000"),
}
# (single decisions and their rewards, batches of 64 of them): beside those of the first, which is subtracted.
AGENT_BASE = (20, 2)
AGENT = {"api": (320, 2), "store": (20, 42)}
TAPE_BYTES = 1 << 20


def callgrind(words, folder, environment=None):
    """Without the caller's environment, which would be counted, too."""
    return subprocess.Popen(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind.%p", *map(str, words)],
                            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            env={"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C", **(environment or {})})


def counted(process, seconds=300):
    told = process.communicate(timeout=seconds)[1]
    found = re.search(r"Collected : (\d+)", told)
    if process.returncode != 0 or found is None:
        sys.exit(f"instructions.py: {process.args[-6:]}: code {process.returncode}\n{told[-2000:]}")
    return int(found[1])


# ---- Runs ----

def count_run(release, name):
    text, *options = RUNS[name]
    with tempfile.TemporaryDirectory(prefix="tacit-count-") as folder:
        path = pathlib.Path(folder) / "workload.yaml"
        if isinstance(text, pathlib.Path):
            path = text
        else:
            path.write_text(f"name: {name}\nseed: 1\n{text}", encoding="utf-8")
        return counted(callgrind([release / "tacit", "run", path, "--threads", "1", "--quiet", *options], folder))


# ---- An agent and one caller ----

def serve(federation, site, singles, batches):
    """One connection, one request at a time."""
    connection = UnixConnection(federation.socket_of(site), seconds=120)
    for size, count in ((1, singles), (64, batches)):
        for _ in range(count):
            code, answer = call(connection, "POST", "/v1/decisions/batch", {"requests": [{}] * size})
            rewards = [{"id": made["id"], "reward": 1} for made in answer.get("decisions", []) if "id" in made]
            if code != 200 or len(rewards) < size or call(connection, "POST", "/v1/rewards/batch", {"rewards": rewards})[0] != 200:
                sys.exit(f"instructions.py: the agent refused: {answer}")
    connection.close()


def wait_for(what, holds, seconds=120):
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            sys.exit(f"instructions.py: {what}, for {seconds} s")
        time.sleep(0.1)


def count_agent(tests, work):
    """A broker, a coordinator and one agent, which is counted from start to end."""
    with tempfile.TemporaryDirectory(prefix="tacit-count-") as folder:
        folder = pathlib.Path(folder)
        federation = Federation(tests / "tacitd-test", folder, "count", ["one"], [f"arm-{i}" for i in range(5)])
        for name in ("noise", "decisions", "keys"):
            (folder / f"tape.{name}").write_bytes(random.Random(name).randbytes(TAPE_BYTES))
        try:
            federation.make_certificates()
            federation.write_broker()
            federation.write_coordinator({"horizon": 10**9, "epsilon": 1.0, "rounds": 1, "gap": 0.001})
            federation.write_agent("one", {"epsilon": 1.0, "budget": 1.0, "range": [0, 1], "agents_max": 10, "rounds_max": 40,
                                           "pulls_max": 10**9}, decisions={"caller_calls_per_s": 10**6})
            federation.start("broker")
            federation.start("coordinator")
            agent = callgrind(federation.words_of("one"), folder, {"TACIT_TEST_TAPE": str(folder / "tape")})
            federation.processes["one"] = agent
            wait_for("the agent has no plan", lambda: (federation.site_status("one") or {}).get("phase") == "exploring")
            serve(federation, "one", *work)
            agent.terminate()
            return counted(agent)
        finally:
            federation.stop_all()


# ---- The table ----

def told_by(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def compiler_of(build):
    """The one that made the program, by the words that it left in it."""
    dump = subprocess.run(["readelf", "-p", ".comment", build / "tacit"], capture_output=True, text=True, check=True).stdout
    return ", ".join(sorted(set(re.findall(r"\[ *[0-9a-f]+\]\s+(.*)", dump))))


def read_table():
    if not TABLE.exists():
        return {}
    with TABLE.open(encoding="utf-8") as file:
        return {row["workload"]: row for row in csv.DictReader(file)}


def write_table(rows):
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[name] for name in [*RUNS, *AGENT] if name in rows)


def count_all(release, tests, names):
    """Two at a time: instructions do not mind. Agents first, which wait as well."""
    agents = [name for name in names if name in AGENT]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        base = pool.submit(count_agent, tests, AGENT_BASE) if agents else None
        found = {name: pool.submit(count_agent, tests, AGENT[name]) for name in agents}
        found.update({name: pool.submit(count_run, release, name) for name in names if name in RUNS})
        return {name: future.result() - (base.result() if name in agents else 0) for name, future in found.items()}


def check(counts, rows, compiler):
    """Prints each; how many are above their limits."""
    above = 0
    for name, count in counts.items():
        row = rows.get(name)
        if row is None:
            print(f"{name:20} {count:15,}   not recorded")
            above += 1
            continue
        recorded, limit = int(row["instructions"]), int(row["limit_percent"])
        change = 100 * (count / recorded - 1)
        is_above = 100 * count > recorded * (100 + limit)
        above += is_above and row["compiler"] == compiler
        note = "" if row["compiler"] == compiler else f"   recorded with {row['compiler']}: only reported"
        print(f"{name:20} {count:15,}   {change:+6.2f} % (limit {limit}){' ABOVE' if is_above else ''}{note}")
    return above


def main():
    words = sys.argv[1:]
    reason = None
    if "--record" in words:
        at = words.index("--record")
        reason = words[at + 1]
        del words[at:at + 2]
    release, tests = (pathlib.Path(word).resolve() for word in words[:2])
    names = words[2:] or [*AGENT, *RUNS]
    compiler, valgrind = compiler_of(release), told_by("valgrind", "--version")
    has_avx2 = " avx2 " in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    counts = count_all(release, tests, names)
    rows = read_table()
    above = check(counts, rows, compiler)
    if reason is not None:
        for name, count in counts.items():
            rows[name] = dict(zip(COLUMNS, (name, count, LIVE_LIMIT if name in AGENT else LIMIT, compiler, valgrind, reason)))
        write_table(rows)
        return 0
    if above > 0 and has_avx2:
        print("instructions.py: more than allowed. If it is meant: instructions.py RELEASE TESTS --record 'why' WORKLOAD...", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
