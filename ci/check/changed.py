"""Which tests a change can affect. Unit tests: those whose sources, or headers that these include, were changed, where
a changed source counts as its header, too; and those of the folder that mirrors its own. Job tests: a table
(affects.txt)."""
import fnmatch
import os
import pathlib
import re
import subprocess

import builds
import tests

TABLE = pathlib.Path(__file__).with_name("affects.txt")
# A change of these can affect every test.
EVERYTHING = ("CMakeLists.txt", "CMakePresets.json", "ci/cmake/*", "ci/setup", "tests/CMakeLists.txt",
              "tests/jobs.cmake", "tests/apart", "tests/thinned.hpp", "*.cmake")


def lines_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def base_of(base):
    """Where this branch left origin/main; of what is there already HEAD, or, when nothing differs from HEAD, HEAD~1."""
    if base:
        return base
    found = subprocess.run(["git", "merge-base", "HEAD", "origin/main"], capture_output=True, text=True, check=False)
    head = lines_of("git", "rev-parse", "HEAD")[0]
    if found.returncode == 0 and found.stdout.strip() != head:
        return found.stdout.strip()
    return "HEAD" if differing("HEAD") else "HEAD~1"


def differing(commit):
    return set(lines_of("git", "diff", "--name-only", commit) +
               lines_of("git", "ls-files", "--others", "--exclude-standard"))


def files(base):
    return differing(base_of(base))


def told(base):
    """A line: what differs from which commit, and what of it can affect every test."""
    changed = sorted(files(base))
    everything = [file for file in changed if matches(file, EVERYTHING)]
    shown = ", ".join(changed[:4]) + (f" and {len(changed) - 4} more" if len(changed) > 4 else "")
    return (f"changed since {base_of(base)[:12]}: {shown or 'nothing'}" +
            (f"; {everything[0]} can affect every test" if everything else ""))


def matches(file, patterns):
    return any(fnmatch.fnmatch(file, pattern) for pattern in patterns)


def includes(tree):
    """{target: files of this project that its sources are made of}, from the last build; empty before the first."""
    found, target = {}, None
    here = f"{os.getcwd()}/"
    shown = subprocess.run(["ninja", "-C", str(builds.folder(tree)), "-t", "deps"], capture_output=True, text=True,
                           check=False)
    for line in shown.stdout.splitlines():
        if not line.startswith(" "):
            name = re.search(r"CMakeFiles/([^/]+)\.dir/", line)
            target = found.setdefault(name[1], set()) if name else None
        elif target is not None:
            path = line.strip()
            path = os.path.normpath(path if path.startswith("/") else f"{here}{builds.folder(tree)}/{path}")
            if path.startswith(here):
                target.add(path.removeprefix(here))
    return found


def with_headers(changed):
    more = {str(pathlib.Path(file).with_suffix(".hpp")) for file in changed if file.endswith(".cpp")}
    return changed | {file for file in more if os.path.exists(file)}


def mirrored(file):
    """The folder of tests for a source's folder: the one of the same name below tests/, or the nearest above it."""
    folder = pathlib.Path(file).parent
    if str(folder).startswith("tests/"):
        return str(folder)
    if folder.name == "aggregator":
        return "tests/aggregator"
    at = pathlib.Path("tests") / folder
    while not at.is_dir():
        at = at.parent
    return str(at)


def unit_tests(changed, tree, names):
    made_of = includes(tree)
    if not made_of:
        return names
    wanted, folders = with_headers(changed), {mirrored(file) for file in changed}
    picked = set()
    for name in names:
        parts = made_of.get(name)
        if parts is None or parts & wanted or any(f"{pathlib.Path(part).parent}" in folders for part in parts):
            picked.add(name)
    return picked


def job_tests(changed, names):
    picked = set()
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        line = line.partition("#")[0]
        if ":" not in line:
            continue
        pattern, expressions = line.split(":", 1)
        if any(fnmatch.fnmatch(file, pattern.strip()) for file in changed):
            picked |= {name for name in names for expression in expressions.split() if re.fullmatch(expression, name)}
    scripts = {pathlib.Path(file).stem.removeprefix("test_") for file in changed if file.startswith("tests/")}
    return picked | {name for name in names for stem in scripts if name.endswith(f"-{stem}") or f"_{stem}_" in name}


def tests_of(base, tree):
    changed = files(base)
    names = set(tests.names(tree))
    if any(matches(file, EVERYTHING) for file in changed):
        return names
    return job_tests(changed, names) if tree == "release" else unit_tests(changed, tree, names)
