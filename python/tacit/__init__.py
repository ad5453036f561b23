"""tacit: which users train in the next round, and what leaves them, so that latency, generalisation and privacy stay in
balance.

`Selector` and `select_best` are the selection of Peleg, Lang, Rini, Shlezinger, Cohen (PAUSE), exactly and at any scale;
`create_ledger` and `noise_update` release a model update under local differential privacy; `run` calls the program `tacit`.
"""
from ._errors import StateError
from ._program import Result, run
from ._release import VECTOR_STEPS, LedgerView, create_ledger, look_at_ledger, noise_update
from ._selector import Explanation, Method, RunnerUp, Selector, select_best

__all__ = ["Explanation", "LedgerView", "Method", "Result", "RunnerUp", "Selector", "StateError", "VECTOR_STEPS",
           "create_ledger", "look_at_ledger", "noise_update", "run", "select_best"]
__version__ = "0.1.0"
