"""From what stands for an experiment in Python to the file that the program reads."""
import csv
import json
import math
import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

Experiment = Union[str, "os.PathLike[str]", Mapping[str, Any]]


class Folder:
    """A folder that lives as long as this object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="tacit-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def part(folder: Path, index: int) -> Path:
    """A folder in it: of one of several."""
    made = folder / str(index)
    made.mkdir(parents=True, exist_ok=True)
    return made


def plain(value: Any) -> Any:
    """The value as JSON has it: of numpy's numbers and arrays, too; inf as the files write it."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    return value


def dumped(value: Any, **how: Any) -> str:
    """As JSON that is YAML, too, which knows no pairs of surrogates: what lies beyond U+FFFF is one escape there."""
    return re.sub(r"\\u(d[89ab]..)\\u(d[c-f]..)", lambda found: f"\\U{0x10000 + ((int(found[1], 16) & 0x3ff) << 10 | int(found[2], 16) & 0x3ff):08x}",
                  json.dumps(value, **how))


def word(value: Any) -> str:
    """The value as --set and --over take it."""
    made = plain(value)
    return made if isinstance(made, str) else dumped(made)


def write_means(means: Any, path: Path) -> str:
    """One row: all agents alike; one row an agent."""
    rows = plain(means.to_numpy() if hasattr(means, "to_numpy") else means)
    if rows and not isinstance(rows[0], list):
        rows = [rows]
    path.write_text("".join(",".join(repr(float(mean)) for mean in row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def present(value: Any) -> Any:
    """Empty where it is missing: None, NaN, and what pandas has for them; as frames write themselves."""
    try:
        return "" if value is None or bool(value != value) else value
    except TypeError:  # pandas.NA is neither
        return ""


def _write_frame(frame: Any, path: Path) -> str:
    """As CSV: a frame, a mapping of columns or a list of rows."""
    if hasattr(frame, "to_csv"):
        frame.to_csv(path, index=False)
        return str(path)
    columns = plain(frame)
    if isinstance(columns, list):  # a list of rows
        columns = {name: [row[name] for row in columns] for name in columns[0]}
    columns = {name: [present(value) for value in values] for name, values in columns.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the columns of a log differ in length: {lengths}; allowed: a value a row in each")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))
    return str(path)


def _is_table(value: Any) -> bool:
    """Is it a value, and not the path of a file?"""
    return value is not None and not isinstance(value, (str, os.PathLike))


def _resolve(sections: Mapping[str, Any], folder: Path) -> Dict[str, Any]:
    """Means and logs that are values become files."""
    made = dict(sections)
    environment = made.get("environment")
    if environment is not None and hasattr(environment, "_section"):
        return {**made, "environment": environment._section(folder)}
    if not isinstance(environment, Mapping):
        return made
    environment = dict(environment)
    if _is_table(environment.get("means")):
        environment["means"] = write_means(environment["means"], folder / "means.csv")
    logged = environment.get("logged")
    if isinstance(logged, Mapping) and _is_table(logged.get("csv")):
        environment["logged"] = {**logged, "csv": _write_frame(logged["csv"], folder / "log.csv")}
    made["environment"] = environment
    return made


def write(experiment: Optional[Experiment], sections: Mapping[str, Any], folder: Path, name: str = "experiment.yaml") -> str:
    """Path of the experiment's file. Relative paths in a mapping start at the working directory."""
    if isinstance(experiment, Mapping):
        sections = {**experiment, **sections}
    elif experiment is not None:
        path = Path(experiment)
        if not path.exists():
            raise FileNotFoundError(f"{path}: no such experiment file")
        if sections:
            raise TypeError("a file takes no sections beside it; allowed: set={'key': value}")
        return str(path)
    if not sections:
        raise TypeError("what is to be run? allowed: a path, a mapping, or sections like environment={...}")
    made = _resolve({"name": "experiment", **sections}, folder)
    path = folder / name
    path.write_text(dumped(_absolute(plain(made)), indent=1), encoding="utf-8")
    return str(path)


def _absolute(sections: Dict[str, Any]) -> Dict[str, Any]:
    """Paths from the working directory, as the file is written somewhere else."""
    environment = sections.get("environment")
    if isinstance(environment, dict):
        if isinstance(environment.get("means"), str):
            environment["means"] = os.path.abspath(environment["means"])
        logged = environment.get("logged")
        if isinstance(logged, dict) and isinstance(logged.get("csv"), str):
            logged["csv"] = os.path.abspath(logged["csv"])
    return sections


def options(*, settings: Optional[Mapping[str, Any]] = None, **numbers: Optional[int]) -> List[str]:
    """The words of a call for these."""
    words: List[str] = []
    for name, value in numbers.items():
        if value is not None:
            words += [f"--{name}", str(int(value))]
    for key, value in (settings or {}).items():
        words += ["--set", f"{key}={word(value)}"]
    return words


def over_words(over: Mapping[str, Iterable[Any]]) -> List[str]:
    """One --over a key."""
    words: List[str] = []
    for key, values in over.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise TypeError(f"over: {key}: a list of values is expected")
        words += ["--over", f"{key}=" + ",".join(word(value) for value in values)]
    return words


def listed(experiments: Any) -> Sequence[Any]:
    """One or several as a list."""
    return list(experiments) if isinstance(experiments, (list, tuple)) else [experiments]
