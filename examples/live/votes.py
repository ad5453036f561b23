"""An A/B/n test by votes: forty shops try four headlines, most of them have a visitor now and then. Each shop's
application asks its agent which headline to show and reports whether the visitor stayed. A shop that has seen enough
votes headlines out, by noised sums alone; a headline that enough shops have voted out is out for everybody; the run
ends when one is left. The shops that have hardly anybody in end with the others, and have said nothing. demo.py runs it."""
import pathlib
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time

from federation import Federation, UnixConnection, call

ARMS = ["plain", "question", "number", "picture"]
MEANS = [0.45, 0.60, 0.85, 0.30]
SHARE_BUSY = 5  # one shop of so many
BATCH = 100
IDLE_S = 1.0  # from visitor to visitor of an idle shop, in the mean
SECONDS_MAX = 150


def files_of(horizon, epsilon):
    """The coordinator's section `run`, and each site's policy: any four shops that agree are enough."""
    return ({"horizon": horizon, "epsilon": epsilon, "accuracy": 0.1, "delta": 0.05, "votes": 4,
             "tick_ms": 200},
            {"epsilon": epsilon, "budget": epsilon, "range": [0, 1], "agents_max": 1000, "rounds_max": 40,
             "pulls_max": horizon})


# ---- A shop's application ----

class Shop(threading.Thread):
    def __init__(self, federation, site, is_busy, seed):
        super().__init__(daemon=True)
        self.path, self.is_busy = federation.socket_of(site), is_busy
        self.random = random.Random(seed)
        self.counts = dict.fromkeys(("planned", "exploit", "committed"), 0)
        self.over = threading.Event()
        self.trouble = None

    def serve(self, connection, count):
        code, answer = call(connection, "POST", "/v1/decisions/batch", {"requests": [{}] * count})
        if code != 200:
            raise RuntimeError(answer)
        decisions = answer["decisions"]
        rewards = [{"id": one["id"], "reward": int(self.random.random() < MEANS[one["arm"]])} for one in decisions]
        code, answer = call(connection, "POST", "/v1/rewards/batch", {"rewards": rewards})
        if code != 200:
            raise RuntimeError(answer)
        for one in decisions:
            self.counts[one["kind"]] += 1
        return any(one["kind"] == "planned" for one in decisions)

    def run(self):
        try:
            connection = UnixConnection(self.path)
            while not self.over.is_set():
                is_planned = self.serve(connection, BATCH if self.is_busy else 1)
                if not self.is_busy:
                    self.over.wait(self.random.expovariate(1 / IDLE_S))
                elif not is_planned:
                    self.over.wait(0.1)  # nothing to learn just now: visitors come no faster for it
        except Exception as trouble:  # shown by the main thread
            self.trouble = trouble


# ---- The story ----

def set_up(federation, horizon, epsilon):
    run, policy = files_of(horizon, epsilon)
    federation.make_certificates()
    federation.write_broker()
    federation.write_coordinator(run, protocol="votes")
    for site in federation.sites:
        federation.write_agent(site, policy, protocol="votes")
    for name in ("broker", "coordinator", *federation.sites):
        federation.start(name)


def stop_if_anything_died(federation, shops, started):
    trouble = [one.trouble for one in shops if one.trouble]
    dead = [name for name, process in federation.processes.items() if process.poll() is not None]
    if trouble or dead:
        sys.exit(f"stopped: {trouble or dead}; see the logs in {federation.folder}")
    if time.monotonic() - started > SECONDS_MAX:
        sys.exit(f"stopped: not finished after {SECONDS_MAX} seconds; see the logs in {federation.folder}")


def wait_until_all_have_joined(federation, started):
    waiting = set(federation.sites)
    while waiting:
        waiting -= {site for site in waiting if (federation.site_status(site) or {}).get("phase") == "exploring"}
        stop_if_anything_died(federation, (), started)
        time.sleep(0.05)


def watch(federation, shops, started):
    """Until the coordinator and every shop have decided."""
    said = None
    undecided = set(federation.sites)
    while undecided:
        hub = federation.status()
        stop_if_anything_died(federation, shops, started)
        votes = {arm["name"]: (arm["votes"], arm["in"]) for arm in hub["arms"]} if hub else said
        if votes != said:
            said = votes
            words = [f"{name} {count}{'' if is_in else ' (out)'}" for name, (count, is_in) in votes.items()]
            print(f"{time.monotonic() - started:6.1f} s  votes against: " + ", ".join(words), flush=True)
        if hub and hub["phase"] == "finished":
            undecided -= {site for site in undecided
                          if (federation.site_status(site) or {}).get("phase") == "decided"}
        time.sleep(0.1)


def tell(federation, shops, seconds):
    hub = federation.status()
    sites = [federation.site_status(site) for site in federation.sites]
    ledgers = [federation.get(site, "/v1/ledger") for site in federation.sites]
    assert all(site["winner"] == hub["winner"] for site in sites)
    voters = [site["name"] for site in hub["sites"] if site["reported"]]
    busy = [shop.is_busy for shop in shops]
    print(f"\nWinner: {hub['winner']}, by the votes of {len(voters)} of {len(sites)} shops; "
          f"{sum(site['pulls'] for site in sites):,} visitors in {seconds:.1f} s\n")
    for word, wanted in (("busy", True), ("idle", False)):
        some = [i for i, one in enumerate(busy) if one == wanted]
        pulls = [sites[i]["pulls"] for i in some]
        print(f"{len(some)} {word} shops: {statistics.median(pulls):,.0f} visitors each (median), "
              f"{sum(len(ledgers[i]['releases']) for i in some)} draws of noise, "
              f"at most {max(ledgers[i]['spent'] for i in some):g} epsilon per reward spent, "
              f"{sum(sites[i]['sent_bytes'] for i in some) / len(some):,.0f} bytes out of each (mean)")


def play(tacit, count, horizon, epsilon):
    sites = [f"shop-{number:02}" for number in range(count)]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tacit-live-"))
    federation = Federation(tacit, folder, "headlines", sites, ARMS)
    print(f"{len(sites)} shops, {len(ARMS)} headlines; epsilon {epsilon:g} per reward; one shop of "
          f"{SHARE_BUSY} is busy.", flush=True)
    try:
        started = time.monotonic()
        set_up(federation, horizon, epsilon)
        wait_until_all_have_joined(federation, started)
        print(f"{time.monotonic() - started:6.1f} s  all shops have joined", flush=True)
        shops = [Shop(federation, site, number % SHARE_BUSY == 0, number) for number, site in enumerate(sites)]
        for one in shops:
            one.start()
        watch(federation, shops, started)
        seconds = time.monotonic() - started
        for one in shops:
            one.over.set()
        for one in shops:
            one.join(10)
        tell(federation, shops, seconds)
    finally:
        federation.stop_all()
    shutil.rmtree(folder)
