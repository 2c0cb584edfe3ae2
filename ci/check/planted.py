"""Do the tests find faults? See ci/planted --help."""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import builds
import changed
import run
import tests

HELP = """Plants the faults of ci/check/planted.txt, one after the other, in a clone of the last commit.
Each is committed there (build/planted/clone). `ci/test --changed` must pick the test that is named beside the fault.
This test is built and run first. When it stays green, all others that were picked follow, until one is red.
Before that the named tests run without a fault: they must be green.
Results: build/planted/results.json, and a table at the end.
Status 0: every fault still applies, its named test was picked, and a test found it."""
TABLE = pathlib.Path(__file__).with_name("planted.txt").resolve()
FOLDER = pathlib.Path("build/planted").resolve()
CLONE, LOGS, RESULTS = FOLDER / "clone", FOLDER / "logs", FOLDER / "results.json"
TSAN = {"TSAN_OPTIONS": f"suppressions={CLONE}/ci/tsan.supp halt_on_error=0 exitcode=66"}
LABELS = {"sanitize": "^unit$", "tsan": "^threads$", "release": "^job$"}
KEYS = ("in", "old", "new", "found by")

Fault = collections.namedtuple("Fault", "number text file old new finders")


def faults():
    found = []
    for block in re.split(r"\n\s*\n", TABLE.read_text(encoding="utf-8")):
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith("#")]
        if not lines:
            continue
        number, _, text = lines[0].partition(" ")
        values = dict(line.split(": ", 1) for line in lines[1:])
        if not number.isdigit() or tuple(values) != KEYS:
            raise SystemExit(f"ci/planted: {TABLE.name} is not as its head says, near: {lines[0]}")
        found.append(Fault(int(number), text, *(values[key] for key in KEYS[:3]), values["found by"].split()))
    if [fault.number for fault in found] != list(range(1, len(found) + 1)):
        raise SystemExit(f"ci/planted: {TABLE.name}: the faults are not numbered 1, 2, 3 ...")
    return found


def git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout.strip()


def clone():
    """Brings the clone to the last commit of this checkout and returns its name. From here on the clone is the current
    folder."""
    base, here = git("rev-parse", "HEAD"), os.getcwd()
    if git("status", "--porcelain", "--untracked-files=no"):
        run.say("changes that are not committed are left out")
    if not (CLONE / ".git").exists():
        shutil.rmtree(CLONE, ignore_errors=True)
        git("clone", "-q", "--no-checkout", here, str(CLONE))
    os.chdir(CLONE)
    git("fetch", "-q", here, "HEAD")
    git("checkout", "-q", "--force", "--detach", base)
    return base


def last_change():
    """The commit that results belong to: texts that came after it change nothing."""
    return git("log", "-1", "--format=%H", "--", ".", ":!*.md")


def applies(fault):
    path = pathlib.Path(fault.file)
    return path.exists() and path.read_text(encoding="utf-8").count(fault.old) == 1


def plant(fault):
    path = pathlib.Path(fault.file)
    path.write_text(path.read_text(encoding="utf-8").replace(fault.old, fault.new), encoding="utf-8")
    git("-c", "user.name=planted", "-c", "user.email=planted@localhost", "commit", "-q", "-a", "-m", fault.text)


