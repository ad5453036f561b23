"""The demo of protocols that choose by contexts (glm-ucb): each patient brings a vector for each of three doses, the
hospitals learn one model of who does well on which dose, and nobody sees another hospital's patients. What is told at
the end is the model: its coefficients with what the ellipsoid leaves of them, at the hub and at the sites. Not
private: gradients and matrices of contexts leave the sites, and the demo says so."""
import math
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

from federation import Federation, UnixConnection, call

SITES = ["hospital-0", "hospital-1", "hospital-2"]
ARMS = ["low dose", "middle dose", "high dose"]
FEATURES = ["constant", "dose", "dose x age", "dose x kidney"]
TRUTH = [0.3, 0.4, -0.6, -0.5]  # what the patients here follow; nobody is told
HORIZON = 250
PAUSE_S = 0.02  # between patients: updates happen meanwhile
SECONDS_MAX = 150


def contexts_of(chance):
    """A patient's vectors, one for each dose: at most of length 1."""
    age, kidney = chance.uniform(-1, 1), chance.uniform(-1, 1)
    rows = [[1, dose, dose * age, dose * kidney] for dose in (-1, 0, 1)]
    return [[value / 2 for value in row] for row in rows]


def chance_of(context):
    return 1 / (1 + math.exp(-2 * sum(a * b for a, b in zip(TRUTH, context, strict=True))))


def set_up(federation, horizon):
    federation.make_certificates()
    federation.write_broker()
    federation.write_coordinator({"features": FEATURES, "threshold": 0.6, "horizon": horizon, "norm": 2,
                                  "deadline_s": 60}, protocol="glm-ucb")
    for site in SITES:
        federation.write_agent(site, {"privacy": "none", "features": FEATURES, "range": [0, 1], "agents_max": 10,
                                      "rounds_max": 10000, "pulls_max": horizon}, protocol="glm-ucb")
    for name in ("broker", "coordinator", *SITES):
        federation.start(name)


class Application(threading.Thread):
    """A hospital's application: a patient comes, asks for a dose, and does well or not."""

    def __init__(self, federation, index, patients):
        super().__init__(daemon=True)
        self.path, self.patients = federation.socket_of(SITES[index]), patients
        self.random = random.Random(index)
        self.well = self.best = self.blind = 0
        self.trouble = None

    def connect(self):
        for _ in range(400):
            connection = UnixConnection(self.path)
            try:
                if "model" in call(connection, "GET", "/v1/status")[1]:
                    return connection
            except OSError:
                pass
            time.sleep(0.05)
        raise TimeoutError("the agent does not answer")

    def treat(self, connection):
        contexts = contexts_of(self.random)
        code, decision = call(connection, "POST", "/v1/decisions", {"contexts": contexts})
        if code != 200:
            raise RuntimeError(decision)
        chances = [chance_of(context) for context in contexts]
        did_well = int(self.random.random() < chances[decision["arm"]])
        code, answer = call(connection, "POST", "/v1/rewards", {"id": decision["id"], "reward": did_well})
        if code != 200:
            raise RuntimeError(answer)
        self.well += chances[decision["arm"]]
        self.best += max(chances)
        self.blind += sum(chances) / len(chances)

    def run(self):
        try:
            connection = self.connect()
            for _ in range(self.patients):
                self.treat(connection)
                time.sleep(PAUSE_S)
        except Exception as trouble:  # shown by the main thread
            self.trouble = trouble


def is_settled(federation):
    """Everybody has the hub's newest model."""
    states, hub = [federation.site_status(site) for site in SITES], federation.status()
    return hub is not None and None not in states and all(one["phase"] != "waiting" for one in states) and \
        {one["model"]["number"] for one in states} == {hub["model"]["number"]}


def watch(federation, applications):
    started, shown = time.monotonic(), 0
    while True:
        status = federation.status()
        model = status["model"] if status else {"number": 0}
        if model["number"] > shown:
            shown = model["number"]
            print(f"{time.monotonic() - started:6.1f} s  model {shown}: {model['observations']:,} rewards", flush=True)
        trouble = [one.trouble for one in applications if one.trouble]
        dead = [name for name, process in federation.processes.items() if process.poll() is not None]
        if trouble or dead:
            sys.exit(f"stopped: {trouble or dead}; see the logs in {federation.folder}")
        if time.monotonic() - started > SECONDS_MAX:
            sys.exit(f"stopped: not finished after {SECONDS_MAX} seconds; see the logs in {federation.folder}")
        if not any(one.is_alive() for one in applications) and is_settled(federation):
            return time.monotonic() - started
        time.sleep(0.1)


def tell(federation, applications, seconds):
    model, sites = federation.status()["model"], [federation.site_status(site) for site in SITES]
    patients = sum(one.patients for one in applications)
    print(f"\nModel {model['number']} of {model['observations']:,} rewards; {patients:,} patients in {seconds:.1f} s\n")
    for one in model["coefficients"]:
        print(f"  {one['name']:14} {one['value']:+.3f} in [{one['lower']:+.3f}, {one['upper']:+.3f}]")
    well, best, blind = (sum(getattr(one, what) for one in applications) for what in ("well", "best", "blind"))
    print(f"\nDid well, expected: {well / patients:.3f} of the patients; with the best dose for each "
          f"{best / patients:.3f}, with any dose {blind / patients:.3f}\n")
    for site, state in zip(SITES, sites, strict=True):
        print(f"{site}: model {state['model']['number']}; {state['sent_bytes']:,} bytes in {state['sent_messages']} "
              f"messages left the site; not private")


def run(tacit, horizon):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tacit-live-"))
    federation = Federation(tacit, folder, "doses", SITES, ARMS)
    print("Three hospitals, patients drawn from one model of doses, age and kidneys. This protocol protects nothing.",
          flush=True)
    try:
        set_up(federation, horizon)
        applications = [Application(federation, index, horizon) for index in range(len(SITES))]
        for one in applications:
            one.start()
        seconds = watch(federation, applications)
        tell(federation, applications, seconds)
    finally:
        federation.stop_all()
    shutil.rmtree(folder)
