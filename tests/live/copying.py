"""A site that is copied in every epoch, whatever its protocol and network: what copies.py, phased.py and votes.py share. In every try a
copy is made when the plan is nearly served; the original releases; then the copy plays on. See support.py."""
import collections
import math
import shutil
import time

from support import Application, require, wait_for
import wire

SITE = "site-2"
COPY = "copy"
LEFT = 5  # pulls that the copy has still to serve


class Trial:
    """A federation of three over a star; in every epoch the last site is copied."""
    SITES = 3
    NETWORK = None
    HOLDERS = ("coordinator",)  # of the releases of the copied site
    DRAWS = ("down",)  # kinds of tries in which each copy has to draw
    ON = math.inf  # pulls of each clone

    def __init__(self, federation_of):
        self.federation = self.made(federation_of)
        self.federation.start_all()
        self.federation.apply(allowance=0, batch=20)
        self.application = self.federation.applications[2]
        self.drawn = collections.Counter()  # by kind: draws of epochs that were released before

    def made(self, federation_of):
        federation = federation_of([0.875, 0.87, 0.865], sites=self.SITES, rounds=80, gap=2.0 ** -6, horizon=4000000)
        if self.NETWORK:
            federation.play_over(self.NETWORK)
        for site in federation.sites:
            federation.write_agent(site, federation.policy(rounds_max=80))
        federation.write_agent(SITE, federation.policy(rounds_max=80), name=COPY)
        return federation

    def apply_anew(self, prefix):
        """Another application for the site that is copied."""
        applications = self.federation.applications
        applications.remove(self.application)
        self.application = Application(self.federation, SITE, allowance=0, batch=20, prefix=prefix)
        applications.append(self.application)
        self.application.start()

    # The others

    def epoch(self):
        return wait_for("the coordinator answers", self.federation.status)["epoch"]

    def serve(self, site, left=0):
        """The application serves the plan but for so many pulls."""
        federation = self.federation
        application = federation.application_of(site)
        epoch = self.epoch()
        status = wait_for(f"{site} is in epoch {epoch}", lambda: self.is_in(site, epoch))
        if status["phase"] != "exploring" or status["unserved"] <= left:
            return
        application.allowance = application.counts["planned"] + status["unserved"] - left
        wait_for(f"{site} has served all but {left}", lambda: self.has_left(site, left, application), 60)
        application.allowance = 0

    def is_in(self, site, epoch):
        status = self.federation.site_status(site)
        return status if status and status["epoch"] >= epoch else None

    def has_left(self, site, left, application):
        """A state that is put back may have less of the plan served than the application knows: it goes on."""
        is_idle = application.counts["planned"] >= application.allowance
        status = self.federation.site_status(site)
        if not status or status["open"] > 0:
            return False
        if is_idle and status["unserved"] > left:
            application.allowance = application.counts["planned"] + status["unserved"] - left
        return status["unserved"] <= left

    def is_over(self, epoch):
        return self.federation.is_at(epoch + 1)

    def end_round(self, epoch):
        for site in self.federation.sites:
            if self.epoch() == epoch:
                self.serve(site)
        wait_for(f"the end of round {epoch}", lambda: self.is_over(epoch), 60)

    def serve_others(self):
        for site in self.federation.sites:
            if site != SITE:
                self.serve(site)

    def kill_holders(self):
        for name in self.HOLDERS:
            self.federation.kill(name)

    def start_holders(self):
        for name in self.HOLDERS:
            self.federation.start(name)

    # Copies

    def folder(self, name):
        return self.federation.folder / f"state-{name}"

    def copy(self, end):
        """Of the state in a plan that is nearly served."""
        self.serve(SITE, LEFT)
        end(SITE)
        shutil.rmtree(self.folder(COPY), ignore_errors=True)
        shutil.copytree(self.folder(SITE), self.folder(COPY))

    def outbox(self, name):
        """Of a copy: who reads a state leaves files beside it."""
        shutil.rmtree(self.folder("look"), ignore_errors=True)
        shutil.copytree(self.folder(name), self.folder("look"))
        return self.federation.outbox("look")

    def release(self, epoch):
        """The original goes on until its report is out."""
        self.federation.start(SITE)
        self.serve(SITE)
        wait_for(f"report {epoch}", lambda: epoch in self.left())

    def play_copy(self, epoch, kind):
        """It asks at once; until it says that it may not."""
        federation = self.federation
        before = len(self.commits().get(epoch, ()))
        federation.start(COPY)
        hasty = Application(federation, COPY, batch=20, prefix=f"copy {time.monotonic()} ")
        hasty.start()
        if kind == "down":
            federation.wait_for_log(COPY, "waits for its grant")
            self.start_holders()
        wait_for("the copy stops", lambda: federation.phase(COPY) in ("blocked", "halted"), 40)
        status = federation.site_status(COPY)
        hasty.over = True
        hasty.join(20)
        federation.kill(COPY)
        require(status["trouble"] and status["release_epoch"] < epoch, f"{status}")
        require(" two-states: " in federation.log(COPY) or " halted: " in federation.log(COPY), "it stops in silence")
        self.drawn[kind] += len(self.commits().get(epoch, ())) - before
        (federation.folder / f"{COPY}.log").unlink()

    def commits(self):
        return self.federation.by_epoch(self.federation.topic(f"up/{SITE}/elimination"), wire.is_commit)

    def left(self):
        """{epoch: set of what left of it}."""
        return self.federation.reports(SITE)

    def in_ledger(self, payload):
        """What leaves of a row of the ledger."""
        return payload

    def check(self):
        """What left: one report an epoch."""
        left = self.left()
        several = {epoch: len(found) for epoch, found in left.items() if len(found) > 1}
        require(not several, f"different reports: {several}")
        return len(left)

    def check_flags(self):
        """The hub has a word for it, and has none of the others."""
        sites = {site["name"]: site["two_states"] for site in self.federation.status()["sites"]}
        if max(len(found) for found in self.commits().values()) > 1:
            require(sites[SITE] and f"two states of site {SITE}" in self.federation.log("coordinator"), "no word of the hub")
        require(not any(is_flagged for name, is_flagged in sites.items() if name != SITE), f"{sites}")

    def end(self, kind, tries):
        released = self.check()
        draws = {epoch: len(found) for epoch, found in self.commits().items()}
        print(f"           {kind}: {tries} tries; {released} epochs released, {sum(draws.values())} draws committed, "
              f"{self.drawn[kind]} of them by copies", flush=True)
        self.federation.end_applications()
        return draws


