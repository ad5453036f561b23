#!/usr/bin/env python3
"""Messages that nobody should send, and those that come twice, late and in disorder: they are refused or change
nothing. See support.py."""
import heapq
import itertools
import math
import random
import signal
import socket
import struct
import threading
import time

import wire
from support import check_end, main, require, seeded, test, wait_for
from wire import HUB, REFUSED_BY_ACL, STEPS, order, report


def unchanged(status):
    kept = {key: value for key, value in status.items() if key not in ("refused", "accepted", "unsigned", "offenders", "still_s", "round_s")}
    sites = [{key: value for key, value in site.items() if key != "heard_s"} for site in status["sites"]]
    return {**kept, "sites": sites}


@test
def announcement_beyond_the_policy_is_refused(federation_of):
    federation = federation_of([0.875, 0.8, 0.75], quorum=1, rounds=3)
    federation.write_agent("site-0", federation.policy(rounds_max=3))
    more_sites = [f"site-{i}" for i in range(13)]
    cases = {"larger epsilon": ({"epsilon": 1001}, {}), "more pulls": ({"horizon": 400001}, {}),
             "more rounds": ({"rounds": 4}, {}), "rounds than policy.rounds_max": ({"bounds": "exact", "rounds": None, "gap": None}, {}),
             "more sites": ({}, {"sites": more_sites}), "number of arms": ({}, {"arms": ["a", "b"]}),
             "arm 2 is called 'arm 1' here and 'arm 2' there": ({}, {"arms": ["arm 0", "arm 2", "arm 1"]}),
             "the range of rewards is [0, 1] here and [0, 2] there": ({"range": [0, 2]}, {})}
    federation.start_all(["site-0"])
    for number, (reason, (run, others)) in enumerate(cases.items()):
        name = f"coordinator-{number}"
        section = federation.run_section(id=number + 2, **run)
        federation.write_coordinator({key: value for key, value in section.items() if value is not None}, name, **others)
        before = federation.log("site-0").count(reason)
        federation.start(name)
        wait_for(f"refused: {reason}", lambda reason=reason, before=before: federation.log("site-0").count(reason) > before)
        known = federation.site_status("site-0")["refused_messages"]
        wait_for("it is announced again", lambda known=known: federation.site_status("site-0")["refused_messages"] > known)
        require(federation.log("site-0").count(reason) == before + 1, "one line for each announcement of one refusal")
        status = federation.site_status("site-0")
        require(status["phase"] == "refused" and reason in status["refusal"], f"{status}")
        require("run" not in status and f"\nhub       {number + 2} " in federation.told("site-0")[1], "what is announced is not shown")
        require(federation.get("site-0", "/v1/ledger")["spent"] == 0, "something was spent")
        federation.stop(name)
    require(federation.reports("site-0") == {}, "something was released")
    federation.start("coordinator")
    wait_for("the run within the policy is joined", lambda: federation.phase("site-0") == "exploring")
    federation.stop("coordinator")
    federation.write_coordinator(federation.run_section(id=99), "coordinator-9")
    federation.start("coordinator-9")
    federation.wait_for_log("site-0", "another run is announced")


@test
def who_has_joined_goes_on_with_its_run_whatever_another_coordinator_announces(federation_of):
    """Rewards of arms that have changed places, or on another scale, would be added up all the same."""
    federation = federation_of([0.875, 0.8, 0.75])
    federation.start_all()
    wait_for("the run is joined", lambda: federation.phase("site-0") == "exploring")
    require(federation.site_status("site-0")["refusal"] is None, "a refusal")
    federation.stop("coordinator")
    federation.write_coordinator(federation.run_section(id=9), "coordinator-9", arms=["arm 1", "arm 0", "arm 2"])
    federation.start("coordinator-9")
    words = "it is of another coordinator than the run that is under way here"
    wait_for("another run is refused", lambda: words in (federation.site_status("site-0")["refusal"] or ""))
    federation.wait_for_log("site-0", "a message of another run")
    federation.stop("coordinator-9")
    federation.tap.seen.clear()
    federation.start("coordinator")
    wait_for("the refusal is over", lambda: federation.site_status("site-0")["refusal"] is None)
    federation.apply()
    check_end(federation)


