#!/usr/bin/env python3
"""What check, run and the page say of privacy, over all families and modes: a number where an epsilon is guaranteed and nowhere
else, delta where there is one, the words of the noise that is really added, and what the statement must and must not say.

usage: statements.py       $TACIT_PROGRAM
"""
import json
import math
import subprocess
import sys

from program import TACIT, run, tacit

BASE = "name: s\nseed: 1\nruns: 1\ncheckpoints: 2\n"
BANDIT = BASE + "agents: 4\nhorizon: 4000\n"
COINS = "environment: {kind: bernoulli, means: means.csv}\n"
GAUSS = "environment: {kind: gaussian, means: means.csv, gaussian: {sd: 1}}\n"
ROWS = "environment: {kind: logged, logged: {csv: rows.csv, agent: site, arm: arm, reward: reward}}\n"
CONTEXTS = BASE + "agents: 3\nhorizon: 60\nenvironment: {kind: contextual, contextual: {dimension: 3, arms: 4}}\n"
USERS = BASE + "agents: 6\nhorizon: 20\nenvironment: {kind: latency, source: two-groups}\nprotocol: {kind: select, users_per_round: 2}\n"
ELIMINATION, INDEX = "protocol: {kind: elimination}\n", "protocol: {kind: index, sharing: %s}\n"
EXACT, PHASED = "protocol: {kind: elimination, bounds: exact}\n", "protocol: {kind: phased-index}\n"
GOSSIP = "network: {kind: ring}\nprotocol: {kind: gossip-ucb, release: %s}\n"
VOTES = BASE + "agents: 4\nhorizon: 200000\n" + COINS + "network: {kind: broadcast}\nprotocol: {kind: votes, epsilon: 0.25, %s}\n"
RING = "network: {kind: ring}\n"
GLM = "protocol: {kind: glm-ucb, threshold: 2}\n"
NONE, PAPER, SOUND, LARGE = (f"privacy: {{{words}}}\n" for words in
                             ("mode: none", "mode: paper, epsilon: 1", "mode: sound, epsilon: 1", "mode: sound, epsilon: 20"))
TWO = "privacy: {mode: sound, epsilon: 1, trust: {aggregators: %s}}\n"
TWO_DELTA = TWO.replace("epsilon: 1", "epsilon: 1, delta: 1.0e-6")
INF = "privacy: {mode: sound, epsilon: inf}\n"

NOISELESS, GAP = "no noise", "no guarantee"
DOUBLE, LAPLACE, BARE = "paper: double Laplace", "sound: exact discrete Laplace", "none"
SEED, FORMAL = "random numbers come from a seed", "An epsilon above 10 is formal only"
LOGGED = "this file or page is not protected"

