#!/usr/bin/env python3
"""Play in phases, live: a run with kills, copies with an application that asks at once, and byte for byte what the
simulator sends. See support.py."""
import re
import time

from patients import expect_said, numbers, plan_of, play_in_turn, simulate_phased, start_patients
import copying
from support import IS_LONG, Federation, crash_everywhere, kill_anybody, main, require, test, wait_for
import support
import wire
from wire import STEPS


# ---- Messages (src/wire/phased.proto) ----

def sums_of(payload):
    """Of a report, one a block, in units of reward."""
    return [value / STEPS for value in numbers("q", wire.fields(wire.fields(payload)[18])[1])]


def without_opening(payload):
    body = wire.fields(payload)[18]
    found = wire.fields(body)
    rest = wire.field(2, found[2]) + wire.field(3, found[3]) if 2 in found else b""
    require(body.endswith(rest) and payload.endswith(body), "the opening is not at the end")
    return payload[:-len(wire.field(18, body))] + wire.field(18, body[:len(body) - len(rest)])


# ---- A federation ----

class Phased(Federation):
    """With a confidence or (0) for regret."""
    protocol = "phased-index"

    def __init__(self, means, confidence=0.95, **options):
        self.confidence = confidence
        super().__init__(means, **options)

    def run_section(self, **values):
        confidence = {"confidence": self.confidence} if self.confidence else {}
        return {"id": 1, "horizon": self.horizon, "epsilon": self.epsilon, "quorum": self.quorum,
                "deadline_s": self.deadline_s, **confidence, **values}

    def policy(self, **values):
        return super().policy(rounds_max=4000, **values)

    def commits(self, site):
        return self.by_epoch(self.topic(f"up/{site}/phased-index"), lambda payload: 19 in wire.fields(payload))


def made_by(federation_of, *arguments, **options):
    """support.run_one closes and checks what it made itself."""
    return federation_of(*arguments, kind=Phased, **options)


def check_end(federation, is_whole=True):
    """Everybody is of one mind; each release is in the outbox as it left, once, and holds the rewards of its plan."""
    status = wait_for("the run ends", federation.is_finished, 60)
    best = max(range(len(federation.means)), key=lambda arm: federation.means[arm])
    require(status["winner"] == f"arm {best}", f"the winner is {status['winner']}")
    for site in federation.sites:
        wait_for(f"{site} knows", lambda site=site: federation.phase(site) in ("decided", "finished"), 40)
        require(federation.site_status(site)["active_arms"] == [f"arm {best}"], f"{site}: another winner")
    federation.end_applications()
    orders = {}
    for epoch, payloads in federation.orders().items():
        require(len(payloads) == 1, f"two orders of round {epoch}")
        orders[epoch] = plan_of(next(iter(payloads)))
    for application in federation.applications:
        ledger = support.check_status(federation, application)
        federation.stop(application.site)
        check_outbox(federation, application.site, ledger, orders, status["rounds"] if is_whole else None)
    federation.stop("coordinator")
    return status


def play_until(federation, arms, winner):
    """Starts the coordinator again with these arms added and retired, and waits until this one is played to the end."""
    federation.stop("coordinator")
    federation.write_coordinator(federation.run_section(later=["arm 2"], **arms))
    federation.start("coordinator")
    wait_for(f"{winner} wins", lambda: (federation.status() or {}).get("winner") == winner, 120)
    for site in federation.sites:
        wait_for(f"{site} plays {winner}",
                 lambda site=site: (federation.site_status(site) or {}).get("active_arms") == [winner], 120)
    orders = federation.orders()
    return max(orders), {arm for payloads in orders.values() for arm in plan_of(next(iter(payloads)))[2]}


