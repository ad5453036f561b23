#!/usr/bin/env python3
"""Who may speak with whom: certificates that are missing, expired, revoked or of another CA, TLS 1.1, and brokers that
are none. See support.py."""
import math
import shutil
import signal
import socket
import ssl
import threading
import time
import warnings

from support import check_end, expire, main, require, test, wait_for
from wire import REFUSED_BY_ACL, Mqtt, text, tls_context


def refusal(context, port):
    """How the broker turns a client away; None: it does not."""
    try:
        Mqtt(context, port).close()
        return None
    except OSError as trouble:
        return str(trouble)


def require_refusal(context, port, *words):
    """An alert with one of these words; or it was overtaken by the reset that follows it."""
    said = refusal(context, port)
    require(said is not None, f"it may connect; expected: {words}")
    known = (*words, "reset by peer", "EOF occurred", "closed the connection")
    require(any(word in said for word in known), f"{said}; expected: {words}")


def agent_says(federation, name, *words):
    """One of these words. Where the broker's own are overtaken by the end of the connection, it can but guess."""
    wait_for(f"{name} says: {words}", lambda: any(one in federation.log(name) for one in words), 10)
    require(not federation.site_status(name)["connected"], f"{name} says that it is connected")


# At the broker's door

@test
def strangers_cannot_connect(federation_of):
    federation = federation_of([0.875, 0.8, 0.75], strangers=["stranger"])
    other = federation.folder / "other-pki"
    federation.run_tacit("pki", "--directory", other, "site-0")
    federation.write_agent("site-0", federation.policy(), "wrong", federation.broker_section("site-0", other))
    federation.start_all(["coordinator", "wrong"])
    require(refusal(federation.context("site-0"), federation.port) is None, "the right certificate cannot connect")
    require_refusal(tls_context(other, "site-0", authority=federation.pki), federation.port, "unknown ca")
    require_refusal(federation.context(None), federation.port, "certificate required")
    with socket.create_connection(("127.0.0.1", federation.port), 2) as plain:
        plain.sendall(b"\x10\x0f" + text("MQTT") + bytes([5, 2, 0, 60, 0]) + text("ab"))
        try:
            require(not plain.recv(4).startswith(b"\x20"), "the broker talks without TLS")
        except OSError:
            pass
    signing = tls_context(federation.pki, None)  # the pair that words are signed with opens no door
    signing.load_cert_chain(federation.pki / "site-0.sign.crt", federation.pki / "site-0.sign.key")
    require_refusal(signing, federation.port, "unsupported certificate")
    stranger = federation.client("stranger")
    code = stranger.publish(federation.topic("up/stranger/elimination"), b"x")
    require(code == REFUSED_BY_ACL, f"a stranger may publish: {code}")
    stranger.close()
    agent_says(federation, "wrong", "disconnected")


@test
def expired_certificate_cannot_connect_and_its_owner_says_why(federation_of):
    federation = federation_of([0.875, 0.8, 0.75])
    certificate = federation.pki / "site-0.crt"
    fresh = certificate.read_bytes()
    expire(federation, "site-0")
    federation.start_all()
    require_refusal(federation.context("site-0"), federation.port, "certificate expired", "certificate has expired")
    agent_says(federation, "site-0", "our certificate has expired")
    certificate.write_bytes(fresh)  # renewed: found without a restart
    federation.apply()
    check_end(federation)


def copy_pair(federation, folder, name):
    """As an operator would, to the site's own machine."""
    for file in ("ca.crt", f"{name}.crt", f"{name}.key", f"{name}.sign.crt", f"{name}.sign.key"):
        shutil.copy(federation.pki / file, folder / file)


