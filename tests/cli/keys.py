#!/usr/bin/python3
"""`tacit help keys`: the tables that read files say of themselves what is true. The schema takes every experiment of the project and
refuses what the program refuses; what a key's absence is said to mean is what it means.

usage: keys.py        $TACIT_PROGRAM, $TACIT_SOURCE
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile

import jsonschema
import yaml

TACIT = os.environ["TACIT_PROGRAM"]
SOURCE = pathlib.Path(os.environ["TACIT_SOURCE"])
FAMILIES = ("elimination", "phased-index", "votes", "gossip-ucb", "glm-ucb", "select", "index", "own")
FILES = {kind: SOURCE / path for kind, path in {
    "elimination": "experiments/p1-elimination/fig10_ring.yaml", "phased-index": "experiments/hospital/hospital.yaml",
    "votes": "experiments/p3-votes/fig3a_10000.yaml"}.items()}


def call(*words, code=0):
    done = subprocess.run([TACIT, *map(str, words)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout if code == 0 else done.stderr


def schema(*words):
    return json.loads(call("help", "keys", "--schema", *words))


def experiments():
    for path in sorted(SOURCE.glob("experiments/*/*.yaml")) + sorted(SOURCE.glob("examples/*/*.yaml")):
        document = yaml.safe_load(path.read_text())
        if isinstance(document.get("protocol"), dict):
            yield path, document


def maps(node, path=()):
    """Every map of a document, with where it is."""
    if isinstance(node, dict):
        yield path, node
        for key, value in node.items():
            yield from maps(value, path + (key,))


def the_schema_takes_every_experiment_and_refuses_a_key_too_many():
    validator = jsonschema.Draft7Validator(schema())
    validator.check_schema(validator.schema)
    count = 0
    for path, document in experiments():
        count += 1
        errors = [error.message for error in validator.iter_errors(document)]
        assert not errors, (path, errors)
        for where, inner in maps(document):
            inner["colour"] = "red"
            assert not validator.is_valid(document), (path, where)
            del inner["colour"]
    assert count > 400, count


WRONG = ("runs: 0", "agents: many", "horizon: -1", "privacy: {mode: safe}", "protocol: {kind: elimination, growth: 9, bounds: exact}",
         "protocol: {kind: elimination, sink_delay: 3}", "protocol: {kind: guess}", "network: {kind: wheel}", "cost: {server_link: -1}",
         "environment: {kind: bernoulli, generated: {arms: 1}}", "checkpoints: {a: 1}", "name: {}")


def what_the_program_refuses_the_schema_refuses():
    validator = jsonschema.Draft7Validator(schema())
    good = {"name": "x", "horizon": 1000, "agents": 3, "environment": {"kind": "bernoulli", "generated": {"arms": 3}},
            "protocol": {"kind": "elimination"}, "privacy": {"mode": "none"}}
    assert validator.is_valid(good)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.yaml"
        path.write_text(yaml.safe_dump(good))
        call("check", path)
        for wrong in WRONG:
            bad = dict(good, **yaml.safe_load(wrong))
            path.write_text(yaml.safe_dump(bad))
            call("check", path, code=2)
            assert not validator.is_valid(bad), wrong


def rows(kind):
    """(path, key, value, left out) of the Markdown tables."""
    path = None
    for line in call("help", "keys", "--markdown", kind).splitlines():
        if line.startswith("### "):
            path = "" if line[4:] == "the file" else line[4:]
        elif line.startswith("| `"):
            name, value, without = (cell.strip() for cell in line.split("|")[1:4])
            yield path, name.strip("`"), value, without


def left_out_is_as_said():
    """A value that holds where a key is left out is the value that the program takes there."""
    count = 0
    for kind, path in FILES.items():
        document = yaml.safe_load(path.read_text())
        before = call("check", path)
        for section, key, _, without in rows(kind):
            place = document
            for part in filter(None, section.split(".")):
                place = place.get(part, {}) if isinstance(place, dict) else {}
            if not without.startswith("`") or key in place or not place or "N" in section:
                continue
            without = without.strip("`")
            done = subprocess.run([TACIT, "check", path, "--set", f"{section}.{key}={without}".lstrip(".")], capture_output=True, text=True,
                                  check=False, timeout=60)
            if "belongs to" in done.stderr:
                continue
            assert done.stdout == before, (kind, section, key, without, done.stderr)
            count += 1
    assert count >= 8, count


LIVE = {"agent": "{federation: f, site: north, state: s, broker: {host: h, ca: c, certificate: c, key: k}, arms: [a, b], api: {port: 80}, "
                 "policy: {epsilon: 1, budget: 2, range: [0, 1], agents_max: 9, rounds_max: 9, pulls_max: 9}}",
        "coordinator": "{federation: f, state: s, broker: {host: h, ca: c, certificate: c, key: k}, arms: [a, b], sites: [a, b], "
                       "status: {unix: s}, run: {horizon: 100, epsilon: 1}, network: {kind: hybrid, components: [{agents: 2}]}}",
        "helper": "{federation: f, state: s, broker: {host: h, ca: c, certificate: c, key: k}, hub: a, epsilon: 1, status: {port: 80}}"}
LIVE_WRONG = {"agent": ("runs: never", "missing: {after_s: 1}", "log: {format: xml}", "decisions: {open_max: 0}", "training: {model: mlp}", "api: 80"),
              "coordinator": ("run: {horizon: 0}", "protocol: own", "protocol: votes", "waiting_after_s: 0", "network: {kind: wheel}"),
              "helper": ("sites_min: 1", "epsilon: 0", "observe: {listen: x}", "broker: {host: h}")}


def schemas_of_other_files_measure_them():
    claims = jsonschema.Draft7Validator(schema("claims"))
    files = [(claims, yaml.safe_load(path.read_text())) for path in SOURCE.glob("experiments/*/claims.yaml")]
    for kind, text in LIVE.items():
        validator = jsonschema.Draft7Validator(schema(kind))
        files.append((validator, yaml.safe_load(text)))
        for wrong in LIVE_WRONG[kind]:
            assert not validator.is_valid(dict(yaml.safe_load(text), **yaml.safe_load(wrong))), (kind, wrong)
    assert len(files) > 8
    for validator, document in files:
        assert not list(validator.iter_errors(document)), document
        for where, inner in maps(document):
            if where != ("fast_settings",):
                inner["colour"] = "red"
                assert not validator.is_valid(document), where
                del inner["colour"]


def words_that_are_wrong_are_refused():
    assert "claims, elimination" in call("help", "keys", "ucb", code=2)
    assert "allowed: keys, metrics" in call("help", "key", code=2)
    assert call("help").startswith("Usage:")
    for kind in FAMILIES:
        assert f"\n==== {kind}\n" in call("help", "keys", kind)


TESTS = (the_schema_takes_every_experiment_and_refuses_a_key_too_many, what_the_program_refuses_the_schema_refuses, left_out_is_as_said,
         schemas_of_other_files_measure_them, words_that_are_wrong_are_refused)

if __name__ == "__main__":
    for test in TESTS:
        test()
        print(f"[       OK ] {test.__name__}", flush=True)
