"""Flower's FedAvg with the clients of each round chosen by `tacit.Selector` (Message API, tried with flwr 1.41.0).

The server does not see how long a client took, nor how much data it has: clients say both. Before the first round each
one is asked (a QUERY message) for its number of rows and its partition; with each update it reports its latency. A client
is known by its partition, not by its node: it keeps its place when it comes back as another node.
"""
import base64
import json
import math
import os
import tempfile
import time
from logging import INFO, WARNING, getLogger
from pathlib import Path
from typing import Any, Iterable, List, Mapping, Optional, Tuple, Union

import numpy as np
from flwr.app import Message, MessageType, RecordDict
from flwr.serverapp.strategy import FedAvg

from ._errors import StateError
from ._selector import Selector

_LOG = getLogger("tacit.flower")
_POLL_S = 1.0


def _metric(content: Any, key: str) -> Optional[float]:
    """A number of that name in one of the records of metrics; None: there is none."""
    for record in content.metric_records.values():
        if key in record:
            return float(record[key])
    return None


class Pause(FedAvg):  # type: ignore[misc]  # flwr is not installed where types are checked
    """FedAvg whose clients are chosen by a Selector.

    users_per_round: so many train in a round. selector: one that goes on, or its keywords without sizes and
    users_per_round, {"latency_min": 0.05, "epsilon": 40.0}. latency_key, size_key, id_key: names of what clients report;
    spent_key: of the epsilon that a client has spent in all, if clients keep the books themselves. deadline: what a client
    without an answer counts as, in the clients' unit. state: a file that holds the selection, and before a round whom it
    asks, so that a server that is started again goes on: whom one asked before it died has paid, and gave no answer. fedavg:
    the arguments of FedAvg; fraction_train has no meaning here.
    """

    def __init__(self, *, users_per_round: int, selector: Union[Selector, Mapping[str, Any], None] = None,
                 latency_key: str = "latency_s", size_key: str = "num-examples", id_key: str = "partition-id",
                 spent_key: Optional[str] = None, deadline: float = math.inf, query_timeout: float = 300.0,
                 state: Optional[Path] = None, **fedavg: Any) -> None:
        if "fraction_train" in fedavg or "min_train_nodes" in fedavg:
            raise ValueError("fraction_train, min_train_nodes: the selector says who trains; allowed: users_per_round")
        if users_per_round < 1:
            raise ValueError("users_per_round: allowed: from 1")
        super().__init__(min_train_nodes=users_per_round, **fedavg)
        self.users_per_round = users_per_round
        self.latency_key, self.size_key, self.id_key, self.spent_key = latency_key, size_key, id_key, spent_key
        self.deadline, self.query_timeout = deadline, query_timeout
        self.state = None if state is None else Path(state)
        self.selector: Optional[Selector] = selector if isinstance(selector, Selector) else None
        self._keywords = dict(selector) if isinstance(selector, Mapping) else {}
        self._ids: List[int] = []           # partition of each user of the selector, ascending
        self._partition_of: dict[int, int] = {}  # node -> partition
        self._asked: List[int] = []         # users of the round that is under way
        self.chosen: List[List[int]] = []   # partitions of each round of this strategy
        if self.state is not None and self.state.exists():
            self._load()

    # ---- Who is there ----

    def _ask(self, nodes: List[int], grid: Any) -> dict[int, int]:
        """What nodes say of themselves: partition -> rows."""
        told = {}
        queries = [Message(content=RecordDict(), message_type=MessageType.QUERY, dst_node_id=node) for node in nodes]
        for reply in grid.send_and_receive(messages=queries, timeout=self.query_timeout):
            node = reply.metadata.src_node_id
            if reply.has_error():
                _LOG.log(WARNING, "node %d does not say who it is: %s", node, reply.error.reason)
                continue
            partition, rows = _metric(reply.content, self.id_key), _metric(reply.content, self.size_key)
            if partition is None or rows is None or partition != int(partition) or not rows >= 1:
                raise ValueError(f"node {node}: its answer to QUERY has no {self.id_key} and {self.size_key} that are "
                                 "whole numbers")
            if int(partition) in told or int(partition) in self._partition_of.values():
                self._partition_of = {known: part for known, part in self._partition_of.items() if part != int(partition)}
            self._partition_of[node] = int(partition)
            told[int(partition)] = int(rows)
        return told

    def _meet(self, grid: Any) -> None:
        """Asks whoever is new; makes the selector of those that are there first."""
        while len(nodes := list(grid.get_node_ids())) < self.min_available_nodes:
            _LOG.log(INFO, "waiting for clients: %d of %d", len(nodes), self.min_available_nodes)
            time.sleep(_POLL_S)
        told = self._ask([node for node in nodes if node not in self._partition_of], grid)
        self._partition_of = {node: part for node, part in self._partition_of.items() if node in set(nodes)}
        if not self._ids:
            self._ids = sorted(told)
            if self.selector is None:
                if not told:
                    raise StateError(f"no client said who it is within {self.query_timeout:g} s (query_timeout)")
                self.selector = Selector([told[part] for part in self._ids],
                                         users_per_round=min(self.users_per_round, len(told)), **self._keywords)
            elif len(self._ids) != len(self.selector.scores()["counts"]):
                raise StateError(f"the selector has {len(self.selector.scores()['counts'])} users, and {len(told)} clients "
                                 "are there")
        for part in set(told) - set(self._ids):
            _LOG.log(WARNING, "partition %d came after the first round: it is not chosen", part)

    # ---- The round ----

    def configure_train(self, server_round: int, arrays: Any, config: Any, grid: Any) -> Iterable[Any]:
        self._meet(grid)
        assert self.selector is not None
        if self._asked:  # nothing came of that round, and whom it asked may have taken part
            self._observe([])
        node_of = {part: node for node, part in self._partition_of.items()}
        there = [user for user, part in enumerate(self._ids) if part in node_of]
        self._asked = [int(user) for user in self.selector.select(available=np.array(there, dtype=np.int64))]
        self._save()
        self.chosen.append([self._ids[user] for user in self._asked])
        _LOG.log(INFO, "round %d: partitions %s", server_round, self.chosen[-1])
        config["server-round"] = server_round
        record = RecordDict({self.arrayrecord_key: arrays, self.configrecord_key: config})
        return list(self._construct_messages(record, [node_of[part] for part in self.chosen[-1]], MessageType.TRAIN))

    def _observe(self, replies: List[Any]) -> None:
        assert self.selector is not None
        latencies = {user: math.nan for user in self._asked}
        spent = {user: math.nan for user in self._asked}
        for reply in replies:
            part = self._partition_of.get(reply.metadata.src_node_id)
            if reply.has_error() or part is None or part not in self._ids:
                continue
            user, latency = self._ids.index(part), _metric(reply.content, self.latency_key)
            if user not in latencies:
                continue
            if latency is None or not latency > 0:
                raise ValueError(f"partition {part}: no {self.latency_key} above 0 in its metrics; the server does not see "
                                 "how long it took")
            latencies[user] = latency
            if self.spent_key is not None:
                spent[user] = _metric(reply.content, self.spent_key) or 0.0
        known = self.selector.scores()["spent"]
        books = None if self.spent_key is None else [known[user] if math.isnan(spent[user]) else spent[user]
                                                     for user in self._asked]
        self.selector.observe(self._asked, [latencies[user] for user in self._asked], spent=books, deadline=self.deadline)
        self._asked = []

    def aggregate_train(self, server_round: int, replies: Iterable[Any]) -> Tuple[Any, Any]:
        told = list(replies)
        if self._asked:
            self._observe(told)
            self._save()
        averaged: Tuple[Any, Any] = super().aggregate_train(server_round, told)
        return averaged

    # ---- Its state ----

    def _save(self) -> None:
        if self.state is None or self.selector is None:
            return
        data = {"ids": self._ids, "asked": self._asked, "selector": base64.b64encode(self.selector.to_bytes()).decode()}
        with tempfile.NamedTemporaryFile("w", dir=self.state.parent, delete=False, encoding="utf-8") as file:
            json.dump(data, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, self.state)
        folder = os.open(self.state.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _load(self) -> None:
        assert self.state is not None
        try:
            data = json.loads(self.state.read_text(encoding="utf-8"))
            self._ids = [int(part) for part in data["ids"]]
            self._asked = [int(user) for user in data.get("asked", [])]
            self.selector = Selector.from_bytes(base64.b64decode(data["selector"], validate=True))
        except (ValueError, KeyError, TypeError) as error:
            raise StateError(f"{self.state}: it is not the state of a selection: {error}") from error
        if len(self._ids) != len(self.selector.scores()["counts"]) or not set(self._asked) <= set(range(len(self._ids))):
            raise StateError(f"{self.state}: it names {len(self._ids)} clients for another number of users")
