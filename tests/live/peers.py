#!/usr/bin/env python3
"""Federations of peers: eight sites on a ring, which judge for themselves, and two stars of four below a hub. See
support.py."""
import json
import math
import random
import shutil
import struct
import subprocess
import time

import wire
from support import IS_LONG, TACIT, check_status, check_sums, main, require, test, wait_for
from wire import STEPS, field

RING = {"kind": "ring"}
TWO_STARS = {"kind": "hybrid", "components": [{"agents": 4, "kind": "star-graph"}, {"agents": 4, "kind": "star-graph"}]}
MEANS = [0.875, 0.5, 0.125]
LONG = [0.875, 0.75, 0.125]  # the last arm is out at once, the second after the last round


def peers(federation_of, network, means=MEANS, **options):
    federation = federation_of(means, sites=8, rounds=4, gap=0.25, **options)
    federation.play_over(network)
    return federation


def check_peers(federation):
    """Everybody is of one mind; each lost what its ledger says, once an epoch, and its sums are its rewards."""
    federation.wait_for_sites("decides", federation.has_decided, 60)
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
            check_sums(federation, application.site, payload)
    require(len(epochs) == 1, f"sites released in different epochs: {epochs}")
    federation.stop("coordinator")
    return len(epochs.pop())


# Words between neighbours (src/wire/tacit.proto)

def origins(sites):
    """The sites' set, as fields 1 and 2 or 3 and 4 of a message."""
    number = sum(1 << site for site in sites)
    return number.to_bytes(1, "little") if sites else b""


def word(sender, epoch, number, body, run=1):
    """An envelope around a word of any kind."""
    return (b"\x0d" + struct.pack("<I", 1) + b"\x15" + struct.pack("<I", sender) + b"\x19" + struct.pack("<Q", run) +
            b"\x25" + struct.pack("<I", epoch) + field(number, body))


def held(at):
    """Nothing, of no round, as the two fields from this one on."""
    return wire.fixed32(at, 0) + field(at + 1, bytes(32))


def named(sites, at=3):
    return b"\x0d" + struct.pack("<I", 0) + field(2, origins(sites)) + held(at)


def hello(sender, epoch, sites, **options):
    return word(sender, epoch, 16, named(sites, 5), **options)


def advert(sender, epoch, sites, **options):
    return word(sender, epoch, 19, named(sites), **options)


def request(sender, epoch, sites, **options):
    return word(sender, epoch, 20, named(sites), **options)


def data(sender, epoch, pulls, arms, sites, sums, **options):
    body = (b"\x09" + struct.pack("<Q", pulls) + field(2, struct.pack("<Q", arms)) + b"\x1d" + struct.pack("<I", 0) +
            field(4, origins(sites)) + field(5, struct.pack(f"<{len(sums)}q", *sums)) + held(8))
    return word(sender, epoch, 21, body, **options)


def rows_heard(federation):
    """{(site, epoch): set of rows}, whoever passed them on."""
    found = {}
    for topic, payload in list(federation.tap.seen):
        body = wire.fields(payload).get(21) if "/peer/" in topic else None
        if body is not None and 5 in wire.fields(body):
            parts = wire.fields(body)
            sites = [parts[3] + bit for bit in wire.members(parts[4])]
            row = len(parts[5]) // len(sites)
            for rank, site in enumerate(sites):
                found.setdefault((site, wire.epoch_of(payload)), set()).add(parts[5][rank * row:(rank + 1) * row])
    return found


# The simulator

