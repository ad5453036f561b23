#!/usr/bin/env python3
"""Text fits the terminal: what commands print for people has no line that is wider, at 60, 80 and 132 columns, and the same words; JSON, and what goes
to a pipe, is left as it is.

usage: terminal.py      $TACIT_PROGRAM is asked, on a pseudo-terminal
"""
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios

from program import TACIT, run, tacit

WIDTHS = (60, 80, 132)
FILE = """name: fits
seed: 1
runs: 5
horizon: 3000
agents: 4
environment: {kind: bernoulli, means: means.csv}
protocol: {kind: phased-index, confidence: 0.95}
privacy: {mode: sound, epsilon: 1}
cost: {server_link: 25}
"""
CLAIMS = """paper: px
title: A paper with a title that is so long that it does not fit into sixty columns, nor into eighty of them
fast_runs: 3
figures:
  - id: fig1
    title: Figure one
    paper_shows: The curve falls.
    plot: {x: t, y: regret}
    curves: [{experiment: small, label: small}]
    claims:
      - {id: order, where: Sec. 1, says: "Less noise, less regret, and a sentence that goes on for so long that it has to be broken somewhere.",
         measure: "small.regret", band: [0, inf], verdict: holds}
"""
COMMANDS = (
    ("run", "file.yaml", "--quiet"),
    ("check", "file.yaml"),
    ("compare", "file.yaml", "--over", "privacy.epsilon=0.3,1,3", "--quiet"),
    ("plan", "file.yaml", "--quiet", "--runs=5"),
    ("reproduce", "px", "--experiments", "papers", "--quiet", "--out", "out"),
)


def on_terminal(folder, words, columns, by_environment):
    """What a terminal of so many columns gets, and the exit code."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200 if by_environment else columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    if by_environment:
        environment["COLUMNS"] = str(columns)
    process = subprocess.Popen([TACIT, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL, env=environment)
    os.close(slave)
    got = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # nobody has the other end open
            break
        if not part:
            break
        got += part
    os.close(master)
    return got.decode().replace("\r\n", "\n"), process.wait(300)


def fits(folder, words):
    plain = tacit(*words, folder=folder)
    assert max(map(len, plain.splitlines())) > 60, "nothing to break"
    for columns in WIDTHS:
        for by_environment in (False, True):
            told, code = on_terminal(folder, words, columns, by_environment)
            assert code == 0, code
            wide = [line for line in told.splitlines() if len(line) > columns and len(line.split()) > 1]
            assert not wide, (columns, wide)
            assert told.split() == plain.split(), (columns, told)
            short = [line for line in plain.splitlines() if len(line) <= 60 and line == line.rstrip()]
            assert set(short) <= set(told.splitlines()), (columns, set(short) - set(told.splitlines()))


def json_is_left_alone(folder):
    words = ("run", "file.yaml", "--quiet", "--json")
    told, code = on_terminal(folder, words, 60, False)
    assert code == 0 and told == tacit(*words, folder=folder) and json.loads(told)["name"] == "fits"
    assert max(map(len, told.splitlines())) > 60


TESTS = [*((fits, words) for words in COMMANDS), json_is_left_alone]


if __name__ == "__main__":
    try:
        os.close(os.dup(pty.openpty()[0]))
    except OSError as error:
        print(f"{error}\nskip: no pseudo-terminal here\n[  SKIPPED ] text_fits_the_terminal")
        sys.exit(0)
    sys.exit(run(TESTS, {"file.yaml": FILE, "means.csv": "0.8,0.5,0.3\n", "papers/px-small/claims.yaml": CLAIMS,
                         "papers/px-small/small.yaml": FILE.replace("means.csv", "../../means.csv").replace("fits", "small")}))
