"""The commands of the program from Python, and policies of one's own. TACIT_CLI names the program of the build, which the package's is held against."""
import concurrent.futures
import gc
import json
import math
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np
import tacit
from tacit import _experiment

CLI = os.environ["TACIT_CLI"]
MEANS = [0.3, 0.5, 0.45, 0.2]
UCB1 = {"name": "own", "horizon": 2000, "runs": 4, "agents": 2, "environment": {"kind": "bernoulli", "means": MEANS}, "network": {"kind": "star"},
        "protocol": {"kind": "index", "index": "ucb1"}, "privacy": {"mode": "none"}}


class Ucb1(tacit.Policy):
    """The rule of the program's own, to hold one against the other."""

    name = "ucb1"

    def start(self):
        self.counts = [0] * self.arm_count
        self.sums = [0.0] * self.arm_count

    def choose(self, t, agent):
        if t < self.arm_count:
            return t
        log = 2 * math.log(t)
        return max(range(self.arm_count), key=lambda arm: self.sums[arm] / self.counts[arm] + math.sqrt(log / self.counts[arm]))

    def update(self, t, agent, arm, reward):
        assert reward in (0.0, 1.0) and t < self.horizon
        self.counts[arm] += 1
        self.sums[arm] += reward


class Drawn(tacit.Policy):
    def choose(self, t, agent):
        return int(self.rng.integers(self.arm_count))


class Halves(tacit.Policy):
    """Blocks: each arm for a tenth of the run, then the best."""

    def start(self):
        self.totals = [0.0] * self.arm_count

    def plan(self, t, left):
        share = self.horizon // 10
        if t < share * self.arm_count:
            return t // share, min(share, left)
        return max(range(self.arm_count), key=self.totals.__getitem__), left

    def observe(self, arm, count, total):
        assert 0 <= total <= count
        self.totals[arm] += total / count


class Beta(tacit.Environment):
    means = [0.25, 0.5, 0.75]

    def pull(self, agent, arm, count, rng):
        return rng.beta(arm + 1, 3 - arm, count)


class Last(tacit.Policy):
    """Says what it heard when it ends: every reward is heard, the last one, too."""

    heard = None

    def start(self):
        self.count = 0

    def choose(self, t, agent):
        return 1

    def update(self, t, agent, arm, reward):
        self.count += 1
        if self.count == self.horizon and self.run == 0 and agent == 1:
            with open(Last.heard, "w", encoding="utf-8") as file:
                file.write(f"{t} {arm} {reward}")


class Losing(concurrent.futures.ProcessPoolExecutor):
    """One of its workers ends while another plays."""

    def submit(self, *given):
        found = super().submit(*given)
        super().submit(os._exit, 1)
        return found


def random_experiment(chance):
    arms = chance.randint(2, 6)
    kind = chance.choice(["elimination", "phased-index", "votes", "index", "gossip-ucb"])
    made = {"name": f"random {kind}", "seed": chance.randint(1, 1000), "runs": chance.randint(1, 4), "horizon": chance.randint(2000, 60000),
            "agents": chance.randint(2, 6), "environment": {"kind": "bernoulli", "means": [round(chance.random(), 3) for _ in range(arms)]},
            "privacy": {"mode": "sound", "epsilon": chance.choice([0.5, 1.0, 5.0])}, "protocol": {"kind": kind}}
    if kind == "votes":
        made |= {"privacy": {"mode": "none"}, "protocol": {"kind": kind, "accuracy": 0.3, "eta": 0.2}}
    elif kind == "index":
        made |= {"privacy": {"mode": "none"}, "protocol": {"kind": kind, "index": chance.choice(["ucb1", "thompson", "moss"])}}
    elif kind == "gossip-ucb":
        made |= {"network": {"kind": "ring"}, "agents": chance.randint(3, 6)}
    return made


