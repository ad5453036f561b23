"""Two protocols and a policy of one's own beside each other: a table and a figure (README.md has it, too)."""
import tacit


class Greedy(tacit.Policy):
    def start(self) -> None:
        self.counts, self.sums = [0] * self.arm_count, [0.0] * self.arm_count

    def choose(self, t: int, agent: int) -> int:
        return t if t < self.arm_count else max(range(self.arm_count), key=lambda arm: self.sums[arm] / self.counts[arm])

    def update(self, t: int, agent: int, arm: int, reward: float) -> None:
        self.counts[arm] += 1
        self.sums[arm] += reward


experiment = {"name": "coupons", "horizon": 20000, "runs": 20, "agents": 3, "environment": {"kind": "bernoulli", "means": [0.3, 0.5, 0.45]},
              "protocol": {"kind": "phased-index", "confidence": 0.95}, "privacy": {"mode": "sound", "epsilon": 1}}
both = tacit.compare([experiment, Greedy()], over={"protocol": ["=", {"kind": "elimination"}]})
print(both.to_frame()[["protocol", "regret", "regret_ci95"]])
both.figure().save("regret.svg")
