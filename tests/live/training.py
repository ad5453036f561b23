#!/usr/bin/env python3
"""A training federation: five sites learn a model together, each with its own command. Whoever dies, however a command
misbehaves: the run ends, every update is charged and counted once, and nothing raw is on the wire. See support.py.
TACIT_TEST_LONG=1: ten kills of each kind instead of two."""
import collections
import hashlib
import json
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

import support
from support import IS_LONG, main, require, seeded, test, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))  # the examples have files of these names, too
import restore  # noqa: E402
import terms  # noqa: E402
import wire  # noqa: E402

CLASSES, INPUTS = 3, 4
NUMBERS = CLASSES * (INPUTS + 1)
ETA = 0.04
NANO = 10 ** 9
HELLO, ORDER, REQUEST, PIECE, COMMIT, GRANT, REFUSAL, UPDATE = range(16, 24)
CENTRES = [(2, 0, 0, 1), (0, 2, 0, -1), (0, 0, 2, 0)]
MARKER = b"raw-words-of-a-site"
KILLS = 10 if IS_LONG else 2


def rows_of(seed, count):
    """Points around three centres: label, inputs."""
    dice = random.Random(seed)
    rows = []
    for _ in range(count):
        label = dice.randrange(CLASSES)
        rows.append([label] + [round(dice.gauss(centre, 0.7), 4) for centre in CENTRES[label]])
    return rows


def write_rows(path, rows):
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))


def prices(total, eta=ETA, count=400):
    """Nano-epsilon of each participation, by the recurrence of integers (SELECT.md 2.5)."""
    decay = math.floor(2 ** 63 * math.exp(-eta))  # a float's accuracy is enough for the first few
    first = math.floor(total * NANO * -math.expm1(-eta))
    found = [first]
    while len(found) < count:
        found.append(found[-1] * decay >> 63)
    return found


class Training(support.Federation):
    """Sites `site-0` .. with our own learner, unless `commands` has another for a site."""

    def __init__(self, sites=5, users=3, rounds=10, deadline_s=20, budget=4000.0, clip=4.0, commands=(), quorum=1,
                 batches=20, numbers=NUMBERS, trust=None, **run):
        names = [f"site-{i}" for i in range(sites)]
        support.federation.Federation.__init__(self, support.TACIT, pathlib.Path(tempfile.mkdtemp(prefix="tacit-train-")),
                                       "trial", names, names)
        self.rounds, self.budget, self.numbers = rounds, budget, numbers
        self.persistence = self.folder / "persistence"
        self.applications, self.tap = [], None
        self.persistence.mkdir()
        self.make_certificates("tap", *([] if trust is None else ["helper"]))
        self.write_broker("--persistence", self.persistence)
        two = {} if trust is None else self.trust(**trust)
        self.write_coordinator({"id": 1, "horizon": rounds, "epsilon": budget, "eta": ETA, "parameters": numbers,
                                "clip": clip, "users_per_round": users, "batches": batches, "deadline_s": deadline_s,
                                "quorum": quorum, **two, **run}, protocol="select")
        if two:
            self.write_helper(budget)
            self.write_access()
        self.allow_access("tap", "read tacit/v1/#")
        for index, site in enumerate(names):
            write_rows(self.folder / f"{site}.csv", rows_of(index, 120))
            self.write_agent(site, {"epsilon": budget, "budget": budget, "range": [0, 1], "agents_max": 12,
                                    "rounds_max": 1000, "pulls_max": 1000, "eta": ETA, "parameters": numbers, **two},
                             protocol="select", training=dict(commands).get(index) or self.lesson(site))

    def lesson(self, site):
        return {"model": "logistic", "classes": CLASSES, "data": f"{site}.csv", "rate": 0.3, "batch": 20}

    def script(self, text):
        """A site's own program: python with `folder` (its directory), `numbers` and `start` (the model)."""
        path = self.folder / f"own-{len(list(self.folder.glob('own-*')))}.py"
        path.write_text(OWN.replace("BODY", "\n".join("    " + line for line in text.splitlines())))
        return {"command": [sys.executable, "-B", str(path)], "memory_mb": 4096, "cpu_s": 30}

    def teach(self, site, text):
        """Its program in place of the lesson."""
        file = self.folder / f"{site}.yaml"
        lines = [line for line in file.read_text().splitlines() if not line.startswith("training:")]
        file.write_text("\n".join([*lines, f"training: {json.dumps(self.script(text))}"]) + "\n")

    # Looking

    def has_ended(self):
        sites = [self.site_status(site) for site in self.sites if self.processes[site].poll() is None]
        return self.is_finished() and all(one and one["phase"] == "finished" for one in sites)

    def wait_for_end(self, seconds=90):
        return wait_for("the run ends everywhere", self.has_ended, seconds) and self.status()

    def said(self, kind, site=None):
        """[(site, round, body)] of the messages of a kind, as seen at the broker."""
        found = []
        for topic, payload in list(self.tap.seen):
            parts, message = topic.split("/"), wire.fields(payload)
            if len(parts) > 4 and parts[3] == "up" and kind in message and site in (None, parts[4]):
                found.append((parts[4], message[4], message[kind]))
        return found

    def asked(self):
        """{round: sites that were asked}."""
        found = {}
        for topic, payload in list(self.tap.seen):
            message = wire.fields(payload)
            if topic.endswith("/down/select") and ORDER in message:
                order = wire.fields(message[ORDER])
                sites = [self.sites[index] for index in wire.members(order[3])]
                if not order[1] and sites:  # nobody: the round is over, and the next waits for sites
                    require(found.setdefault(message[4], sites) == sites, f"two sets in round {message[4]}")
        return found

    def model(self, name):
        data = (self.folder / f"state-{name}/model.f32").read_bytes()
        return struct.unpack(f"<{self.numbers}f", data)

    def accuracy(self):
        write_rows(self.folder / "exam.csv", rows_of(99, 500))
        said = subprocess.run([support.TACIT, "train", "--classes", str(CLASSES), "--data", self.folder / "exam.csv",
                               "--examine", self.folder / "state-coordinator/model.f32"], capture_output=True,
                              check=True, text=True).stdout
        return json.loads(said)["accuracy"]


