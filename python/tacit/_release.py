"""Releasing a model update once: clipped, counted in integers, noised, and charged, in one durable transaction.

The ledger is a file of one data set. It holds the budget and every release; a release that was made is given out again byte
for byte and never made anew.
"""
import hashlib
import math
import os
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import StateError
from ._native import lib, pointer, require
from ._selector import Selector

#: The clip norm in units of the integers that noise_update returns: a number z is worth z * clip / VECTOR_STEPS.
VECTOR_STEPS = 1 << 30
_DIMENSION_MAX = 1048576
_EPSILON_MAX = 1e5  # noise of a larger price cannot be drawn (tacit_vector_noise)
_APPLICATION = 0x7461636C
_SCHEMA = """
CREATE TABLE ledger (one INTEGER PRIMARY KEY CHECK (one = 1), dataset TEXT NOT NULL, epsilon REAL NOT NULL,
                     budget BLOB NOT NULL);
CREATE TABLE releases (number INTEGER PRIMARY KEY, round_id BLOB NOT NULL UNIQUE, model_hash BLOB NOT NULL,
                       clip REAL NOT NULL, epsilon_nano INTEGER NOT NULL, steps BLOB NOT NULL, digest BLOB NOT NULL);
"""


@dataclass(frozen=True)
class LedgerView:
    """What a ledger holds: its data set, what it may spend and has spent, and how many releases were made."""

    dataset: str
    epsilon: float
    spent_nano: int
    release_count: int


@contextmanager
def _transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """Everything or nothing, and on the disk when it ends; others wait."""
    with closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as database:
        try:
            database.execute("PRAGMA synchronous = EXTRA")
            database.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            raise StateError(f"{path}: this is no ledger: {error}") from error
        try:
            yield database
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise


def create_ledger(path: Union[str, "os.PathLike[str]"], *, dataset: str, epsilon: float, eta: float = 0.04,
                  budgets: Optional[ArrayLike] = None) -> None:
    """A new ledger for one data set: it may lose epsilon in total, its i-th release epsilon (e^eta - 1) e^(-eta i), or
    what `budgets` says. FileExistsError: there is one; a ledger is never begun anew."""
    if not 0 < epsilon <= _EPSILON_MAX:
        raise ValueError(f"epsilon: allowed: above 0, up to {_EPSILON_MAX:g}")
    budget = Selector([1], users_per_round=1, epsilon=epsilon, eta=eta, budgets=budgets, latency_min=1.0, seed=0)
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    os.close(handle)
    try:
        _fill_ledger(Path(path), dataset, float(epsilon), budget)
    except BaseException:
        if os.path.getsize(path) == 0:  # nothing was committed: no ledger is there, and none is in the way of one
            os.unlink(path)
        raise


def _fill_ledger(path: Path, dataset: str, epsilon: float, budget: Selector) -> None:
    with _transaction(path) as database:
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
        for statement in _SCHEMA.split(";"):
            database.execute(statement)
        database.execute("INSERT INTO ledger VALUES (1, ?, ?, ?)", (dataset, epsilon, budget.to_bytes()))


def _open_budget(database: sqlite3.Connection, path: Path) -> Tuple[Any, Selector]:
    """(dataset, epsilon, ..) of the ledger, and its budget: a selector of one user, who pays for each release."""
    try:
        if database.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            raise StateError(f"{path}: this is no ledger")
        row = database.execute("SELECT dataset, epsilon, budget FROM ledger").fetchone()
    except sqlite3.DatabaseError as error:
        raise StateError(f"{path}: this is no ledger: {error}") from error
    if row is None:
        raise StateError(f"{path}: this is no ledger")
    return row, Selector.from_bytes(row[2])


def _spent_nano(budget: Selector) -> int:
    return int(lib.tacit_select_spent_nano(budget._state, 0))


def look_at_ledger(path: Union[str, "os.PathLike[str]"]) -> LedgerView:
    """What this ledger holds. StateError: it is none."""
    file = _existing(path)
    with _transaction(file) as database:
        row, budget = _open_budget(database, file)
        count = database.execute("SELECT COUNT(*) FROM releases").fetchone()[0]
    return LedgerView(row[0], row[1], _spent_nano(budget), count)


