"""The package against the C core, and what it promises by itself. SELECT_REPLAY names the C program, TACIT_PROGRAM tacit."""
import doctest
import inspect
import itertools
import math
import multiprocessing
import os
import pickle
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np
import tacit
from tacit import _native, _release, _selector

USERS = 30
SIZES = [100 + user * 13 % 50 for user in range(USERS)]


def latency(user, turn):
    return math.nan if user == 3 else 0.04 + ((user * 7919 + turn * 104729) % 1000) / 1000.0


def number(text):
    return float.fromhex(text)


class Structs(unittest.TestCase):
    def test_members_stand_as_in_the_headers(self):
        """Two of one size change places unseen by the package's own look at sizes."""
        headers = "".join(path.read_text(encoding="utf-8") for path in (Path(__file__).parents[2] / "include/tacit").glob("*.h"))
        text = re.sub(r"/\*.*?\*/", "", headers, flags=re.S)
        mirrored = [kind for kind in map(_native.ffi.typeof, map("struct {}".format, _native.ffi.list_types()[1])) if kind.fields]
        self.assertGreaterEqual(len(mirrored), 7)
        for kind in mirrored:
            body = re.search(rf"{kind.cname} {{(.*?)\n}};", text, re.S)[1]
            members = re.findall(r"(\w+)(?:\[\w+\])?;", body)
            self.assertEqual([name for name, _ in kind.fields], members, kind.cname)


class Pages(unittest.TestCase):
    def test_all_that_is_public_says_what_it_does(self):
        """Of a function, too, what it raises, unless it asks for nothing that could be wrong."""
        functions = []
        for name in tacit.__all__:
            found = getattr(tacit, name)
            if not isinstance(found, type) and not inspect.isfunction(found):
                continue  # a number, or the name of a type
            self.assertTrue((found.__doc__ or "").strip(), name)
            if not isinstance(found, type):
                functions.append(name)
            for member, value in vars(found).items() if isinstance(found, type) else ():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    self.assertTrue((value.__doc__ or "").strip(), f"{name}.{member}")
        self.assertIn("evaluate", functions)
        for name in functions:
            self.assertRegex(getattr(tacit, name).__doc__, r"[A-Z]\w*Error", name)

    def test_training_says_where_it_is(self):
        with self.assertRaisesRegex(AttributeError, "not in the wheel"):
            getattr(tacit, "train")


