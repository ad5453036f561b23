#!/bin/bash
# The gates, cheapest first. Each says its name; the first that fails ends the check.
#
# usage: check.sh [--build]      --build: compiles and fetches what gates need, ahead of them, and runs none
set -euo pipefail
cd "$(dirname "$0")/.."

build_release() {
    tools/build.sh build-gate -Dtests=false -Dbench=true -Dpython=true --buildtype=release
}
build_package() {
    tools/build.sh build-python -Dtests=false -Dpython=true -Dwheel=true --buildtype=release
}
# Lines are all that a sanitizer names of the debugger's words, and nothing goes on after what it found: without the rest, linked by gold, the
# tests are there sooner. What gold says of the sanitizer's own assembly means nothing.
build_sanitized() {
    CC=clang CC_LD=gold tools/build.sh "$@" -Dtests=true -Db_lundef=false -Dc_args='-gline-tables-only -fno-sanitize-recover=all' 2>&1 |
        { grep -v "ld.gold: warning: Cannot export local symbol '__asan_" || :; }
}
build_asan() {
    build_sanitized build-asan -Db_sanitize=address,undefined
}
threaded='sim_runs sim_glm_runs cli_run cli_reproduce cli_votes'
build_tsan() {
    TARGETS="tacit tacitd $(printf 'tests/%s ' $threaded)" build_sanitized build-tsan -Db_sanitize=thread
}
build_hooked() {
    TARGETS=tacitd-test tools/build.sh build-test -Dtests=true
}
if [ "${1-}" = --build ]; then
    build_package
    tools/build_python.sh build-python --environments
    build_asan
    build_release
    build_tsan
    build_hooked
    tools/check_valgrind.sh build-test --build
    exit
fi

SECONDS=0
gate() {
    echo "== $1 (after $SECONDS s)"
}
sources=$(git ls-files '*.c' '*.h')

gate "format"
clang-format --dry-run --Werror $sources

gate "layers: includes point left only"
python3 tools/check_layers.py .

gate "leaks: a family stays in its folders"
python3 tools/check_leaks.py .

gate "callers: no function that nobody calls"
python3 tools/check_callers.py .

gate "headers: every public function is documented"
python3 tools/check_headers.py include/tacit/*.h
python3 tools/make_reference.py --check include/tacit/*.h

gate "notes: what they name is there"
python3 tools/check_notes.py .

gate "function length"
python3 tools/check_functions.py $sources

gate "assertions a function, room by room"
python3 tools/count_assertions.py .

gate "copies: no more than there were"
tools/check_copies.sh

gate "tidy: no banned calls, no paths of one machine"
tools/check_tidy.sh

# One release build serves the purity of its archives and the Python package.
gate "purity: the pure rooms reach nothing outside"
build_release
tools/check_purity.sh build-gate/src/libtacit.a
tools/check_purity.sh --codecs build-gate/src/wire/libtacit_wire.a heap.c.o difference.c.o

gate "libraries: each program links what it may"
tools/check_libraries.sh build-gate

# The environments of the Python package come over the network while the next gate compiles.
build_package
setpriv --pdeathsig TERM tools/build_python.sh build-python --environments &
environments=$!

# A federation of slow daemons misses the deadlines that its tests wait for: a few of them, then, that
# take every path (rounds, neighbours, a sink, stop and restart).
gate "clang: warnings are errors; address and undefined-behaviour sanitizers over the tests but long ones, and some federations"
build_asan
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
tools/run_tests.sh build-asan --quiet --timeout-multiplier 5 --no-suite federation --no-suite stat --no-suite heavy
# Valgrind has what tests that go by the clock, here and in the next gate, leave of the processors.
setpriv --pdeathsig TERM chrt --idle 0 tools/check_valgrind.sh build-test &
valgrind=$!
export TACIT_PROGRAM=build-asan/tacit TACIT_TEST_PROGRAM=build-asan/tacitd-test
export TACIT_SIMULATED_PROGRAM=build-asan/tests/simulated
python3 tests/live/byte_for_byte.py hooked_federation_sends_the_simulator_s_bytes
python3 tests/live/peers.py ring_of_eight_decides_alike_without_a_hub two_stars_of_four_report_through_their_sinks
python3 tests/live/crashes.py sigterm_ends_cleanly_and_a_restart_goes_on
unset TACIT_PROGRAM TACIT_TEST_PROGRAM TACIT_SIMULATED_PROGRAM ASAN_OPTIONS UBSAN_OPTIONS

gate "the Python package: types, and its tests against the cores"
wait "$environments"
tools/build_python.sh build-python

gate "thread sanitizer over what has threads"
build_tsan
# shellcheck disable=SC2046
tools/run_tests.sh build-tsan --quiet --no-rebuild --timeout-multiplier 5 $(printf '%s ' $threaded | sed -E 's/(sim|cli|live)_//g')
TACIT_PROGRAM=build-tsan/tacit python3 tests/live/crashes.py sigterm_ends_cleanly_and_a_restart_goes_on

gate "valgrind over the cores and a whole run"
wait "$valgrind"

gate "instructions: no workload takes more than it did (bench/instructions.csv)"
build_hooked
python3 bench/instructions.py build-gate build-test

echo "All gates passed, in $SECONDS s."
