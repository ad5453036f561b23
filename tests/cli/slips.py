#!/usr/bin/env python3
"""Slips that people make with tables and files are named, and tables as German programs write them are read: through the real
program.

usage: slips.py       $TACIT_PROGRAM
"""
import signal
import subprocess
import sys
import time

import program

FILE = """name: slips
runs: 2
horizon: 2000
environment:
  kind: logged
  logged: {csv: t.csv, agent: shop, arm: offer, reward: won}
agents: 2
protocol: {kind: phased-index, confidence: 0.95}
privacy: {mode: sound, epsilon: 1}
"""
WITH = "--set=environment.logged.propensity=chance"


def tacit(*words, code=0):
    said = program.tacit(*words, code=code)
    assert code == 0 or said.count("\n") == 1, (words, said)
    return said


def write(folder, separator=",", chance="0.5", shops=("A", "B"), offers=("x", "y"), win="1", encoding="utf-8"):
    lines = [separator.join(("shop", "offer", "won", "chance"))]
    for number in range(40):
        for shop in shops:
            lines += [separator.join((shop, offer, win if number % 4 == 0 else "0", chance)) for offer in offers]
    (folder / "t.csv").write_bytes(("\n".join(lines) + "\n").encode(encoding))
    (folder / "s.yaml").write_text(FILE, encoding="utf-8")
    return folder / "s.yaml"


def a_german_table_is_read(folder):
    file = write(folder, ";", "0,14")  # a reward of 0 and 1, and a propensity with a comma
    assert "rows are weighted" in tacit("check", file, WITH)
    assert ": ok: 2 agents, 2 arms" in tacit("check", write(folder, ";", "0,14", win="0,5"), WITH)
    assert tacit("check", write(folder, ";", "0,14", win="0.5"), WITH, code=2).endswith(
        "column 'chance': '0,14' is not a number; a propensity is above 0 and up to 1; with 'decimal: \",\"' it is one\n")


def a_comma_can_be_set_and_is_named(folder):
    file = write(folder, win='"0,5"')
    assert tacit("check", file, code=2).endswith(
        "t.csv:2: column 'won': '0,5' is not a number; rewards are finite numbers; with 'decimal: \",\"' it is one\n")
    assert ": ok: " in tacit("check", file, "--set", "environment.logged.decimal=,")
    assert "'decimal: \".\"' it is one" in tacit("check", write(folder, ";", win="0.5"), "--set", "environment.logged.decimal=,", code=2)
    assert ": ok: " in tacit("check", write(folder), "--set", "environment.logged.separator=,")
    assert "the separator is a comma, too" in tacit("check", file, "--set=environment.logged.separator=,",
                                                    "--set=environment.logged.decimal=,", code=2)


def a_name_may_begin_with_what_begins_comments(folder):
    said = tacit("check", write(folder, shops=("#1", "2", "#3")), "--set=agents=3")
    assert ": ok: 3 agents" in said, said
    table = (folder / "t.csv").read_text()
    (folder / "t.csv").write_text("# made by hand\n" + table)
    assert tacit("check", folder / "s.yaml", "--set=agents=3") == said


def utf16_is_named(folder):
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        file = write(folder, encoding=encoding)
        for words in ([], ["--set=environment.logged.encoding=cp1252"]):
            assert "t.csv:1: UTF-16, two bytes a character" in tacit("check", file, *words, code=2)
    (folder / "means.csv").write_bytes("0.5,0.4\n".encode("utf-16"))
    assert "means.csv:1: UTF-16" in tacit("check", file, "--set=environment={kind: bernoulli, means: means.csv}", code=2)


def a_table_in_place_of_an_experiment_is_named(folder):
    write(folder)
    for name in ("t.csv", "t.txt"):
        (folder / name).write_bytes((folder / "t.csv").read_bytes())
        for command in ("check", "run", "plan", "evaluate"):
            assert f"{name}: this is a table, and no experiment" in tacit(command, folder / name, code=2)
    (folder / "large.csv").write_text("a,b\n" + "1,2\n" * 400000, encoding="utf-8")
    assert "this is a table" in tacit("check", folder / "large.csv", code=2)


def rows_of_a_training_are_named(folder):
    for row in ("0.7,1,2", "2,1,2", "-1,1,2", "x,1,2", "0,1e300,2", "0,nan,2", "0,,2"):
        (folder / "rows.csv").write_text(f"1,2,3\n{row}\n", encoding="utf-8")
        said = tacit("train", folder, "--data", folder / "rows.csv", code=1)
        assert said.endswith("rows.csv: line 2: a label (a whole number below the classes), and numbers\n"), (row, said)


