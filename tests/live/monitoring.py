#!/usr/bin/env python3
"""What machines collect, and what is an alarm: metrics that a strict reader takes, the same certificate used twice, and
what is none: a restart. See support.py."""
import sys

from support import check_answers, main, metrics_of, require, test, text_at, wait_for

MEANS = [0.875, 0.75, 0.125]


@test
def metrics_are_what_prometheus_reads(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25)
    federation.start_all()
    check_answers_when_joined(federation)
    federation.apply()
    wait_for("the run ends", federation.is_finished, 120)
    check_answers(federation, members=["changes", "refused_arms", "dropped", "horizon"])
    federation.end_applications()
    hub = metrics_of(text_at("/metrics", federation.socket_of("coordinator")))
    require(hub["tacit_hub_site_report_epoch"].keys() == {("site", site) for site in federation.sites}, f"{hub}")
    require(hub["tacit_hub_active_arms"][None] in (1, 2) and hub["tacit_hub_state"] == {None: 0}, f"{hub}")
    site = metrics_of(text_at("/metrics", federation.socket_of("site-0")))
    pulls = federation.site_status("site-0")["pulls"]
    require(site["tacit_agent_pulls_total"] == {None: pulls} and site["tacit_api_decisions_total"][None] >= pulls, f"{site}")


def check_answers_when_joined(federation):
    for site in federation.sites:
        wait_for(f"{site} joins", lambda site=site: federation.has_joined(site), 60)
    check_answers(federation, members=["changes", "refused_arms", "dropped", "horizon"])


@test
def the_reader_refuses_what_is_not_right(_):
    """A checker that never fires proves nothing."""
    good = "# HELP a_total Words.\n# TYPE a_total counter\na_total 1\n# HELP b Of c.\n# TYPE b gauge\nb{c=\"d\"} 1\nb{c=\"e\"} -2.5e-3\n"
    require(metrics_of(good) == {"a_total": {None: 1}, "b": {("c", "d"): 1, ("c", "e"): -0.0025}}, "the good text")
    for old, new in [("# HELP b Of c.\n", ""), ("# TYPE b gauge\n", ""), ("b{c=\"e\"} -2.5e-3\n", "b{c=\"d\"} 2\n"), (" gauge", " counter"),
                     ("# HELP b Of c.\n", "# HELP a_total Words.\n"), ("a_total 1\n", ""), ("-2.5e-3", "nothing"), ("-2.5e-3\n", "1"),
                     ("b{c=\"d\"} 1\n", "b{c=\"d\"} 1\na_total 2\n"), (" counter", " gauge")]:
        try:
            metrics_of(good.replace(old, new))
        except AssertionError:
            continue
        raise AssertionError(f"{old!r} -> {new!r} was taken")


# One certificate, two processes

def doubles(federation):
    return [site["name"] for site in federation.status()["sites"] if site["two_instances"]]


def heard(federation, site):
    status = federation.status() or {"sites": []}
    return any(one["heard_s"] is not None for one in status["sites"] if one["name"] == site)


@test
def certificate_that_is_used_twice_is_an_alarm_that_names_the_site(federation_of):
    federation = federation_of(MEANS)
    federation.write_agent("site-0", federation.policy(), "copy")  # another state, the same certificate
    federation.start_all(["coordinator", "site-0", "site-1"])
    for site in ("site-0", "site-1"):
        wait_for(f"{site} is heard", lambda site=site: heard(federation, site), 60)
    require(doubles(federation) == [], "an alarm without a cause")
    federation.start("copy")
    wait_for("the alarm", lambda: doubles(federation) == ["site-0"], 60)
    require("two processes run at once with the certificate of site site-0" in federation.log("coordinator"), "no line")
    status = federation.status()
    require(status["state"] == "attention", f"{status}")
    require(any("two processes run at once with the certificate of site site-0" in one["what"] for one in status["causes"]), f"{status}")
    metrics = metrics_of(text_at("/metrics", federation.socket_of("coordinator")))
    require(metrics["tacit_hub_sites_in_two_instances"] == {None: 1}, f"{metrics}")


@test
def restarts_are_no_alarm(federation_of):
    """Killed and started again, of the coordinator too; and the broker comes and goes."""
    federation = federation_of(MEANS)
    federation.start_all(["coordinator", "site-0"])
    wait_for("site-0 is heard", lambda: heard(federation, "site-0"), 60)
    for number in range(6):
        federation.kill("site-0")
        federation.start("site-0")
        wait_for("site-0 is back", lambda: (federation.site_status("site-0") or {}).get("connected"), 60)
        if number % 3 == 1:
            federation.kill("broker")
            federation.start("broker")
        if number % 3 == 2:
            federation.kill("coordinator")
            federation.start("coordinator")
        wait_for("the hub is back", lambda: (federation.status() or {}).get("connected"), 60)
    counted = "tacit_hub_sites_in_two_instances 0\n"
    require(doubles(federation) == [] and counted in text_at("/metrics", federation.socket_of("coordinator")), "an alarm")
    require("two-instances" not in federation.log("coordinator"), "a line of alarm")


if __name__ == "__main__":
    sys.exit(main())
