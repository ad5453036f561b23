#!/usr/bin/env python3
"""What an orchestrator does to a daemon's files: volumes and secrets that are root's, with a group of ours and its bits; secrets that are links into
a folder that is exchanged; probes by exit codes; SIGTERM and a time of grace. See support.py."""
import os
import pathlib
import signal
import subprocess
import tempfile

from support import TACIT, federation, main, require, test, wait_for

TACITD = TACIT + "d"
KEYS = ("north.key", "north.sign.key")


def trial(folder):
    here = pathlib.Path(folder) / "here"
    subprocess.run([TACITD, "trial", here, "--port", str(federation.free_port())], check=True, capture_output=True)
    state = here / "state-north"
    state.mkdir()
    return here, state


def check(here, allows):
    file = here / "north.yaml"
    text = "".join(line for line in file.read_text().splitlines(True) if not line.startswith("group_readable"))
    file.write_text(text + f"group_readable: {str(allows).lower()}\n")
    done = subprocess.run([TACITD, "agent", "--check", file], capture_output=True, text=True, check=False)
    require(done.stderr.count("\n") == (done.returncode != 0), done.stderr)
    return done.returncode, done.stderr


@test
def files_of_our_group_are_taken_where_the_file_says_so(_):
    with tempfile.TemporaryDirectory() as folder:
        here, state = trial(folder)
        keys = [here / "pki" / name for name in KEYS]
        ours, other = os.getgid(), 54321
        cases = [  # state's mode, keys' mode, group, what is said where the file allows it
            (0o700, 0o600, ours, ""), (0o2770, 0o600, ours, ""), (0o700, 0o640, ours, ""), (0o2770, 0o640, ours, ""), (0o2770, 0o660, ours, ""),
            (0o2775, 0o640, ours, "must be private"), (0o2770, 0o644, ours, "is open to others")]
        if os.geteuid() == 0:
            cases += [(0o2770, 0o600, other, "must be private"), (0o700, 0o640, other, "is open to others")]
        for state_mode, key_mode, group, refusal in cases:
            for path in (state, *keys):
                os.chown(path, -1, group)
                path.chmod(state_mode if path == state else key_mode)
            code, said = check(here, True)
            require(code == (2 if refusal else 0) and refusal in said, f"{state_mode:o} {key_mode:o} {group}: {code} {said}")
            code, said = check(here, False)
            require((code == 0) == (state_mode == 0o700 and key_mode == 0o600), f"not allowed: {state_mode:o} {key_mode:o}: {code} {said}")


@test
def secrets_through_links_probes_and_a_time_of_grace(_):
    with tempfile.TemporaryDirectory() as folder:
        here, state = trial(folder)
        pki = here / "pki"
        (pki / "..2026").mkdir()
        for file in [path for path in pki.iterdir() if path.is_file()]:
            file.rename(pki / "..2026" / file.name)
            file.symlink_to(f"..data/{file.name}")
        (pki / "..data").symlink_to("..2026")
        (pki / "..2026" / "north.key").chmod(0o440)
        state.chmod(0o2770)
        require(check(here, True)[0] == 0, "links are not followed")

        def probe(*words):
            done = subprocess.run([TACITD, "status", "--config", here / "north.yaml", *words], capture_output=True, text=True, check=False)
            require(not words or not done.stdout + done.stderr, f"a probe prints {done}")
            return done.returncode

        require(probe("--alive") == 3 and probe() == 3, "nobody is there")
        with open(here / "log", "w", encoding="utf-8") as log:
            process = subprocess.Popen([TACITD, "agent", "--config", here / "north.yaml"], stdout=log, stderr=log)
        try:
            wait_for("the site is alive, without a broker", lambda: probe("--alive") == 0)
            require(probe() in (1, 2), "without a broker all is not well")
        finally:
            process.send_signal(signal.SIGTERM)
            require(process.wait(30) == 0, "SIGTERM, and it does not end well")


if __name__ == "__main__":
    main()