def names_that_are_nearly_alike_are_a_warning(folder):
    for offers in (("Free coffee", "free  coffee"), ("ÖL", "öl"), ("x", "x ")):
        file = write(folder, offers=offers)
        said = [f"'{offers[i]}' and '{offers[1 - i]}' are two arms, and differ in case or blanks only" for i in (0, 1)]
        assert any(text in tacit("check", file) for text in said)
        for command in ("run", "evaluate"):
            told = " ".join(tacit(command, file, WITH).split())
            assert any(" ".join(text.split()) in told for text in said), told
    for offers in (("coffee", "coffees"), ("×", "÷"), ("a b", "a c")):
        assert "differ in case" not in tacit("check", write(folder, offers=offers))
    file = write(folder, shops=("Bonn", "bonn", "Köln"))
    assert tacit("check", file, code=2).endswith("(Bonn, Köln, bonn); 'Bonn' and 'bonn' differ in case or blanks only\n")
    assert "'Bonn' and 'bonn' are two agents" in tacit("check", file, "--set=agents=3")


def names_do_not_command_the_terminal(folder):
    file = write(folder, shops=("A\x1b[2J", "B\x07"), offers=("x\x1b]0;mine\x07", "X\x1b]0;mine\x07"))
    table = (folder / "t.csv").read_text(encoding="utf-8")
    (folder / "t.csv").write_text(table.replace("X\x1b]0;mine\x07,1", "X\x1b]0;mine\x07,0"), encoding="utf-8")  # something to tell apart
    for words in (("check", file), ("plan", file, "--runs=2", "--quiet"), ("run", file), ("evaluate", file, WITH)):
        said = tacit(*words)
        assert "mine" in said and not set(said) & {"\x1b", "\x07"}, said


def words_that_are_not_maps_point_to_what_is_meant(folder):
    file = write(folder)
    for setting, said in (("network=ring", "network: 'ring' is a word, and a map of keys is expected, like {kind: ring}"),
                          ("protocol=thompson", "'thompson' is no kind of its own; it is written {kind: index, index: thompson}"),
                          ("protocol={kind: moss}", "it is written {kind: index, index: moss}"),
                          ("protocol=elimination", "a map of keys is expected, like {kind: elimination}"),
                          ("privacy=none", "privacy: a map of keys is expected, like {key: value}")):
        assert said in tacit("check", file, "--set", setting, code=2), setting
    for word in ("ucb1", "kl-ucb", "moss", "thompson", "uniform"):  # each is a word of the key it is pointed to
        tacit("check", file, "--set", f"protocol={{kind: index, index: {word}}}", "--set", "privacy={mode: none}")
        assert f"index: {word}}}" in tacit("check", file, "--set", f"protocol={word}", code=2)


def what_is_closed_is_no_place_for_other_files(folder):
    tacit("trial", folder / "here", "--port", 1)  # where nobody answers
    with open(folder / "here/coordinator.yaml", "a", encoding="utf-8") as file:
        file.write("log: {file: hub.log}\n")
    (folder / "here/hub.log").touch(0o600)
    daemon = subprocess.Popen(["/bin/sh", "-c", "exec \"$0\" coordinator --config here/coordinator.yaml 2>&-", program.TACIT + "d"], cwd=folder)
    try:
        for event, signum in ((" started: ", signal.SIGHUP), (" reload: ", signal.SIGTERM)):
            end = time.monotonic() + 60
            while event not in (folder / "here/hub.log").read_text(encoding="utf-8"):
                assert daemon.poll() is None and time.monotonic() < end, (event, daemon.returncode)
                time.sleep(0.05)
            daemon.send_signal(signum)
        assert daemon.wait(60) == 0
    finally:
        daemon.kill()


def a_number_that_is_another_process_s_now_is_not_stopped(folder):
    tacit("trial", folder / "there", "--port", 1)
    other = subprocess.Popen(["sleep", "60"])
    try:
        (folder / "there/pids").write_text(f"{other.pid}\n", encoding="utf-8")
        subprocess.run(["sh", folder / "there/federation.sh", "stop"], check=True)
        assert other.poll() is None and not (folder / "there/pids").exists()
    finally:
        other.kill()
        other.wait()


def the_limit_of_confidence_is_said_alike(folder):
    file = write(folder)
    for value in ("0.4", "1", "1.5", "x"):
        said = f"confidence: '{value}' is not allowed; allowed: a number from 0.5 to below 1\n"
        for protocol in (f"{{kind: phased-index, confidence: {value}}}",
                         f"{{kind: elimination, bounds: exact, confidence: {value}}}"):
            assert tacit("check", file, "--set", f"protocol={protocol}", code=2).endswith(said)
        assert tacit("bound", "--confidence", value, code=2).endswith(said)
    tacit("check", file, "--set", "protocol.confidence=0.5")


TESTS = [a_german_table_is_read, a_comma_can_be_set_and_is_named, a_name_may_begin_with_what_begins_comments, utf16_is_named,
         a_table_in_place_of_an_experiment_is_named, names_that_are_nearly_alike_are_a_warning, names_do_not_command_the_terminal,
         words_that_are_not_maps_point_to_what_is_meant, rows_of_a_training_are_named, what_is_closed_is_no_place_for_other_files,
         a_number_that_is_another_process_s_now_is_not_stopped, the_limit_of_confidence_is_said_alike]


if __name__ == "__main__":
    sys.exit(program.run(TESTS))
