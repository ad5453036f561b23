"""What passes a broker: an MQTT 5 client, a tap that keeps what it hears, a proxy that holds up or cuts connections,
the envelopes of src/wire/envelope.proto and the messages of src/wire/elim.proto."""
import base64
import ctypes
import functools
import socket
import ssl
import struct
import threading
import time

STEPS = 1 << 20
HUB = 0xffffffff
REFUSED_BY_ACL = 0x87


# ---- MQTT 5, as much as a test needs ----

def varint(number):
    out = bytearray()
    while True:
        number, low = number >> 7, number & 127
        out.append(low | (128 if number else 0))
        if not number:
            return bytes(out)


def text(string):
    return struct.pack(">H", len(string)) + string.encode()


def tls_context(pki, name, authority=None):
    """With the certificate of `name`, or with none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations((authority or pki) / "ca.crt")
    context.check_hostname = False
    if name is not None:
        context.load_cert_chain(pki / f"{name}.crt", pki / f"{name}.key")
    return context


class Mqtt:
    """A client; its client id is the name in its certificate, by the broker's rule."""

    def __init__(self, context, port, seconds=60):
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", port), seconds))
        self.send(0x10, text("MQTT") + bytes([5, 2]) + struct.pack(">H", 60) + b"\0" + text(""))
        kind, body = self.receive()
        if kind >> 4 != 2 or body[1] != 0:
            raise ConnectionError(f"CONNACK {kind:#x} {body.hex()}")

    def send(self, kind, body):
        self.socket.sendall(bytes([kind]) + varint(len(body)) + body)

    def read(self, size):
        out = b""
        while len(out) < size:
            part = self.socket.recv(size - len(out))
            if not part:
                raise ConnectionError("the broker closed the connection")
            out += part
        return out

    def receive(self):
        kind = self.read(1)[0]
        size = shift = 0
        while True:
            byte = self.read(1)[0]
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return kind, self.read(size)

    def subscribe(self, topic):
        self.send(0x82, struct.pack(">H", 1) + b"\0" + text(topic) + b"\0")

    def publish(self, topic, payload, retain=False):
        """With QoS 1; the broker's reason code."""
        self.send(0x32 | retain, text(topic) + struct.pack(">H", 7) + b"\0" + payload)
        while True:
            kind, body = self.receive()
            if kind >> 4 == 4:
                return body[2] if len(body) > 2 else 0

    def close(self):
        self.socket.close()


class Tap(threading.Thread):
    """Keeps what passes the broker; comes back when the broker does."""

    def __init__(self, context, port):
        super().__init__(daemon=True)
        self.context, self.port = context, port
        self.seen = []  # (topic, body)
        self.messages = []  # (topic, payload): with the envelope
        self.times = []  # when, in seconds of the agents' clock
        self.is_ready = threading.Event()
        self.over = False

    def listen(self):
        client = Mqtt(self.context, self.port)
        try:
            client.subscribe("tacit/v1/#")
            while not self.over:
                try:
                    kind, body = client.receive()
                except TimeoutError:
                    continue
                if kind >> 4 == 9:
                    self.is_ready.set()
                elif kind >> 4 == 3:
                    length = struct.unpack_from(">H", body)[0]
                    properties = 2 + length + (2 if kind & 6 else 0)  # fewer than 128 bytes of them
                    self.times.append(time.clock_gettime(time.CLOCK_BOOTTIME))
                    topic, payload = body[2:2 + length].decode(), body[properties + 1 + body[properties]:]
                    self.messages.append((topic, payload))
                    self.seen.append((topic, body_of(payload)))
        finally:
            client.close()

    def run(self):
        while not self.over:
            try:
                self.listen()
            except OSError:
                time.sleep(0.03)


class Proxy(threading.Thread):
    """A way to the broker that can be held up (nothing passes, nothing is lost) or cut."""

    def __init__(self, broker_port):
        super().__init__(daemon=True)
        self.broker_port = broker_port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.flows = threading.Event()
        self.flows.set()
        self.is_cut = False
        self.ends = []
        self.start()

    def run(self):
        while True:
            near = self.listener.accept()[0]
            if self.is_cut:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.broker_port))
            except OSError:
                near.close()
                continue
            self.ends += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self.pump, args=(source, sink), daemon=True).start()

    def pump(self, source, sink):
        try:
            while data := source.recv(65536):
                self.flows.wait()
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        self.is_cut = True
        for end in self.ends:
            end.close()
        self.ends = []

    def mend(self):
        self.is_cut = False


# ---- Signatures ----

class Signer:
    """Signs as whoever has this key file (Ed25519), by libcrypto."""
    ED25519 = 1087  # NID_ED25519

    def __init__(self, path):
        self.crypto = ctypes.CDLL("libcrypto.so.3")
        for name in ("EVP_PKEY_new_raw_private_key", "EVP_MD_CTX_new"):
            getattr(self.crypto, name).restype = ctypes.c_void_p
        body = "".join(line for line in path.read_text().splitlines() if "-----" not in line)
        seed = base64.b64decode(body)[-32:]  # the end of PKCS#8, which says no public key
        self.key = ctypes.c_void_p(self.crypto.EVP_PKEY_new_raw_private_key(
            self.ED25519, None, seed, ctypes.c_size_t(len(seed))))
        if not self.key:
            raise ValueError(f"no key in {path}")

    def sign(self, text):
        context = ctypes.c_void_p(self.crypto.EVP_MD_CTX_new())
        size, made = ctypes.c_size_t(64), ctypes.create_string_buffer(64)
        good = (self.crypto.EVP_DigestSignInit(context, None, None, None, self.key) == 1 and
                self.crypto.EVP_DigestSign(context, made, ctypes.byref(size), text, ctypes.c_size_t(len(text))) == 1)
        self.crypto.EVP_MD_CTX_free(context)
        if not good:
            raise ValueError("libcrypto does not sign")
        return made.raw


