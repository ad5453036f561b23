#!/usr/bin/env python3
"""A whole federation on this machine: a private broker, a coordinator and three hospital agents with mutual
TLS on loopback. Each hospital's application replays patients through the decision API of its agent: it asks
which arm, draws a patient of that arm from its own part of the data, and reports the reward. Shows the rounds as
they happen; ends with the winner, each site's ledger and the bytes that left it; stops all it started, whatever
happens, within three minutes.

usage: demo.py TACIT [--trust 1|2] [--protocol WORD] [--horizon N] [--rounds R] [--epsilon E] [--network star|ring|stars] [--sites N]
(python3, standard library only). With --trust 2 a helper, the second aggregator, shares the work with the coordinator
(phased-index): noise of two, in place of noise of each hospital. On a ring the hospitals do without a hub; in two stars two of them report as one.
Gossip UCB (--protocol gossip-ucb) knows no rounds and never stops by itself: each hospital plays a horizon of pulls,
one patient after the other, over the ring; the answer is the arm that its estimates put first, at any time.
"""
import argparse
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

import contexts
import training
import votes
from federation import Federation

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "clients"))
from tacit_client import Client  # noqa: E402

SITES = ["hospital-0", "hospital-1", "hospital-2"]
ARMS = ["insulin", "metformin", "glipizide group", "glyburide group", "no medication"]
SECONDS_MAX = 150
NETWORKS = {"star": {"kind": "star"}, "ring": {"kind": "ring"},
            "stars": {"kind": "hybrid", "components": [{"agents": 2, "kind": "star-graph"}, {"agents": 1}]}}


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

def run_of_elimination(options):
    """The coordinator's section `run`, and each site's policy."""
    quorum = {} if options.network == "ring" else {"quorum": 2}
    bounds = {"bounds": "exact", "confidence": 0.95} if options.trust == 2 else {"rounds": options.rounds, "gap": 2.0 ** -options.rounds}
    return ({"horizon": options.horizon, "epsilon": options.epsilon, "deadline_s": 60, **bounds, **quorum},
            {"epsilon": options.epsilon, "budget": options.epsilon, "range": [0, 1], "agents_max": 10,
             "rounds_max": 40, "pulls_max": options.horizon})


def run_of_phased_index(options):
    """It plays for regret: the run ends when no further plan fits into its horizon."""
    return ({"horizon": options.horizon, "epsilon": options.epsilon, "deadline_s": 60, "quorum": 2},
            {"epsilon": options.epsilon, "budget": options.epsilon, "range": [0, 1], "agents_max": 10,
             "rounds_max": 4000, "pulls_max": options.horizon})


def run_of_gossip(options):
    return ({"horizon": options.horizon, "epsilon": options.epsilon, "exchange_s": 0.25},
            {"epsilon": options.epsilon, "budget": options.epsilon, "range": [0, 1], "agents_max": 10,
             "pulls_max": options.horizon + len(ARMS)})


class Protocol:
    """What a protocol's files say; patients that an application asks for at once; what is played by default."""

    def __init__(self, run, batch, horizon, epsilon, networks):
        self.run, self.batch, self.horizon, self.epsilon, self.networks = run, batch, horizon, epsilon, networks


# The protocols that are live, by their words.
PROTOCOLS = {"elimination": Protocol(run_of_elimination, 200, 400000, 1.0, ["star", "ring", "stars"]),
             "phased-index": Protocol(run_of_phased_index, 200, 60000, 1.0, ["star"]),
             "gossip-ucb": Protocol(run_of_gossip, 1, 4000, 1.0, ["ring"])}


def set_up(federation, options):
    run, policy = PROTOCOLS[options.protocol].run(options)
    federation.make_certificates(*(["helper"] if options.trust == 2 else []))
    federation.write_broker()
    if options.trust == 2:
        run, policy = {**run, **federation.trust()}, {**policy, **federation.trust()}
    federation.write_coordinator(run, protocol=options.protocol)
    federation.write_network(NETWORKS[options.network])
    if options.trust == 2:
        federation.write_helper(options.epsilon)
    for site in SITES:
        federation.write_agent(site, policy, protocol=options.protocol)
    for name in ("broker", "coordinator", *(["helper"] if options.trust == 2 else []), *SITES):
        federation.start(name)
    if options.trust == 2:
        print("\nWhat the helper's operator is shown, and agrees to:\n" + federation.agree(), flush=True)


# ---- A hospital's application ----

