"""What goes wrong. Arguments of our own functions that are out of range are ValueError."""
import re
from typing import Optional


class StateError(RuntimeError):
    """The state says no: it is damaged, belongs to something else, or its budget is used up."""


class ExperimentError(ValueError):
    """An experiment, or what was asked of it, is wrong; the text says what is allowed.

    key: what it is about, like "privacy.epsilon"; file and line: where it stands. Each may be None. Of an experiment that was given as a mapping the file
    is the one that was written for it.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        found = re.match(r"(?P<file>[^:\n]+):(?P<line>\d+): (?:(?P<key>[A-Za-z_][\w.]*): )?", text)
        self.file: Optional[str] = found["file"] if found else None
        self.line: Optional[int] = int(found["line"]) if found else None
        self.key: Optional[str] = found["key"] if found else None


class MissingFileError(ExperimentError, FileNotFoundError):
    """A file that an experiment names is not there."""

    def __str__(self) -> str:
        return str(self.args[0])


class PolicyError(RuntimeError):
    """A policy of your own raised an exception; the text is its traceback."""
