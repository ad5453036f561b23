"""What the live tests stand on: a federation on loopback (broker, coordinator, agents; mutual TLS) with a tap at the
broker, applications that ask and reward, and what holds in every run. Each arm brings always the same reward and
epsilon is large, so that a single reward that was lost or counted twice shows in the sums.

A test is a function with @test; main() runs those that are named, or all.
$TACIT_PROGRAM; $TACIT_TEST_PROGRAM: the same with test hooks; TACIT_TEST_LONG=1: longer, more, and slower tests.
"""
import html
import http.client
import math
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import wire
from wire import STEPS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/live"))
import federation  # noqa: E402
from federation import UnixConnection, call  # noqa: E402

TACIT = os.path.abspath(os.environ["TACIT_PROGRAM"])
TACIT_TEST = os.environ.get("TACIT_TEST_PROGRAM")
IS_LONG = os.environ.get("TACIT_TEST_LONG") == "1"
EPSILON = 1000.0  # noise of about a thousandth of a reward
TRIES = int(os.environ.get("TACIT_TEST_TRIES", "1"))  # of each attack
PATIENCE = 3  # limits are meant for a machine that has nothing else to do ..
PATIENCE_S = 60  # .. and none is shorter: what is right in the end is not wrong for being late
LINES_TOLD = 12  # of each log, when a test fails
SANITIZER_WORDS = ("Sanitizer", "runtime error:")


class Skipped(Exception):
    """What the test needs is not installed here."""


def require(condition, text):
    if not condition:
        raise AssertionError(text)


def wait_for(what, condition, seconds=0):
    seconds = max(PATIENCE_S, PATIENCE * seconds)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.04)
    raise AssertionError(f"after {seconds} s still not: {what}")


# ---- What is shown ----

SAMPLE = re.compile(r'([a-z_][a-z0-9_]*)(?:\{([a-z_]+)="([^"\\\n]*)"\})? (-?[0-9.]+(?:e[+-][0-9]+)?)')


def metrics_of(text):
    """{name: {label or None: value}} of Prometheus' text format, held to it: each metric has one HELP and one TYPE, in
    this order, before its samples; its samples stand together; counters end with _total; no sample comes twice."""
    found, kind, name = {}, None, None
    require(text.endswith("\n"), "the last line does not end")
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            name, help_text = line[7:].split(" ", 1)
            require(name not in found, f"two HELPs of {name}")
            require(help_text.strip() == help_text != "" and kind != "", f"{line}, after a HELP without TYPE")
            found[name], kind = {}, ""
        elif line.startswith("# TYPE "):
            require(line[7:].split(" ")[0] == name and kind == "", f"{line}, not after its HELP")
            kind = line[7:].split(" ")[1]
            require(kind == ("counter" if name.endswith("_total") else "gauge"), line)
        else:
            parts = SAMPLE.fullmatch(line)
            require(parts is not None and parts[1] == name and kind, f"{line}: no sample of {name}")
            label = None if parts[2] is None else (parts[2], parts[3])
            require(label not in found[name], f"{line}: twice")
            found[name][label] = float(parts[4])
    require(all(found.values()), f"metrics without samples: {[one for one in found if not found[one]]}")
    return found


def text_at(path, socket_path):
    connection = UnixConnection(socket_path)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def check_answers(trial, estimates=False, intervals=False, members=()):
    """Metrics of all that run are right in form, and /v1/result of each site says what its family knows: estimates,
    intervals, further members."""
    for name, process in trial.processes.items():
        if name == "broker" or process.poll() is not None:
            continue
        metrics = metrics_of(text_at("/metrics", trial.socket_of(name)))
        role = "hub" if name == "coordinator" else "agent"
        require(f"tacit_{role}_state" in metrics and f"tacit_{role}_connected" in metrics, f"{sorted(metrics)}")
        if role == "agent":
            check_result(trial, trial.get(name, "/v1/result"), estimates, intervals, members)


