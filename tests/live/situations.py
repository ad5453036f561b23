#!/usr/bin/env python3
"""What holds a run up, and who learns of it: one table of situations, made with real daemons and a broker, by parties, and
what `tacit status --json` of each ends with and names. See support.py.

In these files waiting_after_s is 6, not 60: the minute is a key that any operator may set."""
import html
import json
import os
import re
import signal
import subprocess
import time

from votes import Votes  # first: support, which it imports, has another file of this name in its path
from gossip import Gossip
from phased import Phased
from federation import free_port
from support import PATIENCE, TACIT, Application, date, main, require, test, wait_for

MEANS = [0.875, 0.75, 0.125]
AFTER_S = 6
OK, WAITING, ATTENTION, DOWN = range(4)


# ---- Looking ----

def status_of(federation, party):
    """Exit code and what it says."""
    code, said = federation.told(party, "--json")
    return code, json.loads(said)


def seen(federation, party):
    """(exit code, {cause: names})"""
    code, status = status_of(federation, party)
    causes = status.get("causes", [])
    for one in causes:
        require(set(one) == {"cause", "state", "who", "what", "do", "command"} and one["what"] and one["do"], f"{one}")
        require(not one["who"] or all(name in one["what"] for name in one["who"][:8]) or one["cause"] == "callers", f"{one}")
    require(len({one["cause"] for one in causes}) == len(causes), f"{party}: a cause stands twice: {causes}")
    worst = {OK: [], WAITING: ["waiting"], ATTENTION: ["attention"], DOWN: []}[code]
    require([one["state"] for one in causes][:1] == worst, f"{party}: {code} is not the worst of {causes}")
    for together in CONTRADICTORY:
        require(len(together & {one["cause"] for one in causes}) < 2, f"{party}: {causes} contradict each other")
    return code, {one["cause"]: one["who"] for one in causes}


def holds(federation, expected):
    """Within the minute (and what a busy machine needs), everybody says what the table says."""
    end = time.monotonic() + PATIENCE * 3 * AFTER_S
    while True:
        found = {party: seen(federation, party) for party in expected}
        wrong = [f"{party}: {found[party]}, not {row}" for party, row in expected.items()
                 if found[party] not in (row if isinstance(row, list) else [row])]
        if not wrong:
            check_pages(federation, [party for party in expected if found[party][0] != DOWN])
            return
        require(time.monotonic() < end, "\n".join(wrong))
        time.sleep(0.3)


def boxes_of(federation, party):
    """What the dashboard says is wrong: {(what, command)}."""
    page = federation.text(party, "/")
    require("<h2>Answer</h2>" in page and page.endswith("</html>\n"), page)
    section = page.partition('<section id="causes">')[2].partition("</section>")[0]
    return {(html.unescape(what), html.unescape(command)) for what, command in BOX.findall(section)}


BOX = re.compile(r'<h3>([^<]*)</h3><p>[^<]*</p>\n(?:<p><code>([^<]*)</code></p>)?')
TIMES = re.compile(r"\d+ s\b|\d+ MiB")


def check_pages(federation, parties):
    """Of each the dashboard says what its status says, with the commands."""
    for party in parties:
        def same(party=party):
            causes = {(one["what"], one["command"]) for one in status_of(federation, party)[1]["causes"]}
            return *({(TIMES.sub("", what), command) for what, command in those} for those in (causes, boxes_of(federation, party))),
        wait_for(f"the page of {party} is its status", lambda: same()[0] == same()[1], 20)


# Of each line at most one may stand: the others would deny it.
CONTRADICTORY = [{"refused", "consent", "unannounced"}, {"rewards", "decisions", "task", "grant", "order", "sites", "removed"},
                 {"connecting", "disconnected"}, {"halted", "blocked", "forgotten", "removed", "refuses-all"}]


# ---- Making ----

