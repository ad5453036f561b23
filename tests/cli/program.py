"""What tests of the command line in Python have in common: the program, $TACIT_PROGRAM, and tests that get a folder each."""
import os
import pathlib
import subprocess
import tempfile

TACIT = os.path.abspath(os.environ["TACIT_PROGRAM"])


def tacit(*words, code=0, folder=None):
    """What it prints; where another code is expected, with what it complains of."""
    done = subprocess.run([TACIT, *map(str, words)], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stdout + done.stderr


def run(tests, files=None, prepare=None):
    """Each a function of a folder, or with what it is given besides. files: {name: text}, in the folder of each; prepare makes more there.
    Result: for sys.exit."""
    failed = 0
    for test in tests:
        function, *arguments = test if isinstance(test, tuple) else (test,)
        name = " ".join([function.__name__, *map(str, arguments)])
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            try:
                for file, text in (files or {}).items():
                    (folder / file).parent.mkdir(parents=True, exist_ok=True)
                    (folder / file).write_text(text, encoding="utf-8")
                if prepare is not None:
                    prepare(folder)
                function(folder, *arguments)
                print(f"[       OK ] {name}", flush=True)
            except (AssertionError, AttributeError, IndexError, KeyError, OSError, StopIteration, subprocess.SubprocessError) as wrong:
                failed += 1
                print(f"[  FAILED  ] {name}: {wrong!r}", flush=True)
    return 1 if failed else 0
