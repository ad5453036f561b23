#!/usr/bin/env python3
"""Changes one place of the sources at a time and counts the changes that no quick test notices.

usage: mutate.py [--count N] [--seed N] [--jobs N] [--minutes M] [--seconds S] [--scratch DIR] [--log FILE] [GLOB...]
       mutate.py --place FILE:LINE:COLUMN:RULE... [--scratch DIR]

Works in a clone of what is committed, under $TMPDIR (--scratch: there, and it stays for the next run).
Of a change, first the object is built: the same machine code is an equivalent change. Then the tests of
the mutated room run, and only if they pass the other quick ones that reach the changed function, those
first that notice most in least time. Who reaches what is seen once, in a build that marks each function.
Every program is linked once more, to a library of all rooms and in front of it one of the changed file
alone: so a change is a file to compile, and no program to link but the few that wrap symbols.
N changes are tried besides those that do not build and those that change nothing.
Ends with a table of the survivors and how to replay each. Exit code 1: more than one in twenty survived.
"""
import argparse, bisect, collections, concurrent.futures, functools, json, os, pathlib, random, re, shlex, signal, subprocess, sys, tempfile, threading, time

# What is changed, by number: pattern, replacement. A number is part of a place: add at the end.
RULES = [(r"<=", "<"), (r">=", ">"), (r"(?<![<-])<(?![<=])(?= )", "<="), (r"(?<![->])>(?![>=])(?= )", ">="),
         (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"), (r" \+ ", " - "), (r" - ", " + "),
         (r" \* (?=[a-z(])", " / "), (r"\+\+;", "--;"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
         (r"\b1u?\b", "2"), (r"\b0\b", "1"), (r"if \(!", "if ("), (r" \+= ", " -= "),
         (r"(?m)^( +)[a-z_>().\[\]-]+ = [^;{]+;$", r"\1;")]
SOURCES = ["src/proto/**/*.c", "src/privacy/*.c", "src/wire/*.c", "src/live/store/*.c"]
QUICK = ["unit", "round", "kat", "sim", "stat", "oracle", "cli", "live"]
SKIP = ("//", "/*", "*", "#", "_Static_assert", "TACIT_ASSERT", "TACIT_IMPLIES")
ROOMS = ["src/libtacit_hashing.a", "src/libtacit_host.a", "src/wire/libtacit_wire.a", "src/libtacit.a"]  # in the order of linking
FIRST_SECONDS = 30  # a test that takes longer is not among the first

Place = collections.namedtuple("Place", "file line column rule start end new before after")


def places(root, path):
    """All places of a file that a rule changes; what stands in comments, strings and assertions is left alone."""
    text = path.read_text()
    closed = [m.span() for m in re.finditer(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|TACIT_(?:ASSERT|IMPLIES)\(.*?\);', text, re.S)]
    for number, (pattern, new) in enumerate(RULES):
        for m in re.finditer(pattern, text):
            begin, end = text.rfind("\n", 0, m.start()) + 1, text.find("\n", m.start())
            line = text[begin:end]
            if any(a <= m.start() < b for a, b in closed) or line.strip().startswith(SKIP):
                continue
            new_text = m.expand(new)
            after = (line[:m.start() - begin] + new_text + text[m.end():end]).strip()
            yield Place(str(path.relative_to(root)), text.count("\n", 0, m.start()) + 1, m.start() - begin + 1,
                        number, m.start(), m.end(), new_text, line.strip(), after)


def name(place):
    return f"{place.file}:{place.line}:{place.column}:{place.rule}"


def together(library, *more):
    """The words that link all rooms to one library."""
    return [*shared(library), "-Wl,-z,muldefs", *more, "-Wl,--whole-archive", *ROOMS, "-Wl,--no-whole-archive"]


def shared(library):
    """.. that begin a library, which a program finds by its name wherever it is run."""
    return ["cc", "-shared", "-o", library, f"-Wl,-soname,{pathlib.Path(library).name}"]


class Cover:
    """Which functions each test reaches: (file, line) by the name of the test."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.build = scratch.root / "build-cover"
        self.kept = self.build / "functions.json"

    def functions(self):
        head = subprocess.run(["git", "-C", str(self.scratch.root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        kept = json.loads(self.kept.read_text()) if self.kept.exists() else {"commit": None}
        if kept["commit"] != head:
            self.make_library()
            places = self.addresses()
            with concurrent.futures.ThreadPoolExecutor(self.scratch.jobs) as pool:
                reached = list(pool.map(lambda test: self.reached_by(test, places), self.scratch.tests))
            kept = {"commit": head, "tests": {t["id"]: r for t, r in zip(self.scratch.tests, reached)}}
            self.kept.write_text(json.dumps(kept))
        return kept["tests"]

    def make_library(self):
        runtime = str(self.scratch.mirror / "cover.o")
        subprocess.run(["cc", "-O2", "-fPIC", "-c", "-o", runtime, "tools/mutate_cover.c"], cwd=self.scratch.root, check=True)
        options = ["-Dwerror=false", "-Dc_args=-fsanitize-coverage=trace-pc -fno-inline -fno-ipa-icf", f"-Dc_link_args={runtime}"]
        subprocess.run(["tools/build.sh", self.build.name, *options], cwd=self.scratch.root, check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "TARGETS": " ".join(ROOMS), "CCACHE_DISABLE": "1"})  # objects of another clone have its paths
        for words in (together("librooms.so", runtime), [*shared("libplace.so"), "-x", "c", "/dev/null"]):
            subprocess.run(words, cwd=self.build, check=True)

    def addresses(self):
        """Where each function begins in the library, and in the sources: two lists, in order."""
        library = str(self.build / "librooms.so")
        told = subprocess.run(["nm", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        begins = sorted({int(line.split()[0], 16) for line in told.splitlines() if line.split()[1] in "Tt"})
        told = subprocess.run(["addr2line", "-e", library], input="\n".join(map(hex, begins)), capture_output=True, text=True, check=True).stdout
        places = []
        for line in told.splitlines():
            path, _, number = line.partition(" ")[0].rpartition(":")
            inside = os.path.relpath(os.path.join(self.build, path), self.scratch.root)
            places.append((inside, int(number)) if number.isdigit() else None)
        return begins, places

    def reached_by(self, test, where):
        programs = [os.path.relpath(p, self.scratch.build) for p in self.scratch.programs(test)]
        if any(map(self.scratch.wraps, programs)):
            return None  # it is linked without the marks
        if not any(map(self.scratch.link, programs)):
            return []  # it takes no changed file
        begins, places = where
        with tempfile.NamedTemporaryFile() as file:
            os.chmod(file.name, 0o666)  # some tests give up their user
            self.scratch.run(test, 20 * self.scratch.seconds[test["id"]] + 60, {"LD_LIBRARY_PATH": str(self.build), "MUTATE_COVER": file.name})
            marks = file.read()
        found = {places[bisect.bisect_right(begins, m.start()) - 1] for m in re.finditer(b"\1", marks)}
        return sorted(found - {None})


class Scratch:
    """A clone with a build directory, and what its tests are."""

    def __init__(self, origin, directory, seconds_max, jobs):
        self.jobs = jobs
        self.root = pathlib.Path(directory).resolve()
        if not (self.root / ".git").exists():
            subprocess.run(["git", "clone", "-q", str(origin), str(self.root)], check=True)
        head = subprocess.run(["git", "-C", str(origin), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        self.git("fetch", "-q", str(origin), head.stdout.strip())
        self.git("checkout", "-q", "-f", head.stdout.strip())
        self.build = self.root / "build-mutate"
        subprocess.run(["tools/build.sh", self.build.name, "-Dtests=true"], cwd=self.root, check=True, stdout=subprocess.DEVNULL)
        self.mirror = self.build / "mutate"
        told = subprocess.run(["meson", "introspect", "--tests", self.build.name], cwd=self.root, capture_output=True, text=True, check=True)
        self.tests = [t for t in json.loads(told.stdout) if self.is_quick(t)]
        for test in self.tests:
            test["id"] = test["suite"][0].split(":")[-1] + "/" + test["name"]
        self.seconds_max = seconds_max
        self.compile_words, self.shared, self.unchanged, self.linked_anew = {}, {}, {}, set()
        self.linking = threading.Lock()
        self.kills = collections.Counter()
        self.trusted = set()
        self.share()
        self.seconds = self.measure()
        self.reached = Cover(self).functions()
        self.ranges = {}
        self.symbols = {t["id"]: self.linked(t) for t in self.tests}

    def git(self, *words):
        subprocess.run(["git", "-C", str(self.root), *words], check=True)

    @staticmethod
    def is_quick(test):
        suites = [s.split(":")[-1] for s in test["suite"]]
        return "federation" not in suites and any(s in QUICK for s in suites)

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def symbols_of(program):
        """Global functions and tables of a program or object; quick linkers make those of a program local."""
        told = subprocess.run(["nm", "--defined-only", program], capture_output=True, text=True, check=True)
        kinds = "TDR" if program.endswith(".o") else "TDRtdr"
        return frozenset(line.split()[2] for line in told.stdout.splitlines() if line and line.split()[1] in kinds)

    def programs(self, test):
        """What a test runs of what is built: itself, and for scripts and command lines what they are told of."""
        told = test["env"].values() if test["cmd"][0].endswith(".py") or test["id"].startswith("cli/") else []
        return {p for p in [test["cmd"][0], *told] if p.startswith(str(self.build)) and os.path.isfile(p)}

    def linked(self, test):
        return frozenset().union(*(self.symbols_of(p) for p in self.programs(test)))

    # ---- Programs that take a changed file without being linked anew ----

    def commands(self, target):
        told = subprocess.run(["ninja", "-C", str(self.build), "-t", "commands", target], capture_output=True, text=True, check=True)
        return told.stdout.splitlines()

    def call(self, words):
        return subprocess.run(words, cwd=self.build, capture_output=True).returncode == 0

    def share(self):
        """Makes the libraries that the tests' programs are linked to, beside what ninja made of them."""
        self.mirror.mkdir(exist_ok=True)
        self.change_nothing()
        if not self.call(together("mutate/librooms.so")):
            sys.exit("the library of all rooms cannot be linked")
        modules = self.mirror / "programs"  # programs look for theirs beside themselves
        modules.mkdir(exist_ok=True)
        for module in (self.build / "programs").glob("*.so"):
            (modules / module.name).unlink(missing_ok=True)
            (modules / module.name).symlink_to(module)
        self.link("tacitd")  # .. and tacit the daemons' program

    def link(self, program):
        """Is there a program that takes changes? It is linked when it is first asked for."""
        with self.linking:
            if program not in self.shared:
                self.shared[program] = self.link_anew(program)
            return self.shared[program]

    def link_anew(self, program):
        old, new = self.build / program, self.mirror / program
        words = shlex.split(self.commands(program)[-1])
        if not set(ROOMS) & set(words):
            return False
        new.parent.mkdir(exist_ok=True)
        words[words.index("-o") + 1] = f"mutate/{program}"
        at = min(words.index(room) for room in ROOMS if room in words)
        if self.wraps(program):
            self.linked_anew.add(program)
            return self.call([*words[:at], "-Wl,-z,muldefs", "mutate/place.o", *words[at:]])
        if new.exists() and new.stat().st_mtime > old.stat().st_mtime:
            return True
        libraries = ["-Wl,--no-as-needed", "mutate/libplace.so", "mutate/librooms.so", "-Wl,--as-needed", f"-Wl,-rpath,{self.mirror}"]
        return self.call([w for w in words[:at] if w not in ROOMS] + libraries + [w for w in words[at:] if w not in ROOMS])

    @functools.lru_cache(maxsize=None)
    def wraps(self, program):
        """Does it wrap symbols? They are wrapped in the program alone, so that a change is linked into it."""
        return "--wrap=" in self.commands(program)[-1]

    def forget_linked_anew(self):
        for program in self.linked_anew:
            self.shared.pop(program, None)

    def change_nothing(self):
        self.call([*shared("mutate/libplace.so"), "-x", "c", "/dev/null"])
        self.call(["cc", "-c", "-o", "mutate/place.o", "-x", "c", "/dev/null"])
        self.forget_linked_anew()

    def compile(self, file):
        """Makes an object of a file of the sources as it stands. The object's path, or None."""
        target = os.path.relpath(self.object_of(file), self.build)
        if target not in self.compile_words:
            self.compile_words[target] = shlex.split(next(c for c in self.commands(target) if f"-o {target} " in c))
        words = [w for w in self.compile_words[target] if w not in ("ccache", "-g")]
        words[words.index("-o") + 1] = "mutate/place.o"
        words[words.index("-MF") + 1] = "mutate/place.d"
        return self.mirror / "place.o" if self.call(words) else None

    def at_mirror(self, word):
        """A program's path, or that of the one which takes changes."""
        relative = os.path.relpath(word, self.build) if word.startswith(str(self.build)) else None
        return str(self.mirror / relative) if relative and os.path.isfile(word) and self.link(relative) else word

    def run(self, test, seconds_max, more={}):
        """(passes, seconds). A test that takes too long, or is skipped by nobody's wish, is one that does not pass."""
        begin = time.monotonic()
        told = {name: self.at_mirror(value) for name, value in test["env"].items()}
        process = subprocess.Popen([*map(self.at_mirror, test["cmd"])], cwd=self.build, env={**os.environ, **told, **more}, start_new_session=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            code = process.wait(timeout=seconds_max)
        except subprocess.TimeoutExpired:
            code = 1
        if code:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # what it started dies with it
            except ProcessLookupError:
                pass
            process.wait()
        return code in (0, 77), time.monotonic() - begin

    def measure(self):
        """How long each test takes unchanged; those that fail without any change are left out, and it says so."""
        kept = self.build / "mutate-seconds.json"
        seconds = json.loads(kept.read_text()) if kept.exists() else {}
        new = [t for t in self.tests if t["id"] not in seconds]
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            results = list(pool.map(lambda t: self.run(t, 3 * t["timeout"]), new))
        for test, (passes, _) in zip(new, results):
            if not passes:
                print(f"left out, because it fails unchanged: {test['id']}", flush=True)
        seconds.update({t["id"]: s for t, (passes, s) in zip(new, results) if passes})
        self.tests = [t for t in self.tests if t["id"] in seconds and seconds[t["id"]] <= self.seconds_max]
        kept.write_text(json.dumps(seconds))
        return seconds

    # ---- One change ----

    def object_of(self, file):
        """Of a room with a meson.build of its own the folder is not in the name."""
        inner = file.removeprefix("src/")
        flat, (room, _, rest) = inner.replace("/", "_"), inner.partition("/")
        return next(found for pattern in (f"src/*.p/{flat}.o", f"src/{room}/*.p/{rest.replace('/', '_')}.o") for found in self.build.glob(pattern))

    def function_of(self, place):
        """First and last line of the function in which a place is. None: it is in none."""
        if place.file not in self.ranges:
            told = subprocess.run(["ctags", "--output-format=json", "--kinds-C=f", "--fields=+ne", "-f", "-", str(self.root / place.file)],
                                  capture_output=True, text=True, check=True).stdout
            self.ranges[place.file] = [(t["line"] - 1, t["end"]) for t in map(json.loads, told.splitlines())]
        return next((r for r in self.ranges[place.file] if r[0] <= place.line <= r[1]), None)

    def reaches(self, test, place, lines):
        """Does the test reach the place's function, as far as is known?"""
        reached = self.reached.get(test["id"])  # None: it came after they were looked at
        if lines is None or reached is None or not self.is_seen(place.file, lines):
            return True
        return self.has(reached, place.file, lines)

    @functools.lru_cache(maxsize=None)
    def is_seen(self, file, lines):
        """Does any test reach it? Where none does it is unused, or it is always inlined and has no address."""
        return any(self.has(reached, file, lines) for reached in self.reached.values() if reached is not None)

    @staticmethod
    def has(reached, file, lines):
        return any(path == file and lines[0] <= line <= lines[1] for path, line in reached)

    @staticmethod
    def code(path):
        """The object without its debug information."""
        with tempfile.NamedTemporaryFile() as stripped:
            subprocess.run(["objcopy", "--strip-debug", str(path), stripped.name], check=True)
            return pathlib.Path(stripped.name).read_bytes()

    def mentions(self, test, file):
        """Is it of the mutated room, by its name or by what it includes?"""
        room, stem = file.split("/")[-2], pathlib.Path(file).stem
        source = self.root / "tests" / (test["id"] + ".c")
        words = {room, stem} | set(stem.split("_"))
        if set(test["name"].split("_")) & words:
            return True
        return source.exists() and (f'"tacit/{room}.h"' in source.read_text() or f"/{room}/" in source.read_text())

    def in_order(self, tests):
        """Those first that notice most changes in a second."""
        return sorted(tests, key=lambda t: (self.seconds[t["id"]] + 1) / (self.kills[t["id"]] + 1))

    def killer(self, tests):
        """The name of a test that notices the change, or None."""
        found, stop = [], threading.Event()

        def one(test):
            seconds_max = 10 * self.seconds[test["id"]] + 30
            # Twice: on a busy machine a test may fail by itself.
            if not stop.is_set() and not self.run(test, seconds_max)[0] and not self.run(test, 2 * seconds_max)[0]:
                found.append(test["id"])
                stop.set()

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(one, self.in_order(tests)))
        return found[0] if found else None

    def try_change(self, place):
        """What became of it: ("killed", by whom), ("survived", None), ("equivalent", None), ("unbuilt", None)."""
        path = self.root / place.file
        text = path.read_text()
        if place.file not in self.unchanged:
            self.unchanged[place.file] = self.code(self.compile(place.file))
        symbols = self.symbols_of(str(self.object_of(place.file)))
        lines = self.function_of(place)
        linked = [t for t in self.tests if symbols & self.symbols[t["id"]] and self.reaches(t, place, lines)]
        first = [t for t in linked if self.mentions(t, place.file) and self.seconds[t["id"]] < FIRST_SECONDS]
        try:
            path.write_text(text[:place.start] + place.new + text[place.end:])
            changed = self.compile(place.file)
            if not changed:
                return "unbuilt", None
            if self.code(changed) == self.unchanged[place.file]:
                return "equivalent", None
            # What another file hides from libraries is linked in once more: pure rooms have no state of their own.
            put = [*shared("mutate/libplace.so"), str(changed)]
            if not self.call(put) and not self.call([*put, "src/libtacit.a"]):
                sys.exit(f"{place.file} cannot be put before the library")
            self.forget_linked_anew()
            others = [t for t in linked if t not in first]
            at_once = self.in_order(first)[:2]
            by = self.killer(at_once) or self.killer([t for t in first if t not in at_once]) or self.killer(others)
        finally:
            path.write_text(text)
            self.change_nothing()
        if by is None:
            return "survived", None
        if not self.is_trusted(by):
            return self.try_change(place) # as if that test were not there
        self.kills[by] += 1
        return "killed", by

    def is_trusted(self, name):
        """Does the test pass unchanged? Seconds are kept from run to run, and what they were measured on may be old."""
        if name in self.trusted:
            return True
        test = next(t for t in self.tests if t["id"] == name)
        if self.run(test, 20 * self.seconds[name] + 600)[0]:
            self.trusted.add(name)
            return True
        print(f"left out, because it fails unchanged: {name}", flush=True)
        self.tests.remove(test)
        return False


def chosen(root, options):
    files = sorted({p for pattern in options.globs or SOURCES for p in root.glob(pattern)})
    pool = [p for f in files for p in places(root, f)]
    if options.place:
        pool = [p for file in sorted({word.split(":")[0] for word in options.place}) for p in places(root, root / file)]
        return [p for p in pool if name(p) in options.place]
    print(f"{len(files)} files, {len(pool)} places", flush=True)
    return random.Random(options.seed).sample(pool, len(pool))


def earlier(log):
    """What became of the places of an interrupted run."""
    if not log or not os.path.exists(log):
        return {}
    return {words[1]: words[0] for words in map(str.split, open(log))}


def report(outcomes):
    count = collections.Counter(what for _, what in outcomes)
    survivors = [place for place, what in outcomes if what == "survived"]
    if survivors:
        print("\nSurvivors:")
    for place in survivors:
        print(f"  {place.file}:{place.line}\n    before  {place.before}\n    after   {place.after}\n"
              f"    replay  tools/mutate.py --place {shlex.quote(name(place))}")
    tested = count["killed"] + count["survived"]
    print(f"{count['killed']} of {tested} noticed, {count['survived']} survived; same machine code {count['equivalent']}, "
          f"did not build {count['unbuilt']}")
    return 20 * count["survived"] <= tested


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--place", nargs="+")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--log", help="where places and what became of them are kept; those that are there are not tried again")
    parser.add_argument("--scratch")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no change after this time")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="leave out tests that take longer")
    parser.add_argument("globs", nargs="*", metavar="GLOB")
    options = parser.parse_args()
    origin = pathlib.Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory(prefix="tacit-mutate-") as temporary:
        scratch = Scratch(origin, options.scratch or temporary, options.seconds, options.jobs)
        end, outcomes = time.monotonic() + 60 * options.minutes, []
        todo = chosen(scratch.root, options)
        if not todo:
            sys.exit("no such place: its line may have moved")
        known = earlier(options.log)
        for place in todo:
            if not options.place and sum(what in ("killed", "survived") for _, what in outcomes) == options.count:
                break
            if name(place) in known:
                outcomes.append((place, known[name(place)]))
                continue
            if time.monotonic() > end:
                print("out of time")
                break
            begin = time.monotonic()
            what, by = scratch.try_change(place)
            outcomes.append((place, what))
            line = f"{what:10} {name(place):50} {time.monotonic() - begin:4.0f} s  {by or ''}"
            print(line, flush=True)
            if options.log:
                with open(options.log, "a") as log:
                    log.write(line + "\n")
    sys.exit(0 if report(outcomes) else 1)


if __name__ == "__main__":
    main()