# name: file, head, loss (a number, NOISELESS or GAP), words that are said, words that are not
CASES = {
    "elimination": (BANDIT + COINS + ELIMINATION + SOUND, LAPLACE, 1, ["each is in at most one noised sum"], []),
    "elimination, large": (BANDIT + COINS + ELIMINATION + LARGE, LAPLACE, 20, [], []),
    "elimination, paper": (BANDIT + COINS + ELIMINATION + PAPER, DOUBLE, 4, ["a reward loses N eps with N = 4 agents"], []),
    "elimination, paper, Gaussian": (BANDIT + GAUSS + ELIMINATION + PAPER, DOUBLE, GAP, ["these rewards are not bounded"], []),
    "elimination, paper, ring": (BANDIT + COINS + RING + ELIMINATION + PAPER, DOUBLE, GAP, ["while it waits"], ["not bounded"]),
    "elimination, paper, alone": (BANDIT + COINS + "network: {kind: alone}\n" + ELIMINATION + PAPER, DOUBLE, 1, ["sends nothing"], []),
    "elimination, sound, ring": (BANDIT + COINS + RING + ELIMINATION + SOUND, LAPLACE, 1, ["every other agent"], ["while it waits"]),
    "elimination, none": (BANDIT + COINS + ELIMINATION + NONE, BARE, NOISELESS, ["nothing protects the rewards"], []),
    "elimination, infinite": (BANDIT + COINS + ELIMINATION + INF, BARE, NOISELESS, [], []),
    "elimination, paper, infinite": (BANDIT + COINS + ELIMINATION + INF.replace("sound", "paper"), BARE, NOISELESS, [], []),
    "exact": (BANDIT + COINS + EXACT + SOUND, LAPLACE, 1, [], []),
    "exact, none": (BANDIT + COINS + EXACT + NONE, BARE, NOISELESS, [], []),
    "exact, ring": (BANDIT + COINS + RING + EXACT + LARGE, LAPLACE, 20, [], []),
    "phased": (BANDIT + COINS + PHASED + SOUND, LAPLACE, 1, ["one noised sum", "m times this epsilon"], []),
    "phased, large": (BANDIT + COINS + PHASED + LARGE, LAPLACE, 20, [], []),
    "phased, two": (BANDIT + COINS + PHASED + TWO % 2, LAPLACE, 1, ["nothing is protected: they have the exact sums of each site", "a site masks its sums"], ["every agent"]),
    "phased, two, floor": (BANDIT + COINS + PHASED + TWO % "2, floor: 8", LAPLACE, 1, ["put together what they hold, epsilon is 8"], ["nothing is protected"]),
    "exact, two": (BANDIT + COINS + EXACT + TWO % 2, LAPLACE, 1, ["nothing is protected: they have the exact sums of each site"], []),
    "phased, none": (BANDIT + COINS + PHASED + NONE, BARE, NOISELESS, [], []),
    "gossip": (BANDIT + COINS + GOSSIP % "tree" + SOUND, LAPLACE, 0.999999996, ["each is in at most 12 noised sums"], []),
    "gossip, large": (BANDIT + COINS + GOSSIP % "tree" + LARGE, LAPLACE, 19.999999992, [], []),
    "gossip, paper": (BANDIT + COINS + GOSSIP % "tree" + PAPER, DOUBLE, GAP, ["first reward of every arm", "eps/12"], ["not bounded"]),
    "gossip, paper, Gaussian": (BANDIT + GAUSS + GOSSIP % "tree" + PAPER, DOUBLE, GAP, ["first reward of every arm", "not bounded"], []),
    "gossip, none": (BANDIT + COINS + GOSSIP % "tree" + NONE, BARE, NOISELESS, ["means of raw rewards"], []),
    "each": (BANDIT + COINS + GOSSIP % "each" + PAPER, DOUBLE, 1 / 4000, ["noised once"], ["first reward"]),
    "each, Gaussian": (BANDIT + GAUSS + GOSSIP % "each" + PAPER, DOUBLE, GAP, ["not bounded"], []),
    "doubling": (BANDIT + COINS + GOSSIP % "doubling" + SOUND, LAPLACE, 1, ["one noised sum"], []),
    "doubling, large": (BANDIT + COINS + GOSSIP % "doubling" + LARGE, LAPLACE, 20, [], []),
    "doubling, none": (BANDIT + COINS + GOSSIP % "doubling" + NONE, BARE, NOISELESS, [], []),
    "index, pooled": (BANDIT + COINS + INDEX % "pooled" + NONE, BARE, NOISELESS, ["Every reward leaves its agent"], []),
    "index, alone": (BANDIT + COINS + INDEX % "none" + NONE, BARE, NOISELESS, ["sends nothing"], []),
    "votes, raw": (VOTES % "eta: 0.1" + "privacy: {mode: paper}\n", BARE, NOISELESS, ["not a privacy level"], []),
    "votes": (VOTES % "eta: 0.1, subroutine: successive" + SOUND, LAPLACE, 1, ["Only votes leave", "not a privacy level"], []),
    "votes, large": (VOTES % "eta: 0.1, subroutine: successive" + LARGE, LAPLACE, 20, [], []),
    "votes, infinite": (VOTES % "eta: 0.1, subroutine: successive" + INF, BARE, NOISELESS, [], []),
    "votes, alone": (VOTES % "sharing: none" + "privacy: {mode: paper}\n", BARE, NOISELESS, ["sends nothing"], []),
    "votes, all": (VOTES % "sharing: all" + "privacy: {mode: paper}\n", BARE, NOISELESS, ["Every reward leaves"], []),
    "votes, randomised": (VOTES % "sharing: all" + SOUND, "sound: randomised response", 1, ["by randomised response"], ["Laplace"]),
    "votes, randomised, large": (VOTES % "sharing: all" + LARGE, "sound: randomised response", 20, [], ["Laplace"]),
    "votes, sums": (VOTES % "sharing: sums" + SOUND, LAPLACE, 1, ["one noised sum"], []),
    "votes, sums, large": (VOTES % "sharing: sums" + LARGE, LAPLACE, 20, [], []),
    "votes, sums, two": (VOTES % "sharing: sums" + TWO % "2, floor: 8", LAPLACE, 1, ["put together what they hold, epsilon is 8"], ["every agent"]),
    "contexts": (CONTEXTS + GLM + NONE, BARE, NOISELESS, ["a gradient of one sample reveals it"], []),
    "contexts, sound": (CONTEXTS + GLM + "privacy: {mode: sound, epsilon: 1, delta: 1.4e-9}\n", "sound: exact discrete Gaussian", 1,
                        ["single interaction", "epsilon = 1 and delta = 0.000000002 "], ["single reward"]),
    "contexts, two": (CONTEXTS + GLM + TWO_DELTA % 2, "sound: exact discrete Gaussian", 1,
                      ["nothing is protected: they have the exact sums of each site", "Masked sums", "adds noise to the total", "can add any number"], ["local", "Noised sums"]),
    "contexts, two, floor": (CONTEXTS + GLM + TWO_DELTA % "2, floor: 8", "sound: exact discrete Gaussian", 1, ["epsilon is 8 at the same delta"], ["nothing is protected"]),
    "contexts, sound, large": (CONTEXTS + GLM + "privacy: {mode: sound, epsilon: 20, delta: 1e-6}\n", "sound: exact discrete Gaussian",
                               20, ["delta = 0.000001 "], []),
    "select": (USERS + "privacy: {mode: sound, epsilon: 7}\n", "sound: budgets only", 7, ["data set of each user"], ["m times"]),
    "select, large": (USERS + LARGE, "sound: budgets only", 20, [], []),
    "select, paper": (USERS + "privacy: {mode: paper, epsilon: 40}\n", "paper: budgets only", GAP, ["as if it were the only one"], []),
    "select, none": (USERS + NONE, BARE, NOISELESS, ["Updates leave the users as they are"], []),
    "rows": (BASE + "agents: 2\nhorizon: 4000\n" + ROWS + ELIMINATION + SOUND, LAPLACE, 1, [LOGGED], []),
    "rows, people": (BASE + "agents: 2\nhorizon: 4000\n" + ROWS + ELIMINATION + "privacy: {mode: sound, epsilon: 1, unit: {column: site, rewards: 4000}}\n",
                     LAPLACE, 1, ["Of one person at most 4000 rewards", "lose at most 4000 times epsilon = 1, which is 4000"], ["m times"]),
    "rows, none": (BASE + "agents: 2\nhorizon: 4000\n" + ROWS + ELIMINATION + NONE, BARE, NOISELESS, [LOGGED], []),
    "rows, index": (BASE + "agents: 2\nhorizon: 4000\n" + ROWS + INDEX % "none" + NONE, BARE, NOISELESS, [LOGGED], []),
}
DELTAS = {"contexts, sound": 2e-9, "contexts, sound, large": 1e-6, "contexts, two": 1e-6, "contexts, two, floor": 1e-6}


