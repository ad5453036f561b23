#!/usr/bin/env python3
"""Federations of each protocol over a broker that is an enemy (liar.py): the winner is the same, and nothing is taken that
a site or the coordinator did not sign for this run and topic. See support.py."""
import collections
import os
import pathlib
import sys
import threading
import time

import support
from liar import Liar
from support import IS_LONG, require, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))  # the examples have files of these names, too
import contexts  # noqa: E402
import gossip  # noqa: E402
import peers  # noqa: E402
import phased  # noqa: E402
import restore  # noqa: E402
import training  # noqa: E402
import votes  # noqa: E402

support.TESTS.clear()  # those of the modules above are theirs
SHARE = {"drop": 0.06, "delay": 0.2, "repeat": 0.3, "alter": 0.5, "forge": 0.5}
LIES_MIN = int(os.environ.get("TACIT_TEST_LIES", 10000 if IS_LONG else 200))  # of each of repeat, alter, forge
BUFFER_MAX = 100000  # bytes that a receiver has not taken yet
KIND_MIN = int(os.environ.get("TACIT_TEST_LIES_KIND", 1000 if IS_LONG else 10))  # and so many of these of each kind of word


def long_test(function):
    return support.test(function) if IS_LONG else function


def counted(federation, name):
    """Words that were refused, because nobody signed them or for other reasons; None: it does not answer."""
    if name == "coordinator":
        status = federation.status()
        return status and (status["unsigned"], status["refused"], status["offenders"])
    status = federation.site_status(name)
    return status and (status["unsigned_messages"], status["refused_messages"], status["offenders"])


def unread(offenders):
    return sum(one["unread"] for one in offenders)


def check_all_refused(federation, liar):
    """Each word that nobody signed was refused as such, or was not read at all."""
    for name in ("coordinator", *federation.sites):
        def is_counted(name=name):
            found = counted(federation, name)
            return found and found[0] + unread(found[2]) >= liar.lies[name] and found
        unsigned, refused, offenders = wait_for(f"{name} has refused {liar.lies[name]} lies", is_counted)
        require(unsigned <= liar.lies[name], f"{name} refused {unsigned} of {liar.lies[name]} lies, and true words")
        require(refused + unread(offenders) >= liar.lies[name] + liar.replays[name], f"{name}: words of another run")
        require(liar.lies[name] == 0 or offenders, f"{name} does not name the offender")


def flood(federation, liar):
    """Old words again, and lies, until there were enough of each act and of each kind; no faster than they are read."""
    words = collections.defaultdict(list)
    for name, heard in liar.old.items():
        for topic, payload in heard:
            words[liar.kind_of(topic, payload)].append((name, topic, payload))

    def lacking(act):
        few = [kind for kind in words if liar.kinds[act][kind] < KIND_MIN and any(one[0] in liar.peers for one in words[kind])]
        return few or (list(words) if liar.done[act] < LIES_MIN else [])

    def fill():
        for act in ("repeat", "alter", "forge"):
            for _ in range(40):
                kinds = lacking(act)
                name, topic, payload = liar.random.choice(words[liar.random.choice(kinds)]) if kinds else (None, None, None)
                peer = liar.peers.get(name)
                if peer is None or peer.writer.transport.get_write_buffer_size() > BUFFER_MAX:
                    continue
                liar.note(act, topic, payload)
                if act == "repeat":
                    liar.deliver(peer, topic, payload)
                elif act == "alter":
                    liar.lie(peer, topic, liar.altered(payload))
                else:
                    liar.forge(peer, topic, payload)
    while any(lacking(act) for act in ("repeat", "alter", "forge")):
        is_done = threading.Event()  # the liar has other work, too: to acknowledge and to answer
        liar.loop.call_soon_threadsafe(lambda is_done=is_done: (fill(), is_done.set()))
        is_done.wait(60)
        time.sleep(0.1)
        require(liar.trouble is None, str(liar.trouble))


