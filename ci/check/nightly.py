"""The long forms of the check, in parts of at most 40 minutes. See ci/nightly --help."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import changed
import run

FOLDER = pathlib.Path("build/nightly")
RESULTS = FOLDER / "results.json"
THIS = "ci/check/nightly.py"
CORES = str(os.cpu_count() or 1)
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"  # Debian's: it has h5py and mpi4py


class Beside(list):
    """Commands that need one core each: as many of them run at once as there are cores."""


def build(name, *options, targets=("all",), generator_options=("-G", "Ninja", "-DPCLSCOPE_WERROR=ON")):
    at = FOLDER / name
    return [["cmake", "-S", ".", "-B", at, *generator_options, *options],
            ["cmake", "--build", at, "-j", CORES, "--target", *targets, "--", "-k", "0"]]


def ctest(name, *options):
    return [["ctest", "--test-dir", FOLDER / name, "--output-on-failure", *options]]


SANITIZERS = ("-DCMAKE_BUILD_TYPE=Debug", "-DPCLSCOPE_BENCHMARKS=OFF", "-DPCLSCOPE_FULL_LENGTH=ON")
CLANG = ("-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++")
RELEASE = ("-DCMAKE_BUILD_TYPE=Release",)
JOBS = {"PCLSCOPE_BUILD": str((FOLDER / "release").resolve()), "PCLSCOPE_SOURCE": os.getcwd(),
        "PCLSCOPE_FULL": "1",  # tests/checks.py: the job tests in full
        "PCLSCOPE_SEED": str(int(time.time()) % 1_000_000 + 1)}  # random tests: others than last night
HELPERS = ("tests/checks.py", "tests/system/harness.py")  # a change of these can affect all that runs jobs
RANDOM = [PYTHON, "-B", "tests/system/random_programs.py"]

# Name: (about how many minutes, files whose change can affect it, its commands). A part stops at its first failure. The
# first of those that need the release build makes it; its minutes are in "release".
PARTS = {
    "release": (30, ["*"], [*build("release", *RELEASE), *ctest("release", "-L", "^unit$", "-j", CORES),
                            *ctest("release", "-L", "^benchmark$")]),
    "style": (9, ["*.hpp", "*.h"], [["ci/style"], *build("release", *RELEASE),
                                    ["ci/style", "--headers", "--build", FOLDER / "release"]]),
    "jobs": (30, ["interpose/*", "analysis/aggregator/*", "viewer/launch/*", "tests/system/*", "tests/interpose/*"],
             [*build("release", *RELEASE), *ctest("release", "-L", "^job$", "-LE", "^time$", "-j", "3")]),
    "timed": (20, ["interpose/*", "analysis/*", "viewer/*", "tests/system/*", "tests/truth/*"],
              [*build("release", *RELEASE),  # ranks spin while they wait, as with users
               ["env", "PCLSCOPE_SPIN=1", *ctest("release", "-L", "^time$")[0]]]),
    "random": (1, ["interpose/*", "analysis/match/*", "analysis/collect/*", "tests/programs/random*"],
               [*build("release", *RELEASE),
                ["tests/apart", *RANDOM, "--messages", "500000", "--mpi", "openmpi"],
                ["tests/apart", *RANDOM, "--messages", "30000", "--per-run", "15000", "--ranks", "2",
                 "--mpi", "mpich"]]),
    "seeds": (10, ["analysis/*", "viewer/*", "interpose/*", "tests/analysis/*", "tests/viewer/*", "tests/interpose/*",
                   "ci/check/seeds.py"],
              [*build("release", *RELEASE), [PYTHON, "-B", "ci/check/seeds.py"]]),
    "lengths": (4, ["analysis/*", "benchmarks/soak/*", "benchmarks/scale/*"],
                [*build("release", *RELEASE),
                 Beside([[FOLDER / "release/benchmarks/soak_benchmark", "--events", "2e8"],
                         ["env", "PCLSCOPE_ORACLE_PROGRAMS=20000", FOLDER / "release/tests/nodes_oracle_test"],
                         ["env", "PCLSCOPE_ORACLE_PROGRAMS=200000", FOLDER / "release/tests/matcher_oracle_test"],
                         ["env", "PCLSCOPE_FUZZ_FRAMES=1000000", FOLDER / "release/tests/test_wire_fuzz"],
                         [FOLDER / "release/benchmarks/scale_benchmark", "--quick"]])]),
    "delays": (8, ["interpose/*", "analysis/match/*", "analysis/collect/*", "analysis/aggregator/*"],
               [*build("delays", *RELEASE, "-DPCLSCOPE_DELAYS=ON", "-DPCLSCOPE_UNIT_TESTS=OFF",
                       "-DPCLSCOPE_BENCHMARKS=OFF"),
                ["env", "PCLSCOPE_FULL=0", *ctest("delays", "-R", "interpose_(accounts|attach)_|system-attach_job",
                                                  "--repeat", "until-fail:2", "-j", CORES)[0]]]),
    "live_soak": (6, ["interpose/*", "analysis/*"],
                  [*build("release", *RELEASE),
                   ["tests/apart", PYTHON, "-B", "benchmarks/soak/live.py", "--build", FOLDER / "release",
                    "--minutes", "3"]]),
    "churn": (4, ["analysis/aggregator/*", "analysis/collect/*", "interpose/*"],
              [*build("release", *RELEASE),
               ["tests/apart", PYTHON, "-B", "benchmarks/churn/run.py", "--seconds", "90"],
               ["tests/apart", PYTHON, "-B", "benchmarks/churn/run.py", "--seconds", "90", "--mpi", "mpich"]]),
    "chaos": (8, ["interpose/*", "analysis/aggregator/*", "analysis/collect/*", "viewer/launch/*", "tests/chaos/*"],
              [*build("release", *RELEASE),
               ["tests/apart", PYTHON, "-B", "tests/chaos/test_chaos.py", "--trials", "150"]]),
    "truth": (17, ["analysis/attribute/*", "analysis/delay/*", "tests/truth/*"],
              [*build("release", *RELEASE),
               ["tests/apart", PYTHON, "-B", "tests/truth/run", "--times", "2", "--jobs", "2"]]),
    "flaky": (1, ["tests/*", "ci/check/*"], [*build("release", *RELEASE), [PYTHON, "-B", "ci/check/flaky.py"]]),
    "sanitizers": (20, ["analysis/*", "viewer/*", "interpose/*", "tests/analysis/*", "tests/viewer/*"],
                   [*build("sanitizers", *SANITIZERS, *CLANG, "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -gmlt",
                           "-DPCLSCOPE_SANITIZE=ON", targets=("unit_tests", "pclscope", "pclscope-view")),
                    *ctest("sanitizers", "-L", "^unit$", "-j", CORES)]),
    "gcc-threads": (10, ["analysis/*", "viewer/*", "interpose/*"],
                    [*build("gcc-threads", *SANITIZERS, "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1", "-DPCLSCOPE_TSAN=ON",
                            targets=("threaded_tests",)),
                     ["env", f"TSAN_OPTIONS=suppressions={os.getcwd()}/ci/tsan.supp exitcode=66",
                      *ctest("gcc-threads", "-L", "^threads$", "-j", CORES)[0]]]),
    # Every file compiles alone; two scripts run what has assertions.
    "debug-non-unity": (25, ["*.cpp", "*.hpp", "*.c", "*CMakeLists.txt", "*.cmake"],
                        [*build("debug", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
                                "-DPCLSCOPE_BENCHMARKS=OFF", "-DPCLSCOPE_UNIT_TESTS=OFF", "-DPCLSCOPE_UNITY=OFF",
                                "-DPCLSCOPE_PCH=OFF"),
                         ["env", "PCLSCOPE_FULL=0", *ctest("debug", "-R", "interpose_accounts_", "-j", CORES)[0]]]),
    # Files of a library together: alone each of 720 would take as long as ten do. One MPI's aggregator and wrappers.
    "tidy": (25, ["analysis/*", "viewer/*", "interpose/*", ".clang-tidy"],
             [["ci/setup", "--quiet", "--nightly"],
              *build("tidy", *CLANG, "-DCMAKE_BUILD_TYPE=Debug", "-DPCLSCOPE_UNITY=ON", "-DPCLSCOPE_PCH=OFF",
                     "-DPCLSCOPE_TESTS=OFF", "-DPCLSCOPE_BENCHMARKS=OFF",
                     targets=("generated_messages", "generated_wrappers_openmpi", "generated_wrappers_mpich",
                              "viewer/export/perfetto.pb.h", "viewer/build_commit.hpp")),
              ["run-clang-tidy", "-quiet", "-p", FOLDER / "tidy", "-j", CORES,
               "-checks=-bugprone-suspicious-include", "-extra-arg=-Wno-unknown-warning-option",
               f"{os.getcwd()}/({FOLDER}/tidy/)?(analysis|viewer|interpose)/(?!.*mpich).*[.](cpp|cxx)$"]]),
    "recipes": (15, ["analysis/*", "viewer/*", "docs/extending.md", "tests/structure/*"],
                [[PYTHON, "-B", "tests/structure/recipes.py"]]),
    "browser": (2, ["viewer/report/*"],
                [["ci/setup", "--quiet", "--nightly"], *build("release", *RELEASE),  # fetches chromium
                 ["tests/apart", PYTHON, "-B", "tests/system/report_in_browser.py"]]),
    "installed": (12, ["CMakeLists.txt", "*.cmake", "ci/packaging/*"],  # fetches packages of Debian
                  [["ci/setup", "--quiet", "--nightly"], *build("release", *RELEASE),
                   [PYTHON, "-B", "tests/system/packages.py"]]),
    "prefix": (10, ["CMakeLists.txt", "*.cmake"],
               [*build("release", *RELEASE), ["tests/apart", PYTHON, "-B", "tests/system/plain_prefix.py"]]),
    "slurm": (1, ["viewer/launch/*", "viewer/commands/*", "analysis/aggregator/*", "tests/system/slurm*"],
              [*build("release", *RELEASE), ["tests/apart", PYTHON, "-B", "tests/system/slurm_three_nodes.py"]]),
    "planted": (30, ["*"], [["env", "PCLSCOPE_FULL=0", "ci/planted", "--resume"]]),
}


NAMED_ONLY = {"planted"}  # the whole is without these; `ci/nightly planted` runs it


def steps_of(name):
    """Groups of commands; those of a group run side by side."""
    return [[[str(word) for word in one] for one in (command if isinstance(command, Beside) else [command])]
            for command in PARTS[name][2]]


def commands_of(name):
    return [command for group in steps_of(name) for command in group]


def results():
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def commit():
    dirty = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=False).stdout.strip()
    return changed.lines_of("git", "rev-parse", "--short", "HEAD")[0] + ("+" if dirty else "")


def run_group(name, number, group):
    """[(step, status)] of commands that run side by side, in the order in which they ended."""
    waiting, under_way, ended = list(enumerate(group, number)), [], []
    while waiting or under_way:
        while waiting and len(under_way) < int(CORES):
            at, command = waiting.pop(0)
            under_way.append(run.Step(f"{name} {at}/{len(commands_of(name))}", command, FOLDER / f"{name}-{at}.log",
                                      environment=JOBS))
        step = next((step for step in under_way if not step.thread.is_alive()), None)
        if step is None:
            under_way[0].thread.join(0.2)
            run.say("  still: " + "; ".join(step.name for step in under_way), run.QUIET_S)
            continue
        under_way.remove(step)
        ended.append((step, step.wait()))
        told = "done" if ended[-1][1] == 0 else f"FAILED ({ended[-1][1]})"
        run.say(f"{step.name}: {told} after {step.seconds():.0f} s ({step.cpu_seconds:.0f} CPU s):"
                f" {' '.join(step.command)[:100]}")
    return ended


def do(name):
    run.say(f"part {name}: about {PARTS[name][0]} minutes")
    began, cpu_seconds, number, red = time.time(), 0.0, 1, []
    for group in steps_of(name):
        ended = run_group(name, number, group)
        number += len(group)
        cpu_seconds += sum(step.cpu_seconds for step, _ in ended)
        red = [step for step, status in ended if status != 0]
        if red:
            break
    for step in red:
        print(step.end_of_log(40), flush=True)
    kept = results()
    kept[name] = {"passed": not red, "seconds": round(time.time() - began), "cpu_seconds": round(cpu_seconds),
                  "commit": commit(), "at": time.strftime("%Y-%m-%d %H:%M"),
                  "command": "; ".join(" ".join(step.command) for step in red), "commands": commands_of(name)}
    RESULTS.write_text(json.dumps(kept, indent=1))
    return not red


def whole():
    return [name for name in PARTS if name not in NAMED_ONLY]


def shares(count):
    """The parts in `count` groups of about equal length, always the same."""
    groups = [[0, []] for _ in range(count)]
    for name in sorted(whole(), key=lambda name: -PARTS[name][0]):
        least = min(groups, key=lambda group: group[0])
        least[0] += PARTS[name][0]
        least[1].append(name)
    return [names for _, names in groups]


def summary():
    kept = results()
    for name, (minutes, _, _) in PARTS.items():
        row = kept.get(name)
        told = ("not run; only when it is named" if name in NAMED_ONLY else "not run yet") if row is None else (
            f"{'passed' if row['passed'] else 'FAILED'} in {row['seconds']} s ({row.get('cpu_seconds', '?')} CPU s),"
            f" commit {row['commit']}, {row['at']} {row['command']}")
        print(f"{name:16} {minutes:3} min  {told}")
    ran = [kept[name] for name in whole() if name in kept]
    print(f"{len(ran)} of {len(whole())} parts ran, which took {sum(row['seconds'] for row in ran) / 60:.0f} minutes")
    return 0 if len(ran) == len(whole()) and all(row["passed"] for row in ran) else 1


def can_affect(name, files):
    """Whether a change of these files can affect the part; texts do not, unless it names them, and this script by the
    part's commands alone, which are kept with its result."""
    patterns = PARTS[name][1]
    if "*" in patterns:
        return not all(file.endswith(".md") or file == THIS for file in files)
    own = {word for command in commands_of(name) for word in command}
    return any(file in own or changed.matches(file, (*patterns, *changed.EVERYTHING, *HELPERS))
               for file in files if file != THIS)