def require(holds, what):
    if not holds:
        sys.exit(f"statements.py: {what}")


def one_line(text):
    return " ".join(text.split())


def laws(name, statement, loss):
    """Those of all statements."""
    has_number = not isinstance(loss, str)
    draws = loss != NOISELESS and not name.startswith("select")
    for words, there in ((SEED, draws), (FORMAL, has_number and loss > 10), ("is protected with epsilon = ", has_number),
                         ("No epsilon is guaranteed", loss == GAP), ("No noise is added", loss == NOISELESS),
                         (LOGGED, name.startswith("rows")), (" delta = ", name in DELTAS)):
        require((words in statement) == there, f"{name}: '{words}' {'is missing' if there else 'is there'}: {statement}")
    require(has_number or " loses " not in statement, f"{name}: a loss without a guarantee: {statement}")
    require("exact discrete" not in statement or loss != NOISELESS, f"{name}: noise where there is none: {statement}")


def check_says_it(name, head, loss, statement, folder):
    said = tacit("check", "s.yaml", folder=folder)
    part = one_line(said[said.index("Privacy ("):])
    require(part.startswith(f"Privacy ({head}) epsilon "), f"{name}: check's head: {part}")
    line = said[said.index("Privacy ("):].split("\n")[1]
    if isinstance(loss, str):
        require(line.endswith(f": infinite ({loss})"), f"{name}: check's number: {line}")
    else:
        require(f": {loss:.12g}" in line, f"{name}: check's number: {line}")
    require((", delta " in line) == (name in DELTAS), f"{name}: check's delta: {line}")
    text = (folder / "s.yaml").read_text(encoding="utf-8")
    agents, floor = {"c": 3, "v": 2}.get(name[0], 4), "floor: 8" in text
    terms = f"2 of the aggregators at epsilon 1{f', {agents} of the sites at epsilon 8' if floor else ''}; with one aggregator {agents} at epsilon 1"
    views = "sees: 1; the helper: 1; sites and outsiders: at most 1; coordinator and helper together: " + ("8 (floor)" if floor else "infinite (no floor)")
    for words in (views, "noise terms of a total: " + terms):
        require((words in part) == ("aggregators: 2" in text), f"{name}: check's views and noise terms: {part}")
    require(statement in said, f"{name}: check says something else")