def check_result(trial, result, estimates, intervals, members):
    plain = {"federation", "site", "decided", "winner", "since", "confidence", "no_estimates", "arms"}
    require(set(result) == plain | set(members), f"{sorted(result)}, not {sorted(plain | set(members))}")
    require(sorted(arm["name"] for arm in result["arms"]) == sorted(trial.arms), f"{result}")
    ranks = [arm["rank"] for arm in result["arms"] if arm["in"]]
    require(ranks == list(range(1, len(ranks) + 1)), f"{result}")
    require(all(arm["rank"] is None for arm in result["arms"] if not arm["in"]), f"{result}")
    require(result["decided"] == (result["winner"] is not None), f"{result}")
    require((result["confidence"] is not None) == intervals, f"{result}")
    require((result["no_estimates"] is None) == (estimates or intervals), f"{result}")
    for arm in result["arms"]:
        require((arm["estimate"] is not None) == estimates, f"{arm}")
        require((arm["lower"] is not None) == (arm["upper"] is not None) == intervals, f"{arm}")


def control(federation, name, *words, code=0):
    """As an operator says it; what is answered."""
    done = subprocess.run([TACIT, "control", str(federation.folder / f"state-{name}"), *words], capture_output=True, text=True,
                          timeout=120, check=False)
    require(done.returncode == code, f"{words}: {done.returncode} {done.stdout} {done.stderr}")
    return done.stdout + done.stderr


# ---- A federation ----

def documented_status():
    """Members of /v1/status in docs/openapi.yaml, by their indentation: no YAML reader is on every machine."""
    lines = iter((pathlib.Path(__file__).resolve().parents[2] / "docs/openapi.yaml").read_text().splitlines())
    for line in lines:
        if line.strip() == "operationId: status":
            break
    members = set()
    for line in lines:
        if line.startswith("  /"):
            return members
        if line.startswith(18 * " ") and line[18] not in " -":
            members.add(line.split(":")[0].strip())
    raise AssertionError("docs/openapi.yaml: no status")


def documented_words(mark):
    """The first enum behind this in docs/openapi.yaml."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs/openapi.yaml").read_text()
    words = re.search(mark + r".*?enum:\s*\[(.*?)\]", text, re.S)[1]
    return {word.strip().strip('"') for word in words.split(",")}


def hears_sigterm(process):
    """Is it caught, or blocked for a signalfd?"""
    try:
        lines = pathlib.Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return True
    masks = [int(line.split()[1], 16) for line in lines if line.startswith(("SigBlk:", "SigCgt:"))]
    return any(mask >> (signal.SIGTERM - 1) & 1 for mask in masks)


class Tested(federation.Federation):
    """Whatever its protocol."""
    applications, tap = (), None

    def kill(self, name):
        self.processes[name].kill()
        require(self.processes[name].wait(PATIENCE_S) == -signal.SIGKILL, f"{name} ended before the kill")

    def restart(self, name, **hooks):
        """Killed, and started in the same breath."""
        self.kill(name)
        self.start(name, **hooks)

    def stop(self, name):
        """By SIGTERM, once it would hear it; must end with 0."""
        wait_for(f"{name} hears signals", lambda: self.processes[name].poll() is not None or hears_sigterm(self.processes[name].pid), 30)
        self.processes[name].terminate()
        code = self.processes[name].wait(PATIENCE_S)
        require(code == 0, f"{name} ended with {code} on SIGTERM: {self.log(name)[-500:]}")

    def lose(self, name):
        self.kill(name)
        shutil.rmtree(self.folder / f"state-{name}")

    def start_with(self, name, *words):
        self.start(name, [*self.words_of(name), *words])

    def run_to_end(self, name, *more, words=None):
        """Starts a daemon that ought to end by itself: its code and what it said."""
        try:
            done = subprocess.run([*(words or self.words_of(name)), *more], capture_output=True, text=True, timeout=PATIENCE_S,
                                  check=False)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{name} started where it must refuse to") from None
        return done.returncode, done.stderr

    def write_access(self):
        """What the broker allows, by the coordinator's file."""
        self.run_tacit("broker-config", "--directory", self.folder / "broker", "--coordinator", self.folder / "coordinator.yaml", "--pki",
                       self.pki, "--port", self.port, "--persistence", self.folder / "persistence")

    def told(self, name, *words):
        """Exit code of `tacit status`, and what it says."""
        done = subprocess.run([TACIT, "status", *words, "--config", self.folder / f"{name}.yaml"], capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)
        return done.returncode, done.stdout

    def back_up(self, name):
        """Of a daemon that runs, and goes on."""
        self.stop(name)
        shutil.copytree(self.folder / f"state-{name}", self.folder / f"backup-{name}")
        self.start(name)

    def put_back(self, name):
        """The state that was backed up; it is not running."""
        shutil.rmtree(self.folder / f"state-{name}", ignore_errors=True)
        shutil.copytree(self.folder / f"backup-{name}", self.folder / f"state-{name}")

    def close(self):
        for application in self.applications:
            application.aborted = True
        if self.tap is not None:
            self.tap.over = True
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
                process.wait(PATIENCE_S)

    def check_sanitizers(self):
        for path in self.folder.glob("*.log"):
            said = path.read_text(encoding="utf-8", errors="replace")
            require(not any(word in said for word in SANITIZER_WORDS), f"a sanitizer speaks in {path}")

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def phase(self, site):
        status = self.site_status(site)
        return status and status["phase"]

    def are_in(self, epoch, sites=None):
        return all((self.site_status(site) or {"epoch": 0})["epoch"] >= epoch for site in sites or self.sites)

    def has_decided(self, site):
        return self.phase(site) in ("decided", "finished")

    def wait_for_sites(self, what, condition, seconds=0, sites=None):
        """condition(site), of all of them."""
        for site in sites or self.sites:
            wait_for(f"{site} {what}", lambda site=site: condition(site), seconds)

    def wait_for_log(self, name, text):
        """What a daemon writes comes after what it shows."""
        wait_for(f"the log of {name} says '{text}'", lambda: text in self.log(name))

    def request(self, name, method, path, body=None):
        """Code and JSON of the answer."""
        connection = UnixConnection(self.socket_of(name))
        try:
            return call(connection, method, path, body)
        finally:
            connection.close()

    def text(self, name, path):
        """What a daemon answers to GET."""
        return text_at(path, self.socket_of(name))