def play(federation, run, has_joined=None, share=SHARE, needs_liar=False):
    """Starts all over the liar, lets it loose when all have joined, and runs to the end."""
    with Liar(federation, int(support.seeded().random() * 1e9), share) as liar:
        for name in ("coordinator", *federation.sites):
            federation.start(name)
        wait_for("all have joined", lambda: all((has_joined or federation.has_joined)(site) for site in federation.sites), 120)
        before = {name: counted(federation, name) for name in ("coordinator", *federation.sites)}
        require(all(one[0] == 0 for one in before.values()), f"true words were refused: {before}")
        liar.is_honest = False
        run(*([liar] if needs_liar else []))
        flood(federation, liar)
        liar.is_honest = True
        check_all_refused(federation, liar)
        require(liar.trouble is None, str(liar.trouble))
        for act in ("alter", "forge"):
            require(liar.done[act] >= max(5, LIES_MIN), f"hardly any {act}: {liar.done}")
        print(f"{dict(liar.done)}; forged: {dict(sorted(liar.kinds['forge'].items()))}")


def run_to_winner(federation, arm, seconds=180):
    federation.apply()
    status = wait_for("the run ends", federation.is_finished, seconds)
    require(status["winner"] == f"arm {arm}", f"another winner: {status['winner']}")
    federation.wait_for_sites("knows", federation.has_decided, seconds)


@support.test
def over_a_broker_that_lies_elimination_finds_the_same_winner(federation_of):
    federation = federation_of([0.875, 0.5, 0.125], rounds=4, gap=0.25)
    play(federation, lambda: run_to_winner(federation, 0))


def begin_second(federation, liar):
    federation.stop("coordinator")
    federation.write_coordinator(federation.run_section(id=2))
    for counts in (liar.lies, liar.replays):
        counts["coordinator"] = 0  # another process counts anew
    federation.start("coordinator")


def is_refused(federation, site, words="older one"):
    return words in (federation.site_status(site)["refusal"] or "")


@support.test
def announcements_that_were_lost_come_again_and_old_ones_do_not_stay(federation_of):
    """A broker keeps those of the second run to itself, all connections standing; then says that of the first again."""
    federation = federation_of([0.875, 0.5, 0.125], sites=2, rounds=2, gap=0.25, runs="join")
    announced = {site: federation.topic(f"to/{site}/announce") for site in federation.sites}
    with Liar(federation, 3, {}) as liar:
        for name in ("coordinator", *federation.sites):
            federation.start(name)
        run_to_winner(federation, 0)
        first = dict(liar.retained)
        federation.allow(0)
        liar.hold = list(announced.values())
        begin_second(federation, liar)
        wait_for("all were announced to", lambda: all(liar.retained[topic] != first[topic] for topic in liar.hold), 120)
        require(all(run_of(federation, site) == 1 for site in federation.sites), "nothing was lost")
        liar.hold = []
        wait_for("all sites are in run 2", lambda: all(run_of(federation, site) == 2 for site in federation.sites), 30)
        topic = announced["site-0"]

        def repeat(payload, words):
            said = federation.log("site-0").count(words)
            liar.loop.call_soon_threadsafe(lambda: liar.deliver(liar.peers["site-0"], topic, payload))
            wait_for("it is refused", lambda: federation.log("site-0").count(words) > said, 30)
        foreign = liar.of_another_version(topic, first[topic][:-65] + b"\0")  # when programs were others
        for payload, words in ((first[topic], "older one"), (foreign, "a message of version")):
            repeat(payload, words)
            wait_for("it is over, for the broker was asked", lambda words=words: not is_refused(federation, "site-0", words), 30)
        orders = [federation.topic(f"{way}/{federation.protocol}") for way in ("down", "to/site-0")]
        liar.hold = [topic, *orders]  # it is asked, and answers nothing
        repeat(first[topic], "older one")
        require(is_refused(federation, "site-0") and run_of(federation, "site-0") == 2, "an older run is not spoken of")
        liar.hold = [topic]
        federation.allow(10 ** 9)
        wait_for("it is over, for the coordinator speaks", lambda: not is_refused(federation, "site-0"), 120)
        wait_for("the second run ends", federation.is_finished, 180)
        federation.end_applications()