def say_soon(federation, policies=(), without=()):
    """All of whom say after six seconds what does not move."""
    run = federation.run_section()
    for key in without:
        del run[key]
    federation.write_coordinator(run, waiting_after_s=AFTER_S)
    for site in federation.sites:
        federation.write_agent(site, {**federation.policy(), **dict(policies).get(site, {})}, waiting_after_s=AFTER_S)
    return federation


def star(federation_of, policies=(), means=None, **options):
    """Three sites below a coordinator."""
    return say_soon(federation_of(means or MEANS, **{"rounds": 4, "gap": 0.25, **options}), policies)


def ring(federation_of, means=None, without=(), **more):
    """Five peers, each of whom judges for itself."""
    federation = star(federation_of, means=means, sites=5)
    run = federation.run_section(**more)
    for key in ("quorum", *without):
        del run[key]
    federation.write_coordinator(run, waiting_after_s=AFTER_S)
    federation.write_network({"kind": "ring"})
    return federation


def begin(federation, applied=None):
    federation.start_all()
    federation.wait_for_sites("joins", federation.has_joined, 60)
    for site in federation.sites if applied is None else applied:
        federation.apply([site])


def control(federation, name, *words):
    """By the file of the daemon, from wherever one stands."""
    done = subprocess.run([TACIT, "control", str(federation.folder / f"{name}.yaml"), *words], cwd="/", capture_output=True,
                          text=True, timeout=60, check=False)
    require(done.returncode == 0, f"{words}: {done.stdout} {done.stderr}")


class Forgetful(Application):
    """Forgets to reward the first decision of the plan; all others at once."""
    forgotten = None

    def serve(self, count):
        decisions = self.ask("/v1/decisions/batch", {"requests": [{}] * count})["decisions"]
        if self.forgotten is None:
            self.forgotten = next((one["id"] for one in decisions if one["kind"] == "planned"), None)
        rewards = [{"id": one["id"], "reward": MEANS[one["arm"]]} for one in decisions if one["id"] != self.forgotten]
        self.ask("/v1/rewards/batch", {"rewards": rewards})
        return any(one["kind"] == "planned" for one in decisions)


# ---- Situations ----

SITUATIONS = []


def situation(mends=None, **expected):
    """What each party says: (code, {cause: who}), or a list of those that are right. mends: of the page of a party, what
    is wrong in a few of its words, and the command that mends it."""
    def add(function):
        def run(federation_of):
            federation = function(federation_of)
            holds(federation, {party.replace("_", "-"): row for party, row in expected.items()})
            for party, words, command in mends or []:
                wait_for(f"the page of {party} says: {words}, {command}", lambda party=party, words=words, command=command: any(
                    words in what and shown == command for what, shown in boxes_of(federation, party)), 30)
            federation.end_applications()
        run.__name__ = function.__name__
        run.__doc__ = function.__doc__
        SITUATIONS.append((function.__name__, expected))
        return test(run)
    return add


NOTHING = (OK, {})
NO_ORDER = (WAITING, {"order": ["coordinator"]})
NO_GRANT = (WAITING, {"grant": ["coordinator"]})
LACKS_SITE_1 = (WAITING, {"sites": ["site-1"]})


@situation(mends=[("site-1", "a reward", "curl --unix-socket agent.sock -X DELETE http://localhost/v1/decisions/ID")],
           coordinator=LACKS_SITE_1, site_0=NO_ORDER, site_1=(WAITING, {"rewards": []}), site_2=NO_ORDER)
def one_decision_has_no_reward(federation_of):
    """Applications go on asking beside the plan: that moves nothing."""
    federation = star(federation_of)
    begin(federation, ["site-0", "site-2"])
    federation.applications.append(Forgetful(federation, "site-1"))
    federation.applications[-1].start()
    return federation


@situation(coordinator=LACKS_SITE_1, site_0=NO_ORDER, site_1=(WAITING, {"decisions": []}), site_2=NO_ORDER)
def nobody_asks_a_site(federation_of):
    federation = star(federation_of)
    begin(federation, ["site-0", "site-2"])
    return federation