class Commands(unittest.TestCase):
    def test_results_are_the_command_line_s(self):
        chance = random.Random(20261124)
        ran = 0
        for _ in range(int(os.environ.get("TACIT_EXPERIMENTS_COUNT", "20"))):
            experiment = random_experiment(chance)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "experiment.yaml"
                written = {**experiment, "environment": {**experiment["environment"], "means": str(Path(folder) / "means.csv")}}
                Path(written["environment"]["means"]).write_text(",".join(map(repr, experiment["environment"]["means"])) + "\n", encoding="utf-8")
                path.write_text(json.dumps(written), encoding="utf-8")
                told = subprocess.run([CLI, "run", "--json", "--quiet", path], capture_output=True, text=True, check=False)
                if told.returncode == 2:
                    with self.assertRaises(tacit.ExperimentError) as wrong:
                        tacit.run(experiment)
                    self.assertEqual(str(wrong.exception).split(": ", 1)[1], told.stderr.strip().split(": ", 1)[1])
                    continue
                found = tacit.run(experiment)
                self.assertEqual((found._out / "summary.json").read_text(encoding="utf-8"), told.stdout, experiment)
                ran += 1
        self.assertGreater(ran, 5)

    def test_an_experiment_is_a_mapping_sections_a_path_or_values(self):
        first = tacit.run(UCB1)
        self.assertEqual(tacit.run(**UCB1).to_dict(), first.to_dict())
        self.assertEqual(tacit.run({**UCB1, "environment": {"kind": "bernoulli", "means": np.array(MEANS)}}).to_dict(), first.to_dict())
        self.assertEqual(first.answer["arms"], ["arm 1"])
        self.assertEqual(len(first.runs), 4)
        self.assertEqual(sum(row["regret"] for row in first.runs.rows) / 4, first.metrics["regret"]["mean"])
        rows = {"site": ["a", "b"] * 20, "arm": ["x", "y", "y", "x"] * 10, "won": [1, 0, 1, 1] * 10}
        logged = tacit.run(name="rows", horizon=1000, runs=2, agents=2, protocol={"kind": "index"}, privacy={"mode": "none"}, network={"kind": "star"},
                           environment={"kind": "logged", "logged": {"csv": rows, "agent": "site", "arm": "arm", "reward": "won"}})
        self.assertEqual(logged.answer["arms"], ["x"])

    def test_what_is_wrong_says_where(self):
        with self.assertRaises(tacit.ExperimentError) as wrong:
            tacit.run({**UCB1, "agents": 0})
        self.assertEqual((wrong.exception.key, wrong.exception.line), ("agents", 5))
        self.assertIn("allowed: a whole number from 1", str(wrong.exception))
        self.assertIsInstance(wrong.exception, ValueError)
        with self.assertRaises(FileNotFoundError):
            tacit.check("nowhere.yaml")
        with self.assertRaisesRegex(FileNotFoundError, r"environment\.means: .*gone\.csv") as missing:
            tacit.run({**UCB1, "environment": {"kind": "bernoulli", "means": "gone.csv"}})
        with self.assertRaises(FileNotFoundError):
            tacit.check({**UCB1, "environment": {"kind": "logged", "logged": {"csv": "gone.csv", "split": "random", "arm": "a", "reward": "r"}}})
        self.assertEqual((isinstance(missing.exception, tacit.ExperimentError), missing.exception.key), (True, "environment.means"))
        with self.assertRaisesRegex(TypeError, "what is to be run"):
            tacit.run()
        with self.assertRaisesRegex(TypeError, "list of values"):
            tacit.compare(UCB1, over={"agents": 3})

    def test_check_plan_evaluate_bound(self):
        self.assertIn("epsilon per reward: infinite", tacit.check(UCB1).text)
        bound = tacit.bound(pulls=9000, noises=3, epsilon=1, mean=0.97)
        self.assertTrue(bound["lower"] < 0.97 < bound["upper"])
        found = tacit.plan({"name": "plan", "horizon": 20000, "runs": 5, "agents": 3, "environment": {"kind": "bernoulli", "means": MEANS},
                            "protocol": {"kind": "phased-index", "confidence": 0.9}, "privacy": {"mode": "sound", "epsilon": 2}}, runs=10)
        self.assertIn("phased-index", [row["protocol"] for row in found.plans.rows])
        rows = [{"arm": "xy"[i % 2], "won": int(i % 3 == 0), "p": 0.5} for i in range(600)]
        dated = tacit.plan(gap=0.3, name="dated", horizon=5000, runs=5, agents=1, protocol={"kind": "phased-index", "confidence": 0.9},
                           privacy={"mode": "sound", "epsilon": 2}, environment={"kind": "logged", "logged": {
                               "csv": [{**row, "won": int(i % 10 < 2 + 5 * (i % 2)), "day": f"2024-05-{6 + i // 60:02}"} for i, row in enumerate(rows)],
                               "split": "random", "arm": "arm", "reward": "won", "time": "day"}})
        self.assertEqual((dated.traffic["Monday"], dated.traffic["Sunday"]), (60, 60))
        self.assertEqual(dated.plans[0]["days_needed"], math.ceil(dated.plans[0]["slots_needed"] / 60))
        self.assertEqual(found.traffic, {})
        valued = tacit.evaluate(name="log", horizon=100, runs=3, agents=1, protocol={"kind": "index"}, privacy={"mode": "none"}, network={"kind": "star"},
                                environment={"kind": "logged", "logged": {"csv": rows, "split": "random", "arm": "arm", "reward": "won", "propensity": "p"}})
        self.assertEqual({row["arm"] for row in valued.estimates.rows}, {"x", "y"})

    def test_policies_with_contexts_are_valued_on_rows(self):
        chance = random.Random(5)
        best = {"new": "b", "old": "a"}
        rows = []
        for _ in range(4000):
            segment, arm = chance.choice(["new", "old"]), chance.choice("ab")
            rows.append({"segment": segment, "arm": arm, "reward": int(chance.random() < (0.7 if best[segment] == arm else 0.3))})
        found = tacit.evaluate(rows=rows, propensity="uniform", contexts=["segment"], policies={
            "trained": "ridge", "rule": lambda rows: [best[row["segment"]] for row in rows], "even": lambda rows: [[0.5, 0.5]] * len(rows)}).policies
        told = {row["policy"]: row for row in found.rows}
        for name, worth in (("trained", 0.7), ("rule", 0.7), ("even", 0.5)):
            self.assertLess(abs(told[name]["doubly_robust"] - worth), 2 * told[name]["doubly_robust_ci95"] + 1e-3, name)
        self.assertGreater(told["rule"]["gain"], told["rule"]["gain_ci95"])
        with self.assertRaisesRegex(ValueError, "'short' returned 3 choices for 4000 rows"):
            tacit.evaluate(rows=rows, propensity="uniform", policies={"short": lambda rows: "aba"})
        with self.assertRaisesRegex(ValueError, r"rows of 3 probabilities; allowed: 2, one an arm, in this order: \['a', 'b'\]"):
            tacit.evaluate(rows=rows, propensity="uniform", policies={"wide": lambda rows: [[1, 0, 0]] * len(rows)})
        with self.assertRaisesRegex(tacit.ExperimentError, "'c' is no arm of the log"):
            tacit.evaluate(rows=rows, propensity="uniform", policies={"strange": lambda rows: ["c"] * len(rows)})
        with self.assertRaisesRegex(ValueError, "no column 'age'"):
            tacit.evaluate(rows=rows, propensity="uniform", contexts=["age"])
        found = tacit.evaluate(rows={"arm": ["a", "b", math.nan] * 40, "reward": [1, 0, 1] * 40, "age": [30.0, None, 50.0] * 40}, propensity="uniform",
                               policies={"even": lambda rows: [[0.5, 0.5]] * 120}).estimates.rows  # a row without an arm is none of an arm "nan"
        self.assertEqual({row["arm"]: row["ips"] for row in found}, {"a": 1, "b": 0})
        with self.assertRaisesRegex(tacit.ExperimentError, "a context has one in each row"):  # and numbers stay numbers
            tacit.evaluate(rows={"arm": ["a", "b"] * 40, "reward": [1, 0] * 40, "age": [30, 40, 50, math.nan] * 20}, propensity="uniform", contexts=["age"],
                           policies={"trained": "ridge"})
        with self.assertRaisesRegex(ValueError, r"differ in length: \{'arm': 3, 'reward': 2\}"):
            tacit.evaluate(rows={"arm": ["a", "b", "a"], "reward": [1, 0]}, propensity="uniform")

    def test_a_comparison_has_a_cell_a_setting_and_a_picture(self):
        found = tacit.compare(UCB1, over={"protocol.index": ["ucb1", "moss"], "agents": [1, 2]})
        self.assertEqual([cell.settings for cell in found.cells], [{"protocol.index": index, "agents": agents} for index in ("ucb1", "moss") for agents in (1, 2)])
        self.assertTrue("<svg" in found.figure()._repr_html_() and found.figure()._repr_html_() == found.figure().svg)
        self.assertIn("<svg", found._repr_html_())
        with tempfile.TemporaryDirectory() as folder:
            self.assertTrue((found.save(Path(folder) / "kept") / "report.html").exists())
            once = tacit.compare(UCB1, over={"agents": [1, 2]}, out=Path(folder) / "shares")
            self.assertEqual(tacit.compare(UCB1, over={"agents": [1, 2]}, out=Path(folder) / "shares").to_dict()["results"][0]["metrics"],
                             once.to_dict()["results"][0]["metrics"])

    def test_sites_are_those_of_the_table_and_profiles_have_rows(self):
        found = tacit.run({**UCB1, "agents": 2, "environment": {"kind": "bernoulli", "means": [[0.1, 0.9], [0.8, 0.4]]},
                           "protocol": {"kind": "elimination"}, "privacy": {"mode": "sound", "epsilon": 5}})
        with (found._out / "sites.csv").open(encoding="utf-8") as file:
            header = file.readline().strip().split(",")
        self.assertEqual(({*found.sites[0]} - {"name"}, found.sites[1]["truth_best_arm"]), ({*header} - {"site"}, "arm 0"))
        users = tacit.run(name="users", runs=2, horizon=30, agents=6, environment={"kind": "latency", "source": "two-groups"},
                          protocol={"kind": "select", "users_per_round": 2}, privacy={"mode": "none"})
        rounds = users.profiles["time_by_round"]
        self.assertEqual(len(rounds["rows"]), len(rounds["mean"]))

    @unittest.skipUnless(hasattr(os, "openpty"), "there are no terminals here")
    def test_progress_is_shown_where_somebody_looks_on(self):
        leader, follower = os.openpty()
        play = f"import tacit; tacit.run({ {**UCB1, 'horizon': 200000, 'runs': 200}!r})"
        for error, shows in ((follower, True), (subprocess.DEVNULL, False)):
            with subprocess.Popen([sys.executable, "-c", play], stderr=error) as child:
                self.assertEqual(child.wait(), 0)
            os.set_blocking(leader, False)
            try:
                shown = os.read(leader, 4096)
            except BlockingIOError:
                shown = b""
            self.assertEqual(b"%" in shown or b"runs" in shown, shows, shown)
        os.close(leader)
        os.close(follower)

    def test_an_executor_s_shares_are_one_machine_s_results(self):
        given = [{**UCB1, "runs": 12}, Ucb1()]
        over = {"agents": [1, 3]}
        whole = tacit.compare(given, over=over)
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
            found = tacit.compare(given, over=over, executor=pool, shares=3)
            with tempfile.TemporaryDirectory() as folder:
                kept = tacit.compare(given, over=over, executor=pool, shares=3, out=folder)
                self.assertEqual([cell.metrics for cell in kept.cells], [cell.metrics for cell in whole.cells])
        self.assertEqual([cell.metrics for cell in found.cells], [cell.metrics for cell in whole.cells])
        self.assertEqual([cell.to_dict()["curve"] for cell in found.cells], [cell.to_dict()["curve"] for cell in whole.cells])
        with self.assertRaises(tacit.ExperimentError), concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
            tacit.compare({**UCB1, "agents": 1}, over={"nokey": [1]}, runs=0, executor=pool)

    def test_a_lost_worker_costs_its_share_and_the_same_call_goes_on(self):
        given, over = {**UCB1, "horizon": 200000, "runs": 12}, {"agents": [1, 3]}
        spawn = multiprocessing.get_context("spawn")
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            with self.assertRaises(concurrent.futures.BrokenExecutor), Losing(2, mp_context=spawn) as pool:
                tacit.compare(given, over=over, executor=pool, shares=3, out=out)
            with concurrent.futures.ProcessPoolExecutor(2, mp_context=spawn) as pool:
                found = tacit.compare(given, over=over, executor=pool, shares=3, out=out)
        self.assertEqual([cell.metrics for cell in found.cells], [cell.metrics for cell in tacit.compare(given, over=over).cells])

    def test_reproduce_finds_the_papers_of_the_package(self):
        with self.assertRaisesRegex(tacit.ExperimentError, "p1"):
            tacit.reproduce("p99", fast=True)

    def test_reproduce_gives_claims_and_figures(self):
        found = tacit.reproduce("p1-table1", fast=True)
        self.assertEqual({(claim["paper"], claim["figure"]) for claim in found.claims}, {("p1", "table1")})
        self.assertEqual([claim["verdict"] for claim in found.claims], [claim["recorded"] for claim in found.claims])
        self.assertEqual(found.figures(), ["p1/table1.svg"])
        self.assertEqual(found.to_dict()["papers"][0]["paper"], "p1")

    def test_python_m_tacit_is_the_program(self):
        done = subprocess.run([sys.executable, "-m", "tacit", "--version"], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, r"^tacit \d")
        done = subprocess.run([sys.executable, "-m", "tacit", "train", "--data", "x"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, "without networks" in done.stderr), (2, True))
        done = subprocess.run([sys.executable, "-m", "tacit", "agent", "--config", "x"], capture_output=True, text=True, check=False, env={**os.environ, "PATH": ""})
        self.assertEqual((done.returncode, "tacitd" in done.stderr), (1, True))

    def test_import_is_quick_and_takes_nothing_along(self):
        said = subprocess.run([sys.executable, "-c", "import time; t = time.perf_counter(); import tacit; print(time.perf_counter() - t); "
                               "import sys; print(any(name in sys.modules for name in ('numpy', 'cffi', 'pandas', 'matplotlib')))"], capture_output=True, text=True, check=True).stdout.split()
        self.assertLess(float(said[0]), 0.15)
        self.assertEqual(said[1], "False")

    def test_an_interrupt_ends_the_work_at_once(self):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is born deaf to it
        for more in ({}, {"policy": Drawn()}):
            timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            start = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                tacit.run({**UCB1, "horizon": 10**9, "runs": 50, "protocol": {"kind": "index", "index": "thompson"}}, **more)
            self.assertLess(time.monotonic() - start, 5)

    def test_folders_go_with_their_results(self):
        folder = tacit.run(UCB1)._folder.path
        gc.collect()
        self.assertFalse(folder.exists())


