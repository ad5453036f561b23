#!/usr/bin/env python3
"""Two aggregators, live: a helper beside the coordinator, over mutual TLS: a run from the agreement to the end, kills, a
helper that is away, files in place of the broker, the simulator's run byte for byte, old states, refusals. See support.py."""
import functools
import math
import re
import shutil
import signal
import struct
import subprocess
import time

from patients import distinct, play_in_turn, simulate_phased, start_patients, told_by
from support import IS_LONG, TACIT, Two, control, kill_anybody, main, require, test, wait_for
import support
import wire

LIVE = ("phased-index", "elimination", "votes")
OFFER = 1  # LIVE_TRUST_OFFER, the first byte of what is said to the helper


def made_by(federation_of, *arguments, **options):
    return federation_of(*arguments, kind=Two, **options)


def each(function):
    """Of each protocol that has two aggregators live."""
    @functools.wraps(function)
    def of_each(federation_of):
        for protocol in LIVE:
            function(functools.partial(made_by, federation_of, protocol=protocol))
    return test(of_each)


def check_end(federation, seconds=60):
    """Everybody is of one mind; what the coordinator knows of arms is what the sites' rewards come to; no site's sums
    were readable on the way; and each reward was charged once."""
    status = wait_for("the run ends", federation.is_finished, seconds)
    best = max(range(len(federation.means)), key=lambda arm: federation.means[arm])
    require(status["winner"] == f"arm {best}", f"the winner is {status['winner']}")
    for arm, mean in zip(status["arms"], federation.means, strict=True):
        require(arm["lower"] <= mean <= arm["upper"], f"{arm}: {mean} is not in it")
        require(abs(arm["mean"] - mean) < 0.01, f"{arm}: the totals say otherwise than {mean}")
    federation.wait_for_sites("knows", federation.has_decided, 40)
    federation.end_applications()
    for site in federation.sites:
        ledger = federation.get(site, "/v1/ledger")
        require(ledger["spent"] == federation.epsilon, f"{site} spent {ledger['spent']}")
    return status


def begun(federation, rounds, **options):
    """Its first rounds are closed."""
    federation.begin(**options)
    wait_for(f"{rounds} rounds", lambda: (federation.status() or {}).get("rounds", 0) >= rounds, 60)
    return federation


def ask_in_vain(federation):
    """The helper is away."""
    federation.allow(math.inf)
    wait_for("the helper is asked", lambda: federation.status()["helper_waited_s"] > 0, 40)


def causes_of(status):
    return " ".join(cause["what"] for cause in (status or {}).get("causes", []))


# ---- Runs ----

def check_page(federation, *words):
    page = federation.page_of_helper()
    for word in words:
        require(word in page, f"{word!r} is not on the helper's page: {page[-4000:]}")


@each
def a_run_from_the_agreement_to_its_end(made):
    federation = made([0.875, 0.5, 0.825, 0.125])
    federation.start_all([])
    federation.start("helper")
    wait_for("it listens", federation.helper)
    check_page(federation, "no run was agreed to yet", "the coordinator's offer of a run, for ", "not heard since this helper started")
    for name in ("coordinator", *federation.sites):
        federation.start(name)
    wait_for("a run is offered", lambda: federation.helper()["phase"] == "asked to agree", 30)
    wait_for("the page says so", lambda: "its operator's word, for " in federation.page_of_helper(), 5)
    check_page(federation, "a run is offered, and waits to be agreed to", f"tacit helper agree {federation.folder / 'state-helper'}")
    shown = federation.agree()
    federation.apply()
    for site in federation.sites:
        require(f"{federation.fingerprint(site)}  {site}" in shown, f"{site} is not in {shown}")
    require(f"epsilon per reward: {federation.epsilon:g}" in shown, shown)
    while not federation.is_finished():
        causes = causes_of(federation.status())
        require("waits for the helper" not in causes or "not agreed" in causes, f"it answers: {causes}")
        time.sleep(0.2)
    wait_for("rounds", lambda: "was answered last, of 3 of 3 sites" in federation.helper()["headline"], 60)
    check_page(federation, "run 1; round ", f"epsilon {federation.epsilon:g}" if federation.more else "none: with the coordinator",
               *(" ".join(re.findall(".{8}", federation.fingerprint(site))) for site in federation.sites))
    status = check_end(federation)
    require(status["helper_answers"] >= status["rounds"] > 3, f"{status['helper_answers']} answers, {status['rounds']} rounds")
    wait_for("the helper's key is gone", lambda: federation.helper()["phase"] == "over", 20)
    check_page(federation, "its key is destroyed, after run 1", "the coordinator's offer of a run")
    to_helper = federation.topic("to/helper/helper")
    offer = next(payload for topic, payload in federation.tap.messages if topic == to_helper and payload[0] == OFFER)
    federation.client("coordinator").publish(to_helper, offer)
    wait_for("the offer comes again", lambda: "an offer of a run that is over" in federation.log("helper"), 20)
    require(federation.helper()["phase"] == "over", "its operator is asked about a run of before")
    script = federation.text("helper", "/dashboard.js")
    require("fetch(location.pathname" in script and "GET /, /status" in federation.text("helper", "/runs"), script[:80])
    metrics = support.metrics_of(federation.text("helper", "/metrics"))
    require("tacit_helper_state" in metrics and "tacit_helper_answers_total" in metrics, f"{sorted(metrics)}")
    statement = federation.text(federation.sites[0], "/v1/statement")
    require("There are two aggregators" in statement and "nothing is protected" in statement, statement[:300])
    check_topics(federation)
    for name in ("helper", "coordinator", *federation.sites):
        federation.stop(name)