OWN = '''import os, pathlib, struct, sys, json, time
folder = pathlib.Path(sys.argv[-1])
told = json.loads((folder / "round.json").read_text())
numbers = told["parameters"]
start = struct.unpack(f"<{numbers}f", (folder / "model.f32").read_bytes())
def leave(values):
    (folder / "new").write_bytes(struct.pack(f"<{len(values)}f", *values))
    os.rename(folder / "new", folder / "update.f32")
if True:
BODY
'''


# ---- What holds in every run ----

def check_round(trial, site, at, bodies):
    """What left is what the ledger has; the pieces are what it names."""
    require({said for _, then, said in trial.said(UPDATE, site) if then == at} <= set(bodies), f"{site}: another update in {at}")
    named = [wire.fields(body)[5] for body in bodies]
    for _, then, said in trial.said(PIECE, site):
        piece = wire.fields(said)
        if then == at and 4 in piece:  # else of the model, for a coordinator that has lost it
            first = 32 * piece[2]
            require(hashlib.sha256(piece[4]).digest() in [digests[first:first + 32] for digests in named],
                    f"{site}: another piece in {at}")


def check_books(trial, kind_ok=True, terms_count=1):
    """After the run, everybody stopped: prices in order, each participation once, sums as reported; one update a round and term."""
    wanted = prices(trial.budget)
    total = 0
    for site in trial.sites:
        trial.stop(site)
        outbox = trial.outbox(site)
        spent = 0
        rounds = collections.defaultdict(list)
        for place, number in enumerate(sorted(outbox)):
            payload, nano, _ = outbox[number]
            message = wire.fields(payload)
            body = wire.fields(message[UPDATE])
            rounds[message[4]].append(message[UPDATE])
            require(body[2] == place + 1, f"{site}: participation {body[2]} in release {number}")
            require(abs(nano - wanted[place]) <= 3, f"{site}: price {nano}, not {wanted[place]}")
            spent += nano
            require(body[4] == spent, f"{site}: says {body[4]}, spent {spent}")
        for at, bodies in rounds.items():
            require(len(bodies) <= terms_count, f"{site}: {len(bodies)} updates of round {at}")
            check_round(trial, site, at, bodies)
        require(spent <= trial.budget * NANO, f"{site}: more than its budget")
        require({at for _, at, _ in trial.said(UPDATE, site)} <= set(rounds), f"{site}: an update without a row")
        total += len(outbox)
    trial.stop("coordinator")
    trial.asked()  # one set a round
    models = {trial.model(name) for name in ["coordinator", *trial.sites]}
    require(not kind_ok or len(models) == 1, "sites have different models at the end")
    require(all(math.isfinite(value) for value in models.pop()), "the model is not finite")
    return total


