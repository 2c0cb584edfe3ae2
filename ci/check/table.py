"""The end of the check: failed tests, where the time went, and ctest's totals."""
import re

import builds
import run
import tests

MOST = 10
LINES = 40  # of a failed test


def show(check):
    suites = [step for step in check.steps if isinstance(step, tests.Tests)]
    for suite in suites:
        for name in sorted(set(tests.failed(suite)) & set(check.failed)):
            print(f"\n== failed: {name}; the end of what it printed (all of it: build/check/failed/{name}.txt)")
            print("\n".join(tests.output_of(suite, name).splitlines()[-LINES:]))
    print("\n== where the time went: from when on, how long, of all cores, in it")
    for step in check.steps:
        print(f"{step.began:7.0f} s  +{step.seconds():5.0f} s  {step.cpu_seconds:5.0f} s  {step.name}")
    print(f"\n== the {MOST} slowest tests")
    rows = [(seconds, f"{suite.name}: {name}") for suite in suites for name, (_, seconds) in suite.results.items()]
    rows_out(sorted(rows, reverse=True)[:MOST])
    print(f"\n== the {MOST} job tests that took most processor time")
    rows_out(sorted(of_jobs(check.times), reverse=True)[:MOST])
    print(f"\n== the {MOST} slowest targets")
    made = [row for tree in check.plan for row in builds.slowest(tree, check.began, MOST)]
    rows_out(sorted(made, reverse=True)[:MOST])
    for suite in suites:
        print(f"\n== {suite.name}\n{tests.totals(suite)}")
    for name in check.flaky:
        print(f"flaky: {name} passed the second time only (first: build/check/failed/{name}.txt)")
    print(f"\nci/test: {'FAILED: ' + ', '.join(check.failed) if check.failed else 'all passed'}"
          f" after {run.since_start():.0f} s", flush=True)


def of_jobs(file):
    """(processor time, script and MPI) of the job tests, as tests/apart wrote it."""
    rows = []
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        told = re.fullmatch(r"(.*) (\d+)m([\d.]+)s (\d+)m([\d.]+)s ?", line)
        if not told:
            continue
        command, seconds = told[1].split(), 60 * (int(told[2]) + int(told[4])) + float(told[3]) + float(told[5])
        words = [word for word in command if word.endswith((".py", ".sh", "run")) or word in ("openmpi", "mpich")]
        rows.append((seconds, " ".join(word.rpartition("/")[2] for word in words or command[:1])))
    return rows


def rows_out(rows):
    for seconds, name in rows:
        print(f"{seconds:7.1f} s  {name}")