def run_says_it(name, loss, folder):
    """The table, the JSON and the page; result: the statement."""
    privacy = json.loads(tacit("run", "s.yaml", "--json", "--quiet", folder=folder))["privacy"]
    of = "user" if name.startswith("select") else "interaction" if name.startswith("contexts") else "reward"
    keys = {"mode", "statement", "epsilon_per_user" if of == "user" else "epsilon_per_reward"} | {f"epsilon_per_{of}"}
    require(set(privacy) == keys | ({"delta"} if name in DELTAS else set()), f"{name}: keys {set(privacy)}")
    for key in keys - {"mode", "statement"}:
        number = privacy[key]
        require(number is None if isinstance(loss, str) else math.isclose(number, loss, rel_tol=1e-12), f"{name}: {key} is {number}")
    require(privacy.get("delta") == DELTAS.get(name), f"{name}: delta {privacy.get('delta')}")
    table = one_line(tacit("run", "s.yaml", "--quiet", "--out", "out", folder=folder))
    page = one_line((folder / "out/report.html").read_text(encoding="utf-8"))
    delta = f", delta {DELTAS[name]:g}" if name in DELTAS else ""
    told = loss if isinstance(loss, str) else f"{delta} per {of}"
    for where, text in (("table", table), ("page", page)):
        require(told in text and one_line(privacy["statement"]).replace("'", "&#39;" if where == "page" else "'") in text,
                f"{name}: {where} lacks '{told}' or the statement")
    return privacy["statement"]


def every_family_and_mode_says_what_holds(folder):
    for name, (text, head, loss, said, unsaid) in CASES.items():
        (folder / "s.yaml").write_text(text, encoding="utf-8")
        statement = run_says_it(name, loss, folder)
        check_says_it(name, head, loss, statement, folder)
        laws(name, statement, loss)
        for words in said:
            require(words in statement, f"{name}: '{words}' is missing: {statement}")
        for words in unsaid:
            require(words not in statement, f"{name}: '{words}' is there: {statement}")


