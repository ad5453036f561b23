#!/usr/bin/env python3
"""Flower chooses its clients by tacit: ten clients fit a line to data of their own, in flwr's simulation, on this machine
only. Each round three of them train: whoever is fast, was seldom asked, and has budget left.

Needs Python 3.10 or newer, the wheel of `make python`, and flwr[simulation]==1.41.0. usage: pause.py [STATE]
"""
import os
import sys
import time
from pathlib import Path

# Nothing is sent and nothing is installed while it runs.
os.environ.update(FLWR_TELEMETRY_ENABLED="0", RAY_USAGE_STATS_ENABLED="0", HF_HUB_OFFLINE="1", PIP_NO_INDEX="1")
# A busy machine starts slowly: Ray allows its own start 30 s unless told otherwise, before it is imported.
os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")
os.environ.setdefault("RAY_gcs_server_request_timeout_seconds", "300")
os.environ.setdefault("RAY_worker_register_timeout_seconds", "600")

import numpy as np  # noqa: E402
import ray  # noqa: E402
from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict  # noqa: E402
from flwr.clientapp import ClientApp  # noqa: E402
from flwr.serverapp import ServerApp  # noqa: E402
from flwr.simulation import run_simulation  # noqa: E402
from tacit.flower import Pause  # noqa: E402

CLIENTS, ROUNDS, SLOPE = 10, 8, 3.0
client, server = ClientApp(), ServerApp()


def data_of(part):
    dice = np.random.default_rng(part)
    inputs = dice.normal(size=50 + 10 * part)
    return inputs, SLOPE * inputs + dice.normal(scale=0.1, size=len(inputs))


def answer(message, part, **metrics):
    content = RecordDict({"metrics": MetricRecord({"partition-id": part, "num-examples": len(data_of(part)[0]),
                                                   **{key: value for key, value in metrics.items() if key != "arrays"}})})
    if "arrays" in metrics:
        content["arrays"] = ArrayRecord([metrics["arrays"]])
    return Message(content=content, reply_to=message)


@client.query()
def who(message, context):
    """Asked once, before the first round: which part of the data, and how many rows."""
    return answer(message, int(context.node_config["partition-id"]))


@client.train()
def train(message, context):
    part, started = int(context.node_config["partition-id"]), time.monotonic()
    inputs, outputs = data_of(part)
    slope = message.content["arrays"].to_numpy_ndarrays()[0]
    for _ in range(5):
        slope = slope - 0.2 * np.mean((slope * inputs - outputs) * inputs)
    time.sleep(0.02 * (1 + part))  # some are slower than others
    return answer(message, part, arrays=slope, latency_s=time.monotonic() - started)


@server.main()
def serve(grid, context):
    strategy = Pause(users_per_round=3, selector={"latency_min": 0.02}, min_available_nodes=CLIENTS, fraction_evaluate=0.0,
                     query_timeout=1200.0,  # on a busy machine clients start slowly
                     state=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    result = strategy.start(grid=grid, initial_arrays=ArrayRecord([np.zeros(1)]), num_rounds=ROUNDS)
    for turn, parts in enumerate(strategy.chosen, 1):
        print(f"round {turn}: clients {', '.join(map(str, parts))}")
    print(f"slope {float(result.arrays.to_numpy_ndarrays()[0][0]):.3f}, which was {SLOPE}")


def start_ray(tries=3):
    """Flower's simulation runs on Ray; where it does not come up on a busy machine it is tried again."""
    for turn in range(1, tries + 1):
        try:
            ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}})
            return
        except Exception as why:  # Ray's own word for it is a plain Exception
            ray.shutdown()
            print(f"Ray did not come up ({turn} of {tries}): {why}", file=sys.stderr)
    sys.exit("Ray did not come up: too much else runs on this machine, or /tmp/ray cannot be written or is full; "
             "what it said is in /tmp/ray/session_latest/logs. Try again when it is quieter.")


if __name__ == "__main__":
    start_ray()
    run_simulation(server, client, CLIENTS, backend_config={"client_resources": {"num_cpus": 1.0}})