def simulated(federation, network, protocol=None):
    """One run of the experiment file that says the same: rounds, epochs of elimination by arm, regret."""
    limited = f"{{kind: elimination, rounds: {federation.rounds}, gap: {federation.gap}}}"
    (federation.folder / "means.csv").write_text(",".join(map(repr, federation.means)) + "\n")
    (federation.folder / "case.yaml").write_text(
        f"name: case\nhorizon: {federation.horizon}\nagents: {len(federation.sites)}\nruns: 1\n"
        f"environment: {{kind: constant, means: means.csv}}\nnetwork: {json.dumps(network)}\n"
        f"protocol: {protocol or limited}\n"
        f"privacy: {{mode: sound, epsilon: {federation.epsilon}}}\n")
    done = subprocess.run([TACIT, "run", str(federation.folder / "case.yaml"), "--json"], capture_output=True, text=True,
                          check=False)
    require(done.returncode == 0, done.stderr)
    result = json.loads(done.stdout)
    return (result["metrics"]["rounds"]["mean"], [arm["eliminated_epoch_mean"] for arm in result["arms"]],
            result["metrics"]["regret"]["mean"])


def played(federation):
    """{epoch: (S(r), arms in)}, the same at every site."""
    found = set()
    for site in federation.sites:
        rounds = {}
        for epoch, (payload, _, _) in federation.outbox(site).items():
            pulls, sums = wire.sums_of(payload)
            rounds[epoch] = (pulls, tuple(sorted(sums)))
        found.add(tuple(sorted(rounds.items())))
    require(len(found) == 1, f"sites played different rounds: {found}")
    return dict(found.pop())


def check_simulated(federation, network, protocol=None):
    """The same rounds as in the simulator, over the same network and over a star: arm by arm the same last epoch, and
    the same S(r) in it, which at these constant rewards is what the arm costs."""
    rounds, pulls = played(federation), 0
    best = max(federation.means)
    last = [max(epoch for epoch, (_, active) in rounds.items() if arm in active) for arm in range(len(federation.means))]
    regret = sum((best - mean) * rounds[epoch][0] for mean, epoch in zip(federation.means, last, strict=True))
    out = [None if mean == best else epoch for mean, epoch in zip(federation.means, last, strict=True)]
    for other in (network, {"kind": "star"}):
        count, eliminated, cost = simulated(federation, other, protocol)
        require((count, eliminated) == (len(rounds), out), f"{rounds}, but simulated {count}, {eliminated}")
        require(abs(cost - len(federation.sites) * regret) < 1e-6, f"{rounds}, but simulated a regret of {cost}")
    for epoch, (found, active) in sorted(rounds.items() if protocol is None else ()):
        pulls = federation.pulls(epoch, len(active), pulls)
        require(found == pulls, f"epoch {epoch}: S(r) is {found}, not {pulls}")


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
    federation = peers(federation_of, RING, LONG)
    federation.start_all()
    federation.apply()
    require(check_peers(federation) > 1, "one round only")
    check_simulated(federation, RING)
    ring = {(f"site-{i}", f"site-{(i + step) % 8}") for i in range(8) for step in (1, 7)}
    require(pairs_heard(federation) == ring, f"{sorted(pairs_heard(federation) ^ ring)}")
    require(not federation.orders(), "the coordinator gave an order")


@test
def two_stars_of_four_report_through_their_sinks(federation_of):
    federation = peers(federation_of, TWO_STARS, LONG)
    federation.start_all()
    federation.apply()
    wait_for("the hub decides", federation.is_finished, 60)
    rounds = federation.status()["rounds"]
    require(check_peers(federation) == rounds > 1, "sites and hub count other rounds")
    check_simulated(federation, TWO_STARS)
    heard = pairs_heard(federation)
    require({pair for pair in heard if pair[1] in ("site-0", "site-4")} ==
            {(f"site-{i}", "site-0") for i in (1, 2, 3)} | {(f"site-{i}", "site-4") for i in (5, 6, 7)}, f"{heard}")
    reports = {site: federation.reports(site) for site in federation.sites}
    require(all(len(reports[site]) == rounds for site in ("site-0", "site-4")), "a sink did not report each round")
    require(not any(reports[site] for site in federation.sites if site not in ("site-0", "site-4")),
            "a site that is no sink reported to the hub")
    require(all(len(said) == 1 for site in reports.values() for said in site.values()), "two reports of one epoch")


