#!/usr/bin/env python3
"""Durable decisions and rewards a second on one agent of a live federation, with 8 callers.

usage: live.py TACIT AGENT_LOAD
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples/live"))
import demo


def main():
    tacit, load = sys.argv[1:3]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tacit-bench-"))
    options = argparse.Namespace(horizon=10**9, rounds=20, epsilon=1.0)
    federation = demo.Federation(str(pathlib.Path(tacit).resolve()), folder, options)
    try:
        federation.set_up()
        demo.Application(federation, 0, {(0, arm): [0] for arm in range(len(demo.ARMS))}).connect()
        time.sleep(1)
        for batch in (1, 4, 8, 16, 64, 256):
            subprocess.run([load, str(folder / "hospital-0.sock"), "8", str(batch), "4"], check=True)
    finally:
        federation.stop()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
