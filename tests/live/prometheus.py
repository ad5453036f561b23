#!/usr/bin/env python3
"""docs/monitoring: the alarms are rules (promtool), the dashboard asks for metrics that there are, and over live federations a real Prometheus
raises each alarm (make check-long; durations cut to what a test can wait for). See support.py."""
import json
import math
import pathlib
import re
import shutil
import subprocess
import time
import urllib.parse
import urllib.request

from situations import AFTER_S, Silent, begin, gossip, ring, star  # first: it finds the files of tests
from federation import free_port
from support import IS_LONG, Skipped, main, metrics_of, require, test, wait_for

MONITORING = pathlib.Path(__file__).resolve().parents[2] / "docs/monitoring"
RULES = (MONITORING / "prometheus-rules.yaml").read_text(encoding="utf-8")
ALARMS = re.findall(r"- alert: (\w+)", RULES)
QUESTIONS = [target["expr"] for panel in json.loads((MONITORING / "grafana-dashboard.json").read_text(encoding="utf-8"))["panels"]
             for target in panel["targets"]]
SHIM = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (real == 0)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int const done = real(clock, now);
    now->tv_sec += clock == CLOCK_REALTIME ? 600 : 0;
    return done;
}
"""


@test
def rules_are_right_and_each_says_its_command(_):
    require(len(ALARMS) == RULES.count("command: ") == RULES.count("severity: ") >= 14, f"{ALARMS}")
    if shutil.which("promtool") is None:
        raise Skipped("promtool is installed by make check-long only")
    done = subprocess.run(["promtool", "check", "rules", MONITORING / "prometheus-rules.yaml"], capture_output=True, text=True, check=False)
    require(done.returncode == 0, done.stdout + done.stderr)


@test
def what_rules_and_dashboard_ask_for_is_there(federation_of):
    """But for what only some protocols have."""
    federation = star(federation_of)
    begin(federation, [])
    shown = {name for party, paths in (("coordinator", ["/metrics"]), ("site-0", ["/metrics", "/v1/clipped/metrics"])) for path in paths
             for name in metrics_of(federation.text(party, path))}
    missing = set(re.findall(r"\btacit_[a-z_]+", RULES + " ".join(QUESTIONS))) - shown
    require(missing <= {"tacit_agent_estimate", "tacit_agent_arm_lower", "tacit_agent_arm_upper", "tacit_hub_arm_lower", "tacit_hub_arm_upper"},
            f"{missing}")


# ---- A real Prometheus ----

class Prometheus:
    """Scrapes once a second what it is told of; its rules wait for seconds instead of minutes."""

    def __init__(self, federation, targets):
        self.port, folder = free_port(), federation.folder
        rules = re.sub(r"for: \w+", "for: 1s", re.sub(r"> 900\b", f"> {AFTER_S}", RULES)).replace("[10m]", "[10s]")
        (folder / "rules.yaml").write_text(rules)
        jobs = "".join(f"  - job_name: tacit-{name}\n    metrics_path: {path}\n    static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n"
                       for name, path, port in targets)
        (folder / "prometheus.yaml").write_text("global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
                                                f"rule_files: [rules.yaml]\nscrape_configs:\n{jobs}")
        (folder / "prometheus.log").touch()
        federation.processes["prometheus"] = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/tsdb", f"--web.listen-address=127.0.0.1:{self.port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def get(self, path, **words):
        """What it has; nothing while it starts."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(words)}", timeout=60) as answer:
                return json.load(answer)["data"]
        except OSError:
            return {"alerts": [], "result": []}

    def firing(self):
        return {one["labels"]["alertname"] for one in self.get("alerts")["alerts"] if one["state"] == "firing"}

    def answered(self):
        """Of the dashboard's questions, those that some series answers with a number."""
        return {one for one in QUESTIONS if any(math.isfinite(float(series["value"][1])) for series in self.get("query", query=one)["result"])}


def watched(federation_of, **agents):
    """A star whose parties are observed; agents: further keys of a site's file."""
    federation = star(federation_of)
    ports = {name: free_port() for name in ("coordinator", *federation.sites)}
    hub = agents.pop("coordinator", {})
    run = federation.run_section(bounds="exact", growth=1.5)
    del run["rounds"], run["gap"]
    federation.write_coordinator(run, waiting_after_s=AFTER_S, observe={"listen": f"127.0.0.1:{ports['coordinator']}"}, **hub)
    for site in federation.sites:
        federation.write_agent(site, federation.policy(), waiting_after_s=AFTER_S, observe={"listen": f"127.0.0.1:{ports[site]}"},
                               **agents.get(site.replace("-", "_"), {}))
    return federation, [(name, "/metrics", port) for name, port in ports.items()]


def expect(prometheus, *alarms):
    seen = set()
    wait_for(f"{alarms} fire", lambda: set(alarms) <= (seen.update(prometheus.firing()) or seen), 60)
    FIRED.update(seen)
    ANSWERED.update(prometheus.answered())


