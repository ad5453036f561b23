"""From rows, and policies over them, to the sections of an experiment that `tacit evaluate` values."""
import csv
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from ._experiment import plain, present

Policy = Union[str, Sequence[str], Callable[[Any], Any]]


def _read(rows: Any) -> Any:
    """A CSV's rows, if it is the path of one."""
    if not isinstance(rows, (str, os.PathLike)):
        return rows
    with open(rows, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _columns(rows: Any) -> Dict[str, List[Any]]:
    """The rows by column: of a frame, a mapping of columns or a list of rows."""
    if isinstance(rows, list):
        return {name: [row[name] for row in rows] for name in rows[0]}
    return {str(name): plain(rows[name].to_list() if hasattr(rows[name], "to_list") else list(rows[name])) for name in rows}


def _order(arms: Sequence[Any]) -> List[str]:
    """As the program sorts them: whole numbers by value, then the rest by bytes."""
    def key(text: str) -> Any:
        number = text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")
        return (0, len(text), text.encode()) if number else (1, 0, text.encode())
    return sorted({str(arm) for arm in map(present, arms) if str(arm).strip()}, key=key)


def _called(name: str, policy: Callable[[Any], Any], rows: Any, columns: Dict[str, List[Any]], arms: List[str]) -> Dict[str, Any]:
    """What it returns, as columns beside the others."""
    count = len(next(iter(columns.values())))
    found = policy(rows)
    if hasattr(found, "columns") and hasattr(found, "to_numpy"):
        missing = [arm for arm in arms if arm not in {str(each) for each in found.columns}]
        if missing:
            raise ValueError(f"policy {name!r} returned a frame without columns for {missing}; allowed: a column an arm, {arms}")
        found = list(zip(*(plain(found[each].to_list()) for arm in arms for each in found.columns if str(each) == arm)))
    values = plain(found.to_list() if hasattr(found, "to_list") else found if hasattr(found, "tolist") else list(found))
    if len(values) != count:
        raise ValueError(f"policy {name!r} returned {len(values)} choices for {count} rows; allowed: an arm, or a probability an arm, for each row")
    if not isinstance(values[0], list):
        columns[f"policy {name}"] = values
        return {"name": name, "chosen": f"policy {name}"}
    if {len(each) for each in values} != {len(arms)}:
        raise ValueError(f"policy {name!r} returned rows of {len(values[0])} probabilities; allowed: {len(arms)}, one an arm, in this order: {arms}")
    for index, arm in enumerate(arms):
        columns[f"policy {name} {arm}"] = [each[index] for each in values]
    return {"name": name, "probabilities": [f"policy {name} {arm}" for arm in arms]}


def sections_of(rows: Any, *, arm: str, reward: str, propensity: str, agent: Optional[str], contexts: Sequence[str],
                policies: Mapping[str, Policy], model: Optional[str]) -> Dict[str, Any]:
    """An experiment over the rows, with a protocol that is not asked for."""
    rows = _read(rows)
    columns = _columns(rows)
    named = [arm, reward, *([] if propensity == "uniform" else [propensity]), *([agent] if agent else []), *contexts]
    for name in named:
        if name not in columns:
            raise ValueError(f"there is no column {name!r}; the columns are {list(columns)}")
    arms = _order(columns[arm])
    made: List[Dict[str, Any]] = []
    for name, policy in policies.items():
        if callable(policy):
            made.append(_called(name, policy, rows, columns, arms))
        elif isinstance(policy, str) and policy in ("ridge", "logistic"):
            made.append({"name": name, "trained": policy})
        else:
            made.append({"name": name, "chosen": policy} if isinstance(policy, str) else {"name": name, "probabilities": list(policy)})
    logged: Dict[str, Any] = {"csv": columns, "arm": arm, "reward": reward, "propensity": propensity,
                              **({"agent": agent} if agent else {"split": "sequential"})}
    logged.update({key: value for key, value in (("contexts", list(contexts)), ("policies", made), ("model", model)) if value})
    return {"name": "log", "horizon": 1, "agents": len(_order(columns[agent])) if agent else 1, "protocol": {"kind": "index"},
            "privacy": {"mode": "none"}, "environment": {"kind": "logged", "logged": logged}}
