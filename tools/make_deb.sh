#!/bin/sh
# Debian packages of what is committed, by debhelper: tacit, tacitd, libtacit-dev. Their version is the commit's time, so a later commit upgrades
# an earlier one, and the same commit gives the same bytes in every folder.
#
# usage: make_deb.sh DIRECTORY [COMMIT]     packages of COMMIT (default: HEAD) into DIRECTORY; packaging/ is always today's
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
into=$(realpath "$1")
commit=${2:-HEAD}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH
release=$(git show "$commit:meson.build" | sed -n "s/^  version: '\(.*\)',/\1/p")
version="$release~git$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d.%H%M%S)"
place=${PLACE:-$into/deb} # one place for several calls lets a cache of compilers serve
rm -rf "$place"
mkdir -p "$place/source"
git archive "$commit" | tar -C "$place/source" -x
cp -RT packaging/debian "$place/source/debian"
cat >"$place/source/debian/changelog" <<END
tacit ($version) unstable; urgency=medium

  * Commit $(git rev-parse "$commit"): see CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
(cd "$place/source" && dpkg-buildpackage --build=binary --unsigned-source --unsigned-changes >"$place/log" 2>&1) ||
    { tail -n 40 "$place/log" >&2; exit 1; }
rm -f "$into"/*.deb "$into"/*.changes "$into"/*.buildinfo
mv "$place"/*.deb "$into"
mv "$place"/*.changes "$place"/*.buildinfo "$into"
rm -rf "$place"