class Federation(Tested):
    documented = documented_status()
    documented_causes, documented_waits = documented_words("One word a cause"), documented_words("What the round waits for")
    protocol = "elimination"  # which files need not name
    may_be_late = False  # rewards that an application gives at once
    runs = None  # what sites' files say of next ones

    def __init__(self, means, sites=3, quorum=None, deadline_s=60, horizon=400000, rounds=12, gap=2.0 ** -6,
                 strangers=(), epsilon=EPSILON, participation=1.0, runs=None):
        super().__init__(TACIT, pathlib.Path(tempfile.mkdtemp(prefix="tacit-fed-")), "trial",
                         [f"site-{i}" for i in range(sites)], [f"arm {i}" for i in range(len(means))])
        self.means, self.epsilon, self.horizon = means, epsilon, horizon
        self.rounds, self.gap, self.participation, self.runs = rounds, gap, participation, runs
        self.quorum, self.deadline_s = quorum or sites, deadline_s
        self.persistence = self.folder / "persistence"
        self.applications = []
        self.persistence.mkdir()
        self.make_certificates("tap", *strangers)
        self.write_broker("--persistence", self.persistence)
        self.allow_access("tap", "read tacit/v1/#")
        self.write_coordinator(self.run_section())
        for site in self.sites:
            self.write_agent(site, self.policy())

    def site_status(self, site):
        status = super().site_status(site)
        unknown = set(status or {}) - self.documented  # None: it does not answer yet
        require(not unknown, f"docs/openapi.yaml does not name {unknown} of /v1/status")
        said = {one["cause"] for one in (status or {}).get("causes", [])} - self.documented_causes
        require(not said, f"docs/openapi.yaml does not name the cause {said}")
        waits = str((status or {"waits_for": {"for": None}})["waits_for"]["for"] or "null")
        require(waits in self.documented_waits, f"docs/openapi.yaml does not name the wait for {waits}")
        return status

    def allow_access(self, user, topic):
        with open(self.folder / "broker/tacit.acl", "a", encoding="utf-8") as file:
            file.write(f"\nuser {user}\ntopic {topic}\n")

    def run_section(self, **values):
        """What stands under `run` in the coordinator's file."""
        return {"id": 1, "horizon": self.horizon, "epsilon": self.epsilon, "rounds": self.rounds, "gap": self.gap,
                "quorum": self.quorum, "deadline_s": self.deadline_s, "participation": self.participation, **values}

    def policy(self, **values):
        return {"epsilon": self.epsilon, "budget": self.epsilon, "range": [0, 1], "agents_max": 12, "rounds_max": 40,
                "pulls_max": self.horizon, **values}

    def named(self):
        return {} if self.protocol == Federation.protocol else {"protocol": self.protocol}

    def write_coordinator(self, *words, **more):
        super().write_coordinator(*words, **{**self.named(), **more})

    def write_agent(self, *words, **more):
        runs = {"runs": self.runs} if self.runs else {}
        super().write_agent(*words, **{**self.named(), **runs, **more})

    def write_network(self, network):
        super().write_network(network, "--persistence", self.persistence)
        self.allow_access("tap", "read tacit/v1/#")

    def play_over(self, network, without=(), **values):
        """Instead of a star. Who judges for himself waits for every one: only a hybrid has a quorum."""
        run = self.run_section(**values)
        for key in (*without, *(() if network["kind"] == "hybrid" else ("quorum",))):
            del run[key]
        self.write_coordinator(run)
        self.write_network(network)

    # Processes

    def start(self, name, words=None, **hooks):
        """hooks: TACIT_..., for the program that has hooks; and other variables of its environment."""
        words = words or self.words_of(name)
        is_hooked = any(key.startswith("TACIT_") for key in hooks)
        super().start(name, [TACIT_TEST, *words[1:]] if is_hooked else words, **hooks)
        if name == "broker":
            wait_for("the broker listens", self.broker_listens)

    def broker_listens(self):
        require(self.processes["broker"].poll() is None, "the broker ended: " + self.log("broker")[-500:])
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def start_all(self, names=None):
        self.start("broker")
        self.tap = wire.Tap(self.context("tap"), self.port)
        self.tap.start()
        require(self.tap.is_ready.wait(PATIENCE_S), "the tap does not come up")
        for name in ["coordinator", *self.sites] if names is None else names:
            self.start(name)

    def context(self, name, **options):
        return wire.tls_context(self.pki, name, **options)

    def client(self, name):
        """Of the daemons' names: it has shown the key that its words are checked with."""
        client = wire.Mqtt(self.context(name), self.port)
        if name in (*self.sites, "coordinator"):
            client.publish(self.topic(f"key/{name}"), self.certificate(name), retain=True)
        return client

    def certificate(self, name):
        """For signing, as it is shown."""
        return ssl.PEM_cert_to_DER_cert((self.pki / f"{name}.sign.crt").read_text())

    def topic(self, rest):
        return f"tacit/v1/{self.name}/{rest}"

    def agreement(self):
        """The digest that was announced last."""
        return self.announced()[6]

    def run(self):
        """The run that was announced last, in 16 bytes."""
        return self.announced()[5]

    def announced(self):
        return next(wire.fields(payload) for topic, payload in reversed(self.tap.messages)
                    if topic.endswith("/announce") and 6 in wire.fields(payload))

    def message(self, rest, body, signer=None, **options):
        """A body in the envelope that belongs to this topic, signed by whoever the topic says, or by `signer`."""
        way, first, second = (rest.split("/") + [""])[:3]
        sender, receiver = {"up": (first, "coordinator"), "down": ("coordinator", ""), "to": ("coordinator", first),
                            "peer": (first, second)}[way]
        made = wire.message(self.name, sender, receiver, body,
                           **{"agreement": self.agreement(), "run": self.run(), **options})
        return self.signed(made, signer or sender, rest)

    def signed(self, payload, signer, rest):
        return wire.signed(payload, self.pki / f"{signer}.sign.key", self.topic(rest))

    def start_coordinator_of_run(self, nonce):
        """The run that is announced is then the same in every state: what hangs on it can be compared."""
        (self.folder / "run.keys").write_bytes(nonce.to_bytes(8, "little"))
        self.start("coordinator", TACIT_TEST_TAPE=str(self.folder / "run"))

    def wipe_broker(self):
        for file in self.persistence.iterdir():
            file.unlink()

    # Looking

    def is_in_phase(self, phase):
        status = self.status()
        return status if status and status["phase"] == phase else None

    def is_finished(self):
        return self.is_in_phase("finished")

    def is_at(self, epoch):
        status = self.status()
        return status if status and status["epoch"] >= epoch else None

    def has_joined(self, site):
        return self.phase(site) not in (None, "waiting for an announcement", "waiting for consent", "refused")

    def outbox(self, site):
        """{epoch: (bytes, nano-epsilon, acknowledged)} of an agent that was stopped."""
        with sqlite3.connect(f"file:{self.folder}/state-{site}/state.db?mode=ro", uri=True) as database:
            return {number: (data, epsilon, acknowledged) for number, data, epsilon, acknowledged in
                    database.execute("SELECT number, bytes, epsilon_nano, acknowledged FROM releases")}

    def reports(self, site):
        """{epoch: set of reports} as seen at the broker."""
        return self.by_epoch(self.topic(f"up/{site}/{self.protocol}"), wire.is_report)

    def orders(self):
        """{epoch: set of broadcast orders}."""
        return self.by_epoch(self.topic(f"down/{self.protocol}"), wire.is_order)

    def by_epoch(self, wanted, is_kind):
        found = {}
        for topic, payload in list(self.tap.seen):
            if topic == wanted and is_kind(payload):
                found.setdefault(wire.epoch_of(payload), set()).add(payload)
        return found

    def refused_by(self, name):
        return self.status()["refused"] if name == "coordinator" else self.site_status(name)["refused_messages"]

    def expect_refusals(self, name, client, messages):
        """(what is after the federation in the topic, payload): each is refused before the next one is sent."""
        known = self.refused_by(name)
        for number, (rest, payload) in enumerate(messages, 1):
            require(client.publish(self.topic(rest), payload) == 0, f"the broker refuses message {number}")
            wait_for(f"message {number} is refused", lambda number=number: self.refused_by(name) >= known + number)

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

    def application_of(self, site):
        return next(one for one in self.applications if one.site == site)

    def await_plan(self, site, count=1):
        wait_for(f"{site} has a plan", lambda: (self.site_status(site) or {"unserved": 0})["unserved"] >= count, 120)

    def open_decisions(self, site, count):
        """Asked for, and not rewarded yet."""
        self.await_plan(site, count)
        keys = [{"key": f"open {i}"} for i in range(count)]
        return self.application_of(site).ask("/v1/decisions/batch", {"requests": keys})["decisions"]

    def allow(self, count):
        for application in self.applications:
            application.allowance = count

    def play_rounds(self, count, **options):
        """Starts all, and plays so many rounds, while no arm is out."""
        self.start_all()
        self.apply(allowance=self.all_to(count), **options)
        wait_for(f"all sites are in epoch {count + 1}", lambda: self.are_in(count + 1), 120)

    def play_to(self, epoch, step):
        """So many pulls at a time, until all sites are in this epoch."""
        def is_there():
            self.allow(self.applications[0].allowance + step)
            return self.are_in(epoch)
        wait_for(f"all sites are in epoch {epoch}", is_there, 120)

    def end_applications(self):
        for application in self.applications:
            application.over = True
        for application in self.applications:
            application.join(30)
            require(not application.is_alive(), f"the application of {application.site} hangs")
            require(application.trouble is None, f"{application.site}: {application.trouble}")

    def finish(self, winner="arm 0", seconds=120):
        """The run ends, and all sites know; what the coordinator says then."""
        status = wait_for("the run ends", self.is_finished, seconds)
        require(status["winner"] == winner, f"the winner is {status['winner']}")
        self.wait_for_sites("knows", self.has_decided, seconds)
        self.end_applications()
        return status


