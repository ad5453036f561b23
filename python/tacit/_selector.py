"""The selection of users: a state of the C core, and what may be asked of it."""
import hashlib
import json
import math
import secrets
import threading
from dataclasses import dataclass
from typing import Any, Literal, Optional, Tuple, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import StateError
from ._native import ffi, lib, pointer, require

Method = Literal["exact", "brute", "sa", "vanilla-sa", "random", "clustered"]

_SELECTORS = {"exact": 0, "brute": 1, "sa": 2, "vanilla-sa": 2, "random": 4, "clustered": 5}
_GEOMETRIC, _UNIFORM, _GIVEN = 0, 1, 2
_NANO = 10 ** 9
_USERS_MAX = 16777216
_MAGIC = b"tacit selector 1\n"
_DIGEST_BYTES = 32
_NUMBERS = ("epsilon", "eta", "alpha", "beta", "gamma", "zeta", "latency_min", "kappa")


@dataclass(frozen=True)
class RunnerUp:
    """The best set that differs in one user."""

    value: float
    leaves: int
    comes: int


@dataclass(frozen=True)
class Explanation:
    """The value of a set in Eq. (14), its three terms, and who decides the first of them."""

    value: float
    latency_term: float
    generalization_term: float
    privacy_term: float
    slowest: int
    runner_up: Optional[RunnerUp]


def _reals(values: ArrayLike, what: str, count: Optional[int] = None) -> NDArray[np.float64]:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 1 or (count is not None and len(array) != count):
        raise ValueError(f"{what}: shape {array.shape}; allowed: one dimension"
                         + (f" of {count}" if count is not None else ""))
    return array


def _indices(values: ArrayLike, user_count: int) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError("users: a list of whole numbers is expected")
    if array.min() < 0 or array.max() >= user_count:
        raise ValueError(f"users: {array.min()} to {array.max()}; allowed: 0 to {user_count - 1}")
    if len(np.unique(array)) != len(array):
        raise ValueError("users: one of them stands there twice")
    return array.astype(np.int64)


