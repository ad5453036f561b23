#!/usr/bin/env python3
"""Federations of peers: eight sites on a ring, which judge for themselves, and two stars of four below a hub. See
support.py."""
import sys
import time

import wire
from support import check_status, main, require, test, wait_for
from wire import STEPS

RING = {"kind": "ring"}
TWO_STARS = {"kind": "hybrid", "components": [{"agents": 4, "kind": "star-graph"}, {"agents": 4, "kind": "star-graph"}]}
MEANS = [0.875, 0.5, 0.125]


def peers(federation_of, network, **options):
    federation = federation_of(MEANS, sites=8, rounds=4, gap=0.25, **options)
    file = federation.folder / "coordinator.yaml"
    run = federation.run_section()
    if network is RING:
        del run["quorum"]
    federation.write_coordinator(run)
    file.write_text(file.read_text() + f"network: {network}\n".replace("'", ""))
    federation.run_tacit("broker-config", "--directory", federation.folder / "broker", "--coordinator", file, "--pki",
                         federation.pki, "--port", federation.port, "--persistence", federation.persistence)
    federation.allow_access("tap", "read tacit/v1/#")
    return federation


def all_decided(federation):
    return all(federation.phase(site) in ("decided", "finished") for site in federation.sites)


def check_peers(federation):
    """Everybody is of one mind; each lost what its ledger says, once an epoch, and its sums are its rewards."""
    wait_for("all sites decide", lambda: all_decided(federation), 60)
    for site in federation.sites:
        require(federation.site_status(site)["active_arms"] == ["arm 0"], f"{site}: {federation.site_status(site)}")
    federation.end_applications()
    epochs = set()
    for application in federation.applications:
        ledger = check_status(federation, application)
        federation.stop(application.site)
        outbox = federation.outbox(application.site)
        require([one["epoch"] for one in ledger["releases"]] == sorted(outbox), f"{application.site}: {ledger}")
        epochs.add(tuple(sorted(outbox)))
        for payload, _, _ in outbox.values():
            pulls, sums = wire.sums_of(payload)
            for arm, value in sums.items():
                expected = pulls * round(MEANS[arm] * STEPS) / STEPS
                require(abs(value - expected) < 0.1, f"{application.site}, arm {arm}: {value}, not {expected}")
    require(len(epochs) == 1, f"sites released in different epochs: {epochs}")
    federation.stop("coordinator")
    return len(epochs.pop())


def pairs_heard(federation):
    """Who said something to whom between neighbours."""
    found = set()
    for topic, _ in list(federation.tap.seen):
        parts = topic.split("/")
        if len(parts) == 7 and parts[3] == "peer":
            found.add((parts[4], parts[5]))
    return found


@test
def ring_of_eight_decides_alike_without_a_hub(federation_of):
    federation = peers(federation_of, RING)
    federation.start_all()
    federation.apply()
    rounds = check_peers(federation)
    require(rounds >= 1, "nothing was released")
    ring = {(f"site-{i}", f"site-{(i + step) % 8}") for i in range(8) for step in (1, 7)}
    require(pairs_heard(federation) == ring, f"{sorted(pairs_heard(federation) ^ ring)}")
    require(not federation.orders(), "the coordinator gave an order")


@test
def two_stars_of_four_report_through_their_sinks(federation_of):
    federation = peers(federation_of, TWO_STARS)
    federation.start_all()
    federation.apply()
    wait_for("the hub decides", federation.is_finished, 60)
    rounds = federation.status()["rounds"]
    require(check_peers(federation) == rounds, "sites and hub count other rounds")
    heard = pairs_heard(federation)
    require({pair for pair in heard if pair[1] in ("site-0", "site-4")} ==
            {(f"site-{i}", "site-0") for i in (1, 2, 3)} | {(f"site-{i}", "site-4") for i in (5, 6, 7)}, f"{heard}")
    reports = {site: federation.reports(site) for site in federation.sites}
    require(all(len(reports[site]) == rounds for site in ("site-0", "site-4")), "a sink did not report each round")
    require(not any(reports[site] for site in federation.sites if site not in ("site-0", "site-4")),
            "a site that is no sink reported to the hub")
    require(all(len(said) == 1 for site in reports.values() for said in site.values()), "two reports of one epoch")


@test
def ring_survives_kills_of_any_site_at_any_time(federation_of):
    federation = peers(federation_of, RING)
    federation.start_all()
    federation.apply()
    for i in range(10):
        site = federation.sites[3 * i % 8]
        time.sleep(0.15)
        federation.kill(site)
        federation.start(site)
    check_peers(federation)


@test
def sink_that_dies_after_collecting_goes_on_where_it_was(federation_of):
    federation = peers(federation_of, TWO_STARS)
    federation.start_all()
    federation.apply()
    for _ in range(6):
        time.sleep(0.2)
        for name in ("site-0", "site-4", "coordinator"):
            federation.kill(name)
            federation.start(name)
    check_peers(federation)


@test
def ring_waits_for_a_site_that_is_away_and_says_so(federation_of):
    federation = peers(federation_of, RING)
    names = [site for site in federation.sites if site != "site-3"]
    federation.start_all(["coordinator", *names])
    federation.apply(names)
    for site in names:  # what they have goes round the gap
        wait_for(f"{site} waits for site-3 alone",
                 lambda site=site: (federation.site_status(site) or {}).get("missing_sites") == [3], 30)
    federation.apply(["site-3"])
    federation.start("site-3")
    check_peers(federation)


@test
def broker_lets_only_neighbours_hear_and_speak(federation_of):
    federation = peers(federation_of, RING)
    federation.start_all([])
    hears = federation.client("site-2")
    hears.subscribe(federation.topic("peer/#"))
    hears.receive()
    speaks = federation.client("site-0")
    for where in ("peer/site-0/site-2/elim", "peer/site-1/site-2/elim", "peer/site-7/site-0/elim"):
        code = speaks.publish(federation.topic(where), b"not for you to say")
        require(code == wire.REFUSED_BY_ACL, f"{where}: {code}")
    require(speaks.publish(federation.topic("peer/site-0/site-1/elim"), b"to somebody else") == 0, "to a neighbour")
    require(federation.client("site-1").publish(federation.topic("peer/site-1/site-2/elim"), b"good") == 0, "a neighbour")
    body = hears.receive()[1]
    require(body.endswith(b"good"), f"site-2 heard {body}")


if __name__ == "__main__":
    sys.exit(main())
