#!/bin/sh
# Runs all tests of a build directory; ends with "N passed, N failed, N skipped", counted test by test.
#
# usage: run_tests.sh DIRECTORY [MESON TEST OPTION...]
set -u
directory=$1
shift
code=0
# Federations wait more than they work: twice as many tests at once as there are processors.
processes=$((2 * $(getconf _NPROCESSORS_ONLN)))
meson test -C "$directory" --print-errorlogs --num-processes "$processes" "$@" || code=$?
python3 tools/count_tests.py "$directory/meson-logs/testlog.json" || code=1
exit "$code"
