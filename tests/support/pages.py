"""Makes one page of each kind that tacit writes, from small experiments that need no data.

Imported by cli/pages.py and cli/browser.py; the program is $TACIT_PROGRAM.
"""
import os
import pathlib
import subprocess

MEANS = "0.9,0.5,0.1,0.45\n0.8,0.1,0.3,0.2\n0.2,0.6,0.1,0.4\n0.7,0.4,0.1,0.3\n"
COMMON = "seed: 3\nhorizon: 20000\nagents: 4\nenvironment: {kind: bernoulli, means: means.csv}\n"
FILES = {
    # rows of a log: named arms, some with letters that pages must guard; baselines that are played
    "log.yaml": "name: 'coupons & <offers>'\nseed: 1\nruns: 8\nhorizon: 4000\nenvironment: {kind: logged, logged: {csv: log.csv, "
                "agent: shop, arm: coupon, reward: {column: bought, equals: \"yes\"}}}\nagents: 2\n"
                "protocol: {kind: phased-index, confidence: 0.95}\nprivacy: {mode: sound, epsilon: 1}\nbaselines: [alone-ucb1]\n",
    # arms that are given up; components with sinks; no noise
    "hybrid.yaml": "name: hybrid\nruns: 6\n" + COMMON + "network: {kind: hybrid, components: [{agents: 3, kind: path}, {agents: 1}]}\n"
                   "protocol: {kind: elimination}\nprivacy: {mode: none}\n",
    # a band over the agents
    "gossip.yaml": "name: gossip\nruns: 3\n" + COMMON + "network: {kind: ring}\nprotocol: {kind: gossip-ucb}\nprivacy: {mode: none}\n",
    # contexts; users that are chosen; one learner
    "glm.yaml": "name: contexts\nseed: 2\nruns: 3\nhorizon: 400\nagents: 4\nenvironment: {kind: contextual, contextual: {dimension: 3, arms: 4}}\n"
                "network: {kind: star}\nprotocol: {kind: glm-ucb, threshold: 1}\nprivacy: {mode: none}\n",
    "select.yaml": "name: users\nseed: 2\nruns: 3\nhorizon: 50\nagents: 8\nenvironment: {kind: latency, source: two-groups}\n"
                   "network: {kind: star}\nprotocol: {kind: select, users_per_round: 2}\nprivacy: {mode: paper, epsilon: 40, eta: 0.04}\n",
    "index.yaml": "name: alone\nruns: 5\n" + COMMON + "network: {kind: star}\nprotocol: {kind: index}\nprivacy: {mode: none}\n",
    # a log whose choices had known chances
    "offers.yaml": "name: offers\nseed: 3\nagents: 2\nhorizon: 400\nenvironment: {kind: logged, logged: {csv: offers.csv, agent: site, arm: arm, "
                   "reward: paid, propensity: p}}\nnetwork: {kind: star}\nprotocol: {kind: index}\nprivacy: {mode: none}\n",
    # profiles by arm and by player
    "votes.yaml": "name: votes\nseed: 4\nruns: 3\nhorizon: 10000000\nagents: 32\nenvironment: {kind: bernoulli, means: vote_means.csv}\n"
                  "network: {kind: broadcast}\nprotocol: {kind: votes, subroutine: ser3, epsilon: 0.25, eta: 0.9}\n"
                  "privacy: {mode: paper}\n",
    "grid.yaml": "name: grid\nruns: 5\n" + COMMON + "protocol: {kind: phased-index, confidence: 0.95}\n"
                 "privacy: {mode: sound, epsilon: 1}\n",
    "means.csv": MEANS,
    "vote_means.csv": "0.7,0.5,0.3,0.1,0.1,0.1\n",
    "papers/px-small/noisy.yaml": "name: noisy\nruns: 6\n" + COMMON.replace("means.csv", "../../means.csv") +
                                  "protocol: {kind: elimination}\nprivacy: {mode: paper, epsilon: 0.05}\n",
    "papers/px-small/plain.yaml": "name: plain\nruns: 6\n" + COMMON.replace("means.csv", "../../means.csv") +
                                  "protocol: {kind: elimination}\nprivacy: {mode: paper, epsilon: inf}\n",
    "papers/px-small/claims.yaml": """paper: px
title: A paper of two curves
fast_runs: 3
figures:
  - id: fig1
    title: Figure one
    paper_shows: The curve falls.
    we_show: So does ours.
    plot: {x: t, y: regret}
    curves: [{experiment: noisy, label: "noisy, \\"quoted\\""}, {experiment: plain, label: plain}]
    claims:
      - {id: order, where: Sec. 1, says: "Less noise, less regret.", measure: "falls(noisy.regret, plain.regret)",
         band: [1, inf], verdict: holds}
  - id: fig2
    title: Figure two
    paper_shows: Points.
    plot: {x: cost, y: regret}
    curves: [{experiment: noisy, label: noisy}, {experiment: plain, label: plain}]
    claims:
      - {id: wrong, where: Sec. 2, says: "More noise, less regret.", measure: "noisy.regret / plain.regret",
         band: [0, 0.5], verdict: does not hold, why: "It is the other way round."}
      - {id: open, where: Sec. 2, says: "Regret is above 650.", measure: plain.regret, band: [650, inf], verdict: holds}
  - id: fig3
    title: Figure three
    paper_shows: Points with long names.
    plot: {x: cost, y: regret}
    curves:
      - {experiment: noisy, label: "WWWWWWWWWW a name that is much wider than what is left of it WWWWWWWWWWWWWWWWWWWW"}
      - {experiment: plain, label: "WWWWWWWWWW a name that is much wider than what is right of it WWWWWWWWWWWWWWWWWWW"}
    claims:
      - {id: same, where: Sec. 3, says: "The order is that of figure one.", measure: "falls(noisy.regret, plain.regret)",
         band: [1, inf], verdict: holds}
""",
}


