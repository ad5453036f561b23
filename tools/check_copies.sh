#!/bin/bash
# Copies: pairs of places that are alike over 50 tokens and five lines, by jscpd (npm), are no more than stated here. Numbers go down: after a pair is
# gone, write the new one. The tree before the first tidying (5ac1183) had 223 pairs in src, include and programs, and 376 in tests; 30 % of it
# are 66 and 112.
#
# usage: check_copies.sh [--list]
set -euo pipefail
cd "$(dirname "$0")/.."
declare -A stated=([product]=48 [tests]=30)
declare -A folders=([product]="src include programs" [tests]=tests)
detector=${JSCPD:-${HOME:-.}/.cache/tacit/jscpd/node_modules/.bin/jscpd}
if [ ! -x "$detector" ]; then
    echo "copies: not measured, there is no jscpd (tools/install_dependencies.sh check fetches it by npm)"
    exit 0
fi
into=$(mktemp -d)
trap 'rm -rf "$into"' EXIT
for part in product tests; do
    # shellcheck disable=SC2086
    "$detector" --min-tokens 50 --min-lines 5 --workers 1 --reporters json,silent --output "$into" ${folders[$part]} >/dev/null
    python3 - "$into/jscpd-report.json" "$part" "${stated[$part]}" "${1:-}" <<'PYTHON'
import json
import sys

path, part, stated, option = sys.argv[1:]
with open(path, encoding="utf-8") as report:
    found = json.load(report)
pairs = sorted(found["duplicates"], key=lambda pair: -pair["lines"])
shown = pairs if option == "--list" else pairs[:10] if len(pairs) > int(stated) else []
for pair in shown:
    one, other = pair["firstFile"], pair["secondFile"]
    print(f"{pair['lines']:4} lines: {one['name']}:{one['start']} {other['name']}:{other['start']}")
print(f"{part}: {len(pairs)} pairs of copies ({stated} stated), {found['statistics']['total']['percentage']:.2f} % of the lines")
if len(pairs) > int(stated):
    sys.exit(f"check_copies.sh: more copies in {part} than stated: make the one that is there serve")
PYTHON
done
