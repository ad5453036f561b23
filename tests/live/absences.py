#!/usr/bin/env python3
"""Who is not there: sites, half of the sites, the broker. The quorum goes on, or the coordinator waits and names for
whom. See support.py."""
import math
import pathlib
import time

from support import IS_LONG, Application, check_end, main, require, test, wait_for
from wire import Proxy, order_of


@test
def site_that_never_comes_is_named_and_the_quorum_goes_on(federation_of):
    federation = federation_of([0.875, 0.5, 0.125], quorum=2, deadline_s=1, rounds=4, gap=0.25)
    federation.start_all(["coordinator", "site-0", "site-1"])
    federation.apply(["site-0", "site-1"])
    wait_for("the run begins", lambda: (federation.status() or {}).get("epoch", 0) >= 1)
    missing = [site["name"] for site in federation.status()["sites"] if site["asked"] and not site["reported"]]
    require("site-2" in missing, f"missing: {missing}")
    status = check_end(federation)
    last = {site["name"]: site["last_report_epoch"] for site in status["sites"]}
    require(last["site-2"] == 0 and last["site-0"] > 0, f"{last}")


@test
def without_the_quorum_the_coordinator_waits_and_says_for_whom(federation_of):
    federation = federation_of([0.875, 0.5, 0.125], deadline_s=4)  # both must have reported by then
    federation.start_all(["coordinator", "site-0", "site-1"])
    federation.apply(["site-0", "site-1"])
    status = wait_for("it waits", lambda: federation.is_in_phase("waiting"))
    require([site["name"] for site in status["sites"] if not site["reported"]] == ["site-2"], f"{status['sites']}")
    require(status["reports"] == 2 and status["missing"] == 1 and status["epoch"] == 1, f"{status}")
    federation.wait_for_log("coordinator", "2 of the 3 sites of the quorum")
    code, said = federation.told("coordinator")
    words = ("round 1: the deadline is over, and 2 of the quorum's 3 sites reported; missing: site-2", "tacit control STATE drop SITE",
             "\nsite-2    1       0       missing, not heard since")
    require(code == 1 and all(one in said for one in words), f"{code} {said}")
    federation.restart("coordinator")
    wait_for("it waits again", lambda: federation.is_in_phase("waiting"))
    federation.apply(["site-2"])
    federation.start("site-2")
    check_end(federation)


# The broker

