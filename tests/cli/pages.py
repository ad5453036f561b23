#!/usr/bin/env python3
"""The pages of run, compare, plan and reproduce, read as what they are: HTML that is well formed, headings in order, names for everything
that has no text, data that are linked and inside, colours with enough contrast, and SVG files that need no style sheet.

usage: pages.py      $TACIT_PROGRAM is what makes the pages. cli/browser.py looks at them in a browser.
"""
import base64
import csv
import html.parser
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import pages as maker  # noqa: E402

VOID = {"meta", "link", "br", "img", "hr", "input", "col", "wbr"}
SHAPES = ("line", "polyline", "polygon", "circle", "rect", "path", "text")
SVG = "{http://www.w3.org/2000/svg}"
TEXT_RATIO = 4.5  # WCAG 2.1, 1.4.3 (AA)
LINE_RATIO = 3.0  # WCAG 2.1, 1.4.11 (AA)
# What stands on what, by the style sheet: text, then lines that carry meaning.
TEXT_ON = {"ink": ("page", "card", "note", "win-soft", "warn-soft"), "soft": ("page", "card", "note", "win-soft", "warn-soft"),
           "accent": ("page", "card", "note"), "win": ("card", "win-soft"), "warn": ("card", "warn-soft")}
LINES_ON = {name: ("card",) for name in ("axis", "accent", "win", *(f"s{i}" for i in range(7)))}


