#!/usr/bin/env python3
"""Include direction: a file may include its own room and rooms to the left of it only.

usage: check_layers.py ROOT
Rooms of one group may not include each other. A public header include/tacit/NAME.h belongs to the room
NAME; the headers of protocols (src/proto/NAME) belong to proto.
"""
import pathlib
import re
import sys

ORDER = [
    {"base"},
    {"random", "linalg", "core"},
    {"topo", "privacy", "env", "arms"},
    {"proto"},
    {"wire"},
    {"sim", "live", "report", "config", "data", "learn"},
    {"families"},
    {"programs"},
]
LEVEL = {room: level for level, group in enumerate(ORDER) for room in group}
# Public headers that are not named like their room.
HEADERS = {"bounds": "arms", "best_arm": "arms", "family": "families"}
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def header_room(name, protocols):
    return "proto" if name in protocols else HEADERS.get(name, name)


def included_room(target, room, protocols):
    """The room that an include points to; its own for a plain file name."""
    if target.startswith("tacit/"):
        return header_room(pathlib.PurePath(target).stem, protocols)
    parts = [part for part in pathlib.PurePath(target).parts[:-1] if part not in ("..", "src")]
    return parts[0] if parts else room


def files(root):
    protocols = {path.name for path in (root / "src/proto").iterdir() if path.is_dir()}
    for path in sorted((root / "src").rglob("*.[ch]")):
        yield path, path.relative_to(root / "src").parts[0], protocols
    for path in sorted((root / "programs").rglob("*.[ch]")):
        yield path, "programs", protocols
    for path in sorted((root / "include/tacit").glob("*.h")):
        yield path, header_room(path.stem, protocols), protocols


def main(root):
    bad = []
    for path, room, protocols in files(root):
        if room not in LEVEL:
            bad.append(f"{path}: room '{room}' is not in the order")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            other = included_room(match.group(1), room, protocols)
            if other == room:
                continue
            if other not in LEVEL:
                bad.append(f"{path}:{number}: '{match.group(1)}' belongs to no room")
            elif LEVEL[other] >= LEVEL[room]:
                bad.append(f"{path}:{number}: {room} may not include {other}")
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