EXACT = "{kind: elimination, bounds: exact}"


def exactly(federation_of, network):
    """The same with exact bounds: their own ladder, and no limit of rounds."""
    federation = federation_of(LONG, sites=8)
    federation.play_over(network, ("rounds", "gap"), bounds="exact")
    return federation


def check_intervals(means, confidence, intervals):
    """Every mean is in its interval, and the best one is known."""
    require(confidence == 0.95, f"confidence {confidence}")
    for mean, (lower, upper) in zip(means, intervals, strict=True):
        require(0 <= lower <= mean <= upper <= 1, f"{mean} is not in [{lower}, {upper}]")
    require(intervals[0][0] > max(upper for _, upper in intervals[1:]), f"{intervals} do not tell the arms apart")


@test
def ring_with_exact_bounds_decides_alike_and_shows_intervals(federation_of):
    federation = exactly(federation_of, RING)
    federation.start_all()
    federation.apply()
    federation.wait_for_sites("decides", federation.has_decided, 120)
    shown = [federation.site_status(site) for site in federation.sites]
    found = [(status["confidence"], status["intervals"]) for status in shown]
    require(all(one == found[0] for one in found), f"sites show other intervals: {found}")
    require([arm["name"] for arm in found[0][1]] == ["arm 0", "arm 1", "arm 2"], f"{found[0]}")
    check_intervals(LONG, found[0][0], [(arm["lower"], arm["upper"]) for arm in found[0][1]])
    told = federation.text("site-0", "/metrics")
    require(f'tacit_agent_arm_lower{{arm="arm 0"}} {found[0][1][0]["lower"]:.6g}' in told, told)
    require("<polyline" in federation.text("site-0", "/"), "its page shows no rounds")
    federation.restart("site-0")
    wait_for("it is there again", lambda: federation.has_decided("site-0"), 60)
    require("<polyline" in federation.text("site-0", "/"), "its page has forgotten the rounds before its start")
    require(check_peers(federation) > 1, "one round only")
    check_simulated(federation, RING, EXACT)


def hybrid_with_exact_bounds_decides_as_simulated(federation_of):
    federation = exactly(federation_of, TWO_STARS)
    federation.start_all()
    federation.apply()
    wait_for("the hub decides", federation.is_finished, 120)
    status = federation.status()
    check_intervals(LONG, status["confidence"], [(arm["lower"], arm["upper"]) for arm in status["arms"]])
    require(check_peers(federation) == status["rounds"] > 1, "sites and hub count other rounds")
    check_simulated(federation, TWO_STARS, EXACT)


if IS_LONG:
    test(hybrid_with_exact_bounds_decides_as_simulated)


@test
def ring_survives_kills_of_any_site_at_any_time(federation_of):
    federation = peers(federation_of, RING)
    federation.start_all()
    federation.apply()
    for i in range(10):
        site = federation.sites[3 * i % 8]
        time.sleep(0.15)
        federation.restart(site)
    check_peers(federation)


@test
def sink_that_dies_after_collecting_goes_on_where_it_was(federation_of):
    federation = peers(federation_of, TWO_STARS)
    federation.start_all()
    federation.apply()
    # A kill right after the announcement came undoes the joining; what is answered then counts in no run.
    wait_for("the sites answer for the run", lambda: all(sum(one.counts.values()) > 0 for one in federation.applications), 60)
    for _ in range(6):
        time.sleep(0.2)
        for name in ("site-0", "site-4", "coordinator"):
            federation.restart(name)
    check_peers(federation)


