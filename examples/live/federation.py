"""A federation in one folder of this machine: certificates, configuration files, and the processes of a broker, a
coordinator and agents with mutual TLS on loopback. Serves the demo (demo.py) and the tests (tests/live)."""
import http.client
import json
import os
import random
import shutil
import socket
import subprocess
import time

BROKER_PROGRAM = shutil.which("mosquitto") or "/usr/sbin/mosquitto"


# ---- HTTP over a Unix socket ----

class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, seconds=10):
        super().__init__("localhost", timeout=seconds)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def call(connection, method, path, body=None):
    """Code and JSON of the answer."""
    connection.request(method, path, None if body is None else json.dumps(body))
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


claims = []


def free_port():
    """Below those that the system gives to whoever connects, and claimed by a name until this process ends: nobody takes
    it before the broker listens, or while it is away."""
    while True:
        port, claim = random.randrange(20000, 32000), socket.socket(socket.AF_UNIX)
        with socket.socket() as probe:
            try:
                claim.bind(f"\0tacit port {port}")
                probe.bind(("127.0.0.1", port))
                claims.append(claim)
                return port
            except OSError:
                claim.close()


def write_yaml(path, **values):
    """One line a key; JSON is YAML."""
    path.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in values.items()))


# ---- The federation ----

class Federation:
    def __init__(self, tacit, folder, name, sites, arms):
        self.tacit, self.folder, self.name = os.path.abspath(tacit), folder, name
        self.sites, self.arms = list(sites), list(arms)
        self.pki = folder / "pki"
        self.port = free_port()
        self.processes = {}  # name -> Popen

    def run_tacit(self, *words):
        subprocess.run([self.tacit, *map(str, words)], check=True)

    # Files

    def make_certificates(self, *others):
        self.run_tacit("pki", "--directory", self.pki, *self.sites, *others)

    def write_broker(self, *options):
        (self.folder / "broker").mkdir(exist_ok=True)
        self.run_tacit("broker-config", "--directory", self.folder / "broker", "--federation", self.name, "--pki",
                       self.pki, "--port", self.port, *options, *self.sites)

    def broker_section(self, name, pki=None, port=None):
        pki = pki or self.pki
        return {"host": "127.0.0.1", "port": port or self.port, "ca": str(self.pki / "ca.crt"),
                "certificate": str(pki / f"{name}.crt"), "key": str(pki / f"{name}.key")}

    def write_coordinator(self, run, name="coordinator", sites=None, arms=None, **more):
        write_yaml(self.folder / f"{name}.yaml", federation=self.name, state=f"state-{name}",
                   broker=self.broker_section("coordinator"), sites=sites or self.sites, arms=arms or self.arms,
                   run=run, status={"unix": "hub.sock"}, **more)

    def write_network(self, network, *options):
        """Into the coordinator's file; the broker lets neighbours hear each other."""
        file = self.folder / "coordinator.yaml"
        file.write_text(file.read_text() + f"network: {json.dumps(network)}\n")
        self.run_tacit("broker-config", "--directory", self.folder / "broker", "--coordinator", file, "--pki", self.pki,
                       "--port", self.port, *options)

    def write_agent(self, site, policy, name=None, broker=None, **more):
        """`name`: of its files, where they are not the site's."""
        name = name or site
        write_yaml(self.folder / f"{name}.yaml", federation=self.name, site=site, state=f"state-{name}",
                   broker=broker or self.broker_section(site), arms=self.arms, policy=policy,
                   api={"unix": f"{name}.sock"}, **more)

    # Two aggregators

    def fingerprint(self, name):
        """Of a key for signing."""
        done = subprocess.run([self.tacit, "helper", "fingerprint", str(self.pki / f"{name}.sign.crt")], check=True,
                              capture_output=True, text=True)
        return done.stdout.strip()

    def trust(self, **more):
        """For `run` and `policy`."""
        return {"trust": {"aggregators": 2, "helper": self.fingerprint("helper"), **more}}

    def write_helper(self, epsilon, **more):
        """Its file, and the broker's: the coordinator's is written already."""
        write_yaml(self.folder / "helper.yaml", federation=self.name, state="state-helper", hub=self.fingerprint("coordinator"),
                   broker=self.broker_section("helper"), epsilon=epsilon, **{"status": {"unix": "helper.sock"}, **more})
        self.run_tacit("broker-config", "--directory", self.folder / "broker", "--coordinator",
                       self.folder / "coordinator.yaml", "--pki", self.pki, "--port", self.port)

    def agree(self, seconds=60):
        """Its operator's word, once the run is offered: looks, and says the code. What was shown."""
        until = time.monotonic() + seconds
        state = self.folder / "state-helper"
        while not (state / "helper.offer").exists():
            if time.monotonic() > until:
                raise RuntimeError(f"no run is offered to the helper; see {self.folder}")
            time.sleep(0.05)
        shown = subprocess.run([self.tacit, "helper", "agree", str(state)], check=True, capture_output=True, text=True).stdout
        self.run_tacit_quietly("helper", "agree", state, shown.split()[-1])
        return shown

    def run_tacit_quietly(self, *words):
        subprocess.run([self.tacit, *map(str, words)], check=True, stdout=subprocess.DEVNULL)

    # Processes

    def words_of(self, name):
        if name == "broker":
            return [BROKER_PROGRAM, "-c", str(self.folder / "broker/mosquitto.conf")]
        role = "coordinator" if name.startswith("coordinator") else "helper" if name == "helper" else "agent"
        return [self.tacit, role, "--config", str(self.folder / f"{name}.yaml")]

    def start(self, name, words=None, **environment):
        """The broker, or the daemon of NAME.yaml; says what it has to say in NAME.log."""
        with open(self.folder / f"{name}.log", "a", encoding="utf-8") as log:
            self.processes[name] = subprocess.Popen(words or self.words_of(name), stdout=log, stderr=log,
                                                    env={**os.environ, **environment})

    def broker_listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def await_broker(self, seconds=60):
        """Until it listens: it reads its files first, which takes a while where sites are many."""
        until = time.monotonic() + seconds
        while not self.broker_listens():
            if self.processes["broker"].poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the broker does not listen; see {self.folder / 'broker.log'}")
            time.sleep(0.05)

    def stop_all(self, seconds=10):
        for process in reversed(self.processes.values()):
            if process.poll() is None:
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    # Looking

    def socket_of(self, name):
        return self.folder / ("hub.sock" if name.startswith("coordinator") else f"{name}.sock")

    def get(self, name, path):
        """What a daemon answers, or None."""
        connection = UnixConnection(self.socket_of(name))
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
