#!/usr/bin/env python3
"""Floods, each by another user or another site, beside ordinary traffic: whoever does nothing wrong is served, memory and
logs stay small, and the status names who floods. By default a few seconds each; TACIT_TEST_LONG=1: 60 s each;
TACIT_TEST_ALONE=1 besides: nothing else runs, and the slowest of a hundred ordinary answers takes at most twice as long
as without a flood, before and after it. See support.py."""
import json
import os
import pathlib
import random
import signal
import socket
import threading
import time

from support import IS_LONG, TACIT, Skipped, main, require, test, wait_for
from federation import UnixConnection, call
from wire import REFUSED_BY_ACL, text

SECONDS = 60 if IS_LONG else 2
IS_ALONE = IS_LONG and os.environ.get("TACIT_TEST_ALONE") == "1"  # else others' work is in the times
STRANGER = 65534  # nobody
MEMORY_MAX = 16 << 20
LOG_MAX = 1 << 20
PAUSE_S = 0.01
IS_SANITIZED = any(name in pathlib.Path(TACIT).read_bytes() for name in (b"__asan_init", b"__tsan_init"))
P99_FLOOR_S = 0.02  # below, a machine's own hiccups are larger


# ---- What ordinary callers see ----

class Ordinary(threading.Thread):
    """Asks and rewards on one line, as an application does."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path = path
        self.times = []
        self.over = False
        self.trouble = None

    def pair(self, connection):
        started = time.monotonic()
        code, decision = call(connection, "POST", "/v1/decisions", {})
        require(code == 200, f"an ordinary decision: {code} {decision}")
        self.times.append(time.monotonic() - started)
        code, answer = call(connection, "POST", "/v1/rewards", {"id": decision["id"], "reward": 0.5})
        require(code == 200 and answer == {"status": "accepted"}, f"an ordinary reward: {code} {answer}")

    def dial(self):
        """A queue of those who knock may be full for a moment."""
        end = time.monotonic() + 60
        while True:
            connection = UnixConnection(self.path, 60)
            try:
                connection.connect()
                return connection
            except BlockingIOError:
                require(time.monotonic() < end, "the door stays shut")
                time.sleep(PAUSE_S)

    def run(self):
        try:
            connection = self.dial()
            while not self.over:
                self.pair(connection)
                time.sleep(PAUSE_S)
            connection.close()
        except Exception as trouble:  # shown by the test
            self.trouble = trouble

    def end(self):
        self.over = True
        self.join(120)
        require(not self.is_alive() and self.trouble is None, f"the ordinary caller: {self.trouble or 'it hangs'}")


def p99(times):
    return sorted(times)[len(times) * 99 // 100]


def served_for(path, seconds):
    """An ordinary caller for so long, and until it was served often enough to say something."""
    one = Ordinary(path)
    one.start()
    time.sleep(seconds)
    wait_for("the ordinary caller is served", lambda: len(one.times) >= 20 or one.trouble, 60)
    return one


class Calm:
    """What is usual, where that is asked for: measured before and after each flood, for a machine is not always the same."""

    def __init__(self, path):
        self.path = path
        self.before = self.measure() if IS_ALONE else None
        self.slow = []

    def measure(self):
        calm = served_for(self.path, SECONDS / 2)
        calm.end()
        return calm.times

    def check(self, what, ordinary):
        here = p99(ordinary.times)
        print(f"   {what}: p99 {here * 1e3:.1f} ms of {len(ordinary.times)}", flush=True)
        if not IS_ALONE:
            return
        after = self.measure()
        usual = p99(self.before + after)
        self.before = after
        print(f"   usual: p99 {usual * 1e3:.1f} ms", flush=True)
        if here > max(2 * usual, P99_FLOOR_S):
            self.slow.append(f"{what}: p99 {here * 1e3:.1f} ms, usual {usual * 1e3:.1f} ms")

    def end(self):
        require(not self.slow, "; ".join(self.slow))


# ---- What a flood costs ----

def memory_of(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))


class Measured:
    def __init__(self, federation, names):
        self.federation, self.names = federation, names
        self.before = {name: self.look(name) for name in names}

    def look(self, name):
        return memory_of(self.federation.processes[name]), len(self.federation.log(name))

    def check(self, what):
        for name in self.names:
            grown, said = (now - before for now, before in zip(self.look(name), self.before[name], strict=True))
            print(f"   {what}: {name}: memory {grown / 2 ** 20:+.1f} MiB, log {said / 1024:+.1f} KiB")
            require(grown < MEMORY_MAX or IS_SANITIZED, f"{what}: the memory of {name} grew by {grown} bytes")
            require(said < LOG_MAX, f"{what}: {name} logged {said} bytes")


def in_child(function, user=None):
    """A flood in a process of its own, which we end."""
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)  # with those that it makes itself
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            function()
        finally:
            os._exit(1)
    return child


def end_child(child):
    os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    require(os.WIFSIGNALED(status), "the flood ended by itself")


# ---- Floods of the API ----

def dial(path):
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.settimeout(5)
    line.connect(str(path))
    return line


def keep_lines(path, count, first, again):
    """So many lines; what was closed is opened anew, what is open gets more."""
    lines = []
    while True:
        try:
            while len(lines) < count:
                lines.append(dial(path))
                lines[-1].sendall(first)
            for line in list(lines):
                line.settimeout(0.02)
                try:
                    if again:
                        line.sendall(again)
                    elif not line.recv(4096):
                        raise OSError
                except TimeoutError:
                    pass
                except OSError:
                    lines.remove(line)
                    line.close()
        except OSError:
            pass


def head_of(length):
    return f"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode()


def half_open(path):
    keep_lines(path, 400, b"", b"")


def slow_headers(path):
    keep_lines(path, 300, b"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nX: ", b"x")


def slow_bodies(path):
    keep_lines(path, 300, head_of(1 << 20), b" " * 4096)


def big_bodies(path):
    keep_lines(path, 100, head_of(1 << 20), b" " * 65536)


def deaf(path):
    keep_lines(path, 100, b"", b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)


def garbage(path):
    rng = random.Random(9)
    while True:
        try:
            line = dial(path)
            line.sendall(rng.randbytes(rng.randrange(1, 20000)))
            line.recv(4096)
            line.close()
        except OSError:
            pass


def asking(path, body, times):
    request = head_of(len(body)) if body is not None else b""
    if body is not None and body.startswith(b'{"requests"'):
        request = request.replace(b"/v1/decisions ", b"/v1/decisions/batch ")
    asked = request + body if body is not None else b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"
    whole = asked * times
    while True:
        try:
            line = dial(path)
            while True:
                line.sendall(whole)
                for _ in range(times):
                    if not line.recv(65536):
                        raise OSError
        except OSError:
            pass


def many_open(path):
    asking(path, json.dumps({"requests": [{}] * 1000}).encode(), 1)


def many_calls(path):
    for _ in range(7):
        if os.fork() == 0:
            break
    asking(path, b"{}" if os.getpid() % 2 else None, 20)


API_FLOODS = {  # and what the status says of the caller
    half_open: "shed", slow_headers: "shed", slow_bodies: "shed", big_bodies: "shed", deaf: None, garbage: "malformed",
    many_open: "too_many_open", many_calls: None}


def can_be_another(path):
    """Whether we may be two users, and both reach the socket."""
    def knock():
        dial(path)
        os._exit(0)

    return os.geteuid() == 0 and os.waitpid(in_child(knock, STRANGER), 0)[1] == 0


def opened(federation_of):
    federation = federation_of([0.875, 0.8, 0.75], sites=2)
    federation.write_agent("site-0", federation.policy(),
                           decisions={"open_max": 20000, "wait_s": 600, "caller_calls_per_s": 5000})
    federation.start_all()
    wait_for("the run is joined", lambda: federation.phase("site-0") == "exploring")
    federation.folder.chmod(0o711)
    federation.socket_of("site-0").chmod(0o666)
    if not can_be_another(federation.socket_of("site-0")):
        raise Skipped("only root can be two users")
    return federation


def caller_of(federation):
    status = federation.site_status("site-0") or {"callers": []}
    return next((one for one in status["callers"] if one["name"] == f"user {STRANGER}"), None)


@test
def one_caller_who_floods_the_api_shuts_nobody_out(federation_of):
    federation = opened(federation_of)
    path = federation.socket_of("site-0")
    calm = Calm(path)
    for flood, said in API_FLOODS.items():
        what = flood.__name__
        measured = Measured(federation, ["site-0"])
        before = (caller_of(federation) or {}).get(said, 0)
        child = in_child(lambda flood=flood: flood(path), STRANGER)
        try:
            ordinary = served_for(path, SECONDS)
            if said is not None:
                wait_for(f"{what}: the status says {said}",
                         lambda said=said, before=before: (caller_of(federation) or {}).get(said, 0) > before, 40)
            measured.check(what)
        finally:
            end_child(child)
        ordinary.end()
        calm.check(what, ordinary)
    calm.end()
    status = federation.site_status("site-0")
    require([one["name"] for one in status["callers"]] == [f"user {STRANGER}"], f"others are blamed: {status['callers']}")


# ---- Floods by a site ----

def talk(federation, payloads, topic):
    while True:
        try:
            client = federation.client("site-1")
            while True:
                for payload in payloads:
                    client.publish(topic, payload)
        except OSError:
            time.sleep(0.1)


def made_up_topics(federation):
    client = federation.client("site-1")
    for number in range(10 ** 9):
        rest = f"up/site-1/elimination/{number}" if number % 2 else f"up/site-1/{number}"
        code = client.publish(federation.topic(rest), b"x" * 60000, retain=True)
        if code != REFUSED_BY_ACL:
            return


def subscriptions(federation):
    """New filters and the same again, short and long, on one connection and on the next; without an end."""
    while True:
        client = federation.client("site-1")
        for number in range(10000):
            filter = f"tacit/v1/x/{number % 1000}/#" if number % 8 else f"tacit/{number % 16}/" + "x" * 60000
            client.send(0x82, b"\0\1\0" + text(filter) + b"\0")
            client.receive()
        client.close()


@test
def one_site_that_floods_costs_the_others_nothing(federation_of):
    federation = federation_of([0.875, 0.8, 0.75], sites=2)
    federation.start_all()
    up = federation.topic("up/site-1/elimination")
    hello = wait_for("site-1 greets",
                     lambda: next((message for topic, message in federation.tap.messages if topic == up), None))
    wait_for("the run is joined", lambda: federation.phase("site-0") == "exploring")
    federation.tap.over = True
    federation.stop("site-1")
    big = random.Random(3).randbytes(65000)
    floods = {"greetings": lambda: talk(federation, [hello], up),
              "unsigned words": lambda: talk(federation, [b"x" * 200], up), "big messages": lambda: talk(federation, [big], up),
              "made-up topics": lambda: made_up_topics(federation),
              "subscriptions": lambda: subscriptions(federation)}
    calm = Calm(federation.socket_of("site-0"))
    for what, flood in floods.items():
        measured = Measured(federation, ["coordinator", "site-0", "broker"])
        child = in_child(flood)
        ordinary = served_for(federation.socket_of("site-0"), SECONDS)
        measured.check(what)
        end_child(child)
        ordinary.end()
        calm.check(what, ordinary)
        require(federation.status()["sites"], "the coordinator does not answer")
    calm.end()
    offenders = {one["name"]: one for one in federation.status()["offenders"]}
    require("site-1" in offenders and offenders["site-1"]["refused"] > 0, f"nobody is named: {offenders}")


if __name__ == "__main__":
    main()
