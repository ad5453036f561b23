#!/usr/bin/env python3
"""Include direction: a file may include its own room and rooms to the left of it only; and nothing
includes in circles.

usage: check_layers.py ROOT
Rooms of one group may not include each other. A public header include/tacit/NAME.h belongs to the room
NAME; the headers of protocols (src/proto/NAME) belong to proto. A room that has rooms of its own (live)
orders them in the same way; files beside those rooms may include all of them. A unit is a .c and a .h of one
name in one folder: two units may not need each other, not even through others.
"""
import os
import pathlib
import re
import sys

ORDER = [
    {"base"},
    {"random", "linalg", "core"},
    {"topo", "privacy", "env", "arms"},
    {"proto"},
    {"wire"},
    {"report"},
    {"sim", "live", "config", "data", "learn"},
    {"families"},
    {"study"},
    {"programs"},
]
# The rooms within a room, in the same way; "" is what lies beside them.
INNER = {"live": [{"daemon"}, {"store", "pki"}, {"bus", "api"}, {""}]}
LEVEL = {room: level for level, group in enumerate(ORDER) for room in group}
# Public headers that are not named like their room.
HEADERS = {"commit": "privacy", "dashboard": "report", "doubling": "proto", "bounds": "arms", "elimination": "arms", "phases": "arms", "best_arm": "arms", "family": "families", "host": "families", "latency": "env", "metric": "base", "vector": "privacy", "vote_hub": "proto", "gaussian": "privacy",
           "glm_private": "proto", "glm_sound": "proto", "off_policy": "arms"}
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def levels_of(order):
    return {room: level for level, group in enumerate(order) for room in group}


class House:
    """Which file is in which room, and what each includes."""

    def __init__(self, root):
        self.root = root
        self.protocols = {path.name for path in (root / "src/proto").iterdir() if path.is_dir()}
        self.bad = []

    def room(self, path):
        """(room, inner room) of a path relative to the root; None: no room."""
        parts = path.parts
        if parts[:2] == ("include", "tacit"):
            stem = "wire" if path.stem.startswith("wire_") else path.stem  # wire_NAME: a family's
            return ("proto" if stem in self.protocols else HEADERS.get(stem, stem), "")
        if parts[0] == "programs":
            return ("programs", "")
        if parts[0] == "src" and len(parts) > 2:
            return (parts[1], parts[2] if len(parts) > 3 else "")
        return None

    def target(self, path, include):
        """The included file, relative to the root; None: made by the build, or not there."""
        if include.startswith("tacit/"):
            return pathlib.PurePath("include") / include
        for start in (path.parent, pathlib.PurePath("src")):
            found = pathlib.PurePath(os.path.normpath(start / include))
            if (self.root / found).is_file():
                return found
        return None

    def includes(self, path):
        for number, line in enumerate((self.root / path).read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1)

    def check_include(self, path, number, include, other):
        room, inner = self.room(path)
        its_room, its_inner = self.room(other) or (None, "")
        where = f"{path}:{number}:"
        if its_room not in LEVEL:
            self.bad.append(f"{where} '{include}' belongs to no room")
        elif its_room != room:
            if LEVEL[its_room] >= LEVEL[room]:
                self.bad.append(f"{where} {room} may not include {its_room}")
        elif room in INNER and its_inner != inner:
            level = levels_of(INNER[room])
            for name in (inner, its_inner):
                if name not in level:
                    self.bad.append(f"{where} {room}/{name} is not in the order")
            if level.get(its_inner, 0) >= level.get(inner, 0):
                self.bad.append(f"{where} {room}/{inner} may not include {room}/{its_inner}")

    def check_file(self, path, needs):
        room = self.room(path)
        if room is None or room[0] not in LEVEL:
            self.bad.append(f"{path}: room '{room and room[0]}' is not in the order")
            return
        for number, include in self.includes(path):
            other = self.target(path, include)
            if other is not None:
                self.check_include(path, number, include, other)
                needs.setdefault(path.with_suffix(""), set()).add(other.with_suffix(""))

    def check_circles(self, needs):
        """Tarjan's components, by depth; a component of more than one unit is a circle."""
        order, low, stack, on_stack = {}, {}, [], set()

        def visit(unit):
            order[unit] = low[unit] = len(order)
            stack.append(unit)
            on_stack.add(unit)
            for other in sorted(needs.get(unit, ())):
                if other not in order:
                    visit(other)
                    low[unit] = min(low[unit], low[other])
                elif other in on_stack:
                    low[unit] = min(low[unit], order[other])
            if low[unit] == order[unit]:
                circle = []
                while not circle or circle[-1] != unit:
                    circle.append(stack.pop())
                    on_stack.discard(circle[-1])
                if len(circle) > 1:
                    self.bad.append("in a circle: " + ", ".join(str(one) for one in sorted(circle)))

        for unit in sorted(needs):
            if unit not in order:
                visit(unit)


def files(root):
    for folder in ("src", "programs", "include/tacit"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            yield path.relative_to(root)


def main(root):
    house = House(root)
    needs = {}
    for path in files(root):
        house.check_file(path, needs)
    house.check_circles(needs)
    print("\n".join(house.bad), end="\n" if house.bad else "")
    return 1 if house.bad else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
