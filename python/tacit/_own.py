"""Policies that are written in Python, played by the simulator beside its own protocols."""
import copy
import itertools
import os
import re
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ._errors import ExperimentError
from ._experiment import dumped, write_means
from ._program import FAILURES

_CDEF = """
struct tacit_host_player { const char *policy; uint64_t seed; uint32_t run; uint32_t agent; uint32_t arm_count; uint64_t horizon; };
struct tacit_pull_block { uint32_t arm; uint64_t count; };
struct tacit_env_source {
    void *context;
    const char *name;
    void (*pull)(void *context, const char *name, uint32_t agent, uint32_t arm, uint32_t count, uint64_t seed, double *rewards);
};
struct tacit_host {
    void *context;
    int (*begin)(void *context, const struct tacit_host_player *player, uint64_t *handle);
    int (*next)(void *context, uint64_t handle, uint64_t slot, uint64_t left, double reward, struct tacit_pull_block *block);
    void (*end)(void *context, uint64_t handle, double reward);
    struct tacit_env_source environment;
};
void tacit_python_set_host(const struct tacit_host *host);
int tacit_program_main(int argument_count, char **arguments);
"""
_INVALID = -1


class Policy:
    """A policy of your own: derive from it and say what to play.

    Either slot by slot: `choose(t, agent)` returns an arm, and `update(t, agent, arm, reward)` hears what it brought; or in blocks: `plan(t, left)`
    returns (arm, count), and `observe(arm, count, total)` hears the sum of the rewards. Slots are counted from 0. For each agent and run there is a fresh
    copy of the object that was handed in, on which `start` is called first.

    Attributes, when `start` is called: arm_count, horizon, agent, run, and `rng`, a numpy Generator that is the policy's own in this run: draw from it alone,
    and the same policy run twice gives the same bytes.
    """

    name: str = ""
    arm_count: int
    horizon: int
    agent: int
    run: int

    def start(self) -> None:
        """Called once before the first slot."""

    def choose(self, t: int, agent: int) -> int:
        """The arm of slot t, from 0 to arm_count - 1."""
        raise NotImplementedError(f"{type(self).__name__}: choose(t, agent) or plan(t, left) is needed")

    def update(self, t: int, agent: int, arm: int, reward: float) -> None:
        """What the pull of slot t brought."""

    plan: Optional[Callable[[int, int], Tuple[int, int]]] = None

    def observe(self, arm: int, count: int, total: float) -> None:
        """What the block brought in all."""

    @property
    def rng(self) -> Any:
        """A numpy Generator, made when it is asked for first."""
        made = self.__dict__.get("_rng")
        if made is None:
            import numpy  # pylint: disable=import-outside-toplevel
            made = self.__dict__["_rng"] = numpy.random.Generator(numpy.random.Philox(key=self.__dict__["_seed"]))
        return made


class Environment:
    """Rewards of your own: derive from it and say what a pull brings.

    means: the expected reward of each arm (one row: all agents alike; one row an agent), against which regret is counted. pull(agent, arm, count, rng): `count`
    rewards as a list or array; draw from `rng`, a numpy Generator, alone, and the same experiment gives the same bytes. Rewards may be any finite numbers; sound
    privacy clips them to the experiment's `privacy.range`.
    """

    name: str = ""
    means: Any = ()

    def pull(self, agent: int, arm: int, count: int, rng: Any) -> Any:
        """Rewards of so many pulls."""
        raise NotImplementedError(f"{type(self).__name__}: pull(agent, arm, count, rng) is needed")

    def _section(self, folder: Path) -> Dict[str, Any]:
        """The section `environment` that stands for it."""
        if len(self.means) == 0:
            raise ValueError(f"{type(self).__name__}.means is empty; expected: the expected reward of each arm")
        return {"kind": "gaussian", "means": write_means(self.means, folder / "means.csv"), "gaussian": {"sd": 1, "own": name_of(self)}}


def name_of(made: Any) -> str:
    """Its name: the attribute, or its class's."""
    return made.name or type(made).__name__


