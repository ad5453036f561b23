#!/bin/sh
# Installs the Debian packages that are missing, and says what it does.
#
# usage: install_dependencies.sh build|live|test|check|python|package|containers|browser|device...
set -eu

build='gcc libc6-dev meson ninja-build pkg-config python3 libyaml-dev liblzma-dev zlib1g-dev libssl-dev libsodium-dev
librandom123-dev libsqlite3-dev libmosquitto-dev mosquitto-dev
libjansson-dev liblapacke-dev libdnnl-dev'
live=mosquitto
# curl: the pages that the tests follow call it. nodejs: runs the client that applications in JavaScript use. openssl: the tests ask it what
# it thinks of our certificates. systemd (procps: kill), strace: whether it takes our units, and whether the daemons keep to them. openmpi, parallel:
# they start shares of comparisons.
test='curl librsvg2-bin locales mosquitto-clients nodejs openssl libcmocka-dev openmpi-bin parallel protobuf-compiler python3-jsonschema python3-numpy python3-protobuf python3-yaml procps strace systemd'
check='ccache clang clang-format libclang-rt-14-dev valgrind universal-ctags binutils git'

# The Python package: cffi calls the library, numpy holds the vectors; the others make the wheel and check its types.
python='python3-cffi python3-numpy python3-setuptools python3-wheel python3-pip mypy'

# The pages of reports in a browser (make check-long only: it is heavy). npm fetches axe-core, librsvg2-bin draws the figures, poppler-utils
# counts sheets; a nodejs that is not Debian's may bring its own npm.
browser='chromium fonts-dejavu-core librsvg2-bin poppler-utils prometheus' # Prometheus: over a live federation, make check-long, too
# Packages; and, for make check-packages, their bare root, images and containers (no daemon), and what validates manifests, lists of parts and
# Grafana's dashboard (npm).
package='debhelper dpkg-dev fakeroot lintian'
containers='buildah curl debootstrap docker-compose iproute2 python3-venv python3-yaml runc'
# npm also fetches the detector of copies (check), once, into the user's cache: its launcher and its program for this machine.
copies=${HOME:-.}/.cache/tacit/jscpd
command -v npm >/dev/null 2>&1 || check="$check npm"
command -v npm >/dev/null 2>&1 || { browser="$browser npm" && containers="$containers npm"; }
# The agent of examples/device for a Cortex-M, and a board to run it on (make check-long).
device='gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm'

packages=
for set in "$@"; do
    case $set in
    build) packages="$packages $build" ;;
    live) packages="$packages $live" ;;
    test) packages="$packages $test" ;;
    check) packages="$packages $check" ;;
    python) packages="$packages $python" ;;
    package) packages="$packages $package" ;;
    containers) packages="$packages $containers" ;;
    browser) packages="$packages $browser" ;;
    device) packages="$packages $device" ;;
    *) echo "install_dependencies.sh: unknown set '$set'; allowed: build, live, test, check, python, package, containers, browser, device" >&2; exit 2 ;;
    esac
done

# Without dpkg we can still tell whether the tools and libraries are there.
missing_without_dpkg() {
    for tool in cc meson ninja pkg-config python3; do
        command -v "$tool" >/dev/null 2>&1 || printf ' %s' "$tool"
    done
    command -v pkg-config >/dev/null 2>&1 || return 0
    for library in yaml-0.1 liblzma zlib libcrypto libssl libsodium sqlite3 libmosquitto jansson lapacke; do
        pkg-config --exists "$library" 2>/dev/null || printf ' %s' "$library"
    done
}

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    missing=$(missing_without_dpkg)
    if [ -n "$missing" ]; then
        echo "There is no apt-get here. Please install:$missing" >&2
        echo "(and Random123; for the tests also cmocka, mosquitto and openssl)" >&2
        exit 1
    fi
    exit 0
fi

# After the packages, for npm may be one of them.
fetch_copies() {
    case " $sets " in *" check "*) ;; *) return 0 ;; esac
    [ ! -x "$copies/node_modules/.bin/jscpd" ] || return 0
    npm install --silent --no-audit --no-fund --prefix "$copies" jscpd@5.3.3 "jscpd-linux-$(node -p process.arch)-gnu@5.3.3" >&2 ||
        echo "install_dependencies.sh: jscpd did not come; make check will not measure copies" >&2
}
sets="$*"

missing=
for package in $packages; do
    status=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null || true)
    case $status in
    ii*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || { fetch_copies; exit 0; }

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    as_root=sudo
else
    echo "Missing packages:$missing" >&2
    echo "Installing them needs root. As root: apt-get install$missing" >&2
    exit 1
fi
echo "Installing missing Debian packages:$missing" >&2
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update >&2
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install $missing >/dev/null
fetch_copies