class RingTrial(Trial):
    """Four sites that judge for themselves; the neighbours of the one that is copied hold its releases."""
    SITES = 4
    NETWORK = {"kind": "ring"}
    HOLDERS = ("site-1", "site-3")

    def epoch(self):
        return wait_for("site-0 is in the run", lambda: (self.federation.site_status("site-0") or {}).get("epoch"))

    def is_in(self, site, epoch):
        """And has a plan, or has served it: a restart in the first epoch asks around before."""
        status = super().is_in(site, epoch)
        has_drawn = status and (status["release_epoch"] >= epoch or status["waits_for"]["for"] == "the grant of its release")
        return status if status and (status["unserved"] > 0 or has_drawn) else None

    def is_over(self, epoch):
        return all((self.federation.site_status(site) or {"epoch": 0})["epoch"] > epoch
                   for site in self.federation.sites)

    def peer_words(self):
        return [(topic, payload) for topic, payload in list(self.federation.tap.seen) if "/peer/" in topic]

    def commits(self):
        found = {}
        for topic, payload in self.peer_words():
            if f"/peer/{SITE}/" in topic and wire.is_commit(payload):
                found.setdefault(wire.epoch_of(payload), set()).add(payload)
        return found

    def left(self):
        """Rows, whoever passes them on, with what opens them."""
        found = {}
        for _, payload in self.peer_words():
            for site, row in wire.rows_of(payload):
                if site == 2:
                    found.setdefault(wire.epoch_of(payload), set()).add(row)
        return found

    def in_ledger(self, payload):
        body = wire.fields(wire.fields(payload)[18])
        return body[3], body[5] + body[6]

    def check_flags(self):
        flagged = {site: self.federation.site_status(site)["two_states"] for site in self.federation.sites
                   if site != SITE}
        if max(len(found) for found in self.commits().values()) > 1:
            require(any(SITE in flagged[holder] and f"two states of site {SITE}" in self.federation.log(holder)
                        for holder in self.HOLDERS), f"no word of a holder: {flagged}")
        require(not flagged["site-0"] and all(names in ([], [SITE]) for names in flagged.values()), f"{flagged}")