class Selection(unittest.TestCase):
    def replay(self, method, epsilon, rounds):
        told = subprocess.run([os.environ["SELECT_REPLAY"], method, str(epsilon), str(rounds)], capture_output=True,
                              text=True, check=True).stdout.splitlines()
        selector = tacit.Selector(SIZES, users_per_round=5, epsilon=epsilon, latency_min=0.05, method=method, seed=77)
        for turn in range(rounds):
            users = selector.select()
            self.assertEqual(users.tolist(), [int(word) for word in told[turn].split()], (method, turn))
            shuffled = users[::-1]
            selector.observe(shuffled, [latency(int(user), turn) for user in shuffled], deadline=2.0)
            if turn % 17 == 0:
                selector = pickle.loads(pickle.dumps(selector))
        scores = selector.scores()
        for user in range(USERS):
            count, mean, spent = told[rounds + user].split()
            self.assertEqual(scores["counts"][user], int(count))
            self.assertEqual(scores["means"][user], number(mean))
            self.assertEqual(scores["spent"][user], number(spent))

    def test_choices_and_state_are_those_of_the_core(self):
        for method, epsilon in itertools.product(("exact", "sa", "random", "clustered"), (math.inf, 40.0)):
            self.replay(method, epsilon, 120)

    def test_asking_twice_changes_nothing(self):
        for method in ("exact", "sa", "vanilla-sa", "random", "clustered"):
            selector = tacit.Selector(SIZES, users_per_round=5, latency_min=0.05, method=method)
            for turn in range(20):
                users = selector.select()
                data = selector.to_bytes()
                self.assertEqual(selector.select().tolist(), users.tolist())
                self.assertEqual(tacit.Selector.from_bytes(data).select().tolist(), users.tolist())
                selector.observe(users, [latency(int(user), turn) for user in users])

    def test_exact_is_the_best_of_all_sets(self):
        exact = tacit.Selector(SIZES[:9], users_per_round=3, latency_min=0.05)
        for turn in range(40):
            users = exact.select()
            if turn >= 3:
                best = max(exact.explain(each).value for each in itertools.combinations(range(9), 3))
                self.assertAlmostEqual(exact.explain(users).value, best, delta=1e-9)
            exact.observe(users, [latency(int(user), turn) for user in users])

    def test_explanation_adds_up_and_its_runner_up_is_a_set(self):
        selector = tacit.Selector(SIZES, users_per_round=5, latency_min=0.05)
        for turn in range(20):
            users = selector.select()
            selector.observe(users, [latency(int(user), turn) for user in users])
        users = selector.select()
        told = selector.explain(users)
        self.assertAlmostEqual(told.latency_term + told.generalization_term + told.privacy_term, told.value, delta=1e-9)
        self.assertAlmostEqual(selector.scores()["ucb"][told.slowest], told.latency_term)
        self.assertLessEqual(told.runner_up.value, told.value + 1e-9)
        other = [user for user in users if user != told.runner_up.leaves] + [told.runner_up.comes]
        self.assertAlmostEqual(selector.explain(other).value, told.runner_up.value, delta=1e-9)

    def test_only_who_is_there_and_has_budget_is_chosen(self):
        selector = tacit.Selector([1] * 70, users_per_round=3, epsilon=1.0, budgets=[0.5, 0.5], latency_min=1.0)
        self.assertEqual(selector.select(available=[69, 5]).tolist(), [5, 69])
        self.assertEqual(selector.select(available=np.arange(70) == 68).tolist(), [68])
        self.assertEqual(selector.select(available=[]).tolist(), [])
        for _ in range(2):
            selector.observe([5], [2.0])
        self.assertEqual(selector.scores()["spent"][5], 1.0)
        self.assertEqual(selector.select(available=[69, 5]).tolist(), [69])
        before = selector.to_bytes()
        with self.assertRaises(tacit.StateError):
            selector.observe([4, 5], [2.0, 2.0])
        self.assertEqual(selector.to_bytes(), before)

    def test_what_is_wrong_is_refused_and_changes_nothing(self):
        selector = tacit.Selector([1, 2, 3], users_per_round=2, latency_min=1.0)
        before = selector.to_bytes()
        for users, latencies in (([0, 0], [1, 1]), ([0, 3], [1, 1]), ([-1], [1]), ([0], [0.0]), ([0], [1, 2]),
                                 ([0.5], [1]), ([0], [-1.0])):
            with self.assertRaises(ValueError, msg=(users, latencies)):
                selector.observe(users, latencies)
        self.assertEqual(selector.to_bytes(), before)
        for wrong in ({"users_per_round": 4}, {"users_per_round": 0}, {"epsilon": -1.0}, {"method": "best"}, {"beta": 0.5},
                      {"epsilon": 1.0, "budgets": [0.9, 0.2]}, {"budgets": [1.0]}, {"latency_min": 0.0}, {"seed": -1},
                      {"alpha": math.nan}, {"epsilon": 1.0, "eta": 0.0}):
            with self.assertRaises(ValueError, msg=wrong):
                tacit.Selector([1, 2, 3], **{"users_per_round": 2, "latency_min": 1.0, **wrong})
        for sizes in ([], [0, 1], [[1, 2]], [1.5, 2]):
            with self.assertRaises(ValueError, msg=sizes):
                tacit.Selector(sizes, users_per_round=1, latency_min=1.0)
        for users in ([], [0, 0], [7]):
            with self.assertRaises(ValueError, msg=users):
                selector.explain(users)
        for arguments in (([1.0], [1.0], 2), ([math.nan], [1.0], 1), ([1.0], [math.inf], 1), ([1.0, 2.0], [1.0], 1)):
            with self.assertRaises(ValueError, msg=arguments):
                tacit.select_best(*arguments)
        brute = tacit.Selector([1] * 300, users_per_round=15, latency_min=1.0, method="brute")
        brute.observe(np.arange(300), np.full(300, 2.0))
        with self.assertRaisesRegex(ValueError, "too many sets"):
            brute.select()

    def test_bytes_that_are_not_whole_are_refused(self):
        data = tacit.Selector([1, 2, 3], users_per_round=2, latency_min=1.0).to_bytes()
        for place in range(0, len(data), 7):
            wrong = data[:place] + bytes([data[place] ^ 1]) + data[place + 1:]
            with self.assertRaises(tacit.StateError):
                tacit.Selector.from_bytes(wrong)
        for length in (0, 10, len(data) - 1):
            with self.assertRaises(tacit.StateError):
                tacit.Selector.from_bytes(data[:length])

    def test_best_of_random_columns_is_that_of_enumeration(self):
        chance = np.random.default_rng(5)
        for _ in range(200):
            users, m = 8, int(chance.integers(1, 9))
            ucb = chance.integers(0, 5, users) / 4.0
            weight = chance.integers(-4, 5, users) / 4.0
            chosen, value = tacit.select_best(ucb, weight, m)
            best = max(ucb[list(each)].min() + weight[list(each)].sum() for each in itertools.combinations(range(users), m))
            self.assertEqual(value, best)
            self.assertEqual(ucb[chosen].min() + weight[chosen].sum(), best)


