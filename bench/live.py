#!/usr/bin/env python3
"""Durable decisions and rewards a second on one agent of a live federation, with 8 callers.

usage: live.py TACIT AGENT_LOAD
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples/live"))
from federation import Federation

SITES = ["hospital-0", "hospital-1", "hospital-2"]
ARMS = ["insulin", "metformin", "glipizide", "glyburide", "none"]
HORIZON = 10**9


def set_up(federation):
    federation.make_certificates()
    federation.write_broker()
    # One epoch that does not end here: every decision is planned, and every reward enters its sum.
    federation.write_coordinator({"horizon": HORIZON, "epsilon": 1.0, "rounds": 1, "gap": 0.001})
    for site in SITES:
        federation.write_agent(site, {"epsilon": 1.0, "budget": 1.0, "range": [0, 1], "agents_max": 10,
                                      "rounds_max": 40, "pulls_max": HORIZON},
                               decisions={"caller_calls_per_s": 10**6})  # all callers are one user
    for name in ("broker", "coordinator", *SITES):
        federation.start(name)


def main():
    tacit, load = sys.argv[1:3]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tacit-bench-"))
    federation = Federation(tacit, folder, "bench", SITES, ARMS)
    try:
        set_up(federation)
        while (federation.site_status(SITES[0]) or {}).get("phase") != "exploring":
            time.sleep(0.1)
        for batch in (1, 4, 8, 16, 64, 256):
            subprocess.run([load, str(federation.socket_of(SITES[0])), "8", str(batch), "4"], check=True)
    finally:
        federation.stop_all()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
