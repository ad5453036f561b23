#!/usr/bin/env python3
"""Holders that lose their state: what they say, how the operator begins a new term, and what the sites drop. See
support.py."""
import pathlib
import sys

from support import TRIES, control, main, require, test, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))  # the examples have files of these names, too
import phased  # noqa: E402
import restore  # noqa: E402
import wire  # noqa: E402

MEANS = [0.875, 0.75, 0.125]  # two arms stay until the last round
BEGINS = "begins: a grantor has lost its state"


def begin_term(federation, *words):
    """As an operator does, with the coordinator stopped."""
    code, said = federation.run_to_end("coordinator", "--new-term", *words)
    require(code == 0 and "begins with the next start" in said, f"{code} {said}")


def check_rewards_of_before(federation, site, decisions):
    """They are taken, and enter nothing: the plan of the term is as long as it was."""
    application = federation.application_of(site)
    require(all(one["kind"] == "planned" for one in decisions), f"{decisions}")
    before = federation.site_status(site)
    rewards = [{"id": one["id"], "reward": 1 - federation.means[one["arm"]]} for one in decisions]  # would show in the sums
    application.ask("/v1/rewards/batch", {"rewards": rewards})
    after = federation.site_status(site)
    require(before["unserved"] == after["unserved"], f"{before} {after}")
    require(after["epoch"] == before["epoch"], f"{before} {after}")
    application.counts["exploit"] += len(decisions)


def end_run(federation):
    federation.allow(10 ** 9)
    federation.wait_for_sites("decides", federation.has_decided, 120)
    for site in federation.sites:
        require(federation.site_status(site)["active_arms"] == ["arm 0"], f"{federation.site_status(site)}")
        require(federation.site_status(site)["trouble"] is None, f"{federation.site_status(site)}")
    federation.end_applications()


def end_term(federation, term):
    federation.wait_for_sites(f"is in term {term}", lambda site: term_of(federation, site) == term)
    wait_for("all is well", lambda: (federation.status() or {"state": ""})["state"] == "ok")
    end_run(federation)


@test
def coordinator_that_lost_all_goes_on_in_a_new_term(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25)
    federation.play_rounds(1)
    decisions = federation.open_decisions("site-1", 5)
    run = federation.site_status("site-0")["run"]
    federation.lose("coordinator")
    code, said = federation.run_to_end("coordinator", "--new-term")
    require(code == 2 and "--run" in said, f"a term of no run: {code} {said}")
    begin_term(federation, "--run", run)
    code, said = federation.run_to_end("coordinator", "--new-term", "--run", "1")
    require(code == 0, f"the state knows its run now: {code} {said}")
    federation.start("coordinator")
    federation.wait_for_sites("is in the term", lambda site: BEGINS in federation.log(site), 120)
    wait_for("site-1 has an order", lambda: federation.site_status("site-1")["unserved"] > 0, 120)
    check_rewards_of_before(federation, "site-1", decisions)
    end_run(federation)
    status = wait_for("the run ends", federation.is_finished, 120)
    require(status["winner"] == "arm 0", f"{status}")
    for site in federation.sites:
        federation.stop(site)
        numbers = sorted(restore.check_releases(federation, site))
        require(numbers[0] == 1 and len(numbers) > status["rounds"], f"{site}: {numbers} in {status['rounds']} rounds")


@test
def coordinator_that_was_put_back_hears_that_it_is_behind(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25)
    restore.put_old_copy_back(federation)
    require(all(federation.site_status(site)["epoch"] >= 2 for site in federation.sites), "a site went back by itself")
    # The operator may let it go on from there all the same.
    begin_term(federation)
    federation.start("coordinator")
    wait_for("it goes on", federation.status, 120)
    code, said = federation.run_to_end("coordinator", "--new-term")
    require(code == 2, f"a term begins beside a coordinator that runs: {code} {said}")
    end_run(federation)
    # Another backup of before the term.
    federation.kill("coordinator")
    federation.put_back("coordinator")
    restore.expect_stop(federation, "its state is an old one")


