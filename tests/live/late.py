#!/usr/bin/env python3
"""Rewards that come late or never, who is told of it, and when reports leave. See support.py."""
import collections
import math
import random
import time

from support import Application, check_end, main, require, test, wait_for
from wire import is_commit, order_of

RATE = 100  # decisions a second of an application that has its own pace
TICK_S = 0.1


class Paced(Application):
    """Asks at its own pace, as people come; hands in a reward or not."""

    def __init__(self, trial, site, is_lost):
        super().__init__(trial, site)
        self.is_lost = is_lost
        self.slots = 0  # decisions until it was decided
        self.late = 0

    def step(self, count):
        decisions = self.ask("/v1/decisions/batch", {"requests": [{}] * count})["decisions"]
        kept = [one for one in decisions if not self.is_lost(one)]
        rewards = [{"id": one["id"], "reward": self.federation.means[one["arm"]]} for one in kept]
        answers = self.ask("/v1/rewards/batch", {"rewards": rewards})["rewards"]
        require(all(one["status"] == "accepted" for one in answers), f"{answers}")
        for one in decisions:
            self.counts[one["kind"]] += 1
            self.slots += one["kind"] != "committed"
        return any(one["kind"] == "committed" for one in decisions)

    def serve(self, count):
        time.sleep(10 / RATE)
        if self.step(10):
            self.over = True  # for this site it is decided
        return True


def paced(federation, is_lost, **decisions):
    for site in federation.sites:
        federation.write_agent(site, federation.policy(), **decisions)
    federation.start_all()
    for site in federation.sites:
        federation.applications.append(Paced(federation, site, is_lost))
        federation.applications[-1].start()


def planned_slots(federation):
    """Of one site, by the orders: what a run takes in which no reward is lost."""
    total = before = 0
    for _, payloads in sorted(federation.orders().items()):
        last, pulls, arms, _, _ = order_of(next(iter(payloads)))
        if not last:
            total += (pulls - before) * len(arms)
            before = pulls
    return total


@test
def three_in_ten_rewards_lost_for_ever_cost_less_than_twice_the_slots(federation_of):
    dice = random.Random(7)
    federation = federation_of([0.875, 0.5, 0.125], rounds=1, gap=0.25)
    paced(federation, lambda decision: dice.random() < 0.3, decisions={"wait_s": 1})
    status = wait_for("the run ends", federation.is_finished, 120)
    for one in federation.applications:
        one.join(30)
        require(one.trouble is None, f"{one.trouble}")
    require(status["winner"] == "arm 0", f"the winner is {status['winner']}")
    planned = planned_slots(federation)
    for one in federation.applications:
        require(one.slots <= 2 * planned, f"{one.site}: {one.slots} slots for {planned}")
        known = federation.site_status(one.site)
        require(known["given_out_again"] > 0.3 * planned, f"{known}")
    print(f"{planned} planned, {[one.slots for one in federation.applications]} were played")
    check_end(federation)  # each sum is of exactly n rewards


def lose_one(federation):
    """A decision of site-0 that never has a reward."""
    wait_for("site-0 explores", lambda: federation.phase("site-0") == "exploring")
    lost = Application(federation, "site-0").ask("/v1/decisions", {})
    require(lost["kind"] == "planned", f"{lost}")
    federation.apply()
    federation.applications[0].counts["planned"] += 1
    return lost


def waits_for_rewards(federation):
    status = federation.site_status("site-0")
    waits = status and status["waits_for"]
    return status if waits and waits["for"] == "rewards" and waits["open"] == 1 else None


@test
def one_lost_reward_holds_a_round_up_for_one_wait_and_status_says_so(federation_of):
    federation = federation_of([0.875, 0.5, 0.125], rounds=2, gap=0.25)
    federation.write_agent("site-0", federation.policy(), decisions={"wait_s": 4, "deadline_s": 86400})
    federation.start_all()
    lost = lose_one(federation)
    status = wait_for("it waits", lambda: waits_for_rewards(federation))
    require(status["waits_for"]["oldest_s"] > 0, f"{status}")
    require(status["unserved"] == 0 and status["wait_s"] == 4, f"{status}")
    wait_for("the next epoch", lambda: federation.is_at(2))
    answer = Application(federation, "site-0").ask("/v1/rewards", {"id": lost["id"], "reward": 0.0})
    require(answer["status"] == "late", f"{answer}")
    check_end(federation)


