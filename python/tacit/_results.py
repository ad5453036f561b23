"""What commands come to, as objects; frames need pandas, which is imported when one is asked for."""
import csv
import html
import json
import math
import shutil
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Union

from ._experiment import Folder


def _frame(rows: Any) -> Any:
    try:
        import pandas  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise ImportError("frames need pandas: pip install pandas") from error
    return pandas.DataFrame(rows)


def _number(text: str) -> Any:
    try:
        value = float(text)
    except ValueError:
        return text
    return int(text) if value.is_integer() and text.lstrip("-").isdigit() else value


def _rows(path: Path) -> List[Dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: _number(value) for name, value in row.items()} for row in csv.DictReader(file)]


def _restored(value: Any) -> Any:
    """JSON has no inf: the program writes it as a text."""
    if isinstance(value, dict):
        return {key: _restored(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_restored(each) for each in value]
    return math.inf if value == "inf" else value


class Figure:
    """A picture: SVG, shown by notebooks as it is."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.svg

    def save(self, path: Union[str, Path]) -> None:
        """Writes the SVG."""
        Path(path).write_text(self.svg, encoding="utf-8")


class _Output:
    """What a command printed as JSON, and the folder that it wrote beside it."""

    _json = ""

    def __init__(self, folder: Optional[Folder], told: Optional[Mapping[str, Any]] = None) -> None:
        self._folder = folder
        if told is None:
            assert folder is not None
            told = json.loads((self._out / self._json).read_text(encoding="utf-8"))
        self._data: Dict[str, Any] = _restored(dict(told))

    @property
    def _out(self) -> Path:
        if self._folder is None:
            raise ValueError("this result has no files of its own")
        return self._folder.path / "out"

    def to_dict(self) -> Dict[str, Any]:
        """Everything, as the command prints it with --json."""
        return dict(self._data)

    def save(self, directory: Union[str, Path]) -> Path:
        """Copies the page, the figures and the tables to a folder; returns it."""
        return Path(shutil.copytree(self._out, directory, dirs_exist_ok=True))

    def figure(self, name: Optional[str] = None) -> Figure:
        """The command's figure; by name, where there are several (figures() lists them)."""
        found = self._figures()
        path = self._out / name if name is not None else (found[0] if found else self._out / "none")
        if not path.exists():
            raise ValueError(f"no such figure; there are: {', '.join(self.figures()) or 'none'}")
        return Figure(path.read_text(encoding="utf-8"))

    def _figures(self) -> List[Path]:
        return sorted(self._out.rglob("*.svg"))

    def figures(self) -> List[str]:
        """Names of the figures."""
        return [str(path.relative_to(self._out)) for path in self._figures()]

    def _repr_html_(self) -> str:
        if self._folder is None:
            return f"<pre>{html.escape(repr(self))}</pre>"
        return "".join([f"<p>{html.escape(repr(self))}</p>", *[path.read_text(encoding="utf-8") for path in self._figures()[:1]]])


class Table:
    """Rows that may become a frame."""

    def __init__(self, rows: List[Dict[str, Any]]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Dict[str, Any]:
        return self.rows[index]

    def to_frame(self) -> Any:
        """A pandas.DataFrame, one row a row."""
        return _frame(self.rows)


class Curve(Dict[str, Any]):
    """The regret over time, as `tacit run --json` has it: t, and regret with mean and ci95."""

    def to_frame(self) -> Any:
        """One row a recorded slot: t, mean and ci95 of the regret."""
        return _frame({"t": self["t"], **{name: values for name, values in self["regret"].items() if isinstance(values, list)}})


class Profile(Dict[str, Any]):
    """A number a row, as `tacit run --json` has it: rows, mean and runs."""

    def to_frame(self) -> Any:
        """One row a row."""
        return _frame({name: values for name, values in self.items() if isinstance(values, list)})


def _flat(site: Mapping[str, Any]) -> Dict[str, Any]:
    """A site with the columns of sites.csv."""
    cost, truth = site["cost_of_common"], site["truth"]
    return {**site, "cost_of_common": cost["mean"], "cost_of_common_ci95": cost["ci95"],
            **{f"truth_{name}": value for name, value in truth.items()}}


class Result(_Output):
    """What came of an experiment; every number as `tacit run --json` prints it."""

    _json = "summary.json"

    @property
    def metrics(self) -> Dict[str, Dict[str, float]]:
        """For each metric its mean, sd, ci95, min and max over the runs."""
        return dict(self._data["metrics"])

    @property
    def curve(self) -> Curve:
        """The regret over time."""
        return Curve(self._data["curve"])

    @property
    def answer(self) -> Optional[Dict[str, Any]]:
        """Which arm it is, where the protocol looks for one: decided, arms, sentence."""
        told: Optional[Dict[str, Any]] = self._data["answer"]
        return told

    @property
    def statement(self) -> str:
        """What is protected, against whom, and what is not."""
        return str(self._data["privacy"]["statement"])

    @property
    def sites(self) -> Table:
        """What each site saw, where sites have means of their own: one row a site, with the columns of sites.csv."""
        return Table([{name: value for name, value in _flat(site).items() if name != "truth"} for site in self._data.get("sites") or []])

    @property
    def profiles(self) -> Dict[str, Profile]:
        """Series and profiles of the protocol, by name; empty where it has none."""
        return {name: Profile(told) for name, told in (self._data.get("profiles") or {}).items()}

    @property
    def runs(self) -> Table:
        """One row a run: its number and its metrics."""
        return Table(_rows(self._out / "runs.csv"))

    def to_frame(self) -> Any:
        """One row a run."""
        return self.runs.to_frame()

    def __repr__(self) -> str:
        answer = self.answer
        sentence = "" if answer is None else f": {answer['sentence']}"
        return f"<tacit.Result {self._data['name']!r}, {self._data['runs']} runs{sentence}>"


class Comparison(_Output):
    """Settings beside each other: `cells`, each a Result with `settings` (and `error`, if it could not run)."""

    _json = "results.json"

    @property
    def cells(self) -> List["Cell"]:
        """In the order in which they were asked for."""
        return [Cell(told) for told in self._data["results"]]

    def to_frame(self) -> Any:
        """One row a cell: a column a key that was varied, and each metric's mean and half width."""
        return _frame([cell.row() for cell in self.cells])

    def __repr__(self) -> str:
        return f"<tacit.Comparison of {len(self._data['results'])} settings>"


class Cell(Result):
    """A setting of a comparison."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        super().__init__(None, told)

    @property
    def settings(self) -> Dict[str, Any]:
        """The keys that were varied."""
        return dict(self._data.get("settings") or {})

    @property
    def error(self) -> Optional[str]:
        """Why it could not run; None: it did."""
        found: Optional[str] = self._data.get("error")
        return found

    def row(self) -> Dict[str, Any]:
        """For a frame."""
        row = {"file": self._data.get("file"), **self.settings, "error": self.error}
        for name, told in (self._data.get("metrics") or {}).items():
            row[name], row[f"{name}_ci95"] = told["mean"], told["ci95"]
        return row

    def __repr__(self) -> str:
        return f"<tacit.Cell {self.settings}{'' if self.error is None else ': ' + self.error}>"


class Plan(_Output):
    """Which protocols and networks tell the arms apart, in how many slots, at what cost: the cheapest first."""

    _json = "plan.json"

    @property
    def plans(self) -> Table:
        """One row a protocol and network."""
        return Table(list(self._data["plans"]))

    def to_frame(self) -> Any:
        """One row a protocol and network."""
        return self.plans.to_frame()

    @property
    def traffic(self) -> Dict[str, float]:
        """Rows a site by weekday, from which each plan's `days_needed` comes; empty where no column says when rows were logged."""
        return dict(self._data.get("traffic") or {})

    def __repr__(self) -> str:
        return f"<tacit.Plan of {len(self._data['plans'])} settings>"


class Evaluation(_Output):
    """What arms, or the protocol, would have earned on logged rows."""

    _json = "evaluation.json"

    @property
    def estimates(self) -> Table:
        """One row an estimate."""
        return Table(_rows(self._out / "estimates.csv"))

    @property
    def policies(self) -> Table:
        """One row a policy: each estimate's value and the half width of its interval, and its gain over what was logged."""
        rows = []
        for told in self._data.get("policies") or []:
            row: Dict[str, Any] = {}
            for name, value in told.items():
                row.update({name: value["value"], f"{name}_ci95": value["ci95"]} if isinstance(value, dict) else {name: value})
            rows.append(row)
        return Table(rows)

    def to_frame(self) -> Any:
        """One row an estimate."""
        return self.estimates.to_frame()

    def __repr__(self) -> str:
        return f"<tacit.Evaluation with {len(self.estimates)} estimates>"


class Reproduction(_Output):
    """Figures of papers, and which of their claims hold."""

    def __init__(self, folder: Folder) -> None:
        papers = sorted((folder.path / "out").glob("*/results.json"))  # a folder a paper
        super().__init__(folder, {"papers": [json.loads(path.read_text(encoding="utf-8")) for path in papers]})

    @property
    def claims(self) -> Table:
        """One row a claim, with the paper and the figure that it is about."""
        return Table([{"paper": paper["paper"], "figure": figure["id"], **claim}
                      for paper in self._data["papers"] for figure in paper["figures"] for claim in figure["claims"]])

    def to_frame(self) -> Any:
        """One row a claim."""
        return self.claims.to_frame()

    def __repr__(self) -> str:
        return f"<tacit.Reproduction of {len(self.claims)} claims>"


class Check:
    """An experiment that is right: what `tacit check` prints of it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"