@test
def hostile_orders_change_nothing(federation_of):
    federation = federation_of([0.875, 0.8, 0.75], quorum=1, rounds=3)
    federation.write_agent("site-0", federation.policy(rounds_max=3))
    federation.start_all(["coordinator", "site-0"])
    wait_for("the run is joined", lambda: federation.phase("site-0") == "exploring")
    federation.stop("coordinator")
    before = federation.site_status("site-0")
    coordinator = federation.client("coordinator")
    rng = random.Random(5)
    cases = [rng.randbytes(60000), b"", b"\0" * 47, order(2, 1000, 7, run=2), order(2, 1000, 15), order(2, 1000, 0),
             order(2, 1 << 60, 7), order(4, 1000, 7), order(9999, 1000, 7), order(2, 1, 7), order(2, 1000, 7, last=1),
             order(2, 1000, 7, last=2), order(2, 1000, 7) + b"\0", order(2, 1000, 7, sender=1),
             report(0, 1, 100, 7, [1, 2, 3])]
    topics = itertools.cycle(("down/elimination", "to/site-0/elimination"))
    sent = [(topic, federation.message(topic, payload)) for topic, payload in zip(topics, cases)]
    federation.expect_refusals("site-0", coordinator, [*sent, *(("to/site-0/announce", one) for one in (b"", b"x" * 60000, b"\xff" * 47))])
    coordinator.close()
    after = federation.site_status("site-0")
    for name in ("phase", "epoch", "active_arms", "pulls", "release_epoch", "unserved"):
        require(before[name] == after[name], f"{name} was {before[name]}, is {after[name]}")
    require(federation.log("site-0").count(" refused: ") == len(cases) + 3, "not every refusal is logged")
    require(federation.get("site-0", "/v1/ledger")["spent"] == 0, "something was spent")


@test
def hostile_reports_change_nothing(federation_of):
    federation = federation_of([0.875, 0.8, 0.75])
    federation.start_all(["coordinator", "site-0", "site-1"])
    federation.apply(["site-0", "site-1"], allowance=federation.all_to(1))
    wait_for("two reports are in", lambda: (federation.status() or {"reports": 0})["reports"] == 2)
    before = unchanged(federation.status())
    pulls = federation.pulls(1, 3)
    fair = [int(pulls * mean * STEPS) for mean in federation.means]
    nan = struct.unpack("<q", struct.pack("<d", math.nan))[0]
    infinite = struct.unpack("<q", struct.pack("<d", -math.inf))[0]
    replay = next(iter(federation.reports("site-0")[1]))
    cases = [random.Random(6).randbytes(60000), b"", b"\0", report(2, 2, pulls, 7, fair), report(2, 0, pulls, 7, fair),
             report(2, 9999, pulls, 7, fair), report(2, 1, pulls, 3, fair[:2]), report(2, 1, pulls, 15, [*fair, 0]),
             report(2, 1, pulls, 7, fair[:2]), report(2, 1, pulls + 1, 7, fair), report(2, 1, 0, 7, fair),
             report(2, 1, pulls, 7, [nan] * 3), report(2, 1, pulls, 7, [infinite] * 3),
             report(2, 1, pulls, 7, [1 << 62] * 3), report(2, 1, pulls, 7, fair, run=2), report(0, 1, pulls, 7, fair),
             report(HUB, 1, pulls, 7, fair), report(2, 1, pulls, 7, fair) + b"\0", replay, order(1, pulls, 7, sender=2),
             order(1, pulls, 7)]
    hostile = federation.client("site-2")
    up = "up/site-2/elimination"
    federation.expect_refusals("coordinator", hostile, [(up, federation.message(up, payload)) for payload in cases])
    good, name = report(2, 1, pulls, 7, fair), federation.name
    agreement, run = federation.agreement(), federation.run()
    envelopes = [good, random.Random(7).randbytes(200),
                 federation.signed(wire.message(name, "site-1", "coordinator", good, agreement, run), "site-2", up),
                 federation.signed(wire.message(name, "site-2", "site-1", good, agreement, run), "site-2", up),
                 federation.signed(wire.message("other", "site-2", "coordinator", good, agreement, run), "site-2", up),
                 federation.message(up, good, run=2), federation.message(up, good, family=2),
                 federation.message(up, good, kind=1), federation.message(up, good, kind=0),
                 federation.message(up, good, epoch=2), federation.message(up, good, term=0),
                 federation.message(up, good, agreement=b"\0" * 32),  # of something else
                 federation.message(up, good) + b"\0"]
    federation.expect_refusals("coordinator", hostile, [(up, sent) for sent in envelopes])
    require(unchanged(federation.status()) == before, f"{federation.status()}")
    require(federation.log("coordinator").count("under the name site-2") == len(cases) + len(envelopes),
            "not every refusal is logged")

    def is_foreign():
        return any(cause["cause"] == "version" and cause["who"] == ["site-2"] for cause in federation.status()["causes"])
    up_topic, empty = federation.topic(up), federation.message(up, b"\0")
    made = wire.message(name, "site-2", "coordinator", good, agreement, run).replace(wire.fixed32(1, 3), wire.fixed32(1, 2), 1)
    require(hostile.publish(up_topic, federation.signed(made, "site-2", up)) == 0, "the broker refused it")
    wait_for("its version is no version of this run", is_foreign, 5)
    require(hostile.publish(up_topic, empty) == 0, "the broker refused it")
    wait_for("it says messages of this run again", lambda: not is_foreign(), 5)

    for topic in (federation.topic("up/site-0/elimination"), federation.topic("down/elimination"),
                  federation.topic("to/site-0/announce"), "tacit/v1/other/up/site-2/elimination"):
        code = hostile.publish(topic, report(0, 1, pulls, 7, fair))
        require(code == REFUSED_BY_ACL, f"{topic}: {code}")
    try:
        hostile.publish(federation.topic("up/site-2/elimination"), b"\0" * 10_000_000)
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


