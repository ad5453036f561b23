#!/usr/bin/env python3
"""1,000 kills at any moment over live runs of six protocols: agents, coordinators, brokers; among them coordinators that lose their
state or get an old one, brokers that lose theirs, and old copies of a site that are started in its place with traffic at
once. After each run: it has ended with the winner, nothing was released twice, no budget was spent twice. See
tests/live/support.py. TACIT_TEST_KILLS: so many in all; TACIT_TEST_SEED: others."""
import collections
import math
import os
import pathlib
import shutil
import sys
import time

LIVE = str(pathlib.Path(__file__).resolve().parents[1] / "live")
sys.path.insert(0, LIVE)
import support  # noqa: E402

sys.path.insert(0, LIVE)  # the examples have files of these names, too
import contexts  # noqa: E402
import gossip  # noqa: E402
import phased  # noqa: E402
import phased_restore  # noqa: E402
import restore  # noqa: E402
import training  # noqa: E402
import votes  # noqa: E402
import wire  # noqa: E402
from support import Application, require, seeded, wait_for  # noqa: E402

KILLS = int(os.environ.get("TACIT_TEST_KILLS", "1000"))
SHARES = {"elimination": 0.25, "phased-index": 0.2, "votes": 0.2, "gossip-ucb": 0.15, "glm-ucb": 0.12, "select": 0.08}
RUN_KILLS = 25
STATE_LOST = 3  # exit code
RUN_IS_OVER = "put the newest copy of the state back, or the run is over: "
COPY = "copy"
TOTAL = collections.Counter()


class Accidents:
    """What happens to one federation; `rebuilds`: a coordinator that lost its state is built again."""

    def __init__(self, federation, rng, rebuilds=False, has_copies=False):
        self.federation, self.rng, self.rebuilds, self.has_copies = federation, rng, rebuilds, has_copies
        self.counts = collections.Counter()
        self.copies = {}  # site -> the epoch that its copy has released
        self.hub_copy = None  # a folder
        self.hasty = []

    def state(self, name):
        return self.federation.folder / f"state-{name}"

    def kill(self, name):
        process = self.federation.processes[name]
        require(process.poll() is None, f"{name} has ended with {process.poll()}: {self.federation.log(name)[-500:]}")
        process.kill()
        process.wait(60)
        self.counts["kills"] += 1
        self.counts["kills of " + (name if name in ("broker", "coordinator") else "sites")] += 1

    def has_entries(self):
        """Nothing can be lost before the sites hold something; who is not up yet is waited for."""
        def all_hold():
            return all((self.federation.site_status(site) or {}).get("entry") for site in self.federation.sites)
        return wait_for("all sites hold an entry", all_hold, 120)

    # Kinds

    def one(self):
        """One accident, at this moment."""
        chance = self.rng.random()
        if chance < 0.1:
            self.lose_hub()
        elif chance < 0.2 and self.rebuilds:
            self.put_back_old_hub()
        elif chance < 0.35 and self.has_copies:
            self.start_old_site()
        else:
            name = self.rng.choice(["broker", "coordinator", "coordinator", *self.federation.sites, *self.federation.sites])
            self.kill_and_start(name)

    def kill_and_start(self, name):
        self.kill(name)
        if name == "broker" and self.rng.random() < 0.5:
            for file in (self.federation.folder / "persistence").iterdir():
                file.unlink()
            self.counts["lost brokers"] += 1
        has_state = name != "broker" and (self.state(name) / "state.db").exists()
        if name == "coordinator" and self.rebuilds and has_state and self.hub_copy is None:
            self.hub_copy = self.federation.folder / "state-hub-copy"
            shutil.copytree(self.state(name), self.hub_copy)
        if name in self.federation.sites and self.has_copies and has_state and name not in self.copies:
            self.take_copy(name)
        time.sleep(self.rng.choice([0, self.rng.uniform(0, 0.15)]))
        self.federation.start(name)

    def expect_stop(self):
        self.federation.start("coordinator")
        process = self.federation.processes["coordinator"]
        wait_for("the coordinator stops", lambda: process.poll() is not None, 120)
        require(process.returncode == STATE_LOST, f"it ended with {process.returncode}: {self.federation.log('coordinator')[-500:]}")
        wanted = "--recover" if self.rebuilds else RUN_IS_OVER
        require(wanted in self.federation.log("coordinator").rsplit(" stopping: ", 1)[-1], "it does not say what to do")

    def recover(self):
        words = [*self.federation.words_of("coordinator"), "--recover"]
        self.counts["recoveries"] += 1
        if self.rng.random() < 0.3:
            self.counts["recoveries"] += 1
            self.federation.start("coordinator", words)
            time.sleep(self.rng.uniform(0.02, 0.4))
            self.kill("coordinator")
        self.federation.start("coordinator", words)
        wait_for("the coordinator is built again", lambda: restore.goes_on(self.federation), 120)
        for site in self.copies:  # a term has begun: what a copy holds is of before
            shutil.rmtree(self.federation.folder / f"state-old-{site}")
        self.copies.clear()
        if self.hub_copy is not None:
            shutil.rmtree(self.hub_copy, ignore_errors=True)
        self.hub_copy = None

    def lose_hub(self):
        """Rebuilt from what the sites hold; or it stops, and its newest copy is put back."""
        self.has_entries()
        self.kill("coordinator")
        aside = self.federation.folder / "state-hub-aside"
        shutil.move(self.state("coordinator"), aside)
        self.expect_stop()
        shutil.rmtree(self.state("coordinator"))
        self.counts["lost hubs"] += 1
        if self.rebuilds:
            shutil.rmtree(aside)
            self.recover()
        else:
            shutil.move(aside, self.state("coordinator"))
            self.federation.start("coordinator")

    def put_back_old_hub(self):
        """Of a round before, or of the same."""
        if self.hub_copy is None:
            self.kill_and_start("coordinator")
            return
        self.has_entries()
        self.kill("coordinator")
        shutil.rmtree(self.state("coordinator"))
        shutil.move(self.hub_copy, self.state("coordinator"))
        self.recover()
        self.counts["old hubs"] += 1

    def released(self, name):
        """The number that a site has released last, while it goes on with the next."""
        status = self.federation.site_status(name)
        return status["release_epoch"] if status and status["phase"] == "exploring" else 0

    def take_copy(self, site):
        """Of one that is dead; it is of no use before the site has released more."""
        shutil.copytree(self.state(site), self.federation.folder / f"state-old-{site}")
        self.copies[site] = max(self.federation.outbox(f"old-{site}"), default=0)

    def start_old_site(self):
        old = [site for site, epoch in self.copies.items() if self.released(site) > epoch]
        if not old:
            self.kill_and_start(self.rng.choice(self.federation.sites))
            return
        site = self.rng.choice(old)
        self.kill(site)
        shutil.rmtree(self.state(COPY), ignore_errors=True)
        shutil.move(self.federation.folder / f"state-old-{site}", self.state(COPY))
        del self.copies[site]
        self.federation.write_agent(site, self.federation.policy(), name=COPY)
        self.federation.start(COPY)
        hasty = Application(self.federation, COPY, batch=50, prefix=f"copy {self.counts['old sites']} ")
        hasty.start()
        time.sleep(self.rng.uniform(0.1, 1.5))
        self.kill(COPY)
        hasty.over = hasty.aborted = True
        hasty.join(60)
        (self.federation.folder / f"{COPY}.log").rename(self.federation.folder / f"{COPY}-{self.counts['old sites']}.log")
        self.counts["old sites"] += 1
        self.federation.start(site)


