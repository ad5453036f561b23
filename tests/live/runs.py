#!/usr/bin/env python3
"""Two runs one after the other over one state: the guide's recipe as it stands there; kills at any time; who joins what,
and by whose word. See support.py."""
import json
import os
import pathlib
import re
import subprocess
import sys

from support import IS_LONG, TACIT, Federation, control, main, require, seeded, test, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))  # the examples have files of these names, too
import contexts  # noqa: E402
import gossip  # noqa: E402
import phased  # noqa: E402
import votes  # noqa: E402

MEANS = [0.875, 0.75, 0.125]
GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs/operations.md"


def small(federation_of, **options):
    return federation_of(MEANS, **{"rounds": 2, "gap": 0.25, "horizon": 100000, **options})


def run_of(federation, site):
    """The number of the run that a site is in; 0: none."""
    status = federation.site_status(site) or {}
    return int(status["run"][16:], 16) if "run" in status else 0


def end_first_run(federation, sites=None):
    federation.apply(sites)
    wait_for("the first run ends", federation.is_finished, 120)
    federation.wait_for_sites("knows", federation.has_decided, 120, sites=sites)


def begin_second(federation, ends_first=False):
    """The coordinator, with another file over the same state."""
    federation.stop("coordinator")
    if ends_first:
        code, said = federation.run_to_end("coordinator", "--end-run")
        require(code == 0, said)
    federation.write_coordinator(federation.run_section(id=2))
    federation.start("coordinator")


def awaits_consent(federation, site):
    """The run that waits for a word."""
    return wait_for(f"{site} waits", lambda: (federation.site_status(site) or {"runs": {}})["runs"].get("waits_for_consent"), 120)


def in_second(federation, sites=None):
    federation.wait_for_sites("is in run 2", lambda site: run_of(federation, site) == 2, 120, sites=sites)


def check(federation, name):
    """Code and text of `--check`."""
    words = federation.words_of(name)
    return federation.run_to_end(name, words=[*words[:2], "--check", *words[3:]])


def check_two_runs(federation, site, decides=True):
    """Each release is of one run, its epochs begin anew, and no number comes twice."""
    ledger = wait_for("the ledger", lambda: federation.get(site, "/v1/ledger"))["releases"]
    epochs = {run: [one["epoch"] for one in ledger if one["run"] == run] for run in (1, 2)}
    for run, numbers in epochs.items():
        require(numbers and numbers == sorted(set(numbers)), f"{site}, run {run}: {numbers}")
        require(numbers[0] == 1, f"{site}, run {run}: {numbers}")
    runs = federation.get(site, "/v1/runs")["runs"]
    require([one["run_id"] for one in runs] == [1, 2] and all(one["ended"] for one in runs), f"{runs}")
    require(runs[0]["run"][:16] == runs[1]["run"][:16], f"{runs}")
    require(all(one["result"]["decided"] == decides and one["result"]["arms"] for one in runs), f"{runs}")


# ---- The recipe of the guide ----

class Hospitals(Federation):
    """As the guide names it: north and south, arms letter, call, nothing."""

    def __init__(self, means, sites=2, **options):
        super().__init__(means, sites=sites, **options)
        self.sites, self.arms = ["north", "south"], ["letter", "call", "nothing"]
        self.make_certificates("tap")
        self.write_broker("--persistence", self.persistence)
        self.allow_access("tap", "read tacit/v1/#")
        self.write_coordinator(self.run_section())
        file = self.folder / "coordinator.yaml"
        file.write_text(file.read_text().replace('"id"', "id"))  # as the guide writes it
        for site in self.sites:
            self.write_agent(site, self.policy())


SYSTEMCTL = """#!/bin/sh
# Beside the test: what it is asked is done by the test, which has started these processes.
echo "$1 $2" > "$FOLDER/asked.new" && mv "$FOLDER/asked.new" "$FOLDER/asked"
while [ -e "$FOLDER/asked" ]; do sleep 0.05; done
"""


def restart(federation, asked):
    """What systemd does with our units."""
    verb, unit = asked.split()
    name = unit.replace("tacit-agent@", "").replace("tacit-", "")
    if name == "broker":
        require(verb == "reload", asked)
        federation.allow_access("tap", "read tacit/v1/#")
        federation.processes["broker"].send_signal(1)
        return
    if verb != "start":
        federation.stop(name)
    federation.start(name)


