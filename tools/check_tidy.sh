#!/bin/sh
# Banned calls, with what to use instead; nothing that belongs to one machine only; every .c begins with its purpose; and private words that
# are gone (docs/glossary.md has the field's) stay gone.
set -eu
bad=0
ban() {
    hits=$(git grep -nE "\\b($1)\\(" -- 'src/*.c' 'src/*.h' 'programs/*.c' || true)
    if [ -n "$hits" ]; then
        printf '%s\n  -> %s\n' "$hits" "$2" >&2
        bad=1
    fi
}
ban 'strcpy|strcat|sprintf|vsprintf|gets' 'snprintf, or tacit_text'
ban 'atoi|atof|atol' 'strtol or strtod with a check of the end'
ban 'rand|srand|random|drand48' 'a stream of tacit/random.h'
ban 'assert' 'TACIT_ASSERT, which stays on'
ban 'system|popen' 'posix_spawnp without a shell'
hits=$(git grep -nIE '(^|[^a-z.])/(work|farm|root|home)/' -- . ':!tools/check_tidy.sh' || true)
if [ -n "$hits" ]; then
    printf '%s\n  -> a path of one machine\n' "$hits" >&2
    bad=1
fi
hits=$(git ls-files '*.c' | xargs awk 'FNR == 1 && !/^\/\*/ {print FILENAME ": begins with: " $0}')
if [ -n "$hits" ]; then
    printf '%s\n  -> a line that says what the file is for\n' "$hits" >&2
    bad=1
fi
gone='piles?|voices?|halls?|yards?|seats?|crews?|mates?|tellers?|trails?|glances?|patience|meddles?|heeds?'
hits=$(git grep -niE "(^|[^a-z0-9])($gone)([^a-z0-9]|\$)" -- 'src/*.[ch]' 'include/*.h' 'programs/*.[ch]' || true)
if [ -n "$hits" ]; then
    printf '%s\n  -> a word of our own; say player, pool, identity, view, quorum, fault, apply, or whatever it is\n' "$hits" >&2
    bad=1
fi
verbs='([a-z0-9_]+_)?(take|say|hear|tell|give)(_[a-z0-9_]+)?'
hits=$(git grep -nE "(^|[^A-Za-z0-9_])$verbs\\(" -- 'src/*.[ch]' 'include/*.h' 'programs/*.[ch]' ':!src/report/dashboard.c' || true)
if [ -n "$hits" ]; then
    printf '%s\n  -> a function is named by what it does: parse, allocate, add, format, send, on_message\n' "$hits" >&2
    bad=1
fi
exit "$bad"