@test
def site_of_a_ring_that_lost_all_joins_again_in_a_new_term(federation_of):
    federation = federation_of(MEANS, sites=4, rounds=4, gap=0.25)
    federation.play_over({"kind": "ring"})
    federation.play_rounds(1)
    federation.lose("site-3")
    federation.start("site-3")
    wait_for("site-3 is halted", lambda: federation.phase("site-3") == "halted", 120)
    federation.stop("coordinator")
    begin_term(federation)
    federation.start("coordinator")
    wait_for("site-3 is in the term", lambda: BEGINS in federation.log("site-3"), 120)
    federation.wait_for_sites("is in the term", lambda site: BEGINS in federation.log(site), 120, sites=("site-0", "site-1", "site-2"))
    end_run(federation)
    for site in federation.sites:
        federation.stop(site)
        numbers = sorted(restore.check_releases(federation, site))
        require(numbers == list(range(1, len(numbers) + 1)), f"{site}: {numbers}")


# Holders whose state is of the same round, but not the newest

def says_who_is_old(federation, name, words):
    code, said = federation.told(name)
    return code == 2 and words in said and "--new-term" in said


def put_back(federation, name):
    federation.kill(name)
    federation.put_back(name)
    federation.start(name)


def let(federation, site, allowance):
    federation.application_of(site).allowance = allowance


def expect_nobody_blamed(federation):
    for site in federation.sites:
        require(not federation.site_status(site).get("two_states"), f"{site}: {federation.site_status(site)}")
    for name in ("coordinator", *federation.sites):
        require("two states of site" not in federation.log(name), f"{name} blames somebody")
    sites = federation.status()["sites"]
    require(not any(site["two_states"] for site in sites), f"{sites}")


def expect_words(federation, holder, words, others):
    """Within a minute, at the holder that is behind and at those that it holds up."""
    wait_for(f"{holder} says that its state is old", lambda: says_who_is_old(federation, holder, words))
    for site in others:
        wait_for(f"{site} says whose state is old",
                 lambda site=site: says_who_is_old(federation, site, f"{holder} knows nothing of a grant"))


def new_term(federation, recovers=False):
    """By the operator's word, or as the recovery of a state that no site holds more than."""
    federation.stop("coordinator")
    if not recovers:
        begin_term(federation)
    federation.start_with("coordinator", *["--recover"] * recovers)
    federation.wait_for_sites("is in the term", lambda site: BEGINS in federation.log(site), 120)
    end_run(federation)


def ring_put_back(federation):
    """A second process of site-2 grants what its neighbours release, stops and is forgotten."""
    federation.play_over({"kind": "ring"})
    federation.start_all()
    federation.apply(allowance=0)
    federation.wait_for_sites("explores", lambda site: federation.phase(site) == "exploring", 120)
    federation.back_up("site-2")
    for site in ("site-0", "site-1", "site-3"):
        let(federation, site, federation.all_to(1))
    federation.wait_for_sites("has its grants", lambda site: federation.site_status(site)["release_epoch"] == 1, 120, sites=("site-1", "site-3"))
    put_back(federation, "site-2")
    federation.allow(10 ** 9)


@test
def holder_in_a_ring_that_granted_and_was_forgotten_says_so_and_blames_nobody(federation_of):
    for _ in range(TRIES):
        federation = federation_of(MEANS, sites=5, rounds=4, gap=0.25)
        ring_put_back(federation)
        expect_words(federation, "site-2", "this site's state is an old one", ("site-1", "site-3"))
        expect_nobody_blamed(federation)
        new_term(federation)
        federation.close()


