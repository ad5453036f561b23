#!/bin/sh
# Makes the wheel of the Python package, installs it beside, and tests what was installed; the strategy for Flower in a virtual
# environment of its own, DIRECTORY/flower, which is made once (half a gigabyte, from the package index of pip).
#
# usage: build_python.sh DIRECTORY, which was built with -Dpython=true. PYTHON: the interpreter, which has cffi and numpy.
set -eu
directory=$1
python=${PYTHON:-/usr/bin/python3}
flower='flwr[simulation]==1.41.0'
rm -rf "$directory/package" "$directory/wheel" "$directory/site"
mkdir -p "$directory/package" "$directory/wheel"
cp -r python/tacit python/pyproject.toml python/setup.py "$directory/package"
cp "$directory/python/tacit_native.so" "$directory/package/tacit"
(cd "$directory/package" && "$python" setup.py --quiet bdist_wheel --dist-dir ../wheel 2>../wheel.log) ||
    { cat "$directory/wheel.log" >&2; exit 1; }
"$python" -m pip --quiet --disable-pip-version-check install --no-index --no-deps --root-user-action ignore \
    --target "$directory/site" "$directory"/wheel/*.whl
(cd python && "$python" -m mypy --cache-dir "../$directory/mypy" tacit)
PYTHONPATH=$directory/site SELECT_REPLAY=$directory/python/select_replay TACIT_PROGRAM=$directory/tacit \
    "$python" python/tests/test_package.py

if [ "$(cat "$directory/flower/is-complete" 2>/dev/null)" != "$flower" ]; then
    rm -rf "$directory/flower"
    "$python" -m venv --without-pip "$directory/flower"
    "$python" -m pip --quiet --disable-pip-version-check --python "$directory/flower/bin/python" install --no-cache-dir \
        --root-user-action ignore "$flower" cffi ||
        { echo "build_python.sh: pip cannot install $flower, which the tests need" >&2; exit 1; }
    echo "$flower" >"$directory/flower/is-complete"
fi
scratch=$(mktemp -d) # of Ray; short, for its sockets
trap 'rm -rf "$scratch"' EXIT
PYTHONPATH=$directory/site RAY_TMPDIR=$scratch TACIT_PROGRAM=$directory/tacit \
    "$directory/flower/bin/python" python/tests/test_flower.py
ls "$directory"/wheel/*.whl