class _Player:
    """The policy of one agent in one run: what is played next, after what the last block brought."""

    def __init__(self, name: str, policy: Policy, seed: int, run: int, agent: int, arm_count: int, horizon: int) -> None:
        made = copy.deepcopy(policy)
        made.arm_count, made.horizon, made.agent, made.run = arm_count, horizon, agent, run
        made.__dict__["_seed"] = seed
        made.__dict__.pop("_rng", None)
        self.name, self.policy, self.arm_count = name, made, arm_count
        self.block: Optional[Tuple[int, int, int]] = None  # slot, arm, count
        made.start()
        self.next: Callable[[int, int, float], Tuple[int, int]] = self._next_slot if made.plan is None else self._next_block

    def _wrong(self, slot: int, given: Any, allowed: str) -> ValueError:
        """What to raise where the policy answered with something else."""
        return ValueError(f"policy {self.name}, run {self.policy.run}, agent {self.policy.agent}, slot {slot}: {given!r} is not allowed; allowed: {allowed}")

    def _arm(self, slot: int, given: Any) -> int:
        """The arm as an int, of whatever counts as a whole number (numpy's, too)."""
        try:
            arm = given.__index__()
        except AttributeError:
            arm = -1
        if isinstance(given, bool) or not 0 <= arm < self.arm_count:
            raise self._wrong(slot, given, f"an arm from 0 to {self.arm_count - 1}")
        return int(arm)

    def _next_slot(self, slot: int, left: int, reward: float) -> Tuple[int, int]:
        """For choose and update. reward: of the slot before, if there was one."""
        policy = self.policy
        agent = policy.agent
        if self.block is not None:
            policy.update(self.block[0], agent, self.block[1], reward)
        arm = policy.choose(slot, agent)
        if type(arm) is not int or not 0 <= arm < self.arm_count:  # pylint: disable=unidiomatic-typecheck
            arm = self._arm(slot, arm)
        self.block = (slot, arm, 1)
        return arm, 1

    def _next_block(self, slot: int, left: int, reward: float) -> Tuple[int, int]:
        """For plan and observe. reward: of the whole block before, if there was one."""
        assert self.policy.plan is not None
        if self.block is not None:
            self.policy.observe(self.block[1], self.block[2], reward)
        given = self.policy.plan(slot, left)
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise self._wrong(slot, given, "(arm, count)")
        arm = self._arm(slot, given[0])
        count = int(given[1]) if hasattr(given[1], "__index__") else 0
        if not 1 <= count <= left:
            raise self._wrong(slot, given, f"a count from 1 to {left}")
        self.block = (slot, arm, count)
        return arm, count

    def end(self, reward: float) -> None:
        """The last block's reward."""
        if self.block is None:
            return
        if self.policy.plan is None:
            self.policy.update(self.block[0], self.policy.agent, self.block[1], reward)
        else:
            self.policy.observe(self.block[1], self.block[2], reward)