class Two(Federation):
    """With a helper. epsilon is large, so that totals are what the sites' rewards add up to."""

    def __init__(self, means, confidence=0.95, trust=None, sites_min=2, protocol="phased-index", **options):
        self.confidence, self.more, self.protocol = confidence, trust or {}, protocol
        super().__init__(means, strangers=["helper"], **options)
        self.write_helper(self.epsilon, sites_min=sites_min)
        self.allow_access("tap", "read tacit/v1/#")

    def run_section(self, **values):
        confidence = {"confidence": self.confidence} if self.confidence else {}
        if self.protocol == "votes":
            confidence = {"sharing": "sums", "accuracy": 0.02, "delta": 1 - self.confidence}
        bounds = {"bounds": "exact"} if self.protocol == "elimination" else {}
        return {"id": 1, "horizon": self.horizon, "epsilon": self.epsilon, "quorum": self.quorum,
                "deadline_s": self.deadline_s, **bounds, **confidence, **self.trust(**self.more), **values}

    def policy(self, **values):
        return super().policy(**{"rounds_max": 4000, **self.trust(**self.more), **values})

    def write_helper(self, epsilon, **more):
        super().write_helper(epsilon, **more)
        self.write_access()

    def begin(self, **options):
        self.start_all()
        self.start("helper")
        shown = self.agree()
        self.apply(**options)
        return shown

    def helper(self):
        return self.get("helper", "/status")

    def page_of_helper(self):
        """As it is read: without marks."""
        return html.unescape(re.sub(r"<[^>]*>", " ", text_at("/", self.socket_of("helper"))))

    def offline(self, *words):
        return subprocess.run([TACIT, "helper", *map(str, words)], capture_output=True, timeout=60, check=False)


