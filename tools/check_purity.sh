#!/bin/sh
# The pure archive reaches only itself, memory and text primitives, libm and tacit_panic, and has no writable
# globals. Built for release, without sanitizers.
#
# usage: check_purity.sh ARCHIVE [MEMBER...]      MEMBER: an object of it that may reach outside, such as heap.c.o
set -eu
allowed='^(tacit_.*|mem(cpy|move|set|cmp)(_chk)?|str(len|cmp|spn)|__stack_chk_fail|sqrt|log|log1p|exp|expm1|pow|exp2|fabs|floor|ceil)$'
archive=$1
shift
own=$(mktemp)
trap 'rm -f "$own"' EXIT
# Lines of nm, without those of the members that were named; lines of a member come after its name.
symbols() { nm "$archive" 2>/dev/null | awk -v skip=" $* " '/:$/ { sub(":$", ""); left_out = index(skip, " " $0 " ") } !left_out'; }
symbols "$@" | awk 'NF == 3 && $2 != "U" { print $3 }' | sort -u >"$own" # what its files say to each other
bad=$(symbols "$@" | awk 'NF == 2 && $1 == "U" && $2 != "_GLOBAL_OFFSET_TABLE_" { print $2 }' | sort -u | grep -Fxv -f "$own" |
    grep -Ev "$allowed" || true)
[ -z "$bad" ] || { echo "the pure rooms reach outside:" $bad >&2; exit 1; }
# What only the linker writes, .data.rel.ro, is constant.
globals=$(objdump -t "$archive" 2>/dev/null | awk -v skip=" $* " '/file format/ { sub(":$", "", $1); left_out = index(skip, " " $1 " ") }
    !left_out && $0 ~ / O / && $0 ~ /\t/ && $0 ~ / (\.t?(data|bss)|\*COM\*)[^\t]*\t/ && $0 !~ / \.data\.rel\.ro[^\t]*\t/ { print $NF }')
[ -z "$globals" ] || { echo "the pure rooms have writable state:" $globals >&2; exit 1; }
