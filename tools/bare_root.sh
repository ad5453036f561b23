#!/bin/bash
# A bare Debian 12 in a folder, in it a clone of what is committed, and there what a newcomer does: the first block of the README, as it
# stands. Of this machine it has the package sources with their keys and proxies, and nothing else: no compiler, no curl, no data set.
#
# usage: bare_root.sh [--no-pty] [--cache FOLDER] [--wheel WHEEL | --only FOLDER] [COMMAND]
# --no-pty: without pseudo-terminals and sysfs, as in small containers. --cache: this folder of the machine is its compiler cache; what it compiles is
# there for others. --wheel: not the project but this wheel and the folder python (README, example,
# tests), with python3-venv in the place of git and make. --only: not the project but the files of this folder, and no package more.
# Root on Debian, 4 GB under build-bare, where the bare system is kept for the next time. The exit code is the command's; 3, and one line: no
# root can be made here, and nothing was run. Mounts and processes live in namespaces of their own and end with this script, however it ends.
set -euo pipefail
pty=yes wheel= only= cache=
[ "${1-}" != --no-pty ] || { pty=no; shift; }
[ "${1-}" != --cache ] || { cache=$(realpath "$2"); shift 2; }
[ "${1-}" != --wheel ] || { wheel=$(realpath "$2"); shift 2; }
[ "${1-}" != --only ] || { only=$(realpath "$2"); shift 2; }
cd "$(dirname "$0")/.."
project=$PWD base=$PWD/build-bare/base root=$PWD/build-bare/root.$$ log=$PWD/build-bare/log.$$
child=

cannot() {
    echo "bare_root.sh: no bare root can be made here: $1"
    exit 3
}

# Its mounts are seen by nobody else; when it or this script ends, so do all that it started. Waited for, so that a signal is heard.
apart() {
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc "$@" </dev/null &
    child=$!
    wait "$child"
}

leave() {
    trap '' EXIT INT TERM HUP
    if [ -n "$child" ]; then
        kill -KILL "$child" 2>/dev/null || :
        wait "$child" 2>/dev/null || :
    fi
    for _ in 1 2 3 4 5; do # who was killed may still be writing
        rm -rf --one-file-system "$root" "$base.$$" "$log" 2>/dev/null && break
        sleep 1
    done
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

make_base() {
    command -v debootstrap >/dev/null || {
        command -v apt-get >/dev/null || cannot "it needs debootstrap, or apt-get to install it"
        { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install debootstrap; } >"$log" 2>&1 ||
            cannot "apt-get does not install debootstrap: $(tail -n 1 "$log")"
    }
    apart debootstrap --variant=minbase bookworm "$base.$$" >"$log" 2>&1 || cannot "debootstrap: $(tail -n 1 "$log")"
    mv -T "$base.$$" "$base"
}

# What the machine's owner set, so that packages are found where they are found outside.
copy_sources() {
    local file
    rm -f "$root/etc/apt/sources.list"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d /etc/apt/keyrings /usr/share/keyrings /etc/ssl/certs \
        /etc/pip.conf /etc/resolv.conf /etc/hosts; do
        [ ! -e "$file" ] || { mkdir -p "$root$(dirname "$file")" && cp -rLT "$file" "$root$file" 2>/dev/null; } || :
    done
}

# In the namespaces: mounts, then the command, in the root.
enter='
set -eu
root=$1 pty=$2 cache=$3 command=$4
shift 4
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
if [ "$pty" = yes ]; then
    mount --bind /dev/pts "$root/dev/pts" || :
    mount --rbind /sys "$root/sys" || :
fi
if [ -n "$cache" ]; then
    mkdir -p "$root/root/.cache/ccache"
    mount --bind "$cache" "$root/root/.cache/ccache"
fi
exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 CCACHE_NOHASHDIR=1 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@" bash -ec "$command"
'
mapfile -t proxies < <(env | grep -iE '^(https?|no|all)_proxy=|^PIP_(CERT|INDEX_URL|EXTRA_INDEX_URL|DEFAULT_TIMEOUT)=' || :)
inside() {
    apart bash -c "$enter" enter "$root" "$pty" "$cache" "$1" "${proxies[@]}"
}

[ "$(id -u)" = 0 ] || cannot "it needs root"
mkdir -p build-bare
for old in build-bare/*.[0-9]*; do # of one that was killed outright
    kill -0 "${old##*.}" 2>/dev/null || rm -rf --one-file-system "$old"
done
apart true 2>"$log" || cannot "$(tail -n 1 "$log")"
[ -d "$base" ] || make_base
cp -a "$base" "$root"
copy_sources
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/thrown-away" # dpkg waits for no disk
inside ': it can be entered' >"$log" 2>&1 || cannot "$(tail -n 1 "$log")"
packages=${wheel:+python3-venv}
packages=${packages:-git make ccache} # its tests are built of what its programs were compiled to
[ -z "$only" ] || packages=
inside "{ apt-get -qq update; DEBIAN_FRONTEND=noninteractive apt-get -qq -y install $packages; }" >"$log" 2>&1 ||
    cannot "apt-get does not install $packages in it: $(tail -n 1 "$log")"
copy_sources # again: ca-certificates, if it came along, wrote its own list
place=$root/root/project
if [ -n "$wheel" ]; then
    mkdir "$place"
    cp "$wheel" python/README.md python/example.py python/tests/test_experiments.py "$place"
elif [ -n "$only" ]; then
    cp -r "$only" "$place"
else
    git clone -q "$project" "$place"
fi
[ -n "$only" ] || first_block=$(sed -n '/^```sh$/,/^```$/{ /^```sh$/d; /^```$/q; p }' "$place/README.md")
inside "cd ~/project
${*:-$first_block}
:" # not the last command, which would be the first process: bash ends what others leave behind