class Application(threading.Thread):
    def __init__(self, federation, index, cells, batch):
        super().__init__(daemon=True)
        self.batch = self.batch_planned = batch
        self.agent = Client(federation.socket_of(SITES[index]))
        self.rewards = [cells[index, arm] for arm in range(len(ARMS))]
        self.random = random.Random(index)
        self.pairs = 0
        self.over = threading.Event()
        self.trouble = None

    def wait_for_run(self):
        for _ in range(200):
            if self.agent.status()["phase"] != "waiting for an announcement":
                return
            time.sleep(0.05)
        raise TimeoutError("no run is announced")

    def serve_patients(self):
        decisions = self.agent.decide_many(self.batch)
        self.agent.reward_many((one, self.random.choice(self.rewards[one.arm])) for one in decisions)
        self.pairs += len(decisions)
        is_planned = any(one.kind == "planned" for one in decisions)
        self.batch = self.batch_planned if is_planned else min(10, self.batch_planned)
        if not is_planned:
            time.sleep(0.01)  # nothing to learn just now: patients come no faster for it

    def run(self):
        try:
            self.wait_for_run()
            while not self.over.is_set():
                self.serve_patients()
        except Exception as trouble:  # shown by the main thread
            self.trouble = trouble


# ---- The story ----

def look(federation):
    """What the first hospital knows: epoch, arms that are in; pulls of each so far, if the coordinator knows them; and
    whether all have decided."""
    hub, sites = federation.status(), [federation.site_status(site) for site in SITES]
    if not hub or not all(sites):
        return 0, ARMS, 0, False
    is_over = all(site["phase"] in ("decided", "finished") for site in sites)
    same = hub["epoch"] == sites[0]["epoch"] and "confidence" not in hub
    pulls = hub.get("pulls", 0) if same else 0  # of each arm; in phases arms differ
    return sites[0]["epoch"], sites[0]["active_arms"], pulls, is_over


def check(federation, applications, started):
    """Ends the demo where something is wrong."""
    trouble = [one.trouble for one in applications if one.trouble]
    dead = [name for name, process in federation.processes.items() if process.poll() is not None]
    if trouble or dead:
        sys.exit(f"stopped: {trouble or dead}; see the logs in {federation.folder}")
    if time.monotonic() - started > SECONDS_MAX:
        sys.exit(f"stopped: not finished after {SECONDS_MAX} seconds; see the logs in {federation.folder}")


def watch(federation, applications):
    epoch, arms = 0, ARMS
    started = time.monotonic()
    while True:
        now, left, pulls, is_over = look(federation)
        check(federation, applications, started)
        if now > epoch:
            gone = [arm for arm in arms if arm not in left]
            epoch, arms = now, left
            print(f"{time.monotonic() - started:6.1f} s  epoch {epoch}: {len(arms)} arms in" +
                  (f", each to {pulls:,} pulls" if pulls else "") + (f"; out: {', '.join(gone)}" if gone else ""),
                  flush=True)
        if is_over:
            return arms[0], time.monotonic() - started
        time.sleep(0.05)


def watch_estimates(federation, applications):
    """Until all have played their pulls: every few seconds, what each hospital puts first."""
    started, said = time.monotonic(), 0
    while True:
        check(federation, applications, started)
        sites = [federation.site_status(site) for site in SITES]
        if all(sites) and all("estimates" in site for site in sites):
            if time.monotonic() - said > 2:
                said = time.monotonic()
                print(f"{said - started:6.1f} s  pulls {', '.join(str(site['pulls']) for site in sites)}; first: " +
                      ", ".join(site["estimates"][0]["name"] for site in sites), flush=True)
            if all(site["phase"] == "finished" for site in sites):
                return time.monotonic() - started
        time.sleep(0.05)


def tell_estimates(federation, seconds):
    """What they come to once they have gossiped a while longer: they all put the same arm first, or it is too close."""
    time.sleep(2)
    sites = [federation.site_status(site) for site in SITES]
    estimates = [{one["name"]: one["estimate"] for one in site["estimates"]} for site in sites]
    spreads = {arm: max(one[arm] for one in estimates) - min(one[arm] for one in estimates) for arm in ARMS}
    firsts = [site["estimates"][0]["name"] for site in sites]
    first = max(ARMS, key=firsts.count)
    mean = sum(one[first] for one in estimates) / len(SITES)
    print(f"\nBest so far: {first} (estimate {mean:.4f}, spread between hospitals {spreads[first]:.1e}), first at "
          f"{firsts.count(first)} of {len(SITES)} hospitals; {sum(site['pulls'] for site in sites):,} pulls in "
          f"{seconds:.1f} s\n")
    for site, state in zip(SITES, sites, strict=True):
        ledger = federation.get(site, "/v1/ledger")
        print(f"{site}: spent {ledger['spent']:g} of {ledger['budget']:g} epsilon per reward in "
              f"{len(ledger['releases'])} noised sums; {state['sent_bytes']:,} bytes in {state['sent_messages']} "
              f"messages left the site")