@test
def coordinator_of_the_same_round_that_was_put_back_says_so_and_blames_nobody(federation_of):
    for _ in range(TRIES):
        federation = federation_of(MEANS, rounds=4, gap=0.25)
        federation.start_all()
        federation.apply(allowance=federation.all_to(1))
        wait_for("the second epoch", lambda: federation.are_in(2), 120)
        federation.back_up("coordinator")
        for site in ("site-0", "site-1"):
            let(federation, site, federation.all_to(2))
        wait_for("two reports", lambda: (federation.status() or {"reports": 0})["reports"] == 2, 120)
        put_back(federation, "coordinator")
        let(federation, "site-2", federation.all_to(2))
        expect_words(federation, "coordinator", "this coordinator's state is an old one", ("site-0", "site-1"))
        wait_for("site-2 has its grant", lambda: federation.site_status("site-2")["release_epoch"] == 2, 120)
        expect_nobody_blamed(federation)
        new_term(federation, recovers=True)
        federation.wait_for_log("coordinator", "no site holds more than this state: it goes on in term 2")
        federation.close()


# ---- Terms that nobody counted up to ----

FAR = 1 << 63
JUMP = 1 << 16


def begin(federation_of, **options):
    """In the second epoch, with somebody who has stolen keys, and the broker's ear."""
    federation = federation_of(MEANS, strangers=("thief",), rounds=4, gap=0.25, horizon=4000000, **options)
    federation.allow_access("thief", "write tacit/v1/#")
    federation.start_all()
    federation.apply(allowance=1, batch=20)
    federation.play_to(2, 100)
    return federation


def in_term(federation, topic, term, signer):
    """The newest message of this topic, in another term, signed with this key."""
    payload = next(payload for name, payload in reversed(federation.tap.messages) if name == federation.topic(topic) and payload)
    found = wire.fields(payload)
    made = wire.message(federation.name, found[7].decode(), found.get(8, b"").decode(), found[12], found[6], run=found[5],
                       kind=found[3], epoch=found[10], family=found[2], term=term, sequence=found[11], entry=found[13])
    return federation.signed(made, signer, topic)


def forge(federation, topic, term, signer, retain=False):
    thief = federation.client("thief")
    thief.publish(federation.topic(topic), in_term(federation, topic, term, signer), retain=retain)
    thief.close()


def announce(federation, site, term):
    forge(federation, f"to/{site}/announce", term, "coordinator")


def term_of(federation, name):
    return ((federation.status() if name == "coordinator" else federation.site_status(name)) or {}).get("term", 0)


def refuses(federation, site):
    return "counted one by one" in (federation.site_status(site)["refusal"] or "")


def is_deaf_to(federation, site):
    """And somebody must act: the coordinator says so."""
    status = federation.status() or {"causes": [], "state": ""}
    return status["state"] == "attention" and any(f"site {site} is in term" in cause["what"] and "--recover" in cause["do"]
                                                  for cause in status["causes"])


@test
def term_that_a_stolen_key_forges_is_not_followed_or_followed_back(federation_of):
    """Signed with the coordinator's own key: what is out of reach is refused in words; what is not is the sites' term, of
    which the next one is counted."""
    federation = begin(federation_of)
    for term in (FAR, 2 * FAR - 1, 1 << 40, 1 + JUMP + 1):
        announce(federation, "site-0", term)
        wait_for(f"term {term} is refused", lambda: refuses(federation, "site-0"))
        require(str(term) in federation.site_status("site-0")["refusal"], "it does not say which")
        announce(federation, "site-0", 1)
        wait_for("the refusal is over", lambda: federation.site_status("site-0")["refusal"] is None)
    require(term_of(federation, "site-0") == 1 and BEGINS not in federation.log("site-0"), "it followed")
    for site in federation.sites:
        announce(federation, site, 1 + JUMP)
        wait_for(f"{site} follows", lambda site=site: term_of(federation, site) == 1 + JUMP)
        wait_for(f"the coordinator says that {site} does not hear it", lambda site=site: is_deaf_to(federation, site))
    federation.stop("coordinator")
    federation.start_with("coordinator", "--recover")
    federation.wait_for_sites("is in the next term", lambda site: term_of(federation, site) == 2 + JUMP)
    require(term_of(federation, "coordinator") == 2 + JUMP, f"{federation.status()}")
    wait_for("all is well", lambda: federation.status()["state"] == "ok")
    end_run(federation)


