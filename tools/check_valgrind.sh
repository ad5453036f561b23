#!/bin/sh
# Memory errors and leaks: the core's tests, and the program from file to report.
#
# usage: check_valgrind.sh BUILD_DIRECTORY
set -eu
build=$1
quietly() {
    valgrind --quiet --leak-check=full --show-leak-kinds=all --error-exitcode=99 "$@" >"$build/valgrind.log" 2>&1 || {
        cat "$build/valgrind.log" >&2
        echo "valgrind: $*" >&2
        exit 1
    }
}
for name in unit_base unit_env unit_elim unit_privacy unit_wire kat_random kat_samplers trace_elim_trace; do
    quietly "$build/tests/$name"
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
quietly "$build/tacit" run experiments/hospital/hospital.yaml --runs 3 --threads 2 --quiet --out "$out/report"
quietly "$build/tacit" check experiments/hospital/hospital.yaml
quietly "$build/tests/sim_swarm" --seed 7
