"""Experiments: the program `tacit`, called."""
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Mapping, Optional, Union


class Result:
    """What came of an experiment; every number as `tacit run --json` prints it."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told

    @property
    def metrics(self) -> dict[str, dict[str, float]]:
        """For each metric its mean, sd, ci95, min and max over the runs."""
        return dict(self._told["metrics"])

    @property
    def curve(self) -> dict[str, Any]:
        """The regret over time: t, and regret with mean and ci95."""
        return dict(self._told["curve"])

    @property
    def answer(self) -> Optional[dict[str, Any]]:
        """Which arm it is, where the protocol looks for one."""
        told: Optional[dict[str, Any]] = self._told["answer"]
        return told

    def to_dict(self) -> dict[str, Any]:
        """Everything."""
        return dict(self._told)

    def __repr__(self) -> str:
        return f"<tacit.Result {self._told['name']!r}, {self._told['runs']} runs>"


def _find_program() -> str:
    named = os.environ.get("TACIT_PROGRAM")
    found = named if named else shutil.which("tacit")
    if not found:
        raise FileNotFoundError("the program tacit is not in PATH; TACIT_PROGRAM may name it")
    return found


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def run(file: Union[str, "os.PathLike[str]", Mapping[str, Any]], *, set: Optional[Mapping[str, Any]] = None,
        runs: Optional[int] = None, seed: Optional[int] = None, threads: Optional[int] = None) -> Result:
    """Runs an experiment file, or what would stand in one. set: keys to overrule, {"privacy.epsilon": 0.5}. Paths in
    a mapping are absolute. ValueError: the file or a key is wrong, in the program's words."""
    words = [_find_program(), "run", "--json", "--quiet"]
    for name, value in (("--runs", runs), ("--seed", seed), ("--threads", threads)):
        if value is not None:
            words += [name, str(int(value))]
    for key, value in (set or {}).items():
        words += ["--set", f"{key}={_word(value)}"]
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(file, Mapping):
            path = Path(folder) / "experiment.yaml"
            path.write_text(json.dumps(dict(file)), encoding="utf-8")
        else:
            path = Path(file)
        done = subprocess.run([*words, "--", str(path)], capture_output=True, text=True, check=False)
    if done.returncode == 2:
        raise ValueError(done.stderr.strip())
    if done.returncode != 0:
        raise RuntimeError(f"tacit run ended with code {done.returncode}: {done.stderr.strip()}")
    return Result(json.loads(done.stdout))