@support.test
def over_a_broker_that_lies_a_second_run_follows_the_first(federation_of):
    """The words of the first run come again in the second, among them its announcements and entries; an arm is retired."""
    federation = federation_of([0.875, 0.5, 0.125], rounds=2, gap=0.25, runs="join")

    def two_runs(liar):
        run_to_winner(federation, 0)
        liar.is_honest = True
        begin_second(federation, liar)
        wait_for("the second run is announced", lambda: (federation.status() or {}).get("run_id") == 2, 120)
        wait_for("the coordinator listens", lambda: "coordinator" in liar.peers and len(liar.peers["coordinator"].patterns) >= 3, 120)
        liar.is_honest = False
        wait_for("all sites are in run 2", lambda: all(run_of(federation, site) == 2 for site in federation.sites), 120)
        done = support.subprocess.run([support.TACIT, "control", str(federation.folder / "state-coordinator"), "retire", "arm 2"],
                                      capture_output=True, text=True, timeout=120, check=False)
        require(done.returncode == 0 or "the run is over" in done.stderr, f"{done}")
        status = wait_for("the second run ends", lambda: (federation.is_finished() or {}).get("run_id") == 2 and
                          federation.status(), 180)
        require(status["winner"] == "arm 0", f"another winner: {status['winner']}")
        federation.wait_for_sites("knows", federation.has_decided, 120)
        federation.end_applications()
        for site in federation.sites:
            ledger = federation.get(site, "/v1/ledger")
            numbers = [(one["run"], one["epoch"]) for one in ledger["releases"]]
            require(numbers == sorted(set(numbers)) and ledger["spent"] <= federation.epsilon, f"{site}: {ledger}")
    play(federation, two_runs, needs_liar=True)


def run_of(federation, site):
    return int((federation.site_status(site) or {"run": "0" * 32}).get("run", "0" * 32)[16:], 16)


@support.test
def a_coordinator_that_recovers_takes_no_entry_that_is_not_signed(federation_of):
    """One site's entry is held back, and lies come in its place: it waits, counts them, and is built when the true one
    comes; the run ends with the same winner."""
    federation = federation_of([0.875, 0.75, 0.125], rounds=4, gap=0.25, horizon=4000000)
    with Liar(federation, 7, {"alter": 1, "forge": 1}) as liar:
        for name in ("coordinator", *federation.sites):
            federation.start(name)
        federation.apply(allowance=federation.all_to(1))
        wait_for("the second epoch", lambda: federation.are_in(2), 120)
        shown = federation.topic("up/site-2/chain")
        wait_for("it shows its entry", lambda: liar.retained.get(shown) and federation.site_status("site-2")["entry"] ==
                 federation.status()["entry"], 120)
        state = restore.Entry(liar.retained[federation.topic("down/chain")]).state
        federation.lose("coordinator")
        liar.hold = [shown]
        liar.lies.clear()
        began = time.monotonic()
        federation.start_with("coordinator", "--recover")
        wait_for("it waits for site-2", lambda: (federation.status() or {}).get("waits_for") == ["site-2"], 120)
        true, said = liar.retained[shown], 0

        def lie():
            peer = liar.peers["coordinator"]
            for _ in range(100):
                liar.lie(peer, shown, liar.altered(true))
                liar.forge(peer, shown, true)
                liar.deliver(peer, federation.topic("up/site-1/chain"), liar.retained[federation.topic("up/site-1/chain")])
        while said < LIES_MIN:
            liar.loop.call_soon_threadsafe(lie)
            said += 100
            time.sleep(0.1)
        status = wait_for("it has refused them all", lambda: (lambda now: now if now and now["unsigned"] + now["unread"] >=
                                                              liar.lies["coordinator"] else None)(federation.status()), 120)
        require(liar.lies["coordinator"] >= LIES_MIN and status["phase"] == "recovering", f"{status}")
        require(status["waits_for"] == ["site-2"] and status["shown"] == 2, f"{status}")
        minutes = 2 + (time.monotonic() - began) / 60  # 60 lines at once, and 60 a minute for each name
        require(federation.log("coordinator").count(" refused: ") <= 3 * 60 * minutes, "a line for each of them")
        liar.hold = []
        liar.loop.call_soon_threadsafe(lambda: liar.deliver(liar.peers["coordinator"], shown, true))
        wait_for("it is built again", lambda: (federation.status() or {}).get("phase") in ("collecting", "waiting"), 180)
        chain = restore.Entry(liar.retained[federation.topic("down/chain")])
        require(chain.state == state, "a closed round is another one after the rebuild")
        federation.allow(10 ** 9)
        status = wait_for("the run ends", federation.is_finished, 180)
        require(status["winner"] == "arm 0", f"{status}")
        print(f"{liar.lies['coordinator']} lies about the chain while it recovers")