@test
def what_a_site_can_leave_at_the_broker_is_bounded(federation_of):
    """Retained messages outlive who left them: a site has its exact topics, and one message of 64 KiB on each."""
    federation = federation_of([0.875, 0.8, 0.75])
    federation.start("broker")
    hostile = federation.client("site-2")
    made_up = [f"up/site-2/elimination/{i}" for i in range(20)] + [f"up/site-2/{i}" for i in range(20)]
    made_up += ["up/site-2", "up/site-2/", "key/site-2/x", "down/site-2/elimination", "to/site-2/announce",
                "peer/site-2/site-1/elimination", "$SYS/x"]
    for rest in made_up:
        topic = rest if rest.startswith("$") else federation.topic(rest)
        require(hostile.publish(topic, b"x" * 20000, retain=True) == REFUSED_BY_ACL, f"the broker keeps {topic}")
    code = hostile.publish(federation.topic("up/site-2/elimination"), b"x" * 65000, retain=True)
    require(code < 0x80, f"its own topic: {code}")
    hostile.close()
    federation.stop("broker")  # it saves what it holds
    kept = sum(file.stat().st_size for file in federation.persistence.iterdir())
    live = 6  # protocols, one message of each
    require(kept < (live + 1) * 65536, f"the broker keeps {kept} bytes of one site")


@test
def what_the_coordinator_can_leave_at_the_broker_has_one_level_of_its_own_choice(federation_of):
    """Under any site's name 64 KiB on each of its three topics; no other branch, no deeper, no larger (decision 77)."""
    federation = federation_of([0.875, 0.8, 0.75])
    federation.start("broker")
    client = federation.client("coordinator")
    for rest in ("to/anybody/announce", "to/anybody/elimination", "down/anybody/elimination"):
        require(client.publish(federation.topic(rest), b"x" * 65000, retain=True) < 0x80, f"{rest} is refused")
    others = ("to/anybody", "to/anybody/other", "to/a/b/elimination", "to/anybody/elimination/1", "down/anybody", "down/a/b/elimination", "down/other",
              "up/site-1/elimination", "up/site-1/chain", "key/site-1", "key/anybody", "key/coordinator/1", "peer/site-1/site-2/elimination")
    for rest in others:
        require(client.publish(federation.topic(rest), b"x", retain=True) == REFUSED_BY_ACL, f"the broker keeps {rest}")
    for size in (65537, 70000):
        try:
            require(client.publish(federation.topic("to/anybody/elimination"), b"x" * size, retain=True) >= 0x80, f"{size} bytes are kept")
        except OSError:  # it is thrown out
            client = federation.client("coordinator")
    client.close()


SUBSCRIPTIONS_MAX = 32


def asked(client, kind, filter):
    """What the broker says to a SUBSCRIBE (0x82) or UNSUBSCRIBE (0xa2)."""
    client.send(kind, struct.pack(">H", 1) + b"\0" + wire.text(filter) + (b"\0" if kind == 0x82 else b""))
    while True:
        answer, body = client.receive()
        if answer >> 4 in (9, 11):
            return body[-1]


def connected(federation, clean):
    """As site-2; an unclean one wants its old session, kept for an hour."""
    client = federation.client("site-2")
    client.close()
    client.socket = federation.context("site-2").wrap_socket(socket.create_connection(("127.0.0.1", federation.port), 5))
    client.send(0x10, wire.text("MQTT") + bytes([5, 2 if clean else 0]) + struct.pack(">H", 60) + b"\x05\x11" + struct.pack(">I", 3600)
                + wire.text(""))
    kind, body = client.receive()
    require(kind >> 4 == 2 and body[1] == 0, f"CONNACK {kind:#x} {body.hex()}")
    return client