@test
def open_decision_is_listed_and_its_place_is_free_once_it_is_closed(federation_of):
    federation = federation_of([0.875, 0.5, 0.125], rounds=2, gap=0.25)
    federation.start_all()
    lost = lose_one(federation)
    wait_for("it waits", lambda: waits_for_rewards(federation))
    _, listed = federation.request("site-0", "GET", "/v1/decisions")
    planned = [one for one in listed["decisions"] if one["kind"] == "planned"]
    require([one["id"] for one in planned] == [lost["id"]], f"{listed}")
    require(55 < planned[0]["left_s"] <= 60, f"{planned}")
    code, answer = federation.request("site-0", "DELETE", f"/v1/decisions/{lost['id']}")
    require(code == 200 and answer == {"status": "closed"}, f"{code} {answer}")
    wait_for("the next epoch", lambda: federation.is_at(2))
    check_end(federation)


def exploring_alone(federation_of, wait_s=3):
    federation = federation_of([0.875, 0.5, 0.125], sites=1, rounds=1, gap=0.25)
    federation.write_agent("site-0", federation.policy(), decisions={"wait_s": wait_s})
    federation.start_all()
    wait_for("site-0 explores", lambda: federation.phase("site-0") == "exploring")
    return federation


@test
def round_that_waits_for_long_is_said_in_log_and_health(federation_of):
    federation = exploring_alone(federation_of, wait_s=1)
    application = Application(federation, "site-0")
    health = None

    def has_two_warnings():  # nobody ever gets a reward
        nonlocal health
        application.ask("/v1/decisions/batch", {"requests": [{}] * 1000})
        code, health = federation.request("site-0", "GET", "/health")
        require(code == 200, f"{code} {health}")
        return len(health.get("warnings", [])) == 2
    wait_for("both warnings", has_two_warnings)
    require("has waited" in health["warnings"][0] and "did not come in time" in health["warnings"][1], f"{health}")
    wait_for("the log says so", lambda: "warning waiting: " in federation.log("site-0") and
             "warning missing: " in federation.log("site-0"))


@test
def wait_grows_when_rewards_take_longer_and_outlives_a_restart(federation_of):
    federation = exploring_alone(federation_of, wait_s=1)
    application = Application(federation, "site-0")
    decisions = application.ask("/v1/decisions/batch", {"requests": [{}] * 20})["decisions"]
    time.sleep(3.2)
    rewards = [{"id": one["id"], "reward": 0} for one in decisions]
    answers = application.ask("/v1/rewards/batch", {"rewards": rewards})["rewards"]
    require(all(one["status"] == "late" for one in answers), f"{answers}")
    require(federation.site_status("site-0")["wait_s"] == 4, f"{federation.site_status('site-0')}")
    federation.wait_for_log("site-0", "a decision waits 4 s")
    federation.restart("site-0")
    status = wait_for("it is back", lambda: federation.site_status("site-0"))
    require(status["wait_s"] == 4 and status["given_out_again"] == 20, f"{status}")
    require(status["pulls"] == 20, f"{status}")  # they were played
    federation.apply()
    federation.applications[0].counts["exploit"] += 20
    check_end(federation)


@test
def deadline_outlives_a_kill_and_counts_only_while_the_agent_runs(federation_of):
    federation = exploring_alone(federation_of)
    Application(federation, "site-0").ask("/v1/decisions", {})
    federation.kill("site-0")
    time.sleep(4)  # nobody could have handed anything in
    federation.start("site-0")
    wait_for("it is back", lambda: federation.site_status("site-0"))
    _, listed = federation.request("site-0", "GET", "/v1/decisions")
    require(listed["open"] == 1 and listed["decisions"][0]["left_s"] > 1, f"{listed}")
    wait_for("its place is free", lambda: federation.site_status("site-0")["given_out_again"] == 1)
    federation.apply()
    federation.applications[0].counts["exploit"] += 1
    check_end(federation)


@test
def missing_reward_counts_as_what_the_site_says_when_its_time_is_over(federation_of):
    federation = federation_of([0.875, 0.5, 0.0], rounds=1, gap=0.25)
    paced(federation, lambda decision: decision["arm"] == 2, missing={"after_s": 1, "counts_as": 0})
    wait_for("the run ends", federation.is_finished, 120)
    planned = planned_slots(federation)
    for one in federation.applications:
        one.join(30)
        require(one.trouble is None, f"{one.trouble}")
        require(federation.site_status(one.site)["given_out_again"] == 0, "a place was given out again")
        require(one.slots <= planned + 4 * RATE, f"{one.slots} slots for {planned}")
    check_end(federation)  # arm 2: as many as of the others, all of them 0


