#!/usr/bin/env python3
"""A ring whose sites ought to come to one answer: a member that shows its two neighbours different rows, and one that says
nothing at the end. See support.py."""
import hashlib
import hmac
import select
import struct
import threading
import time

import wire
from support import PATIENCE, TRIES, main, require, test, wait_for
from wire import STEPS, field, fixed32

LIAR = 2  # of five
NOTHING = bytes(32)


def number(value):
    return struct.pack("<Q", value)


class Liar(threading.Thread):
    """A member of the ring by hand: it commits to another row with each neighbour, shows each its own, grants all, and goes
    on as if it held what that neighbour holds."""

    def __init__(self, federation, rows):
        super().__init__(daemon=True)
        self.federation, self.rows = federation, rows  # {neighbour: arm that is best}
        self.client = federation.client(f"site-{LIAR}")
        self.over, self.trouble = False, None
        self.pulls = federation.pulls(1, 3)
        self.domain = hashlib.sha256(number(len(federation.name)) + federation.name.encode() + federation.agreement()).digest()

    def sums(self, site):
        return [self.pulls * STEPS if arm == self.rows[site] else 0 for arm in range(3)]

    def opening(self, site):
        return NOTHING + bytes([self.rows[site] + 1]) * 32

    def commitment(self, site):
        opening, sums = self.opening(site), self.sums(site)
        release = hashlib.sha256(number(self.pulls) + number(7) + b"".join(map(number, sums))).digest()
        return hmac.new(opening[32:], self.domain + number(1) + number(LIAR) + number(1) + opening[:32] + release,
                        hashlib.sha256).digest()

    def seal(self, subject):
        digest = hashlib.sha256(self.domain + number(1) + number(0) + number(LIAR) + number(1) + subject).digest()
        text = b"tacit word 1\0" + struct.pack(">H", 3) + b"row" + digest
        return wire.signer(self.federation.pki / f"site-{LIAR}.sign.key").sign(text)

    def say(self, site, kind, body, epoch=1):
        inner = fixed32(1, 1) + fixed32(2, LIAR) + wire.fixed64(3, 1) + fixed32(4, epoch) + field(kind, body)
        topic = f"peer/site-{LIAR}/site-{site}/elimination"
        sent = self.federation.message(topic, inner)
        self.client.send(0x30, wire.text(self.federation.topic(topic)) + b"\0" + sent)

    def commit(self, site):
        self.say(site, 22, field(1, self.commitment(site)) + field(2, NOTHING))

    def advert(self, site):
        self.say(site, 19, fixed32(1, 0) + field(2, bytes([1 << LIAR])) + fixed32(3, 0) + field(4, NOTHING))

    def data(self, site):
        sums = b"".join(struct.pack("<q", value) for value in self.sums(site))
        self.say(site, 21, b"\x09" + number(self.pulls) + field(2, number(7)) + fixed32(3, 0) + field(4, bytes([1 << LIAR])) +
                 field(5, sums) + field(6, self.opening(site)) + field(7, self.seal(self.commitment(site))) + fixed32(8, 0) +
                 field(9, NOTHING))

    def answer(self, topic, payload):
        parts = topic.split("/")
        if parts[3] != "peer" or parts[5] != f"site-{LIAR}":
            return
        site, body = int(parts[4][-1]), wire.fields(wire.body_of(payload))
        if 22 in body:  # it grants whatever it is asked for
            self.say(site, 23, field(1, wire.fields(body[22])[1]) + fixed32(2, 0), body[4])
        elif 23 in body or (16 in body and body[4] == 1):
            self.advert(site)
        elif 20 in body:
            self.data(site)

    def run(self):
        try:
            self.client.subscribe(self.federation.topic(f"peer/+/site-{LIAR}/elimination"))
            for site in self.rows:
                self.commit(site)
            said = time.monotonic()
            while not self.over:
                if select.select([self.client.socket], [], [], 0.05)[0] or self.client.socket.pending():
                    self.hear()
                if time.monotonic() - said > 1:
                    said = time.monotonic()
                    for site in self.rows:
                        self.commit(site)
        except (OSError, ConnectionError) as trouble:
            if not self.over:
                self.trouble = trouble

    def hear(self):
        kind, body = self.client.receive()
        if kind >> 4 != 3:
            return
        size = struct.unpack_from(">H", body)[0]
        topic, at = body[2:2 + size].decode(), 2 + size
        if kind & 6:
            self.client.send(0x40, body[at:at + 2])
            at += 2
        properties, at = wire.read_varint(body, at)
        self.answer(topic, body[at + properties:])