@test
def ring_waits_for_a_site_that_is_away_and_says_so(federation_of):
    federation = peers(federation_of, RING)
    names = [site for site in federation.sites if site != "site-3"]
    federation.start_all(["coordinator", *names])
    federation.apply(names)
    for site in names:  # what they have goes round the gap; its neighbours lack its grant
        wait_for(f"{site} waits for site-3 and those whose releases it holds",
                 lambda site=site: is_missing(federation, site, [2, 3, 4]), 30)
    require(federation.site_status("site-2")["waits_for"]["for"] == "the grant of its release",
            f"{federation.site_status('site-2')}")
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
    for where in ("peer/site-0/site-2/elimination", "peer/site-1/site-2/elimination", "peer/site-7/site-0/elimination"):
        code = speaks.publish(federation.topic(where), b"not for you to say")
        require(code == wire.REFUSED_BY_ACL, f"{where}: {code}")
    require(speaks.publish(federation.topic("peer/site-0/site-1/elimination"), b"to somebody else") == 0, "to a neighbour")
    require(federation.client("site-1").publish(federation.topic("peer/site-1/site-2/elimination"), b"good") == 0, "a neighbour")
    body = hears.receive()[1]
    require(body.endswith(b"good"), f"site-2 heard {body}")


# Neighbours that are no friends

def is_missing(federation, site, sites):
    return (federation.site_status(site) or {}).get("missing_sites") == sites


@test
def hostile_neighbour_changes_nothing(federation_of):
    federation = peers(federation_of, RING)
    names = [site for site in federation.sites if site != "site-1"]
    federation.start_all(["coordinator", *names])
    federation.apply(names)
    federation.wait_for_sites("waits for site-1", lambda site: is_missing(federation, site, [0, 1, 2]), 30, sites=names)
    before, ledger = federation.site_status("site-0"), federation.get("site-0", "/v1/ledger")
    known = before["refused_messages"]  # rows that came when they were no longer waited for
    pulls = federation.pulls(1, 3)
    fair = [int(pulls * mean * STEPS) for mean in federation.means]
    rubbish = random.Random(5).randbytes
    cases = [rubbish(60000), rubbish(60), b"", b"\0",
             data(1, 1, pulls, 7, [1], fair),  # not asked for
             data(1, 1, pulls, 7, [2], fair), data(1, 1, pulls, 7, [0], fair),  # other rows than those that are here
             data(1, 1, pulls, 7, [1, 2], fair), data(1, 1, pulls, 7, [2], fair[:2]), data(1, 1, pulls, 7, [], fair),
             data(1, 1, pulls + 1, 7, [2], fair), data(1, 1, pulls, 3, [2], fair[:2]), data(1, 1, pulls, 7, [3], fair),
             advert(2, 1, [1]), hello(7, 1, []), request(0, 1, [0]), data(wire.HUB, 1, pulls, 7, [1], fair),  # names
             advert(1, 1, []), advert(1, 0, [1]), advert(1, 10001, [1]), advert(1, 1, [1], run=2),
             request(1, 1, [1]), request(1, 1, [0]), request(1, 1, []),  # what was not advertised
             wire.order(2, 1000, 1, sender=1), wire.report(1, 1, pulls, 7, fair), word(1, 1, 16, b""),
             hello(1, 1, []) + b"\0"]
    neighbour = federation.client("site-1")
    where = "peer/site-1/site-0/elimination"
    federation.expect_refusals("site-0", neighbour, [(where, federation.message(where, payload)) for payload in cases])
    try:
        neighbour.publish(federation.topic(where), b"\0" * 10_000_000)
        raise AssertionError("the broker took 10 MB")
    except OSError:
        pass
    neighbour.close()
    after = federation.site_status("site-0")
    refused = after["refused_messages"]
    require(refused == known + len(cases), f"{refused - known} of {len(cases)} were refused")
    require(federation.log("site-0").count(" refused: ") == refused, "not every refusal is logged")
    for name in ("phase", "epoch", "active_arms", "release_epoch", "missing_sites", "neighbours"):
        require(before[name] == after[name], f"{name} was {before[name]}, is {after[name]}")
    require(federation.get("site-0", "/v1/ledger") == ledger, "the ledger is another one")
    federation.tap.seen.clear()
    federation.apply(["site-1"])
    federation.start("site-1")
    check_peers(federation)
    require(all(len(rows) == 1 for rows in rows_heard(federation).values()), "two rows of one site and epoch")


