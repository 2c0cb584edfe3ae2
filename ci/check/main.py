"""The check: builds everything with warnings as errors and runs every test. See ci/test --help."""
import argparse
import os
import pathlib
import shutil
import sys
import threading
import time

import builds
import changed
import flaky as flaky_tests
import run
import table
import tests

LOGS = pathlib.Path("build/check")
JOBS_AT_ONCE = 3  # job tests side by side: they wait a lot
TIMED_AT_ONCE = 2  # of those that compare times; one of those that need a quiet machine (tests/jobs.cmake)
HELP = """Builds everything with warnings as errors and runs every test:
  the style of the code (ci/style),
  job tests: the built programs, most of them in real MPI jobs, side by side and each in namespaces of its own,
  unit tests under AddressSanitizer and UndefinedBehaviorSanitizer, those with threads under ThreadSanitizer, too.
The last lines are the failed tests and where their output is, where the time went, and ctest's totals. Status 0: all
passed."""


def arguments():
    parser = argparse.ArgumentParser(prog="ci/test", description=HELP, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-L", metavar="LABEL",
                        help="only tests with this label: unit, threads, job, launcher, time, quiet, display, nothing")
    parser.add_argument("-R", metavar="REGEX", help="only tests whose names match")
    parser.add_argument("--changed", nargs="?", const="", metavar="BASE",
                        help="only tests that changes since BASE can affect (default: since this branch left\n"
                             "origin/main; else what is not committed; else the last commit)")
    parser.add_argument("--list", action="store_true", help="with -L, -R or --changed: print the tests, run none")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="run the tests N times")
    parser.add_argument("--seed", type=int, help="the seed of random tests, as a failed one printed it")
    return parser.parse_args()


def chosen(asked):
    """{tree: names of tests, or None for all of them}. Trees in which nothing is asked for are left out."""
    if asked.L == "unit" and not asked.R and asked.changed is None:
        return {"sanitize": None}
    if asked.changed is None and not asked.L and not asked.R:
        return dict.fromkeys(builds.TREES)
    for tree in builds.TREES:
        if builds.configure(tree, LOGS) != 0:
            raise SystemExit(f"ci/test: cmake --preset {tree} failed, see {LOGS}/configure-{tree}")
    selection = (["-L", asked.L] if asked.L else []) + (["-R", asked.R] if asked.R else [])
    labels = {"release": ["-L", "^job$"], "sanitize": ["-L", "^unit$"], "tsan": ["-L", "^threads$"]}
    found = {}
    for tree, own in labels.items():
        names = set(tests.names(tree, *own)) & set(tests.names(tree, *selection))
        if asked.changed is not None:
            names &= changed.tests_of(asked.changed, tree)
        if names:
            found[tree] = names
    return found


def selection(names, *labels):
    return [*labels, *(tests.only(names) if names is not None else [])]