def restore_often(trial, kind, tries):
    """The original released; an old copy is started in its place."""
    federation = trial.federation
    for _ in range(tries):
        epoch = trial.epoch()
        if kind == "ahead":
            trial.serve_others()
        trial.copy(federation.stop)
        trial.release(epoch)
        if kind == "ahead":
            wait_for("the others are ahead", lambda: trial.is_over(epoch))
        federation.kill(SITE)
        if kind == "down":
            trial.kill_holders()
        trial.play_copy(epoch, kind)
        federation.start(SITE)
        trial.end_round(epoch)
    trial.end(kind, tries)
    trial.check_flags()
    if kind in trial.DRAWS:
        require(trial.drawn[kind] == tries, f"{trial.drawn[kind]} draws of copies in {tries} tries: no test")


def one_that_was_granted(trial, epoch):
    for name in (SITE, COPY):
        status = trial.federation.site_status(name)
        if status and status["release_epoch"] >= epoch:
            return name
    return None


def granted_or_refused(trial, epoch):
    return one_that_was_granted(trial, epoch) or trial.federation.phase(SITE) == "blocked"


def winner_of(trial, epoch):
    """Two with one certificate take the connection from each other: if that goes on, one is tried after the other."""
    federation = trial.federation
    end = time.monotonic() + 15
    while time.monotonic() < end:
        if one_that_was_granted(trial, epoch):
            return one_that_was_granted(trial, epoch)
        time.sleep(0.05)
    federation.kill(COPY)
    if wait_for("it is granted or refused", lambda: granted_or_refused(trial, epoch), 60) == SITE:
        return SITE
    federation.kill(SITE)
    federation.start(COPY)
    return wait_for("the other one is granted", lambda: one_that_was_granted(trial, epoch), 60)


def have_both_drawn(federation):
    return all((federation.site_status(name) or {}).get("waits_for", {}).get("for") == "the grant of its release"
               for name in (SITE, COPY))


def clone_often(trial, tries):
    """Two at once; in every other try the holders come when both have drawn."""
    federation = trial.federation
    granted = collections.Counter()
    both = 0
    for number in range(tries):
        epoch = trial.epoch()
        trial.copy(federation.stop)
        if number % 2 == 0:
            trial.kill_holders()
        clone = Application(federation, COPY, batch=20, prefix=f"clone {number} ")
        clone.allowance = trial.ON
        federation.start(SITE)
        federation.start(COPY)
        trial.application.allowance = trial.application.counts["planned"] + trial.ON
        clone.start()
        if number % 2 == 0:
            wait_for("both have drawn", lambda: have_both_drawn(federation), 40)
            trial.start_holders()
        winner = winner_of(trial, epoch)
        time.sleep(1)  # two with one certificate take the connection from each other
        for application in (trial.application, clone):  # nothing is in flight when the states change
            application.over = True
            application.join(10)
        federation.kill(SITE)
        federation.kill(COPY)
        drawn = {trial.in_ledger(outbox[epoch][0]) for outbox in map(trial.outbox, (SITE, COPY)) if epoch in outbox}
        both += len(drawn) > 1
        granted[winner] += 1
        if winner == COPY:
            shutil.rmtree(trial.folder(SITE))
            shutil.move(trial.folder(COPY), trial.folder(SITE))
        federation.start(SITE)
        trial.apply_anew(f"after {number} ")
        trial.end_round(epoch)  # which takes the report
        require(trial.left()[epoch] <= drawn, f"epoch {epoch}: what left is in neither ledger")
        trial.check()
    trial.end(f"clones ({dict(granted)} granted; both drew in {both} tries)", tries)
    require(both >= tries // 2, f"both drew in {both} tries only")


def lose_log_often(trial, tries):
    """And the witness, as if the process had ended by itself. A draw is folded into the file before anything of it
    leaves (decision 33): the file alone says the same words again, and draws nothing anew, however much it is asked."""
    federation = trial.federation
    for _ in range(tries):
        epoch = trial.epoch()
        trial.copy(federation.kill)
        trial.release(epoch)
        federation.kill(SITE)
        shutil.rmtree(trial.folder(COPY))
        shutil.copytree(trial.folder(SITE), trial.folder(COPY))
        for name in ("state.db-wal", "state.db-witness"):
            (trial.folder(COPY) / name).unlink()
        federation.start(COPY)
        hasty = Application(federation, COPY, batch=20, prefix=f"copy {time.monotonic()} ")
        hasty.start()
        wait_for("the copy has its release", lambda epoch=epoch: one_that_was_granted(trial, epoch) == COPY, 40)
        hasty.over = True
        hasty.join(20)
        federation.kill(COPY)
        require(len(trial.commits()[epoch]) == 1, f"another draw of epoch {epoch}")
        federation.start(SITE)
        trial.end_round(epoch)
    draws = trial.end("log and witness deleted", tries)
    require(all(count == 1 for count in draws.values()), f"{draws}")