def check_subscriptions(federation):
    client = federation.client("site-2")
    for number in range(SUBSCRIPTIONS_MAX):
        require(asked(client, 0x82, f"x/{number}") < 0x80, f"filter {number} of a connection is refused")
    for filter in ("x/new", "x/0", "tacit/v1/#"):
        require(asked(client, 0x82, filter) == REFUSED_BY_ACL, f"one more: {filter}")
    require(asked(client, 0xa2, "x/0") < 0x80 and asked(client, 0x82, "x/0") < 0x80, "what was given up is not granted anew")
    require(asked(client, 0x82, "x/1") == REFUSED_BY_ACL, "the same filter twice")
    client.close()
    client = connected(federation, True)  # the old connection's are forgotten
    for filter in ("$SYS/#", "$share/a/x", "x" * 600, "/" * 20):
        require(asked(client, 0x82, filter) == REFUSED_BY_ACL, f"{filter[:20]} is granted")
    require(asked(client, 0x82, "x/0") < 0x80, "a new connection is refused its first filter")
    client.close()
    client = connected(federation, False)
    require(asked(client, 0x82, "x/2") == REFUSED_BY_ACL, "an old session may add to what it kept")
    client.close()


@test
def what_a_site_subscribes_to_is_bounded(federation_of):
    """The broker keeps each filter, and loses memory for good when one comes again."""
    federation = federation_of([0.875, 0.8, 0.75])
    federation.start("broker")
    check_subscriptions(federation)
    federation.processes["broker"].send_signal(signal.SIGHUP)  # it reads its files again, and still asks
    check_subscriptions(federation)


# Twice, late, in disorder

class Echo(threading.Thread):
    """A broker that is no friend: says again what it heard, several times, later, and old orders as if they stood."""

    def __init__(self, federation, copies, seconds_max):
        super().__init__(daemon=True)
        self.federation, self.copies, self.seconds_max = federation, copies, seconds_max
        self.random = seeded()
        self.due = []  # (time, number, topic, payload)
        self.known = set()
        self.heard = self.said = 0
        self.trouble = None
        self.over = False

    def listen(self):
        """New payloads only: the tap hears the echo too."""
        seen = self.federation.tap.messages
        for topic, payload in seen[self.heard:]:
            if (topic, payload) not in self.known:
                self.known.add((topic, payload))
                for _ in range(self.copies):
                    when = time.monotonic() + self.random.uniform(0, self.seconds_max)
                    heapq.heappush(self.due, (when, self.random.random(), topic, payload))
            self.heard += 1

    def run(self):
        try:
            client = self.federation.client("echo")
            while not self.over:
                self.listen()
                while self.due and self.due[0][0] < time.monotonic():
                    _, _, topic, payload = heapq.heappop(self.due)
                    code = client.publish(topic, payload, retain="/down/" in topic)
                    require(code == 0, f"the echo may not speak: {code}")
                    self.said += 1
                time.sleep(0.01)
            client.close()
        except Exception as trouble:  # shown by the test
            self.trouble = trouble


@test
def messages_that_come_again_late_and_in_disorder_change_nothing(federation_of):
    federation = federation_of([0.875, 0.5, 0.825], strangers=["echo"])
    federation.allow_access("echo", "readwrite tacit/v1/#")
    federation.start_all()
    echo = Echo(federation, copies=20, seconds_max=2)
    echo.start()
    federation.apply()
    wait_for("epoch 2", lambda: federation.is_at(2))
    federation.kill("site-1")  # comes back to an old order that is retained as if it stood
    federation.start("site-1")
    check_end(federation)
    echo.over = True
    echo.join(5)
    require(echo.trouble is None, f"{echo.trouble}")
    require(echo.said > 300, f"only {echo.said} messages came again")


@test
def order_that_a_full_queue_swallowed_is_asked_for_within_seconds(federation_of):
    """A broker drops what is too much for a site that hears slowly, and nobody is told. Twenty announcements at once make
    a site ask twenty times: its patience must not grow with them."""
    federation = federation_of([0.875, 0.5, 0.25], strangers=["echo"])
    federation.allow_access("echo", "readwrite tacit/v1/#")
    federation.start_all()
    federation.apply(["site-0"], allowance=federation.all_to(1))
    wait_for("the first report is in", lambda: (federation.status() or {"reports": 0})["reports"] == 1)
    echo, site = federation.client("echo"), federation.processes["site-0"]
    topic = federation.topic("to/site-0/announce")
    announced = next(payload for name, payload in federation.tap.messages if name == topic)
    asked = federation.status()["accepted"]
    for _ in range(20):
        echo.publish(topic, announced)
    wait_for("it has asked for each", lambda: federation.status()["accepted"] >= asked + 20)
    site.send_signal(signal.SIGSTOP)
    for _ in range(3000):
        echo.publish(federation.topic("to/site-0/elimination"), b"x")
    federation.apply(["site-1", "site-2"], allowance=federation.all_to(1))
    wait_for("epoch 2", lambda: federation.is_at(2), 60)
    echo.close()
    site.send_signal(signal.SIGCONT)
    federation.wait_for_log("broker", "being dropped for client site-0")
    wait_for("site-0 has the order", lambda: (federation.site_status("site-0") or {"epoch": 0})["epoch"] == 2, 30)
    federation.allow(math.inf)
    check_end(federation)


if __name__ == "__main__":
    main()
