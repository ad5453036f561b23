"""A broker that is an enemy: MQTT 5 with mutual TLS for a whole federation, which drops, delays, reorders, repeats,
alters and forges what passes, by a seed, and counts what it did to whom."""
import asyncio
import collections
import random
import ssl
import struct
import threading
import traceback

import wire
from support import require
from wire import text, varint

ACTS = ("drop", "delay", "repeat", "alter", "forge")


class Peer:
    def __init__(self, name, writer):
        self.name, self.writer = name, writer
        self.patterns = []

    def send(self, kind, body):
        self.writer.write(bytes([kind]) + varint(len(body)) + body)


def fits(pattern, topic):
    wanted, found = pattern.split("/"), topic.split("/")
    if wanted[-1] == "#":
        return found[:len(wanted) - 1] == wanted[:-1]
    return len(wanted) == len(found) and all(one in ("+", other) for one, other in zip(wanted, found))


def skip_properties(body, at):
    size, at = wire.read_varint(body, at)
    return at + size


class Liar(threading.Thread):
    """Serves on the federation's port, as long as this context lasts. `share`: act -> probability that a delivery is so treated. Words are
    altered and forged beside the true ones, which come as well: only drop loses any."""

    def __init__(self, federation, seed, share, keys=("tap",)):
        super().__init__(daemon=True)
        self.federation, self.random = federation, random.Random(seed)
        self.share = share
        self.is_honest = True  # until it is let loose
        self.keys = [federation.pki / f"{name}.sign.key" for name in keys]  # other people's
        self.retained, self.peers, self.old = {}, {}, collections.defaultdict(list)
        self.done = collections.Counter()  # act -> deliveries
        self.kinds = collections.defaultdict(collections.Counter)  # act -> kind of word -> how many
        self.lies = collections.Counter()  # receiver -> words that nobody signed
        self.replays = collections.Counter()  # receiver -> words of another run
        self.is_ready = threading.Event()
        self.hold = []  # topics that it keeps to itself
        self.over = False
        self.trouble = self.loop = None

    def __enter__(self):
        self.start()
        require(self.is_ready.wait(60), f"the liar does not come up: {self.trouble}")
        return self

    def __exit__(self, *_):
        self.over = True
        self.join(10)

    # The protocol

    def context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.federation.pki / "broker.crt", self.federation.pki / "broker.key")
        context.load_verify_locations(self.federation.pki / "ca.crt")
        context.verify_mode = ssl.CERT_REQUIRED
        return context

    def run(self):
        try:
            asyncio.run(self.main())
        except Exception:
            self.trouble = traceback.format_exc()

    async def main(self):
        self.loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self.serve, "127.0.0.1", self.federation.port, ssl=self.context())
        self.is_ready.set()
        while not self.over:
            await asyncio.sleep(0.05)
        server.close()
        for peer in self.peers.values():
            peer.writer.transport.abort()

    async def packet(self, reader):
        kind = (await reader.readexactly(1))[0]
        size = shift = 0
        while True:
            byte = (await reader.readexactly(1))[0]
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return kind, await reader.readexactly(size)

    async def serve(self, reader, writer):
        subject = dict(one[0] for one in writer.get_extra_info("peercert")["subject"])
        peer = Peer(subject["commonName"], writer)
        try:
            while True:
                kind, body = await self.packet(reader)
                if kind >> 4 == 1:
                    self.peers[peer.name] = peer
                    peer.send(0x20, b"\0\0\0")
                elif kind >> 4 == 3:
                    self.published(peer, kind, body)
                elif kind >> 4 == 8:
                    self.subscribed(peer, body)
                elif kind >> 4 == 12:
                    peer.send(0xd0, b"")
                elif kind >> 4 == 14:
                    break
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, OSError):
            pass  # gone, or all is over
        except Exception:
            self.trouble = traceback.format_exc()
        if self.peers.get(peer.name) is peer:
            del self.peers[peer.name]
        writer.close()

    def subscribed(self, peer, body):
        at = skip_properties(body, 2)
        size = struct.unpack_from(">H", body, at)[0]
        pattern = body[at + 2:at + 2 + size].decode()
        peer.patterns.append(pattern)
        peer.send(0x90, body[:2] + b"\0\0")
        for topic, payload in list(self.retained.items()):
            if fits(pattern, topic) and topic not in self.hold:
                self.treat(peer, topic, payload)

    def published(self, peer, kind, body):
        size = struct.unpack_from(">H", body)[0]
        topic, at = body[2:2 + size].decode(), 2 + size
        if kind & 6:
            peer.send(0x40, body[at:at + 2])
            at += 2
        payload = body[skip_properties(body, at):]
        if kind & 1:
            self.retained[topic] = payload
        for other in list(self.peers.values()) if topic not in self.hold else []:
            if other is not peer and any(fits(pattern, topic) for pattern in other.patterns):
                self.treat(other, topic, payload)

    # What it does to what passes

    def deliver(self, peer, topic, payload):
        if self.peers.get(peer.name) is peer and not peer.writer.is_closing():
            peer.send(0x30, text(topic) + b"\0" + payload)

    def later(self, peer, topic, payload, seconds):
        asyncio.get_running_loop().call_later(seconds, self.deliver, peer, topic, payload)

    @staticmethod
    def kind_of(topic, payload):
        """What it is: entries of the chain, and what sites show of it, are told apart from the family's words."""
        parts = topic.split("/")
        return parts[3] if parts[3] == "key" else f"{parts[3]} {parts[-1]} {wire.fields(payload).get(3, 0)}"

    def note(self, act, topic, payload):
        self.done[act] += 1
        self.kinds[act][self.kind_of(topic, payload)] += 1

    def treat(self, peer, topic, payload):
        is_own_key = topic.endswith(f"/key/{peer.name}")  # which it does not look at
        if not payload or is_own_key:  # empty: what was kept is forgotten; nobody can have signed that
            self.deliver(peer, topic, payload)
            return
        if self.is_honest:
            self.old[peer.name].append((topic, payload))
            self.deliver(peer, topic, payload)
            return
        chosen = {act for act in ACTS if self.random.random() < self.share.get(act, 0)}
        for act in sorted(chosen):
            self.note(act, topic, payload)
        if "drop" not in chosen:
            if "delay" in chosen:  # the others overtake it
                self.later(peer, topic, payload, self.random.uniform(0.01, 0.6))
            else:
                self.deliver(peer, topic, payload)
        if "repeat" in chosen:  # this one, or any that came before
            self.later(peer, *self.random.choice([*self.old[peer.name][-200:], (topic, payload)]),
                       self.random.uniform(0, 1.5))
        if "alter" in chosen:
            self.lie(peer, topic, self.altered(payload))
        if "forge" in chosen:
            self.forge(peer, topic, payload)
        self.old[peer.name].append((topic, payload))

    def lie(self, peer, topic, payload):
        self.lies[peer.name] += 1
        self.deliver(peer, topic, payload)

    def altered(self, payload):
        bits = bytearray(payload)
        for _ in range(self.random.choice((1, 1, 1, 3))):
            at = self.random.randrange(len(bits))
            bits[at] ^= 1 << self.random.randrange(8)
        if bytes(bits) == payload:
            bits[0] ^= 1
        return bytes(bits)

    def forge(self, peer, topic, payload):
        if "/key/" in topic:
            self.lie(peer, topic, self.altered(payload))
            return
        message = payload[:-65] + b"\0"  # with an empty signature
        form = self.random.randrange(8)
        if form == 0:
            self.lie(peer, topic, message)
        elif form == 1:  # with a good signature of somebody else
            self.lie(peer, topic, wire.signed(message, self.random.choice(self.keys), topic))
        elif form == 2:  # with the right signature of another word
            other = self.random.choice(self.old[peer.name] or [(topic, payload)])[1]
            self.lie(peer, topic, payload[:-64] + (other[-64:] if other[-64:] != payload[-64:] else bytes(64)))
        elif form == 3:  # as if of somebody else, to the same receiver
            other = self.redirected(peer, topic)
            self.lie(peer, other or topic, payload if other else message)
        elif form == 4:
            self.lie(peer, topic, payload[:self.random.randrange(1, len(payload))])  # an empty one is no word
        elif form == 5:
            self.lie(peer, topic, self.random.randbytes(self.random.randrange(1, 4096)))
        else:  # signed by the right one, of another run or version
            self.replays[peer.name] += 1
            self.deliver(peer, topic, self.of_another_run(topic, message) if form == 6 else self.of_another_version(topic, message))

    def redirected(self, peer, topic):
        parts = topic.split("/")
        names = [name for name in (*self.federation.sites, "coordinator") if name not in parts and name != peer.name]
        place = {"up": 4, "peer": 4}.get(parts[3])
        if place is None:  # from the hub: between what is for all and what is for one
            site, word = peer.name, parts[-1]
            if word in ("announce", "chain"):  # there is one of it only
                return None
            other = ["to", site, word] if parts[3] == "down" else ["down", word]
            return "/".join([*parts[:3], *other])
        sites = [name for name in names if any(fits(one, "/".join([*parts[:4], name, *parts[5:]])) for one in peer.patterns)
                 and name in self.hears(peer)]
        return "/".join([*parts[:4], self.random.choice(sites), *parts[5:]]) if sites else None

    def hears(self, peer):
        """Whose words this receiver looks at."""
        return {topic.split("/")[4] for topic, _ in self.old[peer.name] if topic.split("/")[3] in ("up", "peer")}

    def of_another_run(self, topic, message):
        found = wire.fields(message)
        run = bytes(8) + found[5][8:]
        return self.signed_by_its_own(message.replace(wire.field(5, found[5]), wire.field(5, run), 1), topic)

    def of_another_version(self, topic, message):
        now = wire.fields(message)[1]
        other = self.random.choice([one for one in (0, 1, 2, 4, 2 ** 32 - 1) if one != now])
        return self.signed_by_its_own(message.replace(wire.fixed32(1, now), wire.fixed32(1, other), 1), topic)

    def signed_by_its_own(self, message, topic):
        sender = topic.split("/")[4] if topic.split("/")[3] in ("up", "peer") else "coordinator"
        return wire.signed(message, self.federation.pki / f"{sender}.sign.key", topic)
