#!/bin/sh
# The pure archive reaches only itself, memory primitives, libm and tacit_panic, and has no writable
# globals: tables of addresses (a protocol's rule) are written by the linker only (.data.rel.ro). Built
# for release, without sanitizers.
#
# usage: check_purity.sh [--codecs] ARCHIVE [MEMBER...]
#   --codecs   text primitives, too
#   MEMBER     an object of it that may reach outside, such as heap.c.o
set -eu
allowed='tacit_.*|mem(cpy|move|set|cmp)(_chk)?|__stack_chk_fail|sqrt|log|log1p|exp|expm1|pow|exp2|fabs|floor|ceil|sin|tan|asin|_GLOBAL_OFFSET_TABLE_'
constant='^\.data\.rel\.ro'
if [ "$1" = --codecs ]; then
    allowed="$allowed|memchr|str(len|cmp|spn)"
    shift
fi
archive=$1
shift
own=$(mktemp)
trap 'rm -f "$own"' EXIT
# Lines of nm, without those of the members that were named; lines of a member come after its name.
symbols() { nm "$archive" 2>/dev/null | awk -v skip=" $* " '/:$/ { sub(":$", ""); left_out = index(skip, " " $0 " ") } !left_out'; }
symbols "$@" | awk 'NF == 3 && $2 != "U" { print $3 }' | sort -u >"$own" # what its files say to each other
bad=$(symbols "$@" | awk 'NF == 2 && $1 == "U" { print $2 }' | sort -u | grep -Fxv -f "$own" | grep -Exv "$allowed" || true)
[ -z "$bad" ] || { echo "the pure rooms reach outside:" $bad >&2; exit 1; }
# Objects in a section that is written to: "ADDRESS FLAGS O SECTION<tab>SIZE NAME".
globals=$(objdump -t "$archive" 2>/dev/null | awk -v skip=" $* " -v constant="$constant" '
    /file format/ { sub(":$", "", $1); left_out = index(skip, " " $1 " ") }
    !left_out && match($0, / O [^\t]*\t/) {
        section = substr($0, RSTART + 3, RLENGTH - 4)
        if (section ~ /^\.t?(data|bss)|^\*COM\*/ && section !~ constant)
            print $NF
    }')
[ -z "$globals" ] || { echo "the pure rooms have writable state:" $globals >&2; exit 1; }