USER, TRAINED = "protocol: {kind: select, users_per_round: 2%s}\n", "training: {data: mnist}\n"
LATENCY = "environment: {kind: latency}\n"
REFUSED = [(ELIMINATION, TWO % 2, "the paper's bounds"), (RING + EXACT, TWO % 2, "network.kind: star"), (INDEX % "pooled", TWO % 2, "privacy"),
           (GOSSIP % "tree", TWO % 2, "privacy.trust"), (PHASED, TWO % "2, floor: 0.0001", "privacy.trust.floor"), (PHASED, TWO % 3, "privacy.trust.aggregators"),
           (GLM, "privacy: {mode: none, trust: {aggregators: 2}}\n", "privacy.trust: belongs to mode: sound"), (GLM, TWO_DELTA % "2, floor: 0.001", "does not fit into integers"),
           ("", TWO % 2, "allowed with sharing: sums"), (PHASED, "privacy: {mode: none, trust: {aggregators: 2}}\n", "privacy.trust: belongs to mode: sound"),
           (USER % ", quorum: 2", TWO % 2, "allowed with the section training"), (USER % "" + TRAINED, TWO % 2, "protocol.quorum 2 or more"),
           (USER % ", quorum: 2" + TRAINED, TWO % "2, floor: 0.9", "allowed: epsilon or more")]


def two_aggregators_are_refused_where_nobody_adds_up(folder):
    for protocol, privacy, words in REFUSED:
        head = CONTEXTS if protocol == GLM else BANDIT + (LATENCY if "select" in protocol else COINS) if protocol else VOTES % "eta: 0.1"
        (folder / "s.yaml").write_text(head + protocol + privacy, encoding="utf-8")
        done = subprocess.run([TACIT, "check", "s.yaml"], capture_output=True, text=True, check=False, cwd=folder)
        require(done.returncode == 2 and done.stdout == "" and words in done.stderr and done.stderr.count("\n") == 1, f"{protocol}{privacy}: {done.stderr}")


def one_aggregator_is_as_before_byte_for_byte(folder):
    for protocol in (BANDIT + COINS + PHASED, BANDIT + COINS + EXACT, VOTES % "sharing: sums", CONTEXTS + GLM):
        found = []
        for privacy in (SOUND, TWO % 1, TWO % "1, floor: 8", TWO % 2):
            of_glm = privacy.replace("epsilon: 1", "epsilon: 1, delta: 1.0e-6") if GLM in protocol else privacy
            (folder / "s.yaml").write_text(protocol + of_glm, encoding="utf-8")
            found.append(tacit("run", "s.yaml", "--json", "--quiet", folder=folder))
        require(found[0] == found[1] == found[2] != found[3], f"{protocol}: another result")


def votes_of_many_end_sooner_with_two(folder):
    """The more players, the more noise one aggregator leaves in: 40 of them, epsilon 0.1. With a floor of little noise it is the same."""
    text = (VOTES % "sharing: sums").replace("agents: 4", "agents: 40").replace("runs: 1", "runs: 40").replace("horizon: 200000", "horizon: 2000000")
    found = {}
    for trust in ("1", "2", "2, floor: 50", "2, floor: 0.1"):
        (folder / "s.yaml").write_text(text + TWO.replace("epsilon: 1", "epsilon: 0.1") % trust, encoding="utf-8")
        found[trust] = json.loads(tacit("run", "s.yaml", "--json", "--quiet", folder=folder))["metrics"]
        require(found[trust]["best_arm_fraction"]["mean"] == 1, f"{trust}: another arm than the best")
    samples = {trust: metrics["samples"]["mean"] for trust, metrics in found.items()}
    require(1.5 * samples["2"] < samples["1"] <= samples["2, floor: 0.1"] and samples["2, floor: 50"] < 1.2 * samples["2"], f"samples: {samples}")


TESTS = [every_family_and_mode_says_what_holds, two_aggregators_are_refused_where_nobody_adds_up, one_aggregator_is_as_before_byte_for_byte, votes_of_many_end_sooner_with_two]

if __name__ == "__main__":
    rows = "".join(f"s{i % 2},{'ab'[i // 2 % 2]},{int(i % 3 == 0)}\n" for i in range(40))
    sys.exit(run(TESTS, {"means.csv": "0.9,0.5,0.4,0.1\n", "rows.csv": "site,arm,reward\n" + rows}))