FIRED, ANSWERED = set(), set()


def needs_prometheus():
    if not IS_LONG or shutil.which("prometheus") is None:
        raise Skipped("a Prometheus is started by make check-long only")


@test
def alarms_of_who_is_away_fire(federation_of):
    needs_prometheus()
    federation, targets = watched(federation_of)
    begin(federation, ["site-0"])
    prometheus = Prometheus(federation, targets)
    federation.kill("site-1")
    expect(prometheus, "TacitDown", "TacitSiteMissing", "TacitNobodyAsks", "TacitWaits", "TacitBudgetSpent")
    federation.kill("broker")
    expect(prometheus, "TacitBrokerAway", "TacitNeedsAttention")


@test
def alarms_of_rewards_clock_and_disk_fire(federation_of):
    needs_prometheus()
    federation, targets = watched(federation_of, coordinator={"disk_low_mib": 2 ** 32 - 1}, site_0={"decisions": {"wait_s": 1}})
    (federation.folder / "shim.c").write_text(SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", federation.folder / "shim.so", federation.folder / "shim.c", "-ldl"], check=True)
    api = free_port()
    file = federation.folder / "site-2.yaml"
    file.write_text(re.sub(r"api: .*", f"api: {{port: {api}}}", file.read_text()))
    federation.start_all(["coordinator", "site-0"])
    federation.start("site-1", LD_PRELOAD=str(federation.folder / "shim.so"))
    federation.start("site-2")
    federation.wait_for_sites("joins", federation.has_joined, 60, sites=("site-0", "site-1"))
    prometheus = Prometheus(federation, [*targets, ("clipped", "/v1/clipped/metrics", api)])
    for kind, site in ((Silent, "site-0"), (Silent, "site-1")):
        federation.applications.append(kind(federation, site))
        federation.applications[-1].start()
    over = time.monotonic() + 120
    while time.monotonic() < over and "TacitRewardsClipped" not in FIRED:
        request = urllib.request.Request(f"http://127.0.0.1:{api}/v1/decisions", b"{}", method="POST")
        with urllib.request.urlopen(request, timeout=60) as answer:
            decision = json.load(answer)["id"]
        body = json.dumps({"id": decision, "reward": 7}).encode()
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{api}/v1/rewards", body, method="POST"), timeout=60).close()
        FIRED.update(prometheus.firing())
        time.sleep(0.2)
    expect(prometheus, "TacitRewardsLate", "TacitRewardsMissing", "TacitClockWrong", "TacitDiskLow")
    require("TacitRewardsClipped" in FIRED, f"{FIRED}")


@test
def alarms_of_liars_fire(federation_of):
    """Somebody writes in a site's name, and an old copy of a site shows another release than the one that was granted."""
    needs_prometheus()
    federation, targets = watched(federation_of)
    federation.make_certificates("echo")
    federation.allow_access("echo", "write tacit/v1/#")
    begin(federation, [])
    prometheus = Prometheus(federation, targets)
    federation.back_up("site-1")
    federation.apply(["site-1"])
    wait_for("its release is granted", lambda: (federation.site_status("site-1") or {}).get("release_epoch") == 1, 60)
    federation.kill("site-1")
    federation.put_back("site-1")
    federation.start("site-1")
    echo = federation.client("echo")
    for _ in range(20):
        echo.publish(federation.topic("up/site-0/elimination"), federation.message("up/site-0/elimination", b"false", "site-2"))
        time.sleep(0.5)
    echo.close()
    expect(prometheus, "TacitUnsigned", "TacitTwoStates")


@test
def what_sites_of_graphs_know_is_shown(federation_of):
    """Intervals where each judges for itself, estimates in gossip."""
    needs_prometheus()
    for federation in (ring(federation_of, without=("rounds", "gap"), bounds="exact", growth=1.5), gossip(federation_of)):
        port, file = free_port(), federation.folder / "site-0.yaml"
        file.write_text(file.read_text() + f"observe: {{listen: '127.0.0.1:{port}'}}\n")
        begin(federation, [])
        prometheus = Prometheus(federation, [("site-0", "/metrics", port)])
        federation.apply(batch=20, allowance=400)
        known = {one for one in QUESTIONS if "agent_estimate" in one or "agent_arm" in one}
        wait_for("its means are shown", lambda prometheus=prometheus, known=known: known & prometheus.answered(), 60)
        ANSWERED.update(prometheus.answered())
        federation.end_applications()


@test
def every_alarm_has_fired_and_every_panel_was_filled(_):
    needs_prometheus()
    require(set(ALARMS) <= FIRED, f"{set(ALARMS) - FIRED} did not fire")
    require(set(QUESTIONS) == ANSWERED, f"nothing answered {set(QUESTIONS) - ANSWERED}")


if __name__ == "__main__":
    main()