def check_outbox(federation, site, ledger, orders, rounds):
    outbox, seen = federation.outbox(site), federation.reports(site)
    require([one["epoch"] for one in ledger["releases"]] == sorted(outbox), f"{site}: ledger and outbox differ")
    require(rounds is None or len(outbox) == rounds, f"{site}: {len(outbox)} releases in {rounds} rounds")
    for epoch, payloads in seen.items():
        require(payloads == {outbox[epoch][0]}, f"{site}: round {epoch}: the wire differs from the outbox")
    for epoch, (payload, _, _) in outbox.items():
        plan, sums = orders[epoch][2], sums_of(payload)
        for (arm, pulls), value in zip(plan.items(), sums, strict=True):
            expected = pulls * round(federation.means[arm] * STEPS) / STEPS
            require(abs(value - expected) < 0.1, f"{site}: round {epoch}, arm {arm}: {value}, not {expected}")


# ---- Runs ----

@test
def undisturbed_run_decides_and_says_what_it_knows(federation_of):
    federation = made_by(federation_of, [0.875, 0.5, 0.825, 0.125])
    federation.start_all()
    federation.apply()
    wait_for("the run ends", federation.is_finished, 60)
    support.check_answers(federation)
    status = check_end(federation)
    require(status["confidence"] == 0.95 and status["leader"] == "arm 0", f"{status}")
    require(status["answer"] == "arm 0 is better than arm 1, arm 2, arm 3 with confidence 95 %, whenever you look",
            status["answer"])
    for arm, mean in zip(status["arms"], federation.means, strict=True):
        require(arm["lower"] <= mean <= arm["upper"], f"{arm}: {mean} is not in it")


def check_shown(federation):
    """Page and metrics have the intervals of the status: no round comes in between, for there is no application."""
    status, page, metrics = federation.status(), federation.text("coordinator", "/"), federation.text("coordinator", "/metrics")
    require(status["answer"] in page, f"{status['answer']} is not on {page}")
    drawn = re.findall(r">([0-9.]+) to ([0-9.]+)</td>", page)
    require(len(drawn) == len(status["arms"]), f"{len(drawn)} intervals on {page}")
    for number, arm in enumerate(status["arms"]):
        name = arm["name"]
        require(all(abs(float(shown) - arm[bound]) < 1e-4 for shown, bound in
                    zip(drawn[number], ("lower", "upper"), strict=True)), f"{arm} is not on {page}")
        for bound in ("lower", "upper"):
            line = f'tacit_hub_arm_{bound}{{arm="{name}"}} {arm[bound]:.6g}'
            require(line in metrics, f"{line} is not in {metrics}")


@test
def without_a_confidence_the_answer_is_there_at_any_time(federation_of):
    federation = made_by(federation_of, [0.875, 0.5, 0.85], confidence=0, horizon=60000)
    federation.start_all()
    federation.apply(allowance=15000)
    status = wait_for("an arm is told apart", lambda: (now := federation.status()) and "is better than" in
                      now.get("answer", "") and now, 40)
    require(status["phase"] == "collecting" and status["winner"] is None, f"{status['phase']}")
    require("with confidence 95 %, whenever you look" in status["answer"], status["answer"])
    for arm, mean in zip(status["arms"], federation.means, strict=True):
        require(arm["lower"] <= mean <= arm["upper"], f"{arm}: {mean} is not in it")
    federation.end_applications()
    wait_for("nothing changes any more", lambda: federation.status() == federation.status(), 40)
    check_shown(federation)


@test
def kill_9_of_anybody_loses_nothing(federation_of):
    federation = made_by(federation_of, [0.875, 0.5, 0.825, 0.125])
    federation.start_all()
    federation.apply(allowance=1, batch=20)
    kill_anybody(federation, 200 if IS_LONG else 12, pulls=3000)
    check_end(federation)


@test
def crash_at_every_step_loses_nothing(federation_of):
    for point in ("before-commit", "after-commit", "after-send") if IS_LONG else ("before-commit", "after-send"):
        federation = made_by(federation_of, [0.875, 0.5, 0.125])
        first = {name: number for number, name in enumerate(["coordinator", *federation.sites], 1)}
        crash_everywhere(federation, point, first, lambda name, count: 2 * count, least=4)
        check_end(federation)


# ---- Copies ----

