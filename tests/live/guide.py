#!/usr/bin/env python3
"""docs/live.md (the trial, then to its first decision) and docs/peers.md are followed by a shell, block by block as they stand, in a scratch
directory. Only what is another machine's there is this one's here: its name, its address, ports that are free; and what a
terminal of its own would show is started in the background. See support.py."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from support import IS_LONG, TACIT, federation, main, require, test, wait_for

BROKER_PROGRAM, free_port = federation.BROKER_PROGRAM, federation.free_port

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
DAEMON = re.compile(r"^(tacit (?:coordinator|agent) --config .*|\S*/mosquitto .*)$", re.M)


def is_alive(process):
    """Or one that it started."""
    try:
        os.killpg(process.pid, 0)
        return True
    except ProcessLookupError:
        return False


class Guide:
    """A page, and a shell that follows it."""

    def __init__(self, page):
        self.blocks = BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tacit-guide-"))
        self.ports = {"8883": str(free_port()), "8080": str(free_port())}
        self.processes = []
        bin_folder = self.folder / "bin"
        bin_folder.mkdir()
        (bin_folder / "tacit").symlink_to(TACIT)
        self.environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}

    def block(self, kind, start):
        """The block that begins so: the page has it once."""
        found = [text for one, text in self.blocks if one == kind and text.startswith(start)]
        require(len(found) == 1, f"{len(found)} blocks of {kind} begin with {start!r}")
        return self.here(found[0])

    def here(self, text):
        for old, new in (("broker.example.org", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("/usr/sbin/mosquitto", BROKER_PROGRAM),
                         *self.ports.items()):
            text = text.replace(old, new)
        return text

    def follow(self, text, folder):
        """Whatever stays in the foreground gets a terminal of its own; the rest must end well. What it says."""
        said = ""
        rest = DAEMON.sub("", text)
        if rest.strip():
            done = subprocess.run(["bash", "-e", "-c", rest], cwd=folder, env=self.environment, capture_output=True, text=True,
                                  timeout=120, check=False)
            require(done.returncode == 0, f"{rest}: {done.returncode} {done.stdout} {done.stderr}")
            said = done.stdout
        for line in DAEMON.findall(text):
            with open(folder / f"terminal-{len(self.processes)}.log", "w", encoding="utf-8") as log:
                self.processes.append(subprocess.Popen(["bash", "-c", "exec " + line], cwd=folder, env=self.environment,
                                                       stdout=log, stderr=log, start_new_session=True))
        return said

    def status(self, folder, file):
        """Exit code and what is printed."""
        done = subprocess.run(["tacit", "status", "--config", file], cwd=folder, env=self.environment, capture_output=True, text=True,
                              timeout=60, check=False)
        return done.returncode, done.stdout

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes:
            process.wait(60)
        wait_for("all have ended", lambda: not any(map(is_alive, self.processes)), 60)
        shutil.rmtree(self.folder)


def follow_live(guide):
    hub, north, south = (guide.folder / name for name in ("hub", "north", "south"))
    for folder in (hub, north, south):
        folder.mkdir()
    guide.follow(guide.block("sh", "tacit pki --directory pki --host"), hub)
    for site, folder in (("north", north), ("south", south)):  # scp, by cp: the same files
        files = re.search(r"^scp (.*) \S+:\S+$", guide.block("sh", "scp pki/ca.crt"), re.M)[1].replace("north", site).split()
        for file in files:
            shutil.copy(hub / file, folder)
    guide.follow(guide.block("sh", "mkdir broker"), hub)
    (hub / "coordinator.yaml").write_text(guide.block("yaml", "federation: trial\nstate: state\n"))
    guide.follow(guide.block("sh", "tacit coordinator --config"), hub)
    for site, folder in (("north", north), ("south", south)):
        file = guide.block("yaml", "federation: trial\nsite: north\n").replace("north", site)
        (folder / "agent.yaml").write_text(file.replace("port: 8883", f"port: {guide.ports['8883']}"))
        guide.follow("tacit agent --check agent.yaml >/dev/null\n", folder)
        guide.follow(guide.block("sh", "tacit agent --config"), folder)
    for folder in (north, south):
        wait_for("the site explores", lambda folder=folder: "OK: site" in guide.status(folder, "agent.yaml")[1], 60)
    wait_for("the hub is well", lambda: guide.status(hub, "coordinator.yaml")[0] == 0, 60)
    first_decision(guide, north)


def first_decision(guide, folder):
    """The id is drawn; that of the page is no other's here."""
    lines = guide.block("sh", "curl --unix-socket agent.sock -X POST").splitlines()
    decide = next(line for line in lines if "/v1/decisions -d" in line)
    reward = next(line for line in lines if "/v1/rewards -d" in line)
    answer = guide.follow(decide, folder)
    shown = next(line for line in lines if line.startswith('# {"id"'))
    keys = [re.findall(r'"(\w+)":', text) for text in (answer, shown)]
    require(keys[0] == keys[1] and '"kind": "planned"' in answer, f"{answer}, not as {shown}")
    drawn, printed = (re.search(r'"id": "([0-9a-f]+)"', text)[1] for text in (answer, reward))
    said = guide.follow(reward.replace(printed, drawn), folder)
    require(said.strip() == '{"status": "accepted"}', said)
    listed = next(line for line in lines if line.endswith("the oldest first"))
    require("decisions" in guide.follow(listed, folder), "the list")


