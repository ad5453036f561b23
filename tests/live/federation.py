#!/usr/bin/env python3
"""A whole federation on loopback (broker, coordinator, agents; mutual TLS), disturbed: kill -9 of everybody, crash
points, damaged and old state, hostile messages, sites that never come. A tap at the broker keeps what is on the wire.
Each arm brings always the same reward and epsilon is large, so that a single reward that was lost or counted twice
shows in the sums.

usage: federation.py [TEST...]     $TACIT_PROGRAM; $TACIT_TEST_PROGRAM: with test hooks; TACIT_TEST_LONG=1: 300 kills
"""
import http.client
import json
import math
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

TACIT = os.path.abspath(os.environ["TACIT_PROGRAM"])
TACIT_TEST = os.environ.get("TACIT_TEST_PROGRAM")
BROKER = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
IS_LONG = os.environ.get("TACIT_TEST_LONG") == "1"
FEDERATION = "trial"
EPSILON = 1000.0  # noise of about a thousandth of a reward
STEPS = 1 << 20
HUB = 0xffffffff
REFUSED_BY_ACL = 0x87


def require(condition, text):
    if not condition:
        raise AssertionError(text)


def wait_for(what, condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"after {seconds} s still not: {what}")


# ---- MQTT 5, as much as a test needs ----

def varint(number):
    out = bytearray()
    while True:
        number, low = number >> 7, number & 127
        out.append(low | (128 if number else 0))
        if not number:
            return bytes(out)


def text(string):
    return struct.pack(">H", len(string)) + string.encode()


class Mqtt:
    """A client with the certificate of `name`; its client id is its name, by the broker's rule."""

    def __init__(self, pki, port, name, authority=None, seconds=5):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations((authority or pki) / "ca.crt")
        context.check_hostname = False
        if name is not None:
            context.load_cert_chain(pki / f"{name}.crt", pki / f"{name}.key")
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", port), seconds))
        self.send(0x10, text("MQTT") + bytes([5, 2]) + struct.pack(">H", 60) + b"\0" + text(""))
        kind, body = self.receive()
        require(kind >> 4 == 2 and body[1] == 0, f"CONNACK {kind:#x} {body.hex()}")

    def send(self, kind, body):
        self.socket.sendall(bytes([kind]) + varint(len(body)) + body)

    def read(self, size):
        out = b""
        while len(out) < size:
            part = self.socket.recv(size - len(out))
            if not part:
                raise ConnectionError("the broker closed the connection")
            out += part
        return out

    def receive(self):
        kind = self.read(1)[0]
        size = shift = 0
        while True:
            byte = self.read(1)[0]
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return kind, self.read(size)

    def subscribe(self, topic):
        self.send(0x82, struct.pack(">H", 1) + b"\0" + text(topic) + b"\0")

    def publish(self, topic, payload):
        """With QoS 1; the broker's reason code."""
        self.send(0x32, text(topic) + struct.pack(">H", 7) + b"\0" + payload)
        while True:
            kind, body = self.receive()
            if kind >> 4 == 4:
                return body[2] if len(body) > 2 else 0

    def close(self):
        self.socket.close()


class Tap(threading.Thread):
    """Keeps what passes the broker; comes back when the broker does."""

    def __init__(self, pki, port):
        super().__init__(daemon=True)
        self.pki, self.port = pki, port
        self.seen = []  # (topic, payload)
        self.is_ready = threading.Event()
        self.over = False

    def listen(self):
        client = Mqtt(self.pki, self.port, "tap", seconds=1)
        try:
            client.subscribe("tacit/v1/#")
            while not self.over:
                try:
                    kind, body = client.receive()
                except TimeoutError:
                    continue
                if kind >> 4 == 9:
                    self.is_ready.set()
                if kind >> 4 != 3:
                    continue
                length = struct.unpack_from(">H", body)[0]
                properties = 2 + length + (2 if kind & 6 else 0)
                require(body[properties] < 128, "long properties")
                self.seen.append((body[2:2 + length].decode(), body[properties + 1 + body[properties]:]))
        finally:
            client.close()

    def run(self):
        while not self.over:
            try:
                self.listen()
            except (OSError, AssertionError):
                time.sleep(0.03)


# ---- Messages (src/wire/tacit.proto) ----

def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def envelope(sender, epoch, kind, body, run=1):
    return (b"\x0d" + struct.pack("<I", 1) + b"\x15" + struct.pack("<I", sender) + b"\x19" + struct.pack("<Q", run) +
            b"\x25" + struct.pack("<I", epoch) + field({"hello": 16, "order": 17, "report": 18}[kind], body))


def report(sender, epoch, pulls, arms, sums, run=1):
    return envelope(sender, epoch, "report", b"\x09" + struct.pack("<Q", pulls) + field(2, struct.pack("<Q", arms)) +
                    field(3, struct.pack(f"<{len(sums)}q", *sums)), run)


def order(epoch, pulls, arms, last=0, run=1, seen=0, sender=HUB):
    return envelope(sender, epoch, "order", b"\x0d" + struct.pack("<I", last) + b"\x11" + struct.pack("<Q", pulls) +
                    field(3, struct.pack("<Q", arms)) + b"\x2d" + struct.pack("<I", seen), run)


def epoch_of(payload):
    return struct.unpack_from("<I", payload, 20)[0]


def is_report(payload):
    return payload[24:26] == b"\x92\x01"


def is_order(payload):
    return payload[24:26] == b"\x8a\x01"


