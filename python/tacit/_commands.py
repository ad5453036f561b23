"""The commands of `tacit` as functions."""
import json
import os
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _own
from ._experiment import Experiment, Folder, listed, options, over_words, part, word, write
from ._policies import Policy, sections_of
from ._program import call, wants_progress
from ._results import Check, Comparison, Evaluation, Plan, Reproduction, Result

Settings = Optional[Mapping[str, Any]]


def _environments(*given: Any) -> List[_own.Environment]:
    """Those of one's own."""
    found = [each.get("environment") for each in given if isinstance(each, Mapping)]
    return [each for each in found if isinstance(each, _own.Environment)]


def _host(policies: Dict[str, _own.Policy], environments: List[_own.Environment]) -> Optional[_own.Host]:
    """Who plays them; None: there are none, and the program plays all."""
    return _own.Host(policies, environments) if policies or environments else None


def _quiet(progress: Optional[bool]) -> List[str]:
    return [] if wants_progress(progress) else ["--quiet"]


def run(experiment: Optional[Experiment] = None, *, set: Settings = None, runs: Optional[int] = None,  # pylint: disable=redefined-builtin
        seed: Optional[int] = None, threads: Optional[int] = None, policy: Optional[_own.Policy] = None, progress: Optional[bool] = None,
        **sections: Any) -> Result:
    """Runs an experiment: a file, a mapping as in one, or its sections by name, `run(agents=3, horizon=10000, environment={...})`.

    set: keys to overrule, {"privacy.epsilon": 0.5}. Means and logs may be lists, arrays or data frames. policy: plays in the place of the file's protocol.
    ExperimentError: the file, a key or the policy is wrong, in the program's words.
    """
    folder = Folder()
    policies = _own.named([policy] if policy is not None else [])
    overruled = dict(set or {})
    for name in policies:
        overruled["protocol"] = _own.protocol_of(name)
        sections.setdefault("protocol", {"kind": "own", "policy": name}) if experiment is None or isinstance(experiment, Mapping) else None
    words = ["run", *options(settings=overruled, runs=runs, seed=seed, threads=threads), *_quiet(progress), "--out", str(folder.path / "out"), "--"]
    call([*words, write(experiment, sections, folder.path)], progress=progress, work=_host(policies, _environments(experiment, sections)))
    return Result(folder)


def check(experiment: Optional[Experiment] = None, *, set: Settings = None, **sections: Any) -> Check:  # pylint: disable=redefined-builtin
    """Validates an experiment; its text is the privacy statement and what messages and costs come to at most. ExperimentError: it is wrong."""
    folder = Folder()
    return Check(call(["check", *options(settings=set), "--", write(experiment, sections, folder.path)], progress=False).rstrip())


def _play(words: List[str], policies: Dict[str, _own.Policy], environments: List[_own.Environment]) -> None:
    """A share of a comparison, in a worker."""
    call(words, progress=False, work=_host(policies, environments))


def compare(experiments: Any, *, over: Optional[Mapping[str, Iterable[Any]]] = None, set: Settings = None,  # pylint: disable=redefined-builtin
            runs: Optional[int] = None, seed: Optional[int] = None, threads: Optional[int] = None, progress: Optional[bool] = None,
            out: Optional[Union[str, "os.PathLike[str]"]] = None, executor: Optional[Executor] = None, shares: int = 8) -> Comparison:
    """Experiments, and policies of your own, beside each other on one page: same instances, runs and points.

    experiments: one or a list of files, mappings and Policy objects; each policy plays in the place of the protocol of every experiment. over: values by
    key, {"privacy.epsilon": [0.5, 1, 2]}. out: a folder that keeps what is finished, so that the same call goes on from there; it knows policies and
    environments of your own by their names alone: changed ones need other names, or another folder.
    executor: any of concurrent.futures (a pool of processes, Dask's Client.get_executor(), mpi4py's) plays `shares` shares of one thread each; where its workers are
    other machines they have this package, and `out` is a folder that all of them see. A share that is lost costs itself: the same call goes on. The
    result is that of one machine, byte for byte. ExperimentError: a file, a key or a policy is wrong; TypeError: `over` has no list of values.
    """
    folder = Folder()
    target = folder.path / "out"
    if out is not None:
        os.makedirs(out, exist_ok=True)
        target.symlink_to(os.path.abspath(out), target_is_directory=True)
    given = listed(experiments)
    written = (Path(out) / "experiments" if out is not None else folder.path).resolve()
    files = [write(each, {}, part(written, i), f"experiment-{i}.yaml") for i, each in enumerate(given) if not isinstance(each, _own.Policy)]
    policies = _own.named([each for each in given if isinstance(each, _own.Policy)])
    environments = _environments(*given)
    _own.refuse_alike(environments)
    if not files:
        raise TypeError("a policy is played in an experiment; allowed: a list that has one, too")
    grid: Dict[str, Iterable[Any]] = dict(over or {})
    if policies:
        grid["protocol"] = [*map(word, grid.pop("protocol", ["="])), *map(_own.protocol_of, policies)]
    words = ["compare", *options(settings=set, runs=runs, seed=seed), *over_words(grid), "--out", str(Path(out).resolve() if out is not None else target)]
    if executor is not None:
        waiting = [executor.submit(_play, [*words, "--quiet", "--threads", "1", "--shard", f"{i + 1}/{shares}", "--", *files], policies, environments)
                   for i in range(shares)]
        for share in waiting:
            share.result()
    call([*words, *options(threads=threads), *_quiet(progress), "--", *files], progress=progress, work=_host(policies, environments), is_led=executor is not None)
    return Comparison(folder)