@situation(mends=[("coordinator", " s for: site-1", "systemctl start tacit-agent@site-1")],
           coordinator=LACKS_SITE_1, site_0=NO_ORDER, site_1=(DOWN, {}), site_2=NO_ORDER)
def a_site_is_dead(federation_of):
    federation = star(federation_of)
    begin(federation, ["site-0", "site-2"])
    federation.kill("site-1")
    return federation


@situation(mends=[("site-0", " s for its grant by coordinator", "systemctl start tacit-coordinator")],
           coordinator=(DOWN, {}), site_0=NO_GRANT, site_1=NO_GRANT, site_2=NO_GRANT)
def the_coordinator_is_dead(federation_of):
    federation = star(federation_of)
    begin(federation, [])
    federation.kill("coordinator")
    federation.apply()
    return federation


@situation(coordinator=LACKS_SITE_1, site_0=NO_ORDER, site_1=(DOWN, {}), site_2=NO_ORDER)
def a_site_hangs(federation_of):
    """Its process is there, and connected."""
    federation = star(federation_of)
    begin(federation, ["site-0", "site-2"])
    federation.processes["site-1"].send_signal(signal.SIGSTOP)
    return federation


@situation(coordinator=LACKS_SITE_1, site_0=NO_ORDER, site_1=NO_ORDER, site_2=NO_ORDER)
def an_order_does_not_reach_a_site(federation_of):
    """It has reported; from then on the broker gives it nothing that the coordinator says."""
    federation = star(federation_of)
    begin(federation, ["site-1"])
    wait_for("its report", lambda: (federation.status() or {}).get("reports") == 1, 60)
    for way in ("down", "to"):
        federation.allow_access("site-1", f"deny {federation.topic(way)}/#")
    federation.processes["broker"].send_signal(signal.SIGHUP)
    time.sleep(0.5)
    federation.apply(["site-0", "site-2"])
    return federation


@situation(mends=[("site-1", "the access list of the broker", "systemctl restart tacit-broker")],
           coordinator=LACKS_SITE_1, site_0=NO_ORDER, site_1=(ATTENTION, {"access": [], "grant": ["coordinator"]}), site_2=NO_ORDER)
def a_site_is_not_let_speak_by_the_broker(federation_of):
    federation = star(federation_of)
    begin(federation, [])
    federation.allow_access("site-1", f"deny {federation.topic('up')}/#")
    federation.processes["broker"].send_signal(signal.SIGHUP)
    time.sleep(0.5)
    for site in federation.sites:
        federation.apply([site])
    return federation


@situation(coordinator=LACKS_SITE_1, site_0=NO_ORDER, site_1=(ATTENTION, {"disconnected": []}), site_2=NO_ORDER)
def a_site_does_not_reach_the_broker(federation_of):
    """Its own round is played, and it says nothing of the others: it is not heard."""
    federation = star(federation_of)
    begin(federation, ["site-0", "site-2"])
    federation.stop("site-1")
    broker = federation.broker_section("site-1", port=free_port())
    federation.write_agent("site-1", federation.policy(), broker=broker, waiting_after_s=86400)
    federation.start("site-1")
    return federation


NO_BROKER = (ATTENTION, {"disconnected": []})


@situation(mends=[("coordinator", "cannot reach the broker", "systemctl start tacit-broker"),
                  ("site-0", "cannot reach the broker", "systemctl start tacit-broker")],
           coordinator=[NO_BROKER, (ATTENTION, {"disconnected": [], "sites": ["site-0", "site-1", "site-2"]})], site_0=[NO_BROKER, (ATTENTION, {"disconnected": [], "decisions": []})])
def the_broker_is_away(federation_of):
    federation = star(federation_of)
    begin(federation, [])
    federation.kill("broker")
    return federation


@situation(mends=[("site-1", "the clock is wrong", "timedatectl set-ntp true")],
           coordinator=LACKS_SITE_1, site_0=NO_ORDER, site_1=[NO_BROKER, (ATTENTION, {"disconnected": [], "decisions": []})])