def date(federation, name, first, last):
    """Gives the key of `name` a certificate that is good between these times (YYYYMMDDhhmmssZ)."""
    folder = federation.folder / "ca"
    folder.mkdir(exist_ok=True)
    (folder / "index").touch()
    (folder / "ca.cnf").write_text("[ca]\ndefault_ca=d\n[d]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\n"
                                   "unique_subject=no\npolicy=p\n[p]\ncommonName=supplied\n")
    key, csr, crt, authority = (str(federation.pki / one) for one in (f"{name}.key", f"{name}.csr", f"{name}.crt", "ca"))
    for words in (["req", "-new", "-key", key, "-subj", f"/CN={name}", "-out", csr],
                  ["ca", "-batch", "-notext", "-config", "ca.cnf", "-in", csr, "-out", crt, "-cert", f"{authority}.crt",
                   "-keyfile", f"{authority}.key", "-startdate", first, "-enddate", last]):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def expire(federation, name):
    """Gives the key of `name` a certificate that has ended."""
    date(federation, name, "20200101000000Z", "20200102000000Z")


class Application(threading.Thread):
    """Asks, plays, rewards; asks again with the same keys until it is answered, whoever dies in between."""

    def __init__(self, trial, site, allowance=math.inf, batch=100, prefix=""):
        super().__init__(daemon=True)
        self.prefix = prefix  # of its keys
        self.federation, self.site, self.allowance, self.batch = trial, site, allowance, batch
        self.counts = {"planned": 0, "exploit": 0, "committed": 0}  # decisions whose reward was acknowledged
        self.asked = 0
        self.over = self.aborted = False
        self.trouble = None
        self.connection = None

    def ask(self, path, body):
        deadline = time.monotonic() + 120  # a site that has died answers nobody
        while not self.aborted:
            require(time.monotonic() < deadline, f"{self.site} does not answer {path}")
            try:
                if self.connection is None:
                    self.connection = UnixConnection(self.federation.socket_of(self.site))
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
        keys = [{"key": f"{self.prefix}{self.asked + i}"} for i in range(count)]
        self.asked += count
        decisions = self.ask("/v1/decisions/batch", {"requests": keys})["decisions"]
        rewards = [{"id": one["id"], "reward": self.federation.means[one["arm"]]} for one in decisions]
        answers = self.ask("/v1/rewards/batch", {"rewards": rewards})["rewards"]
        for decision, answer in zip(decisions, answers, strict=True):
            is_late = self.federation.may_be_late and answer.get("status") == "late"
            require(is_late or answer.get("status") in ("accepted", "repeated"), f"{decision}: {answer}")
            if decision["kind"] != "early" and not is_late:  # of a site that has lost its state, and its run: they count nowhere
                self.counts[decision["kind"]] += 1
        return any(one["kind"] == "planned" for one in decisions)

    def run(self):
        try:
            wait_for(f"{self.site} joins",
                     lambda: self.over or self.aborted or self.federation.has_joined(self.site), 60)
            is_learning = True
            while not self.over and not self.aborted:
                count = min(self.batch if is_learning else 1, self.allowance - self.counts["planned"])
                is_learning = count >= 1 and self.serve(int(count))
                if not is_learning:
                    time.sleep(0.04)  # nothing to learn just now: one at a time asks whether there is
        except InterruptedError:
            pass
        except Exception as trouble:  # shown by the test
            self.trouble = trouble
            print(f"-- the application of {self.site} stopped: {trouble!r}", flush=True)


