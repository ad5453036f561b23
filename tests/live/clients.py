#!/usr/bin/env python3
"""The clients for applications, Python and JavaScript, against real agents: whatever dies, each reward counts once.
See support.py."""
import json
import math
import pathlib
import shutil
import subprocess
import sys
import time

from support import Application, Skipped, check_end, main, require, test, wait_for

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = HERE.parents[1] / "clients"
sys.path.insert(0, str(CLIENTS))
import tacit_client  # noqa: E402

NODE = shutil.which("node") or shutil.which("nodejs")


class PythonApplication(Application):
    """Rewards through the buffer that hands them in together; some decisions are closed instead."""

    def serve(self, count):
        if self.connection is None:
            self.connection = tacit_client.Client(self.federation.socket_of(self.site))
        decisions = self.connection.decide_many(count)
        with self.connection.rewards(count=30) as rewards:
            for decision in decisions:
                rewards.add(decision, self.federation.means[decision.arm])
                self.counts[decision.kind] += 1
        require(not rewards.refused and set(rewards.counts) <= {"accepted", "repeated"}, f"{rewards.refused} {rewards.counts}")
        return any(one.kind == "planned" for one in decisions)


class NodeApplication(Application):
    """A program of its own, which is told how many to serve, line by line."""
    process = None

    def serve(self, count):
        if self.process is None:
            self.process = subprocess.Popen([NODE, HERE / "client.js", self.federation.socket_of(self.site)], text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        print(json.dumps({"count": count, "means": self.federation.means}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        require(line, "the program in JavaScript has ended")
        kinds = json.loads(line)
        for kind, number in kinds.items():
            self.counts[kind] += number
        return kinds.get("planned", 0) > 0

    def run(self):
        super().run()
        if self.process is not None:
            self.process.stdin.close()
            code = self.process.wait(30)
            if code != 0 and self.trouble is None:
                self.trouble = AssertionError(f"the program in JavaScript ended with {code}")


def play(federation, kinds):
    for site, kind in zip(federation.sites, kinds, strict=True):
        federation.applications.append(kind(federation, site))
        federation.applications[-1].start()


@test
def clients_outlive_their_agents_and_nothing_counts_twice(federation_of):
    if NODE is None:
        raise Skipped("node is not installed")
    federation = federation_of([0.875, 0.5, 0.8125])
    federation.start_all()
    client = tacit_client.Client(federation.socket_of("site-0"))
    wait_for("the run is joined", lambda: federation.phase("site-0") == "exploring")
    result = client.result()
    require((result["decided"], result["winner"], result["since"]) == (False, None, None), f"{result}")
    require(sorted(one["name"] for one in result["arms"]) == federation.arms, f"{result}")
    play(federation, [PythonApplication, NodeApplication, Application])
    for epoch in (1, 2):
        wait_for(f"epoch {epoch}", lambda epoch=epoch: federation.is_at(epoch))
        for site in ("site-0", "site-1"):
            federation.restart(site)
    wait_for("site-0 knows", lambda: federation.phase("site-0") == "decided", 60)
    result = client.result()
    require((result["decided"], result["winner"]) == (True, "arm 0"), f"{result}")
    require([(one["name"], one["in"], one["rank"]) for one in result["arms"]] ==
            [("arm 0", True, 1), ("arm 1", False, None), ("arm 2", False, None)], f"{result}")
    said = time.strptime(result["since"], "%Y-%m-%dT%H:%M:%SZ")
    require(abs(time.mktime(said) - time.timezone - time.time()) < 600, f"{result['since']} is not now")
    federation.restart("site-0")
    require(client.result() == result, "the answer is another one after a restart")
    client.disconnect()
    check_end(federation)


def refusal_of(wrong):
    return tacit_client.Refused(f"reward must be a finite number, and is {wrong!r:.100}")


@test
def what_a_client_asks_for_in_vain_is_said_in_the_agents_words(federation_of):
    federation = federation_of([0.5, 0.25])
    federation.start_all(["coordinator", "site-0"])
    wait_for("the run is joined", lambda: federation.phase("site-0") == "exploring")
    client = tacit_client.Client(federation.socket_of("site-0"), patience_s=0.5)
    one = client.decide(unit="somebody", key="first")
    require(client.decide(unit="somebody", key="first") == one, "another decision for the same key")
    require(client.decide(unit="somebody").arm == one.arm, "another arm for the same unit")
    require([client.reward(one, 1), client.reward(one.id, 1)] == ["accepted", "repeated"], "a reward counts twice")
    closed = client.decide()
    require([client.close(closed), client.close(closed), client.reward(closed, 1)] == ["closed", "repeated", "late"], "closing")
    for ask, code, words in ((lambda: client.reward("9" * 32, 1), 404, "no decision has this id"),
                             (lambda: client.reward("x", 1), 400, "id"),
                             (lambda: client.decide(unit=""), 400, "unit must be a text")):
        try:
            ask()
            raise AssertionError(f"nothing was refused with {code}")
        except tacit_client.Refused as refusal:
            require(refusal.code == code and words in str(refusal), f"{refusal.code}: {refusal}")
    good, bad = client.decide_many([{"key": "second"}, {"unit": "u" * 200}])
    require(good.key == "second" and isinstance(bad, tacit_client.Refused), f"{good} {bad}")
    said = [str(one) for one in client.reward_many([("9" * 32, math.nan), (good, 0.5), ("9" * 32, 1)])]
    require("finite" in said[0] and said[1] == "accepted" and "no decision" in said[2], f"one reward of three: {said}")
    wide = client.decide_many([{"unavailable": [1] * 1000}] * 600)  # 1.8 MB, which no body may have
    require({one.arm for one in wide} == {0} and len({one.id for one in wide}) == 600, f"{wide[:3]}")
    require(len(client.decide_many(2500)) == 2500, "more than one request takes")
    require("site-0" in client.statement() or len(client.statement()) > 100, "no statement")
    federation.stop("site-0")
    for wrong in (None, True, "0.5", [1], math.nan, math.inf, 10 ** 400):  # nobody is asked: nobody is there
        try:
            client.reward(one, wrong)
            raise AssertionError(f"{wrong!r} was taken for a reward")
        except tacit_client.Refused as refusal:
            require("finite number" in str(refusal), f"{refusal}")
        require([str(said) for said in client.reward_many([(one, wrong)])] == [str(refusal_of(wrong))], f"{wrong!r} of many")
    try:
        client.decide()
        raise AssertionError("nobody answered, and nothing was raised")
    except tacit_client.Unreachable as trouble:
        require("POST /v1/decisions" in str(trouble), f"{trouble}")
    client.disconnect()


if __name__ == "__main__":
    main()
