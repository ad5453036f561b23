"""The Flower strategy: with a fake grid of flwr's own messages, and in flwr's own simulation, replayed with `tacit run` by
partition. TACIT_PROGRAM names tacit."""
import logging
import math
import os
import random
import sys
import tempfile
import unittest
from pathlib import Path

os.environ.update(FLWR_TELEMETRY_ENABLED="0", RAY_USAGE_STATS_ENABLED="0", HF_HUB_OFFLINE="1")

import numpy as np  # noqa: E402
import tacit  # noqa: E402
from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict  # noqa: E402
from tacit.flower import Pause  # noqa: E402

logging.getLogger("flwr").setLevel(logging.ERROR)  # a line a round

CLIENTS, ASKED, ROUNDS, ROWS = 10, 5, 3, 100
LATENCIES = [round(0.06 + 0.013 * ((7 * part) % CLIENTS), 3) for part in range(CLIENTS)]  # no two alike


def arrays_of(value):
    return ArrayRecord([np.array([value])])


def mean_of(arrays):
    return float(arrays.to_numpy_ndarrays()[0][0])


class FakeGrid:
    """Nodes with partitions; each says its partition as its update."""

    def __init__(self, parts, rows=None, lost=(), silent=()):
        self.parts = dict(parts)  # node -> partition
        self.rows = rows or {part: ROWS for part in self.parts.values()}
        self.lost, self.silent = set(lost), set(silent)  # partitions
        self.queries = 0

    def get_node_ids(self):
        return list(self.parts)

    def send_and_receive(self, messages, *, timeout=None):
        replies = []
        for message in messages:
            part = self.parts[message.metadata.dst_node_id]
            if message.metadata.message_type == MessageType.QUERY:
                self.queries += 1
                metrics = {"partition-id": part, "num-examples": self.rows[part]}
                replies.append(Message(content=RecordDict({"metrics": MetricRecord(metrics)}), reply_to=message))
            elif part not in self.lost:
                metrics = {"num-examples": self.rows[part]}
                if part not in self.silent:
                    metrics["latency_s"] = LATENCIES[part % CLIENTS]
                content = RecordDict({"arrays": arrays_of(float(part)), "metrics": MetricRecord(metrics)})
                replies.append(Message(content=content, reply_to=message))
        random.Random(1).shuffle(replies)
        return replies


def nodes_of(count, seed=3):
    dice = random.Random(seed)
    return {dice.getrandbits(40): part for part in dice.sample(range(count), count)}


def play(strategy, grid, rounds=ROUNDS):
    means = []
    for turn in range(1, rounds + 1):
        messages = list(strategy.configure_train(turn, arrays_of(0.0), ConfigRecord(), grid))
        arrays, _ = strategy.aggregate_train(turn, grid.send_and_receive(messages=messages))
        means.append(None if arrays is None else mean_of(arrays))
    return means


def strategy_of(**more):
    return Pause(**{"users_per_round": ASKED, "selector": {"latency_min": 0.05}, "min_available_nodes": CLIENTS, **more})


def chosen_by_selector(rounds=ROUNDS):
    selector = tacit.Selector([ROWS] * CLIENTS, users_per_round=ASKED, latency_min=0.05)
    chosen = []
    for _ in range(rounds):
        users = selector.select()
        chosen.append(users.tolist())
        selector.observe(users, [LATENCIES[user] for user in users])
    return chosen


