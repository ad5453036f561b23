#!/bin/sh
# For the build of an image: puts programs with their libraries, and nothing else, into a folder that becomes its root. What a scanner looks for is
# there, too: which Debian packages these files are of, and their copyright.
#
# usage: collect.sh FOLDER FILE...
set -eu
image=$1
shift
mkdir -p "$image/usr/bin" "$image/usr/lib" "$image/usr/lib64" "$image/etc" "$image/tmp" "$image/var/lib/dpkg/status.d"
ln -s usr/bin "$image/bin"
ln -s usr/lib "$image/lib"
ln -s usr/lib64 "$image/lib64"
for file in "$@" $(ldd "$@" 2>/dev/null | sed -n -e 's/.* => \(\/[^ ]*\) .*/\1/p' -e 's/^[[:space:]]*\(\/[^ ]*\) (0x.*/\1/p' | sort -u); do
    mkdir -p "$image$(dirname "$file")"
    cp -L "$file" "$image$file"
    package=$(dpkg-query --search "$file" "$(realpath "$file")" "/usr$file" 2>/dev/null | sed -n '1s/:.*//p')
    [ -n "$package" ] || { echo "collect.sh: $file is of no package" >&2; exit 1; }
    dpkg-query --status "$package" >"$image/var/lib/dpkg/status.d/$package"
    mkdir -p "$image/usr/share/doc/$package"
    cp -L "/usr/share/doc/$package/copyright" "$image/usr/share/doc/$package/"
done
echo 'tacit:x:10001:10001:daemons of tacit:/:/nonexistent' >"$image/etc/passwd"
echo 'tacit:x:10001:' >"$image/etc/group"
install -d -o 10001 -g 10001 -m 0750 "$image/etc/tacit"
install -d -o 10001 -g 10001 -m 0700 "$image/var/lib/tacit"
install -d -o 10001 -g 10001 -m 0770 "$image/run/tacit"
chmod 1777 "$image/tmp"