def some_runs(family, play):
    """Runs until the family has had its share; `play(number, kills)` makes one and checks it: its accidents."""
    wanted = max(1, round(KILLS * SHARES[family]))
    counts, number, began = collections.Counter(), 0, time.monotonic()
    while counts["kills"] < wanted:
        number += 1
        counts += play(number, min(RUN_KILLS, wanted - counts["kills"])).counts
        counts["runs"] += 1
        print(f"           {family}: {dict(counts)}, {time.monotonic() - began:.0f} s", flush=True)
    TOTAL.update(counts)


def under_traffic(federation, rng, kills, pulls, **options):
    """All ask from the first moment; what they may play grows, so that accidents happen in all rounds."""
    accidents = Accidents(federation, rng, **options)
    federation.start_all()
    federation.apply(allowance=1)
    while accidents.counts["kills"] < kills:
        time.sleep(rng.uniform(0, 0.35))
        accidents.one()
        federation.allow(pulls ** (min(kills, accidents.counts["kills"]) / kills))
    federation.allow(math.inf)
    return accidents


def rng_of(number):
    rng = seeded()
    for _ in range(number):
        rng.seed(rng.random())
    return rng


def check_spent(federation):
    """Each reward's loss is that of one release; the ledger is the outbox."""
    for site in federation.sites:
        ledger = wait_for(f"{site} answers", lambda site=site: federation.get(site, "/v1/ledger"), 60)
        require(ledger["spent"] <= federation.epsilon, f"{site}: spent {ledger['spent']}")
        numbers = [one["epoch"] for one in ledger["releases"]]
        require(numbers == sorted(set(numbers)), f"{site}: {numbers}")


def all_know(federation):
    for site in federation.sites:
        wait_for(f"{site} knows", lambda site=site: federation.phase(site) in ("decided", "finished"), 120)
        seen = federation.site_status(site)
        require(seen["active_arms"] == ["arm 0"] and seen["trouble"] is None, f"{site}: {seen}")


# ---- The protocols ----