def check_topics(federation):
    """Whoever has the helper's certificate hears its one topic, and nothing of the sites."""
    federation.stop("helper")
    heard = set()
    for rest in (f"up/+/{federation.protocol}", "key/+", f"down/{federation.protocol}", "to/site-0/announce", "to/helper/helper"):
        client = wire.Mqtt(federation.context("helper"), federation.port)
        client.socket.settimeout(2)
        client.subscribe(federation.topic(rest))
        try:
            while True:
                kind, body = client.receive()
                if kind >> 4 == 3:
                    heard.add(body[2:2 + int.from_bytes(body[:2], "big")].decode())
        except (OSError, ConnectionError):
            client.close()
    require(heard <= {federation.topic("to/helper/helper")}, f"the helper's certificate reads {heard}")
    federation.start("helper")


@each
def a_floor_is_the_sites_own_noise(made):
    federation = made([0.875, 0.5, 0.125], trust={"floor": 2000})
    shown = federation.begin()
    require("noise of the sites' own: epsilon 2000" in shown, shown)
    check_end(federation)


@test
def totals_of_published_sums_have_the_noise_of_two(federation_of):
    """Each arm brings 1/2 each time, so that what its mean is beyond that is noise: of two in each round, however many sites."""
    arms, epsilon = 400, 8.0
    federation = made_by(federation_of, [0.5] * arms, protocol="votes", epsilon=epsilon, horizon=30_000)
    federation.begin()
    status = wait_for("the run ends", federation.is_finished, 150)
    rounds, pulls = status["rounds"], status["pulls"] / arms  # of a site and an arm
    require(rounds in (1, 2, 3, 4, 5, 7), f"{rounds} rounds: no look is the last of them")
    noises = [(arm["mean"] - 0.5) * pulls * len(federation.sites) for arm in status["arms"]]
    ratio = sum(noise ** 2 for noise in noises) / arms / (2 * rounds * 2 / epsilon ** 2)
    print(f"           {rounds} rounds of {pulls / rounds:g} pulls: noise is {ratio:.3f} of what it has to be", flush=True)
    require(abs(ratio - 1) < 4 * (2.75 / arms) ** 0.5, f"{ratio} of the variance")