def check_secrets(trial, *secrets):
    for topic, payload in trial.tap.messages:
        for secret in secrets:
            require(secret not in payload, f"{topic}: raw bytes on the wire")


# ---- Tests ----

@test
def five_sites_learn_in_ten_rounds(federation_of):
    trial = federation_of(kind=Training)
    trial.start_all()
    status = trial.wait_for_end()
    accuracy = trial.accuracy()
    asked = trial.asked()
    ledger = trial.get(next(iter(trial.sites)), "/v1/ledger")
    require(ledger["epsilon_per_update"] == trial.budget, f"{ledger}")  # the most that its file allows for one
    require(0 < ledger["spent"] <= ledger["budget"] == trial.budget and "epsilon_per_reward" not in ledger, f"{ledger}")
    require(status["rounds"] == 10 and sorted(asked) == list(range(1, 11)), f"{status}")
    require(all(len(sites) == 3 for sites in list(asked.values())[2:]), f"{asked}")
    require({site for sites in asked.values() for site in sites} == set(trial.sites), f"somebody never asked: {asked}")
    require(check_books(trial) == sum(map(len, asked.values())), "an update is missing")
    require(accuracy > 0.8, f"the model is right in {accuracy:.0%} only")
    print(f"accuracy {accuracy:.3f} after 10 rounds")


def kill_some(trial, name, count, dice):
    """At chance moments of a run that goes on; the broker without what it kept."""
    for at in range(count):
        wait_for(f"round {2 * at + 1}", lambda at=at: trial.is_at(2 * at + 1) or trial.is_finished(), 60)
        time.sleep(dice.random() * 0.4)
        who = dice.choice(trial.sites) if name == "site" else name
        trial.kill(who)
        if who == "broker":
            trial.wipe_broker()
        trial.start(who)


def run_with_kills(federation_of, name):
    trial = federation_of(kind=Training, rounds=2 * KILLS + 4, deadline_s=8, budget=20000.0)
    trial.start_all()
    kill_some(trial, name, KILLS, seeded())
    trial.wait_for_end(60 + 20 * KILLS)
    total = check_books(trial)
    require(total >= 2 * KILLS + 4, f"{total} updates only")


@test
def killed_sites_release_once_and_the_run_ends(federation_of):
    run_with_kills(federation_of, "site")


@test
def a_killed_hub_goes_on_with_the_same_round(federation_of):
    run_with_kills(federation_of, "coordinator")


@test
def a_killed_broker_loses_nothing(federation_of):
    run_with_kills(federation_of, "broker")


def begin_with_a_command_that_waits(federation_of):
    """That of site-0, in each round for a file of the test's in this folder."""
    trial = federation_of(kind=Training, sites=3, users=3, rounds=3, deadline_s=110, quorum=3)
    trial.teach("site-0", "(folder / f'began-{told[\"round\"]}-{os.getpid()}').touch()\n"
                "while not (folder / f'go-{told[\"round\"]}').exists(): time.sleep(0.02)\n"
                "leave([0.1] * numbers)")
    trial.start_all()
    return trial, trial.folder / "state-site-0/training"


def wait_for_training(folder, number):
    """In this round; the files that say so."""
    return wait_for(f"a training in round {number}", lambda: list(folder.glob(f"began-{number}-*")), 120)


def wait_for_others(trial):
    wait_for("the others have released", lambda: len({site for site, at, _ in trial.said(UPDATE) if at == 2}) == 2, 60)