# ---- What holds in every run ----

def check_status(trial, application):
    """Every acknowledged reward is counted, once, up to T; the ledger is the outbox."""
    site = application.site
    status = wait_for(f"{site} answers", lambda: trial.site_status(site))
    counts = application.counts
    pulls = min(sum(counts.values()), trial.horizon)
    require(status["pulls"] == pulls, f"{site}: {status['pulls']} pulls, {counts}")
    ledger = trial.get(site, "/v1/ledger")
    spent = {trial.epsilon} if ledger["releases"] else {0, trial.epsilon}  # charged when drawn, asked for or not
    require(ledger["spent"] in spent, f"{site}: spent {ledger['spent']}")
    require(all(one["epsilon"] == trial.epsilon for one in ledger["releases"]), f"{site}: {ledger}")
    return ledger


def check_sums(trial, site, payload):
    """Each reward of its pulls is in this release, once."""
    pulls, sums = wire.sums_of(payload)
    for arm, value in sums.items():
        expected = pulls * round(trial.means[arm] * STEPS) / STEPS
        require(abs(value - expected) < 0.1, f"{site}: after {pulls} pulls, arm {arm}: {value}, not {expected}")


def check_outbox(trial, site, ledger=None):
    """One release an epoch: the same bytes in the outbox, in the ledger and on the wire; no reward lost in it."""
    outbox, seen = trial.outbox(site), trial.reports(site)
    for epoch, payloads in seen.items():
        require(len(payloads) == 1, f"{site}: {len(payloads)} different reports of epoch {epoch}")
        require(epoch in outbox, f"{site}: epoch {epoch} on the wire, but not in the ledger")
        require(payloads == {outbox[epoch][0]}, f"{site}: epoch {epoch}: the wire differs from the outbox")
    if ledger is not None:
        require([one["epoch"] for one in ledger["releases"]] == sorted(outbox), f"{site}: ledger and outbox differ")
    for payload, _, _ in outbox.values():
        check_sums(trial, site, payload)
    return outbox


