"""Unit tests that draw random input, each with as many seeds as a time allows: what is red with one seed in a thousand
is seen here, and not as a red by chance in somebody's check. Each gets about the same time: quick ones more seeds."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import time

import run

TREE = pathlib.Path("build/nightly/release")
KEPT = pathlib.Path("build/nightly/seeds")  # outputs of the red ones
LIMIT_S = 900                               # of one run
AT_ONCE = os.cpu_count() or 1
ENVIRONMENT = {**os.environ, "PCLSCOPE_FULL": "0"}  # many short ones


class RandomTests:
    """The random tests of one file, in one program."""

    def __init__(self, program, folder, file):
        self.program, self.folder, self.file = program, folder, file
        self.runs, self.seconds, self.red = 0, 0.0, []

    def command(self):
        return [self.program, "-#", f"[#{self.file}]"]  # Catch2: file names are tags

    def try_seed(self, seed):
        began = time.monotonic()
        try:
            done = subprocess.run(self.command(), cwd=self.folder, env={**ENVIRONMENT, "PCLSCOPE_SEED": str(seed)},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                  timeout=LIMIT_S, check=False)
            status, told = done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            status, told = "timeout", f"not through after {LIMIT_S} s\n"
        return self, seed, status, told, time.monotonic() - began


def unit_tests():
    """(program, folder) as ctest runs them."""
    told = subprocess.run(["ctest", "--test-dir", str(TREE), "-L", "^unit$", "--show-only=json-v1"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    for test in json.loads(told)["tests"]:
        folders = [p["value"] for p in test["properties"] if p["name"] == "WORKING_DIRECTORY"]
        if len(test["command"]) == 1 and folders:
            yield test["command"][0], folders[0]


def random_tests():
    files = {path.stem for path in pathlib.Path("tests").rglob("*.cpp") if "random_seed()" in path.read_text("utf-8")}
    found = []
    for program, folder in unit_tests():
        tags = subprocess.run([program, "-#", "--list-tags"], cwd=folder, stdout=subprocess.PIPE, text=True,
                              check=False).stdout
        found += [RandomTests(program, folder, file) for file in sorted(files) if f"[#{file}]" in tags]
    missing = files - {one.file for one in found}
    if missing:
        raise SystemExit(f"no unit test has the random tests of {', '.join(sorted(missing))}")
    return found


def note(one, seed, status, told, seconds):
    one.runs += 1
    one.seconds += seconds
    if status == 0:
        return
    one.red.append(seed)
    kept = KEPT / f"{one.file}-{seed}.log"
    kept.write_text(told)
    name = pathlib.Path(one.program).name
    print(f"RED ({status}): PCLSCOPE_FULL=0 PCLSCOPE_SEED={seed} {name} -# '[#{one.file}]', see {kept}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    asked = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    for old in KEPT.glob("*.log"):
        old.unlink()
    tests = random_tests()
    seeds = random.Random(time.time_ns())
    end = time.monotonic() + 60 * asked.minutes
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        under_way = {}
        while under_way or time.monotonic() < end:
            while len(under_way) < AT_ONCE and time.monotonic() < end:
                one = min((one for one in tests if one not in under_way.values()), key=lambda one: one.seconds)
                under_way[pool.submit(one.try_seed, seeds.randrange(1, 1_000_000))] = one
            ended, _ = concurrent.futures.wait(under_way, run.QUIET_S, concurrent.futures.FIRST_COMPLETED)
            for future in ended:
                del under_way[future]
                note(*future.result())
            run.say(f"  still: {sum(one.runs for one in tests)} runs of {len(tests)} files' random tests", run.QUIET_S)
    for one in sorted(tests, key=lambda one: one.runs):
        print(f"{one.runs:6} runs of {one.seconds / max(one.runs, 1):7.2f} s  {one.file}")
    red = sum(len(one.red) for one in tests)
    print(f"{sum(one.runs for one in tests)} runs, {red} red")
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
