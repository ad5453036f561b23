#!/usr/bin/env python3
"""Every code block of the README and of the tutorial is run by a test, as it stands; every one of docs/*.md is, or is named here with the
reason why not; whatever `tacit` command stands in one, its name and options are those that the program has; and every link leads somewhere.

usage: blocks.py       $TACIT_PROGRAM, $TACIT_SOURCE
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import page

TACIT = os.environ["TACIT_PROGRAM"]
SOURCE = pathlib.Path(os.environ["TACIT_SOURCE"])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^\$? ?(?:sudo -u tacit )?(?:build/)?tacit ([a-z-]+)(.*)$", re.M)
OWN_MACHINE = "it changes the machine: packages, users, services, another machine's disk"
SLICE = "a slice of a site's or coordinator's file; whole files of this protocol are run by tests/live"
OUTPUT = "an excerpt of what a long run printed"
# By the page and how the block begins; console blocks are run by page.py, and those of the guide by tests/live/guide.py.
REASONS = {
    ("docs/containers.md", "make deb"): OWN_MACHINE,
    ("docs/containers.md", "for folder in pki"): OWN_MACHINE,
    ("docs/containers.md", "kubectl create"): OWN_MACHINE,
    ("docs/live.md", "make deb"): OWN_MACHINE,
    ("docs/helper.md", "tacit helper answer"): "files of a run under way: tests/live/helper.py carries them",
    ("docs/claims-file.md", "fast_runs: 3"): "a slice of a claims file",
    ("docs/claims-file.md", "        fast: {says"): "a slice of a claims file",
    ("docs/contexts.md", "protocol: glm-ucb\nrun:"): SLICE,
    ("docs/contexts.md", "protocol: glm-ucb\npolicy:"): SLICE,
    ("docs/contexts.md", "protocol: glm-ucb-sound\nrun:"): SLICE,
    ("docs/contexts.md", "protocol: glm-ucb-sound\npolicy:"): SLICE,
    ("docs/contexts.md", "POST /v1/decisions"): "what goes over the line, not a command",
    ("docs/contexts.md", "agents: 37"): "a slice of an experiment with a data set",
    ("docs/device.md", "cc device.c"): "needs the installed library: built by tests/cli/device.c",
    ("docs/device.md", "device on a Cortex"): OUTPUT,
    ("docs/experiment-file.md", "agents: 100"): "a slice of an experiment",
    ("docs/flower.md", "make python"): "it installs a framework; the package is built and tested by tools/build_python.sh",
    ("docs/flower.md", "from tacit.flower"): "needs that framework",
    ("docs/live.md", "tacit pki revoke"): "run by tests/live/certificates.py",
    ("docs/live.md", "state: /var/lib"): OWN_MACHINE,
    ("docs/live.md", "sudo install"): OWN_MACHINE,
    ("docs/live.md", "sudo -u tacit"): OWN_MACHINE,
    ("docs/monitoring.md", "observe: {listen"): SLICE,
    ("docs/monitoring.md", "tacit pki --directory pki"): "run by tests/live/monitoring.py",
    ("docs/operations.md", "tacit pki --directory pki east"): "run by tests/live/runs.py",
    ("docs/operations.md", "sed -i -e"): "run by tests/live/runs.py",
    ("docs/operations.md", "mv state state-lost"): "run by tests/live/lost.py",
    ("docs/peers.md", "run: {horizon"): SLICE,
    ("docs/shards.md", "parallel"): "tests/cli/shards.py starts shares by parallel, with files of its own",
    ("docs/training.md", "make live"): "the demo is run by tests/live/guide.py",
    ("docs/training.md", "protocol: select\nsites"): SLICE,
    ("docs/training.md", "protocol: select\narms"): SLICE,
}

# Blocks of the README that others run as they stand, and how those find them.
RUN_BY = {("README.md", "make run "): ("tools/bare_root.sh", "sed -n '/^```sh$/")}
TUTORIAL = "docs/tutorial.md"
PARTS = ("bench", "docs", "examples", "experiments", "python", "src", "tests")  # where pages with links lie


def pages():
    return ["README.md", *sorted(f"docs/{path.name}" for path in (SOURCE / "docs").glob("*.md"))]


def blocks(text):
    return BLOCK.findall(text)


def guided():
    """(page, beginning) of the blocks that the guide follows, read from the guide itself."""
    guide = (SOURCE / "tests/live/guide.py").read_text(encoding="utf-8")
    begins = re.findall(r'guide\.block\("(\w+)", "([^"]+)"\)', guide)
    assert len(begins) >= 8, begins
    return [start.encode().decode("unicode_escape") for _, start in begins]


def how_held(name, kind, text, followed):
    if kind == "console":
        return "page.py" if pathlib.Path(name).name in (SOURCE / "tests/meson.build").read_text(encoding="utf-8") else None
    if name == TUTORIAL:
        return "tutorial"
    if name in ("docs/live.md", "docs/peers.md", "docs/helper.md") and any(text.startswith(start) for start in followed):
        return "guide.py"
    if name == "README.md":
        by = next((by for (_, start), by in RUN_BY.items() if text.startswith(start)), None)
        is_found = by is not None and by[1] in (SOURCE / by[0]).read_text(encoding="utf-8")
        return by[0] if is_found else None
    return next((reason for (one, start), reason in REASONS.items() if one == name and text.startswith(start)), None)


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


def run_as_they_stand(shell_blocks):
    """One after the other, in a folder like the project's after `make`. What each prints."""
    with tempfile.TemporaryDirectory(prefix="tacit-blocks-") as name:
        folder = pathlib.Path(name)
        (folder / "build").mkdir()
        (folder / "build/tacit").symlink_to(os.path.abspath(TACIT))
        for part in ("experiments", "examples"):
            (folder / part).symlink_to(SOURCE / part)
        for text in shell_blocks:
            done = subprocess.run(["bash", "-ec", text], cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            yield done.stdout


def follow_tutorial():
    """Each text block is what the shell block before it prints."""
    found = blocks((SOURCE / TUTORIAL).read_text(encoding="utf-8"))
    assert [kind for kind, _ in found] == ["sh", "text"] * (len(found) // 2), "commands, then what they print"
    for (_, shown), printed in zip(found[1::2], run_as_they_stand([text for _, text in found[::2]]), strict=True):
        yield from [] if page.fits(shown.splitlines(), printed.splitlines()) else [f"{TUTORIAL}: it prints:\n{printed}"]


def anchors(text):
    """As GitHub names headings."""
    return {re.sub(r"[^\w -]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
            for line in re.sub(BLOCK, "", text).splitlines() if line.startswith("#")}


def broken_links(name, text):
    """To files that are not there, and to headings that no page has."""
    here = SOURCE / name
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", re.sub(BLOCK, "", text)):
        if "://" in target:
            continue
        there = (here.parent / target).resolve() if target else here
        if not there.exists():
            yield f"{name}: {target}: there is no such file"
        elif anchor and anchor not in anchors(there.read_text(encoding="utf-8")):
            yield f"{name}: {target}#{anchor}: there is no such heading"


def main():
    followed = guided()
    used, wrong = set(), []
    for name in pages():
        for kind, text in blocks((SOURCE / name).read_text(encoding="utf-8")):
            held = how_held(name, kind, text, followed)
            if held is None:
                wrong.append(f"{name}: a block that nothing runs and no reason is given for: {text[:60]!r}")
            used.update(key for key in REASONS if key[0] == name and text.startswith(key[1]))
            wrong += [f"{name}: {one}: there is no such thing" for one in wrong_commands(text)]
    tops = [path for path in SOURCE.glob("*.md") if path.name != "CHANGELOG.md"]  # which tells of what was
    for path in [*tops, *(one for part in PARTS for one in (SOURCE / part).rglob("*.md"))]:
        wrong += broken_links(path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8"))
    wrong += follow_tutorial()
    wrong += [f"{name}: no block begins with {start!r} any more" for name, start in REASONS.keys() - used]
    assert wrong_commands("tacit ruin --json\ntacit run --jason FILE\n") == ["tacit ruin", "tacit run --jason"], "it finds nothing"
    assert len(list(broken_links("README.md", "[a](no.md) [b](docs/live.md#no) [c](docs/live.md#agent-each-site)"))) == 2, "no link is broken"
    print("\n".join(wrong) or "every block is run, or says why not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
