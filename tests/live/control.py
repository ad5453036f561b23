#!/usr/bin/env python3
"""The operator's words: a run that is changed while it is under way, with real processes. What `tacit control` answers is
durable, whoever dies right after it; no site releases an epoch twice. See support.py."""
import json
import os
import pathlib
import re
import stat
import subprocess
import time

from support import IS_LONG, TACIT, check_outbox, check_status, control, main, require, seeded, test, wait_for

MEANS = [0.875, 0.75, 0.125]  # two arms stay until the last round
GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs/operations.md"


def changes(federation, name="coordinator"):
    return json.loads(control(federation, name, "--json", "changes"))["changes"]


def knows(federation, site, count):
    status = federation.site_status(site)
    return status is not None and len(status["changes"]) >= count


@test
def dead_site_is_dropped_and_the_run_ends_by_the_words_of_the_guide(federation_of):
    """Quorum all, a site that is gone for good: the round waits. The words are those of the guide."""
    federation = federation_of(MEANS, rounds=4, gap=0.25)
    guide = re.findall(r"^    tacit control (\S+) (.+)$", GUIDE.read_text(encoding="utf-8"), re.M)
    names = {"north": "site-2", "letter": "arm 1"}
    federation.start_all()
    federation.apply(sites=federation.sites[:2])
    wait_for("two reports", lambda: (federation.status() or {"reports": 0})["reports"] == 2, 120)
    federation.kill("site-2")
    require(federation.status()["epoch"] == 1, "the round closed without a site")
    mode = os.stat(federation.folder / "state-coordinator-control.sock").st_mode
    require(stat.S_IMODE(mode) == 0o600, f"others may speak: {mode:o}")
    drop = next(words for state, words in guide if words.startswith("drop "))
    said = control(federation, "coordinator", *[names.get(word, word) for word in drop.split()])
    require("done: drop site-2 (change 1 of this run)" in said and "privacy: " in said and "guarantee: " in said, said)
    wait_for("the second epoch", lambda: federation.is_at(2), 120)
    said = control(federation, "coordinator", "drop", "site-2")
    require(said.startswith("so it was already: drop site-2 (change 1"), said)
    retire = next(words for state, words in guide if words.startswith("retire "))
    words = [names.get(word, word) for word in retire.split()]
    require("(change 2 of this run)" in control(federation, "coordinator", *words), "the arm was not retired")
    status = federation.status()
    require([one["retired"] for one in status["arms"]] == [False, True, False], f"{status['arms']}")
    federation.wait_for_sites("knows", lambda site: knows(federation, site, 2), 120, sites=federation.sites[:2])
    for site in federation.sites[:2]:
        told = [one["change"] for one in federation.site_status(site)["changes"]]
        require(told == ["drop site 2", "retire arm 1"], f"a site knows the others by their places alone: {told}")
        require("arm 1" not in federation.site_status(site)["active_arms"], f"{federation.site_status(site)}")
    wait_for("the run ends", federation.is_finished, 120)
    status = federation.status()
    require(status["winner"] == "arm 0" and status["sites"][2]["dropped"] and status["quorum"] == 2, f"{status}")
    require([one["change"] for one in status["changes"]] == ["drop site-2", "retire arm 1"], f"{status['changes']}")
    require(all(one["privacy"] and one["guarantee"] for one in status["changes"]), f"{status['changes']}")
    log = control(federation, "coordinator", "changes").splitlines()
    require(len(log) == 2 and log[0].endswith("drop site-2"), f"{log}")
    federation.end_applications()
    for application in federation.applications:
        ledger = check_status(federation, application)
        federation.stop(application.site)
        numbers = [one["epoch"] for one in ledger["releases"]]
        require(numbers == sorted(set(numbers)), f"{application.site}: {numbers}")
    federation.stop("coordinator")


