#!/bin/bash
# What takes too long for every change: a bare machine without terminals, long statistics, the full run of contexts, 1,000 kills, a minute without
# a broker, an hour of ordinary life, a large swarm, an agent on an emulated board, 30 s of each fuzz target.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-30}

echo "== the README's first commands in a bare Debian that has no pseudo-terminals and no sysfs, where one can be made"
tools/bare_root.sh --no-pty || [ $? = 3 ]

echo "== long statistics"
tools/build.sh build-test -Dtests=true
TACIT_TEST_LONG=1 meson test -C build-test --quiet --print-errorlogs --suite stat --timeout-multiplier 20

echo "== 100 random experiments from Python and from the command line, byte for byte (build-python: make python)"
PYTHONPATH=build-python/site TACIT_CLI=build-python/tacit TACIT_EXPERIMENTS_COUNT=100 \
    /usr/bin/python3 python/tests/test_experiments.py Commands.test_results_are_the_command_line_s

echo "== the twins of elimination and votes, three times as many runs"
TACIT_TEST_LONG=1 build-test/tests/oracle_graph_oracle
TACIT_TEST_LONG=1 build-test/tests/oracle_vote_oracle
TACIT_TEST_LONG=1 build-test/tests/oracle_best_arm_oracle

echo "== statistics and what is heavy under the sanitizers, and all tests as clang makes them"
ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
    tools/run_tests.sh build-asan --quiet --timeout-multiplier 5 --suite stat --suite heavy
TACIT_TEST_LONG=1 ASAN_OPTIONS=detect_leaks=1 TACIT_PROGRAM=build-asan/tacit build-asan/tests/cli_wrong_input
CC=clang tools/build.sh build-clang -Dtests=true
tools/run_tests.sh build-clang --quiet

echo "== long live tests"
TACIT_TEST_LONG=1 meson test -C build-test --quiet --print-errorlogs --suite live --timeout-multiplier 4

echo "== floods, with nothing else beside the ordinary callers"
TACIT_TEST_LONG=1 TACIT_TEST_ALONE=1 meson test -C build-test --quiet --print-errorlogs --timeout-multiplier 8 federation_floods

echo "== 1,000 kills over live runs of six protocols, with lost coordinators and old copies among them"
TACIT_PROGRAM=build-test/tacit TACIT_GLM_EVENTS_PROGRAM=build-test/tests/glm_events \
    TACIT_GOSSIP_STATE_PROGRAM=build-test/tests/gossip_state tests/long/kills.py

echo "== upgrades under way, from the version before and to a next one"
TACIT_PROGRAM=build-test/tacit python3 tests/long/upgrade.py

echo "== an hour at 500 decisions a second (TACIT_SOAK_S: seconds)"
TACIT_PROGRAM=build-test/tacit python3 tests/long/soak.py

echo "== the pages in a browser, with axe-core; the figures by librsvg"
tools/install_dependencies.sh browser
TACIT_TEST_LONG=1 TACIT_PROGRAM=build-test/tacit tests/cli/browser.py build-test

echo "== what plan forecasts, on 30 held-out instances"
TACIT_PROGRAM=build-test/tacit python3 tests/long/forecast.py

echo "== rounds of user selection against their twin, five times as many"
TACIT_TEST_LONG=1 TACIT_PROGRAM=build-test/tacit tests/oracle/select_rounds.py

echo "== trainings on MNIST and CIFAR-10"
build-test/tests/learn_long

echo "== gossip, at length"
TACIT_TEST_LONG=1 build-test/tests/unit_gossip

echo "== 100,000 schedules of each protocol with rounds, with backups and clones, hubs put back and lost"
for storm in build-test/tests/round_storm_*; do
    [ -d "$storm" ] || TACIT_TEST_LONG=1 "$storm"
done

echo "== contexts: the full synthetic run, the same bytes with 1 and with 16 threads"
for threads in 1 16; do
    build-test/tacit run experiments/p4-glm/synthetic_fedglb_d0_0775.yaml --set runs=3 --threads "$threads" \
        --json --quiet >"build-test/glm-$threads.json"
done
cmp build-test/glm-1.json build-test/glm-16.json

echo "== a trained policy's interval holds the truth in 93 to 97 % of 1,000 logs"
TACIT_PROGRAM=build-test/tacit tests/long/policies.py

echo "== contexts: all of Fig. 2(a), with its verdicts on record"
build-test/tacit reproduce p4-fig2a --experiments experiments --quiet

echo "== contexts: three sizes, each within a factor of two of the model of src/proto/glm/NOTES.md, the largest in 3 GiB"
TARGETS=bench/bench_glm tools/build.sh build-bench -Dbench=true -Dtests=false
build-bench/bench/bench_glm 50 500 10 25 0.0775 1 fastest check
build-bench/bench/bench_glm 200 2000 10 25 0.0775 1 fastest check
(ulimit -v 3145728 && build-bench/bench/bench_glm 10000 200 50 50 5 1 fastest check)

echo "== an agent on a Cortex-M4: what it takes, and a federation of three on QEMU's board (gcc-arm-none-eabi, qemu-system-arm)"
tools/install_dependencies.sh device
tools/build_device.sh build-device
TACIT_DEVICE=build-device/emulated TACIT_DEVICE_EMULATED=1 build-test/tests/cli_device

echo "== swarm of 500,000 seeds"
build-test/tests/sim_swarm --seeds 500000

echo "== fuzzing, $seconds s a target"
CC=clang tools/build.sh build-fuzz -Dtests=true -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
for target in build-fuzz/tests/fuzz/fuzz_*; do
    [ -f "$target" ] && [ -x "$target" ] || continue
    name=$(basename "$target")
    name=${name#fuzz_}
    mkdir -p "build-fuzz/corpus/$name"
    seeds=
    [ ! -d "tests/fuzz/corpus/$name" ] || seeds="tests/fuzz/corpus/$name"
    echo "-- $name"
    # shellcheck disable=SC2086
    "$target" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix=build-fuzz/ \
        "build-fuzz/corpus/$name" $seeds 2>&1 | tail -n 8
done
echo "All long checks passed."
