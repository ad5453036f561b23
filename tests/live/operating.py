#!/usr/bin/env python3
"""What an operator is told: `tacit status` and its exit codes, why a daemon is not connected and what to do, what
`--check` refuses, which key was changed, what SIGHUP does. See support.py."""
import json
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import time

import wire
from support import TACIT, expire, main, require, test, wait_for

OK, WAITING, ATTENTION, DOWN = range(4)
MEANS = [0.875, 0.75, 0.125]


def is_said(federation, name, code, *texts):
    """The table with all of these, when it comes."""
    def look():
        found, said = federation.told(name)
        return found == code and all(text in said for text in texts) and said
    try:
        return wait_for(f"{name}: {code}, {texts}", look, 30)
    except AssertionError as trouble:
        raise AssertionError(f"{trouble}; it says {federation.told(name)}") from None


# Why it is not connected

def another_authority(federation):
    other = federation.folder / "other-pki"
    federation.run_tacit("pki", "--directory", other, "site-0")
    section = federation.broker_section("site-0")
    return {**section, "ca": str(other / "ca.crt")}


def expired(federation):
    expire(federation, "site-1")
    return federation.broker_section("site-1")


def nobody_there(federation):
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        return federation.broker_section("site-2", port=taken.getsockname()[1])


CAUSES = {"site-0": (another_authority, "the broker's certificate is not valid", "is broker.ca the CA of this federation?"),
          "site-1": (expired, "our certificate has expired", "tacit pki revoke NAME, then tacit pki NAME"),
          "site-2": (nobody_there, "cannot reach the broker: Connection refused", "is the broker running"),
          "site-3": (lambda one: {**one.broker_section("site-3"), "host": "no-such-host.invalid"},
                     "cannot look up the broker's host name", "is broker.host spelt right")}


@test
def status_says_why_there_is_no_connection_and_what_to_do(federation_of):
    federation = federation_of(MEANS, sites=4)
    federation.start_all([])
    for site, (prepare, _, _) in CAUSES.items():
        federation.write_agent(site, federation.policy(), broker=prepare(federation))
        federation.start(site)
    for site, (_, cause, advice) in CAUSES.items():
        said = is_said(federation, site, ATTENTION, f"NEEDS ATTENTION: site {site} of trial: not connected to the broker: ", cause,
                       "\ncause: not connected to the broker: ", "\n  do: ", advice)
        require(said.splitlines()[1].split() == ["site", "run", "epoch", "state"], said)
        code, text = federation.told(site, "--json")
        status = json.loads(text)
        require(code == ATTENTION and status["state"] == "attention" and cause in status["disconnected"], f"{code} {text}")
        health = federation.get(site, "/health")
        require(cause in health["error"] and advice in health["causes"][0]["do"], f"{health}")
        require('tacit_agent_state 2\n' in federation.text(site, "/metrics"), "metrics")


# The four exit codes

@test
def exit_codes_go_from_down_to_ok(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25)
    code, said = federation.told("site-0")
    require(code == DOWN and said == "DOWN: site site-0: nobody answers\n", f"{code} {said}")
    code, said = federation.told("coordinator", "--json")
    require(code == DOWN and json.loads(said) == {"state": "down"}, f"{code} {said}")
    with socket.socket(socket.AF_UNIX) as full, socket.socket(socket.AF_UNIX) as waits:  # it hangs, and who asked before fills its queue
        full.bind(str(federation.socket_of("site-0")))
        full.listen(0)
        waits.connect(str(federation.socket_of("site-0")))
        code, said = federation.told("site-0")
        require(code == DOWN and said == "DOWN: site site-0: nobody answers\n", f"{code} {said}")
    federation.start_all(["site-0"])
    is_said(federation, "site-0", WAITING, "WAITING: ", "no run was announced to this site yet", "is the coordinator running",
            "\nhub       -       0       not heard since this agent started")
    require(federation.get("site-0", "/health")["status"] == "waiting", "its health")
    federation.start("coordinator")
    is_said(federation, "site-0", OK, "OK: site site-0 of trial: exploring", "\nsite-0    1       1       exploring, waits for decisions",
            "\nhub       1       1       heard ")
    said = is_said(federation, "coordinator", OK, "OK: coordinator of trial: collecting", "not heard since the coordinator started")
    require([line.split()[0] for line in said.splitlines()[1:]] == ["site", "hub", *federation.sites], said)
    for site in federation.sites[1:]:
        federation.start(site)
    federation.apply()
    wait_for("the run ends", federation.is_finished, 120)
    is_said(federation, "coordinator", OK, "finished, winner: arm 0", "\nsite-0    1 ")
    for site in federation.sites:
        is_said(federation, site, OK, "decided, winner: arm 0")
    federation.end_applications()
    status = federation.status()
    require(status["run_id"] == 1 and status["run"] == federation.site_status("site-0")["announced"], f"{status}")


# Before a start

