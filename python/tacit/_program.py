"""The program `tacit`, which the package brings along: how it is called, and what it answers."""
import codecs
import os
import pty
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable, List, Mapping, Optional, Sequence

from ._errors import ExperimentError, MissingFileError, PolicyError

_HERE = Path(__file__).resolve().parent
_STOPPED = 130
_MISSING = (": No such file or directory", "is neither beside this file nor in a data directory")
FAILURES = {"own policy: ": ExperimentError, "own policy failed: ": PolicyError} # what a child says of one, and what it is


def program() -> str:
    """Path of the program: what TACIT_PROGRAM names, the package's own, or the one in PATH."""
    named = os.environ.get("TACIT_PROGRAM")
    own = _HERE / "bin" / "tacit"
    found = named or (str(own) if own.exists() else shutil.which("tacit"))
    if not found:
        raise FileNotFoundError("the program tacit is not in this package and not in PATH; TACIT_PROGRAM may name it")
    return found


def in_notebook() -> bool:
    """Is this a kernel whose output goes to a page?"""
    return "ipykernel" in sys.modules


def wants_progress(progress: Optional[bool]) -> bool:
    """None: where somebody looks on, at a terminal or in a notebook."""
    return (sys.stderr.isatty() or in_notebook()) if progress is None else progress


class _Listener:
    """Collects what comes from a descriptor; shows what is progress as it comes."""

    def __init__(self, descriptor: int, shown: bool) -> None:
        self._descriptor = descriptor
        self._shown = shown
        self._parts: List[bytes] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            try:
                part = os.read(self._descriptor, 65536)
            except OSError:  # the other end of a terminal is closed
                break
            if not part:
                break
            self._parts.append(part)
            if self._shown:
                sys.stderr.write(decoder.decode(part).replace("\r\n", "\n"))
                sys.stderr.flush()

    def text(self) -> str:
        """All of it, when the other end is closed; of a line that was drawn again, the last."""
        self._thread.join()
        os.close(self._descriptor)
        text = b"".join(self._parts).decode("utf-8", "replace").replace("\r\n", "\n")
        return "\n".join(line.split("\r")[-1].replace("\x1b[K", "") for line in text.split("\n"))


def _spawn(words: Sequence[str], out: int, errors: int, environment: Mapping[str, str]) -> int:
    """The program as a child; the caller waits for the process that is returned."""
    done = subprocess.Popen([program(), *words], stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=environment)  # pylint: disable=consider-using-with
    done.returncode = 0  # waited for here, by its number
    return done.pid


def _fork(work: Callable[[List[str]], int], words: Sequence[str], out: int, errors: int, environment: Mapping[str, str]) -> int:
    """A child of this interpreter, which has our objects: policies that are written here play in it."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.dup2(out, 1)
        os.dup2(errors, 2)
        for name in set(os.environ) - set(environment):
            del os.environ[name]
        code = work(["tacit", *words])
    except BaseException as error:  # pylint: disable=broad-exception-caught
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def call(words: Sequence[str], *, progress: Optional[bool] = None, work: Optional[Callable[[List[str]], int]] = None, is_led: bool = False) -> str:
    """Calls the program with these words and returns what it prints. work: plays in a child of this process instead. is_led: an executor says who plays
    what, so that mpirun's word of several ranks is none for the program.

    ExperimentError: what was asked for is wrong. KeyboardInterrupt ends the work, too.
    """
    shows = wants_progress(progress)
    environment = {name: value for name, value in os.environ.items() if not (is_led and name == "OMPI_COMM_WORLD_SIZE")}
    out_read, out_write = os.pipe()
    error_read, error_write = pty.openpty() if shows else os.pipe()
    try:
        child = _fork(work, words, out_write, error_write, environment) if work else _spawn(words, out_write, error_write, environment)
    finally:
        os.close(out_write)
        os.close(error_write)
    out, errors = _Listener(out_read, False), _Listener(error_read, shows)
    try:
        _, status = os.waitpid(child, 0)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    printed, wrong = out.text(), errors.text().strip()
    code = os.waitstatus_to_exitcode(status)
    for mark, kind in FAILURES.items():
        if mark in wrong:
            raise kind(wrong[wrong.index(mark) + len(mark):].strip())
    if code == 2:
        raise MissingFileError(wrong) if any(mark in wrong for mark in _MISSING) else ExperimentError(wrong)
    if code == _STOPPED:
        raise KeyboardInterrupt
    if code != 0:
        raise RuntimeError(f"tacit {words[0]} ended with code {code}: {wrong}")
    return printed


def main(arguments: Optional[Sequence[str]] = None) -> Any:
    """`python -m tacit` is the program."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    path = program()
    os.execv(path, [path, *words])
