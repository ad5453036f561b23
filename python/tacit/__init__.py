"""tacit: private federated bandits.

`run`, `check`, `compare`, `plan`, `evaluate`, `reproduce`, `bound` are the commands of the program `tacit`, which the package has inside; `Policy` is a policy
of your own beside the program's. `Selector` and `select_best` are the selection of users of Peleg, Lang, Rini, Shlezinger, Cohen (PAUSE), exactly and at any scale;
`create_ledger` and `noise_update` release a model update under local differential privacy.
"""
from importlib import import_module
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from ._commands import bound, check, compare, evaluate, plan, reproduce, run
    from ._errors import ExperimentError, PolicyError, StateError
    from ._own import Environment, Policy
    from ._release import VECTOR_STEPS, LedgerView, create_ledger, look_at_ledger, noise_update
    from ._results import Cell, Check, Comparison, Evaluation, Figure, Plan, Reproduction, Result
    from ._selector import Explanation, Method, RunnerUp, Selector, select_best

# What is not used is not imported: `import tacit` alone loads neither numpy nor the library.
_ROOMS = {
    "_commands": ("bound", "check", "compare", "evaluate", "plan", "reproduce", "run"),
    "_errors": ("ExperimentError", "PolicyError", "StateError"),
    "_own": ("Environment", "Policy"),
    "_release": ("VECTOR_STEPS", "LedgerView", "create_ledger", "look_at_ledger", "noise_update"),
    "_results": ("Cell", "Check", "Comparison", "Evaluation", "Figure", "Plan", "Reproduction", "Result"),
    "_selector": ("Explanation", "Method", "RunnerUp", "Selector", "select_best"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = ["Cell", "Check", "Comparison", "Environment", "Evaluation", "ExperimentError", "Explanation", "Figure", "LedgerView", "Method", "Plan", "Policy", "PolicyError",
           "Reproduction", "Result", "RunnerUp", "Selector", "StateError", "VECTOR_STEPS", "bound", "check", "compare", "create_ledger",
           "evaluate", "look_at_ledger", "noise_update", "plan", "reproduce", "run", "select_best"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "train":
        raise AttributeError("tacit.train: training is not in the wheel; build tacit from its source, or install it, for the command `tacit train`")
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    found = getattr(import_module(f".{_ROOM_OF[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> List[str]:
    return sorted(__all__)