def tell(federation, applications, winner, seconds):
    status = federation.status()
    winner = status.get("leader", winner)
    means = {arm["name"]: arm.get("mean") for arm in status["arms"]}
    rounds = len(federation.get(SITES[0], "/v1/ledger")["releases"])
    pairs = sum(one.pairs for one in applications)
    print(f"\nWinner: {winner}" + (f" (noised mean {means[winner]:.4f})" if means[winner] else "") +
          f" after {rounds} rounds; {pairs:,} patients in {seconds:.1f} s\n")
    if "answer" in status:
        print(f"{status['answer']}.\n")
        for arm in status["arms"]:
            print(f"  {arm['name']:16} {arm['mean']:.4f} in [{arm['lower']:.4f}, {arm['upper']:.4f}]")
        print()
    if "helper_answers" in status:
        print(f"The helper answered {status['helper_answers']} rounds: each total has the noise of two, and no site added any.\n")
    for site in SITES:
        ledger, state = federation.get(site, "/v1/ledger"), federation.site_status(site)
        print(f"{site}: spent {ledger['spent']:g} of {ledger['budget']:g} epsilon per reward in "
              f"{len(ledger['releases'])} releases; {state['sent_bytes']:,} bytes in {state['sent_messages']} "
              f"messages left the site")


def main():
    parser = argparse.ArgumentParser(description="A live federation on this machine.")
    parser.add_argument("tacit")
    parser.add_argument("--protocol", default="elimination")
    parser.add_argument("--horizon", type=int, help="patients of each hospital")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epsilon", type=float)
    parser.add_argument("--network", choices=NETWORKS)
    parser.add_argument("--sites", type=int, default=40, help="of votes, another story: votes.py")
    parser.add_argument("--trust", type=int, choices=(1, 2), default=1, help="aggregators")
    options = parser.parse_args()
    live = [*PROTOCOLS, "glm-ucb", "select", "votes"]
    if options.protocol not in live:
        parser.error(f"the protocol '{options.protocol}' is not live; those that are: {', '.join(live)}")
    if options.trust == 2 and (options.protocol not in ("elimination", "phased-index") or options.network not in (None, "star")):
        parser.error("two aggregators are shown for elimination and phased-index over a star; allowed: one of them, "
                     "and no other network")
    if options.protocol == "select":  # no arms and no patients: a model
        print("protocol: select", flush=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped on request"))
        training.play(options.tacit)
        return
    if options.protocol == "votes":  # many sites, most of them idle
        print("protocol: votes", flush=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped on request"))
        votes.play(options.tacit, options.sites, options.horizon or 100000, options.epsilon or 1.0)
        return
    if options.protocol == "glm-ucb":  # chooses by contexts: other applications, another story
        print("protocol: glm-ucb", flush=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped on request"))
        contexts.run(options.tacit, options.horizon or contexts.HORIZON)
        return
    protocol = PROTOCOLS[options.protocol]
    options.horizon = options.horizon or protocol.horizon
    options.epsilon = options.epsilon or protocol.epsilon
    options.network = options.network or protocol.networks[0]
    if options.network not in protocol.networks:
        parser.error(f"{options.protocol} does not run over '{options.network}'; allowed: {', '.join(protocol.networks)}")
    print(f"protocol: {options.protocol}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped on request"))  # what was started ends, too
    cells, source = hospital_rewards()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tacit-live-"))
    federation = Federation(options.tacit, folder, "diabetes", SITES, ARMS)
    print(f"Three hospitals, {source}; epsilon {options.epsilon:g} per reward.", flush=True)
    try:
        set_up(federation, options)
        applications = [Application(federation, index, cells, protocol.batch) for index in range(len(SITES))]
        for one in applications:
            one.start()
        gossips = options.protocol == "gossip-ucb"
        winner, seconds = (None, watch_estimates(federation, applications)) if gossips else watch(federation, applications)
        time.sleep(0.3)
        for one in applications:
            one.over.set()
            one.join(10)
        if gossips:
            tell_estimates(federation, seconds)
        else:
            tell(federation, applications, winner, seconds)
    finally:
        federation.stop_all()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