class Host:
    """Plays policies and draws rewards by name, in a child of this process."""

    def __init__(self, policies: Dict[str, Policy], environments: Sequence[Environment] = ()) -> None:
        self._policies = policies
        self._environments = {name_of(each): each for each in environments}
        self._players: Dict[int, _Player] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._failure: Optional[BaseException] = None

    def _fail(self, error: BaseException) -> int:
        """Keeps the first error, for _report; the status stops the simulator."""
        with self._lock:
            self._failure = self._failure or error
        return _INVALID

    def _rewards(self, name: str, agent: int, arm: int, count: int, seed: int) -> Any:
        """Rewards of a pull as doubles."""
        import numpy  # pylint: disable=import-outside-toplevel
        if name not in self._environments:
            raise ValueError(f"environment.gaussian.own: '{name}' was not handed in; allowed: {', '.join(self._environments)}")
        given = self._environments[name].pull(agent, arm, count, numpy.random.Generator(numpy.random.Philox(key=seed)))
        rewards = numpy.ascontiguousarray(given, dtype=numpy.float64).reshape(-1)
        if len(rewards) != count or not numpy.isfinite(rewards).all():
            raise ValueError(f"environment {name}, agent {agent}, arm {arm}: {given!r} is not allowed; allowed: {count} finite numbers")
        return rewards

    def __call__(self, words: List[str]) -> int:
        """Runs the program in this process, which calls back for policies and rewards. Returns its exit code."""
        import cffi  # pylint: disable=import-outside-toplevel
        ffi: Any = cffi.FFI()
        ffi.cdef(_CDEF)
        here = Path(__file__).resolve().parent
        library: Any = ffi.dlopen(os.environ.get("TACIT_PROGRAM_LIBRARY") or str(here / "bin" / "tacit_program.so"))
        os.environ.setdefault("TACIT_EXPERIMENTS", str(here / "share" / "tacit" / "experiments"))
        players = self._players

        @ffi.callback("int(void *, const struct tacit_host_player *, uint64_t *)", error=_INVALID)  # type: ignore[misc]
        def begin(_: Any, player: Any, handle: Any) -> int:
            try:
                name = ffi.string(player.policy).decode()
                number = next(self._numbers)
                if name not in self._policies:
                    raise ValueError(f"protocol.policy: '{name}' was not handed in; allowed: {', '.join(self._policies)}")
                players[number] = _Player(name, self._policies[name], player.seed, player.run, player.agent, player.arm_count, player.horizon)
                handle[0] = number
                return 0
            except BaseException as error:  # pylint: disable=broad-exception-caught
                return self._fail(error)

        @ffi.callback("int(void *, uint64_t, uint64_t, uint64_t, double, struct tacit_pull_block *)", error=_INVALID)  # type: ignore[misc]
        def following(_: Any, handle: int, slot: int, left: int, reward: float, block: Any) -> int:
            try:
                block.arm, block.count = players[handle].next(slot, left, reward)
                return 0
            except BaseException as error:  # pylint: disable=broad-exception-caught
                return self._fail(error)

        @ffi.callback("void(void *, uint64_t, double)")  # type: ignore[misc]
        def end(_: Any, handle: int, reward: float) -> None:
            try:
                player = players.pop(handle)
                if self._failure is None:
                    player.end(reward)
            except BaseException as error:  # pylint: disable=broad-exception-caught
                self._fail(error)

        @ffi.callback("void(void *, const char *, uint32_t, uint32_t, uint32_t, uint64_t, double *)")  # type: ignore[misc]
        def pull(_: Any, name: Any, agent: int, arm: int, count: int, seed: int, rewards: Any) -> None:
            try:
                if self._failure is None:
                    ffi.memmove(rewards, self._rewards(ffi.string(name).decode(), agent, arm, count, seed), 8 * count)
            except BaseException as error:  # pylint: disable=broad-exception-caught
                self._fail(error)
                os._exit(self._report())  # nothing that follows counts

        host = ffi.new("struct tacit_host *", {"begin": begin, "next": following, "end": end, "environment": {"pull": pull}})
        library.tacit_python_set_host(host)
        texts = [ffi.new("char[]", word.encode()) for word in words]
        code = int(library.tacit_program_main(len(words), ffi.new("char *[]", [*texts, ffi.NULL])))
        if self._failure is None:
            return code
        return self._report()

    def _report(self) -> int:
        """What went wrong in a policy: ours, as wrong input; its own, with where it happened."""
        import traceback  # pylint: disable=import-outside-toplevel
        failure = self._failure
        assert failure is not None
        wrong = isinstance(failure, ValueError) and str(failure).startswith(("policy ", "protocol.policy", "environment"))
        text = str(failure) if wrong else "".join(traceback.format_exception(type(failure), failure, failure.__traceback__))
        mark = next(each for each, kind in FAILURES.items() if (kind is ExperimentError) == wrong)
        os.write(2, f"\n{mark}{text}\n".encode())
        return 2


def named(policies: Sequence[Policy]) -> Dict[str, Policy]:
    """Each under its name: the attribute, or its class's; a number where two are alike."""
    found: Dict[str, Policy] = {}
    for policy in policies:
        if not isinstance(policy, Policy):
            raise TypeError(f"{policy!r}: an instance of a class derived from tacit.Policy is expected")
        first = name_of(policy)
        name = next(each for each in itertools.chain([first], (f"{first}-{i}" for i in itertools.count(2))) if each not in found)
        found[name] = policy
    return found


def refuse_alike(environments: Sequence[Environment]) -> None:
    """Experiments have the names of their environments: of two of one name, one would draw the rewards of both."""
    for index, each in enumerate(environments):
        if any(other is not each and name_of(other) == name_of(each) for other in environments[:index]):
            raise ValueError(f"environment: two of them are called {name_of(each)!r}; allowed: a `name` each")


def protocol_of(name: str) -> str:
    """The section `protocol` that plays it: its name in quotes where a bare one would be read as more, with no bracket that has no other."""
    if not re.fullmatch(r"[A-Za-z_](?:[\w .+-]|\([\w .+-]*\))*(?<! )", name):
        name = re.sub(r"[][(){}]", lambda found: f"\\u{ord(found[0]):04x}", dumped(name))
    return f"{{kind: own, policy: {name}}}"
