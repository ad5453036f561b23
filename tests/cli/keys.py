#!/usr/bin/python3
"""`tacit help keys`: the tables that read files say of themselves what is true. The schema takes every experiment of the project and
refuses what the program refuses; what a key's absence is said to mean is what it means; and in every key, one after another, what the
schema does not allow is refused by the program, which says where, what and what is allowed.

usage: keys.py        $TACIT_PROGRAM, $TACIT_SOURCE
"""
import copy
import hashlib
import json
import math
import os
import pathlib
import subprocess
import tempfile

import jsonschema
import yaml

from program import TACIT, tacit

SOURCE = pathlib.Path(os.environ["TACIT_SOURCE"])
FAMILIES = ("elimination", "phased-index", "votes", "gossip-ucb", "glm-ucb", "select", "index", "own")
FILES = {kind: SOURCE / path for kind, path in {
    "elimination": "experiments/p1-elimination/fig10_ring.yaml", "phased-index": "experiments/hospital/hospital.yaml",
    "votes": "experiments/p3-votes/fig3a_10000.yaml"}.items()}


def schema(*words):
    return json.loads(tacit("help", "keys", "--schema", *words))


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
        tacit("check", path)
        for wrong in WRONG:
            bad = dict(good, **yaml.safe_load(wrong))
            path.write_text(yaml.safe_dump(bad))
            tacit("check", path, code=2)
            assert not validator.is_valid(bad), wrong


def rows(kind):
    """(path, key, value, left out) of the Markdown tables."""
    path = None
    for line in tacit("help", "keys", "--markdown", kind).splitlines():
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
        before = tacit("check", path)
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
                       "status: {unix: s}, run: {horizon: 1000, epsilon: 1}, network: {kind: hybrid, components: [{agents: 2, kind: path}]}}",
        "helper": "{federation: f, state: s, broker: {host: h, ca: c, certificate: c, key: k}, hub: '" + 64 * "a" + "', epsilon: 1, status: {port: 80}}"}
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


PLAIN = "name: d, seed: 1, runs: 2, checkpoints: 3, agents: 4, horizon: 200000, environment: {kind: bernoulli, generated: {arms: 3}}"
SOUND, PAPER, NONE = "privacy: {mode: sound, epsilon: 1}", "privacy: {mode: paper, epsilon: 1}", "privacy: {mode: none}"
BASES = (  # between them, every section
    ("elimination", f"network: {{kind: small-world, degree: 2, rewiring_probability: 0.5}}, protocol: {{kind: elimination}}, {SOUND}"),
    ("elimination", f"network: {{kind: random}}, protocol: {{kind: elimination}}, cost: {{server_link: 1}}, {PAPER}"),
    ("elimination", f"network: {{kind: grid}}, protocol: {{kind: elimination, rounds: 4, gap: 0.1}}, {PAPER}"),
    ("elimination", f"protocol: {{kind: elimination, bounds: exact}}, {SOUND}"),
    ("elimination", "environment: {kind: gaussian, generated: {arms: 3, draw: apart, best: 0.5, gap: 0.1}, gaussian: {sd: 1}}, "
                    f"protocol: {{kind: elimination}}, {PAPER}"),
    ("elimination", "environment: {kind: gaussian, generated: {arms: 3}, gaussian: {sd: 1}}, network: {kind: hybrid, components: "
                    f"[{{agents: 4, kind: ring}}]}}, protocol: {{kind: elimination}}, {PAPER}"),
    ("elimination", "environment: {kind: logged, logged: {csv: log.csv, split: random, arm: drug, reward: y}}, agents: 2, "
                    f"protocol: {{kind: elimination}}, {SOUND}"),
    ("phased-index", f"protocol: {{kind: phased-index}}, {SOUND}"),
    ("votes", "network: {kind: broadcast}, protocol: {kind: votes, epsilon: 0.25, eta: 0.9}, privacy: {mode: paper}"),
    ("gossip-ucb", f"network: {{kind: ring}}, protocol: {{kind: gossip-ucb}}, {NONE}"),
    ("glm-ucb", "environment: {kind: contextual, contextual: {dimension: 3, arms: 4}}, horizon: 60, "
                f"protocol: {{kind: glm-ucb, threshold: 2}}, {NONE}"),
    ("select", "environment: {kind: latency, source: two-groups}, agents: 6, horizon: 20, "
               "protocol: {kind: select, users_per_round: 2}, privacy: {mode: paper, epsilon: 40, eta: 0.04}"),
    ("index", f"protocol: {{kind: index}}, {NONE}"),
)
LIMITS = {"": "e92ef3a4cfeca40f", "agent": "8657cb53e740ca62", "coordinator": "e5b6b1a18f2edc90", "helper": "8a432942ca645f48", "claims": "ed8e79757265aa7a"}
GLM_RUN = "protocol: {}, run: {{horizon: 1000, quorum: 1, features: [a], {}}}, network: {{kind: star}}"
LIVE_BASES = (
    ("agent", "elimination", "decisions: {deadline_s: 60}, log: {format: text}, disk_low_mib: 1"),
    ("agent", "elimination", "missing: {after_s: 600, counts_as: 0}"),
    ("agent", "glm-ucb-sound", "protocol: glm-ucb-sound, policy: {epsilon: 1, budget: 1, delta: 1.0e-6, features: [a], range: [0, 1], "
                               "agents_max: 10, rounds_max: 40, pulls_max: 9}"),
    ("agent", "glm-ucb", "protocol: glm-ucb, policy: {privacy: none, features: [a], range: [0, 1], agents_max: 10, rounds_max: 40, "
                         "pulls_max: 9}"),
    ("coordinator", "elimination", ""),
    ("coordinator", "glm-ucb", GLM_RUN.format("glm-ucb", "threshold: 1")),
    ("coordinator", "glm-ucb-sound", GLM_RUN.format("glm-ucb-sound", "epsilon: 1, delta: 1.0e-6, batches: 5")),
    ("coordinator", "phased-index", "protocol: phased-index, run: {horizon: 100000, epsilon: 1}, network: {kind: star}"),
    ("helper", None, ""),
)


