#!/usr/bin/env python3
"""Dead functions: what is not static in src, include and programs is called by the product, or is offered to hosts.

usage: check_callers.py ROOT
A function counts as called where its name stands in product code outside of its own definition and of declarations, or where a macro that
pastes its name together is used with what makes it (pasted_names). What only hosts call is in OFFERED, with the reason;
an entry that the product calls, or that is not there, is an error, too. Tests do not count: what they alone need belongs to tests/support.
"""
import pathlib
import re
import sys

# Name, or a beginning that ends with *: why nobody in the product calls it.
OFFERED = {
    "mosquitto_plugin_*": "the broker calls its module",
    "tacit_linalg_unpack": "linalg: the other half of pack, which messages of a triangle need",
    "tacit_graph_distances": "topo: a search is what a host asks of a graph first; the oracle compares all else with it",
    "tacit_ledger_next_scope": "privacy: a host that collects data anew over the same people",
    "tacit_bernoulli_exp": "privacy: a sampler of its own right, as proved",
    "tacit_rho_of_pure_nano": "privacy: adds a pure loss to a Gaussian ledger",
    "tacit_glm_private_client_view": "a view of a core's state, as every core has",
    "tacit_gossip_agent_flow": "a view of a core's state, as every core has",
    "tacit_gossip_message_copy": "messages of a core, for hosts that queue them",
    "tacit_gossip_radius": "gossip: the paper's (12), for who explains a choice",
    "tacit_select_temperature": "select: one step of the annealing, for who checks it",
    "tacit_select_neighbour": "select: one step of the annealing, for who checks it",
    "tacit_wire_arena_init": "wire: a device's memory (docs/device.md)",
    "tacit_learn_network_implementation": "learn: which kernels oneDNN chose, for who measures",
    "learn_network_bare": "learn: passes without the rest, for who measures",
    "tacit_env_ones": "env: rewards as counts, for who measures",
    "live_http_port": "the port that the system chose",
    "live_store_use_*": "faults of the disk under test",
}
MACRO = re.compile(r"^#define (\w+)\(([^)]*)\)((?:[^\n]*\\\n)*[^\n]*)", re.M)
PASTED = re.compile(r"\w+(?:\s*##\s*\w+)+")
DEFINED = re.compile(r"^(?!static\b|typedef\b|struct \w+\s*\{|enum\b\s*\w*\s*\{|#|extern\b)[A-Za-z_][\w\s\*]*?\b(\w+)\([^;{]*\)\s*\n\{", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.S)
PROTOTYPE = re.compile(r"^(?:extern\s+)?(?:const\s+)?(?:struct\s+|enum\s+|union\s+|unsigned\s+)?\w+[\s\*]+(\w+)\([^;{}=]*\)\s*(?:__attribute__\(\(.*?\)\)\s*)?;", re.M | re.S)
TAG = re.compile(r"\b(?:struct|enum|union)\s+\w+") # a view and what fills it are of one name


def product(root):
    for room in ("src", "include", "programs", "python"):
        yield from sorted(path for path in (root / room).rglob("*") if path.suffix in (".c", ".h", ".cpp", ".py", ".build"))


def pasted_names(text):
    made = set()
    for macro, names, body in MACRO.findall(text):
        pasted = [re.split(r"\s*##\s*", found) for found in PASTED.findall(body)]
        for given in re.findall(rf"\b{macro}\(([^()]*)\)", text) if pasted else ():
            values = dict(zip(re.split(r",\s*", names), re.split(r",\s*", given.strip())))
            made.update("".join(values.get(part, part) for part in parts) for parts in pasted)
    return made


def main(root):
    defined, uses = {}, {}
    pasted = pasted_names("\n".join(path.read_text() for path in product(root) if path.suffix in (".c", ".h")))
    for path in product(root):
        text = path.read_text()
        if path.suffix in (".c", ".h", ".cpp"):
            text = COMMENT.sub(" ", text)
            if path.suffix == ".c":
                for found in DEFINED.finditer(text):
                    defined[found[1]] = f"{path.relative_to(root)}:{text.count(chr(10), 0, found.start()) + 1}"
            text = DEFINED.sub(lambda found: found[0].replace(found[1] + "(", "(", 1), text)
            if path.suffix == ".h":
                text = PROTOTYPE.sub(" ", text)
        text = TAG.sub(" ", text)
        for word in re.findall(r"\b[A-Za-z_]\w+\b", text):
            uses[word] = uses.get(word, 0) + 1
    bad, needed = [], set()
    for name, where in sorted(defined.items(), key=lambda item: item[1]):
        if uses.get(name, 0) > 0 or name == "main" or name in pasted:
            continue
        entries = [entry for entry in OFFERED if name == entry or entry.endswith("*") and name.startswith(entry[:-1])]
        needed.update(entries)
        if not entries:
            bad.append(f"{where}: {name}: nobody in the product calls it")
    bad += [f"tools/check_callers.py: {entry}: the product calls it, or it is not there" for entry in OFFERED if entry not in needed]
    print("\n".join(bad) if bad else f"{len(defined)} functions, each with a caller or offered")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