def _existing(path: Union[str, "os.PathLike[str]"]) -> Path:
    file = Path(path)
    if not file.is_file():
        raise StateError(f"{file}: there is no ledger; create_ledger makes one")
    return file


def _digest(number: int, round_id: bytes, model_hash: bytes, steps: bytes) -> bytes:
    """Of all that a release holds, with lengths before what varies."""
    parts = (number.to_bytes(8, "little"), len(round_id).to_bytes(8, "little"), round_id,
             len(model_hash).to_bytes(8, "little"), model_hash, steps)
    return hashlib.sha256(b"".join(parts)).digest()


def _made_before(database: sqlite3.Connection, round_id: bytes, model_hash: bytes, clip: float,
                 dimension: int) -> Optional[NDArray[np.int64]]:
    """The round's release, if there is one. StateError: it is damaged, or of another model or clip."""
    row = database.execute("SELECT number, model_hash, steps, digest, clip FROM releases WHERE round_id = ?",
                           (round_id,)).fetchone()
    if row is None:
        return None
    if _digest(row[0], round_id, row[1], row[2]) != row[3]:
        raise StateError("ledger: a release in it is damaged")
    if row[1] != model_hash or len(row[2]) != 8 * dimension:
        raise StateError("round_id: this round was released for another model")
    if row[4] != clip:
        raise StateError(f"round_id: this round was released with clip {row[4]!r}, in whose unit its integers are")
    return np.frombuffer(row[2], dtype="<i8").astype(np.int64)


def noise_update(update: NDArray[np.float64], *, clip: float, ledger: Union[str, "os.PathLike[str]"], round_id: bytes,
                 model_hash: bytes) -> NDArray[np.int64]:
    """The update of a whole model, as it may leave: pure local differential privacy of the whole data set, for what the
    ledger's next release costs. Integers in units of clip / VECTOR_STEPS.

    update: every number that leaves, flat. It is scaled to an L1 norm of at most clip, counted in integers, and each gets
    discrete Laplace noise from the operating system's entropy; a NaN or an infinity makes all 0, which nobody can see. The
    release is on the disk before it is returned; the same round_id gives the same bytes again, at no cost and whatever the
    update. StateError: the budget is used up, or the round was released for another model or clip; nothing is spent then.

    >>> import tempfile, os
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "ledger")
    >>> create_ledger(path, dataset="ward 7", epsilon=40.0)
    >>> noised = noise_update(np.array([0.5, -0.25]), clip=1.0, ledger=path, round_id=b"round 1", model_hash=b"model")
    >>> again = noise_update(np.array([0.0, 0.0]), clip=1.0, ledger=path, round_id=b"round 1", model_hash=b"model")
    >>> (noised == again).all()
    True
    >>> look_at_ledger(path).spent_nano
    1568422433
    >>> folder.cleanup()
    """
    values = np.ascontiguousarray(update, dtype=np.float64)
    if values.ndim != 1 or not 0 < len(values) <= _DIMENSION_MAX:
        raise ValueError(f"update: shape {values.shape}; allowed: one dimension of 1 to {_DIMENSION_MAX}")
    if not (clip > 0 and math.isfinite(clip)):
        raise ValueError("clip: allowed: a finite number above 0")
    if not isinstance(round_id, bytes) or not isinstance(model_hash, bytes) or not round_id:
        raise ValueError("round_id, model_hash: allowed: bytes, the first not empty")
    path = _existing(ledger)
    with _transaction(path) as database:
        row, budget = _open_budget(database, path)
        before = _made_before(database, round_id, model_hash, float(clip), len(values))
        if before is not None:
            return before
        spent = _spent_nano(budget)
        budget.observe([0], [1.0])
        price = _spent_nano(budget) - spent
        steps = np.empty(len(values), dtype=np.int64)
        lib.tacit_vector_quantise(pointer("double *", values), len(values), clip, pointer("int64_t *", steps))
        require(lib.tacit_python_noise(pointer("int64_t *", steps), len(steps), price), "noise_update")
        number = budget.round_count
        blob = steps.astype("<i8").tobytes()
        database.execute("INSERT INTO releases VALUES (?, ?, ?, ?, ?, ?, ?)",
                         (number, round_id, model_hash, float(clip), price, blob,
                          _digest(number, round_id, model_hash, blob)))
        database.execute("UPDATE ledger SET budget = ?", (budget.to_bytes(),))
    return steps
