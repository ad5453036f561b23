#!/usr/bin/env python3
"""`tacit compare --shard`: started by GNU parallel, by mpirun, as Slurm and Kubernetes set the environment, stopped and killed: the same
bytes as one call, and what was finished is not played again.

usage: shards.py [TEST...]       $TACIT_PROGRAM
"""
import os
import shutil
import signal
import subprocess
import sys
import time

from program import run

TACIT = os.environ["TACIT_PROGRAM"]
LIMIT_S = 200
# mpirun 4.1 reads what it has freed, and dies of that if freed memory is filled, as meson's tests ask for.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "OMPI_", "MALLOC_PERTURB_"))}
SHARED = "environment: {kind: KIND, means: means.csv}\nagents: 3\n"
FILES = {
    "means.csv": "0.9,0.5,0.1\n0.8,0.6,0.1\n0.3,0.7,0.4\n",
    "one.yaml": SHARED.replace("KIND", "bernoulli") + "name: one\nseed: 4\nruns: 7\nhorizon: 5000\nprotocol: {kind: elimination}\n"
    "privacy: {mode: sound, epsilon: 1}\nbaselines: [pooled-ucb1]\n",
    "two.yaml": SHARED.replace("KIND", "gaussian, gaussian: {sd: 1}") + "name: two\nseed: 9\nruns: 5\nhorizon: 2000\n"
    "network: {kind: ring}\nprotocol: {kind: gossip-ucb}\nprivacy: {mode: none}\n",
    "slow.yaml": SHARED.replace("KIND", "bernoulli") + "name: slow\nseed: 4\nruns: 100\nhorizon: 100000\n"
    "protocol: {kind: index, index: thompson}\nprivacy: {mode: none}\n",
}
GRID = ["compare", "one.yaml", "two.yaml", "--over", "agents=3,many", "--over", "seed=1,2"]