class Own(unittest.TestCase):
    def test_a_rule_of_both_sides_has_the_same_law(self):
        """UCB1 here and in C over the same instances: regret within the intervals of both."""
        found = tacit.compare([{**UCB1, "runs": 40}, Ucb1()])
        theirs, ours = (cell.metrics["regret"] for cell in found.cells)
        self.assertLess(abs(theirs["mean"] - ours["mean"]), 2 * math.hypot(theirs["ci95"], ours["ci95"]))
        self.assertEqual(found.cells[1].answer["arms"], ["arm 1"])

    def test_the_same_policy_twice_gives_the_same_bytes(self):
        first = tacit.run(UCB1, policy=Drawn(), threads=1)
        second = tacit.run(UCB1, policy=Drawn(), threads=2)
        self.assertEqual((first._out / "summary.json").read_bytes(), (second._out / "summary.json").read_bytes())
        self.assertGreater(first.metrics["regret"]["sd"], 0)  # runs are different ones
        self.assertNotEqual(first.metrics, tacit.run(UCB1, policy=Drawn(), seed=99).metrics)

    def test_blocks_and_slots_and_every_reward_is_heard(self):
        found = tacit.run({**UCB1, "horizon": 10**6}, policy=Halves())
        self.assertAlmostEqual(found.metrics["regret"]["mean"], 2 * 10**5 * (0.2 + 0.05 + 0.3))
        with tempfile.TemporaryDirectory() as folder:
            Last.heard = str(Path(folder) / "heard")
            tacit.run(UCB1, policy=Last())
            self.assertRegex(Path(Last.heard).read_text(encoding="utf-8"), r"^1999 1 [01]\.0$")

    def test_it_plays_beside_any_experiment_with_baselines(self):
        found = tacit.compare([{**UCB1, "protocol": {"kind": "elimination"}, "privacy": {"mode": "sound", "epsilon": 1}, "horizon": 20000,
                                "baselines": ["alone-ucb1"], "network": {"kind": "complete"}}, Ucb1(), Drawn()])
        self.assertEqual([cell.error for cell in found.cells], [None] * 3)
        self.assertEqual([cell.settings.get("protocol") for cell in found.cells], [None, "{kind: own, policy: ucb1}", "{kind: own, policy: Drawn}"])
        regrets = [cell.metrics["regret"]["mean"] for cell in found.cells]
        self.assertLess(regrets[1], regrets[2])

    def test_a_name_may_have_what_means_something_in_a_file(self):
        for name in ("UCB (mine)", "a, b: c", "x {y", "f(x", "# one", 'say "no"', "007", "- a"):
            policy = Drawn()
            policy.name = name
            self.assertGreater(tacit.run(UCB1, policy=policy).metrics["regret"]["mean"], 0)
            self.assertEqual([cell.error for cell in tacit.compare([UCB1, policy, Halves()]).cells], [None] * 3)

    def test_an_environment_is_played_by_policies_and_by_the_program_s_protocols(self):
        made = {**UCB1, "environment": Beta()}
        first = tacit.compare([{**made, "privacy": {"mode": "sound", "epsilon": 2, "range": [0, 1]}, "protocol": {"kind": "elimination"}, "horizon": 5000}, Halves()])
        self.assertEqual([cell.error for cell in first.cells], [None, None])
        self.assertEqual([cell.answer["arms"] for cell in first.cells], [["arm 2"]] * 2)
        again = tacit.run(made, policy=Halves())
        self.assertEqual(tacit.run(made, policy=Halves()).to_dict(), again.to_dict())
        self.assertEqual(again.metrics["regret"]["mean"], tacit.run(made, policy=Halves(), threads=1).metrics["regret"]["mean"])
        for told in ([0.5], [math.nan] * 200, "no"):
            Wrong = type("Wrong", (Beta,), {"pull": lambda self, agent, arm, count, rng, told=told: told})
            with self.assertRaises((tacit.ExperimentError, tacit.PolicyError)):
                tacit.run({**UCB1, "environment": Wrong()}, policy=Halves())
        other = Beta()
        other.means = [mean / 2 for mean in Beta.means]
        pair = [{**made, "environment": each, "runs": 2, "horizon": 200} for each in (Beta(), other)]
        with self.assertRaisesRegex(ValueError, "two of them are called 'Beta'"):
            tacit.compare([*pair, Halves()])
        other.name = "half"
        self.assertEqual([cell.error for cell in tacit.compare([*pair, Halves()]).cells], [None] * 4)
        with self.assertRaisesRegex(ValueError, "means is empty"):
            tacit.run({**UCB1, "environment": tacit.Environment()})

    def test_what_a_policy_may_not_return_is_named(self):
        for told, allowed in ((4, "an arm from 0 to 3"), (-1, "an arm"), (1.0, "an arm"), (None, "an arm"), (True, "an arm")):
            Wrong = type("Wrong", (tacit.Policy,), {"choose": lambda self, t, agent, told=told: told if t == 7 else 0})
            with self.assertRaisesRegex(tacit.ExperimentError, f"^policy Wrong, run 0, agent 0, slot 7: {told} is not allowed; allowed: {allowed}"):
                tacit.run(UCB1, policy=Wrong(), threads=1)
        for told in (3, (0,), (0, 0), (0, 10**9), (9, 1)):
            Wrong = type("Wrong", (tacit.Policy,), {"plan": lambda self, t, left, told=told: told})
            with self.assertRaisesRegex(tacit.ExperimentError, "slot 0: .* is not allowed; allowed: "):
                tacit.run(UCB1, policy=Wrong(), threads=1)
        Broken = type("Broken", (tacit.Policy,), {"choose": lambda self, t, agent: 1 // 0})
        with self.assertRaisesRegex(tacit.PolicyError, "ZeroDivisionError"):
            tacit.run(UCB1, policy=Broken())
        with self.assertRaisesRegex(tacit.PolicyError, "choose\\(t, agent\\) or plan"):
            tacit.run(UCB1, policy=tacit.Policy())
        with self.assertRaisesRegex(TypeError, "an instance of a class derived"):
            tacit.run(UCB1, policy=Ucb1)

    def test_the_command_line_says_where_own_policies_are_played(self):
        done = subprocess.run([CLI, "run", "-"], input=json.dumps({**UCB1, "environment": {"kind": "bernoulli", "generated": {"arms": 3}},
                                                                  "protocol": {"kind": "own", "policy": "x"}}), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("played from Python", done.stderr)


class Values(unittest.TestCase):
    def test_numbers_of_numpy_and_inf_are_written_as_files_have_them(self):
        self.assertEqual(_experiment.plain({"a": np.float64(0.5), "b": np.arange(2), "c": math.inf, "d": (1, [2])}), {"a": 0.5, "b": [0, 1], "c": "inf", "d": [1, [2]]})
        self.assertEqual(_experiment.word({"kind": "own"}), '{"kind": "own"}')
        self.assertEqual(_experiment.word(["\U0001f355", "\u00e9", "\\ud83c\\udf55"]), r'["\U0001f355", "\u00e9", "\\ud83c\\udf55"]')

    def test_names_may_have_any_character(self):
        for name in ("Pizza \U0001f355", "\u00d6l", "back\\slash"):
            self.assertEqual(tacit.run({**UCB1, "name": name, "runs": 1}).to_dict()["name"], name)


if __name__ == "__main__":
    unittest.main()
