#!/bin/sh
# Runs all tests of a build directory; ends with "N passed, N failed, N skipped", counted test by test.
#
# usage: run_tests.sh DIRECTORY [MESON TEST OPTION...]
set -u
directory=$1
shift
code=0
meson test -C "$directory" --print-errorlogs "$@" || code=$?
python3 tools/count_tests.py "$directory/meson-logs/testlog.json" || code=1
exit "$code"