@test
def revoked_certificate_is_out_until_there_is_a_new_one(federation_of):
    federation = federation_of([0.875, 0.8, 0.75])
    own = federation.folder / "own"
    own.mkdir()
    copy_pair(federation, own, "site-2")
    federation.write_agent("site-2", federation.policy(), broker=federation.broker_section("site-2", own))
    stolen = federation.context("site-2")
    federation.play_rounds(1)
    time.sleep(max(0, 1.1 - (time.time() - (federation.pki / "ca.crl").stat().st_mtime)))  # lists are dated in seconds
    federation.run_tacit("pki", "revoke", "--directory", federation.pki, "site-2")
    federation.processes["broker"].send_signal(signal.SIGHUP)
    wait_for("a reload suffices against those who come", lambda: refusal(stolen, federation.port) is not None, 5)
    federation.kill("broker")  # .. and a restart against those who are there
    federation.start("broker")
    require_refusal(stolen, federation.port, "certificate revoked")
    agent_says(federation, "site-2", "our certificate is revoked", "perhaps it does not accept our certificate")
    federation.run_tacit("pki", "--directory", federation.pki, "site-2")
    copy_pair(federation, own, "site-2")
    federation.allow(math.inf)
    check_end(federation)
    require_refusal(stolen, federation.port, "certificate revoked")


def only_tls(context, version):
    """Version 1.1 needs a security level that OpenSSL no longer has by itself."""
    warnings.simplefilter("ignore", DeprecationWarning)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = version
    return context


@test
def tls_1_1_is_refused_by_the_broker(federation_of):
    federation = federation_of([0.875, 0.8, 0.75])
    federation.start_all([])
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        said = refusal(only_tls(federation.context("site-0"), version), federation.port)
        require(said is None, f"{version.name}: {said}")
    for version in (ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1):
        require_refusal(only_tls(federation.context("site-0"), version), federation.port, "alert protocol version")


def only_cipher(context, cipher):
    """Of TLS 1.2."""
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(cipher)
    return context


@test
def ciphers_that_do_not_authenticate_what_they_encrypt_are_refused_by_both_sides(federation_of):
    federation = federation_of([0.875, 0.8, 0.75])
    federation.start_all([])
    good, bad = "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA"
    said = refusal(only_cipher(federation.context("site-0"), good), federation.port)
    require(said is None, f"{good}: {said}")
    require_refusal(only_cipher(federation.context("site-0"), bad), federation.port, "handshake failure")
    impostor = Impostor(federation.pki / "broker", lambda one: only_cipher(one, bad))
    federation.write_agent("site-0", federation.policy(), "weak", federation.broker_section("site-0", port=impostor.port))
    federation.start("weak")
    agent_says(federation, "weak", "refuses the TLS handshake")
    require(impostor.heard == b"", f"the agent said {impostor.heard}")


# Brokers that are none

class Impostor(threading.Thread):
    """Listens like a broker, with a certificate or a TLS version that it should not have; keeps what it was told."""

    def __init__(self, certificate, change=lambda context: context):
        super().__init__(daemon=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{certificate}.crt", f"{certificate}.key")
        self.context = change(context)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.heard = b""
        self.start()

    def run(self):
        while True:
            connection = self.listener.accept()[0]
            try:
                with self.context.wrap_socket(connection, server_side=True) as channel:
                    channel.settimeout(2)
                    self.heard += channel.recv(4096)
            except OSError:
                pass


@test
def impostor_of_the_broker_is_told_nothing(federation_of):
    federation = federation_of([0.875, 0.8, 0.75])
    other = federation.folder / "other-pki"
    federation.run_tacit("pki", "--directory", other, "site-0")
    cases = {"another-ca": (Impostor(other / "broker"), "another CA, or expired"),
             "a-site": (Impostor(federation.pki / "site-1"), "the broker's certificate is not valid"),
             "old-tls": (Impostor(federation.pki / "broker", lambda one: only_tls(one, ssl.TLSVersion.TLSv1_1)),
                         "no TLS version from 1.2 on")}
    for name, (impostor, words) in cases.items():
        section = federation.broker_section("site-0", port=impostor.port)
        federation.write_agent("site-0", federation.policy(), name, section)
        federation.start(name)
    for name, (impostor, words) in cases.items():
        agent_says(federation, name, words)
        require(impostor.heard == b"", f"{name} heard {impostor.heard}")


if __name__ == "__main__":
    main()
