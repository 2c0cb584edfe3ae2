"""Runs tests by ctest. A test that failed for the launcher's sake alone is run once more, on its own, and reported as
flaky when it then passes; a crash, a sanitizer's report or a wrong result is red at once."""
import json
import re
import subprocess

import builds
import run

# A job's script says so in its last lines when all that failed were commands that a launcher did not end
# (tests/checks.py).
LAUNCHER_ALONE = "only the launcher failed"


def look(step, line):
    begun = re.match(r" +Start +\d+: (\S+)", line)
    ended = re.match(r" *\d+/\d+ +Test +#\d+: (\S+) \.*(.*?) +([\d.]+) sec", line)
    if begun:
        step.running.add(begun[1])
    if ended:
        name, word, seconds = ended.groups()
        word = word.strip(" *.")
        step.running.discard(name)
        step.results[name] = (word, float(seconds))
        run.say(f"{step.name}: {name} {word.lower()} {float(seconds):.1f} s")
    step.doing = ", ".join(sorted(step.running))


class Tests(run.Step):
    """ctest under way: which tests run, and how those ended that are through, {name: (word, seconds)}."""

    def __init__(self, name, tree, logs, selection, jobs, environment=None, beside=None):
        self.tree, self.running, self.results = tree, set(), {}
        command = ["ctest", "--test-dir", builds.folder(tree), "--output-on-failure", "-j", jobs, *selection]
        super().__init__(name, command, logs / name.replace(" ", "-"), look, beside, environment)


def failed(step):
    good = ("Passed", "Not Run", "Skipped", "Disabled")
    return sorted(name for name, (word, _) in step.results.items() if not word.startswith(good))


def output_of(step, name):
    """What a failed test printed: ctest shows it behind the test's line, until the next one or the totals."""
    kept, on = [], False
    for line in step.log.read_text(encoding="utf-8", errors="replace").splitlines():
        if re.match(r" *\d+/\d+ +Test +#\d+: ", line):
            on = f" {name} " in line
        elif re.match(r"\d+% tests passed", line) or re.match(r" +Start +\d+: ", line):
            on = False
        if on:
            kept.append(line)
    return "\n".join(kept)


def finish(step, logs):
    """(names that failed, names that passed the second time only). Each failure's output is a file in logs/failed."""
    step.wait()
    bad, flaky = failed(step), []
    for name in list(bad):
        text = output_of(step, name)
        (logs / "failed").mkdir(exist_ok=True)
        (logs / "failed" / f"{name}.txt").write_text(text, encoding="utf-8")
        run.say(f"{step.name}: {name} FAILED, all it printed: {logs}/failed/{name}.txt")
        if LAUNCHER_ALONE in text and again(step, name, logs):
            bad.remove(name)
            flaky.append(name)
    if step.process.returncode != 0 and not bad and not flaky:  # ctest knows of a failure that its lines did not show
        bad.append(step.name)
        print(step.end_of_log(30), flush=True)
    return bad, flaky


def again(step, name, logs):
    run.say(f"{name}: only the launcher failed; once more, on its own")
    second = Tests(f"again {name}", step.tree, logs, only([name]), 1)
    second.wait()
    return second.process.returncode == 0


def totals(step):
    """ctest's own closing lines."""
    text = step.log.read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^\d+% tests passed.*", text, re.M | re.S)
    return found.group().rstrip() if found else f"{step.name}: no test was run"


def only(chosen):
    """ctest's options that select these tests."""
    return ["-R", f"^({'|'.join(re.escape(name) for name in sorted(chosen))})$"]


def names(tree, *selection):
    """Of all tests, or those selected: name, labels."""
    listed = subprocess.run(["ctest", "--test-dir", str(builds.folder(tree)), "--show-only=json-v1", *selection],
                            capture_output=True, text=True, check=True).stdout
    rows = {}
    for test in json.loads(listed)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        rows[test["name"]] = properties.get("LABELS", [])
    return rows
