#!/usr/bin/env python3
"""What is equal to the last byte: a live federation and the simulator, fed the same rewards and the same tapes of
entropy; and all that leaves a site, fed other rewards and such noise that the released values are the same (PRIVACY.md
B.7). The sites play in turn, so that nothing is left to the scheduler. See support.py."""
import difflib
import random
import re
import shutil
import struct
import time

from patients import Patients, expect_said, start_patients, told_by
from support import UnixConnection, main, require, test, wait_for
from wire import STEPS, order_of, sums_of, without_opening


# ---- In turn ----

def is_quiet(federation, epoch, reports):
    """Nobody has anything to say until somebody plays."""
    hub = federation.status()
    if not hub or hub["epoch"] != epoch or hub["reports"] != reports or not hub["connected"]:
        return False
    for site in federation.sites:
        status, ledger = federation.site_status(site), federation.get(site, "/v1/ledger")
        if not status or not ledger or status["epoch"] != epoch or not status["connected"]:
            return False
        if not all(one["acknowledged"] for one in ledger["releases"] if one["epoch"] == epoch):
            return False
    return True


def play_run(federation, patients, look=lambda: None):
    """To the end. Sites that are not asked to report go first: the round may be over without them."""
    wait_for("the coordinator answers", federation.status)
    while not federation.is_finished():
        hub = federation.status()
        asked = {site["name"]: site["asked"] for site in hub["sites"]}
        reports = 0
        for one in sorted(patients, key=lambda one: asked[one.site]):
            wait_for(f"{one.site}'s turn", lambda: all(other.status() for other in patients) and
                     is_quiet(federation, hub["epoch"], reports))
            look()
            one.play()
            reports += asked[one.site]
        wait_for("the round is over", lambda: all(other.status() for other in patients) and
                 federation.is_at(hub["epoch"] + 1))
    federation.wait_for_sites("knows", federation.has_decided)


# ---- The simulator ----

def simulate(federation, seed, deviation, growth):
    """The simulator's run of this federation: messages by sender, rewards by (site, arm). It leaves its entropy as
    tapes. growth: of the ladder of exact bounds; 0: the paper's."""
    reports = max(1, round(federation.participation * len(federation.sites)))
    words = [seed, len(federation.sites), reports, federation.horizon, federation.epsilon,
             *((0, 1) if growth else (federation.rounds, federation.gap)), growth, 1, deviation, *federation.means]
    return told_by("TACIT_SIMULATED_PROGRAM", federation, *words)[:2]


def same_as_simulated(federation, seed, growth=0):
    messages, rewards = simulate(federation, seed, 0.25, growth)
    federation.start_all([])
    federation.start("coordinator", TACIT_TEST_TAPE=str(federation.folder / "hub"))
    patients = start_patients(federation, rewards)
    play_run(federation, patients)
    time.sleep(0.1)
    expect_said(federation, patients, messages, rewards, without_opening, lambda payload: order_of(payload)[:4])


@test
def hooked_federation_sends_the_simulator_s_bytes(federation_of):
    shape = {"sites": 3, "epsilon": 1.0, "rounds": 4, "gap": 0.25, "horizon": 20000}
    same_as_simulated(federation_of([0.7, 0.6, 0.4, 0.2], **shape), seed=1)


@test
def hooked_federation_asks_those_whom_the_simulator_asks(federation_of):
    shape = {"sites": 4, "epsilon": 1.0, "rounds": 4, "gap": 0.25, "horizon": 20000}
    same_as_simulated(federation_of([0.7, 0.65, 0.4], participation=0.5, quorum=2, **shape), seed=2)


@test
def hooked_federation_with_exact_bounds_sends_the_simulator_s_bytes(federation_of):
    federation = federation_of([0.7, 0.6, 0.4, 0.2], sites=3, epsilon=1.0, horizon=20000)
    run = federation.run_section(bounds="exact", growth=2)
    del run["rounds"], run["gap"]
    federation.write_coordinator(run)
    same_as_simulated(federation, seed=3, growth=2)


# ---- Non-interference ----

