#!/bin/sh
# The pure archive reaches only itself, memory primitives, libm and tacit_panic, and has no writable
# globals. Built for release, without sanitizers.
#
# usage: check_purity.sh libtacit.a
set -eu
allowed='^(tacit_.*|mem(cpy|move|set|cmp)(_chk)?|__stack_chk_fail|sqrt|log|log1p|exp|expm1|pow|exp2|fabs|floor|ceil)$'
own=$(mktemp)
trap 'rm -f "$own"' EXIT
nm --defined-only "$1" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u >"$own" # what its files say to each other
bad=$(nm -u "$1" 2>/dev/null | awk 'NF == 2 && $1 == "U" { print $2 }' | sort -u | grep -Fxv -f "$own" |
    grep -Ev "$allowed" || true)
[ -z "$bad" ] || { echo "the pure rooms reach outside:" $bad >&2; exit 1; }
globals=$(nm "$1" 2>/dev/null | grep -E ' [BbDdC] ' || true)
[ -z "$globals" ] || { echo "the pure rooms have writable state:" $globals >&2; exit 1; }
