"""The arrows between folders, from the #include lines of interpose, analysis and viewer: no cycles, none from a lower
floor to a higher one. `python3 -B ci/check/folders.py` prints them all."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOORS = ("interpose", "analysis", "viewer")  # each may use those before it


def arrows(root=ROOT):
    """{folder: {folder it includes from: [(file, included)]}}"""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for floor in FLOORS:
        for path in sorted((root / floor).rglob("*.[ch]pp")):
            for name in re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
                here, there = path.parent.relative_to(root).as_posix(), pathlib.PurePosixPath(name).parent.as_posix()
                if here != there and (root / name).is_file():
                    found[here][there].append((path.relative_to(root).as_posix(), name))
    return found


def reachable(graph, start):
    seen, open_ = set(), [start]
    while open_:
        for folder in graph.get(open_.pop(), ()):
            if folder not in seen:
                seen.add(folder)
                open_.append(folder)
    return seen


def problems(graph):
    """A line for each arrow that must not be."""
    lines, reach = [], {folder: reachable(graph, folder) for folder in graph}
    for here, others in sorted(graph.items()):
        for there, includes in sorted(others.items()):
            file, name = includes[0]
            floors = [FLOORS.index(folder.split("/")[0]) for folder in (here, there)]
            if floors[0] < floors[1]:
                lines.append(f"{file}: includes {name}: {here} is below {there}")
            elif here in reach.get(there, ()):
                lines.append(f"{file}: includes {name}: {there} uses {here} already (a cycle of folders)")
    return lines


if __name__ == "__main__":
    for origin, targets in sorted(arrows().items()):
        print(f"{origin}: {' '.join(sorted(targets))}")
    found_wrong = problems(arrows())
    print("\n".join(found_wrong), end="\n" if found_wrong else "")
    sys.exit(bool(found_wrong))
