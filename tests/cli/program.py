"""What tests of the command line in Python have in common: the program, $TACIT_PROGRAM, and tests that get a folder each."""
import os
import pathlib
import subprocess
import tempfile

TACIT = os.environ["TACIT_PROGRAM"]


def tacit(*words, code=0, folder=None):
    """What it prints; where another code is expected, with what it complains of."""
    done = subprocess.run([TACIT, *map(str, words)], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stdout + done.stderr


def run(tests, files=None):
    """files: {name: text}, in the folder of each. Result: for sys.exit."""
    failed = 0
    for test in tests:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                for name, text in (files or {}).items():
                    (pathlib.Path(scratch) / name).write_text(text)
                test(pathlib.Path(scratch))
                print(f"[       OK ] {test.__name__}", flush=True)
            except (AssertionError, AttributeError, IndexError, KeyError, OSError, StopIteration, subprocess.SubprocessError) as wrong:
                failed += 1
                print(f"[  FAILED  ] {test.__name__}: {wrong!r}", flush=True)
    return 1 if failed else 0
