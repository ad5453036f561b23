#!/bin/sh
# Measures the workloads of bench/README.md, everything on one thread and in one sitting, so that the
# ratios mean something on a noisy machine.
#
# usage: run.sh BUILD_DIRECTORY
set -eu
build=$1
here=$(dirname "$0")

seconds() { # CPU seconds of a command, the best of three
    best=
    for _ in 1 2 3; do
        spent=$( { /usr/bin/env bash -c 'TIMEFORMAT=%U; time "$@" >/dev/null 2>&1' _ "$@"; } 2>&1)
        best=$(printf '%s\n%s\n' "${best:-$spent}" "$spent" | sort -g | head -n 1)
    done
    echo "$best"
}

echo "Block elimination: M = 50, K = 100, T = 1e6, 100 runs"
paper=$(seconds "$build/tacit" run "$here/cdp.yaml" --threads 1 --json --quiet)
sound=$(seconds "$build/tacit" run "$here/cdp.yaml" --threads 1 --json --quiet --set privacy.mode=sound --set privacy.epsilon=50)
grep -v '^#' "$here/means.csv" >"$build/means.csv"
twin_runs=5
twin=$("$build/bench/bench_twin" --means "$build/means.csv" --agents 50 --arms 100 --horizon 1000000 --eps 1 --runs $twin_runs --seed 1 |
    python3 -c "import json, sys; print(100 * json.load(sys.stdin)['seconds_per_run'])")
awk -v paper="$paper" -v sound="$sound" -v twin="$twin" 'BEGIN {
    pulls = 100 * 50 * 1e6
    printf "%-34s %8.3f s   %6.1f G pulls/s\n", "tacit, paper mode", paper, pulls / paper / 1e9
    printf "%-34s %8.3f s   %6.1f G pulls/s\n", "tacit, sound mode, epsilon 50", sound, pulls / sound / 1e9
    printf "%-34s %8.3f s   %6.2f G pulls/s\n", "per-pull twin (5 runs, times 20)", twin, pulls / twin / 1e9
    printf "ratio twin : paper mode            %8.0f\n", twin / paper
    printf "ratio sound : paper mode           %8.2f\n", sound / paper
}'
echo
"$build/bench/bench_samplers"
echo
"$build/bench/bench_select"
echo
"$build/bench/bench_learn"
echo
"$build/bench/bench_gossip"
echo
echo "Learners with an index: K = 100, T = 1e6"
"$build/bench/bench_index"
echo
"$build/bench/bench_votes"
echo
echo "Generalised linear bandits: the full synthetic run, N = 200, T = 2000, d = 10, K = 25, D = 0.0775"
"$build/bench/bench_glm"
echo
echo "One agent of a live federation, durable decision+reward pairs, 8 callers"
python3 "$here/live.py" "$build/tacit" "$build/bench/agent_load"
echo
echo "One coordinator, 1,000 sites, 100 arms (making 1,000 certificates takes the most time)"
python3 "$here/coordinator.py" "$build/tacit" "$build/bench/coordinator_load"
