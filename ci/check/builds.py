"""The build folders of the check: how each is configured and built, and which of its files took longest to make."""
import os
import pathlib
import re
import time

import run

CORES = os.cpu_count() or 1
# Name of the folder in build/, preset, what is built, options. Each is only what the tests in it need.
TREES = {
    "release": (["all"], ["-DPCLSCOPE_UNIT_TESTS=OFF"]),
    "sanitize": (["unit_tests"], []),
    "tsan": (["threaded_tests"], []),
}


def folder(tree):
    return pathlib.Path("build") / tree


def look(step, line):
    found = re.match(r"\[(\d+)/(\d+)\] ", line)
    if found:
        step.doing = f"[{found[1]}/{found[2]}]"
    elif line.startswith("FAILED:") or "error:" in line:
        run.say(f"{step.name}: {line[:200]}")


def configure(tree, logs):
    options = ["-DPCLSCOPE_WERROR=ON", "-DPCLSCOPE_BENCHMARKS=OFF", *TREES[tree][1]]
    return run.Step(f"configure {tree}", ["cmake", "--preset", tree, *options], logs / f"configure-{tree}").wait()


def start(tree, logs, beside=None, targets=None):
    """The step that builds; None when the folder could not be configured."""
    run.say(f"build: {tree}")
    if configure(tree, logs) != 0:
        run.say(f"cmake --preset {tree} failed, see {logs}/configure-{tree}")
        return None
    command = ["cmake", "--build", folder(tree), "-j", CORES, "--target", *(targets or TREES[tree][0])]
    return run.Step(f"build {tree}", command, logs / f"build-{tree}", look, beside)


def finish(step):
    """Whether it was built; the compiler's words are printed when not."""
    if step is None:
        return False
    status = step.wait()
    run.say(f"{step.name}: {'done' if status == 0 else 'FAILED'} after {step.seconds():.0f} s")
    if status != 0:
        print(step.end_of_log(60), flush=True)
    return status == 0


def slowest(tree, since, count):
    """(seconds, target) of what was made in this run, the slowest first."""
    log = folder(tree) / ".ninja_log"
    rows = {}
    if not log.exists() or log.stat().st_mtime < since:
        return []
    for line in log.read_text().splitlines()[1:]:
        begin, end, made, target, _ = line.split("\t")
        if int(made) / 1e9 >= since:
            rows[target] = (int(end) - int(begin)) / 1000
    return sorted(((seconds, f"{tree}: {short(target)}") for target, seconds in rows.items()), reverse=True)[:count]


def short(target):
    return target.replace("CMakeFiles/", "").replace("/Unity/", "/")


def now():
    return time.time()
