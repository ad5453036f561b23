#!/usr/bin/env python3
"""What machines collect, metrics that a strict reader takes; and what is no alarm: restarts and replays. See support.py."""
import http.client
import math
import ssl

from support import check_answers, federation, main, metrics_of, require, test, wait_for

MEANS = [0.875, 0.75, 0.125]
free_port = federation.free_port


@test
def metrics_are_what_prometheus_reads(federation_of):
    federation = federation_of(MEANS, rounds=4, gap=0.25)
    federation.start_all()
    check_answers_when_joined(federation)
    federation.apply()
    wait_for("the run ends", federation.is_finished, 120)
    check_answers(federation, members=["changes", "refused_arms", "dropped", "horizon"])
    federation.end_applications()
    hub = metrics_of(federation.text("coordinator", "/metrics"))
    require(hub["tacit_hub_site_report_epoch"].keys() == {("site", site) for site in federation.sites}, f"{hub}")
    require(hub["tacit_hub_active_arms"][None] in (1, 2) and hub["tacit_hub_state"] == {None: 0}, f"{hub}")
    site = metrics_of(federation.text("site-0", "/metrics"))
    pulls = federation.site_status("site-0")["pulls"]
    require(site["tacit_agent_pulls_total"] == {None: pulls} and site["tacit_api_decisions_total"][None] >= pulls, f"{site}")


def check_answers_when_joined(federation):
    federation.wait_for_sites("joins", federation.has_joined, 60)
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


# From elsewhere

def look(port, path="/health", context=None, host=None, method="GET"):
    """Code and text, or what TLS says against it."""
    kind = http.client.HTTPConnection if context is None else http.client.HTTPSConnection
    connection = kind("127.0.0.1", port, timeout=60, **({} if context is None else {"context": context}))
    try:
        connection.request(method, path, headers={"Host": host} if host else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except (ssl.SSLError, OSError) as refusal:
        return None, str(refusal)
    finally:
        connection.close()


@test
def others_see_pages_and_metrics_and_can_do_nothing(federation_of):
    """With certificates of those who are named, and without on a private address."""
    federation = federation_of(MEANS)
    federation.run_tacit("pki", "--directory", federation.pki, "--host", "hub.example.org", "observe-hub", "monitor", "stranger")
    ports, pki = [free_port() for _ in range(2)], federation.pki
    federation.write_coordinator(federation.run_section(), observe={
        "listen": f"127.0.0.1:{ports[0]}", "certificate": str(pki / "observe-hub.crt"), "key": str(pki / "observe-hub.key"),
        "ca": str(pki / "ca.crt"), "clients": ["monitor"]})
    federation.write_agent("site-0", federation.policy(), observe={"listen": f"127.0.0.1:{ports[1]}"})
    federation.start_all(["coordinator", "site-0"])
    wait_for("it joins", lambda: federation.has_joined("site-0"), 60)
    monitor, stranger, nobody = (federation.context(name) for name in ("monitor", "stranger", None))
    for port, context in ((ports[0], monitor), (ports[1], None)):
        require(look(port, "/", context)[1].endswith("</html>\n"), "no page")
        require("tacit_clock_seconds" in metrics_of(look(port, "/metrics", context)[1]), "no metrics")
        for path in ("/status", "/runs", "/v1/status", "/v1/clipped", "/v1/clipped/metrics", "/v1/decisions", "/control"):
            require(look(port, path, context)[0] == 404, f"{path} is shown")
        require(look(port, "/health", context, method="POST")[0] == 404, "a POST is taken")
    require(look(ports[0], context=stranger)[0] == 403, "a name that is not in the list")
    require(look(ports[0], context=nobody)[0] is None and look(ports[0])[0] is None, "without a certificate, or TLS")
    require([look(ports[1], host=host)[0] for host in ("hub", "10.1.2.3:9464", "evil.example.org")] == [200, 200, 403], "hosts")
    require(429 in [look(ports[1])[0] for _ in range(60)], "nobody is told to come later")
    for listen, words in (("8.8.8.8:9464", "is no private address"), ("10.0.0.1", "is no address with a port")):
        federation.write_agent("site-1", federation.policy(), observe={"listen": listen})
        code, said = federation.run_to_end("site-1")
        require(code == 2 and words in said and said.count("\n") == 1, said)


# What is no alarm

def accusations(federation):
    """Who is said to be two, and by whom."""
    found = [(name, line) for name in ("coordinator", *federation.sites) for line in federation.log(name).splitlines()
             if " two-" in line or " halted: " in line]
    hub = federation.status()
    found += [("coordinator", site["name"]) for site in hub["sites"] if site["two_states"]]
    for name in ("coordinator", *federation.sites):
        status = hub if name == "coordinator" else federation.site_status(name)
        found += [(name, cause["what"]) for cause in status["causes"] if "two " in cause["what"]]
        found += [(name, other) for other in status.get("two_states", [])]
    return found


def replay(federation, client):
    """Whatever was said so far, once more: a broker could."""
    messages = list(federation.tap.messages)
    for topic, payload in messages:
        client.publish(topic, payload)
    return len(messages)


@test
def nobody_is_accused_after_replays_and_restarts(federation_of):
    """Over a star and on a ring, under traffic: sites, coordinator and broker are killed, and all that was said comes
    again and again."""
    for network in (None, {"kind": "ring"}):
        federation = federation_of(MEANS, strangers=("echo",), rounds=4, gap=0.25)
        if network:
            federation.play_over(network)
        federation.allow_access("echo", "write tacit/v1/#")
        federation.start_all()
        federation.apply(allowance=200, batch=20)
        replayed = 0
        for number in range(6):
            echo = federation.client("echo")
            replayed += replay(federation, echo)
            federation.restart("site-0")
            wait_for("site-0 is back", lambda: (federation.site_status("site-0") or {}).get("connected"), 60)
            replayed += replay(federation, echo)
            echo.close()
            if number % 3 == 1:
                federation.restart("broker")
            if number % 3 == 2:
                federation.restart("coordinator")
            for name in ("coordinator", *federation.sites):
                wait_for(f"{name} is back", lambda name=name: is_connected(federation, name), 60)
        require(replayed > 50, f"hardly a replay: {replayed} messages")
        federation.allow(math.inf)
        federation.wait_for_sites("decides", federation.has_decided, 120)
        require(not accusations(federation), f"{accusations(federation)}")
        federation.end_applications()


def is_connected(federation, name):
    return ((federation.status() if name == "coordinator" else federation.site_status(name)) or {}).get("connected")


if __name__ == "__main__":
    main()