def a_clock_is_wrong(federation_of):
    """As a site sees it: its certificate is of a time to come."""
    federation = star(federation_of)
    begin(federation, ["site-0", "site-2"])
    federation.stop("site-1")
    date(federation, "site-1", "20900101000000Z", "20910101000000Z")
    federation.start("site-1")
    return federation


@situation(mends=[(party, "the disk is almost full", "journalctl --vacuum-size=100M") for party in ("coordinator", "site-1")],
           coordinator=(ATTENTION, {"disk": []}), site_1=[(ATTENTION, {"disk": []}), (ATTENTION, {"disk": [], "decisions": []})])
def a_disk_is_almost_full(federation_of):
    """Less is free than the files ask for."""
    federation = star(federation_of)
    federation.write_coordinator(federation.run_section(), waiting_after_s=86400, disk_low_mib=2 ** 32 - 1)
    federation.write_agent("site-1", federation.policy(), waiting_after_s=86400, disk_low_mib=2 ** 32 - 1)
    begin(federation, [])
    return federation


OLD = "this coordinator's state is an old one"


@situation(mends=[("coordinator", OLD, "tacit coordinator --config coordinator.yaml --new-term"),
                  ("site-0", "coordinator knows nothing of a grant", "tacit coordinator --config coordinator.yaml --new-term")],
           coordinator=[(ATTENTION, {"old-state": ["site-0", "site-1"]}), (ATTENTION, {"old-state": ["site-0", "site-1"], "sites": ["site-0", "site-1", "site-2"]})],
           site_0=(ATTENTION, {"forgotten": ["coordinator"]}))
def the_coordinator_has_an_old_state(federation_of):
    federation = star(federation_of)
    begin(federation, [])
    federation.back_up("coordinator")
    federation.apply(["site-0", "site-1"])
    wait_for("two reports", lambda: (federation.status() or {"reports": 0})["reports"] == 2, 60)
    federation.kill("coordinator")
    federation.put_back("coordinator")
    federation.start("coordinator")
    return federation


@situation(mends=[("site-1", "a larger epsilon per reward than policy.epsilon", "systemctl restart tacit-agent@site-1")],
           coordinator=LACKS_SITE_1, site_1=(ATTENTION, {"refused": []}))
def an_epsilon_is_another(federation_of):
    federation = star(federation_of, policies={"site-1": {"epsilon": 1, "budget": 1}})
    federation.start_all()
    wait_for("it is refused", lambda: (federation.site_status("site-1") or {}).get("refusal"), 60)
    federation.apply(["site-0", "site-2"])
    return federation


class Silent(Application):
    """Asks, and hands nothing in."""

    def serve(self, count):
        time.sleep(0.1)
        return any(one["kind"] == "planned" for one in self.ask("/v1/decisions/batch", {"requests": [{}] * count})["decisions"])


@situation(mends=[("site-1", "did not come in time", "curl --unix-socket agent.sock http://localhost/v1/decisions")],
           site_1=[(WAITING, {"biased": []}), (WAITING, {"biased": [], "rewards": []}), (WAITING, {"biased": [], "decisions": []})])
def rewards_come_too_late(federation_of):
    federation = star(federation_of)
    federation.write_agent("site-1", federation.policy(), waiting_after_s=AFTER_S, decisions={"wait_s": 1})
    begin(federation, [])
    federation.applications.append(Silent(federation, "site-1"))
    federation.applications[-1].start()
    return federation


TAKEN = [(ATTENTION, {"disconnected": []}), (ATTENTION, {"disconnected": [], "decisions": []})]


@situation(mends=[("site-1", "somebody else connects with our certificate", "systemctl stop tacit-agent@site-1")], site_1=TAKEN)
def two_processes_are_one_site(federation_of):
    federation = star(federation_of)
    federation.write_agent("site-1", federation.policy(), "copy", waiting_after_s=86400)
    begin(federation, [])
    federation.start("copy")
    return federation


