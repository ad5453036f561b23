#!/usr/bin/env python3
"""The daemons as services: what systemd is told, whether it takes our units, and whether a daemon lives within what its
unit allows. See support.py."""
import os
import pathlib
import re
import signal
import socket
import subprocess

from support import TACIT, Skipped, Two, main, require, test, wait_for

UNITS = sorted((pathlib.Path(__file__).resolve().parents[2] / "docs/systemd").glob("*.service"))


def require_tracing():
    """A machine may forbid one process to trace another."""
    if subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode != 0:
        raise Skipped("no tracing of processes here")


# What systemd is told

class Manager:
    """Listens where a service manager would."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.settimeout(60)

    def hear(self):
        return self.socket.recv(4096).decode()

    def is_silent(self):
        self.socket.settimeout(0.3)
        try:
            return not self.socket.recv(4096)
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(60)


@test
def service_manager_hears_ready_and_stopping(federation_of):
    federation = federation_of([0.875, 0.8, 0.75])
    abstract = f"tacit-test-{federation.port}"
    cases = {"coordinator": (str(federation.folder / "notify"),) * 2, "site-0": ("@" + abstract, "\0" + abstract)}
    for name, (told, bound) in cases.items():  # ready without a broker: the state was read, and the API answers
        manager = Manager(bound)
        federation.start(name, NOTIFY_SOCKET=told)
        require(manager.hear() == "READY=1", f"{name} is not ready")
        require(federation.get(name, "/status" if name == "coordinator" else "/v1/status"), f"{name} does not answer")
        require(manager.is_silent(), f"{name} says more; no unit sets WatchdogSec")
        federation.processes[name].send_signal(signal.SIGTERM)
        require(manager.hear() == "STOPPING=1", f"{name} does not say that it stops")
        require(federation.processes[name].wait(60) == 0, f"{name} does not stop cleanly")


@test
def service_manager_hears_nothing_of_a_daemon_that_refuses(federation_of):
    federation = federation_of([0.875, 0.8, 0.75])
    manager = Manager(str(federation.folder / "notify"))
    (federation.pki / "site-0.key").chmod(0o644)
    federation.start("site-0", NOTIFY_SOCKET=str(federation.folder / "notify"))
    code = federation.processes["site-0"].wait(60)
    require(code == 2, f"an open key: {code}")  # RestartPreventExitStatus in the units
    require(manager.is_silent(), "ready all the same")


# Units

@test
def systemd_takes_the_units(federation_of):
    folder = federation_of([0.5, 0.5]).folder / "units"
    folder.mkdir()
    for unit in UNITS:
        text = unit.read_text()
        require("WatchdogSec" not in text, f"{unit.name}: the daemons send no WATCHDOG=1")
        name = unit.name.replace("@", "@north")
        (folder / name).write_text(text.replace("/usr/local/bin/tacitd", TACIT + "d"))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *map(str, sorted(folder.iterdir()))],
                          capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if str(folder) in line or "tacit" in line]
    require(done.returncode == 0 and not ours, f"{done.returncode}: {done.stderr}")


def calls_of(name):
    """Of a set as in SystemCallFilter=, or one call."""
    if not name.startswith("@"):
        return {name}
    done = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True)
    words = [line.strip() for line in done.stdout.splitlines()[1:] if not line.strip().startswith("#")]
    return set().union(*map(calls_of, filter(None, words)))


def allowed_calls(unit):
    """SystemCallFilter= lines add, or with ~ take away, in order."""
    allowed = set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", unit.read_text(), re.M):
        calls = set().union(*map(calls_of, line.lstrip("~").split()))
        allowed = allowed - calls if line.startswith("~") else allowed | calls
    return allowed


@test
def daemons_make_only_the_system_calls_that_their_units_allow(federation_of):
    require_tracing()
    if any(name in pathlib.Path(TACIT).read_bytes() for name in (b"__asan_init", b"__tsan_init")):
        raise Skipped("a sanitizer makes system calls of its own")
    federation = federation_of([0.875, 0.5, 0.125], kind=Two)
    federation.start_all(["site-1", "site-2"])
    traces = {}
    for name in ("coordinator", "helper", "site-0"):
        traces[name] = federation.folder / f"{name}.trace"
        strace = ["strace", "-D", "--follow-forks", "-qq", "-o", str(traces[name])]
        federation.start(name, strace + federation.words_of(name))
    federation.agree()
    federation.apply()
    wait_for("the run ends", federation.is_finished, 60)
    federation.end_applications()
    for name in traces:
        federation.stop(name)
    for name, trace in traces.items():
        unit = next(unit for unit in UNITS if ("agent" if name == "site-0" else name) in unit.name)
        lines = trace.read_text().splitlines()
        made = {match.group(1) for line in lines if (match := re.match(r"\d+ +(\w+)\(", line))}
        require(len(made) > 30, f"{name}: no trace: {made}")
        if os.geteuid() == 0:
            made -= {"fchown"}  # SQLite, as root only; a unit's daemon is not root
        require(made <= allowed_calls(unit), f"{name}: {sorted(made - allowed_calls(unit))}")
        families = set(re.findall(r"socket\((AF_\w+)", trace.read_text()))
        allowed = set(re.search(r"^RestrictAddressFamilies=(.*)$", unit.read_text(), re.M).group(1).split())
        require(families <= allowed, f"{name}: {families - allowed}")
        writable = [line for line in lines if "PROT_WRITE" in line and "PROT_EXEC" in line]
        require(not writable, f"{name}: MemoryDenyWriteExecute: {writable}")


if __name__ == "__main__":
    main()
