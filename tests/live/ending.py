#!/usr/bin/env python3
"""What the owner of a site does at the end: hands its ledger to an auditor, as signed lines of which none can be missing, altered, moved or
another's without being named; and erases its state, of which then no byte is left. See support.py."""
import json
import subprocess
import time

from support import TACIT, main, require, test, wait_for

MEANS = [0.875, 0.75, 0.125]


def call(*words):
    done = subprocess.run([TACIT, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def finished(federation_of, **options):
    federation = federation_of(MEANS, rounds=4, gap=0.25, **options)
    federation.start_all()
    federation.apply()
    federation.finish()
    return federation


def exported(federation, site):
    code, lines, said = call("audit", "--config", federation.folder / f"{site}.yaml")
    require(code == 0 and said == "", f"{code} {said}")
    return lines.splitlines()


@test
def audit_names_what_is_wrong_in_which_line(federation_of):
    federation = finished(federation_of)
    code, lines, said = call("audit", "--config", federation.folder / "site-0.yaml")
    require((code, lines) == (2, "") and "its agent is running: stop it first" in said, f"{code} {said}")
    ledger = federation.get("site-0", "/v1/ledger")
    for site in federation.sites:
        federation.stop(site)
    first, other = exported(federation, "site-0"), exported(federation, "site-1")
    time.sleep(1.1)  # in another second its first line is another one
    second = exported(federation, "site-0")
    said = [json.loads(line) for line in first]
    outbox = federation.outbox("site-0")
    require({one["number"]: (bytes.fromhex(one["bytes"]), one["epsilon_nano"], int(one["acknowledged"]))
             for one in said if one["kind"] == "release"} == outbox and outbox, f"{said}")
    require([one["kind"] for one in said[:3]] == ["site", "statement", "run"] and "epsilon = 1000 " in said[1]["text"], f"{said[:3]}")
    require(said[-1]["spent"] == ledger["spent"] and said[-1]["lines"] == len(first), f"{said[-1]}")
    count, file, authority = len(first), federation.folder / "lines", federation.pki / "ca.crt"
    altered = first[3].replace('"acknowledged":true', '"acknowledged":false')
    require(altered != first[3], first[3])
    wrong = {  # lines, what is said of them
        "none": ([], "line 1 is missing"),
        "first": (first[1:], "line 1 is missing"),
        "middle": (first[:3] + first[4:], "line 4 is missing"),
        "last": (first[:-1], f"line {count} is missing"),
        "altered": (first[:3] + [altered] + first[4:], "line 4: it was altered, or signed with another key"),
        "cut": (first[:3] + [first[3][:-1]] + first[4:], "line 4: it was altered: it has not the form of a line"),
        "another's": (first[:3] + [other[3]] + first[4:], "line 4: it was altered, or signed with another key"),
        "another export's": (first[:3] + [second[3]] + first[4:], "line 4: it is signed, and does not follow the line before"),
        "moved": (first[:3] + [first[4], first[3]] + first[5:], "out of order: line 5 stands in place of line 4"),
        "twice": (first[:4] + first[3:], "out of order: line 4 stands in place of line 5"),
        "more": (first + [first[-1]], f"line {count + 1} is missing"),
        "no line": (first[:2] + ["x"] + first[2:], "line 3 is no line of an audit"),
    }
    for name, (lines, words) in wrong.items():
        file.write_text("".join(line + "\n" for line in lines))
        code, out, told = call("audit", file, "--ca", authority)
        require(code == 2 and words in told and out == "" and told.count("\n") == 1, f"{name}: {code} {out} {told}")
    file.write_text("\n".join(first) + "\n")
    code, out, told = call("audit", file, "--ca", authority)
    require(code == 0 and f"{count} lines of site site-0, {len(outbox)} releases" in out, f"{code} {out} {told}")
    settings = federation.folder / "site-1.yaml"  # for the next run
    settings.write_text(settings.read_text().replace('"rounds_max": 40', '"rounds_max": 41'))
    code, out, told = call("audit", "--config", settings)
    require(code == 2 and out == "" and "another one than the state had" in told, f"{code} {out} {told}")
    federation.run_tacit("pki", "--directory", federation.folder / "other", "site-0")
    code, out, told = call("audit", file, "--ca", federation.folder / "other/ca.crt")
    require(code == 2 and "line 1: " in told, f"{code} {out} {told}")
    for words in ([], [file], ["--config", federation.folder / "site-0.yaml", file], ["--ca", authority]):
        require(call("audit", *words)[0] == 2, f"{words}")


def open_files(state):
    return {path: open(path, "rb") for path in state.rglob("*") if path.is_file()}


@test
def a_state_that_is_forgotten_leaves_no_byte(federation_of):
    federation = finished(federation_of)
    state, words = federation.folder / "state-site-0", ["forget", "--config", federation.folder / "site-0.yaml"]
    code, _, said = call(*words)
    require(code == 2 and "its agent is running: stop it first" in said and state.exists(), f"{code} {said}")
    code, _, said = call(*words, "--even-so")
    require(code == 2 and "in use by process" in said and state.exists(), f"{code} {said}")
    federation.stop("site-0")
    files = open_files(state)
    require(any(path.name == "state.db" for path in files) and any(any(file.read()) for file in files.values()), "nothing to erase")
    code, said, told = call(*words)
    require(code == 0 and "is erased" in said and not state.exists(), f"{code} {said} {told}")
    for path, file in files.items():  # what the disk has under the names that are gone
        file.seek(0)
        require(not any(file.read()), f"{path} is not overwritten")
        file.close()
    code, _, said = call(*words)
    require(code == 2 and "there is no state" in said, f"{code} {said}")


@test
def a_state_is_kept_while_its_run_is_under_way(federation_of):
    federation = federation_of(MEANS)
    federation.start_all()
    federation.apply(allowance=100)
    wait_for("it has joined", lambda: federation.has_joined("site-0"))
    for application in federation.applications:
        application.aborted = True
    federation.kill("site-0")
    state, words = federation.folder / "state-site-0", ["forget", "--config", federation.folder / "site-0.yaml"]
    files = open_files(state)
    code, _, said = call(*words)
    require(code == 2 and "a run is under way" in said and "the losses add" in said and state.exists(), f"{code} {said}")
    code, said, told = call(*words, "--even-so")
    require(code == 0 and not state.exists(), f"{code} {said} {told}")
    for path, file in files.items():
        file.seek(0)
        require(not any(file.read()), f"{path} is not overwritten")
        file.close()


if __name__ == "__main__":
    main()