@test
def kill_9_of_anybody_loses_nothing(federation_of):
    kills = 500 if IS_LONG else 15
    for protocol in LIVE:
        federation = made_by(federation_of, [0.875, 0.5, 0.825, 0.125], protocol=protocol)
        federation.begin(allowance=1, batch=20)
        kill_anybody(federation, kills // len(LIVE), 3000, ["helper", "coordinator", *federation.sites])
        check_end(federation, 120)


@test
def what_the_operator_said_outlives_the_helper(federation_of):
    """It dies as it writes what it agreed to: nobody is asked again."""
    federation = made_by(federation_of, [0.875, 0.5, 0.125])
    federation.start_all()
    federation.start("helper")
    wait_for("a run is offered", lambda: (federation.helper() or {}).get("phase") == "asked to agree", 30)
    federation.stop("helper")
    federation.start("helper", TACIT_CRASH_AT="before-commit:1")
    federation.agree()
    wait_for("it dies", lambda: federation.processes["helper"].poll() == -signal.SIGKILL, 30)
    require("agreed: to run" in federation.log("helper"), "it died before it agreed")
    federation.start("helper")
    federation.apply()
    check_end(federation)
    for name in ("helper.offer", "helper.accepted"):
        require(not (federation.folder / "state-helper" / name).exists(), f"{name} is left")


@test
def crash_at_each_step_of_helper_and_coordinator(federation_of):
    for point in ("before-commit", "after-commit", "before-send", "after-send") if IS_LONG else ("before-commit", "after-commit"):
        federation = made_by(federation_of, [0.875, 0.5, 0.125])
        federation.begin(batch=20)
        with support.Keeper(federation, point, {"helper": 2, "coordinator": 5}, lambda name, count: 2 * count) as keeper:
            wait_for("the run ends", lambda keeper=keeper, federation=federation: keeper.trouble or federation.is_finished(), 80)
        check_end(federation)
        require(keeper.deaths >= 3, f"only {keeper.deaths} deaths at {point}")


@each
def one_site_away_and_the_quorum_goes_on(made):
    federation = begun(made([0.875, 0.5, 0.125], quorum=2, deadline_s=2), 2)
    federation.kill("site-2")
    rounds = federation.status()["rounds"]
    wait_for("rounds go on", lambda: federation.status()["rounds"] > rounds + 1 or federation.is_finished(), 60)
    federation.start("site-2")
    check_end(federation, 120)


def named(what, condition):
    """Seconds until it is said: a minute at most."""
    started = time.monotonic()
    wait_for(what, condition, 20)
    print(f"           {what}: {time.monotonic() - started:.1f} s", flush=True)


@test
def too_few_for_the_helper_is_a_void_round_and_after_two_the_operator_decides(federation_of):
    federation = begun(made_by(federation_of, [0.875, 0.5, 0.125], quorum=2, deadline_s=2, sites_min=3), 1)
    early = control(federation, "coordinator", "repeat", code=1)
    require("no round waits for that" in early, early)
    federation.kill("site-2")
    named("two void rounds", lambda: "2 rounds in a row are void" in causes_of(federation.status()))
    rounds, answers, epoch = (federation.status()[key] for key in ("rounds", "helper_answers", "epoch"))
    named("a site names it", lambda: "wait for the coordinator's operator" in causes_of(federation.site_status("site-0")))
    federation.stop("coordinator")
    federation.start("coordinator")
    time.sleep(5)
    now = wait_for("it is back", federation.status)
    require((rounds, answers, epoch) == (now["rounds"], now["helper_answers"], now["epoch"]), "it went on by itself")
    federation.start("site-2")
    done = control(federation, "coordinator", "repeat")
    require("done: repeat" in done and "new ones are played" in done, done)
    check_end(federation, 120)


@each
def hooked_liar_voids_rounds_and_is_dropped_by_the_operator(made):
    """A total that cannot be says that a site lied, not which: the operator knows, and drops it; its reports are in no sum
    any more, also after the coordinator's state was built again from the sites."""
    federation = made([0.875, 0.5, 0.125])
    is_elimination = federation.protocol == "elimination"
    federation.start_all(["coordinator", "site-0", "site-1"])
    federation.start("site-2", TACIT_TEST_MASK="lie")
    federation.start("helper")
    federation.agree()
    federation.apply()
    named("two void rounds", lambda: "2 rounds in a row are void" in causes_of(federation.status()))
    require(federation.status()["rounds"] == 0 and federation.status()["helper_answers"] == 2, f"{federation.status()}")
    for words, code, said in ((("drop", "site-9"), 2, "no such site"), (("retire", "arm 1"), 1, "sites are dropped"),
                              (("end",), 1, "nothing is known yet" if is_elimination else "no round is closed yet"), (("drop", "site-2"), 0, "done: drop site-2"),
                              (("drop", "site-1"), 1, "no more would be left")):
        done = control(federation, "coordinator", *words, code=code)
        require(said in done, f"{words}: {done}")
    wait_for("rounds go on", lambda: federation.status()["helper_answers"] >= 4, 60)
    require(federation.status()["helper_counted"] == 2, f"{federation.status()}")
    federation.stop("coordinator")
    shutil.rmtree(federation.folder / "state-coordinator")
    federation.start_with("coordinator", "--recover")
    status = check_end(federation, 120)
    require(status["helper_counted"] == 2 and status["void_rounds"] == 0, f"{status}")
    require(status["sites"][2]["dropped"] and not status["sites"][2]["asked"], f"{status['sites']}")


@each
def a_dropped_site_that_is_silent_is_not_waited_for(made):
    """All are the quorum, and the deadline is far."""
    federation = begun(made([0.875, 0.5, 0.125], sites=4, deadline_s=3600), 1, allowance=1500)
    federation.kill("site-3")
    federation.allow(math.inf)
    wait_for("it is waited for alone", lambda: federation.status()["missing"] == 1, 60)
    rounds = federation.status()["rounds"]
    time.sleep(3)
    require(federation.status()["rounds"] == rounds, "it was not waited for")
    done = control(federation, "coordinator", "drop", "site-3")
    require("done: drop site-3" in done, done)
    named("rounds go on", lambda: federation.status()["rounds"] >= rounds + 2 or federation.is_finished())
    federation.stop("coordinator")
    federation.start("coordinator")
    federation.start("site-3")
    status = wait_for("the run ends", federation.is_finished, 60)
    require(status["winner"] == "arm 0" and status["helper_counted"] == 3 and status["missing"] == 0, f"{status}")
    federation.end_applications()


def that_asks_in_vain(federation_of, protocol="phased-index"):
    """After a few rounds: the helper is away, and is asked."""
    few, second = (2, 0.5) if protocol == "phased-index" else (1, 0.825)  # a ladder has few rungs
    federation = begun(made_by(federation_of, [0.875, second, 0.125], protocol=protocol), few, allowance=3000)
    federation.stop("helper")
    ask_in_vain(federation)
    return federation


@test
def an_entry_with_another_head_of_the_helper_is_an_alarm(federation_of):
    """Orders name an entry by its number alone: two heads of the helper's answers under one number are a fork, whoever
    signed them."""
    federation = begun(made_by(federation_of, [0.875, 0.5, 0.125]), 1, allowance=1500)
    federation.wait_for_sites("holds it", lambda site: federation.site_status(site)["entry_digest"] == federation.status()["entry_digest"], 60)
    answers = federation.status()["helper_answers"]
    entry = wire.fields([payload for topic, payload in federation.tap.messages if topic == federation.topic("down/chain")][-1])
    body = bytearray(entry[12])
    dropped, signature, digest = 8, 64, 32  # what the helper's part ends with: its head is before them, and |U'| before U'
    head = len(body) - dropped - signature - digest
    require(int.from_bytes(body[head - digest - 16:head - digest - 8], "little") == answers and body[head - digest - 8] == 3, "another layout")
    body[head] ^= 1
    other = wire.message(federation.name, "coordinator", "", bytes(body), agreement=federation.agreement(), run=federation.run(), kind=2 ** 32 - 1,
                         epoch=entry[10], family=entry[2], term=entry[9], entry=entry[13])
    client = federation.client("coordinator")  # takes its place at the broker
    client.publish(federation.topic("down/chain"), federation.signed(other, "coordinator", "down/chain"), retain=True)
    for site in federation.sites:
        wait_for(f"{site} sees the fork",
                 lambda site=site: "two entries of one number" in (federation.site_status(site)["trouble"] or ""), 60)


@test
def the_operator_ends_a_run_that_waits(federation_of):
    for protocol in LIVE:
        end_what_waits(that_asks_in_vain(federation_of, protocol))


def end_what_waits(federation):
    early = control(federation, "coordinator", "horizon", "800000", code=1)
    require("begin a new run" in early, early)
    done = control(federation, "coordinator", "end")
    said = "the best mean is played" if federation.protocol == "elimination" else "the leader is played"
    require(said in done, done)
    require(federation.is_finished() and federation.status()["winner"] == "arm 0", f"{federation.status()}")
    again = control(federation, "coordinator", "end")
    require("so it was already" in again, again)
    federation.start("helper")  # what it answers comes too late, and its key goes
    wait_for("the helper's key is gone", lambda: (federation.helper() or {}).get("phase") == "over", 20)
    federation.wait_for_sites("knows", federation.has_decided, 40)
    require(federation.status()["winner"] == "arm 0", "another end")
    federation.end_applications()


@test
def an_arm_that_is_retired_while_the_helper_is_asked_goes_when_it_has_answered(federation_of):
    federation = that_asks_in_vain(federation_of)
    federation.stop("coordinator")
    federation.write_coordinator(federation.run_section(retired=["arm 1"]))
    federation.start("coordinator")
    federation.start("helper")
    status = wait_for("the run ends", federation.is_finished, 120) and federation.status()
    require(status["winner"] == "arm 0" and not status["arms"][1]["present"], f"{status}")
    federation.end_applications()


# ---- What is not in order ----

@test
def hooked_rotten_envelope_is_left_out_and_named_by_everybody(federation_of):
    for fault in ("envelope", "scope"):
        federation = made_by(federation_of, [0.875, 0.5, 0.125], quorum=2, deadline_s=2)
        federation.start_all(["coordinator", "site-0", "site-1"])
        federation.start("site-2", TACIT_TEST_MASK=fault)
        federation.start("helper")
        federation.agree()
        federation.apply(allowance=100)
        for who, look in (("helper", federation.helper), ("coordinator", federation.status)):
            named(f"{fault}: the {who} names it", lambda look=look: any(
                cause["cause"] == "left-out" and cause["who"] == ["site-2"] for cause in (look() or {}).get("causes", [])))
        wait_for("a round is answered", lambda: federation.helper()["answers"], 20)
        check_page(federation, "LEFT OUT: its report is not in order", "tacit status --config site-2.yaml", "connected to the broker",
                   "sum, for grants, release or envelope are not in order: site-2")
        named(f"{fault}: the site names it", lambda: "left this site's report out" in causes_of(federation.site_status("site-2")))
        require("left this site" not in causes_of(federation.site_status("site-0")), "another site is blamed")
        require(federation.helper()["left_out"] == ["site-2"], f"{federation.helper()}")
        federation.allow(math.inf)
        status = check_end(federation, 120)
        require(status["helper_counted"] == 2, f"{status}")
        for name in ("helper", "coordinator", *federation.sites):
            federation.stop(name)


def last_said(federation, rest):
    return [payload for topic, payload in federation.tap.messages if topic == federation.topic(rest)][-1]


def without_helper(federation_of, **options):
    """After a few rounds it is stopped."""
    federation = begun(made_by(federation_of, [0.875, 0.5, 0.825, 0.125], **options), 2, allowance=2000)
    federation.stop("helper")
    return federation


@test
def a_site_without_which_no_run_is_offered_is_named(federation_of):
    """The helper's operator is shown the keys of all sites."""
    federation = made_by(federation_of, [0.875, 0.5, 0.825, 0.125])
    federation.start_all(["coordinator", "site-0", "site-1"])
    federation.start("helper")
    named("it is named", lambda: [(one["cause"], one["who"]) for one in (federation.status() or {"causes": []})["causes"]] == [("sites", ["site-2"])])
    federation.start("site-2")
    wait_for("a run is offered", lambda: federation.helper()["phase"] == "asked to agree", 30)
    named("the helper is named", lambda: [one["cause"] for one in federation.status()["causes"]] == ["helper"])


@test
def answers_that_are_wrong_or_of_another_round_close_nothing(federation_of):
    federation = without_helper(federation_of)
    old = last_said(federation, "up/helper/helper")
    ask_in_vain(federation)
    rounds = federation.status()["rounds"]
    client = federation.client("helper")
    client.publish(federation.topic("up/helper/helper"), old)
    client.publish(federation.topic("up/helper/helper"), old[:-70] + bytes([old[-70] ^ 1]) + old[-69:])
    named("a wrong answer is named", lambda: "answers what is not in order" in causes_of(federation.status()))
    named("a site names it", lambda: "answers what is not in order" in causes_of(federation.site_status("site-0")))
    require(federation.status()["rounds"] == rounds, "a round was closed by what is no answer")
    federation.start("helper")
    wait_for("it goes on", lambda: federation.status()["rounds"] > rounds, 40)
    require("not in order" not in causes_of(federation.status()), "it is named still")
    check_end(federation)


@test
def two_helpers_of_one_state_are_proved_and_stop_the_run(federation_of):
    federation = without_helper(federation_of)
    ask_in_vain(federation)
    hub, state, file = federation.folder / "state-coordinator", federation.folder / "state-helper", federation.folder / "helper.yaml"
    copy = federation.folder / "copy"
    shutil.copytree(state, copy)
    first = federation.offline("answer", file, hub / "helper.request")
    shutil.rmtree(state)
    copy.rename(state)
    second = federation.offline("answer", file, hub / "helper.request")
    require(first.returncode == second.returncode == 0 and first.stdout != second.stdout, "two states drew the same noise")
    answers = federation.status()["helper_answers"]
    for one in (first, second):
        (hub / "helper.answer.new").write_bytes(one.stdout)
        (hub / "helper.answer.new").rename(hub / "helper.answer")
        if one is first:
            wait_for("it is taken", lambda: federation.status()["helper_answers"] > answers, 20)
    code = federation.processes["coordinator"].wait(60)
    require(code == 3 and "it has two states" in federation.log("coordinator"), f"{code}: {federation.log('coordinator')[-500:]}")
    require(not (hub / "helper.answer").exists(), "the file would stop the next one, too")


@test
def a_helper_that_has_lost_its_state_answers_nothing_and_is_named(federation_of):
    federation = without_helper(federation_of)
    shutil.rmtree(federation.folder / "state-helper")
    federation.start("helper")
    federation.allow(math.inf)
    named("the coordinator names it", lambda: "the run waits for the helper (" in causes_of(federation.status()))
    named("a site names it", lambda: "the run waits for the helper (" in causes_of(federation.site_status("site-0")))
    named("the helper names it", lambda: "no run that was agreed to" in causes_of(federation.helper()))
    rounds = federation.status()["rounds"]
    time.sleep(3)
    require(federation.status()["rounds"] == rounds, "a round was closed without the helper")


@test
def a_helper_that_is_away_is_named_and_nothing_goes_on_without_it(federation_of):
    for protocol in ("phased-index", "votes"):
        miss_the_helper(without_helper(federation_of, protocol=protocol))


def miss_the_helper(federation):
    federation.allow(math.inf)
    away = time.monotonic()
    named("the coordinator names it", lambda: "the run waits for the helper (" in causes_of(federation.status()))
    named("a site names it", lambda: "the run waits for the helper (" in causes_of(federation.site_status("site-0")))
    code, said = federation.told("coordinator")
    require(code == 1 and "waits for the helper" in said, f"{code}: {said}")
    rounds = federation.status()["rounds"]
    time.sleep(max(0, (65 if IS_LONG else 25) - (time.monotonic() - away)))
    require(federation.status()["rounds"] == rounds, "a round was closed without the helper")
    federation.start("helper")
    check_end(federation)


@test
def files_in_place_of_the_broker(federation_of):
    federation = made_by(federation_of, [0.875, 0.125], horizon=6000)
    federation.start_all()
    state, file, hub = (federation.folder / name for name in ("state-helper", "helper.yaml", "state-coordinator"))
    offer = wait_for("an offer", lambda: (hub / "helper.offer").exists() and hub / "helper.offer", 40)
    first = federation.offline("answer", file, offer)
    require(first.returncode != 0 and b"not agreed to yet" in first.stderr and first.stdout == b"", f"{first}")
    code = federation.offline("agree", state).stdout.decode().split()[-1]
    wrong = federation.offline("agree", state, "0" * 16)
    require(wrong.returncode == 2 and b"is not the code" in wrong.stderr, f"{wrong}")
    require(federation.offline("agree", state, code).returncode == 0, "it is not agreed to")

    def carry(name):
        done = federation.offline("answer", file, hub / name)
        require(done.returncode == 0, f"{done.stderr}")
        (hub / "helper.answer.new").write_bytes(done.stdout)
        (hub / "helper.answer.new").rename(hub / "helper.answer")
        return done.stderr.decode()

    carry("helper.offer")
    federation.apply()
    seen, said = None, []
    end = time.monotonic() + 240
    while not federation.is_finished():
        require(time.monotonic() < end, "the run does not end")
        request = hub / "helper.request"
        if request.exists() and request.read_bytes() != seen and not (hub / "helper.answer").exists():
            seen = request.read_bytes()
            said.append(carry("helper.request"))
        time.sleep(0.05)
    require("3 sites" in said[0] and f"epsilon {federation.epsilon:g}" in said[0], said[0])
    check_end(federation)
    wait_for("the end is said", lambda: (hub / "helper.request").read_bytes()[0] == 3, 20)
    over = federation.offline("answer", file, hub / "helper.request")
    require(over.returncode == 0 and over.stdout == b"" and b"its key destroyed" in over.stderr, f"{over}")
    late = federation.offline("answer", file, write_of(federation.folder / "late", seen))
    require(late.returncode != 0 and b"no run that was agreed to" in late.stderr and late.stdout == b"", f"{late}")


def write_of(path, data):
    path.write_bytes(data)
    return path


@test
def hooked_pieces_carry_what_is_longer_than_a_payload(federation_of):
    """Offers and requests of a coordinator whose payloads have 300 bytes; the helper comes and goes. 200 sites are no reason
    to refuse a run."""
    federation = made_by(federation_of, [0.875, 0.5, 0.125])
    federation.start_all(federation.sites)
    federation.start("coordinator", TACIT_TEST_PIECES="300")
    federation.start("helper")
    federation.agree()
    federation.apply(allowance=2000)
    wait_for("a few rounds", lambda: (federation.status() or {}).get("rounds", 0) >= 2, 60)
    federation.kill("helper")
    ask_in_vain(federation)
    federation.start("helper")
    check_end(federation)
    said = [payload for topic, payload in federation.tap.messages if topic == federation.topic("to/helper/helper")]
    require(max(map(len, said)) <= 300 and sum(payload[0] == 6 for payload in said) > 10, f"{[payload[0] for payload in said]}")
    many = federation.folder / "many.yaml"
    sites = [f"site-{number}" for number in range(200)]
    lines = [line for line in (federation.folder / "coordinator.yaml").read_text().splitlines() if not line.startswith("sites")]
    many.write_text("\n".join(lines).replace("state-coordinator", "state-many") + f"\nsites: {support.federation.json.dumps(sites)}\n")
    done = subprocess.run([TACIT, "coordinator", "--check", many], capture_output=True, text=True, check=False)
    require(done.returncode == 0, f"{done}")


# ---- The simulator ----

@test
def hooked_aggregators_come_to_the_simulator_s_totals_and_orders(federation_of):
    """The same rewards, and what the simulator's two aggregators draw: the same orders byte for byte; each total, to the
    last step, is in what the coordinator's log holds of the run."""
    for protocol, confidence, horizon in (("phased-index", 0, 2500), ("phased-index", 0.9, 9000), ("elimination", 0, 9000)):
        federation = made_by(federation_of, [0.7, 0.6, 0.4, 0.2], confidence=confidence, epsilon=4.0, horizon=horizon,
                             protocol=protocol)
        sites = len(federation.sites)
        if protocol == "elimination":
            messages, rewards, totals = told_by("TACIT_SIMULATED_PROGRAM", federation, 1, sites, sites, horizon, 4.0, 0, 1, 2, 2,
                                                0.25, *federation.means)
        else:
            messages, rewards, totals = simulate_phased(federation, 1, 0.25, aggregators=2)
        federation.start_all([])
        for name in ("coordinator", "helper"):
            federation.start(name, TACIT_TEST_AGGREGATOR=str(federation.folder / f"{name}.aggregator"))
        patients = start_patients(federation, rewards)
        federation.agree()
        for one in patients:
            wait_for(f"{one.site} joins", lambda one=one: federation.has_joined(one.site), 40)
        play_in_turn(federation, patients)
        def seen(protocol=protocol, federation=federation):
            return distinct(payload for topic, payload in federation.tap.seen if topic == federation.topic(f"down/{protocol}"))

        wait_for("the tap has heard the last order", lambda: len(seen()) >= len(messages[wire.HUB]), 5)
        orders = seen()
        require(orders == messages[wire.HUB], f"{len(orders)} orders, not {len(messages[wire.HUB])}, or other ones")
        require(len(totals) >= 3 and all(counted[0] == sites for counted in totals.values()), f"{totals}")
        entry = [payload for topic, payload in federation.tap.seen if topic == federation.topic("down/chain")][-1]
        lost = [total for counted in totals.values() for total in counted[1:] if struct.pack("<q", total) not in entry]
        require(not lost, f"totals {lost} are not in the coordinator's log")


# ---- Refusals ----

@test
def an_offer_that_the_file_does_not_allow_leaves_the_run_before_as_it_was(federation_of):
    federation = made_by(federation_of, [0.875, 0.125])
    federation.begin()
    check_end(federation)
    wait_for("the run is over", lambda: federation.helper()["phase"] == "over", 20)
    federation.stop("coordinator")
    federation.write_coordinator(federation.run_section(id=2, epsilon=2 * federation.epsilon))
    federation.start("coordinator")
    wait_for("a run is offered", lambda: federation.helper()["phase"] == "asked to agree", 30)
    federation.agree()
    wait_for("it is refused", lambda: "a larger epsilon than this file allows" in federation.log("helper"), 20)
    status = federation.helper()
    require((status["run_id"], status["epsilon"], status["left_out"]) == (1, federation.epsilon, []), f"{status}")


@test
def a_site_joins_only_what_its_own_file_says(federation_of):
    federation = made_by(federation_of, [0.875, 0.125])
    one = {key: value for key, value in federation.policy().items() if key != "trust"}
    other = {**federation.policy(), "trust": {"aggregators": 2, "helper": "0" * 64}}
    federation.write_agent("site-0", one)
    federation.write_agent("site-1", other)
    federation.start_all()
    federation.start("helper")
    federation.agree()
    for site, words in (("site-0", "trust: one aggregator here and two aggregators there"),
                        ("site-1", "another key than the one that this file pins")):
        wait_for(f"{site} says why", lambda site=site, words=words: words in causes_of(federation.site_status(site)), 30)
    wait_for("the third one joins", lambda: federation.has_joined("site-2"), 30)
    for text, words in (("protocol: elimination", "allowed with run.bounds: exact over a star"),
                        ("protocol: gossip-ucb", "has no second aggregator"), ("protocol: votes", "allowed with sharing: sums"),
                        ("quorum: 1", "two sites or more")):
        file = federation.folder / "coordinator.yaml"
        lines = [line for line in file.read_text().splitlines() if not line.startswith(("protocol", "run"))]
        run = federation.run_section(quorum=1 if "quorum" in text else 2)
        if "protocol" in text:
            run = {"horizon": 1000, "epsilon": 1, **federation.trust(), **({"accuracy": 0.1, "eta": 0.3} if "votes" in text else {})}
        word = text.split()[1] if "protocol" in text else "phased-index"
        bad = federation.folder / "bad.yaml"
        bad.write_text("\n".join(lines) + f"\nprotocol: {word}\nrun: {support.federation.json.dumps(run)}\n")
        done = subprocess.run([TACIT, "coordinator", "--check", bad], capture_output=True, text=True, check=False)
        require(done.returncode == 2 and words in done.stderr, f"{done}")


@each
def an_old_state_of_the_helper_stops_until_a_later_term(made):
    federation = begun(made([0.875, 0.5, 0.825, 0.125]), 1, allowance=1500)
    federation.back_up("helper")
    rounds = federation.status()["rounds"]
    federation.allow(3000)
    wait_for("further rounds", lambda: federation.status()["rounds"] >= rounds + 2, 60)
    federation.stop("helper")
    federation.put_back("helper")
    federation.start("helper")
    federation.allow(math.inf)
    named("it says so", lambda: "this helper's state is an old one" in causes_of(federation.helper()))
    named("the coordinator, too", lambda: "the helper refuses to answer: its own state is an old one" in
          causes_of(federation.status()))
    named("a site, too", lambda: "the helper refuses to answer" in causes_of(federation.site_status("site-0")))
    answers = federation.status()["helper_answers"]
    federation.stop("coordinator")
    federation.run_tacit("coordinator", "--config", federation.folder / "coordinator.yaml", "--new-term")
    federation.start("coordinator")
    wait_for("it goes on", lambda: (federation.status() or {}).get("helper_answers", 0) > answers, 60)
    check_end(federation, 120)


@test
def an_old_state_of_the_coordinator_does_not_go_on(federation_of):
    federation = begun(made_by(federation_of, [0.875, 0.5, 0.825, 0.125]), 1, allowance=1500)
    federation.back_up("coordinator")
    rounds = wait_for("it is back", federation.status, 20)["rounds"]
    federation.allow(3000)
    wait_for("further rounds", lambda: (federation.status() or {}).get("rounds", 0) >= rounds + 2, 60)
    federation.stop("coordinator")
    federation.put_back("coordinator")
    code, _ = federation.run_to_end("coordinator")
    require(code == 3, f"an old state ended with {code}")
    federation.allow(math.inf)
    federation.start_with("coordinator", "--recover")
    check_end(federation, 120)


if __name__ == "__main__":
    main()
