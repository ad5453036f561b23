#!/usr/bin/env python3
"""Communication of DDP-MAB and HDP-MAB on a graph, computed apart from any simulation of bandits:
delay, communication slots, links and ADV, REQ, DATA messages of one round (Li, Song, Alg. 2, 4;
READINGS P1 13-15, 17). Everything is computed twice, slot by slot with sets and in closed form from
the distances, and the two must be equal.

Then the program, from experiment file to JSON, must report the same numbers. One round of
elimination is played without noise and with constant rewards, so there is no chance. The delay shows
in the regret of an agent that believes in another arm than all others.

usage: gis_slots.py            both; the program is $TACIT_PROGRAM
       gis_slots.py KIND N     prints the numbers of one graph; KIND may be a file of edges "a,b"
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

NAMES = ("agents", "diameter", "links", "adv", "adv_heard", "req", "data", "observations")


# ---- Graphs: a list of edges (a, b) over 0 .. n-1 ----

def complete(n):
    return [(a, b) for a in range(n) for b in range(a + 1, n)]


def ring(n):
    return path(n) + ([(0, n - 1)] if n > 2 else [])


def path(n):
    return [(a, a + 1) for a in range(n - 1)]


def star_graph(n):
    return [(0, a) for a in range(1, n)]


def random_graph(n, chance, rng):
    """Connected: a random tree and each other edge with some chance."""
    edges = {(rng.randrange(a), a) for a in range(1, n)}
    edges |= {edge for edge in complete(n) if rng.random() < chance}
    return sorted(edges)


SHAPES = {"star-graph": star_graph, "complete": complete, "ring": ring, "path": path}


def neighbours_of(n, edges):
    near = [set() for _ in range(n)]
    for a, b in edges:
        if a == b or b in near[a]:
            raise ValueError(f"edge {a}-{b} is a loop or comes twice")
        near[a].add(b)
        near[b].add(a)
    return [sorted(those) for those in near]


def distances(near, start):
    far = {start: 0}
    wave = [start]
    while wave:
        wave = sorted({j for i in wave for j in near[i]} - far.keys())
        for j in wave:
            far[j] = min(far[i] for i in near[j] if i in far) + 1
    return far


# ---- GIS, slot by slot ----

def gis_slot(near, known, news):
    """Returns the message counts of a slot and what everybody learnt in it."""
    adv = adv_heard = req = observations = 0
    learnt = [set() for _ in near]
    for agent, those in enumerate(near):
        adv += bool(news[agent])
        adv_heard += len(those) if news[agent] else 0
        for advertiser in those:
            wanted = news[advertiser] - known[agent] - learnt[agent]
            req += bool(wanted)
            observations += len(wanted)
            learnt[agent] |= wanted
    return (adv, adv_heard, req, observations), learnt


def gis_by_slots(n, edges):
    near = neighbours_of(n, edges)
    known = [{i} for i in range(n)]
    news = [{i} for i in range(n)]
    slots, totals = 0, [0, 0, 0, 0]
    while any(len(those) < n for those in known):
        counts, news = gis_slot(near, known, news)
        if not any(news):
            raise ValueError("the graph is not connected")
        known = [old | new for old, new in zip(known, news)]
        totals = [a + b for a, b in zip(totals, counts)]
        slots += 1
    adv, adv_heard, req, observations = totals
    return dict(zip(NAMES, (n, slots, len(edges) * slots, adv, adv_heard, req, req, observations)))


# ---- GIS, from the distances ----

def gis_by_distances(n, edges):
    """What is d away arrives in slot d and is advertised in slot d + 1, up to slot d_G."""
    near = neighbours_of(n, edges)
    far = [distances(near, i) for i in range(n)]
    diameter = max(max(row.values()) for row in far)
    advertised = [min(max(row.values()) + 1, diameter) for row in far]
    asked = set()  # (slot, who, whom): the lowest neighbour that got it in the slot before
    for agent in range(n):
        for origin in range(n):
            if origin != agent:
                slot = far[agent][origin]
                asked.add((slot, agent, min(a for a in near[agent] if far[a][origin] == slot - 1)))
    heard = sum(len(near[i]) * advertised[i] for i in range(n))
    return dict(zip(NAMES, (n, diameter, len(edges) * diameter, sum(advertised), heard, len(asked),
                            len(asked), n * (n - 1))))


def gis(n, edges):
    by_slots, by_distances = gis_by_slots(n, edges), gis_by_distances(n, edges)
    if by_slots != by_distances:
        sys.exit(f"this oracle disagrees with itself: {by_slots} is not {by_distances}")
    return by_slots


# ---- Sinks ----

def passed_on(near, far):
    """Messages of a collection, hop by hop: an agent passes on together what came together. far: the
    distances to the sink. The next on the way is the lowest neighbour that is nearer."""
    parent = [min((j for j in near[i] if far[j] < far[i]), default=i) for i in range(len(near))]
    place = list(range(len(near)))  # of each observation
    messages = 0
    while any(far[at] > 0 for at in place):
        messages += len({at for at in place if far[at] > 0})
        place = [parent[at] for at in place]
    return messages


def sinks(components):
    """components: list of (n, edges). Delay of a round, hops of all observations, messages."""
    delay = hops = messages = 0
    chosen = []
    for n, edges in components:
        near = neighbours_of(n, edges)
        far = [distances(near, i) for i in range(n)]
        if any(len(row) < n for row in far):
            raise ValueError("a component is not connected")
        sink = min(range(n), key=lambda i: (max(far[i].values()), i))
        chosen.append(sink)
        delay = max(delay, max(far[sink].values()))
        hops += sum(far[sink].values())
        messages += passed_on(near, far[sink])
    return {"delay": delay, "hops": hops, "messages": messages, "links": hops + len(components),
            "sinks": chosen}


# ---- Known answers ----

def self_check():
    """Numbers that can be found with pencil and paper."""
    assert gis(3, path(3)) == dict(zip(NAMES, (3, 2, 4, 6, 8, 6, 6, 6)))
    assert gis(4, star_graph(4)) == dict(zip(NAMES, (4, 2, 6, 8, 12, 9, 9, 12)))
    assert gis(4, ring(4)) == dict(zip(NAMES, (4, 2, 8, 8, 16, 12, 12, 12)))
    assert gis(5, complete(5)) == dict(zip(NAMES, (5, 1, 10, 5, 20, 20, 20, 20)))
    assert gis(1, []) == dict(zip(NAMES, (1, 0, 0, 0, 0, 0, 0, 0)))
    assert [gis(50, SHAPES[kind](50))["diameter"] for kind in SHAPES] == [2, 1, 25, 49]
    assert sinks([(5, path(5))]) == {"delay": 2, "hops": 6, "messages": 6, "links": 7, "sinks": [2]}
    assert sinks([(1, []), (4, complete(4))]) == {"delay": 1, "hops": 3, "messages": 3, "links": 5,
                                                  "sinks": [0, 0]}
    two_twigs = [(0, 1), (1, 2), (1, 3), (0, 4), (4, 5)]  # 2 and 3 reach 1 together
    assert sinks([(6, two_twigs)]) == {"delay": 2, "hops": 8, "messages": 7, "links": 9,
                                       "sinks": [0]}
    rng = random.Random(1)
    for _ in range(200):
        n = rng.randint(2, 20)
        gis(n, random_graph(n, rng.choice((0, 0.1, 0.5)), rng))


# ---- The program ----

ARMS = 3
MEANS = [0.9, 0.5, 0.1]
ODD_MEANS = [0.1, 0.5, 0.9]  # of agent 0: it waits with an arm that is not the best
COST_AGENT, COST_SERVER = 3, 50


def graph_cases(rng):
    """(name, network in YAML, parts); a part is (n, edges), a graph has one."""
    for n in (2, 3, 8, 50):
        for kind, shape in SHAPES.items():
            yield f"{kind} {n}", f"{{kind: {kind}}}", [(n, shape(n))]
    for _ in range(8):
        n = rng.randint(3, 24)
        edges = random_graph(n, rng.choice((0, 0.05, 0.3)), rng)
        yield f"random {n}", "{kind: edges, file: edges.csv}", [(n, edges)]


def hybrid_cases(rng):
    twigs = "components: [{agents: 6, kind: edges, file: edges.csv}, {agents: 2, kind: path}]"
    two_twigs = [(0, 1), (1, 2), (1, 3), (0, 4), (4, 5)]
    yield "two twigs", f"{{kind: hybrid, {twigs}}}", [(6, two_twigs), (2, path(2))]
    for _ in range(12):
        kinds = [(rng.choice(list(SHAPES)), rng.choice((1, 2, 3, 5, 12)))
                 for _ in range(rng.randint(1, 6))]
        if sum(n for _, n in kinds) < 3:
            continue
        items = ", ".join(f"{{agents: {n}, kind: {kind}}}" for kind, n in kinds)
        yield items, f"{{kind: hybrid, components: [{items}]}}", [(n, SHAPES[kind](n))
                                                                 for kind, n in kinds]


def means_of(n):
    """Rows of means: agent 0 is another one where the others can outvote it."""
    return [MEANS] if n < 3 else [ODD_MEANS] + [MEANS] * (n - 1)


def experiment(n, network, sink_delay):
    delay = f", sink_delay: {sink_delay}" if sink_delay else ""
    return (f"name: case\nhorizon: 200000\nagents: {n}\n"
            "environment: {kind: constant, means: means.csv}\n"
            f"network: {network}\nprotocol: {{kind: elimination, rounds: 1{delay}}}\n"
            "privacy: {mode: paper, epsilon: inf}\n"
            f"cost: {{server_link: {COST_SERVER}, peer_link: {COST_AGENT}}}\n")


def run_program(network, parts, folder, sink_delay):
    n = sum(size for size, _ in parts)
    (folder / "means.csv").write_text(
        "".join(",".join(map(repr, row)) + "\n" for row in means_of(n)))
    (folder / "edges.csv").write_text("".join(f"{a},{b}\n" for a, b in parts[0][1]))
    (folder / "case.yaml").write_text(experiment(n, network, sink_delay))
    done = subprocess.run([os.environ["TACIT_PROGRAM"], "run", str(folder / "case.yaml"), "--json"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"the program does not run network {network} (status {done.returncode}): "
                 f"{done.stderr.strip()}")
    return {name: values["mean"] for name, values in json.loads(done.stdout)["metrics"].items()}


def wait_regret(n, delay):
    """Agent 0 plays its favourite while it waits; the others play the best arm."""
    rows = means_of(n)
    best, own = (sum(row[arm] for row in rows) / len(rows) for arm in (0, 2))
    return delay * (best - own) if n > 2 else 0


def expected_of_graph(n, edges):
    """One round: with R = 1 twice the radius is half the smallest gap, so one arm is left."""
    one = gis(n, edges)
    return {"rounds": 1, "links": one["links"], "cost": COST_AGENT * one["links"],
            "messages": one["adv"] + one["req"] + one["data"],
            "messages_per_receiver": one["adv_heard"] + one["req"] + one["data"],
            "scalars": one["observations"] * ARMS,
            "regret_exploit": wait_regret(n, one["diameter"] - 1)}


def expected_of_hybrid(parts, less):
    """The orders: one for the round and the last one. less: slots that are not waited for, of those that hops need."""
    n, sink = sum(size for size, _ in parts), sinks(parts)
    return {"rounds": 1, "links": sink["links"],
            "cost": COST_AGENT * sink["hops"] + COST_SERVER * len(parts),
            "messages": sink["messages"] + len(parts) + 2,
            "messages_per_receiver": sink["messages"] + len(parts) + 2 * n,
            "scalars": sink["links"] * ARMS, "regret_exploit": wait_regret(n, max(0, sink["delay"] - less))}


def compare(name, network, parts, want, folder, sink_delay=None):
    got = run_program(network, parts, folder, sink_delay)
    bad = [metric for metric in want
           if metric not in got or abs(got[metric] - want[metric]) > 1e-9 * (1 + want[metric])]
    for metric in bad:
        print(f"{name}: {metric} {got.get(metric)} is not {want[metric]}")
    return len(bad)


def compare_with_program():
    rng = random.Random(2026)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bad = sum(compare(*case, expected_of_graph(*case[2][0]), folder)
                  for case in graph_cases(rng))
        for case in hybrid_cases(rng):
            bad += compare(*case, expected_of_hybrid(case[2], 0), folder)
            bad += compare(*case, expected_of_hybrid(case[2], 1), folder, "one-less")
        return bad


def main():
    if len(sys.argv) == 3:
        n = int(sys.argv[2])
        edges = (SHAPES[sys.argv[1]](n) if sys.argv[1] in SHAPES else
                 [tuple(map(int, line.split(","))) for line in open(sys.argv[1])])
        return print(json.dumps(gis(n, edges)))
    self_check()
    bad = compare_with_program()
    verdict = "FAILED" if bad else "      OK"
    print(f"[ {verdict} ] program_sends_what_the_graph_needs")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