@test
def what_is_no_finite_number_is_refused_and_settles_like_no_reward(federation_of):
    federation = exploring_alone(federation_of)
    application = Application(federation, "site-0")
    right, lost = application.ask("/v1/decisions/batch", {"requests": [{}] * 2})["decisions"]
    for wrong in (None, True, "0.5", [1], {}, math.nan, math.inf, -math.inf):  # the last three as JSON's writers say them
        for one in (right, lost):
            code, answer = federation.request("site-0", "POST", "/v1/rewards", {"id": one["id"], "reward": wrong})
            require(code == 400 and "must be" in answer["error"] and "finite" in answer["error"], f"{wrong}: {code} {answer}")
    code, answer = federation.request("site-0", "POST", "/v1/rewards", {"id": right["id"]})
    require(code == 400 and "needs id and reward" in answer["error"], f"{code} {answer}")
    _, listed = federation.request("site-0", "GET", "/v1/decisions")
    require({one["id"] for one in listed["decisions"]} == {right["id"], lost["id"]}, f"{listed}")
    rewards = [{"id": right["id"], "reward": federation.means[right["arm"]]}, {"id": lost["id"], "reward": None}]
    _, answers = federation.request("site-0", "POST", "/v1/rewards/batch", {"rewards": rewards})
    require([list(one) for one in answers["rewards"]] == [["status"], ["error"]], f"{answers}")
    wait_for("its place is free", lambda: federation.site_status("site-0")["given_out_again"] == 1)
    require(federation.get("site-0", "/v1/clipped") == {"clipped": 0}, "what was refused was counted")
    federation.apply()
    federation.applications[0].counts["planned"] += 1
    federation.applications[0].counts["exploit"] += 1
    check_end(federation)  # each sum is of the rewards that came, and of no other number


@test
def after_the_decision_nothing_is_planned_and_everybody_names_the_winner(federation_of):
    federation = federation_of([0.125, 0.5, 0.875], rounds=2, gap=0.25)
    federation.start_all()
    federation.apply()
    require(wait_for("the run ends", federation.is_finished)["winner"] == "arm 2", f"{federation.status()}")
    federation.wait_for_log("coordinator", "arm 2 wins")
    for site in federation.sites:
        wait_for("it is decided", lambda site=site: federation.phase(site) == "decided")
        require("decided: arm 2 wins" in federation.log(site) or "arm 2 wins the run" in federation.log(site),
                federation.log(site))
        require(federation.site_status(site)["winner"] == "arm 2", f"{federation.site_status(site)}")
        decisions = Application(federation, site).ask("/v1/decisions/batch", {"requests": [{}] * 50})["decisions"]
        kinds = collections.Counter((one["kind"], one["name"]) for one in decisions)
        require(kinds == {("committed", "arm 2"): 50}, f"{kinds}")
    for one in federation.applications:
        one.counts["committed"] += 50
    check_end(federation)


@test
def hooked_commitments_leave_on_ticks_however_long_the_sampler_takes(federation_of):
    epochs = 9
    federation = federation_of([0.8, 0.8, 0.8], rounds=12)
    federation.start_all(["coordinator"])
    for site in federation.sites:  # up to 4 ms a piece of noise: tens of milliseconds a report, as the noise says
        federation.start(site, TACIT_TEST_SLOW_US="4000")
    federation.apply(allowance=0)
    for epoch in range(1, epochs + 1):  # between the epochs nobody asks for anything
        federation.allow(federation.all_to(epoch))
        wait_for(f"epoch {epoch + 1}", lambda epoch=epoch: federation.is_at(epoch + 1))
    first = {}
    for at, (topic, payload) in zip(federation.tap.times, federation.tap.seen):
        if is_commit(payload):  # the first word of a draw; the report follows its grant
            first.setdefault((topic, payload), at)
    offsets = sorted(at % TICK_S for at in first.values())
    require(len(offsets) == 3 * epochs, f"{len(offsets)} commitments")
    # Without ticks they are anywhere: 18 of 27 in three tenths of the time have a chance of 1e-4. Some may be held up on
    # their way to the tap.
    in_time = sum(1 for one in offsets if one < 0.3 * TICK_S)
    require(in_time >= 18, f"{in_time}: {[round(one, 4) for one in offsets]}")
    print(f"{len(offsets)} commitments, median {offsets[len(offsets) // 2] * 1e3:.2f} ms after a tick")
    federation.end_applications()


if __name__ == "__main__":
    main()
