#!/bin/bash
# What distributions, containers and a security team are promised, on the real things: packages of what is committed, a bare Debian, images, tokens.
#
# usage: check_packages.sh [debs|reproducible|sbom|bare|manifests|grafana|images]...     a step by itself; debs comes before reproducible, bare and images
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- debs reproducible sbom bare manifests grafana images
into=$PWD/build-packages
# The compiler's command names the folder; one place for all versions, so that a cache of compilers serves.
export PLACE=$into/place

debs() { # lintian: not one error or warning
    tools/make_deb.sh "$into/new"
    lintian --allow-root --fail-on error,warning "$into"/new/*.changes
    python3 tools/check_hardening.py "$into"/new/*.deb
}

reproducible() { # the same bytes from another folder, by the compiler itself, with another mask, time zone and language
    local other=$into/another_folder file # with a blank in it dpkg leaves out the flag that hides the folder
    (umask 077 && CCACHE_DISABLE=1 TZ=Asia/Tokyo LC_ALL=C.UTF-8 PLACE="$other/place" tools/make_deb.sh "$other")
    for file in "$into"/new/*.deb; do
        cmp "$file" "$other/$(basename "$file")"
    done
    rm -rf "$other"
    echo "two builds in two folders: the same bytes"
}

validators() { # of PyPI
    [ -x "$into/venv/bin/kubernetes-validate" ] || { python3 -m venv "$into/venv" && "$into/venv/bin/pip" -q install spdx-tools kubernetes-validate; }
}

sbom() {
    validators
    make -s sbom
    "$into/venv/bin/pyspdxtools" --infile build/tacit.spdx.json --version SPDX-2.3
    sed 's/"relatedSpdxElement": "SPDXRef-Package-libssl3"/"relatedSpdxElement": "SPDXRef-none"/' build/tacit.spdx.json >"$into/bad.spdx.json"
    ! "$into/venv/bin/pyspdxtools" --infile "$into/bad.spdx.json" 2>/dev/null || { echo "the validator takes what is wrong"; exit 1; }
    echo "build/tacit.spdx.json is valid"
}

bare() { # from packages alone; with the version before, for the upgrade
    local before
    before=$(cat tests/version_before)
    [ -e "$into/old/$before" ] || { rm -rf "$into/old" && tools/make_deb.sh "$into/old" "$before" && touch "$into/old/$before"; }
    rm -rf "$into/bare" && mkdir -p "$into/bare/new" "$into/bare/old"
    cp "$into"/new/*.deb "$into/bare/new"
    cp "$into"/old/*.deb "$into/bare/old"
    cp -r examples/device tests/packages/in_bare_root.sh "$into/bare"
    tools/bare_root.sh --only "$into/bare" 'bash in_bare_root.sh'
}

manifests() { # against the published schemas; and something wrong is seen
    validators
    "$into/venv/bin/kubernetes-validate" --strict packaging/kubernetes/*.yaml
    sed 's/readOnlyRootFilesystem/readonlyRootFilesystem/' packaging/kubernetes/hub.yaml >"$into/bad.yaml"
    ! "$into/venv/bin/kubernetes-validate" --strict "$into/bad.yaml" >/dev/null 2>&1 || { echo "the validator takes what is wrong"; exit 1; }
}

grafana() { # the dashboard against the types of Grafana's own schema; what its panels ask for: tests/live/prometheus.py
    [ -d "$into/node_modules/@grafana/schema" ] || npm install --silent --no-audit --no-fund --prefix "$into" @grafana/schema@11.6.0 typescript@5.8.3
    {
        echo "import type { Dashboard } from '@grafana/schema';"
        # shellcheck disable=SC2016
        echo 'type Plain<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Plain<T[K]> } : T; // JSON has the words of enums'
        echo "export const dashboard: Plain<Dashboard> ="
        cat docs/monitoring/grafana-dashboard.json
    } >"$into/dashboard.ts"
    sed 's/"gridPos"/"gridpos"/' "$into/dashboard.ts" >"$into/bad.ts"
    local tsc=("$into/node_modules/.bin/tsc" --noEmit --strict --moduleResolution bundler --module esnext --target es2022)
    "${tsc[@]}" "$into/dashboard.ts"
    ! "${tsc[@]}" "$into/bad.ts" >/dev/null || { echo "the compiler takes what is wrong"; exit 1; }
    echo "docs/monitoring/grafana-dashboard.json has the types of Grafana's schema"
}

images() {
    [ -d build-bare/base ] || tools/bare_root.sh --only tests/packages true
    { grep -o " $into/images/[^ ]*" /proc/mounts || :; } | sort -r | xargs -r umount # of a run before: buildah leaves its store mounted
    rm -rf "$into/images" && mkdir -p "$into/images"
    cp "$into"/new/tacitd_*.deb "$into/images"
    cp -a build-bare/base "$into/images/base"
    /usr/bin/python3 tests/packages/containers.py "$into/images"
}

for step in "$@"; do
    echo "== $step"
    $step
done
