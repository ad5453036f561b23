#!/bin/bash
# Runs in a bare Debian whose folder has the packages in new/ and those of the version before in old/ (tools/check_packages.sh): what they bring, a
# federation from nothing, an upgrade with states in place, removal. Each step prints one line; the first that does not hold ends it.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
say() { echo "-- $*"; }
fail() { echo "does not hold: $*"; tail -n 5 here/*.log 2>/dev/null || :; exit 1; }
add() { apt-get -qq -y --no-install-recommends install "$@" >/dev/null 2>apt.log || { cat apt.log; exit 1; }; }
installed_kb() { dpkg-query -W -f '${db:Status-Abbrev}${Installed-Size}\n' | awk '/^ii/ { sum += $2 } END { print sum }'; }
post() { curl --silent --show-error --unix-socket "here/$1.sock" -X POST "http://localhost/v1/$2" -d "$3"; }
shown() { tacitd status --config "here/$1.yaml" --json | tr -d ' \n' | sed "s/.*\"$2\":\"\\?\\([^\",}]*\\).*/\\1/"; }
[ "$(command -v gcc python3 mosquitto tacitd)" = "" ] || fail "the root is bare"

# The first arm's rewards are a little larger than the others', until the coordinator's epoch is $1 or the run is over.
play_until() {
    local site ids round
    for round in $(seq 200); do
        [ "$(shown coordinator phase)" != finished ] || return 0
        [ "$(shown coordinator epoch)" -lt "$1" ] || return 0
        for site in north south east; do
            post "$site" decisions/batch "{\"requests\": [$(printf '{},%.0s' $(seq 499)){}]}" >decided
            ids=$(tr '{' '\n' <decided | sed -n 's/.*"id": "\([0-9a-f]*\)", "arm": \([0-9]*\),.*/\1 \2/p' |
                awk '{ printf "%s{\"id\": \"%s\", \"reward\": %s}", (NR > 1 ? "," : ""), $1, ($2 == 0 ? 0.6 : 0.5) }')
            post "$site" rewards/batch "{\"rewards\": [$ids]}" >rewarded
        done
    done
    fail "$round times 1,500 decisions, and the coordinator is in epoch $(shown coordinator epoch)"
}

say "tacitd alone, with its libraries: at most 25 MB more than bare Debian, its executable 3 MB, no networks and no LAPACK"
before=$(installed_kb)
add ./new/tacitd_*.deb
more=$(($(installed_kb) - before))
[ "$more" -le 25600 ] || fail "$more KB"
size=$(stat -L -c %s /usr/bin/tacitd)
[ "$size" -le 3000000 ] || fail "the executable has $size bytes"
echo "   $more KB with libraries, the executable $size bytes"
! dpkg-query -W 2>/dev/null | grep -E 'dnnl|lapack|blas|gfortran' || fail "what only the simulator needs"
[ "$(stat -c '%U %G %a' /etc/tacit)" = "tacit tacit 750" ] || fail "/etc/tacit"
for unit in tacit-agent@ tacit-coordinator tacit-helper tacit-broker; do
    program=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "/lib/systemd/system/$unit.service")
    [ -x "$program" ] || [ "$unit" = tacit-broker ] || fail "$unit starts $program"
done
apt-get -qq -y purge tacitd >/dev/null 2>&1
[ ! -e /etc/tacit ] || fail "an empty folder is left"

say "from packages to the first decision of a federation of three sites: five commands"
apt-get -qq update
apt-get -qq -y --no-install-recommends install ./new/tacitd_*.deb mosquitto curl >/dev/null 2>&1
tacitd trial here >/dev/null
sh here/federation.sh start
curl --silent --unix-socket here/north.sock -X POST http://localhost/v1/decisions -d '{}' | tee decision
grep -q '"kind": "planned"' decision || fail "the first decision"
post north rewards "{\"id\": \"$(sed 's/^{"id": "\([0-9a-f]*\)".*/\1/' decision)\", \"reward\": 0.6}" >rewarded # else its place is held for a minute
play_until 3
sh here/federation.sh stop

say "an upgrade with states in place: played by $(basename old/tacitd_*.deb), then by $(basename new/tacitd_*.deb)"
rm -r here
apt-get -qq -y --allow-downgrades install ./old/tacitd_*.deb >/dev/null 2>&1
mkdir new/files
dpkg-deb -x new/tacitd_*.deb new/files
new/files/usr/bin/tacitd trial here >/dev/null # the version before may not know the word; its federation is started by the same script
sed -i "s,^tacitd=.*,tacitd=/usr/bin/tacitd," here/federation.sh
sh here/federation.sh start
play_until 3
sh here/federation.sh stop
touch /etc/tacit/mine.yaml
chmod 0700 /etc/tacit
old=$(sha256sum /usr/bin/tacitd)
add ./new/tacitd_*.deb
[ "$(sha256sum /usr/bin/tacitd)" != "$old" ] || fail "another executable"
[ "$(stat -c %a /etc/tacit)" = 700 ] && [ -e /etc/tacit/mine.yaml ] || fail "what the owner set stays"
sh here/federation.sh start
epoch=$(shown coordinator epoch)
[ "$epoch" -ge 3 ] && [ "$(shown coordinator winner)" = null ] || fail "not where it stopped, or decided before: epoch $epoch"
play_until 999
[ "$(shown coordinator winner)" = letter ] || fail "winner: $(shown coordinator winner)"
sh here/federation.sh stop
echo "   from epoch $epoch to the winner"

say "removed and purged, what an owner wrote is there still"
apt-get -qq -y purge tacitd >/dev/null 2>&1
[ -e /etc/tacit/mine.yaml ] && [ -e here/state-north/state.db ] || fail "files are lost"

say "tacit alone simulates; it brings neither SQLite nor libmosquitto"
add ./new/tacit_*.deb
tacit run /usr/share/tacit/experiments/hospital/hospital.yaml --runs 2 --quiet >/dev/null
! readelf -d /usr/bin/tacit 2>/dev/null | grep -E 'sqlite|mosquitto' || fail "it needs what only daemons need"
man -w tacit >/dev/null 2>&1 || [ -e /usr/share/man/man1/tacit.1.gz ] || [ -e /etc/dpkg/dpkg.cfg.d/docker ] || fail "no manual"

say "libtacit-dev: a device is made of it, and plays"
add ./new/libtacit-dev_*.deb gcc libc6-dev pkg-config
# shellcheck disable=SC2046
gcc -std=c11 -D_GNU_SOURCE $(pkg-config --cflags tacit_wire) device/device.c device/board_host.c -o board $(pkg-config --static --libs tacit_wire) -lm
./board north board-state 0.1 0.9 </dev/null >/dev/null 2>said
[ "$(xargs <said)" = "0 0" ] || fail "$(cat said)"
echo "packages: all holds"
