"""Tests that passed the second time only, because a launcher failed the first time: ci/test keeps their names here, and
ci/nightly repeats each. More than one failure in a hundred is red."""
import json
import pathlib
import subprocess
import sys

KEPT = pathlib.Path("build/flaky.json")
TREE = pathlib.Path("build/nightly/release")
TIMES = 20


def known():
    return json.loads(KEPT.read_text()) if KEPT.exists() else []


def remember(names):
    if names:
        KEPT.write_text(json.dumps(sorted({*known(), *names})))


def main():
    bad = []
    for name in known():
        command = ["ctest", "--test-dir", str(TREE), "-R", f"^{name}$", "--repeat", f"until-fail:{TIMES}",
                   "--output-on-failure"]
        if subprocess.run(command, check=False).returncode != 0:
            bad.append(name)
    if bad:
        print(f"fail more than once in a hundred runs: {', '.join(bad)}")
        return 1
    print(f"{len(known())} tests that were flaky passed {TIMES} times each")
    KEPT.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