def check_with_the_program(case, chosen):
    """The same latencies as a trace: after each round `tacit run` counts the same participations of each partition, so each
    set is the same; and it has waited as long."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.csv"
        trace.write_text(",".join(map(str, LATENCIES)) + "\n")
        waited, counts = 0.0, [0.0] * CLIENTS
        for turn, parts in enumerate(chosen, 1):
            waited += max(LATENCIES[part] for part in parts)
            for part in parts:
                counts[part] += 1
            told = tacit.run({"name": "replay", "seed": 1, "runs": 1, "horizon": turn, "agents": CLIENTS,
                              "environment": {"kind": "latency", "source": "trace", "trace": str(trace),
                                              "latency_min": 0.05},
                              "network": {"kind": "star"}, "privacy": {"mode": "none"},
                              "protocol": {"kind": "select", "selector": "exact", "users_per_round": ASKED}})
            case.assertEqual(told.to_dict()["profiles"]["participations_by_user"]["mean"], counts, f"round {turn}")
            case.assertAlmostEqual(told.metrics["latency"]["mean"], waited, places=9)


class Strategy(unittest.TestCase):
    def test_partitions_are_those_of_tacit_run(self):
        strategy = strategy_of()
        play(strategy, FakeGrid(nodes_of(CLIENTS)), 8)
        check_with_the_program(self, strategy.chosen)

    def test_partitions_are_those_of_a_selector_whatever_the_nodes(self):
        for seed in range(5):
            strategy, grid = strategy_of(), FakeGrid(nodes_of(CLIENTS, seed))
            means = play(strategy, grid, 12)
            self.assertEqual(strategy.chosen, chosen_by_selector(12))
            self.assertEqual(grid.queries, CLIENTS)  # each is asked once
            for mean, parts in zip(means, strategy.chosen, strict=True):
                self.assertAlmostEqual(mean, sum(parts) / len(parts))

    def test_sizes_are_the_clients(self):
        rows = {part: 10 + 90 * (part == 7) for part in range(CLIENTS)}
        strategy = strategy_of(users_per_round=1)
        play(strategy, FakeGrid(nodes_of(CLIENTS), rows), 1)
        self.assertEqual(strategy.chosen, [[7]])  # the largest set first: Eq. (8)

    def test_no_answer_counts_as_the_deadline_and_the_round_goes_on(self):
        strategy, grid = strategy_of(deadline=10.0), FakeGrid(nodes_of(CLIENTS), lost=[1])
        play(strategy, grid, 1)
        scores = strategy.selector.scores()
        self.assertEqual(scores["counts"].tolist(), [1] * 5 + [0] * 5)
        self.assertAlmostEqual(scores["means"][1], 0.05 / 10)

    def test_who_is_away_is_not_asked_and_keeps_its_place(self):
        strategy, nodes = strategy_of(), nodes_of(CLIENTS)
        grid = FakeGrid(nodes)
        play(strategy, grid, 2)
        node = next(node for node, part in nodes.items() if part == LATENCIES.index(min(LATENCIES)))
        part = grid.parts.pop(node)
        strategy.min_available_nodes = CLIENTS - 1
        play(strategy, grid, 1)
        self.assertNotIn(part, strategy.chosen[-1])
        grid.parts[12345] = part  # another node, the same data
        play(strategy, grid, 1)
        self.assertEqual(strategy._partition_of[12345], part)
        self.assertEqual(len(strategy.selector.scores()["counts"]), CLIENTS)

    def test_an_answer_without_a_latency_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "latency_s"):
            play(strategy_of(), FakeGrid(nodes_of(CLIENTS), silent=[0]), 1)

    def test_a_server_that_is_started_again_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "selection"
            play(strategy_of(state=path), FakeGrid(nodes_of(CLIENTS)), 2)
            again = strategy_of(state=path)
            play(again, FakeGrid(nodes_of(CLIENTS, 9)), 2)
            self.assertEqual(again.chosen, chosen_by_selector(4)[2:])
            path.write_text(path.read_text()[:-30])
            with self.assertRaises(tacit.StateError):
                strategy_of(state=path)

    def test_whom_a_server_asked_before_it_died_has_paid(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = {"selector": {"latency_min": 0.05, "epsilon": 40.0}, "state": Path(folder) / "selection"}
            grid = FakeGrid(nodes_of(CLIENTS))
            strategy_of(**kept).configure_train(1, arrays_of(0.0), ConfigRecord(), grid)
            again = strategy_of(**kept)
            play(again, grid, 1)
            self.assertEqual(again.chosen, [[5, 6, 7, 8, 9]])
            self.assertEqual(again.selector.scores()["counts"].tolist(), [1] * CLIENTS)
            self.assertTrue((again.selector.scores()["spent"] > 0).all())

    def test_what_clients_say_they_spent_is_what_counts(self):
        strategy = strategy_of(selector={"latency_min": 0.05, "epsilon": 40.0}, spent_key="num-examples")
        play(strategy, FakeGrid(nodes_of(CLIENTS), {part: part + 1 for part in range(CLIENTS)}), 1)
        self.assertEqual([strategy.selector.scores()["spent"][part] for part in strategy.chosen[0]],
                         [part + 1 for part in strategy.chosen[0]])

    def test_fractions_are_refused(self):
        with self.assertRaises(ValueError):
            Pause(users_per_round=2, fraction_train=0.5)


class Simulation(unittest.TestCase):
    """Ten clients, three rounds, in flwr's own engine; each client's latency follows a script."""

    def test_users_are_those_of_tacit_run(self):
        sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples/flower"))
        from pause import start_ray  # before flwr loads Ray: it says how patient that is
        from flwr.clientapp import ClientApp
        from flwr.serverapp import ServerApp
        from flwr.simulation import run_simulation
        client_app, server_app, strategy = ClientApp(), ServerApp(), strategy_of(fraction_evaluate=0.0, query_timeout=1200.0)
        latencies = list(LATENCIES)

        @client_app.query()
        def ask(message, context):
            metrics = MetricRecord({"partition-id": context.node_config["partition-id"], "num-examples": ROWS})
            return Message(content=RecordDict({"metrics": metrics}), reply_to=message)

        @client_app.train()
        def train(message, context):
            part = int(context.node_config["partition-id"])
            arrays = message.content["arrays"].to_numpy_ndarrays()
            content = RecordDict({"arrays": ArrayRecord([arrays[0] + part]),
                                  "metrics": MetricRecord({"num-examples": ROWS, "latency_s": latencies[part]})})
            return Message(content=content, reply_to=message)

        @server_app.main()
        def serve(grid, context):
            strategy.start(grid=grid, initial_arrays=ArrayRecord([np.zeros(1)]), num_rounds=ROUNDS)

        start_ray()
        run_simulation(server_app, client_app, CLIENTS, backend_config={"client_resources": {"num_cpus": 1.0}})
        self.assertEqual(strategy.chosen, chosen_by_selector())
        check_with_the_program(self, strategy.chosen)
        fast = sorted(range(CLIENTS), key=lambda part: LATENCIES[part])[:ASKED]
        self.assertEqual(strategy.chosen[2], sorted(fast))  # everybody was seen: the fastest set


class Faces(unittest.TestCase):
    def test_even_budgets_end_after_their_participations(self):
        selector = tacit.Selector([1, 1], users_per_round=1, epsilon=3.0, participations=3, latency_min=1.0)
        for _ in range(3):
            selector.observe([0], [2.0])
        self.assertEqual(selector.scores()["spent"][0], 3.0)
        self.assertEqual(selector.select(available=[0]).tolist(), [])
        for wrong in ({"participations": 0}, {"participations": 2, "budgets": [1.0]}, {"epsilon": math.inf}):
            with self.assertRaises(ValueError, msg=wrong):
                tacit.Selector([1], **{"users_per_round": 1, "epsilon": 3.0, "participations": 2, "latency_min": 1.0, **wrong})

    def test_spent_is_what_the_users_say(self):
        selector = tacit.Selector([1] * 3, users_per_round=2, epsilon=40.0, latency_min=1.0)
        selector.observe([2, 0], [2.0, math.nan], spent=[7.5, 0.0], deadline=4.0)
        self.assertEqual(selector.scores()["spent"].tolist(), [0.0, 0.0, 7.5])
        self.assertEqual(selector.scores()["means"].tolist(), [0.25, 0.0, 0.5])
        for wrong in ([-1.0, 0.0], [math.nan, 0.0], [1.0]):
            with self.assertRaises(ValueError, msg=wrong):
                selector.observe([2, 0], [2.0, 2.0], spent=wrong)


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # Ray leaves files open