def check(federation, name):
    """Code and text of `--check`; no file of the folder is made, changed or touched."""
    before = seen_in(federation)
    words = federation.words_of(name)
    done = subprocess.run([*words[:2], "--check", *words[3:]], capture_output=True, text=True, timeout=60, check=False)
    after = seen_in(federation)
    require(before == after, f"it wrote: {before ^ after}")
    return done.returncode, done.stdout + done.stderr


def seen_in(federation):
    """Names, sizes and times of all that no running process writes."""
    written = {f"state-{name}" for name, process in federation.processes.items() if process.poll() is None}
    return {(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in federation.folder.rglob("*")
            if path.is_file() and path.suffix != ".log" and not written & set(path.parts)}


def change(federation, name, old, new):
    path = federation.folder / f"{name}.yaml"
    text = path.read_text()
    require(old in text, f"{old} is not in {text}")
    path.write_text(text.replace(old, new, 1))


@test
def check_says_what_a_start_would_and_writes_nothing(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25)
    for name in ("coordinator", "site-0"):
        code, said = check(federation, name)
        require(code == 0 and said.endswith(f"{name}.yaml is right; there is no state yet\n"), f"{code} {said}")
    federation.start_all()
    federation.apply()
    wait_for("the run is on its way", lambda: federation.is_at(2), 120)
    federation.end_applications()
    for name in ("coordinator", "site-0"):  # one that ended by itself, and one that did not: its log is there
        federation.stop(name) if name == "coordinator" else federation.kill(name)
        code, said = check(federation, name)
        require(code == 0 and "its state fits" in said, f"{code} {said}")
    for name, old, new, words in [
            ("coordinator", '"horizon": 400000', '"horizon": 500000', "run.horizon is 500000, and was 400000"),
            ("coordinator", '"quorum": 3', '"quorum": 2', "run.quorum is 2, and was 3"),
            ("coordinator", '"arm 1"', '"arm one"', "arms is arm one, and was arm 1"),
            ("coordinator", '"gap": 0.25', '"gap": 0.5', "run.gap is 0.5, and was 0.25"),
            ("coordinator", '"site-2"]', '"site-2", "site-3"]', "sites site-3 was not there"),
            ("site-0", '"epsilon": 1000.0', '"epsilon": 900.0', "policy.epsilon is 900, and was 1000"),
            ("site-0", '"range": [0, 1]', '"range": [0, 2]', "policy.range is [0, 2], and was [0, 1]"),
            ("site-0", '"rounds_max": 40', '"rounds_max": 41', "policy.rounds_max is 41, and was 40")]:
        text = (federation.folder / f"{name}.yaml").read_text()
        change(federation, name, old, new)
        for code, said in (check(federation, name), federation.run_to_end(name)):
            require(code == 2 and words in said and "the configuration is not the one that this state was made with: " in said,
                    f"{name} {new}: {code} {said}")
            require(said.count("\n") == 1 and "digest" not in said, said)
        (federation.folder / f"{name}.yaml").write_text(text)
    for name in ("coordinator", "site-0"):
        federation.start(name)
    wait_for("both answer", lambda: federation.status() and federation.site_status("site-0"), 60)
    code, said = federation.run_to_end("site-0", words=[*federation.words_of("site-0")[:2], "--check", str(federation.folder / "site-0.yaml")])
    require(code == 0, f"{code} {said}")
    change(federation, "site-0", '"budget": 1000.0', '"budget": 2000.0')  # while it runs, as before a restart
    code, said = federation.run_to_end("site-0", words=[*federation.words_of("site-0")[:2], "--check", str(federation.folder / "site-0.yaml")])
    require(code == 2 and "policy.budget is 2000, and was 1000" in said, f"{code} {said}")


@test
def check_refuses_files_keys_and_states_that_a_start_refuses(federation_of):
    federation = federation_of(MEANS)
    key = federation.pki / "site-0.key"
    key.chmod(0o644)
    code, said = check(federation, "site-0")
    require(code == 2 and "site-0.key" in said, f"{code} {said}")
    key.chmod(0o600)
    change(federation, "site-0", '"epsilon": 1000.0', '"epsilon": -1')
    code, said = check(federation, "site-0")
    require(code == 2 and "policy.epsilon" in said and "site-0.yaml:" in said, f"{code} {said}")
    federation.write_agent("site-0", federation.policy())
    state = federation.folder / "state-site-0"
    state.mkdir(mode=0o700)
    (state / "state.db").write_bytes(b"no database at all, but for sure longer than a header: " * 20)
    (state / "state.db").chmod(0o600)
    code, said = check(federation, "site-0")
    require(code == 2 and "state.db" in said, f"{code} {said}")
    state.joinpath("state.db").unlink()
    state.chmod(0o755)
    code, said = check(federation, "site-0")
    require(code == 2 and "chmod 0700" in said, f"{code} {said}")
    state.chmod(0o700)
    expire(federation, "site-1")
    code, said = check(federation, "site-1")
    require(code == 0 and "warning: the certificate has expired" in said, f"{code} {said}")
    code, said = federation.run_to_end("site-0", words=[TACIT, "agent", "--check", "a", "--config", "b"])
    require(code == 2 and "one file is needed" in said, f"{code} {said}")


@test
def busy_database_is_waited_for(federation_of):
    """Somebody reads the state while the daemon starts: a copy that is being made, a shell."""
    federation = federation_of(MEANS)
    federation.start_all(["coordinator", "site-0"])
    wait_for("site-0 joins", lambda: federation.has_joined("site-0"), 60)
    federation.stop("site-0")
    reader = sqlite3.connect(federation.folder / "state-site-0/state.db", isolation_level=None)
    reader.execute("BEGIN")
    require(reader.execute("SELECT count(*) FROM identity").fetchone() == (1,), "it reads nothing")
    federation.start("site-0")
    process = federation.processes["site-0"]
    wait_for("it holds the lock of its directory", lambda: (federation.folder / "state-site-0/lock").read_text().split() ==
             [str(process.pid)], 60)
    time.sleep(0.5)  # it waits now; if it did not, it would have ended: that is what is looked at
    require(process.poll() is None and federation.site_status("site-0") is None, f"it did not wait: {process.poll()}")
    reader.execute("COMMIT")
    reader.close()
    wait_for("it starts", lambda: federation.has_joined("site-0"), 60)
    federation.stop("site-0")

# SIGHUP

def hang_up(federation, name):
    federation.processes[name].send_signal(signal.SIGHUP)


@test
def sighup_reopens_the_log_and_reads_certificates_anew(federation_of):
    federation = federation_of(MEANS)
    log = federation.folder / "own.log"
    federation.write_agent("site-0", federation.policy(), log={"file": "own.log", "format": "json"})
    federation.start_all(["coordinator", "site-0"])
    wait_for("site-0 joins", lambda: federation.has_joined("site-0"), 60)
    require(federation.log("site-0") == "" and '"event":"joined"' in log.read_text(), "the log is not in its file")
    log.rename(federation.folder / "own.log.1")  # as logrotate does
    hang_up(federation, "site-0")
    wait_for("a new log", lambda: log.exists() and '"event":"reload"' in log.read_text(), 60)
    require("reload" not in (federation.folder / "own.log.1").read_text(), "both logs have it")
    # A broken certificate is said, and the old one is used on, for the next handshake too.
    certificate = federation.pki / "site-0.crt"
    fresh = certificate.read_bytes()
    certificate.write_bytes(b"no certificate")
    hang_up(federation, "site-0")
    wait_for("its words", lambda: "the certificate for the broker stays as it was: cannot read a certificate" in log.read_text(), 60)
    federation.restart("broker")
    wait_for("it is back with the old one", lambda: '"event":"connected"' in log.read_text(), 60)
    # A new one is taken: the next handshake shows an expired one, and the broker refuses it.
    certificate.write_bytes(fresh)
    expire(federation, "site-0")
    hang_up(federation, "site-0")
    federation.restart("broker")
    wait_for("the new one is in use", lambda: "our certificate has expired" in log.read_text(), 60)
    certificate.write_bytes(fresh)
    hang_up(federation, "site-0")
    wait_for("it is back", lambda: (federation.site_status("site-0") or {}).get("connected"), 60)
    # A log that cannot be opened is said in the old one; and nobody dies of a SIGHUP.
    log.rename(federation.folder / "own.log.2")
    log.mkdir()
    hang_up(federation, "site-0")
    wait_for("its words", lambda: "the log stays where it was" in (federation.folder / "own.log.2").read_text(), 60)
    log.rmdir()
    hang_up(federation, "coordinator")
    wait_for("a line", lambda: "reload: on SIGHUP" in federation.log("coordinator"), 60)
    federation.stop("site-0")
    federation.stop("coordinator")


# What leaves

SAID = {16: "hello", 18: "report", 22: "commit"}  # bodies of src/wire/elim.proto


def leaves(federation, site):
    """What the broker heard of a site, by the names that docs/privacy.md has for it."""
    found = set()
    for topic, payload in federation.tap.messages:
        if topic == federation.topic(f"key/{site}"):
            found.add("key")
            require(payload == federation.certificate(site), "not its certificate")
        elif topic.startswith(federation.topic(f"up/{site}/")):
            is_chain = topic.endswith("/chain")
            require(set(wire.fields(payload)) == set(range(1, 15)) or (is_chain and not payload), f"{topic}: {payload.hex()}")
            kinds = [SAID.get(number, number) for number in wire.fields(wire.body_of(payload)) if number >= 16]
            found.update(["chain"] if is_chain else kinds or ["an empty message"])
    return found


@test
def what_leaves_a_site_is_what_the_page_says(federation_of):
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/privacy.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `(\w+)` \|", page.split("\n## What leaves a site")[1].split("\n## ")[0], re.M))
    federation = federation_of(MEANS, sites=2, rounds=2)
    federation.start_all()
    federation.apply()
    wait_for("the run ends", federation.is_finished, 60)
    require(leaves(federation, "site-0") == told, f"{leaves(federation, 'site-0')} leaves, {told} is told")


if __name__ == "__main__":
    main()
