#!/usr/bin/env python3
"""A training federation with two aggregators: a helper beside the coordinator. What sites report is masked, the model's
step is the mean of what they trained with the noise of two, and whoever is away or dies costs time alone. See support.py."""
import pathlib
import subprocess
import sys
import time

from support import IS_LONG, TACIT, control, main, require, seeded, test, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))  # the examples have files of these names, too
import restore  # noqa: E402
import wire  # noqa: E402
from helper import causes_of, named  # noqa: E402
from training import NANO, ORDER, PIECE, Training, check_books  # noqa: E402

CLIP = 4.0
LARGE = 1e6  # of epsilon: noise is small beside what sites leave, and can still be measured
KILLS = 60 if IS_LONG else 8


def update_of(site, numbers):
    """What the program of this site leaves in each round."""
    return [0.02 * (site + 1) if at % 3 == site else -0.01 for at in range(numbers)]


def clipped(values):
    norm = sum(map(abs, values))
    return [value * min(1, CLIP / norm) for value in values]


def made_by(federation_of, rounds=4, budget=LARGE, numbers=15, slow=0.0, trust=None, quorum=2, **options):
    trial = federation_of(kind=Training, sites=3, users=3, rounds=rounds, budget=budget, clip=CLIP, numbers=numbers, quorum=quorum, trust=trust or {},
                     **options)
    for site in range(3):
        trial.teach(f"site-{site}", f"time.sleep({slow})\nleave([{0.02 * (site + 1)} if at % 3 == {site} else -0.01 for at in range(numbers)])")
    return trial


def begin(trial, **hooks):
    trial.start_all(["coordinator", "site-0", "site-1"])
    trial.start("site-2", **hooks)
    trial.start("helper")
    return trial.agree()


def epsilons(trial):
    """{round: what its orders said}."""
    found = {}
    for topic, payload in list(trial.tap.seen):
        message = wire.fields(payload)
        order = wire.fields(message[ORDER]) if topic.endswith("/down/select") and ORDER in message else None
        if order and not order[1] and wire.members(order[3]):
            require(found.setdefault(message[4], order[5]) == order[5], f"two epsilons in round {message[4]}")
    return {number: nano / NANO for number, nano in found.items()}


def check_model(trial, floor_times=0):
    """In each round the mean of what was trained by those who were asked, with the noise of two, whose scale is in the order, and
    with a floor that of each site."""
    exact, variance = [0.0] * trial.numbers, 0
    trained = [clipped(update_of(site, trial.numbers)) for site in range(3)]
    said = epsilons(trial)
    for number, sites in trial.asked().items():
        for site in sites:
            exact = [value + more / len(sites) for value, more in zip(exact, trained[trial.sites.index(site)], strict=True)]
        terms = 2 + (len(sites) / floor_times ** 2 if floor_times else 0)  # of discrete Laplace noise
        variance += terms * 2 * (2 * CLIP / said[number] / len(sites)) ** 2
    require(sorted(said) == list(range(1, trial.rounds + 1)), f"rounds {sorted(said)}")
    squares = sum((value - other) ** 2 for value, other in zip(trial.model("coordinator"), exact, strict=True))
    ratio = squares / trial.numbers / variance
    print(f"           noise: {ratio:.3f} of what it has to be", flush=True)
    require(abs(ratio - 1) < 4 * (5 / trial.rounds / trial.numbers) ** 0.5 + 0.01, f"{ratio} of the variance")


@test
def a_training_from_the_agreement_to_its_end(federation_of):
    trial = made_by(federation_of, numbers=9000, trust={})
    shown = begin(trial)
    require("select, 4 rounds\nepsilon of a site's data set, in all rounds: 1000000" in shown, shown)
    status = trial.wait_for_end(60)
    require(status["helper_answers"] == 4 and status["rounds"] == 4, f"{status}")
    wait_for("the helper's key is gone", lambda: trial.get("helper", "/status")["phase"] == "over", 20)
    statement = trial.text("site-0", "/v1/statement")
    require("There are two aggregators" in statement and "nothing is protected" in statement, statement[:300])
    said = [piece for site, _, body in trial.said(PIECE, "site-0") for piece in [wire.fields(body)] if 4 in piece]
    words = [int.from_bytes(piece[4][at:at + 8], "little", signed=True) for piece in said for at in range(0, len(piece[4]), 8)]
    require(len(words) >= 9000 and sum(abs(word) > 2 ** 60 for word in words) > 0.8 * len(words), "what leaves is not masked")
    check_model(trial)
    check_books(trial)


@test
def a_floor_is_the_sites_own_noise(federation_of):
    """Epsilon and floor are of all rounds: each round has the same part of both."""
    trial = made_by(federation_of, budget=5e4, numbers=3000, trust={"floor": 1e5})
    require("noise of the sites' own: epsilon 100000" in begin(trial), "the helper is not shown the floor")
    trial.wait_for_end(60)
    check_model(trial, floor_times=2)
    check_books(trial)


