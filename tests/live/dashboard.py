#!/usr/bin/env python3
"""The dashboards of a live federation in Chromium, at 390 and 1280 pixels, light and dark, with axe-core, by keyboard, as they update themselves, and
with scripts switched off (make check-long). See support.py and tests/cli/browser.py.

usage: dashboard.py     PICTURES=DIR: the pictures of the README are written there"""
import os
import pathlib
import shutil
import sys
import tempfile
import time
import types

from support import IS_LONG, Skipped, Two, federation as live, main, require, test, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import browser as pages  # noqa: E402

# What a page says by itself: parts of it, and words of theirs.
SAID = {"coordinator": {".say": "insulin", "#causes h3": "has waited", "#causes code": "systemctl start tacit-agent@site-", "#arms": "metformin",
                        "#sites": "waited for, ", "#changes": "deadline", "#privacy": "epsilon 1 of a reward"},
        "site-0": {".say": "leads", "#causes h3": "nobody has asked this site", "#causes code": "curl --unix-socket", "#arms": "metformin",
                   "#site": "of epsilon 1 spent", "#privacy": "epsilon = 1"},
        "helper": {".say": "was answered last, of 2 of 3 sites", "#causes h3": "left out of the last sum", "#causes code": "tacit status --config site-2",
                   "#helper": "the coordinator's next request, for ", "#pinned": "LEFT OUT", "#privacy": "never what a site reported"}}
ARMS = ["insulin", "metformin", "glipizide group", "glyburide group", "no medication"]


def page_at(port, name):
    """As browser.py takes pages."""
    return types.SimpleNamespace(resolve=lambda: types.SimpleNamespace(as_uri=lambda: f"http://127.0.0.1:{port}/"),
                                 parent=types.SimpleNamespace(name=name))


def check_without_scripts(browser, ports):
    """All but the updates. What is asked here is no script of the page; axe-core would wait for timers, which are off, too."""
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    for name, port in ports.items():
        for scheme in ("light", "dark"):
            pages.check_layout(browser, page_at(port, ""), 390, scheme)
        for part, words in SAID[name].items():
            said = browser.run(f"[...document.querySelectorAll('{part}')].map(e => e.innerText).join(' ')")
            require(words.lower() in said.lower(), f"{name}: {part} says {said!r}, not {words}")
        require(name != "coordinator" or browser.run("document.querySelectorAll('svg.fig polyline').length") >= len(ARMS), "no figure")
        time.sleep(5)
        fresh = browser.run("document.getElementById('fresh').textContent")
        require(fresh == "This page is of the time at which it was asked for.", f"a script runs, or the page says that it is new: {fresh}")
    browser.ask("Emulation.setScriptExecutionDisabled", value=False)


def start_browser(folder):
    """With axe-core."""
    if not IS_LONG or shutil.which("chromium") is None or shutil.which("npm") is None:
        raise Skipped("a browser is started by make check-long only")
    return pages.Browser(shutil.which("chromium"), folder / "profile"), pages.fetch_axe(pathlib.Path(os.environ["TACIT_PROGRAM"]).parent)


def check_screens(browser, axe, ports, pictures):
    for name, port in ports.items():
        for width in pages.WIDTHS:
            for scheme in ("light", "dark"):
                pages.check_screen(browser, axe, page_at(port, f"dashboard-{name}"), width, scheme, pictures)
    check_without_scripts(browser, ports)


@test
def hooked_a_helper_in_a_browser(federation_of):
    """One that leaves a site out."""
    folder = pathlib.Path(tempfile.mkdtemp())
    browser, axe = start_browser(folder)
    federation = federation_of([0.875, 0.5, 0.125], kind=Two, quorum=2, deadline_s=2)
    ports = {"helper": live.free_port()}
    federation.write_helper(federation.epsilon, status={"port": ports["helper"]})
    federation.start_all(["coordinator", "site-0", "site-1"])
    federation.start("site-2", TACIT_TEST_MASK="envelope")
    federation.start("helper")
    federation.agree()
    federation.apply(allowance=100)
    try:
        wait_for("a site is left out", lambda: any(cause["cause"] == "left-out" for cause in (federation.status() or {}).get("causes", [])), 40)
        check_screens(browser, axe, ports, pathlib.Path(os.environ.get("PICTURES", folder)))
    finally:
        browser.close()
        shutil.rmtree(folder, ignore_errors=True)


@test
def dashboards_in_a_browser(federation_of):
    folder = pathlib.Path(tempfile.mkdtemp())
    browser, axe = start_browser(folder)
    federation = federation_of([0.62, 0.6, 0.5, 0.4, 0.2], epsilon=1.0, horizon=4000000)
    federation.arms = ARMS
    ports = {name: live.free_port() for name in ("coordinator", "site-0")}
    run = federation.run_section(bounds="exact", growth=1.5, confidence=0.95)
    del run["rounds"], run["gap"]
    federation.write_coordinator(run, waiting_after_s=3, observe={"listen": f"127.0.0.1:{ports['coordinator']}"})
    for site in federation.sites:
        federation.write_agent(site, federation.policy(), waiting_after_s=3,
                               **({"observe": {"listen": f"127.0.0.1:{ports[site]}"}} if site in ports else {}))
    federation.start_all()
    federation.wait_for_sites("joins", federation.has_joined, 60)
    federation.apply(allowance=12000)
    federation.run_tacit_quietly("control", federation.folder / "coordinator.yaml", "deadline", "3600")
    time.sleep(12)
    try:
        check_screens(browser, axe, ports, pathlib.Path(os.environ.get("PICTURES", folder)))
        browser.show(page_at(ports["coordinator"], ""), 1280, "light")
        for key in ("rawKeyDown", "keyUp"):
            browser.ask("Input.dispatchKeyEvent", type=key, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        require(browser.run("document.activeElement.getAttribute('aria-label')") == "Arms", "the keyboard does not get to the table of arms")
        before = browser.run("document.querySelector('main').textContent")
        federation.allow(10 ** 9)
        wait_for("the run ends", federation.is_finished, 120)
        wait_for("the page knows", lambda: "wins" in browser.run("document.querySelector('.say').textContent"), 20)
        require(browser.run("document.querySelector('main').textContent") != before and
                browser.run("document.activeElement.getAttribute('aria-label')") == "Arms", "the focus is lost by an update")
        require("looks again" in browser.run("document.getElementById('fresh').textContent"), "it does not say that it is new")
        federation.kill("coordinator")
        wait_for("the page says that it is old", lambda: "earlier time" in browser.run("document.getElementById('fresh').textContent"), 20)
    finally:
        browser.close()
        shutil.rmtree(folder, ignore_errors=True)
    federation.end_applications()


if __name__ == "__main__":
    main()