class Page(html.parser.HTMLParser):
    """The tree as lists: every element with its attributes, its ancestors and the text in it."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.wrong = [], [], []
        self.feed(text)
        self.close()
        self.wrong += [f"<{element['tag']}> is not closed" for element in self.open]

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.wrong.append(f"<{tag}> has an attribute twice")
        element = {"tag": tag, "attrs": dict(attrs), "text": "", "above": [above["tag"] for above in self.open]}
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in VOID or not self.open or self.open[-1]["tag"] != tag:
            self.wrong.append(f"</{tag}> closes <{self.open[-1]['tag'] if self.open else ''}>")
        else:
            self.open.pop()

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, *tags):
        return [element for element in self.elements if element["tag"] in tags]


def html_is_well_formed(page, _folder):
    assert not page.wrong, page.wrong[:5]
    ids = [element["attrs"]["id"] for element in page.elements if "id" in element["attrs"]]
    assert len(ids) == len(set(ids)), ids
    assert page.all("html")[0]["attrs"]["lang"] == "en"
    assert not page.all("script", "iframe", "img", "object")
    fetched = [element["attrs"] for element in page.elements if {"src", "srcset", "action", "data"} & set(element["attrs"])]
    assert not fetched and not any(word in style["text"] for style in page.all("style") for word in ("url(", "@import")), fetched


def headings_go_down_step_by_step(page, _folder):
    levels = [int(element["tag"][1]) for element in page.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1 and levels[0] == 1, levels
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:])), levels
    assert all(element["text"].strip() for element in page.all("h1", "h2", "h3"))


def the_answer_is_the_first_section(page, _folder):
    first = next(element for element in page.all("section"))
    assert first["attrs"]["id"] == "answer", first["attrs"]
    assert len(page.all("section")) >= 4


def pictures_and_tables_have_names(page, _folder):
    drawn = [svg for svg in page.all("svg") if svg["attrs"].get("aria-hidden") != "true"]
    assert drawn
    for svg in drawn:
        assert svg["attrs"].get("role") == "img" and svg["attrs"].get("aria-label"), svg["attrs"]
    for element in page.elements:
        if element["attrs"].get("tabindex") == "0":
            assert element["attrs"].get("aria-label"), element["attrs"]
    assert page.all("table")
    for head in page.all("th"):
        assert head["attrs"].get("scope") in ("col", "row") and head["text"].strip(), head
    for table in page.all("table"):
        assert table["above"][-1] == "div"


def data_are_linked_and_inside(page, folder):
    linked, inside = set(), {}
    for link in page.all("a"):
        target = link["attrs"]["href"]
        if target.startswith("data:"):
            inside[link["attrs"]["download"]] = base64.b64decode(target.split(";base64,", 1)[1], validate=True)
        else:
            assert (folder / target).is_file(), target
            linked.add(target)
        assert link["text"].strip()
    assert inside and set(inside) <= linked, (inside.keys(), linked)
    for name, content in inside.items():
        assert content == (folder / name).read_bytes(), name
    texts = {path.name for path in folder.iterdir() if path.suffix in (".csv", ".json")}
    assert texts <= set(inside), texts - set(inside)


def every_metric_stands_in_words(page, folder):
    if folder.name not in maker.RUNS:
        return
    metrics = {name: values for name, values in json.loads((folder / "summary.json").read_text(encoding="utf-8"))["metrics"].items()
               if values["mean"] is not None}
    rows = [head for head in page.all("th") if head["attrs"].get("class") == "what"]
    for metric in metrics:
        mine = [row["text"] for row in rows if row["text"].split() and metric in row["text"].split()]
        assert mine, metric
        assert all(len(text) > len(metric) + 12 for text in mine), mine


def variables(page):
    """Light and dark: name -> colour, of the style sheet."""
    style = page.all("style")[0]["text"]
    light, dark = re.findall(r":root\{(--.*?)\}", style)
    sets = [dict(re.findall(r"--([\w-]+):(#[0-9a-f]{6})", part)) for part in (light, dark)]
    used = set(re.findall(r"var\(--([\w-]+)\)", style))
    assert used <= set(sets[0]), used - set(sets[0])
    assert set(sets[0]) == set(sets[1])
    return sets


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def ratio(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def contrast_is_enough_in_light_and_dark(page, _folder):
    assert round(ratio("#000000", "#ffffff"), 6) == 21
    for colours in variables(page):
        for pairs, least in ((TEXT_ON, TEXT_RATIO), (LINES_ON, LINE_RATIO)):
            for name, grounds in pairs.items():
                for ground in grounds:
                    found = ratio(colours[name], colours[ground])
                    assert found >= least, f"{name} {colours[name]} on {ground} {colours[ground]}: {found:.2f}"


def paint(element, inherited):
    """Fill and stroke that a program without style sheets sees."""
    return {key: element.get(key, inherited.get(key)) for key in ("fill", "stroke")}


def walk(element, inherited, found):
    own = paint(element, inherited)
    tag = element.tag.replace(SVG, "")
    if tag in SHAPES:
        found.append((tag, own))
    for child in element:
        walk(child, own, found)


def svg_files_have_colours_of_their_own(_page, folder):
    files = sorted(folder.glob("*.svg"))
    assert files
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert "var(" not in text and "<style" not in text and "url(" not in text, path
        root = xml.etree.ElementTree.fromstring(text)
        assert float(root.get("width")) > 0 and float(root.get("height")) > 0 and root.find(SVG + "title").text
        shapes = []
        walk(root, {}, shapes)
        seen = set()
        for tag, own in shapes:
            visible = [colour for colour in (own["fill"], own["stroke"]) if colour not in (None, "none")]
            assert visible and all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in visible), (path.name, tag, own)
            if tag == "line":
                assert own["stroke"] not in (None, "none"), path.name
            seen.update(visible)
        assert len(seen) >= 4 and "#000000" not in seen, (path.name, seen)


CHECKS = (html_is_well_formed, headings_go_down_step_by_step, the_answer_is_the_first_section, pictures_and_tables_have_names,
          data_are_linked_and_inside, every_metric_stands_in_words, contrast_is_enough_in_light_and_dark,
          svg_files_have_colours_of_their_own)


def reproductions_write_their_curves(pages):
    folder = pages["reproduce"]
    rows = list(csv.DictReader(io.StringIO((folder / "curves.csv").read_text(encoding="utf-8"))))
    claims = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert {row["figure"] for row in rows} == {"fig1", "fig2", "fig3"}
    assert {row["series"] for row in rows if row["figure"] == "fig1"} == {'noisy, "quoted"', "plain"}
    last = max((row for row in rows if row["series"] == "plain" and row["figure"] == "fig1"), key=lambda row: float(row["x"]))
    plain = next(experiment for experiment in claims["experiments"] if experiment["name"] == "plain")
    assert float(last["x"]) == 20000 and float(last["y"]) == plain["metrics"]["regret"]["mean"], (last, plain)
    assert float(last["y_ci95"]) == plain["metrics"]["regret"]["ci95"]
    points = [row for row in rows if row["figure"] == "fig2"]
    assert {row["point"] for row in points} == {"noisy", "plain"}
    named = next(row for row in points if row["point"] == "plain")
    assert float(named["x"]) == plain["metrics"]["cost"]["mean"] and float(named["y"]) == plain["metrics"]["regret"]["mean"]


def settings_stand_in_full(pages):
    text = " ".join(Page((pages["log"] / "report.html").read_text(encoding="utf-8")).all("dl")[0]["text"].split())
    for part in ("name coupons & <offers>", "seed 1", "horizon 4000", "environment.logged.csv log.csv", "environment.logged.reward.equals yes",
                 "protocol.confidence 0.95", "privacy.mode sound set for this run", "privacy.epsilon 1", "baselines [alone-ucb1]"):
        assert part in text, (part, text)
    assert text.count("set for this run") == 1, text


def the_answer_says_how_sure_and_beside_what(pages):
    text = " ".join(next(element for element in Page((pages["log"] / "report.html").read_text(encoding="utf-8")).all("section"))["text"].split())
    summary = json.loads((pages["log"] / "summary.json").read_text(encoding="utf-8"))
    assert summary["answer"]["sentence"] in text
    assert re.search(r"How sure: one more run would do so with a chance of [\d.]+ to [\d.]+ %", text), text
    assert "playing every arm alike" in text and "alone-ucb1" in text and "times as much" in text, text


def plans_are_the_same_in_page_json_and_csv(pages):
    folder = pages["plan"]
    told = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    rows = list(csv.DictReader(io.StringIO((folder / "plan.csv").read_text(encoding="utf-8"))))
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert told["sentence"] in " ".join(page.all("section")[0]["text"].split())
    names = [head["text"] for head in page.all("th") if head["attrs"].get("scope") == "row"]
    assert len(rows) == len(told["plans"]) == len(names) >= 3, (len(rows), len(told["plans"]), len(names))
    for row, plan, name in zip(rows, told["plans"], names):
        assert plan["protocol"] == row["protocol"] and plan["settings"]["protocol"] in row["settings"] and row["settings"] in name
        assert float(row["regret"]) == plan["regret"] and (row["decides"] == "1") == plan["decides"]
        assert (float(row["slots_needed"]) if row["slots_needed"] else None) == plan["horizon_needed"]


def the_showcase_decides_and_its_picture_is_what_the_command_draws(_pages):
    """`make run`: every way decides for the same arm, ours loses less than the paper's, and the picture of README.md is of that."""
    source = pathlib.Path(os.environ["TACIT_SOURCE"])
    over = re.search(r"--over '([^']+)' --out out/hospital-paper", (source / "Makefile").read_text(encoding="utf-8")).group(1)
    with tempfile.TemporaryDirectory() as folder:
        maker.tacit("compare", str(source / "experiments/hospital/hospital.yaml"), "--over", over, "--quiet", "--out", "out", cwd=folder)
        out = pathlib.Path(folder) / "out"
        cells = json.loads((out / "results.json").read_text(encoding="utf-8"))["results"]
        drawn = (out / "regret.svg").read_bytes()
    assert all(cell["answer"]["decided"] for cell in cells) and len({cell["answer"]["arms"][0] for cell in cells}) == 1
    assert len({cell["privacy"]["epsilon_per_reward"] for cell in cells}) == 1
    regrets = [cell["metrics"]["regret"]["mean"] for cell in cells]
    assert "elimination" in cells[-1]["settings"]["protocol"] and 2 * max(regrets[:-1]) < regrets[-1], regrets
    if any("means" in (cell.get("note") or "") for cell in cells) or not has_hospital_data():
        print("    the data set is not here: the picture is of its rows and was not compared")
        return
    assert drawn == (source / "experiments/hospital/figures/regret.svg").read_bytes(), "make run && cp out/hospital-paper/regret.svg experiments/hospital/figures/"