def memory_kib(federation, name):
    for line in pathlib.Path(f"/proc/{federation.processes[name].pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError(f"{name} has no memory")


def decisions_go_on(federation, seconds):
    """Every application makes decisions in every second."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        before = [one.counts["exploit"] for one in federation.applications]
        time.sleep(1)
        after = [one.counts["exploit"] for one in federation.applications]
        require(all(old < new for old, new in zip(before, after, strict=True)), f"{before}, then {after}")


@test
def broker_that_is_away_and_forgets_all_stops_no_decision(federation_of):
    federation = federation_of([0.875, 0.5, 0.825])
    for site in federation.sites:  # closed decisions are forgotten soon, so that memory has nothing to grow for
        federation.write_agent(site, federation.policy(), decisions={"remember_s": 1})
    federation.play_rounds(1)
    federation.kill("broker")
    federation.wipe_broker()
    federation.allow(math.inf)
    decisions_go_on(federation, 4)
    memory = {name: memory_kib(federation, name) for name in ("coordinator", *federation.sites)}
    for name in memory:
        require(federation.request(name, "GET", "/health")[0] == 503, f"{name} says that it is well")
    decisions_go_on(federation, 56 if IS_LONG else 4)
    for name, before in memory.items():
        grown = memory_kib(federation, name) - before
        require(grown < 4096, f"{name} grew by {grown} KiB")
    require(federation.status()["epoch"] == 2, "a round without a broker")
    federation.start("broker")
    check_end(federation)
    for site in federation.sites:
        require("connected" in federation.log(site).split("disconnected")[-1], f"{site} does not say that it is back")


# Half of the sites

def behind_a_proxy(federation, sites):
    proxy = Proxy(federation.port)
    for site in sites:
        federation.write_agent(site, federation.policy(), broker=federation.broker_section(site, port=proxy.port))
    return proxy


def has_caught_up(federation, site, epoch):
    """Also the decisions that were open when a later order came are pulls."""
    status = federation.site_status(site)
    counts = federation.application_of(site).counts
    return status["epoch"] >= epoch and status["pulls"] == counts["planned"] + counts["exploit"]


@test
def decision_that_is_open_when_its_arm_goes_is_a_pull_all_the_same(federation_of):
    federation = federation_of([0.875, 0.125, 0.825], quorum=2, deadline_s=1)
    federation.start_all()
    wait_for("site-2 explores", lambda: federation.phase("site-2") == "exploring")
    late = Application(federation, "site-2")
    decisions = late.ask("/v1/decisions/batch", {"requests": [{}] * 100})["decisions"]
    federation.apply(["site-0", "site-1"], allowance=federation.all_to(1))
    wait_for("the order without arm 1", lambda: (federation.site_status("site-2") or {"epoch": 0})["epoch"] == 2)
    require(federation.site_status("site-2")["active_arms"] == ["arm 0", "arm 2"], "arm 1 is still in")
    require(any(one["arm"] == 1 for one in decisions), "no decision for arm 1")
    rewards = [{"id": one["id"], "reward": federation.means[one["arm"]]} for one in decisions]
    answers = late.ask("/v1/rewards/batch", {"rewards": rewards})["rewards"]
    require(all(one["status"] == "accepted" for one in answers), f"{answers}")
    pulls = federation.site_status("site-2")["pulls"]
    require(pulls == len(decisions), f"{len(decisions)} were played, {pulls} are counted")
    federation.allow(math.inf)
    federation.apply(["site-2"])
    federation.applications[-1].counts["planned"] = len(decisions)
    check_end(federation, is_whole=False)


@test
def cut_off_half_catches_up_and_the_quorum_goes_on_without_it(federation_of):
    federation = federation_of([0.875, 0.8, 0.75], sites=4, quorum=2, deadline_s=3)
    far = federation.sites[2:]
    proxy = behind_a_proxy(federation, far)
    federation.play_rounds(1)
    proxy.cut()
    federation.allow(federation.all_to(4))
    wait_for("the near half goes on", lambda: federation.is_at(5))
    for site in far:
        status = federation.site_status(site)
        require(status["epoch"] < 5 and not status["connected"], f"{site} is not cut off: {status}")
        require(federation.get(site, "/v1/ledger")["spent"] in (0, federation.epsilon), f"{site} spent too much")
    proxy.mend()
    federation.wait_for_sites("catches up, and counts what it played", lambda site: has_caught_up(federation, site, 5), sites=far)
    federation.allow(math.inf)
    status = check_end(federation, is_whole=False)
    last = {site["name"]: site["last_report_epoch"] for site in status["sites"]}
    require(min(last.values()) > 4, f"the far half never came back: {last}")


@test
def held_up_messages_come_late_and_change_nothing(federation_of):
    federation = federation_of([0.875, 0.8, 0.75], quorum=2, deadline_s=1)
    proxy = behind_a_proxy(federation, ["site-2"])
    federation.play_rounds(1)
    for epoch in (2, 3, 4):
        wait_for(f"epoch {epoch}", lambda epoch=epoch: federation.is_at(epoch))
        proxy.flows.clear()
        federation.allow(federation.all_to(epoch))  # the report of this epoch waits in the proxy
        wait_for("the quorum goes on", lambda epoch=epoch: federation.is_at(epoch + 1))
        proxy.flows.set()
    federation.allow(math.inf)
    check_end(federation, is_whole=False)


# Not everybody is asked

@test
def participation_below_one_asks_some_and_hears_only_them(federation_of):
    federation = federation_of([0.875, 0.8125, 0.75], sites=4, quorum=2, participation=0.5)
    federation.start_all()
    federation.apply()
    status = check_end(federation, is_whole=False)
    asked = {}
    for epoch, orders in federation.orders().items():
        last, _, _, sites, _ = order_of(next(iter(orders)))
        if not last:
            asked[epoch] = sites
    require(len(asked) == status["rounds"] >= 6, f"{len(asked)} orders, {status['rounds']} rounds")
    for epoch, sites in asked.items():
        require(sites is not None and len(sites) == 2, f"epoch {epoch}: {sites} are asked, not 2")
        heard = [index for index, site in enumerate(federation.sites) if epoch in federation.reports(site)]
        require(heard == sites, f"epoch {epoch}: {sites} are asked, {heard} reported")
    # Drawn afresh from the operating system: the same pair in 6 rounds has a chance of 6^-5.
    require(len(set(map(tuple, asked.values()))) > 1, f"always the same: {asked}")


if __name__ == "__main__":
    main()