def with_change(order, change):
    """The body of an order, with an entry more in its log; lengths of up to 127 bytes."""
    at = 1 + 4 + 1 + 4 + 1 + 8 + 1 + 4  # behind version, from, run and epoch: the tag of the order, and its length
    require(order[at + 2] + len(change) < 128 and len(order) == at + 3 + order[at + 2], f"{order.hex()}")
    return order[:at + 2] + bytes([order[at + 2] + len(change)]) + order[at + 3:] + change


def result_of(federation, site):
    return wait_for(f"{site} answers", lambda: federation.get(site, "/v1/result"), 120)


def arms_in(result):
    """Names of those that are in, best first; what the others say of themselves."""
    names = [one["name"] for one in result["arms"] if one["in"]]
    require([one["rank"] for one in result["arms"]] == [*range(1, len(names) + 1), *[None] * (3 - len(names))], f"{result}")
    require(sorted(one["name"] for one in result["arms"]) == ["arm 0", "arm 1", "arm 2"], f"{result}")
    return names


@test
def result_says_what_the_operator_changed_after_a_restart_too(federation_of):
    """Each answer follows the word that changed the run, and a site that was killed answers the same."""
    federation = federation_of(MEANS, rounds=4, gap=0.25)
    federation.play_rounds(1)
    for site in federation.sites:
        result = result_of(federation, site)
        require(arms_in(result) == ["arm 0", "arm 1"] and result["changes"] == [], f"{result}")  # by round 1
        require(not result["decided"] and not result["dropped"] and result["horizon"] == 400000, f"{result}")
    since = {site: result_of(federation, site)["since"] for site in federation.sites}
    require(all(since.values()), "it does not say since when")

    def all_say(count):
        for site in federation.sites:
            wait_for(f"{site} knows", lambda site=site: knows(federation, site, count), 120)
            result = result_of(federation, site)
            if site == federation.sites[count - 1]:
                federation.restart(site)
                again = result_of(federation, site)
                require(again == result, f"{site}: {again} after a restart, and was {result}")
            yield site, result

    control(federation, "coordinator", "drop", "site-2")
    for site, result in all_say(1):
        require(result["dropped"] == (site == "site-2") and arms_in(result) == ["arm 0", "arm 1"], f"{site}: {result}")
        said = [one["change"] for one in result["changes"]]  # a site knows the others by their numbers
        require(said == ["drop site 2"] and result["since"] == since[site], f"{result}")
    control(federation, "coordinator", "horizon", "500000")
    for site, result in all_say(2):  # a site's policy.pulls_max is 400000
        require(result["horizon"] == 400000 and result["changes"][1]["change"] == "horizon 500000", f"{site}: {result}")
        require(not result["decided"] and result["since"] == since[site], f"{site}: {result}")
    time.sleep(1.1)  # `since` counts whole seconds
    control(federation, "coordinator", "retire", "arm 0")  # the best; one is left, and nobody waits for a report
    for site, result in all_say(3):
        require(arms_in(result) == ["arm 1"] and result["decided"] and result["winner"] == "arm 1", f"{site}: {result}")
        require(result["since"] > since[site], f"{site}: since {result['since']}, and {since[site]} before")
        require(result["changes"][2]["change"] == "retire arm 0", f"{site}: {result}")
    require(federation.status()["winner"] == "arm 1", f"{federation.status()}")
    federation.end_applications()


