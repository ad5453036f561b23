#!/bin/sh
# Banned calls, with what to use instead; and nothing that belongs to one machine only.
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
exit "$bad"
