"""Applications that play in turn, so that nothing is left to the scheduler: for the tests of what is equal to the last
byte. See support.py."""
import http.client
import os
import signal
import struct
import subprocess
import time

from support import UnixConnection, call, require, wait_for
import wire


class Patients:
    """Those of one site. Played only while something is planned; a dead agent is started again, with its next tapes."""

    def __init__(self, federation, site, reward_of, crash_at=None):
        self.federation, self.site, self.reward_of = federation, site, reward_of
        self.hooks = {"TACIT_CRASH_AT": crash_at} if crash_at else {}
        self.life = 0
        self.sequence = []  # what an observer at the application sees, in order
        self.served = {}

    def start(self):
        tape = self.federation.folder / f"{self.site}.{self.life}"
        self.federation.start(self.site, TACIT_TEST_TAPE=str(tape), **(self.hooks if self.life == 0 else {}))

    def revive(self):
        code = self.federation.processes[self.site].poll()
        if code is None:
            return
        require(code == -signal.SIGKILL, f"{self.site} ended with {code}")
        self.sequence.append("died")
        self.life += 1
        self.start()

    def ask(self, path, body):
        for _ in range(500):
            self.revive()
            connection = UnixConnection(self.federation.socket_of(self.site))
            try:
                code, answer = call(connection, "POST", path, body)
                require(code == 200, f"{path}: {code} {answer}")
                return answer
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)
            finally:
                connection.close()
        raise AssertionError(f"{self.site} does not answer")

    def status(self):
        """A report leaves on a tick, and so may a site die on one, when nobody asks it anything."""
        def look():
            self.revive()
            return self.federation.site_status(self.site)
        return wait_for(f"{self.site} answers", look)

    def reward(self, arm):
        number = self.served[arm] = self.served.get(arm, -1) + 1
        return self.reward_of(arm, number)

    def play(self):
        """All that is planned now."""
        while count := self.status()["unserved"]:
            decisions = self.ask("/v1/decisions/batch", {"requests": [{}] * min(count, 100)})["decisions"]
            rewards = [{"id": one["id"], "reward": self.reward(one["arm"])} for one in decisions]
            answers = self.ask("/v1/rewards/batch", {"rewards": rewards})["rewards"]
            self.sequence += [[one["id"], one["arm"], one["kind"], answer["status"]]
                              for one, answer in zip(decisions, answers, strict=True)]


def distinct(payloads):
    return list(dict.fromkeys(payloads))


# ---- Play in phases (src/wire/phased.proto) ----

def numbers(code, data):
    return list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))


def plan_of(payload):
    """Of an order: last, leader, {arm: pulls}, seen."""
    body = wire.fields(wire.fields(payload)[17])
    arms, counts = numbers("I", body.get(4, b"")), numbers("Q", body.get(5, b""))
    return body[1], body[2], dict(zip(arms, counts, strict=True)), body[3]


def start_patients(federation, rewards):
    """Of all sites, with rewards in steps: {(site, arm): [..]}."""
    patients = [Patients(federation, site, lambda arm, number, index=index: rewards[index, arm][number] / wire.STEPS)
                for index, site in enumerate(federation.sites)]
    for one in patients:
        one.start()
    return patients


def expect_said(federation, patients, messages, rewards, without_opening, told):
    """All were played, and what sites reported and the coordinator ordered is what was said in the simulator. told: of an order,
    what is the same in an answer to one site: the standing order again, and what is held."""
    for index, (site, one) in enumerate(zip(federation.sites, patients, strict=True)):
        pulls = {arm: sum(1 for entry in one.sequence if entry[1] == arm) for arm in range(len(federation.means))}
        require(all(pulls[arm] == len(rewards[index, arm]) for arm in pulls), f"{site}: {pulls}")
        seen = distinct(without_opening(payload) for topic, payload in federation.tap.seen
                        if topic == federation.topic(f"up/{site}/{federation.protocol}") and wire.is_report(payload))
        require(seen == [payload for payload in messages[index] if wire.is_report(payload)], f"{site}: other reports")
    orders = [payload for payload in messages[wire.HUB] if wire.is_order(payload)]
    seen = distinct(payload for topic, payload in federation.tap.seen if topic == federation.topic(f"down/{federation.protocol}"))
    require(seen == orders, f"other orders: {seen} against {orders}")
    standing = {wire.epoch_of(payload): told(payload) for payload in orders}
    for topic, payload in federation.tap.seen:
        if topic.endswith(f"/{federation.protocol}") and "/to/" in topic and wire.is_order(payload):
            require(told(payload) == standing[wire.epoch_of(payload)], f"{topic}: another order: {payload.hex()}")
    require(len(orders) >= 3, f"hardly a run: {len(orders)} orders")


def simulate_phased(federation, seed, deviation, aggregators=1):
    """The simulator's run; it leaves its entropy as tapes."""
    return told_by("TACIT_SIMULATED_PHASED_PROGRAM", federation, seed, len(federation.sites), federation.horizon,
                   federation.epsilon, federation.confidence, aggregators, deviation, *federation.means)


def told_by(program, federation, *words):
    """Messages by sender, rewards by (site, arm), and with two aggregators totals by round."""
    done = subprocess.run([os.environ[program], *map(str, (federation.folder, *words))], capture_output=True,
                          text=True, check=True)
    messages, rewards, totals = {}, {}, {}
    for line in done.stdout.splitlines():
        kind, first, second, *rest = line.split()
        if kind == "message":
            messages.setdefault(int(first), []).append(bytes.fromhex(rest[0]))
        elif kind == "totals":
            totals[int(first)] = list(map(int, [second, *rest]))
        else:
            rewards.setdefault((int(first), int(second)), []).extend(map(int, rest))
    for index, site in enumerate(federation.sites):
        (federation.folder / f"{index}.noise").rename(federation.folder / f"{site}.0.noise")
    return messages, rewards, totals


def play_in_turn(federation, patients):
    """Each plays its plan when all have the order, until the last one."""
    wait_for("the coordinator answers", federation.status)
    while not federation.is_finished():
        epoch = federation.status()["epoch"]
        for one in patients:
            wait_for(f"{one.site} has order {epoch}", lambda one=one: one.status()["epoch"] == epoch)
        for one in patients:
            one.play()
        wait_for("the round is over", lambda: all(one.status() for one in patients) and federation.is_at(epoch + 1))
    federation.wait_for_sites("knows", federation.has_decided)