@support.test
def a_site_that_has_not_joined_takes_no_announcement_that_is_not_signed(federation_of):
    """All that it is shown are lies, of all forms, and what was true for somebody else: it waits, and goes on when the
    true one comes."""
    federation = federation_of([0.875, 0.5, 0.125], sites=2)
    with Liar(federation, 5, {"drop": 1, "alter": 1, "forge": 1}) as liar:
        federation.start("coordinator")
        federation.start("site-1")
        wait_for("somebody has joined", lambda: federation.has_joined("site-1"), 120)
        true = liar.retained[federation.topic("to/site-0/announce")]
        liar.hold = [federation.topic("to/site-0/announce")]
        federation.start("site-0")
        wait_for("it is there", lambda: "site-0" in liar.peers and len(liar.peers["site-0"].patterns) >= 4, 120)
        wait_for("it knows the coordinator's key", lambda: liar.old["site-0"], 120)

        def lie():
            peer, topic = liar.peers["site-0"], federation.topic("to/site-0/announce")
            for _ in range(200):
                liar.lie(peer, topic, liar.altered(true))
                liar.lie(peer, topic, true[:-65] + b"\0")
            other = liar.retained[federation.topic("to/site-1/announce")]
            liar.lie(peer, topic, other)  # true, for another site
        liar.loop.call_soon_threadsafe(lie)
        wait_for("it has refused them",
                 lambda: (counted(federation, "site-0") or (0,))[0] == liar.lies["site-0"] == 401, 120)
        require(federation.phase("site-0") == "waiting for an announcement", f"{federation.site_status('site-0')}")
        require(federation.log("site-0").count(" refused: ") <= 80, "a line for each of them")
        require(federation.site_status("site-0")["offenders"][0]["name"] == "coordinator", "the offender is not named")
        liar.hold = []
        liar.loop.call_soon_threadsafe(lambda: liar.deliver(liar.peers["site-0"], federation.topic("to/site-0/announce"),
                                                            true))
        wait_for("it joins", lambda: federation.has_joined("site-0"), 120)


# ---- The same for every family ----

def with_tap(trial):
    trial.run_tacit("pki", "--directory", trial.pki, "tap")
    return trial


def ring_decides(federation):
    federation.apply()
    federation.wait_for_sites("decides", federation.has_decided, 400)
    require(all(federation.site_status(site)["active_arms"] == ["arm 0"] for site in federation.sites), "another winner")


def three_vote(federation):
    federation.apply(federation.sites[:3])
    wait_for("the run ends", federation.is_finished, 400)
    require(federation.status()["winner"] == f"arm {votes.BEST}", "another winner")


def gossip_puts_first(federation):
    federation.apply(batch=1)
    wait_for("all sites finish", lambda: gossip.all_finished(federation), 400)
    require(all(federation.site_status(site)["estimates"][0]["name"] == "arm 1" for site in federation.sites), "another arm first")


def contexts_learn(trial):
    require(trial.play(120) > 2, "hardly an update")
    trial.check_model()


def training_ends(trial):
    require(trial.wait_for_end(400)["rounds"] == 4, "another number of rounds")


FAMILIES = {
    "a_ring_finds_the_same_winner": (lambda of: peers.peers(of, peers.RING), ring_decides),
    "two_stars_find_the_same_winner": (lambda of: peers.peers(of, peers.TWO_STARS), lambda one: run_to_winner(one, 0, 400)),
    "phases_find_the_same_winner": (lambda of: phased.made_by(of, [0.875, 0.5, 0.125]), lambda one: run_to_winner(one, 0, 400)),
    "votes_find_the_same_winner": (lambda of: of(kind=votes.Votes), three_vote),
    "gossip_puts_the_same_arm_first": (gossip.gossips, gossip_puts_first),
    "a_model_is_that_of_the_simulator": (lambda of: with_tap(of(kind=contexts.Trial)), contexts_learn),
    "a_training_ends_everywhere": (lambda of: of(kind=training.Training, sites=3, rounds=4), training_ends),
}


def over_a_liar(name, make, run):
    def over(federation_of):
        federation = make(federation_of)
        is_model = isinstance(federation, contexts.Trial)
        play(federation, lambda: run(federation), (lambda site: "model" in (federation.site_status(site) or {})) if is_model else None)
    over.__name__ = f"over_a_broker_that_lies_{name}"
    return long_test(over)


for family, steps in FAMILIES.items():
    over_a_liar(family, *steps)


if __name__ == "__main__":
    support.main()
