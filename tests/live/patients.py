"""Applications that play in turn, so that nothing is left to the scheduler: for the tests of what is equal to the last
byte. See support.py."""
import http.client
import signal
import time

from support import UnixConnection, call, require, wait_for


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