def picked():
    """Names of the tests that ci/test --changed would run; a unit test that runs in two trees counts once."""
    shown = subprocess.run(["ci/test", "--changed", "HEAD~1", "--list"], capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        raise SystemExit(f"ci/planted: ci/test --changed --list failed in the clone:\n{shown.stdout}{shown.stderr}")
    return {line for line in shown.stdout.splitlines() if re.fullmatch(r"[\w-]+", line)}


def build(tree, names):
    """Whether it was built. Without names: all that is in the tree."""
    targets = sorted(names) if names and tree != "release" else None
    return builds.finish(builds.start(tree, LOGS, targets=targets))


def groups(names):
    """(tree, names, how many at once): first what is quick to build and to run; alone what measures times."""
    for tree, label in LABELS.items():
        of_tree = {name: labels for name, labels in tests.names(tree, "-L", label).items() if name in names}
        timed = {name for name, labels in of_tree.items() if tree == "release" and "time" in labels}
        others = set(of_tree) - timed
        if others:
            yield tree, others, 3 if tree == "release" else builds.CORES
        if timed:
            yield tree, timed, 1


def first_red(names, all_of_them=False):
    """The tests that were red, in the first group with any; "build" when the fault does not compile."""
    red, stop = [], [] if all_of_them else ["--stop-on-failure"]
    for tree, some, jobs in groups(names):
        if not build(tree, some):
            return ["build"]
        step = tests.Tests(f"{tree} {jobs}", tree, LOGS, tests.only(some) + stop, jobs,
                           TSAN if tree == "tsan" else None)
        bad, _ = tests.finish(step, LOGS)
        if bad and not set(bad) <= set(some):
            raise SystemExit(f"ci/planted: ctest failed without a red test, see {LOGS}")
        red += bad
        if red and not all_of_them:
            break
    return red


def try_fault(fault):
    """{picked, found, problem}: how many tests were picked, which were red, what is wrong."""
    if not applies(fault):
        return {"picked": 0, "found": [], "problem": f"fault {fault.number} no longer applies"}
    plant(fault)
    names = picked()
    row = {"picked": len(names), "found": [], "problem": ""}
    missing = [name for name in fault.finders if name not in names]
    if missing:
        row["problem"] = f"not picked: {', '.join(missing)}"
    row["found"] = first_red(set(fault.finders)) or first_red(names - set(fault.finders))
    if row["found"] == ["build"]:
        row.update(found=[], problem="was not built: does it compile?")
    elif not row["found"]:
        row["problem"] = "NOT FOUND"
    return row


def results():
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def keep(name, row):
    kept = results()
    kept[str(name)] = row
    RESULTS.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def is_good(row, change, fault):
    return row is not None and row["commit"] == change and row["fault"] == list(fault) and not row["problem"]


def prepare(chosen, change):
    """Builds all unit tests once, since what --changed picks rests on what was compiled; and for job tests the release.
    Then the named tests must be green. Whether they are."""
    names = {name for fault in chosen for name in fault.finders}
    for tree in LABELS:
        if builds.configure(tree, LOGS) != 0:
            run.say(f"cmake --preset {tree} failed, see {LOGS}/configure-{tree}")
            return False
        if (tree != "release" or names & set(tests.names(tree, "-L", LABELS[tree]))) and not build(tree, None):
            return False
    known = results().get("green", {})
    green = set(known["tests"]) if known.get("commit") == change else set()
    red = first_red(names - green, all_of_them=True)
    if red:
        run.say(f"red without any fault: {', '.join(red)}")
        return False
    keep("green", {"commit": change, "tests": sorted(names | green)})
    return True


def summary(chosen):
    kept, good = results(), True
    for fault in chosen:
        row = kept.get(str(fault.number), {"picked": 0, "found": [], "problem": "not run", "seconds": 0})
        good = good and not row["problem"]
        told = ", ".join(row["found"])
        if row["found"] and not set(row["found"]) & set(fault.finders):
            told += f" ({', '.join(fault.finders)} stayed green)"
        told = "; ".join(part for part in (told, row["problem"]) if part)
        print(f"{fault.number:3} {fault.file:36} {row['picked']:4} picked {row['seconds']:5} s  {told}")
    found = sum(bool(kept.get(str(fault.number), {}).get("found")) for fault in chosen)
    print(f"ci/planted: {found} of {len(chosen)} faults found{'' if good else ', FAILED'}")
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser(prog="ci/planted", description=HELP,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="N[,N]", help="only these faults")
    parser.add_argument("--list", action="store_true", help="print the faults and whether they apply here, plant none")
    parser.add_argument("--resume", action="store_true", help="leave out what was found before,"
                                                                " where only texts have changed since")
    asked = parser.parse_args()
    chosen = faults()
    if asked.only:
        try:
            numbers = {int(word) for word in asked.only.split(",")}
        except ValueError:
            parser.error("--only: numbers, as in --only 3,7")
        if numbers - {fault.number for fault in chosen}:
            parser.error(f"--only: there are faults 1 to {len(chosen)}")
        chosen = [fault for fault in chosen if fault.number in numbers]
    if asked.list:
        for fault in chosen:
            print(f"{fault.number:3} {fault.file:36} {fault.text} -> {' '.join(fault.finders)}"
                  f"{'' if applies(fault) else '  NO LONGER APPLIES'}")
        return 0 if all(applies(fault) for fault in chosen) else 1
    LOGS.mkdir(parents=True, exist_ok=True)
    base = clone()
    change = last_change()
    left = [fault for fault in chosen
            if not (asked.resume and is_good(results().get(str(fault.number)), change, fault))]
    if left and not prepare(left, change):
        return 1
    for fault in left:
        run.say(f"fault {fault.number}: {fault.text} ({fault.file})")
        began = time.time()
        try:
            row = try_fault(fault)
        finally:
            git("reset", "-q", "--hard", base)
        row.update(commit=change, fault=list(fault), seconds=round(time.time() - began))
        keep(fault.number, row)
        run.say(f"fault {fault.number}: {row['problem'] or 'found by ' + ', '.join(row['found'])},"
                f" {row['seconds']} s")
    return summary(chosen)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        run.stop_all()
        sys.exit(130)
