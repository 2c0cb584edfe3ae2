"""What all tests of jobs share: comparisons that never take minutes, ends that are chance, seeds that can be given
(PCLSCOPE_SEED), and what a failed test had in hands (PCLSCOPE_KEEP names the folder for it)."""
import collections
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time
import unittest

MOST = 20               # differences told
LONGEST = 300           # characters of one value
MOST_BYTES = 200 << 20  # kept of one test
PAIRS = 20              # of runs whose ends are compared
SHARED_MEMORY = pathlib.Path("/dev/shm")
KEEP = os.environ.get("PCLSCOPE_KEEP") and pathlib.Path(os.environ["PCLSCOPE_KEEP"]).resolve()
FULL = os.environ.get("PCLSCOPE_FULL", "") not in ("", "0")  # set by ci/nightly
SPIN = os.environ.get("PCLSCOPE_SPIN", "") not in ("", "0")  # set by its part of tests that compare times


def thinned(full, brief):
    """How often or how long: in full where PCLSCOPE_FULL=1 (ci/nightly), else as ci/test does it. What is asserted is
    the same."""
    return full if FULL else brief


def resting(build):
    """What all that tests start has in its environment besides: tests/programs/resting.c, by which waiting ranks sleep.
    With PCLSCOPE_SPIN=1 they spin, as with users: MPICH's, and Open MPI's where each has a core."""
    path = pathlib.Path(build, "tests", "libresting.so").resolve()
    if not path.exists():
        return {}
    return {"LD_PRELOAD": str(path), **({"PCL_TEST_SPIN": "1"} if SPIN else {"OMPI_MCA_mpi_yield_when_idle": "1"})}


def preload(resting_too, *libraries):
    """LD_PRELOAD=..., and what the tests' jobs have anyway."""
    return "LD_PRELOAD=" + ":".join(map(str, filter(None, [*libraries, resting_too.get("LD_PRELOAD")])))


class Hung(AssertionError):
    """A command did not end."""


def short(value):
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"


def counted(lines, more):
    return lines + ([f"and {more} more"] if more > 0 else [])


def only_in(name, items):
    found = sorted(items, key=repr) if len(items) < 10_000 else list(items)
    return counted([f"{name} only: {short(item)}" for item in found[:MOST]], len(found) - MOST)


def of_sequences(seen, expected):
    length = min(len(seen), len(expected))
    places = [i for i in range(length) if seen[i] != expected[i]]
    lines = [f"{len(seen)} seen, {len(expected)} expected, {len(places)} of the first {length} differ"]
    told = [f"[{i}] seen {short(seen[i])}, expected {short(expected[i])}" for i in places[:MOST]]
    lines += counted(told, len(places) - MOST)
    for name, longer in (("seen", seen), ("expected", expected)):
        rest = longer[length:]
        told = [f"[{length + i}] {name} only: {short(item)}" for i, item in enumerate(rest[:MOST])]
        lines += counted(told, len(rest) - MOST)
    try:
        a, b = collections.Counter(seen), collections.Counter(expected)
    except TypeError:
        return lines
    return lines + [f"in any order: {sum((a - b).values())} seen only, {sum((b - a).values())} expected only"]


def differences(seen, expected):
    """Lines that say how two values differ: the first 20, and how many. None when they are equal."""
    if seen == expected:
        return []
    if isinstance(seen, dict) and isinstance(expected, dict):
        other = [key for key in seen if key in expected and seen[key] != expected[key]]
        lines = [f"{short(key)}: seen {short(seen[key])}, expected {short(expected[key])}" for key in other[:MOST]]
        return (counted(lines, len(other) - MOST) + only_in("seen", seen.keys() - expected.keys()) +
                only_in("expected", expected.keys() - seen.keys()))
    if isinstance(seen, (set, frozenset)) and isinstance(expected, (set, frozenset)):
        return only_in("seen", seen - expected) + only_in("expected", expected - seen)
    if isinstance(seen, str) and isinstance(expected, str):
        return ["lines of text: " + line for line in of_sequences(seen.splitlines(True), expected.splitlines(True))]
    if isinstance(seen, (list, tuple)) and isinstance(expected, (list, tuple)):
        return of_sequences(seen, expected)
    return [f"seen {short(seen)}, expected {short(expected)}"]


class Kept:
    """A folder for what a failed test leaves, 200 MB at most; small files first."""

    def __init__(self, name):
        self.folder = KEEP / f"{pathlib.Path(sys.argv[0]).stem}-{name}-{time.strftime('%Y%m%d-%H%M%S')}"
        self.bytes = 0
        self.folder.mkdir(parents=True, exist_ok=True)

    def copy(self, below, files):
        """Copies the files that are regular; their names are kept from `below` on."""
        sizes = []
        for file in files:
            try:
                if file.is_file() and not file.is_symlink():
                    sizes.append((file.stat().st_size, file))
            except OSError:
                pass
        for size, file in sorted(sizes):
            to = self.folder / file.relative_to(below)
            if self.bytes + size > MOST_BYTES:
                self.say(f"left out for its size: {file} ({size} bytes)")
                continue
            try:
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, to)
                self.bytes += size
            except OSError as error:  # a job may still be at work on it
                self.say(f"left out: {file}: {error}")

    def say(self, text):
        with open(self.folder / "about.txt", "a", encoding="utf-8") as about:
            about.write(text + "\n")