def call(folder, *words, code=0, program=(TACIT,), **variables):
    done = subprocess.run([*program, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False, timeout=LIMIT_S,
                          env=dict(ENVIRONMENT, **variables))
    assert done.returncode == code, (words, done.returncode, done.stdout[-500:], done.stderr)
    return done.stdout, done.stderr


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def is_as_one_call(folder, words, out="out"):
    """The last call prints and writes what one call alone does, and leaves nothing of the shares."""
    told, said = call(folder, *words, "--out", out)
    written = files(folder / out)
    shutil.rmtree(folder / out)
    assert (told, said) == call(folder, *words, "--out", out), said
    assert written == files(folder / out)
    assert any(path.suffix == ".svg" for path in written)


def shares_are_those_of_one_call(folder):
    """Two families, baselines, sites, points that cannot run; whole points, and runs of one; more shares than runs."""
    one = ["compare", "one.yaml", "--over", "runs=7,1"]
    many = [*GRID, "--over", "horizon=" + ",".join(map(str, range(2000, 2020)))]
    for words, count in ((GRID, 3), (one, 5), (["compare", "one.yaml"], 2), (many, 2), (GRID, 1)):
        for share in range(count, 0, -1):
            assert call(folder, *words, "--out", "out", "--shard", f"{share}/{count}", "--threads", 1 + share % 2) == ("", "")
        is_as_one_call(folder, words)
        shutil.rmtree(folder / "out")


def what_is_missing_is_named_and_played_when_asked(folder):
    words = [*GRID, "--out", "out"]
    call(folder, *words, "--shard", "2/4")
    told, said = call(folder, *words, code=1)
    assert told == "" and "not finished: share 1, 3, 4 of 4 (4 of 8 settings; the first: one: agents=3 seed=1)" in said, said
    assert not (folder / "out/report.html").exists()
    before = {path: path.stat().st_mtime_ns for path in folder.glob("out/cells/*/*")}
    call(folder, *words, "--shard", "2/4")
    assert before and before == {path: path.stat().st_mtime_ns for path in folder.glob("out/cells/*/*")}
    call(folder, *words, "--shard", "1/3")  # cut otherwise: what is there counts
    assert "share 2, 3 of 3" in call(folder, *words, code=1)[1]
    assert call(folder, *words, "--finish")[0] == call(folder, *GRID)[0].rstrip() + "\n\nReport: out/report.html\n"
    is_as_one_call(folder, GRID)


def start_slow(folder, share):
    return subprocess.Popen([TACIT, "compare", "slow.yaml", "--out", "out", "--threads", "1", "--shard", share], cwd=folder, env=ENVIRONMENT)


def kept_bytes(folder):
    """Of finished runs: they grow once a call has begun to play."""
    return sum(path.stat().st_size for path in folder.glob("out/cells/*/0-*.runs"))


def a_share_that_dies_costs_only_itself(folder):
    """Killed, it goes on from what it kept; the others need not know."""
    words = ["compare", "slow.yaml"]
    call(folder, *words, "--out", "out", "--shard", "2/2")
    for number in (signal.SIGKILL, signal.SIGTERM):
        before = kept_bytes(folder)
        process = start_slow(folder, "1/2")
        until = time.monotonic() + LIMIT_S
        while process.poll() is None and time.monotonic() < until and kept_bytes(folder) <= before:
            time.sleep(0.01)
        process.send_signal(number)
        code = process.wait(LIMIT_S)
        assert code == (-number if number == signal.SIGKILL else 130), code
        assert "not finished: share 1 of 2 (1 of 1 settings; the first: slow)" in call(folder, *words, "--out", "out", code=1)[1]
    call(folder, *words, "--out", "out", "--shard", "1/2")
    is_as_one_call(folder, words)


def shares_of_other_data_or_damage_are_not_taken(folder):
    words = ["compare", "one.yaml", "--out", "out"]
    call(folder, *words, "--shard", "1/2")
    (folder / "means.csv").write_text("0.9,0.5,0.1\n0.8,0.6,0.1\n0.3,0.7,0.5\n")
    call(folder, *words, "--shard", "2/2")
    assert "not finished: share 1 of 2" in call(folder, *words, code=1)[1]
    own = {path.parent: path for path in folder.glob("out/cells/*/0-3-7.runs")}
    path = next(iter(own.values()))
    path.write_bytes(path.read_bytes()[:-1])
    told, said = call(folder, *words, code=2)
    assert told == "" and "0-3-7.runs is damaged; remove it to begin anew" in said, said
    other = shutil.copy(TACIT, folder / "tacit")
    subprocess.run(["strip", other], check=True)
    path.unlink()
    call(folder, *words, "--shard", "2/2")
    said = call(folder, *words, "--shard", "2/2", code=2, program=(other,))[1]
    assert "has runs of another file, setting, data or version of the program" in said, said


def of_mpirun(folder, base):
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "oob_tcp_if_include", "lo", "-n", "3", TACIT]
    said = call(folder, *base, "--shard", "auto", program=mpirun)[1]
    assert "tacit compare: share 2 of 3, as OMPI_COMM_WORLD_RANK says\n" in said, said
    is_as_one_call(folder, GRID)
    shutil.rmtree(folder / "out")
    done = subprocess.run([*mpirun, *base], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 2 and done.stdout == "" and "OMPI_COMM_WORLD_SIZE says that there are several of these" in done.stderr, done


def launchers_say_which_share_it_is(folder):
    """GNU parallel, Open MPI's mpirun (of plain processes), and environments as Slurm's tasks and arrays and Kubernetes' indexed jobs have them."""
    base = [*GRID, "--out", "out", "--threads", "1"]
    if shutil.which("parallel") and shutil.which("mpirun"):  # without apt-get they may be missing
        call(folder, *base, "--shard", "{}/3", ":::", 1, 2, 3, program=("parallel", "--will-cite", "-j2", TACIT))
        is_as_one_call(folder, GRID)
        shutil.rmtree(folder / "out")
        of_mpirun(folder, base)
    for name, variables in (("SLURM_PROCID", {"SLURM_NTASKS": "2"}), ("SLURM_ARRAY_TASK_ID", {"SLURM_ARRAY_TASK_COUNT": "2", "SLURM_ARRAY_TASK_MIN": "0"}),
                            ("JOB_COMPLETION_INDEX", {})):
        for index in range(2):
            said = call(folder, *base, "--shard", "auto" if variables else "auto/2", **variables, **{name: str(index)})[1]
            assert said == f"tacit compare: share {index + 1} of 2, as {name} says\n", said
        is_as_one_call(folder, GRID)
        shutil.rmtree(folder / "out")


def wrong_words_are_refused(folder):
    for words, why in ((["--shard", "1/2"], "--shard: needs --out DIR"), (["--finish"], "--finish: needs --out DIR"),
                       (["--out", "out", "--finish", "--shard", "1/2"], "and no --shard"), (["--out", "out", "--shard", "3/2"], "allowed: I/N"),
                       (["--out", "out", "--shard", "auto"], "finds no launcher")):
        told, said = call(folder, *GRID, *words, code=2)
        assert told == "" and why in said, said
    assert "--out: /proc/none" in call(folder, *GRID, "--out", "/proc/none", "--shard", "1/2", code=1)[1]


TESTS = [shares_are_those_of_one_call, what_is_missing_is_named_and_played_when_asked, a_share_that_dies_costs_only_itself,
         shares_of_other_data_or_damage_are_not_taken, launchers_say_which_share_it_is, wrong_words_are_refused]


if __name__ == "__main__":
    sys.exit(run([test for test in TESTS if test.__name__ in sys.argv[1:] or not sys.argv[1:]], FILES))
