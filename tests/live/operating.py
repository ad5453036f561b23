#!/usr/bin/env python3
"""What an operator is told: `tacit status` and its exit codes, why a daemon is not connected and what to do, what
`--check` refuses, which key was changed, what SIGHUP does. See support.py."""
import json
import socket
import subprocess
import sys

from certificates import expire
from support import TACIT, main, require, test, text_at, wait_for

OK, WAITING, ATTENTION, DOWN = range(4)
MEANS = [0.875, 0.75, 0.125]


def ask_status(federation, name, *words):
    """Exit code and what it prints."""
    done = subprocess.run([TACIT, "status", "--config", str(federation.folder / f"{name}.yaml"), *words],
                          capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout


def is_said(federation, name, code, *texts):
    """The table with all of these, when it comes."""
    def look():
        found, said = ask_status(federation, name)
        return found == code and all(text in said for text in texts) and said
    try:
        return wait_for(f"{name}: {code}, {texts}", look, 30)
    except AssertionError as trouble:
        raise AssertionError(f"{trouble}; it says {ask_status(federation, name)}") from None


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
        code, text = ask_status(federation, site, "--json")
        status = json.loads(text)
        require(code == ATTENTION and status["state"] == "attention" and cause in status["disconnected"], f"{code} {text}")
        health = federation.get(site, "/health")
        require(cause in health["error"] and advice in health["causes"][0]["do"], f"{health}")
        require('tacit_agent_state 2\n' in text_at("/metrics", federation.socket_of(site)), "metrics")


# The four exit codes

@test
def exit_codes_go_from_down_to_ok(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25)
    code, said = ask_status(federation, "site-0")
    require(code == DOWN and said == "DOWN: site site-0: nobody answers\n", f"{code} {said}")
    code, said = ask_status(federation, "coordinator", "--json")
    require(code == DOWN and json.loads(said) == {"state": "down"}, f"{code} {said}")
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


@test
def coordinator_names_the_sites_that_a_round_waits_for(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25, deadline_s=1)
    federation.start_all(["coordinator", "site-0", "site-1"])
    federation.apply(sites=["site-0", "site-1"])
    is_said(federation, "coordinator", WAITING, "epoch 1: the deadline is over, and 2 of the quorum's 3 sites reported; missing: site-2",
            "tacit control STATE drop SITE", "\nsite-2    1       0       missing, not heard since")
    federation.start("site-2")
    federation.apply(sites=["site-2"])
    wait_for("the run ends", federation.is_finished, 120)
    is_said(federation, "coordinator", OK, "winner: arm 0")
    federation.end_applications()


@test
def site_that_refuses_the_run_needs_attention_and_shows_what_is_announced(federation_of):
    federation = federation_of(MEANS)
    federation.write_agent("site-0", federation.policy(pulls_max=1000))
    federation.start_all(["coordinator", "site-0"])
    is_said(federation, "site-0", ATTENTION, "the run that is announced is refused: the run wants more pulls than policy.pulls_max",
            "agree with the coordinator's operator", "\nhub       1 ", "\nsite-0    -       0       refused")
    status = federation.site_status("site-0")
    require(status["announced"] == federation.status()["run"] and "run" not in status, f"{status}")


if __name__ == "__main__":
    sys.exit(main())