def follow(federation, commands):
    """A block of the guide, by a shell, in the folder of the files."""
    folder = federation.folder
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "systemctl").write_text(SYSTEMCTL)
    (tools / "systemctl").chmod(0o700)
    if not (tools / "tacit").exists():
        (tools / "tacit").symlink_to(TACIT)
    commands = commands.replace("--port 8883", f"--port {federation.port} --persistence {federation.persistence}")
    path = f"{tools}:{os.environ['PATH']}"
    shell = subprocess.Popen(["/bin/sh", "-e", "-c", commands], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, env={**os.environ, "PATH": path, "FOLDER": str(folder)})

    def has_ended():
        if (folder / "asked").exists():
            restart(federation, (folder / "asked").read_text())
            (folder / "asked").unlink()
        return shell.poll() is not None

    wait_for(commands, has_ended, 120)
    require(shell.returncode == 0, f"{commands}: {shell.stdout.read()}")
    shell.stdout.close()


def recipe(heading, count):
    """The blocks of a section of the guide."""
    section = GUIDE.read_text(encoding="utf-8").split(f"\n## {heading}")[1].split("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, re.S)
    require(len(blocks) == count, f"{len(blocks)} blocks in the recipe")
    return blocks


@test
def two_runs_by_the_recipe_of_the_guide(federation_of):
    """A site is added, an arm is added and one is retired; no state directory is touched by hand."""
    federation = federation_of(MEANS, kind=Hospitals, rounds=2, gap=0.25, horizon=100000)
    at_hub, at_site = recipe("The next run", 2)
    federation.start_all()
    end_first_run(federation)
    federation.end_applications()
    federation.applications.clear()
    follow(federation, at_hub)
    wait_for("run 2 is announced", lambda: (federation.status() or {}).get("run_id") == 2, 120)
    wait_for("north says what differs", lambda: "'nothing' here" in ((federation.site_status("north") or {}).get("refusal") or ""),
             120)
    for site in ("north", "south"):
        follow(federation, at_site.replace("north", site))
    federation.arms = ["letter", "call", "visit"]
    federation.sites.append("east")
    federation.write_agent("east", federation.policy())
    federation.start("east")
    federation.means = [0.125, 0.75, 0.875]  # the new arm is the best
    in_second(federation)
    federation.apply()
    federation.finish("visit")
    for site in ("north", "south"):
        check_two_runs(federation, site)
        first = federation.get(site, "/v1/runs")["runs"][0]["result"]
        require(first["winner"] == "letter" and len(first["arms"]) == 3, f"{first}")
    runs = federation.get("coordinator", "/runs")["runs"]
    require([one["result"]["winner"] for one in runs] == ["letter", "visit"], f"{runs}")
    require(len(federation.get("east", "/v1/runs")["runs"]) == 1, "east was in one run")


def end_second(federation):
    in_second(federation)
    federation.finish()
    for site in federation.sites:
        check_two_runs(federation, site)


# ---- Whose word ----

@test
def next_run_is_joined_by_itself_or_waits_for_a_word(federation_of):
    federation = small(federation_of)
    federation.write_agent("site-0", federation.policy(), runs="join")
    federation.start_all()
    end_first_run(federation)
    begin_second(federation)
    in_second(federation, ["site-0"])
    for site in ("site-1", "site-2"):
        waiting = awaits_consent(federation, site)
        require(waiting["run_id"] == 2, f"{waiting}")
        status = federation.site_status(site)
        require(status["state"] == "attention" and any("join 2" in one["what"] for one in status["causes"]), f"{status}")
        require(status["winner"] == "arm 0" and status["runs"]["over"], f"it does not play on: {status}")
    require("no such run" in control(federation, "site-1", "join", "3", code=1), "a run that nobody announced was joined")
    require(control(federation, "site-1", "join", "2").startswith("done: join run 2"), "no consent")
    require(control(federation, "site-1", "join", "2").startswith("so it was already"), "twice is not once")
    federation.kill("site-1")  # in the same breath
    federation.start("site-1")
    in_second(federation, ["site-0", "site-1"])
    control(federation, "site-2", "join", "2")
    end_second(federation)


@test
def file_with_the_same_number_or_a_run_under_way_is_refused_in_words(federation_of):
    federation = small(federation_of)
    federation.start_all()
    federation.wait_for_sites("joins", federation.has_joined, 120)
    federation.stop("coordinator")
    federation.write_coordinator(federation.run_section(id=2))
    code, said = federation.run_to_end("coordinator")
    require(code == 2 and "run of this state has ended" in said, f"{code} {said}")
    federation.write_coordinator(federation.run_section())
    for said_before in (False, True):  # twice is once
        code, said = federation.run_to_end("coordinator", "--end-run")
        require(code == 0 and ("was before" in said) == said_before, f"{code} {said}")
    federation.write_coordinator(federation.run_section(horizon=100001))
    for code, said in (federation.run_to_end("coordinator"), check(federation, "coordinator")):
        require(code == 2 and "must be above 1" in said, f"{code} {said}")
    federation.write_coordinator(federation.run_section(id=2))
    code, said = check(federation, "coordinator")
    require(code == 0, f"{code} {said}")
    federation.start("coordinator")
    wait_for("site-0 is asked", lambda: "join 2" in json.dumps(federation.site_status("site-0") or {}), 120)
    result = json.loads(federation.text("coordinator", "/runs"))["runs"][0]["result"]
    require(result["round_s"] == result["still_s"] == 0, f"as if the machine were as old as its round: {result}")
    require(federation.site_status("site-0")["runs"]["over"], "the word of its coordinator ends a run")
    control(federation, "site-0", "join", "2")
    in_second(federation, ["site-0"])


@test
def site_that_was_refused_joins_with_another_file(federation_of):
    federation = small(federation_of)
    federation.write_agent("site-0", federation.policy(epsilon=1, budget=1))
    federation.start_all()
    wait_for("site-0 is refused", lambda: (federation.site_status("site-0") or {}).get("refusal"), 120)
    federation.stop("site-0")
    federation.write_agent("site-0", federation.policy())
    code, said = check(federation, "site-0")
    require(code == 0, f"{code} {said}")
    federation.start("site-0")
    wait_for("it joins", lambda: federation.has_joined("site-0"), 120)


@test
def two_coordinators_at_once_and_an_old_announcement(federation_of):
    """A site joins one and names the other; what was announced for run 1, said again, moves nobody."""
    federation = small(federation_of, runs="join")
    federation.start_all()
    end_first_run(federation)
    federation.stop("coordinator")
    topic = federation.topic("to/site-0/announce")
    first = [payload for seen, payload in federation.tap.messages if seen == topic][-1]
    federation.write_coordinator(federation.run_section(id=9), "coordinator-other")
    federation.start("coordinator-other")
    status = awaits_consent(federation, "site-0")
    require(status["run_id"] == 9, f"{status}")
    require("another coordinator" in json.dumps(federation.site_status("site-0")["causes"]), "who is it?")
    federation.stop("coordinator-other")
    federation.write_coordinator(federation.run_section(id=2))
    federation.start("coordinator")
    in_second(federation)
    federation.client("coordinator").publish(topic, first)
    wait_for("the old announcement is refused", lambda: "older one" in federation.log("site-0"), 120)
    wait_for("what is announced now stands", lambda: (federation.site_status("site-0") or {"refusal": ""})["refusal"] is None, 120)
    require(run_of(federation, "site-0") == 2, "an old announcement was followed")
    federation.finish()


# ---- Other protocols ----

def two_runs_of(federation):
    federation.start_all()
    end_first_run(federation)
    begin_second(federation)
    end_second(federation)


@test
def two_runs_of_play_in_phases(federation_of):
    two_runs_of(federation_of(MEANS, kind=phased.Phased, horizon=100000, runs="join"))


@test
def two_runs_of_votes(federation_of):
    two_runs_of(federation_of(MEANS, kind=votes.Votes, sites=3, votes=2, runs="join"))


@test
def two_runs_of_gossip(federation_of):
    """A release is a reward: those of the second run begin anew, and the estimates, too."""
    federation = federation_of(MEANS, kind=gossip.Gossip, sites=3, horizon=60, runs="join")
    federation.start_all()
    for run in (1, 2):
        if run == 2:
            begin_second(federation)
            in_second(federation)
        else:
            federation.apply(batch=1)
        wait_for(f"run {run} ends", lambda run=run: (federation.is_finished() or {}).get("run_id") == run, 120)
        for site in federation.sites:
            wait_for(f"{site} knows", lambda site=site, run=run: run_of(federation, site) == run and
                     federation.phase(site) == "finished", 120)
            wait_for(f"{site} puts the best arm first",
                     lambda site=site: federation.site_status(site)["estimates"][0]["name"] == "arm 0", 120)
    federation.end_applications()
    for site in federation.sites:
        check_two_runs(federation, site, decides=False)
        ledger = federation.get(site, "/v1/ledger")
        require(len(ledger["releases"]) == 2 * (federation.horizon + len(MEANS)), f"{len(ledger['releases'])} releases")
        require(ledger["spent"] <= federation.epsilon, f"{site}: the loss of a reward is that of one run: {ledger['spent']}")


class Contexts(contexts.Trial):
    def __init__(self, **options):
        super().__init__(**options)
        self.sites, self.persistence = contexts.SITES, self.folder / "persistence"
        for site in self.sites:
            file = self.folder / f"{site}.yaml"
            file.write_text(file.read_text() + "runs: join\n")

    def begin_second(self):
        file = self.folder / "coordinator.yaml"
        file.write_text(file.read_text().replace('"horizon"', '"id": 2, "horizon"', 1))
        self.end_first()
        self.start("coordinator")
        self.events, self.updates = [], 0

    def has_model(self, site):
        return "model" in (self.site_status(site) or {})

    def end_first(self):
        """It does not end by itself; the file is that of the next run already."""
        self.stop("coordinator")
        file = self.folder / "coordinator.yaml"
        text = file.read_text()
        file.write_text(text.replace('"id": 2, ', ""))
        code, said = self.run_to_end("coordinator", "--end-run")
        require(code == 0 and "is over" in said, f"{code} {said}")
        file.write_text(text)


@test
def two_runs_of_contexts(federation_of):
    """The second begins with no model, and ends with that of the simulator on its own events; a decision of the first that
    is rewarded in the second is learnt by nobody."""
    trial = federation_of(kind=Contexts)
    trial.start_all()
    require(trial.play(15) >= 1, "no update")
    first = trial.check_model()
    contexts_of_first, late = trial.decide(0)
    trial.begin_second()
    for site in trial.sites:
        wait_for(f"{site} is in run 2", lambda site=site: run_of(trial, site) == 2 and trial.has_model(site), 120)
        require(trial.site_status(site)["model"]["observations"] == 0, f"{trial.site_status(site)['model']}")
    answer = trial.ask(trial.sites[0], "POST", "/v1/rewards", {"id": late["id"], "reward": 1})
    require(answer[0] == 200, f"{answer}")
    require(trial.site_status(trial.sites[0])["model"]["observations"] == 0, "a reward of the first run was learnt")
    require(trial.play(15) >= 1, "no update")
    second = trial.check_model()
    require(first["coefficients"] != second["coefficients"], "the same model")
    for site in trial.sites:
        runs = trial.get(site, "/v1/runs")["runs"]
        require([one["run_id"] for one in runs] == [1, 2] and runs[0]["ended"] and not runs[1]["ended"], f"{runs}")
        require(runs[0]["result"]["model"]["number"] == first["number"], f"{site}: what the first run came to: {runs[0]}")
    kept = trial.get("coordinator", "/runs")["runs"]
    require([one["run_id"] for one in kept] == [1, 2] and kept[0]["result"]["model"] == first, f"{kept}")


@test
def training_has_one_run_and_says_why(federation_of):
    federation = small(federation_of)
    run = {"id": 1, "horizon": 10, "epsilon": 4.0, "eta": 0.2, "parameters": 6, "clip": 4.0, "users_per_round": 2, "batches": 20,
           "deadline_s": 20, "quorum": 1}
    federation.write_coordinator(run, protocol="select", arms=federation.sites)
    federation.start("coordinator")
    wait_for("the run has begun", federation.status, 120)
    federation.stop("coordinator")
    code, said = federation.run_to_end("coordinator", "--end-run")
    require(code == 0, f"{code} {said}")
    federation.write_coordinator({**run, "id": 2}, protocol="select", arms=federation.sites)
    code, said = federation.run_to_end("coordinator")
    require(code == 2 and "a training learns from the same data in each round" in said, f"{code} {said}")


# ---- People ----

def ask_about(federation, units):
    """A decision a unit (None: without), each rewarded at once; result: what kind each was."""
    application = federation.application_of("site-0")
    requests = [{} if unit is None else {"unit": f"patient {unit}"} for unit in units]
    decisions = application.ask("/v1/decisions/batch", {"requests": requests})["decisions"]
    rewards = [{"id": one["id"], "reward": MEANS[one["arm"]]} for one in decisions]
    application.ask("/v1/rewards/batch", {"rewards": rewards})
    return [one["kind"] for one in decisions]


def serve_strangers(federation, name):
    """All that is planned at site-0, each place to somebody who was never there, until the run is over."""
    count = 0

    def is_over():
        nonlocal count
        planned = min((federation.site_status("site-0") or {"unserved": 0})["unserved"], 100)
        if planned > 0:
            ask_about(federation, [f"{name} {count + i}" for i in range(planned)])
        count += planned
        return federation.has_decided("site-0")
    wait_for("all strangers were there", is_over, 120)


@test
def what_was_spent_stays_though_the_file_says_less(federation_of):
    """A second run has half of the epsilon, and half as many rewards of a person: a reward of the first has lost what its row
    says all the same, and so has whoever had two."""
    federation = small(federation_of, sites=2)
    more, less = federation.epsilon, federation.epsilon / 2
    for site in federation.sites:
        federation.write_agent(site, federation.policy(**({"rewards_per_unit_max": 2} if site == "site-0" else {})), runs="join")
    federation.start_all()
    federation.apply(["site-0"], allowance=0)
    federation.apply(["site-1"])
    federation.await_plan("site-0", 10)
    require(ask_about(federation, ["ann", "bob", "ann", "ann"]) == ["planned", "planned", "planned", "exploit"], "two of ann's")
    serve_strangers(federation, "first")
    wait_for("the first run ends", lambda: federation.is_finished() and federation.has_decided("site-1"), 120)
    federation.end_applications()  # a restart forgets open decisions that enter nothing
    federation.epsilon = less
    for site in federation.sites:
        require(federation.get(site, "/v1/ledger")["spent"] == more, f"{site}: {federation.get(site, '/v1/ledger')}")
        federation.stop(site)
        federation.write_agent(site, federation.policy(**({"rewards_per_unit_max": 1} if site == "site-0" else {})), runs="join")
        code, said = check(federation, site)
        require(code == 0, f"{code} {said}")
        federation.start(site)
        ledger = wait_for("the ledger", lambda site=site: federation.get(site, "/v1/ledger"))
        require(ledger["spent"] == max(one["epsilon"] for one in ledger["releases"]) == more, f"{site}: between the runs: {ledger}")
    begin_second(federation)
    federation.apply(["site-1"])
    in_second(federation)
    for is_over in (False, True):
        if is_over:
            serve_strangers(federation, "second")
            wait_for("the second run ends", lambda: federation.has_decided("site-1"), 120)
        for site in federation.sites:
            ledger, said = federation.get(site, "/v1/ledger"), federation.text(site, "/v1/statement")
            require(ledger["spent"] == more and ledger["epsilon_per_reward"] == less, f"{site}: {ledger}")
            require(is_over == (less in {one["epsilon"] for one in ledger["releases"]}), f"{site}: {ledger}")
            require(f"is protected with epsilon = {less:g} " in said and f"has lost up to epsilon = {more:g}," in said, f"{site}: {said}")
        said = federation.text("site-0", "/v1/statement")
        require("(it is 1 now; more were entered before)" in said and
                f"at most 2 times epsilon = {more:g}, which is {2 * more:g}." in said, said)


@test
def person_has_so_many_rewards_over_restarts_and_runs(federation_of):
    federation = small(federation_of)
    for site in federation.sites:
        federation.write_agent(site, federation.policy(rewards_per_unit_max=2), runs="join")
    federation.start_all()
    federation.apply(["site-0"], allowance=0)
    federation.await_plan("site-0", 10)
    before = federation.site_status("site-0")["unserved"]
    require(ask_about(federation, ["ann", "bob", "ann", None]) == ["planned", "planned", "planned", "exploit"], "first visits")
    require(federation.site_status("site-0")["unserved"] == before - 3, "the plan is served otherwise")
    federation.restart("site-0")
    federation.await_plan("site-0")
    require(ask_about(federation, ["ann", "bob", "bob"]) == ["exploit", "planned", "exploit"], "after a restart")
    # A place that comes back without a reward is free again.
    application = federation.applications[0]
    one = application.ask("/v1/decisions", {"unit": "patient eve"})
    two = application.ask("/v1/decisions", {"unit": "patient eve"})
    require([one["kind"], two["kind"], *ask_about(federation, ["eve"])] == ["planned", "planned", "exploit"], "three at once")
    require(federation.request("site-0", "DELETE", f"/v1/decisions/{one['id']}")[0] == 200, "it cannot be closed")
    require(ask_about(federation, ["eve", "eve"]) == ["planned", "exploit"], "a place that came back")
    begin_second(federation, ends_first=True)
    in_second(federation, ["site-0"])
    federation.await_plan("site-0")
    # eve had one reward, and a place that was open when the run ended: it came back, too.
    kinds = ask_about(federation, ["ann", "bob", "eve", "eve", "new"])
    require(kinds == ["exploit", "exploit", "planned", "exploit", "planned"], f"in the next run: {kinds}")
    require("at most 2 times epsilon" in federation.text("site-0", "/v1/statement"), "the statement says nothing of it")
    federation.end_applications()
    federation.stop("site-0")
    data = (federation.folder / "state-site-0/state.db").read_bytes()
    require(b"patient" not in data, "a name is in the state")


# ---- Accidents ----

@test
def late_reward_of_an_old_run_enters_nothing(federation_of):
    """The reward would show in the sums: it is not the arm's own."""
    federation = small(federation_of, runs="join")
    federation.start_all()
    federation.apply(allowance=0)
    decisions = federation.open_decisions("site-0", 5)
    begin_second(federation, ends_first=True)
    in_second(federation)
    wait_for("site-0 explores", lambda: federation.phase("site-0") == "exploring")
    before = federation.site_status("site-0")
    application = federation.applications[0]
    application.ask("/v1/rewards/batch", {"rewards": [{"id": one["id"], "reward": 0.5} for one in decisions]})
    after = federation.site_status("site-0")
    require(after["unserved"] == before["unserved"] and after["pulls"] == before["pulls"], f"{before} {after}")
    require(federation.get("site-0", "/v1/runs")["runs"][0]["ended"], "run 1 has no end")


@test
def kills_at_any_time_between_two_runs(federation_of):
    """Sites and coordinator die while one run ends and the next begins; both runs have their results, once."""
    federation = small(federation_of, runs="join")
    chance = seeded()
    federation.start_all()
    federation.apply()
    for run in range(1, 6 if IS_LONG else 3):
        if run > 1:
            federation.kill("coordinator")  # between the end of one run and the start of the next
            federation.write_coordinator(federation.run_section(id=run))
            federation.start("coordinator")
        for _ in range(4):
            name = chance.choice(["coordinator", *federation.sites])
            federation.restart(name)
        wait_for(f"run {run} ends", lambda run=run: (federation.is_finished() or {}).get("run_id") == run, 120)
        for site in federation.sites:
            wait_for(f"{site} ends run {run}", lambda site=site, run=run: run_of(federation, site) == run and
                     federation.has_decided(site), 120)
    federation.end_applications()
    for site in federation.sites:
        runs = federation.get(site, "/v1/runs")["runs"]
        require(all(one["result"]["winner"] == "arm 0" for one in runs), f"{site}: {runs}")
        ledger = federation.get(site, "/v1/ledger")["releases"]
        numbers = [(one["run"], one["epoch"]) for one in ledger]
        require(numbers == sorted(set(numbers)), f"{site}: {numbers}")


@test
def crash_at_each_point_of_joining_loses_no_run(federation_of):
    federation = small(federation_of)
    federation.start_all()
    end_first_run(federation)
    begin_second(federation)
    for site, point in zip(federation.sites, ("before-commit", "after-commit", "before-send"), strict=True):
        federation.write_agent(site, federation.policy(), runs="join")
        federation.stop(site)
        federation.start(site, TACIT_CRASH_AT=f"{point}:2")
        wait_for(f"{site} dies {point}, or not", lambda site=site: federation.processes[site].poll() is not None or
                 run_of(federation, site) == 2, 120)
        if federation.processes[site].poll() is None:
            federation.processes[site].kill()
        federation.processes[site].wait(60)
        federation.start(site)
    end_second(federation)


if __name__ == "__main__":
    main()
