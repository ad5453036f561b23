"""The few names of flwr that tacit.flower and its quick tests use, for machines without the package: shapes only. What
flwr itself does with them is tested where it is installed (test_flower.py, Simulation)."""
import itertools
import sys
import types


class MetricRecord(dict):
    pass


class ConfigRecord(dict):
    pass


class ArrayRecord(list):
    pass


class RecordDict(dict):
    @property
    def metric_records(self):
        return {key: value for key, value in self.items() if isinstance(value, MetricRecord)}


class Message:
    def __init__(self, content=None, *, message_type=None, dst_node_id=None, reply_to=None, error=None):
        self.content, self.error = content, error
        if reply_to is not None:
            message_type, dst_node_id = reply_to.metadata.message_type, 0
        self.metadata = types.SimpleNamespace(
            message_type=message_type, dst_node_id=dst_node_id,
            src_node_id=reply_to.metadata.dst_node_id if reply_to is not None else 0)

    def has_error(self):
        return self.error is not None


class Error:
    def __init__(self, code, reason=None):
        self.code, self.reason = code, reason


class MessageType:
    TRAIN, EVALUATE, QUERY = "train", "evaluate", "query"


class FedAvg:
    def __init__(self, min_train_nodes=2, min_available_nodes=2, weighted_by_key="num-examples", fraction_evaluate=1.0):
        self.min_available_nodes, self.weighted_by_key = min_available_nodes, weighted_by_key
        self.arrayrecord_key, self.configrecord_key = "arrays", "config"

    def _construct_messages(self, record, node_ids, message_type):
        return [Message(content=record, message_type=message_type, dst_node_id=node) for node in node_ids]

    def aggregate_train(self, server_round, replies):
        good = [reply.content for reply in replies if not reply.has_error()]
        weights = [record["metrics"][self.weighted_by_key] for record in good]
        if not good:
            return None, None
        return ArrayRecord(sum(weight * record["arrays"][0] for weight, record in zip(weights, good, strict=True)) /
                           sum(weights) for _ in itertools.repeat(None, 1)), MetricRecord()


def install():
    """As `flwr`, `flwr.app`, `flwr.serverapp.strategy`."""
    app = types.ModuleType("flwr.app")
    for name in (MetricRecord, ConfigRecord, ArrayRecord, RecordDict, Message, MessageType, Error):
        setattr(app, name.__name__, name)
    strategy = types.ModuleType("flwr.serverapp.strategy")
    strategy.FedAvg = FedAvg
    sys.modules.update({"flwr": types.ModuleType("flwr"), "flwr.app": app,
                        "flwr.serverapp": types.ModuleType("flwr.serverapp"), "flwr.serverapp.strategy": strategy})