class Check:
    def __init__(self, asked, plan):
        self.asked, self.plan, self.began = asked, plan, builds.now()
        self.failed, self.flaky, self.steps = [], [], []
        self.waited_for = False  # job tests, beside which all else gives way
        self.compiled = threading.Event()  # nothing is built any more
        self.compilers_waited_for = False
        self.times = (LOGS / "times").resolve()
        self.environment = {"PCLSCOPE_KEEP": str((LOGS / "kept").resolve()), "PCLSCOPE_TIMES": str(self.times)}
        if asked.seed is not None:
            self.environment["PCLSCOPE_SEED"] = str(asked.seed)

    def build(self, tree, beside=None):
        names = self.plan[tree]
        step = builds.start(tree, LOGS, beside, sorted(names) if names is not None and tree != "release" else None)
        good = builds.finish(step)
        if step:
            self.steps.append(step)
        if not good:
            self.failed.append(f"build of {tree}")
        return good

    def start(self, name, tree, options, jobs, environment=None, beside=None):
        step = tests.Tests(name, tree, LOGS, options + self.repeated(), jobs,
                           {**self.environment, **(environment or {})}, beside)
        self.steps.append(step)
        return step

    def repeated(self):
        return ["--repeat", f"until-fail:{self.asked.repeat}"] if self.asked.repeat > 1 else []

    def finish(self, step):
        bad, flaky = tests.finish(step, LOGS)
        self.failed += bad
        self.flaky += flaky
        flaky_tests.remember(flaky)

    def style(self):
        step = run.Step("style", ["ci/style"], LOGS / "style")
        self.steps.append(step)
        if step.wait() != 0:
            self.failed.append("style")
            print(step.end_of_log(40), flush=True)

    def everything(self):
        """Job tests run one phase after the other, those that compare times last and two at a time, or alone; beside
        them, on what they leave of the cores, the sanitizers' builds and then their tests, both kinds at once. Times
        are compared when nothing is compiled any more, as on a machine that has it all in the compiler's cache."""
        if self.plan.keys() == set(builds.TREES) and self.plan["release"] is None:
            self.style()
        released = "release" in self.plan and self.build("release")
        self.waited_for = released
        background = threading.Thread(target=self.sanitizers, daemon=True)
        background.start()
        if released:
            self.finish(self.start("jobs", "release", selection(self.plan["release"], "-L", "^job$", "-LE", "^time$"),
                                   JOBS_AT_ONCE))
            self.wait_for_compilers()
            self.finish(self.start("time", "release", selection(self.plan["release"], "-L", "^time$"), TIMED_AT_ONCE))
            self.waited_for = False
            run.give_way_no_more()  # else a busy machine would keep the rest from its cores for ever
        background.join()

    def wait_for_compilers(self):
        """They have the cores like anybody else meanwhile, on a busy machine, too."""
        self.compilers_waited_for = True
        run.give_way_no_more()
        self.compiled.wait()

    def sanitizers(self):
        try:
            self.sanitized()
        except KeyboardInterrupt:
            pass  # the check is being ended
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.failed.append(f"the check itself: {error!r}")
        finally:
            self.compiled.set()

    def beside(self, how):
        return how if self.waited_for else None

    def sanitized(self):
        built = [tree for tree in ("sanitize", "tsan") if tree in self.plan and
                 self.build(tree, None if self.compilers_waited_for else self.beside("idle"))]
        self.compiled.set()
        steps = []
        if "sanitize" in built:
            # Of each allocation the innermost frames alone: a sixth less time in tests that allocate much.
            steps.append(self.start("unit", "sanitize", selection(self.plan["sanitize"], "-L", "^unit$"), builds.CORES,
                                    {"ASAN_OPTIONS": "malloc_context_size=12"}, beside=self.beside("last")))
        if "tsan" in built:
            options = f"suppressions={os.getcwd()}/ci/tsan.supp halt_on_error=0 exitcode=66"
            steps.append(self.start("threads", "tsan", selection(self.plan["tsan"], "-L", "^threads$"), 1,
                                    {"TSAN_OPTIONS": options}, beside=self.beside("last")))
        for step in steps:
            self.finish(step)


def show_plan(asked, plan):
    shown = [name + (" (under TSan)" if tree == "tsan" else "")
             for tree, names in plan.items() for name in sorted(names if names is not None else tests.names(tree))]
    if not plan and asked.changed is None:
        words = " and ".join(f"{option} {value}" for option, value in (("-L", asked.L), ("-R", asked.R)) if value)
        print(f"ci/test: no test matches {words}; `ctest --test-dir build/release -N` names them", file=sys.stderr)
        return 2
    print(*shown, f"{len(shown)} tests", sep="\n")
    return 0


def ended():
    run.stop_all()
    print("ci/test: stopped; nothing is judged", flush=True)
    return 130


def main():
    asked = arguments()
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    run.interrupt_on_terminate()
    try:
        plan = chosen(asked)
        if asked.changed is not None:
            print(changed.told(asked.changed), flush=True)
        if asked.list or not plan:
            return show_plan(asked, plan)
    except KeyboardInterrupt:
        return ended()
    check = Check(asked, plan)
    try:
        check.everything()
    except KeyboardInterrupt:
        return ended()
    table.show(check)
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