def check_end(trial, is_whole=True):
    """After a finished run: everybody is of one mind, then all is compared. is_whole: every site took part in every
    round."""
    status = wait_for("the run ends", trial.is_finished, 60)
    best = max(range(len(trial.means)), key=lambda arm: trial.means[arm])
    for application in trial.applications:
        site = application.site
        wait_for(f"{site} knows", lambda site=site: trial.has_decided(site), 40)
        names = trial.site_status(site)["active_arms"]
        require(names == [f"arm {best}"], f"{site}: the winner is {names}")
    trial.end_applications()
    for payloads in trial.orders().values():
        require(len(payloads) == 1, "two orders of one epoch")
    ledgers = {one.site: check_status(trial, one) for one in trial.applications}
    for site, ledger in ledgers.items():
        trial.stop(site)
        outbox = check_outbox(trial, site, ledger)
        require(not is_whole or len(outbox) == status["rounds"],
                f"{site}: {len(outbox)} releases in {status['rounds']} rounds")
    trial.stop("coordinator")
    return status


# ---- Accidents, whatever the protocol ----

def kill_anybody(federation, kills, pulls, everybody=None):
    """Of a federation that plays: each in turn, at any moment; within so many pulls of a site, so that it happens in all
    rounds."""
    rng = seeded()
    everybody = everybody or ["broker", "coordinator", *federation.sites]
    for number in range(1, kills + 1):
        time.sleep(rng.uniform(0.05, 0.35))
        victim = everybody[(number - 1) % len(everybody)]
        if victim == "broker" and rng.random() < 0.5:
            federation.processes["broker"].send_signal(signal.SIGUSR1)  # saves its state
            time.sleep(0.03)
        federation.kill(victim)
        if victim == "broker" and rng.random() < 0.5:
            federation.wipe_broker()
        time.sleep(rng.uniform(0, 0.15))
        federation.start(victim)
        federation.allow(pulls ** (number / kills))
    federation.allow(math.inf)