def release_in_another_process(path, name, queue):
    queue.put(tacit.noise_update(np.ones(50), clip=1.0, ledger=path, round_id=name, model_hash=b"m").tobytes())


RELEASE_FOR_EVER = """
import hashlib, sys, numpy, tacit
for turn in range(300):
    steps = tacit.noise_update(numpy.ones(200), clip=1.0, ledger=sys.argv[1], round_id=b"%d" % turn, model_hash=b"m")
    print(turn, hashlib.sha256(steps.tobytes()).hexdigest(), flush=True)
"""


class Release(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "ledger")

    def noise(self, update, name, **others):
        return tacit.noise_update(np.asarray(update, dtype=float),
                                  **{"clip": 1.0, "ledger": self.path, "round_id": name, "model_hash": b"m", **others})

    def test_same_round_gives_the_same_bytes_and_costs_nothing(self):
        tacit.create_ledger(self.path, dataset="d", epsilon=40.0)
        first = self.noise(np.ones(100), b"a")
        self.assertEqual(self.noise(np.zeros(100), b"a").tobytes(), first.tobytes())
        self.assertEqual(tacit.look_at_ledger(self.path).release_count, 1)
        self.assertNotEqual(self.noise(np.ones(100), b"b").tobytes(), first.tobytes())
        with self.assertRaises(tacit.StateError):
            self.noise(np.ones(100), b"a", model_hash=b"n")
        with self.assertRaises(tacit.StateError):
            self.noise(np.ones(99), b"a")
        with self.assertRaisesRegex(tacit.StateError, "with clip 1.0"):  # its integers would be worth twice as much
            self.noise(np.ones(100), b"a", clip=2.0)
        self.assertEqual(tacit.look_at_ledger(self.path).release_count, 2)

    def test_geometric_budget_ends_at_participation_342_and_never_exceeds_the_total(self):
        tacit.create_ledger(self.path, dataset="d", epsilon=40.0)
        for turn in range(341):
            self.noise([0.0], b"%d" % turn)
        with self.assertRaises(tacit.StateError):
            self.noise([0.0], b"341")
        told = tacit.look_at_ledger(self.path)
        self.assertEqual(told.release_count, 341)
        with sqlite3.connect(self.path) as database:
            prices = [row[0] for row in database.execute("SELECT epsilon_nano FROM releases ORDER BY number")]
        self.assertEqual(sum(prices), told.spent_nano)
        self.assertLessEqual(told.spent_nano, 40 * 10 ** 9)
        self.assertEqual(prices, sorted(prices, reverse=True))

    def test_noise_has_the_scale_of_the_price(self):
        # The mean of |Laplace| of d = 20000 numbers has a standard error of 1/sqrt(d): 6 of them, 2e-9 false alarms.
        tacit.create_ledger(self.path, dataset="d", epsilon=1.0, budgets=[0.75])
        steps = self.noise(np.zeros(20000), b"a")
        scale = 2 * tacit.VECTOR_STEPS / 0.75
        self.assertAlmostEqual(np.abs(steps).mean() / scale, 1.0, delta=6 / math.sqrt(20000))
        self.assertLess(abs(steps.mean()) / scale, 6 * math.sqrt(2 / 20000))

    def test_update_survives_where_the_price_is_large_and_is_clipped(self):
        # Scale 2 Q / 9e4: |noise| above 50 scales has probability below 1e-20.
        tacit.create_ledger(self.path, dataset="d", epsilon=1e5, budgets=[9e4])
        steps = self.noise([3.0, -1.0, 0.0], b"a", clip=2.0)
        near = 100 * tacit.VECTOR_STEPS / 9e4 + 4
        for got, wanted in zip(steps, (0.75, -0.25, 0.0)):
            self.assertAlmostEqual(got, wanted * tacit.VECTOR_STEPS, delta=near)

    def test_an_update_that_is_no_number_is_released_as_nothing(self):
        for index, wrong in enumerate((math.nan, math.inf, -math.inf)):
            self.path = os.path.join(self.folder.name, f"ledger {index}")
            tacit.create_ledger(self.path, dataset="d", epsilon=1e5, budgets=[9e4])
            self.assertLess(np.abs(self.noise([1.0, wrong], b"a")).max(), 100 * tacit.VECTOR_STEPS / 9e4)

    def test_processes_share_one_budget(self):
        tacit.create_ledger(self.path, dataset="d", epsilon=40.0)
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        names = [b"a", b"b", b"a", b"b"]
        processes = [context.Process(target=release_in_another_process, args=(self.path, name, queue)) for name in names]
        for process in processes:
            process.start()
        answers = {queue.get(timeout=120) for _ in processes}
        for process in processes:
            process.join()
        self.assertEqual(len(answers), 2)
        self.assertEqual(tacit.look_at_ledger(self.path).release_count, 2)

    def test_a_killed_process_loses_no_release_and_makes_none_anew(self):
        tacit.create_ledger(self.path, dataset="d", epsilon=40.0)
        told = {}
        for kill in range(6):
            process = subprocess.Popen([sys.executable, "-c", RELEASE_FOR_EVER, self.path], stdout=subprocess.PIPE, text=True)
            wanted = 7 * kill + 3
            for _ in range(wanted):
                turn, digest = process.stdout.readline().split()
                self.assertEqual(told.setdefault(turn, digest), digest)
            time.sleep(kill / 1000)
            process.kill()
            for line in process.stdout.read().splitlines():
                if len(line.split()) == 2 and len(line.split()[1]) == 64:
                    turn, digest = line.split()
                    self.assertEqual(told.setdefault(turn, digest), digest)
            process.stdout.close()
            process.wait()
        view = tacit.look_at_ledger(self.path)
        with sqlite3.connect(self.path) as database:
            prices = [row[0] for row in database.execute("SELECT epsilon_nano FROM releases")]
        self.assertEqual((len(prices), sum(prices)), (view.release_count, view.spent_nano))
        self.assertGreaterEqual(view.release_count, len(told))
        self.assertLessEqual(view.release_count, len(told) + 1)  # one was made and not told any more

    def test_what_is_no_ledger_is_refused_and_none_is_overwritten(self):
        with self.assertRaises(tacit.StateError):
            self.noise([1.0], b"a")
        Path(self.path).write_bytes(b"something else, long enough to be looked at as a data base" * 20)
        with self.assertRaises(tacit.StateError):
            self.noise([1.0], b"a")
        with self.assertRaises(FileExistsError):
            tacit.create_ledger(self.path, dataset="d", epsilon=1.0)
        for epsilon in (0.0, math.inf, 2e5):
            with self.assertRaises(ValueError):
                tacit.create_ledger(self.path + "2", dataset="d", epsilon=epsilon)
        with self.assertRaises(sqlite3.Error):
            tacit.create_ledger(self.path + "2", dataset=None, epsilon=1.0)
        self.assertFalse(os.path.exists(self.path + "2"))  # nothing half made is in the way
        tacit.create_ledger(self.path + "2", dataset="d", epsilon=1.0)
        for wrong in ({"update": []}, {"update": [[1.0]]}, {"clip": 0.0}, {"clip": math.inf}, {"round_id": b""},
                      {"round_id": "a"}, {"model_hash": None}):
            with self.assertRaises(ValueError, msg=wrong):
                self.noise(wrong.pop("update", [1.0]), wrong.pop("round_id", b"a"), **wrong)

    def test_a_damaged_release_is_not_given_out(self):
        tacit.create_ledger(self.path, dataset="d", epsilon=40.0)
        self.noise(np.ones(3), b"a")
        with sqlite3.connect(self.path) as database:
            database.execute("UPDATE releases SET steps = zeroblob(24)")
        with self.assertRaises(tacit.StateError):
            self.noise(np.ones(3), b"a")

    def test_a_release_that_fails_is_not_charged(self):
        tacit.create_ledger(self.path, dataset="d", epsilon=40.0)
        with sqlite3.connect(self.path) as database:
            database.execute("CREATE TRIGGER full BEFORE UPDATE ON ledger BEGIN SELECT RAISE(ABORT, 'disk'); END")
        with self.assertRaises(sqlite3.DatabaseError):
            self.noise(np.ones(3), b"a")
        told = tacit.look_at_ledger(self.path)
        self.assertEqual((told.release_count, told.spent_nano), (0, 0))