def plan(experiment: Optional[Experiment] = None, *, gap: Optional[float] = None, set: Settings = None,  # pylint: disable=redefined-builtin
         runs: Optional[int] = None, threads: Optional[int] = None, progress: Optional[bool] = None, **sections: Any) -> Plan:
    """Which protocol and network tell the arms apart, in how many slots, at what cost. gap: the difference that matters, in the unit of the rewards.

    ExperimentError: the file, a key or the gap is wrong, in the program's words.
    """
    folder = Folder()
    more = [] if gap is None else ["--gap", repr(float(gap))]
    call(["plan", *options(settings=set, runs=runs, threads=threads), *more, *_quiet(progress), "--out", str(folder.path / "out"), "--",
          write(experiment, sections, folder.path)], progress=progress)
    return Plan(folder)


def evaluate(experiment: Optional[Experiment] = None, *, rows: Any = None, arm: str = "arm", reward: str = "reward",
             propensity: str = "propensity", agent: Optional[str] = None, contexts: Sequence[str] = (),
             policies: Optional[Mapping[str, Policy]] = None, model: Optional[str] = None,
             set: Settings = None, runs: Optional[int] = None,  # pylint: disable=redefined-builtin
             seed: Optional[int] = None, threads: Optional[int] = None, progress: Optional[bool] = None, **sections: Any) -> Evaluation:
    """What arms, policies with contexts, or the protocol would have earned on logged rows with propensities.

    Either an experiment, or rows: a frame, a mapping of columns, a list of rows, or a CSV's path, with the names of its columns. policies, by name: "ridge" or
    "logistic" (trained on `contexts`), the column of the arms that it chooses, a list of columns of probabilities, or a function of `rows` that returns an
    arm a row, or a probability an arm a row (n x K, arms sorted; or a frame with a column an arm). propensity: a column, or "uniform". model: by what
    rewards are guessed, "ridge" or "logistic".
    ValueError: a column is not there, or a function returned something else. ExperimentError: the rows or a key are wrong, in the program's words.
    """
    folder = Folder()
    more: List[str] = []
    if rows is not None:
        if experiment is not None:
            raise TypeError("allowed: an experiment, or rows")
        experiment = sections_of(rows, arm=arm, reward=reward, propensity=propensity, agent=agent, contexts=contexts, policies=policies or {},
                                 model=model)
        more = [] if "protocol" in sections else ["--estimates"]
    elif contexts or policies or model:
        raise TypeError("contexts, policies and model go with rows; of an experiment they are keys of environment.logged")
    call(["evaluate", *options(settings=set, runs=runs, seed=seed, threads=threads), *more, *_quiet(progress), "--out", str(folder.path / "out"), "--",
          write(experiment, sections, folder.path)], progress=progress)
    return Evaluation(folder)


def reproduce(*papers: str, fast: bool = False, experiments: Optional[Union[str, "os.PathLike[str]"]] = None, threads: Optional[int] = None,
              progress: Optional[bool] = None) -> Reproduction:
    """A paper's figures, and which of its claims hold: reproduce("p1", fast=True). ExperimentError: there is no such paper or figure."""
    folder = Folder()
    more = (["--fast"] if fast else []) + ([] if experiments is None else ["--experiments", os.fspath(experiments)])
    call(["reproduce", *options(threads=threads), *more, *_quiet(progress), "--out", str(folder.path / "out"), "--", *papers], progress=progress)
    return Reproduction(folder)


def bound(*, pulls: int, noises: int = 0, epsilon: Optional[float] = None, mean: Optional[float] = None, sum: Optional[int] = None,  # pylint: disable=redefined-builtin
          confidence: Optional[float] = None, level: Optional[float] = None, look: Optional[int] = None, arms: Optional[int] = None) -> Dict[str, float]:
    """What a noised sum says of a mean: mean, lower, upper, radius, level; all as parts of the public range.

    pulls: how many; noises: discrete Laplace terms in the sum, each of `epsilon` a reward; the mean, or the sum in grid steps. ExperimentError: a number that is
    not allowed, in the program's words.
    """
    given = {"pulls": pulls, "noises": noises, "epsilon": epsilon, "mean": mean, "sum": sum, "confidence": confidence, "level": level, "look": look,
             "arms": arms}
    words = [text for name, value in given.items() if value is not None for text in (f"--{name}", word(value))]
    told: Dict[str, float] = json.loads(call(["bound", "--json", *words], progress=False))
    return told
