#!/bin/sh
# Cross-compiles the agent of examples/device with all that it links for a Cortex-M4, and prints how much of its memory that takes:
# text (code and constants), data and bss (static memory). There is no heap to link: who calls malloc does not link.
#
# usage: build_device.sh [DIRECTORY]      DIRECTORY: for what is built (default: build-device)
set -eu
cd "$(dirname "$0")/.."
out=${1:-build-device}
mkdir -p "$out/include"
ln -sfn "${RANDOM123:-/usr/include}/Random123" "$out/include/Random123"

cores='base/bits base/status base/sum base/text random/entropy random/stream privacy/samplers privacy/mechanism privacy/ledger
privacy/commit privacy/sha256 proto/elim/agent proto/elim/message proto/elim/holder'
codecs='wire/announcement wire/elim wire/elim_run wire/envelope wire/form wire/walk'
flags="-mcpu=cortex-m4 -mthumb -mfloat-abi=soft -Os -std=c11 -ffunction-sections -fdata-sections -ffp-contract=off -fno-math-errno
-DR123_USE_MULHILO64_C99=1 -Iinclude -isystem $out/include"
strict='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fstack-usage'

objects=
compile() { # SOURCE FLAGS...
    object=$out/$(echo "$1" | tr / _ | sed 's/\.c$/.o/')
    source=$1
    shift
    # shellcheck disable=SC2086
    arm-none-eabi-gcc $flags "$@" -c "$source" -o "$object"
    objects="$objects $object"
}
for file in $cores $codecs; do
    # shellcheck disable=SC2086
    compile "src/$file.c" $strict
done
# shellcheck disable=SC2086
compile examples/device/device.c $strict
for name in north south west; do # the names of the sites in tests/cli/device.c
    without_board=$objects
    # shellcheck disable=SC2086
    compile examples/device/board_cortex_m.c $strict "-DBOARD_NAME=\"$name\""
    # shellcheck disable=SC2086
    arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=soft -nostartfiles -T examples/device/cortex_m.ld -Wl,--gc-sections \
        -o "$out/$name.elf" $objects -lm
    objects=$without_board
done
cp "$out/north.elf" "$out/device.elf"
if arm-none-eabi-nm "$out/device.elf" | grep -qwE 'malloc|_malloc_r|_sbrk|__assert_func|printf'; then
    echo "build_device.sh: the device links a heap or stdio" >&2
    exit 1
fi
arm-none-eabi-size "$out/device.elf" | awk 'NR == 2 {
    printf "device on a Cortex-M4: text %d bytes, data %d bytes, bss %d bytes\n", $1, $2, $3 }'
cat "$out"/*.su | sort -k2 -t"$(printf '\t')" -n -r | head -n 5 | awk -F'\t' '{
    n = split($1, part, ":"); printf "  stack of %s: %d bytes\n", part[n], $2 }'

# In place of a board that is a process (tests/cli/device.c): the same image on QEMU's, with a noise source on its second line.
cat >"$out/emulated" <<END
#!/bin/sh
noise=$(cd "$out" && pwd)/\$1.noise
rm -f "\$noise.in" "\$noise.out"
mkfifo "\$noise.in" "\$noise.out"
cat /dev/urandom >"\$noise.in" 2>/dev/null & # ends with who reads it
exec qemu-system-arm -M mps2-an386 -display none -monitor none -kernel "$(cd "$out" && pwd)/\$1.elf" \\
    -chardev stdio,id=line,signal=off -serial chardev:line -chardev "pipe,id=noise,path=\$noise" -serial chardev:noise
END
chmod +x "$out/emulated"
