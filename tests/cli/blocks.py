#!/usr/bin/env python3
"""Every code block of the README is run by a test, as it stands; every one of docs/*.md is, or is named here with the reason why
not; and whatever `tacit` command stands in one, its name and options are those that the program has.

usage: blocks.py       $TACIT_PROGRAM, $TACIT_SOURCE
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TACIT = os.environ["TACIT_PROGRAM"]
SOURCE = pathlib.Path(os.environ["TACIT_SOURCE"])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^\$? ?(?:sudo -u tacit )?(?:build/)?tacit ([a-z-]+)(.*)$", re.M)
OWN_MACHINE = "it changes the machine: packages, users, services, another machine's disk"
SLICE = "a slice of a site's or coordinator's file; whole files of this protocol are run by tests/live"
OUTPUT = "an excerpt of what a long run printed"
# By the page and how the block begins; console blocks are run by page.py, and those of the guide by tests/live/guide.py.
REASONS = {
    ("docs/claims-file.md", "fast_runs: 3"): "a slice of a claims file",
    ("docs/claims-file.md", "        fast: {says"): "a slice of a claims file",
    ("docs/contexts.md", "protocol: glm-ucb\nrun:"): SLICE,
    ("docs/contexts.md", "protocol: glm-ucb\npolicy:"): SLICE,
    ("docs/contexts.md", "POST /v1/decisions"): "what goes over the line, not a command",
    ("docs/contexts.md", "agents: 37"): "a slice of an experiment with a data set",
    ("docs/device.md", "cc device.c"): "needs the installed library: built by tests/cli/device.c",
    ("docs/device.md", "device on a Cortex"): OUTPUT,
    ("docs/experiment-file.md", "agents: 100"): "a slice of an experiment",
    ("docs/experiment-file.md", '{"answer"'): OUTPUT,
    ("docs/experiment-file.md", '"profiles"'): OUTPUT,
    ("docs/experiment-file.md", '"network"'): OUTPUT,
    ("docs/flower.md", "make python"): "it installs a framework; the package is built and tested by tools/build_python.sh",
    ("docs/flower.md", "from tacit.flower"): "needs that framework",
    ("docs/gossip.md", "protocol: gossip-ucb"): SLICE,
    ("docs/operations.md", "make && sudo make install"): OWN_MACHINE,
    ("docs/operations.md", "tacit pki revoke"): "run by tests/live/certificates.py",
    ("docs/operations.md", "tacit pki --directory pki east"): "run by tests/live/runs.py",
    ("docs/operations.md", "sed -i -e"): "run by tests/live/runs.py",
    ("docs/operations.md", "mv state state-lost"): "run by tests/live/lost.py",
    ("docs/operations.md", "sudo useradd"): OWN_MACHINE,
    ("docs/operations.md", "state: /var/lib"): OWN_MACHINE,
    ("docs/operations.md", "sudo install"): OWN_MACHINE,
    ("docs/operations.md", "sudo -u tacit"): OWN_MACHINE,
    ("docs/peers.md", "run: {horizon"): SLICE,
    ("docs/phased.md", "protocol: phased-index"): SLICE,
    ("docs/shards.md", "parallel"): "tests/cli/shards.py starts shares by parallel, with files of its own",
    ("docs/training.md", "make live"): "the demo is run by tests/live/training.py",
    ("docs/training.md", "federation: wards\nprotocol: select\nstate"): SLICE,
    ("docs/training.md", "federation: wards\nprotocol: select\nsite"): SLICE,
    ("docs/votes.md", "protocol: votes"): SLICE,
}

# Blocks of the README that others run as they stand, and how those find them.
RUN_BY = {
    ("README.md", "make run "): ("tools/bare_root.sh", "sed -n '/^```sh$/"),
    ("README.md", "decision=$("): ("tests/live/guide.py", 'guide.block("sh", "decision=$(curl")'),
}


def pages():
    return ["README.md", *sorted(f"docs/{path.name}" for path in (SOURCE / "docs").glob("*.md"))]


def blocks(text):
    return BLOCK.findall(text)


def guided():
    """(page, beginning) of the blocks that the guide follows, read from the guide itself."""
    guide = (SOURCE / "tests/live/guide.py").read_text(encoding="utf-8")
    begins = re.findall(r'guide\.block\("(\w+)", "([^"]+)"\)', guide)
    assert len(begins) >= 9, begins
    return [start.encode().decode("unicode_escape") for _, start in begins]


def how_held(page, kind, text, followed):
    if kind == "console":
        return "page.py" if pathlib.Path(page).name in (SOURCE / "tests/meson.build").read_text(encoding="utf-8") else None
    if page in ("docs/operations.md", "docs/peers.md") and any(text.startswith(start) for start in followed):
        return "guide.py"
    if page == "README.md":
        by = next((by for (_, start), by in RUN_BY.items() if text.startswith(start)), None)
        is_found = by is not None and by[1] in (SOURCE / by[0]).read_text(encoding="utf-8")
        return "check" if kind == "yaml" else by[0] if is_found else "run" if by is None else None
    return next((reason for (one, start), reason in REASONS.items() if one == page and text.startswith(start)), None)


def help_of(name):
    done = subprocess.run([TACIT, name, "--help"], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def wrong_commands(text):
    """Commands in a block that the program does not have, and options that they do not have."""
    found = []
    for name, rest in COMMAND.findall(text):
        known = help_of(name)
        if known is None:
            found.append(f"tacit {name}")
            continue
        options = re.findall(r"(?<=\s)--[a-z-]+", rest.split(" #")[0])
        found += [f"tacit {name} {option}" for option in options if not re.search(re.escape(option) + r"\b", known)]
    return found


def check_experiment(text):
    """The file of the README, with means beside it, is one that runs."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tacit-blocks-"))
    (folder / "coupons.yaml").write_text(text, encoding="utf-8")
    (folder / "means.csv").write_text("0.5,0.4,0.3\n", encoding="utf-8")
    done = subprocess.run([TACIT, "check", "coupons.yaml"], cwd=folder, capture_output=True, text=True, check=False)
    shutil.rmtree(folder)
    assert done.returncode == 0, done.stderr


def run_as_it_stands(text):
    """In a folder like the project's after `make`."""
    with tempfile.TemporaryDirectory(prefix="tacit-blocks-") as name:
        folder = pathlib.Path(name)
        (folder / "build").mkdir()
        (folder / "build/tacit").symlink_to(os.path.abspath(TACIT))
        for part in ("experiments", "examples"):
            (folder / part).symlink_to(SOURCE / part)
        done = subprocess.run(["bash", "-ec", text], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def main():
    followed = guided()
    used, wrong = set(), []
    for page in pages():
        for kind, text in blocks((SOURCE / page).read_text(encoding="utf-8")):
            held = how_held(page, kind, text, followed)
            if held is None:
                wrong.append(f"{page}: a block that nothing runs and no reason is given for: {text[:60]!r}")
            if held == "check":
                check_experiment(text)
            if held == "run":
                run_as_it_stands(text)
            used.update(key for key in REASONS if key[0] == page and text.startswith(key[1]))
            wrong += [f"{page}: {one}: there is no such thing" for one in wrong_commands(text)]
    wrong += [f"{page}: no block begins with {start!r} any more" for page, start in REASONS.keys() - used]
    assert wrong_commands("tacit ruin --json\ntacit run --jason FILE\n") == ["tacit ruin", "tacit run --jason"], "it finds nothing"
    print("\n".join(wrong) or "every block is run, or says why not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