@situation(coordinator=LACKS_SITE_1, site_1=(ATTENTION, {"callers": [f"user {os.getuid()}"], "decisions": []}))
def callers_are_shut_out_by_their_own_open_decisions(federation_of):
    federation = star(federation_of)
    federation.write_agent("site-1", federation.policy(), decisions={"open_max": 100}, waiting_after_s=AFTER_S)
    begin(federation, ["site-0", "site-2"])
    for code in [200] * 50 + [429]:
        require(federation.request("site-1", "POST", "/v1/decisions", {})[0] == code, f"not {code}: it is, or is not, shut out")
    return federation


@situation(coordinator=NOTHING, site_0=NOTHING, site_1=(ATTENTION, {"removed": []}), site_2=NOTHING)
def a_site_was_removed(federation_of):
    """The run ends without it, and it is not one of those who decided."""
    federation = star(federation_of)
    begin(federation, ["site-0", "site-2"])
    control(federation, "coordinator", "drop", "site-1")
    wait_for("the run ends", federation.is_finished, 60)
    wait_for("it knows", lambda: federation.phase("site-1") == "removed", 60)
    return federation


@situation(coordinator=[(ATTENTION, {"refuses-all": ["site-1"]}), (ATTENTION, {"refuses-all": ["site-1"], "sites": ["site-0", "site-2"]})],
           site_1=[(ATTENTION, {"refuses-all": []}), (ATTENTION, {"refuses-all": [], "decisions": []})])
def a_site_refuses_all_arms_that_are_in(federation_of):
    federation = star(federation_of)
    begin(federation, [])
    for arm in ("arm 0", "arm 1"):
        control(federation, "site-1", "refuse", arm, "because", "outside")
    control(federation, "coordinator", "retire", "arm 2")
    return federation


@situation(coordinator=LACKS_SITE_1, site_0=NO_ORDER, site_1=(ATTENTION, {"rounds": []}), site_2=NO_ORDER)
def the_rounds_of_a_policy_are_reached(federation_of):
    """Nobody knows before how many rounds it will be."""
    federation = say_soon(federation_of([0.876, 0.875, 0.125]), {"site-1": {"rounds_max": 2}}, ("rounds", "gap"))
    begin(federation)
    return federation


@situation(coordinator=LACKS_SITE_1, site_1=(ATTENTION, {"refused": []}))
def a_policy_allows_fewer_rounds_than_the_run_has(federation_of):
    federation = star(federation_of, policies={"site-1": {"rounds_max": 3}})
    federation.start_all()
    wait_for("it is refused", lambda: "policy.rounds_max" in str((federation.site_status("site-1") or {}).get("refusal")), 60)
    federation.apply(["site-0", "site-2"])
    return federation


@situation(coordinator=(WAITING, {"sites": ["site-2"]}), site_2=(DOWN, {}), site_1=(WAITING, {"grant": ["site-2"]}),
           site_3=(WAITING, {"grant": ["site-2"]}))
def a_neighbour_in_a_ring_is_dead(federation_of):
    federation = ring(federation_of)
    begin(federation, [])
    federation.kill("site-2")
    federation.apply([site for site in federation.sites if site != "site-2"])
    return federation


@situation(coordinator=(WAITING, {"sites": ["site-2"]}), site_2=(WAITING, {"rewards": []}),
           site_1=(WAITING, {"sites": ["site-2"]}), site_3=(WAITING, {"sites": ["site-2"]}),
           site_0=(WAITING, {"sites": ["site-2"]}), site_4=(WAITING, {"sites": ["site-2"]}))
def one_decision_in_a_ring_has_no_reward(federation_of):
    federation = ring(federation_of)
    begin(federation, [site for site in federation.sites if site != "site-2"])
    federation.applications.append(Forgetful(federation, "site-2"))
    federation.applications[-1].start()
    return federation


