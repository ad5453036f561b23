#!/usr/bin/env python3
"""The pages in a real browser, at 390 and 1280 pixels and on paper, light and dark, with the checker axe-core; and the SVG files as
librsvg draws them.

usage: browser.py BUILD [PART]      $TACIT_PROGRAM makes the pages; BUILD is where axe-core is fetched to and pictures go (BUILD/pages);
                                    only what has PART in its name

Needs chromium, npm, rsvg-convert and pdfinfo (tools/install_dependencies.sh browser); runs where TACIT_TEST_LONG is set.
The browser is driven through the pipe of its DevTools protocol: messages of JSON that end with a zero byte.
"""
import base64
import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import pages as maker  # noqa: E402

AXE = "axe-core@4.10.3"
AXE_SHA512 = ("5e6edba515e70d25f6604d9815f064d859c5d1ea7ab661bbc4f87c88779ef0c21cae0abbeb636471ef39e9d62d2582e4b88a1866f19f4ecfcf6d986275e4dc12")
WIDTHS = (390, 1280)
ON_TWO_SHEETS = ("log", "hybrid", "gossip", "compare")  # others are as long as what they tell
WAIT_S = 120
AROUND = 200  # pixels


class Browser:
    """One page of a headless chromium."""

    def __init__(self, program, folder):
        to_read, self.out = os.pipe()
        self.input, from_write = os.pipe()
        words = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"]
        # the browser reads at 3 and writes at 4
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{from_write}', "sh", *words], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(to_read, from_write))
        os.close(to_read)
        os.close(from_write)
        self.count, self.rest, self.seen = 0, b"", []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.input, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self.rest += part
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def ask(self, method, **parameters):
        self.count += 1
        words = {"id": self.count, "method": method, "params": parameters}
        if hasattr(self, "session"):
            words["sessionId"] = self.session
        left = json.dumps(words).encode() + b"\0"
        while left:
            left = left[os.write(self.out, left):]
        while True:
            answer = self.message()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.seen.append(answer.get("method"))

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def show(self, path, width, scheme, media="screen"):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        self.ask("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.seen = []
        self.ask("Page.navigate", url=path.resolve().as_uri())
        while "Page.loadEventFired" not in self.seen:
            self.seen.append(self.message().get("method"))

    def close(self):
        self.process.terminate()
        self.process.wait(WAIT_S)


# ---- What is looked at ----

def contents_fit(browser):
    """Nothing but what scrolls in itself is wider than the window."""
    return browser.run("""(() => {
        const room = document.documentElement.clientWidth;
        const inner = e => e.closest('.scroll, svg') !== null;
        const wide = [...document.querySelectorAll('body *')].filter(e => !inner(e) && e.getBoundingClientRect().right > room + 1);
        return {scrolls: document.documentElement.scrollWidth - room, wide: wide.slice(0, 5).map(e => e.outerHTML.slice(0, 120))};
    })()""")


def covered_labels(browser):
    """Texts of figures that lie on another, on a point or outside of their figure."""
    return browser.run("""(() => {
        const found = [];
        const seen = e => getComputedStyle(e).visibility !== 'hidden' && e.getBoundingClientRect().height > 0;
        const box = e => { const r = e.getBoundingClientRect(), slack = e.tagName === 'text' ? r.height / 5 : 1;
            return {left: r.left + 1, right: r.right - 1, top: r.top + slack, bottom: r.bottom - slack, says: e.textContent, isText: e.tagName === 'text'}; };
        for (const figure of document.querySelectorAll('svg.fig')) {
            if (!seen(figure)) continue;
            const room = figure.getBoundingClientRect();
            const boxes = [...figure.querySelectorAll('text, circle')].filter(seen).map(box);
            boxes.forEach((a, i) => {
                if (a.isText && (a.left < room.left - 1 || a.right > room.right + 1 || a.bottom > room.bottom + 1)) found.push('outside: ' + a.says);
                boxes.slice(0, i).forEach(b => {
                    if ((a.isText || b.isText) && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
                        found.push(a.says + ' | ' + b.says);
                });
            });
        }
        return found.slice(0, 5);
    })()""")


def spilt_cells(browser):
    """Texts that reach out of their cell of a table, and so over the next one."""
    return browser.run("""(() => {
        const found = [];
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let node = walk.nextNode(); node; node = walk.nextNode()) {
            const cell = node.parentElement.closest('td, th');
            const isCut = cell && getComputedStyle(node.parentElement).overflow === 'hidden';
            if (!cell || isCut || !node.textContent.trim()) continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            if (range.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1) found.push(cell.textContent);
        }
        return found.slice(0, 5);
    })()""")


def check_layout(browser, path, width, scheme):
    browser.show(path, width, scheme)
    fits = contents_fit(browser)
    assert fits["scrolls"] <= 0 and not fits["wide"], fits
    cut = browser.run("[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1)"
                      ".map(e => [e.getAttribute('aria-label'), e.scrollWidth, e.clientWidth])")
    assert not cut, f"tables are cut: {cut}"
    covered = covered_labels(browser)
    assert not covered, covered
    spilt = spilt_cells(browser)
    assert not spilt, f"texts reach out of their cells: {spilt}"
    small = browser.run("Math.min(...[...document.querySelectorAll('.chart svg text')].filter(e => e.getBoundingClientRect().height)"
                        ".map(e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a).concat(99))")
    assert small >= 10, f"letters of {small} pixels in a figure"
    ground = browser.run("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(18, 23, 26)" if scheme == "dark" else "rgb(246, 247, 246)"), ground


def check_screen(browser, axe, path, width, scheme, pictures):
    check_layout(browser, path, width, scheme)
    browser.run(axe + "; 0")
    result = browser.run("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']}).then(r => ({passes: r.passes.length, "
                         "violations: r.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 160)])}))")
    assert not result["violations"], result["violations"]
    assert result["passes"] >= 15, result
    shot = browser.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
    (pictures / f"{path.parent.name}-{width}-{scheme}.png").write_bytes(base64.b64decode(shot["data"]))


def check_paper(browser, path, pictures):
    name = path.parent.name
    browser.show(path, 1280, "dark", "print")
    bars = browser.run("[...document.querySelectorAll('*')].filter(e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) || "
                       "['auto', 'scroll'].includes(getComputedStyle(e).overflowY)).length")
    assert bars == 0, f"{bars} elements may have scrollbars"
    ink = browser.run("getComputedStyle(document.body).color")
    assert ink == "rgb(27, 34, 38)", f"dark colours on paper: {ink}"
    sheet = pictures / f"{name}.pdf"
    printed = browser.ask("Page.printToPDF", preferCSSPageSize=True)
    sheet.write_bytes(base64.b64decode(printed["data"]))
    told = subprocess.run(["pdfinfo", sheet], capture_output=True, text=True, check=True).stdout
    count = int(next(line for line in told.splitlines() if line.startswith("Pages:")).split()[1])
    assert count <= 2 or name not in ON_TWO_SHEETS, f"{count} sheets"
    # A4 less its margins is 718 pixels wide
    browser.ask("Emulation.setDeviceMetricsOverride", width=718, height=1000, deviceScaleFactor=1, mobile=False)
    fits = contents_fit(browser)
    cut = browser.run("[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).length")
    assert fits["scrolls"] <= 0 and not fits["wide"] and cut == 0, (fits, cut)


def png_rows(path):
    """The rows of a PNG with 8 bits a part and no interlacing: each a list of colours."""
    raw, at, packed = path.read_bytes(), 8, b""
    while at < len(raw):
        size, kind = struct.unpack(">I4s", raw[at:at + 8])
        body = raw[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and colour in (2, 6) and interlace == 0, (depth, colour, interlace)
            step = 3 if colour == 2 else 4
        packed += body if kind == b"IDAT" else b""
        at += size + 12
    data, before = zlib.decompress(packed), bytes(width * step)
    for row in range(height):
        start = row * (width * step + 1)
        line, how = bytearray(data[start + 1:start + 1 + width * step]), data[start]
        for i in range(len(line)):
            left, up = line[i - step] if i >= step else 0, before[i]
            corner = before[i - step] if i >= step else 0
            guess = left + up - corner
            best = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            line[i] = (line[i] + (0, left, up, (left + up) // 2, best)[how]) & 255
        yield [bytes(line[i:i + 3]).hex() for i in range(0, len(line), step)]
        before = line


def png_colours(path):
    """Colour -> pixels."""
    return collections.Counter(colour for row in png_rows(path) for colour in row)


def check_drawn(path, pictures):
    """As librsvg draws it: a white ground, curves in their colours, hardly anything black."""
    picture = pictures / f"{path.parent.name}-{path.stem}.png"
    subprocess.run(["rsvg-convert", "-o", picture, path], check=True)
    colours = png_colours(picture)
    total = sum(colours.values())
    assert colours.get("ffffff", 0) > total / 2, "no white ground"
    assert colours.get("000000", 0) == 0, f"{colours.get('000000')} black pixels"
    assert colours.get("0a6fb0", 0) >= 20, "the first series is not in its colour"
    saturated = sum(count for colour, count in colours.items() if max(bytes.fromhex(colour)) - min(bytes.fromhex(colour)) > 60)
    assert saturated >= 100, f"{saturated} pixels of colour"


def check_whole(path, pictures):
    """Nothing of a figure lies outside of it: with more room around, librsvg draws nothing there."""
    svg = path.read_text(encoding="utf-8")
    width, height = (int(value) for value in re.search(r' width="(\d+)" height="(\d+)"', svg).groups())
    wide = re.sub(r' width="\d+" height="\d+" viewBox="[^"]*"', f' width="{width + 2 * AROUND}" height="{height + 2 * AROUND}" '
                  f'viewBox="{-AROUND} {-AROUND} {width + 2 * AROUND} {height + 2 * AROUND}"', svg, count=1)
    assert wide != svg
    source, picture = (pictures / f"{path.parent.name}-{path.stem}-whole.{kind}" for kind in ("svg", "png"))
    source.write_text(wide, encoding="utf-8")
    subprocess.run(["rsvg-convert", "--background-color=white", "-o", picture, source], check=True)
    rows = list(png_rows(picture))
    inner = [row[AROUND:-AROUND] for row in rows[AROUND:-AROUND]]
    beside = [row[:AROUND] + row[-AROUND:] for row in rows] + rows[:AROUND] + rows[-AROUND:]
    assert any(colour != "ffffff" for row in inner for colour in row)
    outside = sum(colour != "ffffff" for row in beside for colour in row)
    assert outside == 0, f"{outside} pixels are cut"


# ---- What is needed ----

def skip(reason):
    print(f"skip: {reason}\n[  SKIPPED ] pages_in_a_browser")
    sys.exit(0)


def fetch_axe(build):
    """Text of axe-core, once fetched kept in the build folder; never part of the project."""
    folder = pathlib.Path(build).resolve() / "axe"
    folder.mkdir(parents=True, exist_ok=True)
    packed = folder / (AXE.replace("@", "-") + ".tgz")
    if not packed.is_file():
        done = subprocess.run(["npm", "pack", AXE, "--pack-destination", str(folder)], capture_output=True, text=True, cwd=folder, check=False,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0 or not packed.is_file():
            skip("no axe-core here: the registry does not answer")
    content = packed.read_bytes()
    if hashlib.sha512(content).hexdigest() != AXE_SHA512:
        packed.unlink()
        print("[  FAILED  ] axe_core_is_the_one_that_was_looked_at")
        sys.exit(1)
    with tarfile.open(packed) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


def main(build, only=""):
    if not os.environ.get("TACIT_TEST_LONG"):
        skip("a browser is started by make check-long only")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    for name, path in (("chromium", chromium), ("npm", shutil.which("npm")), ("rsvg-convert", shutil.which("rsvg-convert")),
                       ("pdfinfo", shutil.which("pdfinfo"))):
        if path is None:
            skip(f"no {name} here")
    axe = fetch_axe(build)
    pictures = pathlib.Path(build) / "pages"
    pictures.mkdir(exist_ok=True)
    failed = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        made = maker.make(scratch)
        browser = Browser(chromium, pathlib.Path(scratch) / "profile")
        jobs = []
        for name, folder in made.items():
            page = folder / "report.html"
            jobs += [(f"{name}_at_{width}_{scheme}", check_screen, (browser, axe, page, width, scheme, pictures))
                     for width in WIDTHS for scheme in ("light", "dark")]
            jobs.append((f"{name}_on_paper", check_paper, (browser, page, pictures)))
            jobs += [(f"{name}_{figure.stem}_{how}", check, (figure, pictures)) for figure in sorted(folder.glob("*.svg"))
                     for how, check in (("by_librsvg", check_drawn), ("is_whole", check_whole))]
        for name, check, arguments in jobs:
            if only not in name:
                continue
            try:
                check(*arguments)
                print(f"[       OK ] {name}", flush=True)
            except (AssertionError, RuntimeError, subprocess.CalledProcessError) as error:
                failed += 1
                print(f"[  FAILED  ] {name}: {error}", flush=True)
        browser.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
