#!/bin/sh
# Configures a build directory the first time (or anew when asked for other options) and builds it.
#
# usage: [TARGETS="..."] build.sh DIRECTORY [MESON OPTION...]      TARGETS: of ninja; all of them unless given
set -eu
directory=$1
shift
if [ ! -f "$directory/build.ninja" ]; then
    rm -rf "$directory"
    meson setup "$directory" "$@" >"$directory.log" 2>&1 || { cat "$directory.log" >&2; exit 1; }
    rm -f "$directory.log"
fi
# shellcheck disable=SC2086
ninja -C "$directory" --quiet ${TARGETS-} >&2 # stdout belongs to what is built