def check_elimination(federation):
    """Each reward is in one release at most, and what was on the wire is what the outbox has."""
    wait_for("the run ends", federation.is_finished, 120)
    all_know(federation)
    federation.end_applications()
    check_spent(federation)
    for application in federation.applications:
        federation.stop(application.site)
        outbox = restore.check_releases(federation, application.site)
        used = collections.Counter()  # a release is of all that is released of an arm
        for pulls, sums in map(wire.sums_of, outbox.values()):
            used |= collections.Counter(dict.fromkeys(sums, pulls))
        used = used.total()
        require(used <= application.counts["planned"], f"{application.site}: {used} of {application.counts} are released")
    federation.close()


@support.test
def kills_over_elimination(federation_of):
    def play(number, kills):
        federation = federation_of([0.875, 0.5, 0.825, 0.125], horizon=4000000)
        accidents = under_traffic(federation, rng_of(number), kills, 16000, rebuilds=True, has_copies=True)
        check_elimination(federation)
        return accidents
    some_runs("elimination", play)


def check_phased(federation):
    wait_for("the run ends", federation.is_finished, 120)
    all_know(federation)
    federation.end_applications()
    check_spent(federation)
    for application in federation.applications:
        support.check_status(federation, application)
        federation.stop(application.site)
        _, rewards = phased_restore.check_releases(federation, application.site)
        require(rewards <= application.counts["planned"], f"{application.site}: {rewards} of {application.counts} are released")
    federation.close()


@support.test
def kills_over_the_phased_index(federation_of):
    def play(number, kills):
        federation = phased.made_by(federation_of, [0.875, 0.5, 0.825, 0.125])
        accidents = under_traffic(federation, rng_of(number), kills, 3000, rebuilds=True, has_copies=True)
        check_phased(federation)
        return accidents
    some_runs("phased-index", play)


def check_votes(federation, copied):
    wait_for("the run ends", federation.is_finished, 120)
    wait_for("all sites know", federation.have_all_decided, 120)
    require(federation.status()["winner"] == f"arm {votes.BEST}", "another winner")
    federation.end_applications()
    check_spent(federation)
    votes.check_rows(federation)
    for application in federation.applications:
        site = application.site
        pulls = federation.site_status(site)["pulls"]
        require(pulls == sum(application.counts.values()), f"{site}: {pulls}, {application.counts}")
        federation.stop(site)
        if copied:  # a draw of a copy was asked for, and is in no outbox that counts
            for cell, granted in federation.grants(site).items():
                require(granted == {votes.part(federation.outbox(site)[cell][0], 1)}, f"{site}: {cell} is not the outbox's")
        else:
            votes.check_draws(federation, site)
    federation.close()


@support.test
def kills_over_votes(federation_of):
    def play(number, kills):
        federation = federation_of(kind=votes.Votes)
        accidents = under_traffic(federation, rng_of(number), kills, 20000, rebuilds=True, has_copies=True)
        # With a term what was drawn and not granted is dropped, said or not.
        counts = accidents.counts
        check_votes(federation, counts["old sites"] + counts["lost hubs"] + counts["old hubs"] > 0)
        return accidents
    some_runs("votes", play)


@support.test
def kills_over_gossip(federation_of):
    def play(number, kills):
        federation = gossip.gossips(federation_of, horizon=250)
        accidents = Accidents(federation, rng_of(number), rebuilds=True)
        federation.start_all()
        federation.apply(batch=1)
        while accidents.counts["kills"] < kills:
            time.sleep(accidents.rng.uniform(0, 0.6))
            accidents.one()
        gossip.check_run(federation)  # the sums of all rewards, once; what the edges moved
        federation.close()
        return accidents
    some_runs("gossip-ucb", play)


@support.test
def kills_over_contexts(federation_of):
    """In the midst of updates, so that the events have the order of the simulator: the same bits."""
    def play(number, kills):
        trial = federation_of(kind=contexts.Trial, threshold=0.3, horizon=4000)
        trial.sites = contexts.SITES
        accidents = Accidents(trial, rng_of(number))
        trial.start_all()

        def strike(_):
            for _ in range(accidents.rng.randrange(1, 4)):
                if accidents.counts["kills"] < kills:
                    time.sleep(accidents.rng.uniform(0, 0.1))
                    accidents.one()
        while accidents.counts["kills"] < kills:
            trial.play(3, during=strike)
        trial.check_model()
        trial.close()
        return accidents
    some_runs("glm-ucb", play)


@support.test
def kills_over_trainings(federation_of):
    def play(number, kills):
        trial = federation_of(kind=training.Training, rounds=8, deadline_s=8, budget=20000.0)
        accidents = Accidents(trial, rng_of(number), rebuilds=True)
        trial.start_all()
        while accidents.counts["kills"] < kills and not trial.is_finished():
            time.sleep(accidents.rng.uniform(0, 1.2))
            accidents.one()
        trial.wait_for_end(240)
        training.check_books(trial, terms_count=1 + accidents.counts["recoveries"])
        trial.close()
        return accidents
    some_runs("select", play)


if __name__ == "__main__":
    code = support.main()
    print(f"{dict(TOTAL)}")
    sys.exit(code)