@test
def neighbour_can_stop_a_site_but_not_make_it_release(federation_of):
    federation = peers(federation_of, RING)
    federation.start_all(["coordinator", "site-0"])
    wait_for("the run is joined", lambda: federation.has_joined("site-0"))
    liar = federation.client("site-1")
    lie = federation.message("peer/site-1/site-0/elimination", advert(1, 1, [0]))
    require(liar.publish(federation.topic("peer/site-1/site-0/elimination"), lie) == 0, "a neighbour may speak")
    wait_for("it takes its state for an old one", lambda: federation.phase("site-0") == "halted")
    federation.apply(["site-0"])
    time.sleep(1.5)
    federation.end_applications()
    require(federation.get("site-0", "/v1/ledger")["releases"] == [], "something was released")
    require(federation.applications[0].counts["planned"] == 0, "something was planned")


@test
def sites_with_another_epsilon_stay_out_and_say_so(federation_of):
    federation = peers(federation_of, RING)
    federation.write_agent("site-0", federation.policy(epsilon=2000, budget=2000))
    federation.start_all(["coordinator", "site-0"])
    wait_for("it refuses the run", lambda: federation.phase("site-0") == "refused")
    require("a smaller epsilon per reward than policy.epsilon" in federation.site_status("site-0")["refusal"], "why?")


# What is lost

def forget_all(federation):
    federation.play_rounds(1)
    federation.kill("broker")
    federation.wipe_broker()


@test
def broker_that_forgets_all_while_a_ring_reports_ends_no_run(federation_of):
    federation = peers(federation_of, RING, LONG)
    forget_all(federation)
    federation.allow(math.inf)
    time.sleep(0.5)  # reports are made and go nowhere
    federation.start("broker")
    require(check_peers(federation) > 1, "one round only")


@test
def broker_that_forgets_all_between_two_reports_of_a_hybrid_ends_no_run(federation_of):
    federation = peers(federation_of, TWO_STARS, LONG)
    forget_all(federation)
    federation.start("broker")
    federation.wait_for_sites("is back", lambda site: federation.site_status(site)["connected"])
    federation.allow(math.inf)
    require(check_peers(federation) > 1, "one round only")


def lose_state(federation, site):
    """Stops it, removes what it knows, starts it: it must find out that it is not new."""
    released = federation.site_status(site)["release_epoch"]
    require(released > 0, f"{site} has released nothing yet")
    federation.stop(site)
    federation.check_rows = rows_heard(federation)
    shutil.rmtree(federation.folder / f"state-{site}")
    for application in federation.applications:  # plays the plan at once, if it gets one
        application.allowance = math.inf if application.site == site else application.allowance
    federation.start(site)
    wait_for(f"{site} halts", lambda: federation.phase(site) == "halted")
    return released


def check_lost(federation, site):
    """It released nothing more, and says so; the others wait for it, and say so."""
    federation.allow(math.inf)
    index = federation.sites.index(site)
    wait_for("its neighbour waits for it, and for its grant",
             lambda: is_missing(federation, federation.sites[index - 1], [index - 1, index, index + 1]))
    time.sleep(0.5)
    federation.end_applications()
    require(federation.phase(site) == "halted", f"{site} is {federation.phase(site)}")
    require(federation.get(site, "/v1/ledger")["releases"] == [], f"{site} released again")
    code, body = federation.request(site, "GET", "/health")
    require(code == 503 and "halted" in body["error"], f"{code} {body}")
    federation.wait_for_log(site, "a peer has seen more from us than our state knows")
    require(all(len(rows) == 1 for rows in rows_heard(federation).values()), "two rows of one site and epoch")
    require({key for key in rows_heard(federation) if key[0] == index} ==
            {key for key in federation.check_rows if key[0] == index}, f"{site} released again")
    federation.kill(site)  # and it stays halted
    federation.start(site)
    wait_for(f"{site} is still halted", lambda: federation.phase(site) == "halted")


