#!/usr/bin/env python3
"""How the work of a run grows over a decade of each size: instructions (callgrind) at a size and at ten times it, less those of a program
that starts and ends, as the exponent of the power between them. Caches do not show in it.

usage: growth.py RELEASE [NAME...]      a build directory; names of workloads below
"""
import concurrent.futures
import math
import pathlib
import sys
import tempfile

from instructions import callgrind, counted

ARMED = "environment: {{kind: bernoulli, generated: {{arms: {K}, draw: uniform}}}}\nagents: {N}\nhorizon: {T}\n"
SOUND = "privacy: {{mode: sound, epsilon: 1}}\n"
# File, sizes from which each decade begins, and which sizes grow. M and N of the papers are both agents.
WORKLOADS = {
    "elimination": (ARMED + SOUND + "runs: 4\nprotocol: {{kind: elimination}}\n", {"K": 20, "N": 20, "T": 100000}, "KNT"),
    "phased-index": (ARMED + SOUND + "runs: 4\nprotocol: {{kind: phased-index}}\n", {"K": 10, "N": 10, "T": 100000}, "KNT"),
    "index ucb1": (ARMED + "runs: 1\nprotocol: {{kind: index, index: ucb1}}\nprivacy: {{mode: none}}\n", {"K": 10, "N": 2, "T": 10000}, "KNT"),
    "gossip": (ARMED + SOUND + "runs: 1\nnetwork: {{kind: ring}}\nprotocol: {{kind: gossip-ucb}}\n", {"K": 20, "N": 5, "T": 1000}, "KNT"),
    "votes": (ARMED + "runs: 2\nnetwork: {{kind: broadcast}}\nprotocol: {{kind: votes, subroutine: ser3, epsilon: 0.25, delta: 0.05, eta: 0.9}}\n"
              "privacy: {{mode: paper}}\n", {"K": 5, "N": 40, "T": 10**8}, "KN"),
    "select": ("environment: {{kind: latency, source: two-groups}}\nagents: {N}\nhorizon: {T}\nruns: 1\nnetwork: {{kind: star}}\n"
               "protocol: {{kind: select, selector: exact, users_per_round: 5}}\nprivacy: {{mode: paper, epsilon: 40}}\n", {"N": 50, "T": 100}, "NT"),
    "linear": ("environment: {{kind: contextual, contextual: {{dimension: {d}, arms: {K}, link: logistic, source: sphere}}}}\nagents: {N}\n"
               "horizon: {T}\nruns: 1\nnetwork: {{kind: star}}\nprotocol: {{kind: glm-ucb, variant: fedglb, threshold: 0.5}}\n"
               "privacy: {{mode: none}}\n", {"d": 5, "K": 20, "N": 5, "T": 50}, "dKNT"),
}


def count(release, name, sizes):
    with tempfile.TemporaryDirectory(prefix="tacit-growth-") as folder:
        path = pathlib.Path(folder) / "workload.yaml"
        path.write_text(f"name: growth\nseed: 1\n{WORKLOADS[name][0].format(**sizes)}", encoding="utf-8")
        return counted(callgrind([release / "tacit", "run", path, "--threads", "1", "--quiet"], folder))


def main():
    release = pathlib.Path(sys.argv[1]).resolve()
    names = sys.argv[2:] or list(WORKLOADS)
    with tempfile.TemporaryDirectory(prefix="tacit-growth-") as folder:
        start = counted(callgrind([release / "tacit", "--version"], folder))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        small = {name: pool.submit(count, release, name, WORKLOADS[name][1]) for name in names}
        large = {(name, size): pool.submit(count, release, name, {**WORKLOADS[name][1], size: 10 * WORKLOADS[name][1][size]})
                 for name in names for size in WORKLOADS[name][2]}
        print(f"{'workload':14} {'size':>18} {'instructions, from and to':>28} {'exponent':>9}", flush=True)
        for (name, size), future in large.items():
            least, most = small[name].result() - start, future.result() - start
            sizes = WORKLOADS[name][1]
            print(f"{name:14} {f'{size} = {sizes[size]:,}, x 10':>18} {f'{least / 1e6:,.1f} M  {most / 1e6:,.1f} M':>28} "
                  f"{math.log10(most / least):9.2f}", flush=True)


if __name__ == "__main__":
    main()
