#!/usr/bin/env python3
"""How long a round of many sites takes on one coordinator: broker, coordinator and mutual TLS as in a real federation,
every site with its own certificate and connection; the sites themselves are played by one program.

usage: coordinator.py TACIT COORDINATOR_LOAD [SITES [ARMS]]
"""
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples/live"))
from federation import Federation

ROUNDS = 5


def main():
    tacit, load = sys.argv[1:3]
    site_count = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    arm_count = int(sys.argv[4]) if len(sys.argv) > 4 else 100
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # the broker's, too
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tacit-bench-"))
    federation = Federation(tacit, folder, "crowd", [f"site-{i}" for i in range(site_count)],
                            [f"arm-{i}" for i in range(arm_count)])
    try:
        federation.make_certificates()
        federation.write_broker()
        federation.write_coordinator({"horizon": 10**9, "epsilon": 1.0, "rounds": ROUNDS, "gap": 2.0 ** -ROUNDS,
                                      "deadline_s": 600})
        federation.start("broker")
        federation.await_broker()
        federation.start("coordinator")
        subprocess.run([load, str(federation.pki), str(federation.port), "crowd", str(site_count), str(arm_count)],
                       check=True, timeout=600)
    finally:
        federation.stop_all()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