def leaves(node, document, where=()):
    """(where, what the schema says) of every key of the sections that a document has; (where, None) of what must be given."""
    for key, one in node["properties"].items():
        yield where + (key,), one
        if key in node.get("required", ()) and key in document:
            yield where + (key,), None
        below, place = document.get(key), where + (key,)
        if key == "components" and below:
            one, below, place = one["anyOf"][0]["items"], below[0], (*place, 0)
        if isinstance(below, dict):
            yield (*place, "colour"), {}
            yield from leaves(one, below, place)


def wrongs(one):
    """(value that is none, words of the refusal)"""
    if "anyOf" in one:
        one = one["anyOf"][0]
        if one.get("type") != "number":
            return
    ends = [f"{one[end]:.15g}" for end in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum") if end in one]
    step = 1 if one.get("type") == "integer" else 0.5
    for end, beyond in (("minimum", -step), ("exclusiveMinimum", 0), ("maximum", step), ("exclusiveMaximum", 0)):
        if end in one and abs(one[end]) < 1e15:
            yield one[end] + beyond, ends
    if ends:
        yield from (("many", ends), (math.nan, ends), ({"a": 1}, ["a map; ", *ends]))
    if step == 1:
        yield 2.5, ["a whole number"]
    if "enum" in one:
        yield from (("guess", ["allowed: "]), ([1], ["one word of "]))
    elif one.get("type") == "object":
        yield 7, ["a map of keys is expected"]
    elif "not" in one:
        yield {"a": 1}, [" expected"]
    elif not one:
        yield "red", ["unknown key", "allowed: "]


def spoilt(document, where, value):
    document = copy.deepcopy(document)
    place = document
    for key in where[:-1]:
        place = place[key]
    if value is None:
        del place[where[-1]]
    else:
        place[where[-1]] = value
    return document


def refuses_in_every_key(said, kind, document, command, path):
    """Adds what was seen to be refused. A key may say that it does not belong there: another document is its own."""
    for where, one in leaves(kind, document):
        for value, words in wrongs(one) if one is not None else [(None, ["missing"])]:
            if (where, str(value), *words) in said:
                continue
            path.write_text(yaml.safe_dump(spoilt(document, where, value)))
            error = tacit(*command, path, code=2)
            assert error.startswith(str(path)) and f": {'.'.join(map(str, where))}: " in error and error.count("\n") == 1, (where, value, error)
            if any(word not in error for word in words):
                assert "belong" in error or "is not known here; allowed: " in error, (where, value, words, error)
                break
            said.add((where, str(value), *words))


def kind_of(whole, name):
    """What the schema of some files says of one protocol's."""
    kind = next(one["then"] for one in whole["allOf"] if f'"const": "{name}"' in json.dumps(one["if"]))
    return {"properties": {**whole["properties"], **kind["properties"]}, "required": whole.get("required", []) + kind.get("required", [])}


def what_a_key_does_not_allow_is_refused():
    said, said_live = set(), set()
    whole = schema()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.yaml"
        path.with_name("log.csv").write_text("drug,y\n" + 4 * "a,1\nb,0\n")
        for name, text in BASES:
            document = yaml.safe_load(f"{{{PLAIN}, {text}}}")
            path.write_text(yaml.safe_dump(document))
            tacit("check", path)
            refuses_in_every_key(said, kind_of(whole, name), document, ["check"], path)
        for name, protocol, text in LIVE_BASES:
            document = dict(yaml.safe_load(LIVE[name]), **yaml.safe_load(f"{{{text}}}"))
            path.write_text(yaml.safe_dump(document))
            assert ": broker: cannot read a certificate" in tacit(name, "--config", path, code=2), document
            kind = schema(name)
            refuses_in_every_key(said_live, kind_of(kind, protocol) if protocol else kind, document, [name, "--config"], path)
    assert len(said) >= 394 and len(said_live) >= 348, (len(said), len(said_live))


def limits_of(node):
    if isinstance(node, dict):
        return {key: limits_of(below) for key, below in node.items() if key != "description"}
    return [limits_of(one) for one in node] if isinstance(node, list) else node


def limits_are_as_ever():
    """A limit that moves, a key that goes or comes, in any file: whoever means it writes the new number here."""
    for kind, digest in LIMITS.items():
        found = hashlib.sha256(json.dumps(limits_of(schema(*kind.split())), sort_keys=True).encode()).hexdigest()[:16]
        assert found == digest, (kind, found)


def words_that_are_wrong_are_refused():
    assert "claims, elimination" in tacit("help", "keys", "ucb", code=2)
    assert "allowed: keys, metrics" in tacit("help", "key", code=2)
    assert tacit("help").startswith("Usage:")
    for kind in FAMILIES:
        assert f"\n==== {kind}\n" in tacit("help", "keys", kind)


TESTS = (the_schema_takes_every_experiment_and_refuses_a_key_too_many, what_the_program_refuses_the_schema_refuses, left_out_is_as_said,
         schemas_of_other_files_measure_them, what_a_key_does_not_allow_is_refused, limits_are_as_ever, words_that_are_wrong_are_refused)

if __name__ == "__main__":
    for test in TESTS:
        test()
        print(f"[       OK ] {test.__name__}", flush=True)