def sums_of(payload):
    """Of a report: pulls, arms, {arm: sum in units of reward}."""
    start = 27  # one byte of length: fewer than 13 arms
    pulls, arms = struct.unpack_from("<xQxxQ", payload, start)
    active = [arm for arm in range(64) if arms >> arm & 1]
    sums = struct.unpack_from(f"<{len(active)}q", payload, start + 9 + 10 + 2)
    return pulls, arms, {arm: value / STEPS for arm, value in zip(active, sums)}


def pulls_of_order(payload):
    return struct.unpack_from("<Q", payload, 27 + 5 + 1)[0]


def arms_of_order(payload):
    return struct.unpack_from("<Q", payload, 27 + 5 + 9 + 2)[0]


# ---- A federation ----

class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def call(connection, method, path, body=None):
    connection.request(method, path, None if body is None else json.dumps(body))
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Federation:
    def __init__(self, means, sites=3, quorum=None, deadline_s=60, horizon=400000, rounds=12, gap=2.0 ** -6,
                 strangers=(), epsilon=EPSILON):
        self.epsilon = epsilon
        self.means, self.horizon, self.rounds, self.gap = means, horizon, rounds, gap
        self.sites = [f"site-{i}" for i in range(sites)]
        self.quorum, self.deadline_s = quorum or sites, deadline_s
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tacit-fed-"))
        self.pki = self.folder / "pki"
        self.port = free_port()
        self.processes = {}  # name -> Popen
        self.applications = []
        self.tap = None
        (self.folder / "broker").mkdir()
        (self.folder / "persistence").mkdir()
        self.run("pki", "--directory", self.pki, *self.sites, "tap", *strangers)
        self.run("broker-config", "--directory", self.folder / "broker", "--federation", FEDERATION, "--pki", self.pki,
                 "--port", self.port, "--persistence", self.folder / "persistence", *self.sites)
        with open(self.folder / "broker/tacit.acl", "a", encoding="utf-8") as file:
            file.write("\nuser tap\ntopic read tacit/v1/#\n")
        self.write_coordinator("coordinator")
        for site in self.sites:
            self.write_agent(site)

    def run(self, *words):
        subprocess.run([TACIT, *map(str, words)], check=True)

    def broker_section(self, name, pki=None):
        pki = pki or self.pki
        return (f"broker: {{host: 127.0.0.1, port: {self.port}, ca: {self.pki}/ca.crt, "
                f"certificate: {pki}/{name}.crt, key: {pki}/{name}.key}}\n")

    def arms(self):
        return json.dumps([f"arm {i}" for i in range(len(self.means))])

    def write_coordinator(self, name, horizon=None, epsilon=None, run=1, sites=None, arms=None):
        (self.folder / f"{name}.yaml").write_text(
            f"federation: {FEDERATION}\nstate: state-{name}\n{self.broker_section('coordinator')}"
            f"sites: {json.dumps(sites or self.sites)}\narms: {arms or self.arms()}\n"
            f"run: {{id: {run}, horizon: {horizon or self.horizon}, epsilon: {epsilon or self.epsilon}, "
            f"rounds: {self.rounds}, gap: {self.gap}, quorum: {self.quorum}, deadline_s: {self.deadline_s}}}\n"
            "status: {unix: hub.sock}\n")

    def write_agent(self, site, name=None, state=None, pki=None, rounds_max=40):
        (self.folder / f"{name or site}.yaml").write_text(
            f"federation: {FEDERATION}\nsite: {site}\nstate: {state or f'state-{name or site}'}\n"
            f"{self.broker_section(site, pki)}arms: {self.arms()}\napi: {{unix: {name or site}.sock}}\n"
            f"policy: {{epsilon: {self.epsilon}, budget: {self.epsilon}, range: [0, 1], agents_max: 12, "
            f"rounds_max: {rounds_max}, pulls_max: {self.horizon}}}\n")

    # Processes

    def start(self, name, **hooks):
        if name == "broker":
            words = [BROKER, "-c", str(self.folder / "broker/mosquitto.conf")]
        else:
            role = "coordinator" if name.startswith("coordinator") else "agent"
            words = [TACIT_TEST if hooks else TACIT, role, "--config", str(self.folder / f"{name}.yaml")]
        with open(self.folder / f"{name}.log", "a", encoding="utf-8") as log:
            self.processes[name] = subprocess.Popen(words, stdout=log, stderr=log, env={**os.environ, **hooks})
        if name == "broker":
            wait_for("the broker listens", self.broker_listens)

    def broker_listens(self):
        require(self.processes["broker"].poll() is None, "the broker ended: " + self.log("broker")[-500:])
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def start_all(self, names=None):
        self.start("broker")
        self.tap = Tap(self.pki, self.port)
        self.tap.start()
        require(self.tap.is_ready.wait(5), "the tap does not come up")
        for name in ["coordinator", *self.sites] if names is None else names:
            self.start(name)

    def kill(self, name):
        self.processes[name].kill()
        require(self.processes[name].wait(10) == -signal.SIGKILL, f"{name} ended before the kill")

    def stop(self, name):
        """By SIGTERM; must end with 0."""
        self.processes[name].terminate()
        code = self.processes[name].wait(10)
        require(code == 0, f"{name} ended with {code} on SIGTERM: {self.log(name)[-500:]}")

    def wipe_broker(self):
        for file in (self.folder / "persistence").iterdir():
            file.unlink()

    def run_to_end(self, name, seconds=5):
        """Starts a daemon that ought to refuse: its code and what it said."""
        try:
            done = subprocess.run([TACIT, "coordinator" if name.startswith("coordinator") else "agent", "--config",
                                   str(self.folder / f"{name}.yaml")], capture_output=True, text=True,
                                  timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{name} started where it must refuse to") from None
        return done.returncode, done.stderr

    def close(self, keep):
        for application in self.applications:
            application.aborted = True
        if self.tap is not None:
            self.tap.over = True
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
                process.wait(10)
        if not keep:
            shutil.rmtree(self.folder)

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    # Looking

    def get(self, name, path):
        connection = UnixConnection(self.folder / ("hub.sock" if name == "coordinator" else f"{name}.sock"))
        try:
            return call(connection, "GET", path)[1]
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()

    def status(self):
        return self.get("coordinator", "/status")

    def site_status(self, site):
        return self.get(site, "/v1/status")

    def is_finished(self):
        status = self.status()
        return status if status and status["phase"] == "finished" else None

    def phase(self, site):
        status = self.site_status(site)
        return status and status["phase"]

    def outbox(self, site):
        """{epoch: (bytes, nano-epsilon, acknowledged)} of an agent that was stopped."""
        with sqlite3.connect(f"file:{self.folder}/state-{site}/state.db?mode=ro", uri=True) as database:
            return {number: (data, epsilon, acknowledged) for number, data, epsilon, acknowledged in
                    database.execute("SELECT number, bytes, epsilon_nano, acknowledged FROM releases")}

    def wire(self, site):
        """{epoch: set of reports} as seen at the broker."""
        found = {}
        for topic, payload in list(self.tap.seen):
            if topic == f"tacit/v1/{FEDERATION}/up/{site}/elim" and is_report(payload):
                found.setdefault(epoch_of(payload), set()).add(payload)
        return found

    def orders(self):
        """{epoch: set of broadcast orders}."""
        found = {}
        for topic, payload in list(self.tap.seen):
            if topic == f"tacit/v1/{FEDERATION}/down/elim" and is_order(payload):
                found.setdefault(epoch_of(payload), set()).add(payload)
        return found

    # Numbers

    def pulls(self, epoch, active, before=0):
        """S(r) of a full round (src/proto/elim/NOTES.md), written down once more."""
        gap = self.gap ** (epoch / self.rounds)
        count = len(self.sites)
        first = 8 * math.log(8 * active * epoch ** 2 * self.horizon) / (count * gap ** 2)
        second = (8 * epoch * math.sqrt(2 * math.log(8 * len(self.means) * epoch ** 2 * self.horizon)) /
                  (math.sqrt(count) * self.epsilon * gap))
        return max(math.ceil(max(first, second)), before)

    def all_to(self, epoch):
        """Planned pulls of a site up to an epoch, while no arm is out."""
        return len(self.means) * self.pulls(epoch, len(self.means))

    # Applications

    def apply(self, sites=None, **options):
        for site in sites or self.sites:
            application = Application(self, site, **options)
            self.applications.append(application)
            application.start()

    def allow(self, count):
        for application in self.applications:
            application.allowance = count

    def end_applications(self):
        for application in self.applications:
            application.over = True
        for application in self.applications:
            application.join(30)
            require(not application.is_alive(), f"the application of {application.site} hangs")
            require(application.trouble is None, f"{application.site}: {application.trouble}")


class Application(threading.Thread):
    """Asks, plays, rewards; asks again with the same keys until it is answered, whoever dies in between."""

    def __init__(self, federation, site, allowance=math.inf, batch=100):
        super().__init__(daemon=True)
        self.federation, self.site, self.allowance, self.batch = federation, site, allowance, batch
        self.counts = {"planned": 0, "exploit": 0, "committed": 0}  # decisions whose reward was acknowledged
        self.asked = 0
        self.over = self.aborted = False
        self.trouble = None
        self.connection = None

    def ask(self, path, body):
        while not self.aborted:
            try:
                if self.connection is None:
                    self.connection = UnixConnection(self.federation.folder / f"{self.site}.sock")
                code, answer = call(self.connection, "POST", path, body)
                if code == 200:
                    return answer
                require(code == 503, f"{path}: {code} {answer}")
            except (OSError, http.client.HTTPException, ValueError):
                pass
            self.connection = None
            time.sleep(0.02)
        raise InterruptedError("aborted")

    def serve(self, count):
        keys = [{"key": f"{self.asked + i}"} for i in range(count)]
        self.asked += count
        decisions = self.ask("/v1/decisions/batch", {"requests": keys})["decisions"]
        rewards = [{"id": one["id"], "reward": self.federation.means[one["arm"]]} for one in decisions]
        answers = self.ask("/v1/rewards/batch", {"rewards": rewards})["rewards"]
        for decision, answer in zip(decisions, answers):
            require(answer.get("status") in ("accepted", "repeated"), f"{decision}: {answer}")
            self.counts[decision["kind"]] += 1
        return any(one["kind"] == "planned" for one in decisions)

    def run(self):
        try:
            wait_for(f"{self.site} joins", lambda: self.over or self.aborted or self.phase_is_open(), 60)
            while not self.over and not self.aborted:
                count = min(self.batch, self.allowance - self.counts["planned"])
                if count < 1 or not self.serve(int(count)):
                    time.sleep(0.02)  # nothing to learn just now
        except InterruptedError:
            pass
        except Exception as trouble:  # shown by the test
            self.trouble = trouble

    def phase_is_open(self):
        return self.federation.phase(self.site) not in (None, "waiting for an announcement", "refused")


# ---- What holds in every run ----

def check_status(federation, application):
    """Every acknowledged reward is counted, once; the ledger is the outbox."""
    site = application.site
    status = wait_for(f"{site} answers", lambda: federation.site_status(site))
    counts = application.counts
    require(status["pulls"] == counts["planned"] + counts["exploit"], f"{site}: {status['pulls']} pulls, {counts}")
    ledger = federation.get(site, "/v1/ledger")
    require(ledger["spent"] == (EPSILON if ledger["releases"] else 0), f"{site}: spent {ledger['spent']}")
    require(all(one["epsilon"] == EPSILON for one in ledger["releases"]), f"{site}: {ledger}")
    return ledger


def check_outbox(federation, site, ledger=None):
    """One release an epoch: the same bytes in the outbox, in the ledger and on the wire; no reward lost in it."""
    outbox, wire = federation.outbox(site), federation.wire(site)
    for epoch, payloads in wire.items():
        require(len(payloads) == 1, f"{site}: {len(payloads)} different reports of epoch {epoch}")
        require(epoch in outbox, f"{site}: epoch {epoch} on the wire, but not in the ledger")
        require(payloads == {outbox[epoch][0]}, f"{site}: epoch {epoch}: the wire differs from the outbox")
    if ledger is not None:
        require([one["epoch"] for one in ledger["releases"]] == sorted(outbox), f"{site}: ledger and outbox differ")
    for epoch, (payload, _, _) in outbox.items():
        pulls, _, sums = sums_of(payload)
        for arm, value in sums.items():
            expected = pulls * round(federation.means[arm] * STEPS) / STEPS
            require(abs(value - expected) < 0.1, f"{site}: epoch {epoch}, arm {arm}: {value}, not {expected}")
    return outbox, wire


def check_end(federation):
    """After a finished run: everybody is of one mind, then all is compared."""
    status = wait_for("the run ends", federation.is_finished, 60)
    best = max(range(len(federation.means)), key=lambda arm: federation.means[arm])
    for application in federation.applications:
        site = application.site
        wait_for(f"{site} knows", lambda site=site: federation.phase(site) in ("decided", "finished"), 40)
        names = federation.site_status(site)["active_arms"]
        require(names == [f"arm {best}"], f"{site}: the winner is {names}")
    federation.end_applications()
    for payloads in federation.orders().values():
        require(len(payloads) == 1, "two orders of one epoch")
    ledgers = {one.site: check_status(federation, one) for one in federation.applications}
    for site, ledger in ledgers.items():
        federation.stop(site)
        outbox, _ = check_outbox(federation, site, ledger)
        require(len(outbox) == status["rounds"], f"{site}: {len(outbox)} releases in {status['rounds']} rounds")
    federation.stop("coordinator")
    return status


# ---- Tests ----

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def simulated(federation):
    (federation.folder / "means.csv").write_text(",".join(map(repr, federation.means)) + "\n")
    (federation.folder / "case.yaml").write_text(
        f"name: case\nhorizon: {federation.horizon}\nagents: {len(federation.sites)}\n"
        "environment: {kind: constant, means: means.csv}\nnetwork: {kind: star}\n"
        f"protocol: {{kind: elimination, rounds: {federation.rounds}, gap: {federation.gap}}}\n"
        f"privacy: {{mode: sound, epsilon: {EPSILON}}}\n")
    done = subprocess.run([TACIT, "run", str(federation.folder / "case.yaml"), "--json"], capture_output=True,
                          text=True, check=False)
    require(done.returncode == 0, f"tacit run: {done.stderr}")
    return json.loads(done.stdout)


@test
def undisturbed_run_is_the_simulated_run(federation_of):
    federation = federation_of([0.875, 0.5, 0.825, 0.125])
    federation.start_all()
    federation.apply()
    status = check_end(federation)
    expected = simulated(federation)
    require(status["rounds"] == expected["metrics"]["rounds"]["mean"], f"{status['rounds']} rounds")
    for arm, known in zip(status["arms"], expected["arms"]):
        require(arm["eliminated_epoch"] == (known["eliminated_epoch_mean"] or 0), f"{arm} against {known}")
    before = 0
    for epoch, payloads in sorted(federation.orders().items())[:-1]:
        active = bin(arms_of_order(next(iter(payloads)))).count("1")
        before = federation.pulls(epoch, active, before)
        require(pulls_of_order(next(iter(payloads))) == before, f"epoch {epoch}: not {before} pulls")
    for site in federation.sites:
        require(sorted(federation.wire(site)) == sorted(federation.outbox(site)), f"{site}: a report was not seen")


@test
def kill_9_of_anybody_loses_nothing(federation_of):
    kills = 300 if IS_LONG else 40
    rng = random.Random(int(os.environ.get("TACIT_TEST_SEED", "1")))
    federation = federation_of([0.875, 0.5, 0.825, 0.125])
    federation.start_all()
    federation.apply(allowance=1, batch=20)
    total = 16000
    for number in range(1, kills + 1):
        time.sleep(rng.uniform(0.05, 0.35))
        victim = "broker" if number % 9 == 0 else rng.choice(["coordinator", *federation.sites])
        if victim == "broker" and rng.random() < 0.5:
            federation.processes["broker"].send_signal(signal.SIGUSR1)  # saves its state
            time.sleep(0.03)
        federation.kill(victim)
        if victim == "broker" and rng.random() < 0.5:
            federation.wipe_broker()
        time.sleep(rng.uniform(0, 0.15))
        federation.start(victim)
        federation.allow(total ** (number / kills))
    federation.allow(math.inf)
    check_end(federation)


class Keeper(threading.Thread):
    """Starts again what a crash point killed, with a later crash point."""

    def __init__(self, federation, point, first):
        super().__init__(daemon=True)
        self.federation, self.point, self.next = federation, point, first
        self.deaths, self.trouble, self.over = 0, None, False

    def look(self):
        for name, count in self.next.items():
            code = self.federation.processes[name].poll()
            if code is None:
                continue
            require(code == -signal.SIGKILL, f"{name} ended with {code}: {self.federation.log(name)[-500:]}")
            self.deaths += 1
            self.next[name] = count + (1 if name == "coordinator" else len(self.next))
            self.federation.start(name, TACIT_CRASH_AT=f"{self.point}:{self.next[name]}")

    def run(self):
        try:
            while not self.over:
                self.look()
                time.sleep(0.01)
        except Exception as trouble:  # shown by the test
            self.trouble = trouble


def crash_everywhere(federation_of, point, sites=10, rounds=5):
    """Site i dies at the i-th passage of the point, the coordinator at the 1st, 2nd, 3rd .."""
    federation = federation_of([0.875, 0.75, 0.125], sites=sites, rounds=rounds, gap=2.0 ** (-rounds / 2))
    first = {site: number for number, site in enumerate(federation.sites, 1)} | {"coordinator": 1}
    federation.start_all([])
    for name, count in first.items():
        federation.start(name, TACIT_CRASH_AT=f"{point}:{count}")
    keeper = Keeper(federation, point, first)
    keeper.start()
    federation.apply(batch=20)
    try:
        wait_for("the run ends", lambda: keeper.trouble or federation.is_finished(), 60)
        for site in federation.sites:
            wait_for(f"{site} knows", lambda site=site: keeper.trouble or federation.phase(site) == "decided", 40)
        federation.end_applications()
    finally:
        keeper.over = True
        keeper.join(10)
    require(keeper.trouble is None, f"{keeper.trouble}")
    require(keeper.deaths >= 2 * sites, f"only {keeper.deaths} crashes")
    for name in first:
        federation.kill(name)
        federation.start(name)
    check_end(federation)


@test
def crash_before_commit_loses_nothing(federation_of):
    crash_everywhere(federation_of, "before-commit")


@test
def crash_after_commit_loses_nothing(federation_of):
    crash_everywhere(federation_of, "after-commit")


@test
def crash_after_send_loses_nothing(federation_of):
    crash_everywhere(federation_of, "after-send", sites=3, rounds=3)


@test
def sigterm_ends_cleanly_and_a_restart_goes_on(federation_of):
    federation = federation_of([0.875, 0.85, 0.8])
    federation.start_all()
    federation.apply(allowance=federation.all_to(3))
    wait_for("epoch 4", lambda: (federation.status() or {}).get("epoch") == 4)
    before = {site: federation.site_status(site) for site in federation.sites}
    for name in ["coordinator", *federation.sites]:
        federation.stop(name)
        federation.start(name)
    for site in federation.sites:
        after = wait_for(f"{site} is back", lambda site=site: federation.site_status(site))
        require(after["pulls"] >= before[site]["pulls"], f"{site}: pulls are gone")
        require(after["release_epoch"] == before[site]["release_epoch"], f"{site}: releases are gone")
    federation.allow(math.inf)
    check_end(federation)


@test
def second_process_and_damaged_state_are_refused(federation_of):
    federation = federation_of([0.875, 0.85, 0.8])
    federation.start_all()
    federation.apply(allowance=federation.all_to(2))
    wait_for("epoch 3", lambda: (federation.status() or {}).get("epoch") == 3)
    for name in ("site-0", "coordinator"):
        code, said = federation.run_to_end(name)
        holder = federation.processes[name].pid
        require(code == 2 and f"process {holder}" in said, f"second {name}: {code} {said}")
    federation.end_applications()
    for name in ("site-0", "coordinator"):
        federation.stop(name)
        damage_everything(federation, name)


def damage_everything(federation, name):
    state = federation.folder / f"state-{name}"
    whole = (state / "state.db").read_bytes()
    middle = len(whole) // 2
    for what, data in (("truncated", whole[:middle]), ("empty", b""), ("half a page", whole[:-1000]),
                       ("not a database", b"\xa5" * len(whole)),
                       ("flipped", whole[:middle] + bytes(byte ^ 255 for byte in whole[middle:middle + 4096]) +
                        whole[middle + 4096:])):
        (state / "state.db").write_bytes(data)
        code, said = federation.run_to_end(name)
        require(code == 2 and "state" in said, f"{name}, {what}: {code} {said}")
        require((state / "state.db").read_bytes() == data, f"{name}, {what}: it was written over")
    (state / "state.db").write_bytes(whole)
    federation.start(name)
    path = "/status" if name == "coordinator" else "/v1/status"
    require(wait_for(f"{name} is back", lambda: federation.get(name, path))["epoch"] == 3, "the epoch is gone")


@test
def old_copy_of_the_state_halts_and_releases_nothing(federation_of):
    federation = federation_of([0.875, 0.8, 0.75], quorum=2, deadline_s=2)
    federation.start_all()
    federation.apply(allowance=federation.all_to(1))
    old = federation.applications[2]
    wait_for("epoch 2", lambda: (federation.site_status("site-2") or {}).get("epoch") == 2)
    federation.stop("site-2")
    shutil.copytree(federation.folder / "state-site-2", federation.folder / "copy")
    federation.start("site-2")
    federation.allow(federation.all_to(3))
    wait_for("release 3", lambda: (federation.site_status("site-2") or {}).get("release_epoch", 0) >= 3)
    wait_for("epoch 4", lambda: (federation.status() or {}).get("epoch", 0) >= 4)
    seen = federation.wire("site-2")
    federation.stop("site-2")
    shutil.rmtree(federation.folder / "state-site-2")
    shutil.move(federation.folder / "copy", federation.folder / "state-site-2")
    federation.start("site-2")
    wait_for("the old copy halts", lambda: federation.phase("site-2") == "halted")
    planned = old.counts["planned"]
    federation.allow(math.inf)
    wait_for("the others go on", federation.is_finished, 40)
    federation.end_applications()
    require(old.counts["planned"] == planned, f"a halted agent handed out {old.counts['planned'] - planned} of a plan")
    require(federation.wire("site-2") == seen, "an old copy released something")
    require("halted" in federation.log("site-2"), "it halted in silence")
    last = {site["name"]: site["last_report_epoch"] for site in federation.status()["sites"]}
    require(last["site-2"] == max(seen) and last["site-0"] > max(seen), f"{last}")


# Hostile

def refused(federation):
    return federation.status()["refused"]


def unchanged(status):
    return {key: value for key, value in status.items() if key not in ("refused", "accepted")}


@test
def announcement_beyond_the_policy_is_refused(federation_of):
    federation = federation_of([0.875, 0.85, 0.8], quorum=1)
    federation.write_agent("site-0", rounds_max=3)
    more_sites = [f"site-{i}" for i in range(13)]
    cases = {"larger epsilon": {"epsilon": 1001}, "more pulls": {"horizon": 400001},
             "more sites": {"sites": more_sites}, "number of arms": {"arms": '["a", "b"]'}}
    federation.start_all(["site-0"])
    for number, (reason, values) in enumerate(cases.items()):
        name = f"coordinator-{number}"
        federation.write_coordinator(name, run=number + 2, **values)
        federation.start(name)
        wait_for(f"refused: {reason}", lambda reason=reason: reason in federation.log("site-0"))
        status = federation.site_status("site-0")
        require(status["phase"] == "refused" and status["refusal"], f"{status}")
        require(federation.get("site-0", "/v1/ledger")["spent"] == 0, "something was spent")
        federation.stop(name)
    require(federation.wire("site-0") == {}, "something was released")
    federation.start("coordinator")
    wait_for("the run within the policy is joined", lambda: federation.phase("site-0") == "exploring")
    federation.stop("coordinator")
    federation.write_coordinator("coordinator-9", run=99)
    federation.start("coordinator-9")
    wait_for("another run is refused", lambda: "another run is announced" in federation.log("site-0"))


@test
def hostile_orders_change_nothing(federation_of):
    federation = federation_of([0.875, 0.85, 0.8], quorum=1)
    federation.write_agent("site-0", rounds_max=3)
    federation.start_all(["coordinator", "site-0"])
    wait_for("the run is joined", lambda: federation.phase("site-0") == "exploring")
    federation.stop("coordinator")
    before = federation.site_status("site-0")
    coordinator = Mqtt(federation.pki, federation.port, "coordinator")
    rng = random.Random(5)
    cases = [rng.randbytes(60000), b"", b"\0" * 47, order(2, 1000, 7, run=2), order(2, 1000, 15), order(2, 1000, 0),
             order(2, 1 << 60, 7), order(4, 1000, 7), order(9999, 1000, 7), order(2, 1, 7), order(2, 1000, 7, last=1),
             order(2, 1000, 7, last=2), order(2, 1000, 7) + b"\0", order(2, 1000, 7, sender=1),
             report(0, 1, 100, 7, [1, 2, 3])]
    for number, payload in enumerate(cases):
        topic = ("down/elim", "to/site-0/elim")[number % 2]
        require(coordinator.publish(f"tacit/v1/{FEDERATION}/{topic}", payload) == 0, "the broker refused an order")
        wait_for(f"hostile order {number} is refused",
                 lambda number=number: federation.site_status("site-0")["refused_messages"] >= number + 1, 5)
    for payload in (b"", b"x" * 60000, b"\xff" * 47):
        coordinator.publish(f"tacit/v1/{FEDERATION}/to/site-0/announce", payload)
    wait_for("hostile announcements are refused",
             lambda: federation.site_status("site-0")["refused_messages"] == len(cases) + 3, 5)
    coordinator.close()
    after = federation.site_status("site-0")
    for name in ("phase", "epoch", "active_arms", "pulls", "release_epoch", "unserved"):
        require(before[name] == after[name], f"{name} was {before[name]}, is {after[name]}")
    require(federation.log("site-0").count(" refused: ") == len(cases) + 3, "not every refusal is logged")
    require(federation.get("site-0", "/v1/ledger")["spent"] == 0, "something was spent")


@test
def hostile_reports_change_nothing(federation_of):
    federation = federation_of([0.875, 0.85, 0.8])
    federation.start_all(["coordinator", "site-0", "site-1"])
    federation.apply(["site-0", "site-1"], allowance=federation.all_to(1))
    wait_for("two reports are in", lambda: (federation.status() or {}).get("reports") == 2)
    before = unchanged(federation.status())
    pulls = federation.pulls(1, 3)
    fair = [int(pulls * mean * STEPS) for mean in federation.means]
    nan = struct.unpack("<q", struct.pack("<d", math.nan))[0]
    infinite = struct.unpack("<q", struct.pack("<d", -math.inf))[0]
    replay = next(iter(federation.wire("site-0")[1]))
    cases = [random.Random(6).randbytes(60000), b"", b"\0", report(2, 2, pulls, 7, fair), report(2, 0, pulls, 7, fair),
             report(2, 9999, pulls, 7, fair), report(2, 1, pulls, 3, fair[:2]), report(2, 1, pulls, 15, [*fair, 0]),
             report(2, 1, pulls, 7, fair[:2]), report(2, 1, pulls + 1, 7, fair), report(2, 1, 0, 7, fair),
             report(2, 1, pulls, 7, [nan] * 3), report(2, 1, pulls, 7, [infinite] * 3),
             report(2, 1, pulls, 7, [1 << 62] * 3), report(2, 1, pulls, 7, fair, run=2), report(0, 1, pulls, 7, fair),
             report(HUB, 1, pulls, 7, fair), report(2, 1, pulls, 7, fair) + b"\0", replay, order(1, pulls, 7, sender=2),
             order(1, pulls, 7)]
    hostile = Mqtt(federation.pki, federation.port, "site-2")
    for number, payload in enumerate(cases):
        require(hostile.publish(f"tacit/v1/{FEDERATION}/up/site-2/elim", payload) == 0, "the broker refused it")
        wait_for(f"hostile report {number} is refused", lambda number=number: refused(federation) == number + 1, 5)
    require(unchanged(federation.status()) == before, f"{federation.status()}")
    require(federation.log("coordinator").count("a message from site-2") == len(cases), "not every refusal is logged")

    for topic in (f"{FEDERATION}/up/site-0/elim", f"{FEDERATION}/down/elim", f"{FEDERATION}/to/site-0/announce",
                  "other/up/site-2/elim"):
        code = hostile.publish(f"tacit/v1/{topic}", report(0, 1, pulls, 7, fair))
        require(code == REFUSED_BY_ACL, f"{topic}: {code}")
    try:
        hostile.publish(f"tacit/v1/{FEDERATION}/up/site-2/elim", b"\0" * 10_000_000)
        raise AssertionError("the broker took 10 MB")
    except OSError:
        pass
    hostile.close()
    require(unchanged(federation.status()) == before, f"{federation.status()}")

    federation.tap.seen = [one for one in federation.tap.seen if "/up/site-2/" not in one[0]]
    federation.allow(math.inf)
    federation.apply(["site-2"])
    federation.start("site-2")
    check_end(federation)


def connects(*arguments, **options):
    try:
        Mqtt(*arguments, **options).close()
        return True
    except (OSError, AssertionError):
        return False


@test
def wrong_certificate_cannot_connect(federation_of):
    federation = federation_of([0.875, 0.85, 0.8], strangers=["stranger"])
    other = federation.folder / "other-pki"
    federation.run("pki", "--directory", other, "site-0")
    federation.write_agent("site-0", name="wrong", pki=other)
    federation.start_all(["coordinator", "wrong"])
    require(connects(federation.pki, federation.port, "site-0"), "the right certificate cannot connect")
    require(not connects(other, federation.port, "site-0", authority=federation.pki), "another CA can connect")
    require(not connects(federation.pki, federation.port, None), "no certificate can connect")
    with socket.create_connection(("127.0.0.1", federation.port), 2) as plain:
        plain.sendall(b"\x10\x0f" + text("MQTT") + bytes([5, 2, 0, 60, 0]) + text("ab"))
        try:
            require(not plain.recv(4).startswith(b"\x20"), "the broker talks without TLS")
        except OSError:
            pass
    stranger = Mqtt(federation.pki, federation.port, "stranger")
    code = stranger.publish(f"tacit/v1/{FEDERATION}/up/stranger/elim", b"x")
    require(code == REFUSED_BY_ACL, f"a stranger may publish: {code}")
    stranger.close()
    wait_for("the agent says why", lambda: "disconnected" in federation.log("wrong") or
             "broker" in federation.log("wrong"), 5)
    require(not federation.site_status("wrong")["connected"], "it says that it is connected")


# Sites that are not there

@test
def site_that_never_comes_is_named_and_the_quorum_goes_on(federation_of):
    federation = federation_of([0.875, 0.5, 0.125], quorum=2, deadline_s=1, rounds=4, gap=0.25)
    federation.start_all(["coordinator", "site-0", "site-1"])
    federation.apply(["site-0", "site-1"])
    wait_for("an answer", federation.status)
    missing = [site["name"] for site in federation.status()["sites"] if site["asked"] and not site["reported"]]
    require("site-2" in missing, f"missing: {missing}")
    status = check_end(federation)
    last = {site["name"]: site["last_report_epoch"] for site in status["sites"]}
    require(last["site-2"] == 0 and last["site-0"] > 0, f"{last}")


@test
def without_the_quorum_the_coordinator_waits_and_says_for_whom(federation_of):
    federation = federation_of([0.875, 0.5, 0.125], deadline_s=1)
    federation.start_all(["coordinator", "site-0", "site-1"])
    federation.apply(["site-0", "site-1"])
    status = wait_for("it waits", lambda: (federation.status() or {}).get("phase") == "waiting" and federation.status())
    require([site["name"] for site in status["sites"] if not site["reported"]] == ["site-2"], f"{status['sites']}")
    require(status["reports"] == 2 and status["missing"] == 1 and status["epoch"] == 1, f"{status}")
    require("2 of the 3 sites" in federation.log("coordinator"), "not a word in the log")
    federation.kill("coordinator")
    federation.start("coordinator")
    wait_for("it waits again", lambda: (federation.status() or {}).get("phase") == "waiting")
    federation.apply(["site-2"])
    federation.start("site-2")
    check_end(federation)


@test
def broker_that_is_away_stops_no_decision(federation_of):
    federation = federation_of([0.875, 0.5, 0.825])
    federation.start_all()
    federation.apply(allowance=federation.all_to(1))
    wait_for("epoch 2", lambda: (federation.status() or {}).get("epoch") == 2)
    federation.kill("broker")
    federation.wipe_broker()
    federation.allow(math.inf)
    wait_for("decisions go on",
             lambda: all(one.counts["exploit"] > 200 for one in federation.applications), 20)
    require(federation.status()["epoch"] == 2, "a round without a broker")
    federation.start("broker")
    check_end(federation)


# Non-interference (PRIVACY.md B.7)

class Patients(Application):
    """Asks only while something is planned; the rewards are its data: a function of arm and number."""

    def __init__(self, federation, site, data):
        super().__init__(federation, site)
        self.data = data
        self.sequence = []
        self.served = {}

    def serve(self, count):
        status, hub = self.federation.site_status(self.site), self.federation.status()
        count = min(count, status["unserved"]) if status and status["phase"] == "exploring" else 0
        is_turn = hub and hub["epoch"] == status["epoch"] and hub["reports"] == self.federation.sites.index(self.site)
        if count == 0 or not is_turn:  # in turn: who reports last is not left to the scheduler
            return False
        decisions = self.ask("/v1/decisions/batch", {"requests": [{}] * count})["decisions"]
        rewards = []
        for one in decisions:
            self.sequence.append((one["id"], one["arm"], one["kind"]))
            number = self.served[one["arm"]] = self.served.get(one["arm"], -1) + 1
            rewards.append({"id": one["id"], "reward": self.data(one["arm"], number)})
        answers = self.ask("/v1/rewards/batch", {"rewards": rewards})["rewards"]
        self.sequence.append([one["status"] for one in answers])
        return True


def data_of(site, salt):
    """Rewards in 8192nds. Salt 1: other rewards altogether, some of them out of range."""
    def value(arm, number):
        rng = random.Random(f"{site} {salt} {arm} {number}")
        draw = rng.randrange(1025) / 1024
        if salt == 0:
            return (7 * draw + (arm == 1)) / 8
        return rng.choice([draw, 1 - draw, 7.5, -3.25, 1e300]) if arm < 2 else draw / 4
    return value


def words_below(*pairs):
    """Entropy from which tacit_entropy_below draws the value of each (bound, value)."""
    return b"".join(struct.pack("<Q", (2 * value + 1) * (1 << 64) // (2 * bound)) for bound, value in pairs)


def words_of_noise(noise):
    """Entropy from which the sampler (src/privacy/samplers.c) draws this noise, of scale STEPS."""
    heads, tails = ((1, 0), (2, 0), (3, 1)), ((1, 0), (2, 1))
    scales, rest = divmod(abs(noise), STEPS)
    return words_below((STEPS, rest), (STEPS, STEPS - 1), *heads * scales, *tails, (2, int(noise < 0)))


def write_tape(path, reports, data):
    """The noise with which these data give these reports."""
    tape, before, pulls_before = b"", {}, 0
    for _, payload in sorted(reports.items()):
        pulls, _, sums = sums_of(payload)
        for arm, value in sums.items():
            exact = sum(round(min(max(data(arm, number), 0), 1) * STEPS) for number in range(pulls_before, pulls))
            tape += words_of_noise(round((value - before.get(arm, 0)) * STEPS) - exact)
        before, pulls_before = sums, pulls
    path.write_bytes(tape)


def everything_shown(federation, applications):
    """All that leaves a site, or that somebody without access to its data may read."""
    shown = {}
    for topic, payload in federation.tap.seen:
        shown.setdefault(topic, []).append(payload)
    for one in applications:
        shown[one.site, "pulls"] = one.sequence
        shown[one.site, "status"] = federation.site_status(one.site)
        shown[one.site, "ledger"] = federation.get(one.site, "/v1/ledger")
    shown["status"] = federation.status()
    for name in ("coordinator", *federation.sites):
        shown[name, "log"] = [line[24:] for line in federation.log(name).splitlines()]
    return shown


def shown_with(federation, salt, tapes):
    federation.start_all(["coordinator"])
    wait_for("the order is out", federation.orders)
    applications = [Patients(federation, site, data_of(site, salt)) for site in federation.sites]
    for site, application in zip(federation.sites, applications):
        (federation.folder / f"{site}.decisions").write_bytes(random.Random(site).randbytes(1 << 20))
        if tapes:
            write_tape(federation.folder / f"{site}.noise", tapes[site], data_of(site, salt))
        federation.start(site, TACIT_TEST_TAPE=str(federation.folder / site))
        federation.applications.append(application)
        application.start()
    wait_for("the run ends", federation.is_finished, 30)
    for site in federation.sites:
        wait_for(f"{site} knows", lambda site=site: federation.phase(site) == "decided")
    time.sleep(0.1)
    federation.end_applications()
    shown = everything_shown(federation, applications)
    for site in federation.sites:
        federation.stop(site)
    return shown, {site: {epoch: row[0] for epoch, row in federation.outbox(site).items()} for site in federation.sites}


@test
def hooked_noise_makes_other_data_look_the_same_everywhere(federation_of):
    shape = {"epsilon": 1.0, "rounds": 4, "gap": 0.25}
    first, reports = shown_with(federation_of([0, 0, 0], **shape), 0, None)
    second, again = shown_with(federation_of([0, 0, 0], **shape), 1, reports)
    require(reports == again, "the tape did not do its work")
    require(len(reports["site-0"]) >= 2, "hardly a run")
    for name in first.keys() | second.keys():
        require(first.get(name) == second.get(name), f"{name}: {first.get(name)} against {second.get(name)}")


# ---- Running ----

def run_one(function):
    made = []

    def federation_of(*arguments, **options):
        made.append(Federation(*arguments, **options))
        return made[-1]

    failed = False
    try:
        function(federation_of)
    except Exception:
        failed = True
        traceback.print_exc(file=sys.stdout)
        for one in made:
            print(f"see {one.folder}")
    finally:
        for one in made:
            one.close(failed)
    return not failed


def main():
    wanted = sys.argv[1:]
    failed = 0
    for function in TESTS:
        name = function.__name__
        if wanted and name not in wanted:
            continue
        if name.startswith(("crash_", "hooked_")) and not TACIT_TEST:
            print(f"[  SKIPPED ] {name}", flush=True)
            continue
        started = time.monotonic()
        is_good = run_one(function)
        failed += not is_good
        print(f"[ {'      OK' if is_good else ' FAILED '} ] {name}", flush=True)
        print(f"{time.monotonic() - started:.1f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