@functools.lru_cache(maxsize=None)
def signer(path):
    return Signer(path)


def signed(payload, key, topic):
    """A message that ends without a signature, signed under this whole topic."""
    if not payload.endswith(b"\x72\0"):
        raise ValueError("no place for a signature")
    text = b"tacit word 1\0" + struct.pack(">H", len(topic)) + topic.encode() + payload[:-2]
    return payload[:-2] + b"\x72\x40" + signer(key).sign(text)


# ---- Envelopes (src/wire/envelope.proto) ----

def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def fixed32(number, value):
    return varint(number << 3 | 5) + struct.pack("<I", value)


def fixed64(number, value):
    return varint(number << 3 | 1) + struct.pack("<Q", value)


def message(federation, sender, receiver, body, agreement, run=1, kind=None, epoch=None, family=0, term=1, sequence=1, entry=0):
    """Not signed. receiver: "" is everybody. Kind and epoch are by default those of the body. run: a number, or its
    16 bytes. entry: of the coordinator's chain."""
    inner = fields(body)
    if kind is None:
        kind = next((number - 15 for number in inner if 16 <= number < 32), 1)
    if epoch is None:
        epoch = inner.get(4, 0) if isinstance(inner.get(4, 0), int) else 0
    return (fixed32(1, 3) + fixed32(2, family) + fixed32(3, kind) + field(4, federation.encode()) +
            field(5, run if isinstance(run, bytes) else run.to_bytes(16, "big")) + field(6, agreement) + field(7, sender.encode()) +
            field(8, receiver.encode()) + fixed64(9, term) + fixed32(10, epoch) + fixed64(11, sequence) +
            field(12, body) + fixed64(13, entry) + field(14, b""))


def body_of(payload):
    """What is in the envelope; the payload itself if it is none."""
    found = fields(payload)
    return found[12] if isinstance(found.get(12), bytes) and isinstance(found.get(6), bytes) else payload


# ---- Messages (src/wire/elim.proto) ----

def envelope(sender, epoch, kind, body, run=1):
    return (b"\x0d" + struct.pack("<I", 1) + b"\x15" + struct.pack("<I", sender) + b"\x19" + struct.pack("<Q", run) +
            b"\x25" + struct.pack("<I", epoch) + field({"hello": 16, "order": 17, "report": 18}[kind], body))


def report(sender, epoch, pulls, arms, sums, run=1):
    return envelope(sender, epoch, "report", b"\x09" + struct.pack("<Q", pulls) + field(2, struct.pack("<Q", arms)) +
                    field(3, struct.pack(f"<{len(sums)}q", *sums)), run)


def order(epoch, pulls, arms, last=0, run=1, seen=0, sender=HUB):
    return envelope(sender, epoch, "order", b"\x0d" + struct.pack("<I", last) + b"\x11" + struct.pack("<Q", pulls) +
                    field(3, struct.pack("<Q", arms)) + b"\x2d" + struct.pack("<I", seen), run)


def read_varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return number, at


def fields(data):
    """{number: integer or bytes}; what is no message of ours has none."""
    found, at = {}, 0
    try:
        while at < len(data):
            tag, at = read_varint(data, at)
            size, at = read_varint(data, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
            value = data[at:at + size]
            found[tag >> 3] = value if tag & 7 == 2 else int.from_bytes(value, "little")
            at += size
    except (IndexError, KeyError):
        return {}
    return found


def epoch_of(payload):
    return fields(payload).get(4)


def is_report(payload):
    return 18 in fields(payload)


def is_order(payload):
    return 17 in fields(payload)


def is_commit(payload):
    return 22 in fields(payload)


def without_opening(payload):
    """A report without what opens its commitment, as it would be without grants."""
    body = fields(payload)[18]
    found = fields(body)
    if 5 not in found:
        return payload
    rest = field(5, found[5]) + field(6, found[6])
    if not body.endswith(rest) or not payload.endswith(body):
        raise ValueError("the opening is not at the end")
    return payload[:-len(field(18, body))] + field(18, body[:-len(rest)])


def members(bits):
    """Of a bit set, as messages carry it."""
    number = int.from_bytes(bits, "little")
    return [index for index in range(8 * len(bits)) if number >> index & 1]


def sums_of(payload):
    """Of a report: pulls, {arm: sum in units of reward}."""
    body = fields(fields(payload)[18])
    sums = struct.unpack(f"<{len(body[3]) // 8}q", body[3])
    return body[1], {arm: value / STEPS for arm, value in zip(members(body[2]), sums, strict=True)}


def rows_of(payload):
    """Of DATA: [(site, (sums, opening))]."""
    data = fields(payload).get(21)
    if data is None:
        return []
    body = fields(data)
    sites = [body[3] + bit for bit in members(body[4])]
    if 5 not in body:
        return []  # a confirmation: there is no row
    row, opening = len(body[5]) // len(sites), len(body.get(6, b"")) // len(sites)
    return [(site, (body[5][rank * row:(rank + 1) * row], body.get(6, b"")[rank * opening:(rank + 1) * opening]))
            for rank, site in enumerate(sites)]


def order_of(payload):
    """last, pulls, arms, sites that report (None: all), seen"""
    body = fields(fields(payload)[17])
    return body[1], body[2], members(body[3]), members(body[4]) if 4 in body else None, body[5]