@test
def words_that_cannot_be_are_refused_in_words(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25, strangers=["forger"])
    federation.allow_access("forger", "readwrite tacit/v1/#")
    federation.start_all(["coordinator", "site-0"])
    wait_for("the run begins", lambda: (federation.status() or {}).get("epoch", 0) >= 1, 120)
    for words, code, wanted in [
            (["drop", "nobody"], 2, "no such site"), (["retire", "arm 9"], 2, "no such arm"),
            (["quorum", "4"], 2, "number from 1 to that of the sites"), (["end"], 1, "no round was closed"),
            (["horizon", "1000"], 1, "can only become longer"), (["refuse", "arm 0", "because", "raw"], 2, "to its agent"),
            (["dance"], 2, "no command"), (["drop"], 2, "no command"), (["horizon", "many"], 2, "whole number")]:
        said = control(federation, "coordinator", *words, code=code)
        require(wanted in said, f"{words}: {said}")
    require(changes(federation) == [], "a refused word is in the log")
    require("nobody answers" in control(federation, "nobody", "end", code=1), "somebody answers")
    wrong = federation.folder / "wrong.yaml"
    wrong.write_text("federation: trial\nsite: x\nstat: y\n")
    done = subprocess.run([TACIT, "control", wrong, "changes"], capture_output=True, text=True, timeout=60, check=False)
    require(done.returncode == 2 and done.stderr.startswith(f"{wrong}:3: stat: unknown key"), f"{done}")
    wait_for("site-0 joins", lambda: federation.has_joined("site-0"), 120)
    require("commands for the coordinator" in control(federation, "site-0", "end", code=2), "a site ended the run")
    # What comes over the broker in the coordinator's name, and is not signed by it, changes nothing.
    wait_for("an order", lambda: federation.orders(), 120)
    order = next(iter(next(iter(federation.orders().values()))))
    change = bytes([58, 33, 13, 5, 0, 0, 0, 21, 1, 0, 0, 0, 29, 0, 0, 0, 0, 33, *bytes(8), 41, *bytes(8)])  # arm 0 is retired
    forger = federation.client("forger")
    for body in (order, with_change(order, change)):
        for signer in ("site-0", "forger"):
            forger.publish(federation.topic("down/elimination"), federation.message("down/elimination", body, signer))
    wait_for("the forged words are refused", lambda: federation.site_status("site-0")["unsigned_messages"] >= 4, 120)
    require(federation.site_status("site-0")["changes"] == [], "a forged change was heard")
    require(len(federation.site_status("site-0")["active_arms"]) == 3, "a forged change was obeyed")
    # The status page is for looking only.
    code, _ = federation.request("coordinator", "POST", "/control", {"command": "end"})
    require(code == 404, f"the status socket takes words: {code}")


@test
def site_refuses_an_arm_and_is_not_counted_until_the_arm_is_out(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25, quorum=2, deadline_s=1)
    federation.start_all()
    federation.apply(allowance=federation.all_to(1))  # the run does not end meanwhile
    wait_for("site-1 joins", lambda: federation.has_joined("site-1"), 120)
    said = control(federation, "site-1", "refuse", "arm 2", "because", "outside")
    require("done: refuse arm 2" in said and "not counted while the arm is in" in said, said)
    require(control(federation, "site-1", "refuse", "arm 2", "because", "outside").startswith("so it was already"), "twice")
    wait_for("the coordinator hears of it",
             lambda: (federation.status() or {"sites": [{}, {}]})["sites"][1].get("refuses") == ["arm 2"], 120)
    federation.restart("site-1")
    status = wait_for("site-1 is back", lambda: federation.site_status("site-1"), 120)
    require(status["refused_arms"] == ["arm 2"] and "arm 2" not in status["active_arms"], f"{status}")
    statement = federation.text("site-1", "/v1/statement")
    require("plays arm 2 no more" in statement and "outside the data" in statement, statement)
    control(federation, "coordinator", "retire", "arm 2")
    federation.allow(10 ** 9)
    wait_for("site-1 is counted", lambda: federation.status()["sites"][1]["last_report_epoch"] > 0, 120)
    federation.finish()


def hub_is_back(federation):
    """Started again once it has died, which takes it a moment after its socket has gone."""
    if federation.processes["coordinator"].poll() is not None:
        federation.start("coordinator")
    return federation.status()