def has_hospital_data():
    return subprocess.run([os.environ["TACIT_PROGRAM"], "data", "path", "diabetes130/diabetic_data.csv"], capture_output=True, check=False).returncode == 0


def comparisons_say_what_is_comparable(pages):
    """Of settings of different epsilon the strongest that decides; of equal ones how much less the best loses, and nothing of privacy."""
    def answer(name):
        return " ".join(next(element for element in Page((pages[name] / "report.html").read_text(encoding="utf-8")).all("section"))["text"].split())
    assert "Strongest privacy that still decides: epsilon 0.1" in answer("compare") and "same epsilon" not in answer("compare")
    assert "Strongest privacy" not in answer("kinds"), answer("kinds")
    assert "At the same epsilon per reward, " in answer("kinds") and "times less than" in answer("kinds"), answer("kinds")
    assert ">epsilon inf</text>" in (pages["compare"] / "settings.svg").read_text(encoding="utf-8")


def undecided_claims_are_in_no_green_box(pages):
    section = next(element for element in Page((pages["reproduce"] / "report.html").read_text(encoding="utf-8")).all("section"))
    assert "1 undecided" in section["text"] and section["attrs"]["class"] == "box open", (section["attrs"], section["text"][:200])


def titles_are_words(pages):
    for name, folder in pages.items():
        page = Page((folder / "report.html").read_text(encoding="utf-8"))
        title = page.all("h1")[0]["text"]
        assert ".yaml" not in title and "/" not in title and " " in title, (name, title)
        assert page.all("title")[0]["text"].startswith(title), (name, title)


ALL_PAGES = (the_showcase_decides_and_its_picture_is_what_the_command_draws, comparisons_say_what_is_comparable,
             undecided_claims_are_in_no_green_box, titles_are_words, plans_are_the_same_in_page_json_and_csv, reproductions_write_their_curves, settings_stand_in_full, the_answer_says_how_sure_and_beside_what)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        made = maker.make(folder)
        jobs = [(f"{check.__name__}_{name}", check, (Page((path / "report.html").read_text(encoding="utf-8")), path))
                for name, path in made.items() for check in CHECKS]
        jobs += [(check.__name__, check, (made,)) for check in ALL_PAGES]
        for name, check, arguments in jobs:
            try:
                check(*arguments)
                print(f"[       OK ] {name}")
            except (AssertionError, KeyError, ValueError) as error:
                failed += 1
                print(f"[  FAILED  ] {name}: {error!r}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