def own_shared_memory():
    return sorted(SHARED_MEMORY.glob("pclscope-*"))


class Test(unittest.TestCase):
    """unittest's comparison of long lists and texts takes minutes; here all of them tell the first 20 differences."""

    maxDiff = 4000
    kept = None

    def __init__(self, *words):
        super().__init__(*words)
        self.seeds, self.result, self.hands = [], None, None
        for kind in (list, tuple, dict, set, frozenset, str):
            self.addTypeEqualityFunc(kind, self.assertSame)

    def assertSame(self, seen, expected, msg=None):
        lines = differences(seen, expected)
        if lines:
            raise self.failureException(self._formatMessage(msg, "not the same\n  " + "\n  ".join(lines)))

    def seed(self):
        """A new number for a random generator, or the one in PCLSCOPE_SEED. It is told when the test fails."""
        self.seeds.append(int(os.environ.get("PCLSCOPE_SEED") or 0) or random.randrange(1, 1 << 30))
        return self.seeds[-1]

    def run(self, result=None):
        self.result = result if result is not None else self.defaultTestResult()
        before = set(own_shared_memory())
        with tempfile.TemporaryDirectory(prefix="pcl-hands-", ignore_cleanup_errors=True) as hands:
            self.hands = pathlib.Path(hands)  # what is to be kept should this test fail; job.launch writes here
            Hands.current = self.hands if KEEP else None
            super().run(self.result)
            Hands.current = None
            if self.failed():
                for seed in self.seeds:
                    print(f"{self.id()}: PCLSCOPE_SEED={seed} repeats it", flush=True)
                left = [path for path in own_shared_memory() if path not in before]
                if KEEP:
                    self.keep(self.hands, self.hands.rglob("*"))
                    self.keep(SHARED_MEMORY, left)
            if self.kept is not None:
                self.kept.say("\n".join([f"PCLSCOPE_SEED={seed}" for seed in self.seeds] + self.told()))
                print(f"kept: {self.kept.folder}", flush=True)
        self.kept = None
        return self.result

    def told(self):
        """What went wrong with this test, subtests too."""
        return [text for test, text in self.result.failures + self.result.errors
                if self in (test, getattr(test, "test_case", None))]

    def seeds_or(self, *usual):
        """The usual seeds, or the one in PCLSCOPE_SEED."""
        return [self.seed()] if os.environ.get("PCLSCOPE_SEED") else usual

    def failed(self):
        """In cleanups too."""
        early = getattr(self._outcome, "errors", None) or []  # before Python 3.11 the result is told at the end
        return bool(self.told() or any(error for _, error in early))

    def keep(self, below, files):
        if KEEP:
            self.kept = self.kept or Kept(self.id().split(".", 1)[-1])
            self.kept.copy(below, files)

    def unless_hung(self, run):
        """What run() gives. Open MPI's mpirun hangs now and then after MPI_Abort, bare too: once more. Twice is a
        defect."""
        try:
            return run()
        except Hung as told:
            print(f"once more: {told}", flush=True)
            return run()

    def assertEndsAlike(self, bare, traced, end, is_chance=False):
        """A bare and a traced run end alike. Where the end is chance, or no success: one of up to 20 bare and one of up
        to 20 traced runs do. An end of probability p in both is missed with 2 (1 - p)^20: 1e-6 for p = 0.52.
        An end of None is none to be compared. Returns a traced run that ended alike."""
        ends_bare, ends_traced = set(), {}
        for turn in range(PAIRS):
            one = self.unless_hung(bare) if is_chance else bare()
            other = self.unless_hung(traced) if is_chance else traced()
            ends_bare.add(end(one))
            ends_traced[end(other)] = other
            alike = (ends_bare & set(ends_traced)) - {None}
            if alike:
                if turn:
                    print(f"ends alike in turn {turn + 1}: bare {short(ends_bare)}, traced {short(set(ends_traced))}",
                          flush=True)
                return ends_traced[alike.pop()]
            is_chance = is_chance or status_of(one) != 0
            if not is_chance:
                break
        return self.fail(f"ends of bare runs: {ends_bare}; of traced ones: {set(ends_traced)}; the last two:\n"
                         f"{one}\n{other}")


class Hands:
    """The folder of the running test for what it has in hands; None when nothing is to be kept."""

    current = None


def status_of(done):
    return done.code if hasattr(done, "code") else done.status


def main(skipped=None):
    """Runs the tests of the calling script. `skipped`: the exit status that says that all of them were. When nothing
    failed but commands that a launcher did not end, the last line says so: ci/test then runs the script once more."""
    result = unittest.main(module="__main__", exit=False, verbosity=2).result
    bad = [text for _, text in result.failures + result.errors]
    if bad and all(re.search(r"^(checks\.)?Hung: ", text, re.MULTILINE) for text in bad):
        print("only the launcher failed", file=sys.stderr, flush=True)
    if skipped is not None and result.testsRun and len(result.skipped) == result.testsRun and result.wasSuccessful():
        sys.exit(skipped)
    sys.exit(0 if result.wasSuccessful() else 1)