EXPERIMENT = {"name": "python", "seed": 3, "runs": 4, "horizon": 60, "checkpoints": 5, "agents": 30,
              "environment": {"kind": "latency"}, "network": {"kind": "star"},
              "protocol": {"kind": "select", "users_per_round": 5}, "privacy": {"mode": "paper", "epsilon": 40}}


class Program(unittest.TestCase):
    def test_runs_a_mapping_and_a_file_alike(self):
        result = tacit.run(EXPERIMENT)
        self.assertEqual(result.metrics["rounds"]["mean"], 60)
        self.assertEqual(len(result.curve["t"]), len(result.curve["regret"]["mean"]))
        self.assertIsNone(result.answer)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "experiment.yaml"
            path.write_text(str(EXPERIMENT).replace("'", '"'), encoding="utf-8")
            self.assertEqual(tacit.run(path, threads=1).to_dict(), result.to_dict())

    def test_settings_overrule_the_file(self):
        result = tacit.run(EXPERIMENT, set={"horizon": 30, "protocol.selector": "random"}, runs=2, seed=9)
        told = result.to_dict()
        self.assertEqual((told["runs"], told["seed"], told["horizon"]), (2, 9, 30))

    def test_a_wrong_key_is_a_value_error_in_the_program_s_words(self):
        with self.assertRaisesRegex(ValueError, "protocol.users_per_round"):
            tacit.run(EXPERIMENT, set={"protocol.users_per_round": 99})


def load_tests(loader, tests, pattern):
    for module in (_selector, _release):
        tests.addTests(doctest.DocTestSuite(module))
    return tests


if __name__ == "__main__":
    unittest.main()
