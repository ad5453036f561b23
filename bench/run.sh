#!/bin/bash
# Measures the workloads of bench/README.md, everything on one thread and in one sitting, so that the
# ratios mean something on a noisy machine.
#
# usage: run.sh BUILD_DIRECTORY
set -euo pipefail
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

draw=
sync=
# Behind each speed: how many times its bound of the same minute, the time of 64 random bits (a draw) or of
# an fsync of 16 KiB, it takes.
bounded() {
    draw=$("$build/bench/bench_bounds" draw)
    sync=$("$build/bench/bench_bounds" sync "$build/bounds.sync")
    awk -v draw="$draw" -v sync="$sync" '
        match($0, /[0-9.]+ M (agent-)?pulls\/s/) { $0 = $0 sprintf("   %8.1f draws", 1 / (substr($0, RSTART) * draw)) }
        match($0, /p50 [0-9.]+ ms/) { $0 = $0 sprintf("   p50 %.1f syncs", 1000 * substr($0, RSTART + 4) / sync) }
        match($0, /slowest round: [0-9.]+ ms/) { $0 = $0 sprintf("   %.0f syncs", 1000 * substr($0, RSTART + 15) / sync) }
        { print }
        END { printf "(a draw %.1f ns, a sync %.2f ms)\n", 1000 * draw, sync / 1000 }'
}
# Noised sums of all 100 runs; each takes one draw for the pulls and two for the noise at least.
sums() { "$build/tacit" run "$here/cdp.yaml" --json --quiet "$@" | python3 -c 'import json, sys; print(100 * json.load(sys.stdin)["metrics"]["scalars"]["mean"])'; }

echo "Block elimination: M = 50, K = 100, T = 1e6, 100 runs"
paper=$(seconds "$build/tacit" run "$here/cdp.yaml" --threads 1 --json --quiet)
sound=$(seconds "$build/tacit" run "$here/cdp.yaml" --threads 1 --json --quiet --set privacy.mode=sound --set privacy.epsilon=50)
twin=$(grep -v '^#' "$here/means.csv" | "$build/bench/bench_twin" 5 | awk '{ print 100 * $1 }')
draw=$("$build/bench/bench_bounds" draw)
awk -v paper="$paper" -v sound="$sound" -v twin="$twin" -v draw="$draw" -v paper_sums="$(sums)" \
    -v sound_sums="$(sums --set privacy.mode=sound --set privacy.epsilon=50)" 'BEGIN {
    pulls = 100 * 50 * 1e6
    printf "%-34s %8.3f s   %6.1f G pulls/s\n", "tacit, paper mode", paper, pulls / paper / 1e9
    printf "%-34s %8.3f s   %6.1f G pulls/s\n", "tacit, sound mode, epsilon 50", sound, pulls / sound / 1e9
    printf "%-34s %8.3f s   %6.2f G pulls/s\n", "per-pull twin (5 runs, times 20)", twin, pulls / twin / 1e9
    printf "ratio twin : paper mode            %8.0f\n", twin / paper
    printf "ratio sound : paper mode           %8.2f\n", sound / paper
    printf "times three draws a noised sum     %8.1f (paper), %.1f (sound); a draw %.1f ns\n",
        paper * 1e6 / (3 * draw * paper_sums), sound * 1e6 / (3 * draw * sound_sums), 1000 * draw
}'
echo
"$build/bench/bench_samplers"
echo
"$build/bench/bench_select"
echo
"$build/bench/bench_learn"
echo
"$build/bench/bench_gossip" | bounded
echo
echo "Learners with an index: K = 100, T = 1e6"
"$build/bench/bench_index" | bounded
echo
"$build/bench/bench_votes"
echo
echo "Generalised linear bandits: the full synthetic run, N = 200, T = 2000, d = 10, K = 25, D = 0.0775"
"$build/bench/bench_glm"
echo
echo "One agent of a live federation, durable decision+reward pairs, 8 callers"
python3 "$here/live.py" "$build/tacit" "$build/bench/agent_load" | bounded
echo
echo "One coordinator, 1,000 sites, 100 arms (making 1,000 certificates takes the most time)"
python3 "$here/coordinator.py" "$build/tacit" "$build/bench/coordinator_load" | bounded
