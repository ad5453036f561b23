#!/usr/bin/env python3
"""`tacit compare` under mpirun, four ranks on this machine's loopback: the same bytes as one machine, whatever is spread and whoever
is killed.

usage: ranks.py [TEST...]       $TACIT_PROGRAM; TACIT_TEST_LONG=1: rank 0 is killed, too
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TACIT = os.environ["TACIT_PROGRAM"]
RANKS = 4
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "oob_tcp_if_include", "lo", "--mca", "btl", "tcp,self",
          "--mca", "btl_tcp_if_include", "lo"]
LIMIT_S = 400
# What MPI leaves at the end is its own; the program is looked at for leaks by the other tests.
# And of its own memory mpirun 4.1 reads, where a rank is lost, what it has freed: it dies of that if freed memory is filled, as meson's tests ask for.
ENVIRONMENT = dict(os.environ, MALLOC_PERTURB_="0", ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
ELIMINATION = """name: one
seed: 4
runs: 7
horizon: 5000
environment: {kind: bernoulli, means: means.csv}
agents: 3
protocol: {kind: elimination}
privacy: {mode: sound, epsilon: 1}
baselines: [pooled-ucb1]
"""
GOSSIP = """name: two
seed: 9
runs: 5
horizon: 2000
environment: {kind: gaussian, means: means.csv, gaussian: {sd: 1}}
agents: 3
network: {kind: ring}
protocol: {kind: gossip-ucb}
privacy: {mode: none}
"""
SLOW = """name: slow
seed: 4
runs: 12
horizon: HORIZON
environment: {kind: bernoulli, means: means.csv}
agents: 3
protocol: {kind: index, index: thompson}
privacy: {mode: none}
"""


def make(folder):
    (folder / "means.csv").write_text("0.9,0.5,0.1\n0.8,0.6,0.1\n0.3,0.7,0.4\n")
    (folder / "one.yaml").write_text(ELIMINATION)
    (folder / "two.yaml").write_text(GOSSIP)


def start(folder, words, options=(), ranks=RANKS):
    return subprocess.Popen([*MPIRUN, *options, "-n", str(ranks), TACIT, *map(str, words)], cwd=folder, env=ENVIRONMENT,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process):
    """(code, stdout, stderr); whatever happens, nothing of it is left."""
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
    return process.returncode, out, err


def spread(folder, *words, code=0, options=(), ranks=RANKS):
    told = end(start(folder, words, options, ranks))
    assert told[0] == code, (words, told)
    return told[1], told[2]


def alone(folder, *words, code=0):
    done = subprocess.run([TACIT, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout, done.stderr


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def all_files_are_those_of_one_machine(folder):
    """More cells than ranks, of two families, one of which cannot run; baselines, sites, figures, the page, what is kept."""
    words = ["compare", "one.yaml", "two.yaml", "--over", "agents=3,many", "--over", "seed=1,2"]
    out, err = alone(folder, *words, "--out", "out")
    shutil.move(folder / "out", folder / "alone")
    told, said = spread(folder, *words, "--out", "out")
    assert told == out and "'many' is not allowed" in told
    assert err.strip() in said and "4 of 8 settings could not run" in err, (err, said)
    assert files(folder / "out") == files(folder / "alone")
    assert any(path.suffix == ".svg" for path in files(folder / "out"))


def runs_of_one_setting_are_spread(folder):
    """Fewer cells than ranks: shares of runs, and some ranks have none of them; JSON."""
    for runs in (2, 23, 400):
        words = ["compare", "one.yaml", "--runs", runs, "--json"]
        assert spread(folder, *words)[0] == alone(folder, *words)[0]
    assert spread(folder, *words, "--threads", 3, ranks=2)[0] == alone(folder, *words)[0]


def what_is_finished_is_not_run_again(folder):
    """Some cells were run by one machine, the rest by the ranks, and then none is."""
    alone(folder, "compare", "one.yaml", "--over", "seed=1,2", "--out", "out")
    early = {path: path.stat().st_mtime_ns for path in (folder / "out/cells").iterdir()}
    words = ["compare", "one.yaml", "--over", "seed=1,2,3,4,5", "--json", "--out", "out"]
    first = spread(folder, *words)[0]
    late = {path: path.stat().st_mtime_ns for path in (folder / "out/cells").iterdir()}
    assert len(early) == 2 and len(late) == 5 and early.items() <= late.items()
    assert spread(folder, *words)[0] == first == alone(folder, *words)[0]
    assert late == {path: path.stat().st_mtime_ns for path in (folder / "out/cells").iterdir()}


def rank_of(process, rank):
    """The process of a rank, a child of mpirun; None: it is over."""
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            environment = (path / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if parent == process.pid and f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment:
            return int(path.name)
    return None


def kill_in_the_midst(folder, rank, options):
    """Kills the rank when some cells are kept and some are not. (words, code, stdout, stderr, what was kept before.)"""
    for horizon in (10000, 40000, 160000, 640000):
        shutil.rmtree(folder / "out", ignore_errors=True)
        (folder / "slow.yaml").write_text(SLOW.replace("HORIZON", str(horizon)))
        words = ["compare", "slow.yaml", "--over", "seed=" + ",".join(map(str, range(1, 17))), "--json", "--out", "out"]
        process = start(folder, words, options)
        until = time.monotonic() + LIMIT_S
        while process.poll() is None and time.monotonic() < until and not list((folder / "out").glob("cells/*.json")):
            time.sleep(0.005)
        victim = rank_of(process, rank)
        if victim is not None:
            os.kill(victim, signal.SIGKILL)
        kept = {path: path.stat().st_mtime_ns for path in (folder / "out").glob("cells/*.json")}
        told = end(process)
        if victim is not None and 0 < len(kept) < 16:
            return words, told, kept
    raise AssertionError("it was always over before it could be killed")


def a_lost_rank_costs_what_it_was_playing(folder):
    """With mpirun --enable-recovery the others go on, and end with what one machine says."""
    words, (code, out, err), _ = kill_in_the_midst(folder, 2, ["--enable-recovery"])
    assert code == 0, (code, err)
    assert "rank 2" in err and "has said nothing for 10 seconds; what it was playing" in err, err
    assert out == alone(folder, *words[:-2])[0]


def a_killed_job_goes_on_where_it_was(folder):
    """Without it mpirun ends the job; the same call plays what was not finished, and only that."""
    words, (code, _, err), kept = kill_in_the_midst(folder, 1, [])
    assert code != 0, err
    out = spread(folder, *words)[0]
    assert kept.items() <= {path: path.stat().st_mtime_ns for path in (folder / "out/cells").iterdir()}.items()
    assert out == alone(folder, *words[:-2])[0]


def without_rank_0_the_others_give_up(folder):
    words, (_, out, err), _ = kill_in_the_midst(folder, 0, ["--enable-recovery"])
    assert out == "" and "rank 0 has said nothing for 30 seconds" in err, (out, err)  # mpirun's code is 0
    assert spread(folder, *words)[0] == alone(folder, *words[:-2])[0]


def with_another_folder(folder, name, text, runs):
    """Two ranks; rank 1 works in a folder where this file is another."""
    other = folder / "other"
    other.mkdir(exist_ok=True)
    make(other)
    (other / name).write_text(text)
    words = ["-n", "1", TACIT, "compare", "one.yaml", "--over", "seed=1,2,3", "--runs", str(runs)]
    return subprocess.run([*MPIRUN, *words, ":", "-wdir", other, *words], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True,
                          check=False, timeout=LIMIT_S)


def ranks_with_other_files_are_refused(folder):
    done = with_another_folder(folder, "one.yaml", ELIMINATION.replace("horizon: 5000", "horizon: 4000"), 7)
    assert done.returncode == 2 and done.stdout == "", done
    assert "rank 1 on " in done.stderr and "another program, other files or other settings than rank 0" in done.stderr, done


def results_from_other_data_are_refused(folder):
    """If rank 1 has played anything at all: rank 0 may be quicker."""
    for runs in (100, 3000, 30000):
        done = with_another_folder(folder, "means.csv", "0.9,0.5,0.1\n0.8,0.6,0.1\n0.3,0.7,0.5\n", runs)
        if done.returncode != 0:
            break
    assert done.returncode == 2 and done.stdout == "", done
    assert "rank 1 on " in done.stderr and "has other data than rank 0; allowed: the same on all" in done.stderr, done


def wrong_words_are_said_once(folder):
    said = spread(folder, "compare", "one.yaml", "--over", "agents", code=2)[1]
    assert said.count("allowed: KEY=V1,V2,...") == 1, said
    told, said = spread(folder, "compare", "one.yaml", "--over", "agents", options=["--enable-recovery"])  # mpirun's code is 0 then
    assert told == "" and "allowed: KEY=V1,V2,..." in said, (told, said)
    said = spread(folder, "compare", "one.yaml", "--out", "/proc/none", code=1)[1]
    assert said.count("--out: /proc/none: ") == 1, said


def without_mpi_ranks_are_refused(folder):
    """A program beside which no module lies: nothing is run four times over."""
    program = shutil.copy(TACIT, folder / "tacit")
    alone = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run([program, "compare", "one.yaml"], cwd=folder, capture_output=True, text=True, check=False, timeout=LIMIT_S,
                          env=dict(alone, OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_RANK="0"))
    assert done.returncode == 2 and done.stdout == "" and "4 ranks of mpirun, but there is no MPI here" in done.stderr, done
    assert json.loads(subprocess.run([program, "compare", "one.yaml", "--json"], cwd=folder, capture_output=True, check=True,
                                     env=dict(alone, OMPI_COMM_WORLD_SIZE="1")).stdout)["results"]


TESTS = [all_files_are_those_of_one_machine, runs_of_one_setting_are_spread, what_is_finished_is_not_run_again,
         a_lost_rank_costs_what_it_was_playing, a_killed_job_goes_on_where_it_was, ranks_with_other_files_are_refused,
         results_from_other_data_are_refused, wrong_words_are_said_once]
NEEDS_NO_MPIRUN = [without_mpi_ranks_are_refused]
LONG = [without_rank_0_the_others_give_up]


def is_here():
    return shutil.which("mpirun") is not None and (pathlib.Path(TACIT).parent / "programs/tacit_ranks.so").is_file()


def main(names):
    failed = 0
    for test in TESTS + NEEDS_NO_MPIRUN + (LONG if os.environ.get("TACIT_TEST_LONG") == "1" else []):
        if names and test.__name__ not in names:
            continue
        if test not in NEEDS_NO_MPIRUN and not is_here():
            print(f"skip: no Open MPI here\n[  SKIPPED ] {test.__name__}", flush=True)
            continue
        with tempfile.TemporaryDirectory() as scratch:
            try:
                make(pathlib.Path(scratch))
                test(pathlib.Path(scratch))
                print(f"[       OK ] {test.__name__}", flush=True)
            except (AssertionError, OSError, KeyError, subprocess.SubprocessError) as wrong:
                failed += 1
                print(f"[  FAILED  ] {test.__name__}: {wrong!r}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
