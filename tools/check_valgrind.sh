#!/bin/bash
# Memory errors and leaks: the core's tests, and the program from file to report. Builds what it needs.
#
# usage: check_valgrind.sh BUILD_DIRECTORY [--build]      --build: builds, and no more
set -euo pipefail
build=$1
tests=(sim_swarm unit_base unit_env unit_elim unit_privacy unit_wire kat_random kat_samplers) # the longest first
TARGETS="tacit ${tests[*]/#/tests/}" tools/build.sh "$build" -Dtests=true
[ "${2-}" != --build ] || exit 0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
quietly() {
    local log
    log=$(mktemp -p "$out")
    valgrind --quiet --leak-check=full --show-leak-kinds=all --error-exitcode=99 "$@" >"$log" 2>&1 || {
        cat "$log" >&2
        echo "valgrind: $*" >&2
        return 1
    }
}
export -f quietly
export out
{
    printf '%s\n' "$build/tests/${tests[0]} --seed 7" "$build/tacit run experiments/hospital/hospital.yaml --runs 3 --threads 2 --quiet --out $out/report" \
        "$build/tacit check experiments/hospital/hospital.yaml"
    printf "$build/tests/%s\n" "${tests[@]:1}"
} | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I '{}' bash -euc 'quietly {}'