def affected(base):
    files = changed.files(base)
    return [name for name in PARTS if can_affect(name, files)]


def is_done(name):
    """It passed, with the same commands, and nothing that can affect it has changed since."""
    row = results().get(name)
    if row is None or not row["passed"] or row["commit"].endswith("+") or row.get("commands") != commands_of(name):
        return False
    try:
        return not can_affect(name, changed.files(row["commit"]))
    except subprocess.CalledProcessError:  # a commit that is not known here
        return False


def main():
    parser = argparse.ArgumentParser(prog="ci/nightly", description=__doc__.split(" See")[0],
                                     epilog=f"Parts: {', '.join(whole())}; and, only when it is named, "
                                            f"{', '.join(sorted(NAMED_ONLY))}. Results are kept in {RESULTS}.")
    parser.add_argument("parts", nargs="*", metavar="PART", help="parts to run; all when none is named")
    parser.add_argument("--part", metavar="K/N", help="the K-th of N shares of about equal length")
    parser.add_argument("--resume", action="store_true", help="leave out what passed and no change since can affect")
    parser.add_argument("--summary", action="store_true", help="what is known of each part; status 0: all passed")
    parser.add_argument("--changed", nargs="?", const="", metavar="BASE", help="name the parts that changes can affect")
    asked = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    if asked.summary:
        return summary()
    if asked.changed is not None:
        print(*affected(asked.changed), sep="\n")
        return 0
    names = asked.parts or whole()
    if asked.part:
        k, _, n = asked.part.partition("/")
        if not (k.isdigit() and n.isdigit() and 1 <= int(k) <= int(n)):
            parser.error(f"--part {asked.part}: K/N with K from 1 to N, as 2/5")
        names = shares(int(n))[int(k) - 1]
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are: {', '.join(PARTS)}")
    if asked.resume:
        names = [name for name in names if not is_done(name)]
    run.interrupt_on_terminate()
    try:
        failed = [name for name in names if not do(name)]
    except KeyboardInterrupt:
        run.stop_all()
        return 130
    print(f"ci/nightly: {'FAILED: ' + ', '.join(failed) if failed else 'all passed'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
