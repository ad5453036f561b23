#!/usr/bin/env python3
"""Runs whose coordinator lost its state and is not built again: it stops and says in words that the run is over, and the
next one begins over the states of the sites, by the guide's recipe; gossip is built again. See support.py."""
import os
import pathlib
import shutil
import sys

from support import IS_LONG, main, require, test, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))  # the examples have files of these names, too
import gossip  # noqa: E402
import restore  # noqa: E402
import runs  # noqa: E402

OVER = "put the newest copy of the state back, or the run is over: "


def state_of(federation):
    return federation.folder / "state-coordinator"


def lose(federation):
    federation.wait_for_sites("holds an entry", lambda site: (federation.site_status(site) or {}).get("entry"), 120)
    federation.lose("coordinator")


def wrong_words_are_refused(federation, word, run):
    """Nothing is written by them that the recipe would stumble over."""
    code, said = federation.run_to_end("coordinator", "--recover")
    require(code == 2 and f"the protocol {word} is not built again" in said and OVER in said, f"{code} {said}")
    code, said = federation.run_to_end("coordinator", "--end-run", "--run", run)
    require(code == 2 and "the state of another run than" in said and "move the directory away" in said, f"{code} {said}")
    shutil.move(state_of(federation), federation.folder / "state-aside")
    for more in ((), ("--run", run[:-1]), ("--run", run[:-1] + "7")):
        code, said = federation.run_to_end("coordinator", "--end-run", *more)
        require(code == 2 and "this state knows of no run; name it" in said, f"{more}: {code} {said}")
    shutil.rmtree(state_of(federation))
    shutil.move(federation.folder / "state-aside", state_of(federation))


def begin_next(federation, run):
    """By the guide, literally, but for the name of the state directory; one site joins by itself, the others by a word."""
    file = federation.folder / "coordinator.yaml"
    file.write_text(file.read_text().replace('"id"', "id"))  # as the guide writes it
    commands = runs.recipe("A coordinator that lost its state", 1)[0]
    require("mv state state-lost" in commands, commands)
    os.environ["RUN"] = run
    runs.follow(federation, commands.replace("mv state state-lost", "mv state-coordinator state-lost"))
    for site in federation.sites[1:]:
        runs.awaits_consent(federation, site)
        require(runs.control(federation, site, "join", "2").startswith("done: join run 2"), "no consent")
    runs.in_second(federation)


def asks_its_owner(federation, site):
    file = federation.folder / f"{site}.yaml"
    file.write_text(file.read_text().replace('runs: "join"', 'runs: "ask"').replace("runs: join", "runs: ask"))


def run_of(federation):
    return wait_for("a site answers", lambda: federation.site_status(federation.sites[0]))["run"]


@test
def lost_contexts_are_over_and_the_next_run_begins_without_a_model(federation_of):
    trial = federation_of(kind=runs.Contexts)
    for site in trial.sites[1:]:
        asks_its_owner(trial, site)
    trial.start_all()
    require(trial.play(15) >= 1, "no update")
    run = run_of(trial)
    lose(trial)
    restore.expect_stop(trial, run, "The protocol glm-ucb is not built again", OVER, "--end-run --run RUN")
    wrong_words_are_refused(trial, "glm-ucb", run)
    trial.step(0)  # traffic does not wait
    file = trial.folder / "coordinator.yaml"
    file.write_text(file.read_text().replace('"features"', '"id": 1, "features"', 1))
    begin_next(trial, run)
    trial.wait_for_sites("has a model", trial.has_model, 120)
    trial.events, trial.updates = [], 0
    require(trial.play(15) >= 1, "no update")
    trial.check_model()


@test
def elimination_may_be_ended_too_whatever_its_term(federation_of):
    """It was built again, in a later term, and is lost once more; its operator ends it, and the next run begins in term 1."""
    federation = restore.begin(federation_of)
    for site in federation.sites:
        federation.write_agent(site, federation.policy(), runs="join" if site == federation.sites[0] else "ask")
        federation.stop(site)
        federation.start(site)
    lose(federation)
    restore.recover(federation)
    federation.wait_for_sites("knows the term", lambda site: (federation.site_status(site) or {"term": 0})["term"] > 1, 120)
    run = run_of(federation)
    lose(federation)
    restore.expect_stop(federation, run, "--recover")
    begin_next(federation, run)
    federation.allow(10 ** 9)
    wait_for("the second run ends", lambda: (federation.is_finished() or {}).get("run_id") == 2, 120)
    federation.wait_for_sites("knows", federation.has_decided, 120)
    for site in federation.sites:
        require(federation.site_status(site)["term"] == 1 and federation.site_status(site)["winner"] == "arm 0", site)
    federation.end_applications()


@test
def lost_gossip_is_built_again_and_the_run_goes_on(federation_of):
    """In the same term, because its coordinator keeps nothing but its run; sites play on meanwhile."""
    federation = gossip.gossips(federation_of, horizon=600 if IS_LONG else 150)
    federation.start_all()
    federation.apply(batch=1)
    for way in ("all", "all, and killed while it recovers", "the broker, too"):
        pulls = {site: (federation.site_status(site) or {"pulls": 0})["pulls"] for site in federation.sites}
        lose(federation)
        if way == "the broker, too":
            federation.kill("broker")
            federation.wipe_broker()
            federation.start("broker")
        restore.expect_stop(federation, "no state of it", "--recover")
        if way == "all, and killed while it recovers":
            federation.start_with("coordinator", "--recover")
            federation.kill("coordinator")
        restore.recover(federation)
        for site in federation.sites:
            require(federation.site_status(site)["pulls"] >= pulls[site], f"{site}: pulls are gone")
            require(federation.site_status(site)["term"] == 1, f"{site}: a new term")
    gossip.check_run(federation)
    require(len(restore.entries(federation)) == 1, "another entry")


@test
def state_of_the_run_before_is_built_again_as_that_of_the_next(federation_of):
    """What is put back knows nothing of the run that is under way; its sites do."""
    federation = runs.small(federation_of, rounds=4, horizon=4000000)
    for site in federation.sites:
        federation.write_agent(site, federation.policy(), runs="join")
    federation.start_all()
    runs.end_first_run(federation)
    federation.back_up("coordinator")
    runs.begin_second(federation)
    runs.in_second(federation)
    wait_for("two rounds", lambda: (federation.status() or {}).get("rounds", 0) >= 2, 120)
    federation.kill("coordinator")
    federation.put_back("coordinator")
    restore.recover(federation)
    require(federation.status()["rounds"] >= 2 and federation.status()["run_id"] == 2, f"rounds are lost: {federation.status()}")
    federation.wait_for_sites("ends the second run", federation.has_decided, 120)
    federation.end_applications()


if __name__ == "__main__":
    main()
