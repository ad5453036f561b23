#!/bin/sh
# Runs all tests of a build directory; ends with "N passed, N failed, N skipped", counted test by test.
#
# usage: run_tests.sh DIRECTORY [MESON TEST OPTION...]
#
# Tests of the suites cli and live, federations among them, wait for other processes, by the clock. One that failed beside other tests is
# played again by itself, and named, with what it printed the first time: its second verdict counts. What a sanitizer found stands, as does
# all that other suites say.
set -u
directory=$1
shift
code=0
# Federations wait more than they work: twice as many tests at once as there are processors.
processes=$((2 * $(getconf _NPROCESSORS_ONLN)))
logs=$directory/meson-logs
rm -f "$logs/testlog.json" # a build that fails leaves none
meson test -C "$directory" --print-errorlogs --num-processes "$processes" "$@" || code=$?
set -- "$logs/testlog.json"
if [ "$code" != 0 ]; then
    again=$(python3 tools/count_tests.py --by-the-clock "$logs/testlog.json")
    if [ -n "$again" ]; then
        # shellcheck disable=SC2086
        meson test -C "$directory" --no-rebuild --print-errorlogs --num-processes 1 --timeout-multiplier 5 --logbase again \
            --suite cli --suite live $again || :
        set -- "$@" "$logs/again.json"
    fi
    code=0 # what the counts say is the verdict
fi
python3 tools/count_tests.py "$@" || code=1
exit "$code"
