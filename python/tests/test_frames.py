"""Frames, and a real Dask cluster of two workers on this machine: what needs packages that the package itself does without."""
import json
import math
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pandas
import tacit
from distributed import Client, LocalCluster

SOURCE = Path(__file__).resolve().parents[1]
EXPERIMENT = {"name": "frames", "horizon": 3000, "runs": 6, "agents": 2, "environment": {"kind": "bernoulli", "means": [0.3, 0.5]}, "network": {"kind": "star"},
              "protocol": {"kind": "index", "index": "ucb1"}, "privacy": {"mode": "none"}}


class Frames(unittest.TestCase):
    def test_a_row_a_run_a_slot_and_a_cell(self):
        result = tacit.run(EXPERIMENT)
        frame = result.to_frame()
        self.assertEqual((len(frame), frame["regret"].mean()), (6, result.metrics["regret"]["mean"]))
        curve = result.curve.to_frame()
        self.assertEqual(list(curve["t"]), result.curve["t"])
        compared = tacit.compare({**EXPERIMENT, "protocol": {"kind": "elimination"}, "privacy": {"mode": "sound"}}, over={"privacy.epsilon": [1, math.inf]}).to_frame()
        self.assertEqual(list(compared["privacy.epsilon"]), [1, math.inf])
        self.assertEqual(len(compared.columns), len(set(compared.columns)))
        sites = tacit.run({**EXPERIMENT, "environment": {"kind": "bernoulli", "means": [[0.3, 0.5], [0.9, 0.2]]}}).sites.to_frame()
        self.assertEqual(list(sites["truth_best_arm"]), ["arm 1", "arm 0"])
        users = tacit.run(name="users", runs=2, horizon=30, agents=6, environment={"kind": "latency", "source": "two-groups"},
                          protocol={"kind": "select", "users_per_round": 2}, privacy={"mode": "none"})
        self.assertEqual(list(users.profiles["time_by_round"].to_frame()["mean"]), users.profiles["time_by_round"]["mean"])

    def test_means_and_logs_may_be_frames(self):
        means = pandas.DataFrame([[0.2, 0.6]], columns=["left", "right"])
        self.assertEqual(tacit.run({**EXPERIMENT, "environment": {"kind": "bernoulli", "means": means}}).answer["arms"], ["arm 1"])
        log = pandas.DataFrame({"site": ["a", "b"] * 30, "arm": ["x", "y", "y", "x"] * 15, "won": [1, 0, 1, 1] * 15})
        result = tacit.run({**EXPERIMENT, "environment": {"kind": "logged", "logged": {"csv": log, "agent": "site", "arm": "arm", "reward": "won"}}})
        self.assertEqual(result.answer["arms"], ["x"])

    def test_the_example_runs(self):
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                runpy.run_path(str(SOURCE / "example.py"))
                self.assertIn("<svg", Path("regret.svg").read_text(encoding="utf-8"))
            finally:
                os.chdir(here)
        self.assertEqual([line for line in (SOURCE / "example.py").read_text(encoding="utf-8").splitlines()
                          if line.strip() and line not in (SOURCE / "README.md").read_text(encoding="utf-8") and not line.startswith('"""')], [])


class Dask(unittest.TestCase):
    def test_a_cluster_s_shares_are_one_machine_s_results(self):
        whole = tacit.compare(EXPERIMENT, over={"agents": [1, 2]})
        with tempfile.TemporaryDirectory() as folder, LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster, \
                Client(cluster) as client:
            found = tacit.compare(EXPERIMENT, over={"agents": [1, 2]}, executor=client.get_executor(), shares=4, out=folder)
            self.assertEqual([cell.to_dict()["metrics"] for cell in found.cells], [cell.to_dict()["metrics"] for cell in whole.cells])
            self.assertEqual([cell.to_dict()["curve"] for cell in found.cells], [cell.to_dict()["curve"] for cell in whole.cells])


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not here (openmpi-bin)")
class Mpi(unittest.TestCase):
    def test_its_workers_shares_are_one_machine_s_results(self):
        whole = tacit.compare(EXPERIMENT, over={"agents": [1, 2]})
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "script.py"
            script.write_text(f"""import json, tacit
from mpi4py.futures import MPIPoolExecutor
if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        found = tacit.compare({EXPERIMENT}, over={{"agents": [1, 2]}}, executor=pool, shares=4, out={folder + "/out"!r})
    print(json.dumps([cell.metrics for cell in found.cells]))
""", encoding="utf-8")
            told = subprocess.run(["mpirun", "--oversubscribe", "-n", "3", sys.executable, "-m", "mpi4py.futures", script], capture_output=True, text=True, check=False,
                                  env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertEqual(json.loads(told.stdout), [cell.metrics for cell in whole.cells])


if __name__ == "__main__":
    unittest.main()
