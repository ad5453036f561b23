#!/bin/sh
# Makes the wheel of the Python package, installs it beside, and tests what was installed.
#
# usage: build_python.sh DIRECTORY, which was built with -Dpython=true. PYTHON: the interpreter, which has cffi and numpy.
set -eu
directory=$1
python=${PYTHON:-/usr/bin/python3}
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
PYTHONPATH=$directory/site:python/tests TACIT_PROGRAM=$directory/tacit "$python" python/tests/test_flower.py
ls "$directory"/wheel/*.whl