@situation(coordinator=(WAITING, {"sites": [f"site-{i}" for i in range(5)]}), site_0=(WAITING, {"decisions": []}),
           site_3=(WAITING, {"decisions": []}))
def nobody_asks_anybody_in_a_ring(federation_of):
    federation = ring(federation_of)
    begin(federation, [])
    return federation


@situation(coordinator=(WAITING, {"sites": ["site-2"]}), site_2=(ATTENTION, {"rounds": []}),
           site_1=(WAITING, {"sites": ["site-2"]}), site_4=(WAITING, {"sites": ["site-2"]}))
def the_rounds_of_a_policy_are_reached_in_a_ring(federation_of):
    federation = ring(federation_of, means=[0.876, 0.875, 0.125], without=("rounds", "gap"))
    federation.write_agent("site-2", federation.policy(rounds_max=2), waiting_after_s=AFTER_S)
    begin(federation)
    return federation


@situation(coordinator=(OK, {}), site_0=NOTHING, site_1=NOTHING, site_2=NOTHING, site_3=NOTHING, site_4=NOTHING)
def a_ring_has_decided(federation_of):
    """Silence after the end is none."""
    federation = ring(federation_of)
    begin(federation)
    federation.wait_for_sites("decides", federation.has_decided, 60)
    time.sleep(2 * AFTER_S)
    return federation


@situation(coordinator=LACKS_SITE_1, site_0=NO_ORDER, site_1=(ATTENTION, {"rounds": []}), site_2=NO_ORDER)
def the_rounds_of_a_policy_are_reached_by_an_index(federation_of):
    federation = say_soon(federation_of([0.876, 0.875, 0.125], kind=Phased), {"site-1": {"rounds_max": 2}})
    begin(federation)
    return federation


def gossip(federation_of):
    """Five, whose run does not end."""
    return say_soon(federation_of(MEANS, kind=Gossip, horizon=10 ** 6, epsilon=1000.0))


@situation(coordinator=(WAITING, {"sites": ["site-2"]}), site_0=NOTHING, site_1=NOTHING, site_2=(DOWN, {}), site_3=NOTHING)
def a_neighbour_in_gossip_is_dead(federation_of):
    """The others play on."""
    federation = gossip(federation_of)
    begin(federation, [])
    federation.kill("site-2")
    for site in federation.sites:
        if site != "site-2":
            federation.apply([site], batch=1)
    return federation


@situation(coordinator=LACKS_SITE_1, site_0=NO_ORDER, site_1=(DOWN, {}), site_2=NO_ORDER)
def a_voter_is_dead(federation_of):
    federation = say_soon(federation_of([0.125, 0.875, 0.8, 0.5], kind=Votes, votes=5))
    begin(federation, [])
    federation.kill("site-1")
    for site in federation.sites:
        if site != "site-1":
            federation.apply([site])
    return federation


@situation(coordinator=(WAITING, {"sites": ["site-0", "site-1", "site-2"]}), site_0=(ATTENTION, {"consent": []}),
           site_1=(ATTENTION, {"consent": []}))
def the_next_run_waits_for_a_word(federation_of):
    """The file of site-0 is another one: it is in no run, and yet one was announced."""
    federation = star(federation_of, rounds=1)
    begin(federation)
    wait_for("the run ends", federation.is_finished, 60)
    federation.end_applications()
    for name in ("site-0", "site-1", "coordinator"):
        wait_for(f"{name} ends", lambda name=name: name == "coordinator" or federation.has_decided(name), 60)
        federation.stop(name)
    federation.arms[2] = "arm 3"
    federation.write_coordinator({**federation.run_section(), "id": 2}, waiting_after_s=AFTER_S)
    for name in ("site-0", "site-1"):
        federation.write_agent(name, federation.policy(), waiting_after_s=AFTER_S)
    for name in ("coordinator", "site-0", "site-1"):
        federation.start(name)
    return federation


if __name__ == "__main__":
    main()