def follow_peers(guide):
    """One block: the daemons go into the background by themselves."""
    folder = guide.folder / "peers"
    folder.mkdir()
    start, rest = guide.block("sh", "tacit pki --directory pki north east").split("sleep 3\n")
    with open(folder / "terminal-0.log", "w", encoding="utf-8") as log:
        shell = subprocess.Popen(["bash", "-e", "-c", start + "wait\n"], cwd=folder, env=guide.environment, stdout=log, stderr=log,
                                 start_new_session=True)
    guide.processes.append(shell)
    for site in ("north", "east", "south", "west"):
        wait_for(f"{site} explores", lambda site=site: "OK: site" in guide.status(folder, f"{site}.yaml")[1], 60)
    wait_for("the hub is well", lambda: guide.status(folder, "coordinator.yaml")[0] == 0, 60)
    said = guide.follow(rest, folder)
    shown = re.findall(r'"[a-z_]+": (?:"[a-z]+"|\[[^\]]*\])', rest.split("#", 1)[1].splitlines()[0])
    require(len(shown) == 2 and all(one in re.sub(r"\s+", " ", said).replace("[ ", "[").replace(" ]", "]") for one in shown),
            f"{shown} in {said}")
    require('{"status": "accepted"}' in said and '"phase": "watching"' in said, said)


def follow_trial(guide):
    """Started and stopped twice: the second time from the states of the first. The folder is made once."""
    make, rest = guide.block("sh", "tacit trial here").split("\n", 1)
    for command, code in ((make, 0), (make, 2), ("tacit trial", 2)):
        done = subprocess.run(["bash", "-c", command], cwd=guide.folder, env=guide.environment, capture_output=True, text=True, check=False)
        require(done.returncode == code and done.stderr.count("\n") == (code == 2), f"{command}: {done}")
    for _ in range(2):
        said = guide.follow(rest, guide.folder)
        require('"kind": "planned"' in said and "OK: coordinator of trial" in said and said.count("missing, heard") == 3, said)
    require(not (guide.folder / "here/pids").exists(), "it runs still")


def follow_helper(guide):
    """Ten commands, the last of which stops it."""
    commands, stop = guide.block("sh", "tacit trial --helper ward").rsplit("sh ward/", 1)
    require(len(commands.splitlines()) <= 9, "more than ten commands")
    said = guide.follow(commands, guide.folder)
    shown, asked = re.findall(r"^  ([0-9a-f]{64})  (\w+)$", said, re.M), re.findall(r"^([0-9a-f]{64})$", said, re.M)
    require([name for _, name in shown] == 2 * ["north", "south", "east"] and [key for key, _ in shown[:3]] == asked, said)
    require("agreed; the helper signs" in said and '"kind": "planned"' in said and "OK: site north" in said, said)
    done = subprocess.run(["tacit", "helper", "answer", "helper.yaml", "state-coordinator/helper.offer"], cwd=guide.folder / "ward",
                          env=guide.environment, capture_output=True, text=True, check=False)
    require(done.returncode == 2 and "process" in done.stderr, f"two machines with one state: {done}")
    guide.follow("sh ward/" + stop, guide.folder)
    require(not (guide.folder / "ward/pids").exists(), "it runs still")


def followed(page, follow):
    guide = Guide(page)
    try:
        follow(guide)
    except Exception:
        for log in sorted(guide.folder.rglob("terminal-*.log")):
            print(f"-- {log}\n{log.read_text()[-800:]}")
        raise
    finally:
        guide.close()


DEMOS = {  # options, and what the demo says: lines that have all of these words, and how many
    "votes": (["--sites", "40" if IS_LONG else "20"], [(["Winner: number, by the votes of"], 1), (["idle shops", ", 0 draws of noise"], 1)]),
    "gossip-ucb": (["--horizon", "80"], [(["Best so far: ", "spread between hospitals"], 1), (["of 1 epsilon per reward in 85 noised sums"], 3)]),
    "glm-ucb": (["--horizon", "80"], [(["Model ", "240 patients"], 1), ([" in ["], 4), (["This protocol protects nothing."], 1)]),
    "select": ([], [(["Model: right on ", " after 10 rounds"], 1), ([" of 60 epsilon for its whole data set in 6 updates"], 5)]),
}


@test
def demos_end_by_themselves_with_an_answer(_):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TACIT_TEST")}
    for protocol, (options, said) in DEMOS.items():
        done = subprocess.run([sys.executable, DOCS.parent / "examples/live/demo.py", TACIT, "--protocol", protocol, *options],
                              capture_output=True, text=True, timeout=170, check=False, env=environment)
        require(done.returncode == 0, f"{done.returncode}: {done.stdout}{done.stderr}")
        lines = done.stdout.splitlines()
        require(lines[0] == f"protocol: {protocol}", lines[0])
        for words, count in said:
            require(sum(all(word in line for word in words) for line in lines) == count, f"{words}: {done.stdout}")


@test
def peers_are_followed_to_a_first_reward(_):
    followed("peers.md", follow_peers)


@test
def helper_is_followed_to_a_run(_):
    followed("helper.md", follow_helper)


@test
def trial_is_followed_to_a_first_decision(_):
    followed("live.md", follow_trial)


@test
def the_first_day_is_followed_from_nothing_to_a_first_decision(_):
    followed("live.md", follow_live)


if __name__ == "__main__":
    main()
