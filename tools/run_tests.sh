#!/bin/sh
# Runs all tests of a build directory; ends with "N passed, N failed, N skipped", counted test by test.
#
# usage: run_tests.sh DIRECTORY [MESON TEST OPTION...]
#
# A federation waits for other processes, by the clock. One that failed beside other tests is run once
# more by itself, and said so, with what it printed the first time: its second verdict counts.
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
    again=$(python3 tools/count_tests.py --federations-that-failed "$logs/testlog.json")
    if [ -n "$again" ]; then
        echo "once more, each by itself:" $again
        # shellcheck disable=SC2086
        meson test -C "$directory" --no-rebuild --print-errorlogs --num-processes 1 --logbase again $again || :
        set -- "$@" "$logs/again.json"
    fi
    code=0 # what the counts say is the verdict
fi
python3 tools/count_tests.py "$@" || code=1
exit "$code"