def is_gone(process):
    """Whether no process of that id runs any more; it may end while this looks."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


@test
def whoever_dies_while_a_command_trains_the_round_goes_on(federation_of):
    """In mid-round, one after the other: coordinator, broker, the site itself. Its command waits for the test."""
    trial, folder = begin_with_a_command_that_waits(federation_of)
    for number, who in enumerate(("coordinator", "broker", "site-0"), 1):
        began = wait_for_training(folder, number)
        trial.kill(who)
        if who == "site-0":
            process = began[0].name.split("-")[-1]
            wait_for("the command is gone with its agent", lambda: is_gone(process), 120)
        trial.start(who)
        if who == "site-0":
            wait_for("it trains again", lambda: len(list(folder.glob(f"began-{number}-*"))) > len(began), 120)
        (folder / f"go-{number}").touch()
    status = trial.wait_for_end(120)
    require(status["rounds"] == 3, f"{status}")
    require(check_books(trial) == 9, "each site releases once in each round")


@test
def a_coordinator_that_lost_all_has_its_model_from_a_site(federation_of):
    """In the second round, whose model the sites have fetched: what they have released is said again, not drawn again."""
    trial, folder = begin_with_a_command_that_waits(federation_of)
    for number in range(1, 4):
        wait_for_training(folder, number)
        if number == 2:
            wait_for_others(trial)
            trial.lose("coordinator")
            restore.expect_stop(trial)
            restore.recover(trial)
            trial.stop("coordinator")
            trial.start("coordinator")  # as always, from now on
            wait_for("it trains anew", lambda: len(list(folder.glob("began-2-*"))) > 1, 60)
        (folder / f"go-{number}").touch()
    status = trial.wait_for_end(120)
    require(status["rounds"] == 3 and not any(site["two_states"] for site in status["sites"]), f"{status}")
    trial.wait_for_log("coordinator", "is lost here")
    require(restore.check_chain(trial) == 1, "not one rebuild")
    require(check_books(trial) == 9, "each site releases once in each round")


@test
def an_old_state_of_the_coordinator_trains_on_in_a_new_term(federation_of):
    """It was put back from round 1 to where round 2 is under way: what was granted meanwhile stays spent, and is of no use."""
    trial, folder = begin_with_a_command_that_waits(federation_of)
    wait_for_training(folder, 1)
    trial.back_up("coordinator")
    (folder / "go-1").touch()
    wait_for_training(folder, 2)
    wait_for_others(trial)
    trial.kill("coordinator")
    trial.put_back("coordinator")
    terms.begin_term(trial)
    trial.start("coordinator")
    wait_for("round 1 comes again", lambda: (trial.status() or {"epoch": 0})["epoch"] == 2 and
             len(list(folder.glob("began-2-*"))) > 1, 60)
    for number in (2, 3):
        (folder / f"go-{number}").touch()
    status = trial.wait_for_end(120)
    require(status["rounds"] == 3 and not any(site["two_states"] for site in status["sites"]), f"{status}")
    for site in trial.sites:
        trial.wait_for_log(site, terms.BEGINS)
    # Round 1 of site-0 is its newest release and is said again; the others have gone on, and train anew, at their next price.
    require(check_books(trial, terms_count=2) == 3 + 2 * 5, "a release too many, or one that was not drawn")


@test
def the_operator_ends_a_training_with_what_is_there(federation_of):
    """In round 2, when two of three have trained; no other word is taken, and each hears why."""
    idle = federation_of(kind=Training)
    idle.start_all(["coordinator"])
    wait_for("it has started", idle.status)
    require("no round has begun" in terms.control(idle, "coordinator", "end", code=1), "it ended before it began")
    trial, folder = begin_with_a_command_that_waits(federation_of)
    wait_for_training(folder, 1)
    (folder / "go-1").touch()
    wait_for_training(folder, 2)
    wait_for("two updates are counted", lambda: (trial.status() or {"epoch": 0})["epoch"] == 2 and
             trial.status()["reports"] == 2, 60)
    for words, why in ((["drop", "site-0"], "waits for nobody"), (["quorum", "1"], "latencies"), (["deadline", "5"], "latencies"),
                       (["horizon", "9"], "number of rounds"), (["retire", "site-0"], "has no arms"), (["add", "x"], "no command adds an arm")):
        said = terms.control(trial, "coordinator", *words, code=2 if words[0] == "add" else 1)
        require(why in said, f"{words}: {said}")
    said = terms.control(trial, "coordinator", "end")
    require(said.startswith("done: end") and "the model is the mean" in said, said)
    status = trial.wait_for_end()
    require(status["rounds"] == 2 and "after 2 rounds: by the operator's command" in trial.log("coordinator"), f"{status}")
    trial.kill("coordinator")
    trial.start("coordinator")
    wait_for("it is over after a restart, too", lambda: (trial.status() or {"phase": ""})["phase"] == "finished", 60)
    require(terms.control(trial, "coordinator", "end").startswith("so it was already: end"), "it ended twice")
    require(check_books(trial) == 5, "site-0 has released in round 1 alone")


@test
def commands_that_misbehave_do_not_stop_the_run(federation_of):
    """One hangs, one crashes, one writes numbers that are none, one writes too much, one says "not now"."""
    for deadline_s in (2, 8, 30):  # the hanging one costs the deadline each time; a busy machine needs more than 2 s
        trial = federation_of(kind=Training, users=3, rounds=7, deadline_s=deadline_s)
        play_with_misbehaving_commands(trial)
        outbox = trial.outbox("site-2")
        if outbox:
            break
    require(outbox and all(nano > 0 for _, nano, _ in outbox.values()), "zeros are charged like everything else")


def play_with_misbehaving_commands(trial):
    bodies = ["time.sleep(100)", "os.kill(os.getpid(), 11)", "leave([float('nan')] * numbers)",
              "print('x' * 3000000)\nleave([1.0] * (numbers + 1))", "sys.exit(75)"]
    for index, body in enumerate(bodies):
        trial.teach(f"site-{index}", body)
    trial.start_all()
    status = trial.wait_for_end(240)
    require(status["rounds"] == 7, f"{status}")
    log = trial.folder / "state-site-3/training.log"
    require(log.stat().st_size <= 1 << 20, "the log of a command grows beyond its ring")
    require(check_books(trial) == len(trial.outbox("site-2")), "somebody else released")
    for site in ("site-0", "site-1", "site-3", "site-4"):
        require(not trial.outbox(site), f"{site} released what its command did not leave")


@test
def what_a_site_keeps_does_not_leave(federation_of):
    """Two lives of a site that differ in everything that it may hide; the same noise: the same bytes leave."""
    said = []
    for body in ("leave([float('nan')] * numbers)", "leave([1e-30] * numbers)"):
        trial = federation_of(kind=Training, sites=2, users=2, rounds=2, numbers=9000, budget=400.0, quorum=2)
        secret = f"(folder / 'local.json').write_text('{MARKER.decode()}')\nprint('{MARKER.decode()}')\n"
        for site in trial.sites:
            trial.teach(site, secret + body)
        for kind in ("noise", "keys"):
            (trial.folder / f"tape.{kind}").write_bytes(random.Random(kind).randbytes(1 << 23))
        trial.start_all([])
        trial.start_coordinator_of_run(7)
        trial.start("site-1")
        trial.start("site-0", TACIT_TEST_TAPE=str(trial.folder / "tape"))
        trial.wait_for_end()
        check_secrets(trial, MARKER, struct.pack("<f", 1e-30))
        words = collections.defaultdict(set)
        for kind in (COMMIT, UPDATE, PIECE):
            for _, number, message in trial.said(kind, "site-0"):
                if number == 1:
                    words[kind].add(message)
        said.append(dict(words))
        require(len(words[PIECE]) == 2 and len(words[UPDATE]) == 1, "two pieces and one update in round 1")
    require(said[0] == said[1], "what leaves depends on what the site keeps")


@test
def a_site_refuses_what_its_file_does_not_allow(federation_of):
    trial = federation_of(kind=Training, sites=2, users=2, rounds=2, quorum=2)
    file = trial.folder / "site-1.yaml"
    file.write_text(file.read_text().replace('"parameters": 15', '"parameters": 30')
                    .replace('"classes": 3', '"classes": 6'))
    trial.start_all()
    wait_for("it refuses", lambda: trial.phase("site-1") == "refused")
    trial.wait_for_log("site-1", "policy.parameters")
    require(trial.status()["epoch"] == 0, "no round begins without the quorum")


if __name__ == "__main__":
    main()