@test
def kill_9_of_anybody_loses_nothing(federation_of):
    trial = made_by(federation_of, rounds=6, slow=0.1, deadline_s=12)
    begin(trial)
    dice = seeded()
    everybody = ["helper", "coordinator", *trial.sites]
    for number in range(KILLS):
        time.sleep(dice.uniform(0.1, 1.2))
        victim = everybody[number % len(everybody)]
        trial.kill(victim)
        time.sleep(dice.uniform(0, 0.2))
        trial.start(victim)
    status = trial.wait_for_end(120)
    require(status["rounds"] == 6 and status["helper_answers"] > 3, f"{status}")
    require(not any(site["two_states"] for site in status["sites"]), f"{status}")
    check_books(trial)


@test
def a_helper_that_is_away_is_named_and_nothing_goes_on_without_it(federation_of):
    trial = made_by(federation_of)
    begin(trial)
    wait_for("a round", lambda: (trial.status() or {}).get("rounds", 0) >= 1, 60)
    trial.stop("helper")
    named("the coordinator names it", lambda: "the run waits for the helper (" in causes_of(trial.status()))
    named("a site names it", lambda: "the run waits for the helper (" in causes_of(trial.site_status("site-0")))
    code, said = trial.told("coordinator")
    require(code == 1 and "waits for the helper" in said, f"{code}: {said}")
    before = trial.status()
    trial.kill("coordinator")
    trial.start("coordinator")
    wait_for("the coordinator asks again", lambda: (trial.status() or {}).get("helper_waited_s", 0) > 5, 60)
    require((trial.status()["rounds"], trial.status()["epoch"]) == (before["rounds"], before["epoch"]), "it went on without the helper")
    trial.start("helper")
    trial.wait_for_end(60)
    check_books(trial)


@test
def hooked_liar_voids_rounds_and_is_dropped_by_the_operator(federation_of):
    """Its reports are in no sum any more, and it is not chosen, also after the coordinator's state was built again."""
    trial = made_by(federation_of, rounds=7, slow=1.0)
    begin(trial, TACIT_TEST_MASK="lie")
    named("two void rounds", lambda: "2 rounds in a row are void" in causes_of(trial.status()))
    for words, code, said in ((("retire", "site-1"), 1, "has no arms"), (("drop", "site-2"), 0, "done: drop site-2"),
                              (("drop", "site-1"), 1, "no more would be left")):
        done = control(trial, "coordinator", *words, code=code)
        require(said in done, f"{words}: {done}")
    answers = trial.status()["helper_answers"]
    wait_for("rounds go on", lambda: trial.status()["helper_answers"] > answers, 60)
    told = trial.folder / "state-site-0/training/round.json"
    wait_for("a site has the next model", lambda: f'"round": {trial.status()["epoch"]},' in told.read_text(), 40)
    trial.lose("coordinator")
    restore.expect_stop(trial)
    restore.recover(trial)
    status = trial.wait_for_end(90)
    require(status["rounds"] == 7 and status["helper_counted"] == 2 and status["void_rounds"] == 0, f"{status}")
    require(status["sites"][2]["dropped"] and trial.asked()[7] == ["site-0", "site-1"], f"{trial.asked()}")
    check_books(trial, terms_count=2)


@test
def the_operator_ends_a_training_that_waits(federation_of):
    """The model stays as it is: what the open round has is never added up."""
    trial = made_by(federation_of)
    begin(trial)
    wait_for("a round", lambda: (trial.status() or {}).get("rounds", 0) >= 1, 60)
    trial.stop("helper")
    wait_for("the helper is asked", lambda: trial.status()["helper_waited_s"] > 0, 40)
    done = control(trial, "coordinator", "end")
    require("it stays as it is" in done, done)
    trial.start("helper")
    trial.wait_for_end(60)
    wait_for("the helper's key is gone", lambda: (trial.get("helper", "/status") or {}).get("phase") == "over", 20)
    check_books(trial)


@test
def what_two_aggregators_cannot_do_is_refused_in_words(federation_of):
    trial = made_by(federation_of)
    file = trial.folder / "coordinator.yaml"
    for words, why in (('"sizes": [1, 2, 3], ', "weigh the same"), ('"users_per_round": 1, ', "of two sites or more"),
                       ('"floor": 1, ', "run.trust.floor: what a user loses to both together")):
        bad = trial.folder / "bad.yaml"
        text = file.read_text().replace('"users_per_round": 3, ', "") if "users" in words else file.read_text()
        beside = '"aggregators"' if "floor" in words else '"eta"'
        bad.write_text(text.replace(beside, words + beside))
        done = subprocess.run([TACIT, "coordinator", "--check", bad], capture_output=True, text=True, check=False)
        require(done.returncode == 2 and why in done.stderr, f"{done}")


if __name__ == "__main__":
    main()