class Copied(copying.Trial):
    def made(self, federation_of):
        federation = made_by(federation_of, [0.875, 0.87, 0.865])
        federation.write_agent(copying.SITE, federation.policy(), name=copying.COPY)
        return federation

    def commits(self):
        return self.federation.commits(copying.SITE)


@test
def a_copy_with_traffic_is_blocked_and_each_round_leaves_once(federation_of):
    copying.restore_often(Copied(federation_of), "up", 6 if IS_LONG else 3)


# ---- Byte for byte ----

def same_as_simulated(federation, seed):
    messages, rewards, _ = simulate_phased(federation, seed, deviation=0.25)
    federation.start_all([])
    federation.start("coordinator")
    patients = start_patients(federation, rewards)
    play_in_turn(federation, patients)
    time.sleep(0.1)
    expect_said(federation, patients, messages, rewards, without_opening, lambda payload: plan_of(payload)[:3])


@test
def hooked_federation_sends_the_simulator_s_bytes(federation_of):
    for confidence, horizon in ((0, 2500), (0.9, 9000)):
        same_as_simulated(made_by(federation_of, [0.7, 0.6, 0.4, 0.2], confidence=confidence, epsilon=4.0,
                                  horizon=horizon), seed=1)


@test
def guarded_run_never_falls_behind_its_arm_and_finds_a_better_one(federation_of):
    federation = made_by(federation_of, [0.875, 0.5, 0.125])
    loss, guard = 0.1, 1
    federation.write_coordinator(federation.run_section(guard={"arm": f"arm {guard}", "loss": loss}))
    federation.start_all()
    federation.apply()
    check_end(federation)
    orders = {number: plan_of(next(iter(payloads))) for number, payloads in federation.orders().items()}
    plans = [orders[number][2] for number in sorted(orders) if not orders[number][0]]
    require(list(plans[0]) == [guard], f"the first plan is {plans[0]}")
    require({arm for plan in plans for arm in plan} == {0, 1, 2}, f"{plans}")
    slots, lost = 0, 0.0
    for plan in plans:  # as if the worst pulls of a plan came at its first slot
        lost += sum(pulls * max(0.0, federation.means[guard] - federation.means[arm]) for arm, pulls in plan.items())
        require(lost <= loss * slots, f"after {slots} slots {lost} may be lost: {plans}")
        slots += sum(plan.values())


@test
def arm_that_is_added_is_tried_and_one_that_is_retired_is_played_no_more(federation_of):
    federation = made_by(federation_of, [0.5, 0.25, 0.875])
    federation.write_coordinator(federation.run_section(later=["arm 2"]))
    federation.start_all()
    federation.apply()
    wait_for("the first two are told apart", federation.is_finished, 120)
    status = federation.status()
    require(status["winner"] == "arm 0", f"{status}")
    require([arm["present"] for arm in status["arms"]] == [True, True, False], f"{status['arms']}")
    require("arm 2" not in status["answer"], status["answer"])
    before, arms = max(federation.orders()), {arm for orders in federation.orders().values() for arm in
                                              plan_of(next(iter(orders)))[2]}
    require(arms == {0, 1}, f"arms {arms} were ordered")
    added, arms = play_until(federation, {"added": ["arm 2"]}, "arm 2")
    require(added > before and arms == {0, 1, 2}, f"order {added} after {before}, arms {arms}")
    retired, arms = play_until(federation, {"added": ["arm 2"], "retired": ["arm 2"]}, "arm 0")
    status = federation.status()
    require(retired > added and not status["arms"][2]["present"], f"{status}")
    late = [plan_of(next(iter(payloads))) for number, payloads in federation.orders().items() if number > added]
    require(all(2 not in plan and leader != 2 for _, leader, plan, _ in late), f"{late}")
    federation.end_applications()
    orders = {number: plan_of(next(iter(payloads))) for number, payloads in federation.orders().items()}
    for application in federation.applications:
        ledger = support.check_status(federation, application)
        federation.stop(application.site)
        check_outbox(federation, application.site, ledger, orders, None)
    federation.stop("coordinator")


if __name__ == "__main__":
    main()