class Selector:
    """Chooses, round by round, the users that train.

    sizes: rows of data of each user. epsilon: what each user may spend in total, in integer billionths that are never
    exceeded; a participation costs epsilon (e^eta - 1) e^(-eta i), or what `budgets` says; with `participations` each of so
    many costs the same. alpha, beta, gamma, zeta: weights
    of generalisation and privacy, exponent and factor of the paper's Eqs. (8), (13), (14). latency_min: latencies below it
    count as this one. kappa, iterations: of the annealings. seed: of methods that draw; None: one of the operating system's,
    kept with the state.

    >>> selector = Selector([100, 100, 100, 100], users_per_round=2, latency_min=0.05)
    >>> selector.select()
    array([0, 1])
    >>> selector.observe([0, 1], [0.1, float("nan")])       # user 1 gave no answer
    >>> selector.select()
    array([2, 3])
    >>> selector.observe([2, 3], [0.2, 0.1])
    >>> selector.scores()["means"].tolist()
    [0.5, 0.0, 0.25, 0.5]
    >>> selector.explain([0, 3]).slowest
    0
    """

    def __init__(self, sizes: ArrayLike, *, users_per_round: int, epsilon: float = math.inf, eta: float = 0.04,
                 budgets: Optional[ArrayLike] = None, participations: Optional[int] = None, alpha: float = 100.0,
                 beta: float = 2.0, gamma: float = 5.0,
                 zeta: float = 1.0, latency_min: float, method: Method = "exact", seed: Optional[int] = None,
                 kappa: float = 1.0, iterations: int = 500) -> None:
        given = None if budgets is None else _reals(budgets, "budgets")
        if given is not None and math.isinf(epsilon):
            raise ValueError("budgets: they need a finite epsilon, which they may not exceed together")
        if participations is not None and (given is not None or math.isinf(epsilon) or not 0 < participations < 2 ** 32):
            raise ValueError("participations: a whole number above 0, a finite epsilon and no budgets are expected")
        settings = {"users_per_round": int(users_per_round), "epsilon": float(epsilon), "eta": float(eta),
                    "budgets": None if given is None else given.tolist(),
                    "participations": None if participations is None else int(participations), "alpha": float(alpha), "beta": float(beta),
                    "gamma": float(gamma), "zeta": float(zeta), "latency_min": float(latency_min), "method": method,
                    "seed": secrets.randbits(64) if seed is None else int(seed), "kappa": float(kappa),
                    "iterations": int(iterations)}
        rows = np.asarray(sizes)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(rows) == 0 or rows.min() < 1:
            raise ValueError("sizes: a list of whole numbers above 0 is expected")
        self._prepare(settings, len(rows))
        columns = np.ascontiguousarray(rows, dtype=np.uint64)
        require(lib.tacit_select_init(self._state, self._config, pointer("uint64_t *", columns)), "sizes")

    def _prepare(self, settings: dict[str, Any], user_count: int) -> None:
        """Memory for a state of these settings."""
        if settings["method"] not in _SELECTORS:
            raise ValueError(f"method: {settings['method']!r}; allowed: {', '.join(get_args(Method))}")
        if not 0 <= settings["seed"] < 2 ** 64:
            raise ValueError("seed: allowed: 0 to 2^64 - 1")
        if not 0 < user_count <= _USERS_MAX:
            raise ValueError(f"sizes: allowed: 1 to {_USERS_MAX} users")
        if not 0 < settings["users_per_round"] <= user_count:
            raise ValueError(f"users_per_round: {settings['users_per_round']}; allowed: 1 to {user_count}")
        if not settings["kappa"] > 0 or not 0 < settings["iterations"] < 2 ** 32:
            raise ValueError("kappa, iterations: allowed: numbers above 0")
        self._settings = settings
        self._user_count = user_count
        self._lock = threading.Lock()
        given, even = settings["budgets"], settings["participations"]
        self._given = ffi.new("double[]", given or [0.0])
        self._config = ffi.new("struct tacit_select_config *", {
            "user_count": user_count, "users_per_round": settings["users_per_round"], "alpha": settings["alpha"],
            "beta": settings["beta"], "gamma": settings["gamma"], "zeta": settings["zeta"],
            "latency_min": settings["latency_min"],
            "budget": {"kind": _GIVEN if given is not None else _GEOMETRIC if even is None else _UNIFORM, "is_exact": math.isfinite(settings["epsilon"]),
                       "total": settings["epsilon"], "eta": settings["eta"],
                       "participations": len(given) if given is not None else even or 0, "given": self._given}})
        size = lib.tacit_select_size(self._config)
        if size == 0:
            raise ValueError("allowed: epsilon 1e-6 to 1e6 or inf, eta 1e-9 to 2, budgets above 0 and together at most "
                             "epsilon, alpha and gamma from 0, beta from 1, zeta and latency_min above 0")
        self._size = size
        self._memory = ffi.new("uint64_t[]", (size + 7) // 8)
        self._scratch = ffi.new("uint64_t[]", (lib.tacit_select_choice_size(user_count) + 7) // 8)
        self._state = ffi.cast("struct tacit_select *", self._memory)

    @property
    def round_count(self) -> int:
        """Rounds that were observed."""
        with self._lock:
            return int(self._view().round_count)

    def _view(self) -> Any:
        """Requires: the lock is held; it points into the state."""
        view = ffi.new("struct tacit_select_view *")
        lib.tacit_select_view(self._state, view)
        return view

    def select(self, *, available: Optional[ArrayLike] = None) -> NDArray[np.int64]:
        """The users of the next round, ascending; the state does not change, and asking again gives the same users.

        available: K booleans, or the users that are there. Fewer than users_per_round come back where fewer are
        there and have budget; none where nobody is.
        """
        settings = self._settings
        users = np.empty(self._user_count, dtype=np.uint32)
        count = ffi.new("uint32_t *")
        energy = ffi.new("double *")
        bits = None if available is None else self._bits(available)
        choice = ffi.new("struct tacit_select_choice *", {
            "selector": _SELECTORS[settings["method"]], "expected": ffi.NULL,
            "available": ffi.NULL if bits is None else pointer("uint64_t *", bits),
            "annealing": {"is_vanilla": settings["method"] == "vanilla-sa", "sign_as_printed": False, "keep_last": False, "keep_walk": False,
                          "kappa": settings["kappa"], "iterations": settings["iterations"]}})
        with self._lock:
            require(lib.tacit_python_choose(self._state, choice, settings["seed"], self._scratch,
                                            pointer("uint32_t *", users), count, energy),
                    "select: too many sets for brute force" if settings["method"] == "brute" else "select")
        return users[:count[0]].astype(np.int64)

    def _bits(self, available: ArrayLike) -> NDArray[np.uint64]:
        """A bit a user, from the lowest of the first word on."""
        there = np.asarray(available)
        if there.dtype.kind == "b":
            if there.shape != (self._user_count,):
                raise ValueError(f"available: shape {there.shape}; allowed: a boolean for each of {self._user_count} users")
        else:
            users = _indices(there, self._user_count)
            there = np.zeros(self._user_count, dtype=bool)
            there[users] = True
        words = np.zeros(((self._user_count + 63) // 64) * 8, dtype=np.uint8)
        packed = np.packbits(there, bitorder="little")
        words[:len(packed)] = packed
        return words.view("<u8").astype(np.uint64)

    def observe(self, users: ArrayLike, latencies: ArrayLike, *, spent: Optional[ArrayLike] = None,
                deadline: float = math.inf) -> None:
        """What came of a round: the latency of each chosen user, in their order; NaN: no answer, which counts as the
        deadline. Each user pays for its participation, unless the users keep the books: spent is then the epsilon that
        each of them says it has spent in all. ValueError, StateError (no budget): nothing has changed."""
        who = _indices(users, self._user_count)
        times = _reals(latencies, "latencies", len(who))
        if not deadline > 0:
            raise ValueError("deadline: allowed: above 0")
        order = np.argsort(who)
        sorted_users = np.ascontiguousarray(who[order], dtype=np.uint32)
        sorted_times = np.ascontiguousarray(times[order])
        if spent is not None:
            books = _reals(spent, "spent", len(who))[order]
            if not (np.isfinite(books).all() and (books >= 0).all() and (books < 1e9).all()):
                raise ValueError("spent: allowed: numbers from 0")
            sorted_spent = np.ascontiguousarray(np.rint(books * _NANO), dtype=np.uint64)
            with self._lock:
                require(lib.tacit_select_observe_reported(self._state, pointer("uint32_t *", sorted_users), len(who),
                                                          pointer("double *", sorted_times), deadline,
                                                          pointer("uint64_t *", sorted_spent)), "observe")
            return
        with self._lock:
            require(lib.tacit_select_observe(self._state, pointer("uint32_t *", sorted_users), len(who),
                                             pointer("double *", sorted_times), deadline), "observe")

    def scores(self) -> dict[str, NDArray[Any]]:
        """Columns of one number a user: ucb (13), generalization (8), privacy (7), counts, means (11), spent."""
        users = self._user_count
        columns = {name: np.empty(users) for name in ("ucb", "generalization", "privacy", "weight")}
        scores = ffi.new("struct tacit_select_scores *",
                         {name: pointer("double *", column) for name, column in columns.items()})
        result: dict[str, NDArray[Any]] = dict(columns)
        with self._lock:
            lib.tacit_select_score(self._state, scores)
            view = self._view()
            result["counts"] = np.frombuffer(ffi.buffer(view.counts, 4 * users), dtype=np.uint32).astype(np.int64)
            result["means"] = np.frombuffer(ffi.buffer(view.means, 8 * users), dtype=np.float64).copy()
            result["spent"] = np.array([lib.tacit_select_spent(self._state, user) for user in range(users)])
        return result

    def explain(self, users: ArrayLike) -> Explanation:
        """Why this set: its value, its terms, and the best exchange of one user."""
        who = np.sort(_indices(users, self._user_count)).astype(np.uint32)
        if len(who) == 0:
            raise ValueError("users: nobody; allowed: at least one")
        told = ffi.new("struct tacit_select_explanation *")
        with self._lock:
            lib.tacit_select_explain(self._state, pointer("uint32_t *", who), len(who), self._scratch, told)
        runner_up = RunnerUp(told.runner_up_energy, told.runner_up_leaves, told.runner_up_comes)
        return Explanation(told.energy, told.latency_term, told.generalization_term, told.privacy_term, told.slowest,
                           runner_up if told.has_runner_up else None)

    def to_bytes(self) -> bytes:
        """Settings and state, with a digest."""
        settings = dict(self._settings, user_count=self._user_count)
        for name in _NUMBERS:
            settings[name] = settings[name].hex()
        if settings["budgets"] is not None:
            settings["budgets"] = [price.hex() for price in settings["budgets"]]
        head = json.dumps(settings, sort_keys=True).encode()
        with self._lock:
            state = bytes(ffi.buffer(self._memory, self._size))
        body = _MAGIC + len(head).to_bytes(8, "little") + head + state
        return body + hashlib.sha256(body).digest()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Selector":
        """The selector whose to_bytes gave these. StateError: they cannot be that."""
        body, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
        if not body.startswith(_MAGIC) or hashlib.sha256(body).digest() != digest:
            raise StateError("from_bytes: these are not the whole bytes of a selector")
        start = len(_MAGIC) + 8
        head_end = start + int.from_bytes(body[len(_MAGIC):start], "little")
        try:
            settings = json.loads(body[start:head_end])
            for name in _NUMBERS:
                settings[name] = float.fromhex(settings[name])
            if settings["budgets"] is not None:
                settings["budgets"] = [float.fromhex(price) for price in settings["budgets"]]
            selector = cls.__new__(cls)
            selector._prepare(settings, settings.pop("user_count"))
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise StateError(f"from_bytes: the settings make no selector: {error}") from error
        state = body[head_end:]
        if len(state) != selector._size:
            raise StateError("from_bytes: the state has another size than its settings ask for")
        ffi.buffer(selector._memory, selector._size)[:] = state
        require(lib.tacit_select_check(selector._state, len(state), selector._config), "from_bytes")
        return selector

    def __reduce__(self) -> Tuple[Any, ...]:
        return Selector.from_bytes, (self.to_bytes(),)


def select_best(ucb: ArrayLike, weight: ArrayLike, m: int) -> Tuple[NDArray[np.int64], float]:
    """The m users with the largest min(ucb) + sum(weight), exactly, in O(K log K), and that value.

    ucb, weight: K numbers each; m from 1 to K. ValueError: they are not.

    >>> users, value = select_best([3.0, 1.0, 2.0], [0.0, 0.5, 0.25], 2)
    >>> users, value
    (array([0, 2]), 2.25)
    """
    first = _reals(ucb, "ucb")
    second = _reals(weight, "weight", len(first))
    if not 1 <= m <= len(first) or len(first) > _USERS_MAX:
        raise ValueError(f"m: {m}; allowed: 1 to the number of users, {len(first)}, at most {_USERS_MAX}")
    if np.isnan(first).any() or not np.isfinite(second).all() or np.isneginf(first).any():
        raise ValueError("ucb, weight: NaN or infinite; allowed: numbers, and +inf in ucb")
    scratch = ffi.new("uint64_t[]", (lib.tacit_select_scratch_size(len(first)) + 7) // 8)
    users = np.empty(m, dtype=np.uint32)
    value = lib.tacit_select_best(pointer("double *", first), pointer("double *", second), len(first), m, scratch,
                                  pointer("uint32_t *", users))
    return users.astype(np.int64), cast(float, value)
