#!/usr/bin/env python3
"""How long a round of many sites takes on one coordinator: brokers, coordinator and mutual TLS as in a real federation,
every site with its own certificate, signing key and connection; a program plays 2,000 sites.
BROKERS: one, or so many of which the first is the coordinator's, and the others are bridged to it and share the sites; then the last
of them is killed before the last round and started again.

usage: coordinator.py TACIT COORDINATOR_LOAD [SITES [ARMS [BROKERS [ROUNDS]]]]      TACIT_BENCH_PKI: a folder of certificates that stays;
TACIT_BENCH_GATE: a file that the rounds wait for
"""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples/live"))
from federation import BROKER_PROGRAM, Federation, free_port

PKI_NAMES = 4000  # in one call
SITES_EACH = 2000
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
BRIDGE = """
connection bridge
address 127.0.0.1:{port}
remote_clientid {name}
bridge_cafile {pki}/ca.crt
bridge_certfile {pki}/{name}.crt
bridge_keyfile {pki}/{name}.key
bridge_protocol_version mqttv50
bridge_max_packet_size 0
cleansession true
notifications false
restart_timeout 1
topic tacit/v1/crowd/up/# out 1
topic tacit/v1/crowd/key/+ out 1
topic tacit/v1/crowd/key/coordinator in 1
topic tacit/v1/crowd/down/# in 1
topic tacit/v1/crowd/to/# in 1
"""


class Crowd(Federation):
    """With further brokers, leaf-1 and so on, that are bridged to the first."""

    def make_certificates(self, *others):
        names = [*self.sites, *others]
        for start in range(0, len(names), PKI_NAMES):
            self.run_tacit("pki", "--directory", self.pki, *names[start:start + PKI_NAMES])

    def write_brokers(self, leaves):
        self.leaves = {name: free_port() for name in leaves}
        for name, port in {"broker": self.port, **self.leaves}.items():
            (self.folder / name).mkdir()
            self.run_tacit("broker-config", "--directory", self.folder / name, "--coordinator", self.folder / "coordinator.yaml",
                           "--pki", self.pki, "--port", port)
        with open(self.folder / "broker/tacit.acl", "a", encoding="utf-8") as access:
            access.writelines(f"\nuser {name}\ntopic readwrite tacit/v1/{self.name}/#\n" for name in leaves)
        for name in leaves:
            with open(self.folder / name / "mosquitto.conf", "a", encoding="utf-8") as config:
                config.write(BRIDGE.format(port=self.port, name=name, pki=self.pki))

    def words_of(self, name):
        return [BROKER_PROGRAM, "-c", str(self.folder / name / "mosquitto.conf")] if name in self.leaves else super().words_of(name)

    def used(self):
        """Of each process: seconds of the processor, and most MB of memory."""
        found = {}
        for name, process in self.processes.items():
            if process.poll() is not None:
                continue
            fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            peak = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())
            if peak:  # else it ends
                found[name] = (int(fields[11]) + int(fields[12])) / TICKS_PER_S, int(peak[1]) / 1024
        return found


def lines_of(federation, player):
    return [line for line in (federation.folder / f"{player}.log").read_text().splitlines(keepends=True) if line.endswith("\n")]


def play(federation, load, site_count, arm_count, rounds):
    """A program has SITES_EACH sites, with eight descriptors each; the rounds begin when all sites have the first order, and TACIT_BENCH_GATE,
    if it names a file, is there. What the first program says is shown, and of each round the slowest program's time."""
    count = -(-site_count // SITES_EACH)
    players = [f"sites-{i}" for i in range(count)]
    ports = ",".join(map(str, federation.leaves.values() or [federation.port]))
    gate, held = federation.folder / "gate", os.environ.get("TACIT_BENCH_GATE")
    for i, player in enumerate(players):
        first, end = site_count * i // count, site_count * (i + 1) // count
        federation.start(player, [load, str(federation.pki), ports, "crowd", str(site_count), str(arm_count), str(first), str(end - first), str(gate)])
    last, said = list(federation.leaves)[-1:], 0
    while federation.processes[players[0]].poll() is None:
        time.sleep(0.1)
        lines = lines_of(federation, players[0])
        for line in lines[said:]:
            said += 1
            print(f"{line}  so far: " + "; ".join(f"{name} {seconds:.1f} s of CPU, {peak:.0f} MB" for name, (seconds, peak) in federation.used().items()),
                  flush=True)
            if last and line.startswith(f"epoch {rounds - 1}:"):
                federation.processes[last[0]].kill()
                federation.processes[last[0]].wait()
                federation.start(last[0])
                print(f"  {last[0]} was killed and started again", flush=True)
        if not gate.exists() and all(lines_of(federation, player) for player in players) and (held is None or os.path.exists(held)):
            gate.touch()
    for player in players:
        if federation.processes[player].wait(600) != 0:
            sys.exit("coordinator_load failed: " + (federation.folder / f"{player}.log").read_text()[-500:])
        print(f"{player}: {lines_of(federation, player)[-1]}", end="")
    for number in range(1, rounds + 1):
        took = [int(found[1]) for player in players for line in lines_of(federation, player) if (found := re.match(rf"epoch {number}:.*whole round (\d+) ms", line))]
        if took:
            print(f"round {number}: {max(took) / 1000:.2f} s from order to order")


def main():
    tacit, load = sys.argv[1:3]
    site_count, arm_count, brokers, rounds = (int(sys.argv[3 + i]) if len(sys.argv) > 3 + i else value
                                              for i, value in enumerate((1000, 100, 1, 5)))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # the brokers', too
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tacit-bench-"))
    federation = Crowd(tacit, folder, "crowd", [f"site-{i}" for i in range(site_count)], [f"arm-{i}" for i in range(arm_count)])
    federation.pki = pathlib.Path(os.environ.get("TACIT_BENCH_PKI", federation.pki))
    leaves = [f"leaf-{i}" for i in range(1, brokers)]
    try:
        federation.make_certificates(*leaves)
        federation.write_coordinator({"horizon": 10**9, "epsilon": 1.0, "rounds": rounds, "gap": 2.0 ** -rounds,
                                      "deadline_s": 600})
        federation.write_brokers(leaves)
        federation.start("broker")
        federation.await_broker()
        for name in leaves:
            federation.start(name)
        federation.start("coordinator")
        play(federation, load, site_count, arm_count, rounds)
    finally:
        federation.stop_all()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