def data_of(site, salt):
    """Rewards in 8192nds. "one": one of them is another. "all": all are others, some of them out of range."""
    def value(arm, number):
        rng = random.Random(f"{site} {salt == 'all'} {arm} {number}")
        draw = rng.randrange(1025) / 1024
        if salt == "one" and (site, arm, number) == ("site-1", 1, 5):
            return 1 - (7 * draw + 1) / 8
        if salt == "all":
            return rng.choice([draw, 1 - draw, 7.5, -3.25, 1e300]) if arm < 2 else draw / 4
        return (7 * draw + (arm == 1)) / 8
    return value


def words_below(*pairs):
    """Entropy from which tacit_entropy_below draws the value of each (bound, value)."""
    return b"".join(struct.pack("<Q", (2 * value + 1) * (1 << 64) // (2 * bound)) for bound, value in pairs)


def words_of_noise(noise):
    """Entropy from which the sampler (src/privacy/samplers.c) draws this noise, of scale STEPS."""
    heads, tails = ((1, 0), (2, 0), (3, 1)), ((1, 0), (2, 1))
    scales, rest = divmod(abs(noise), STEPS)
    return words_below((STEPS, rest), (STEPS, STEPS - 1), *heads * scales, *tails, (2, int(noise < 0)))


def write_noise(path, reports, data, first):
    """The noise with which these data give these reports, from the epoch `first` on."""
    tape, before, pulls_before = b"", {}, 0
    for epoch, payload in sorted(reports.items()):
        pulls, sums = sums_of(payload)
        for arm, value in sums.items():
            exact = sum(round(min(max(data(arm, number), 0), 1) * STEPS) for number in range(pulls_before, pulls))
            if epoch >= first:
                tape += words_of_noise(round((value - before.get(arm, 0)) * STEPS) - exact)
        before, pulls_before = sums, pulls
    path.write_bytes(tape)


# Where a site dies in its first life, and the first epoch that it draws in its second one. The last site lives on: what
# it said before a death might end the round, or not.
CRASHES = {"site-0": ("release:3", 2), "site-1": ("release:4,before-send:1", 3),
           "site-2": ("release:4,after-send:1", 3), "site-3": (None, 1)}


def page(federation, name, path):
    """Code and text of a page, without what counts those who look: the test itself."""
    connection = UnixConnection(federation.socket_of(name))
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        lines = answer.read().decode().splitlines()
    finally:
        connection.close()
    # .. and when something was known, or heard last
    times = ("tacit_api_requests_total", "tacit_clock_seconds", "tacit_disk_free_bytes", "tacit_hub_still_seconds", "tacit_hub_round_seconds", "tacit_agent_still_seconds", "tacit_hub_site_heard_seconds", '  "since": ', '  "hub_heard_s": ')
    lines = [re.sub(r'"(heard|still|round)_s": \d+|\d+ s\b', "", line) for line in lines]
    return [answer.status, *(line for line in lines if not line.startswith(times))]


def pages(federation):
    """What somebody without access to a site's data may look at: all but /v1/clipped, for those who have it."""
    paths = {site: ("/", "/metrics", "/health", "/v1/status", "/v1/result", "/v1/ledger", "/v1/statement") for site in federation.sites}
    paths["coordinator"] = ("/", "/status", "/health", "/metrics")
    return {f"{name} {path}": page(federation, name, path) for name in paths for path in paths[name]}


def log_lines(federation, name):
    """Without times. Of the broker's: who came, in order; how a connection broke is the system's affair."""
    lines = [line.split(" ", 1)[1] for line in federation.log(name).splitlines()]
    if name == "broker":
        return [re.sub(r".* as ", "", line) for line in lines if "New client connected" in line]
    return lines


def shown_with(federation, salt, reports):
    """All that leaves the sites, and their reports. `reports`: those that shall come out; None: whatever comes."""
    federation.start_all([])
    federation.start_coordinator_of_run(7)
    wait_for("the order is out", federation.orders)
    patients, looks = [], []
    for site in federation.sites:
        crash_at, first = CRASHES[site]
        data = data_of(site, salt)
        for life, epoch in ((0, 1), (1, first)):
            decisions = random.Random(f"{site} {life}").randbytes(1 << 16)
            (federation.folder / f"{site}.{life}.decisions").write_bytes(decisions)
            keys = random.Random(f"{site} {life} keys").randbytes(1 << 12)
            (federation.folder / f"{site}.{life}.keys").write_bytes(keys)
            (federation.folder / f"{site}.{life}.ids").write_bytes(random.Random(f"{site} ids").randbytes(16))
            if reports:
                write_noise(federation.folder / f"{site}.{life}.noise", reports[site], data, epoch)
        patients.append(Patients(federation, site, data, crash_at))
        patients[-1].start()
        wait_for(f"{site} joins", lambda site=site: federation.phase(site) == "exploring")
    play_run(federation, patients, lambda: looks.append(pages(federation)))
    time.sleep(0.1)
    looks.append(pages(federation))
    shown = {f"look {number}: {name}": lines for number, look in enumerate(looks) for name, lines in look.items()}
    for topic, payload in federation.tap.messages:
        shown.setdefault(topic, []).append(payload.hex())
    for one in patients:
        shown[f"{one.site} decisions"] = one.sequence
    clipped = {site: federation.get(site, "/v1/clipped") for site in federation.sites}
    for name in (*federation.sites, "coordinator", "broker"):
        federation.stop(name)
        shown[f"{name} log"] = log_lines(federation, name)
    outboxes = {site: {epoch: row[0] for epoch, row in federation.outbox(site).items()} for site in federation.sites}
    return shown, outboxes, clipped


COUNTED = re.compile(r'("[a-z_]*(?:accepted|sent|received|repeated|messages|bytes)[a-z_]*": |^tacit_\w*(?:messages|bytes)\w* )\d+')

# In the bytes of a word: its number, and the signature under it.
NUMBERED = re.compile(r"59[0-9a-f]{16}(?=62)|7240[0-9a-f]{128}")


def said_once(lines):
    """Without what a word that was said twice changes: itself, the counts of words and bytes, and the numbers of
    the words behind it."""
    return sorted({NUMBERED.sub("", COUNTED.sub(r"\1", line)) for line in lines})


def differences(first, second, repeats_count):
    """Lines of what was shown that are in one of them only."""
    found = []
    for name in sorted(first.keys() | second.keys()):
        ours, theirs = (list(map(str, shown.get(name, []))) for shown in (first, second))
        if not repeats_count:
            ours, theirs = said_once(ours), said_once(theirs)
        if ours != theirs:
            found += [f"{name}: {line}" for line in difflib.unified_diff(ours, theirs, lineterm="", n=0)][2:]
    return found


# A busy machine makes somebody say a word twice, once in a while. Then all is played again, and words count once. What
# differs by the data differs every time.
TRIES = 3


@test
def hooked_noise_makes_other_data_look_the_same_everywhere(federation_of):
    shape = {"sites": 4, "epsilon": 1.0, "rounds": 3, "gap": 0.25}
    original = federation_of([0, 0, 0], **shape)
    first, reports, clipped = shown_with(original, "", None)
    require(len(reports["site-0"]) >= 3, "hardly a run")

    def alike():
        copy = federation_of([0, 0, 0], **shape)
        shutil.copytree(original.pki, copy.pki, dirs_exist_ok=True)  # what is signed with the same keys looks the same
        return copy

    deaths = [first[f"{site} decisions"].count("died") for site in CRASHES]
    require(deaths == [1, 1, 1, 0], f"other deaths: {deaths}")
    for salt in ("one", "all"):
        for attempt in range(TRIES):
            if attempt > 0:
                first = shown_with(alike(), "", reports)[0]
            second, again, clipped_again = shown_with(alike(), salt, reports)
            require(reports == again, "the tape did not do its work")
            found = differences(first, second, attempt == 0)
            if not found:
                break
        require(not found, f"{salt}: " + "\n".join(found))
    require(clipped != clipped_again, f"the rewards were not other ones: {clipped}, {clipped_again}")


if __name__ == "__main__":
    main()