RUNS = ("log", "hybrid", "gossip", "votes", "glm", "select", "index")


def log_rows():
    """Shop, coupon, bought: the second coupon sells best, by far."""
    names = ('5 % off', 'two "for" one', "<b>gift</b>")
    rows = ["shop,coupon,bought"]
    for number in range(900):
        arm = number % 3
        bought = (number * 7919) % 100 < (20, 60, 35)[arm]
        rows.append(f'{"Köln" if number % 2 else "Bonn & Rhein"},"{names[arm].replace(chr(34), chr(34) * 2)}",{"yes" if bought else "no"}')
    return "\n".join(rows) + "\n"


def offer_rows():
    """Site, arm, paid, p: three offers with long names, each by its own chance; the second pays best."""
    names = ("free delivery from 30 euros on", "ten percent off the whole basket", "a gift")
    rows = ["site,arm,paid,p"]
    for number in range(3000):
        place = (number * 7919) % 100
        arm, chance = (0, 0.5) if place < 50 else (1, 0.3) if place < 80 else (2, 0.2)
        paid = (number * 104729) % 1000 < (140, 220, 90)[arm]
        rows.append(f"{('Bonn', 'Köln')[number % 2]},{names[arm]},{int(paid)},{chance}")
    return "\n".join(rows) + "\n"


def tacit(*words, cwd):
    done = subprocess.run([os.path.abspath(os.environ["TACIT_PROGRAM"]), *words], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"tacit {' '.join(words)}: {done.stderr}")


def make(folder):
    """Name of each page -> path of its folder."""
    root = pathlib.Path(folder)
    for name, text in {**FILES, "log.csv": log_rows(), "offers.csv": offer_rows()}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    for name in RUNS:
        mode = {"log": "sound", "votes": "paper", "select": "paper"}.get(name, "none")
        tacit("run", f"{name}.yaml", "--quiet", "--set", "privacy.mode=" + mode, "--out", f"out/{name}", cwd=root)
    tacit("compare", "grid.yaml", "--over", "privacy.epsilon=0.1,0.3,1,3,10,inf,1e9", "--out", "out/compare", "--quiet", cwd=root)
    tacit("compare", "grid.yaml", "--over", "protocol={kind: phased-index, confidence: 0.95},{kind: elimination},{kind: elimination, bounds: exact}",
          "--out", "out/kinds", "--quiet", cwd=root)
    tacit("evaluate", "offers.yaml", "--out", "out/evaluate", cwd=root)
    tacit("plan", "grid.yaml", "--runs", "10", "--set", "horizon=8000", "--out", "out/plan", "--quiet", cwd=root)
    tacit("reproduce", "px", "--fast", "--experiments", "papers", "--out", "out/reproduce", "--quiet", cwd=root)
    pages = {name: root / "out" / name for name in (*RUNS, "compare", "kinds", "evaluate", "plan")}
    pages["reproduce"] = next((root / "out/reproduce").rglob("report.html")).parent
    return pages