def ring(federation_of):
    """One round decides: then an answer is due."""
    federation = federation_of([0.5, 0.5, 0.5], sites=5, rounds=1, gap=0.5)
    federation.play_over({"kind": "ring"})
    return federation


def names_the_liar(federation, name):
    code, said = federation.told(name)
    said = " ".join(said.split())
    words = "signed two different rows of round 1" if name != "coordinator" else "signed two different rows of one round"
    return code == 2 and words in said and f"site-{LIAR}" in said


def start_honest(federation):
    """All but the liar, until they have joined."""
    honest = [site for site in federation.sites if site != f"site-{LIAR}"]
    federation.start_all(["coordinator", *honest])
    federation.apply(honest)
    federation.wait_for_sites("has joined", federation.has_joined, 30, sites=honest)
    return honest


@test
def member_that_shows_its_neighbours_different_rows_is_named_by_all_and_no_answer_is_said(federation_of):
    for _ in range(TRIES):
        federation = ring(federation_of)
        honest = start_honest(federation)
        liar = Liar(federation, {1: 0, 3: 2})
        liar.start()
        for name in (*honest, "coordinator"):
            wait_for(f"{name} names the liar", lambda name=name: names_the_liar(federation, name), 60 / PATIENCE)
        for site in honest:
            status = federation.site_status(site)
            require(not federation.has_decided(site) and not status["two_states"], f"{status}")
            answer = federation.get(site, "/v1/result")
            require(not answer["decided"] and answer["winner"] is None, f"{site}: {answer}")
            federation.wait_for_log(site, "two-rows: ")
            require(not any("two states of site" in federation.log(name) for name in honest), "somebody honest is blamed")
        liar.over = True
        liar.join(10)
        require(liar.trouble is None, f"{liar.trouble}")
        federation.end_applications()
        federation.close()


@test
def answer_is_said_late_with_the_name_of_the_member_that_is_silent_at_the_end(federation_of):
    federation = ring(federation_of)
    federation.means = [0.875, 0.5, 0.125]
    honest = start_honest(federation)
    silent = Liar(federation, {1: 0, 3: 0})  # one row, and no word on what it holds
    silent.start()
    for site in honest:
        wait_for(f"{site} waits for the last word",
                 lambda site=site: federation.site_status(site)["missing_sites"] == [LIAR] and
                 federation.site_status(site)["epoch"] == 2, 30)
        require(not federation.get(site, "/v1/result")["decided"], f"{site} says an answer")
    federation.wait_for_sites("says it", federation.has_decided, 90 / PATIENCE, sites=honest)
    for site in honest:
        code, said = federation.told(site)
        require(code == 1 and f"not confirmed by site-{LIAR}" in " ".join(said.split()), f"{site}: {code} {said}")
        require(federation.get(site, "/v1/result")["winner"] == "arm 0", f"{site}: {said}")
    silent.over = True
    federation.end_applications()


@test
def answer_is_said_when_all_agree(federation_of):
    federation = ring(federation_of)
    federation.means = [0.875, 0.5, 0.125]
    federation.start_all()
    federation.apply()
    federation.wait_for_sites("decides", federation.has_decided)
    for site in federation.sites:
        code, said = federation.told(site)
        require(code == 0 and federation.get(site, "/v1/result")["winner"] == "arm 0", f"{site}: {code} {said}")
    federation.end_applications()


if __name__ == "__main__":
    main()