def say_until_known(federation, *words):
    """The hub dies in mid-word, and the operator says it again; result: how often no answer came."""
    deaths = 0
    for _ in range(20):
        done = subprocess.run([TACIT, "control", str(federation.folder / "state-coordinator"), *words],
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode == 0:
            return deaths
        require("no answer" in done.stderr or "nobody answers" in done.stderr, f"{words}: {done.stderr}")
        deaths += 1
        wait_for("the hub is back", lambda: hub_is_back(federation), 120)
    raise AssertionError(f"{words} was never answered")


@test
def crash_of_the_hub_at_each_point_of_a_word_loses_none_that_was_answered(federation_of):
    """Killed before the commit, after it, before the order leaves and behind it: an answer means that it is done."""
    federation = federation_of(MEANS, rounds=4, gap=0.25, quorum=3)
    federation.start_all()
    federation.apply(allowance=federation.all_to(1) - 1)
    federation.wait_for_sites("joins", federation.has_joined, 120)
    deaths = 0
    points = ["before-commit", "after-commit", "before-send", "after-send"]
    for number, point in enumerate(points * (3 if IS_LONG else 1), 1):
        federation.stop("coordinator")
        federation.start("coordinator", TACIT_CRASH_AT=f"{point}:{number % 3 + 1}")
        deaths += say_until_known(federation, "deadline", str(100 + number)) > 0
        # What was answered stands after one more death; the hub that is asked now dies of nothing.
        if federation.processes["coordinator"].poll() is None:
            federation.processes["coordinator"].kill()
        federation.processes["coordinator"].wait(60)
        federation.start("coordinator")
        wait_for("the hub is back", federation.status, 120)
        log = changes(federation)
        require(log[-1]["change"] == f"quorum 3, deadline {100 + number} s", f"{point}: {log}")
        require([one["number"] for one in log] == list(range(1, number + 1)), f"{point}: {log}")
    require(deaths > 0, "no word was ever interrupted")
    # Answered, and killed in the same breath.
    control(federation, "coordinator", "retire", "arm 2")
    federation.restart("coordinator")
    wait_for("the hub is back", federation.status, 120)
    require(changes(federation)[-1]["change"] == "retire arm 2", f"{changes(federation)}")
    federation.allow(10 ** 9)
    federation.finish()
    for application in federation.applications:
        check_status(federation, application)
        federation.stop(application.site)


@test
def two_words_at_once_are_two_changes_in_some_order(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25)
    federation.start_all(["coordinator"])
    wait_for("the run begins", lambda: (federation.status() or {}).get("epoch", 0) >= 1, 120)
    words = [["drop", "site-1"], ["retire", "arm 2"], ["horizon", "500000"], ["deadline", "7"], ["drop", "site-1"]]
    running = [subprocess.Popen([TACIT, "control", str(federation.folder / "state-coordinator"), *one],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for one in words]
    for process in running:
        out, err = process.communicate(timeout=60)
        require(process.returncode == 0, f"{out} {err}")
    log = changes(federation)
    require([one["number"] for one in log] == [1, 2, 3, 4], f"{log}")
    require({one["change"] for one in log} == {"drop site-1", "retire arm 2", "horizon 500000", "quorum 3, deadline 7 s"},
            f"{log}")
    federation.stop("coordinator")
    federation.start("coordinator")
    wait_for("the hub is back", federation.status, 120)
    require(changes(federation) == log, "the log is another one after a restart")


if IS_LONG:
    @test
    def forty_kills_and_twenty_words_lose_no_reward_and_no_word(federation_of):
        federation = federation_of(MEANS, rounds=8, gap=2.0 ** -5, horizon=2000000)
        chance = seeded()
        federation.start_all()
        federation.apply()
        federation.wait_for_sites("joins", federation.has_joined, 120)
        for number in range(20):
            if federation.is_finished():
                break
            for _ in range(2):
                name = chance.choice(["coordinator", "coordinator", *federation.sites])
                federation.restart(name)
            wait_for("the hub is back", federation.status, 120)
            if not federation.is_finished():
                say_until_known(federation, "horizon", str(2000001 + number))
                federation.restart("coordinator")
                wait_for("the hub is back", federation.status, 120)
                require(f"horizon {2000001 + number}" in [one["change"] for one in changes(federation)], "a word is lost")
            time.sleep(chance.random() / 2)
        federation.horizon = federation.finish(seconds=400)["horizon"]
        for application in federation.applications:
            ledger = check_status(federation, application)
            federation.stop(application.site)
            check_outbox(federation, application.site, ledger)


if __name__ == "__main__":
    main()
