#!/usr/bin/env python3
"""The room topo against networkx: components, diameters, sinks, ways to them, and what generators make,
on some hundreds of graphs; and the numbers of regular graphs that tests/unit/topo.c counts with.

usage: topo_networkx.py          the program is $TACIT_TOPO_PROGRAM (tests/oracle/topo_main.c)
Exit code 77, "skipped", without networkx.
"""
import itertools
import json
import os
import random
import subprocess
import sys

try:
    import networkx as nx
except ImportError:
    print("skip: networkx is not installed (Debian: python3-networkx)\n[  SKIPPED ] topo_networkx")
    sys.exit(77)

NOBODY = 2**32 - 1
TIMES = 4 if os.environ.get("TACIT_TEST_LONG") == "1" else 1


def ask(requests):
    done = subprocess.run([os.environ["TACIT_TOPO_PROGRAM"]], input="\n".join(requests) + "\n",
                          capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(requests), (len(answers), len(requests))
    return answers


def check_component(graph, members, component, answer):
    part = graph.subgraph(members)
    eccentricity = nx.eccentricity(part)
    delay = min(eccentricity.values())
    sink = min(agent for agent in members if eccentricity[agent] == delay)
    distance = nx.single_source_shortest_path_length(part, sink)
    assert component == [len(members), part.number_of_edges(), sink, delay, sum(distance.values())]
    for agent in members:
        nearer = [one for one in part[agent] if distance[one] == distance[agent] - 1]
        assert answer["distance"][agent] == distance[agent]
        assert answer["parent"][agent] == min(nearer, default=NOBODY)
    return max(eccentricity.values()), delay


def check_answer(graph, answer):
    pieces = sorted((sorted(piece) for piece in nx.connected_components(graph)), key=min)
    for number, piece in enumerate(pieces):
        assert all(answer["label"][agent] == number for agent in piece)
    assert len(answer["components"]) == len(pieces)
    found = [check_component(graph, *pair, answer) for pair in zip(pieces, answer["components"])]
    assert answer["diameter"] == max(diameter for diameter, _ in found)
    assert answer["t_delay"] == max(delay for _, delay in found)


def graph_of(agent_count, edges):
    graph = nx.Graph()
    graph.add_nodes_from(range(agent_count))
    graph.add_edges_from(edges)
    return graph


def check_networkx_graphs(count):
    rng = random.Random(1)
    graphs = []
    for number in range(count):
        n, seed = rng.randint(4, 120), rng.randrange(2**32)
        graphs.append([
            lambda: nx.gnm_random_graph(n, rng.randint(0, 3 * n), seed=seed),
            lambda: nx.barabasi_albert_graph(n, rng.randint(1, 3), seed=seed),
            lambda: nx.watts_strogatz_graph(n, 4, rng.random(), seed=seed),
            lambda: nx.random_regular_graph(4, n + 2, seed=seed),
            lambda: nx.relaxed_caveman_graph(n // 4, 4, rng.random() / 2, seed=seed),
            lambda: nx.disjoint_union(nx.random_regular_graph(3, 40, seed=seed), nx.cycle_graph(n)),
            lambda: nx.lollipop_graph(n // 2, n // 2),
            lambda: nx.convert_node_labels_to_integers(nx.hypercube_graph(rng.randint(2, 7))),
        ][number % 8]())
    requests = []
    for graph in graphs:
        graph.remove_edges_from(list(nx.selfloop_edges(graph)))
        edges = [edge if rng.random() < 0.5 else edge[::-1] for edge in graph.edges]
        rng.shuffle(edges)
        requests.append(f"graph {len(graph)} {len(edges)} " + " ".join(f"{a} {b}" for a, b in edges))
    for graph, answer in zip(graphs, ask(requests)):
        assert sorted(map(tuple, answer["edges"])) == sorted((min(edge), max(edge)) for edge in graph.edges)
        check_answer(graph, answer)
    return len(graphs)


def check_fixed_kinds():
    shapes = {n: max(rows for rows in range(1, n + 1) if n % rows == 0 and rows * rows <= n)
              for n in range(1, 61)}
    makers = {"star-graph": lambda n: nx.star_graph(n - 1), "complete": nx.complete_graph,
              "path": nx.path_graph, "ring": lambda n: nx.cycle_graph(n) if n > 2 else nx.path_graph(n),
              "grid": lambda n: nx.convert_node_labels_to_integers(
                  nx.grid_2d_graph(shapes[n], n // shapes[n]), ordering="sorted")}
    cases = [(kind, n) for kind in makers for n in shapes]
    for (kind, n), answer in zip(cases, ask([f"make {kind} {n} 0 0 0" for kind, n in cases])):
        expected = makers[kind](n)
        assert sorted(map(tuple, answer["edges"])) == sorted((min(e), max(e)) for e in expected.edges), (kind, n)
        check_answer(expected, answer)
    return len(cases)


def check_random_kinds(count):
    rng = random.Random(2)
    cases = []
    for number in range(count):
        n, half = rng.randint(8, 90), rng.randint(2, 3)
        cases.append([("random", n, 0, min(1, 7 / n)), ("regular", 2 * (n // 2), rng.randint(2, 7), 0),
                      ("small-world", n, 2 * half, rng.random()), ("small-world", n, 2 * half, 0)][number % 4])
    requests = [f"make {kind} {n} {number} {p} {seed}" for seed, (kind, n, number, p) in enumerate(cases)]
    for (kind, n, number, p), answer in zip(cases, ask(requests)):
        graph = graph_of(n, answer["edges"])
        assert graph.number_of_edges() == len(answer["edges"])
        assert nx.is_connected(graph) and nx.number_of_selfloops(graph) == 0
        assert kind != "regular" or nx.is_k_regular(graph, number)
        if kind == "small-world" and p == 0:
            lattice = nx.watts_strogatz_graph(n, number, 0)
            assert {frozenset(edge) for edge in graph.edges} == {frozenset(edge) for edge in lattice.edges}
        check_answer(graph, answer)
    return len(cases)


def regular_graphs(left, edges=()):
    """All labelled graphs in which agent i has left[i] more edges."""
    first = next((agent for agent, degree in enumerate(left) if degree > 0), None)
    if first is None:
        yield edges
        return
    others = [agent for agent in range(first + 1, len(left)) if left[agent] > 0]
    for chosen in itertools.combinations(others, left[first]):
        rest = [0 if agent == first else degree - (agent in chosen) for agent, degree in enumerate(left)]
        yield from regular_graphs(rest, edges + tuple((first, agent) for agent in chosen))


def check_counts():
    for n, degree, connected in ((5, 2, 12), (6, 2, 60), (6, 3, 70), (7, 4, 465), (8, 3, 19320)):
        graphs = regular_graphs([degree] * n)
        assert sum(nx.is_connected(graph_of(n, edges)) for edges in graphs) == connected, (n, degree)


def main():
    graphs = check_networkx_graphs(80 * TIMES) + check_fixed_kinds() + check_random_kinds(52 * TIMES)
    check_counts()
    print(f"[       OK ] topo_networkx\n{graphs} graphs agree with networkx {nx.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