class Keeper(threading.Thread):
    """Starts with a crash point, one for all or each its own, and starts again what it killed, with a later one: as long as this
    context lasts."""

    def __init__(self, federation, point, first, later):
        super().__init__(daemon=True)
        self.federation, self.later, self.next = federation, later, first
        self.points = dict.fromkeys(first, point) if isinstance(point, str) else point
        self.deaths, self.trouble, self.over = 0, None, False

    def begin(self, name):
        self.federation.start(name, TACIT_CRASH_AT=f"{self.points[name]}:{self.next[name]}")

    def look(self):
        for name, count in self.next.items():
            code = self.federation.processes[name].poll()
            if code is None:
                continue
            require(code == -signal.SIGKILL, f"{name} ended with {code}: {self.federation.log(name)[-500:]}")
            self.deaths += 1
            self.next[name] = self.later(name, count)
            self.begin(name)

    def run(self):
        try:
            while not self.over:
                self.look()
                time.sleep(0.01)
        except Exception as trouble:  # shown by the test
            self.trouble = trouble

    def __enter__(self):
        for name in self.next:
            if name in self.federation.processes:
                self.federation.kill(name)
            self.begin(name)
        self.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.join(10)
        require(self.trouble is None, f"{self.trouble}")


def crash_everywhere(federation, point, first, later, least):
    """Each dies at its first passage of the point, {name: count}, and then at later ones: so many deaths in all at least.
    The run ends all the same; whether it is in order is the caller's to see."""
    federation.start_all([])
    with Keeper(federation, point, first, later) as keeper:
        federation.apply(batch=20)
        wait_for("the run ends", lambda: keeper.trouble or federation.is_finished(), 60)
        federation.wait_for_sites("knows", lambda site: keeper.trouble or federation.phase(site) == "decided", 40)
        federation.end_applications()
    require(keeper.deaths >= least, f"only {keeper.deaths} crashes at {point}")
    for name in first:
        federation.restart(name)


# ---- Running ----

TESTS = []


def test(function):
    """Those of a module that another one imports are its own."""
    if function.__module__ == "__main__":
        TESTS.append(function)
    return function


def seeded():
    """Another run of a random test: TACIT_TEST_SEED."""
    return random.Random(int(os.environ.get("TACIT_TEST_SEED", "1")))


def tell(one):
    """What a test that failed leaves for its reader, who may have nothing else: who lives, what it says of itself, and
    its last words."""
    for name, process in sorted(one.processes.items()):
        code = process.poll()
        print(f"-- {name}: " + ("runs" if code is None else f"ended with {code}"))
        try:
            status = one.status() if name == "coordinator" else one.site_status(name) if name in one.sites else ""
        except Exception as trouble:  # perhaps it is what failed
            status = trouble
        print(f"   {status}")
        said = one.log(name) if (one.folder / f"{name}.log").exists() else ""  # a copy logs elsewhere
        print("\n".join("   " + line for line in said.splitlines()[-LINES_TOLD:]))


def run_one(function):
    made = []

    def federation_of(*arguments, kind=Federation, **options):
        made.append(kind(*arguments, **options))
        return made[-1]

    failed = False
    try:
        function(federation_of)
    except Skipped:
        raise
    except Exception:
        failed = True
        traceback.print_exc(file=sys.stdout)
        for one in made:
            tell(one)
    for one in made:
        one.close()
    try:
        for one in made:
            one.check_sanitizers()
    except AssertionError as trouble:
        failed = True
        print(trouble)
    for one in made:
        if failed:
            print(f"see {one.folder}")
        else:
            shutil.rmtree(one.folder)
    return not failed


def main():
    wanted, tests = sys.argv[1:], TESTS
    if wanted[:1] == ["--part"]:  # K/N: every N-th test, from the K-th
        part, parts = map(int, wanted[1].split("/"))
        wanted, tests = wanted[2:], TESTS[part - 1::parts]
    failed = 0
    for function in tests:
        name = function.__name__
        if wanted and name not in wanted:
            continue
        started = time.monotonic()
        try:
            if name.startswith(("crash_", "hooked_")) and not TACIT_TEST:
                raise Skipped("no program with test hooks")
            is_good = run_one(function)
        except Skipped as reason:
            print(f"skip: {reason}\n[  SKIPPED ] {name}", flush=True)
            continue
        failed += not is_good
        print(f"[ {'      OK' if is_good else ' FAILED '} ] {name}", flush=True)
        print(f"{time.monotonic() - started:.1f} s", flush=True)
    sys.exit(1 if failed else 0)