@test
def lost_state_is_found_out_in_the_epoch_of_its_release(federation_of):
    federation = peers(federation_of, RING, LONG)
    federation.start_all()
    federation.apply(federation.sites[:6], allowance=federation.all_to(1))
    for site in federation.sites[:6]:
        wait_for(f"{site} waits", lambda site=site: is_missing(federation, site, [6, 7]))
    lose_state(federation, "site-3")
    federation.apply(federation.sites[6:])
    wait_for("epoch 2 of the others", lambda: federation.is_at(2))
    check_lost(federation, "site-3")


@test
def lost_state_is_found_out_in_a_later_epoch(federation_of):
    federation = peers(federation_of, RING, LONG)
    federation.play_rounds(1)
    lose_state(federation, "site-3")
    check_lost(federation, "site-3")


@test
def lost_state_of_a_sink_and_of_a_leaf_is_found_out(federation_of):
    federation = peers(federation_of, TWO_STARS, LONG)
    federation.play_rounds(1)
    for site in ("site-0", "site-6"):
        lose_state(federation, site)
        require(federation.get(site, "/v1/ledger")["releases"] == [], f"{site} released again")


# The coordinator

@test
def coordinator_that_starts_anew_hears_where_the_ring_is(federation_of):
    federation = peers(federation_of, RING)
    federation.start_all()
    federation.apply()
    federation.wait_for_sites("decides", federation.has_decided, 60)
    before = wait_for("it hears that", lambda: federation.is_at(2))
    page = federation.text("coordinator", "/")
    require(before["phase"] == "watching" and "reports" not in before and "pulls" not in before, f"{before}")
    require("each site judges for itself" in page and "told last" in page and "arm 0" not in page, page)
    federation.restart("coordinator")
    wait_for("it hears all of them again",
             lambda: [site["last_report_epoch"] for site in (federation.status() or {"sites": []})["sites"]] == [2] * 8)
    federation.end_applications()


@test
def hub_counts_the_sites_below_the_sinks(federation_of):
    federation = peers(federation_of, TWO_STARS, quorum=6, deadline_s=2)
    names = [site for site in federation.sites if site != "site-6"]
    federation.start_all(["coordinator", *names])
    federation.apply(names)
    status = wait_for("the first sink reports", lambda: federation.status() if
                      (federation.status() or {}).get("covered") == 4 else None)
    require((status["reports"], status["missing"], status["quorum"]) == (1, 1, 6), f"{status}")
    wait_for("the quorum goes on", federation.is_finished, 30)
    federation.end_applications()
    federation.wait_for_sites("knows", federation.has_decided, sites=names)
    agents = [wire.fields(wire.fields(one)[18]).get(4) for payloads in federation.reports("site-4").values()
              for one in payloads]
    require(agents and all(count == 3 for count in agents), f"site-4 reported for {agents}")


@test
def run_that_does_not_fit_into_messages_is_refused(federation_of):
    federation = peers(federation_of, RING)
    federation.write_coordinator(federation.run_section(horizon=1 << 40), arms=[f"arm {i}" for i in range(8100)])
    code, said = federation.run_to_end("coordinator")
    require(code == 2 and said.count("\n") == 1 and "coordinator.yaml:5: arms: a message of this run would be longer "
            "than 65536 bytes; allowed: fewer arms" in said, f"{code} {said}")
    require(not (federation.folder / "state-coordinator").exists(), "a state came into being")


if __name__ == "__main__":
    main()