@test
def site_out_of_reach_is_left_out_until_its_owner_says_a_word(federation_of):
    for kind in ({}, {"kind": phased.Phased}):
        federation = begin(federation_of, **kind)
        for jump in (1, 2, 3):
            announce(federation, "site-0", 1 + jump * JUMP)
            wait_for("site-0 follows", lambda jump=jump: term_of(federation, "site-0") == 1 + jump * JUMP)
        wait_for("the coordinator says it", lambda: is_deaf_to(federation, "site-0"))
        federation.stop("coordinator")
        federation.start_with("coordinator", "--recover")  # with all sites: it waits for one that it cannot follow
        federation.wait_for_log("coordinator", "site-0 is in term 196609, out of reach")
        federation.stop("coordinator")
        federation.start_with("coordinator", "--recover", "--sites", "2")
        wait_for("it goes on", lambda: term_of(federation, "coordinator"))
        require(term_of(federation, "coordinator") == 2, "a minority decided")
        require("is not allowed" in control(federation, "site-0", "term", str(FAR), code=2), "any number")
        require("done: term 2\n" in control(federation, "site-0", "term", "2"), "it is not done")
        require("so it was already: term 2\n" in control(federation, "site-0", "term", "2"), "twice")
        wait_for("site-0 says what it waits for",
                 lambda: "the owner of this site" in ((federation.site_status("site-0") or {}).get("refusal") or ""))
        federation.stop("coordinator")
        begin_term(federation)
        federation.start("coordinator")
        end_term(federation, 3)
        # One that was heard is not invited again: it asks what is announced.
        wait_for("site-1 is heard", lambda: federation.status()["sites"][1]["heard_s"] is not None, 60)
        require("done: term 3\n" in control(federation, "site-1", "term", "3"), "it is not done")
        wait_for("site-1 says what it waits for",
                 lambda: "the owner of this site" in ((federation.site_status("site-1") or {}).get("refusal") or ""), 30)


@test
def coordinator_out_of_reach_is_built_again_in_the_terms_of_its_sites(federation_of):
    """As after a clock at 2099, when terms were times: its sites are deaf, they and it say so, and --recover mends it. A stolen
    key of one site brings it there."""
    federation = begin(federation_of)
    year_2099 = 4070908800
    run = federation.site_status("site-1")["run"]
    federation.stop("site-0")
    forge(federation, "up/site-0/chain", year_2099, "site-0", retain=True)
    federation.lose("coordinator")
    thief = federation.client("thief")
    for site in ("site-1", "site-2"):  # they show nothing just now
        thief.publish(federation.topic(f"up/{site}/chain"), b"", retain=True)
    thief.close()
    federation.start_with("coordinator", "--recover", "--sites", "1", "--run", run)
    wait_for("it goes on", lambda: term_of(federation, "coordinator"))
    require(term_of(federation, "coordinator") == year_2099 + 1, "an honest site was the first: no test")
    for site in ("site-1", "site-2"):
        wait_for(f"{site} refuses it", lambda site=site: refuses(federation, site))
        wait_for(f"it says that {site} does not hear it", lambda site=site: is_deaf_to(federation, site))
    federation.stop("coordinator")
    for site in ("site-1", "site-2"):  # they connect, and show what they hold
        federation.restart(site)
        wait_for(f"{site} is back", lambda site=site: (federation.site_status(site) or {}).get("connected"))
    code, said = federation.run_to_end("coordinator", "--new-term")
    require(code != 0 and "--recover builds it again" in said, f"{code} {said}")
    federation.start("site-0")
    federation.start_with("coordinator", "--recover")
    end_term(federation, 2)


if __name__ == "__main__":
    main()
