#!/usr/bin/python3
"""Runs random programs under pclscope and compares every stored pair with the oracle's.

    PCLSCOPE_BUILD=build/release /usr/bin/python3 tests/system/random_programs.py --messages 1000000 --mpi openmpi

Prints one line per run (the seed and the options repeat it) and one with the sum. Exit status 0: no pair was wrong.
"""
import argparse
import os
import pathlib
import random
import sys
import tempfile
import time

import dump
import harness
import oracle


class Kind:
    """A way to run the program: its options, those of `pclscope run`, and what may be missing then."""

    def __init__(self, program=(), run=(), ambiguous=False, dropped=False, switched=False):
        self.program, self.run = tuple(program), tuple(run)
        self.ambiguous, self.dropped, self.switched = ambiguous, dropped, switched

    def whole(self):
        return not (self.ambiguous or self.dropped or self.switched)

    def on_the_tools_clock(self, box):
        """The oracle reads the clock that the tool reads. CLOCK_MONOTONIC is slewed, by microseconds within a run: it
        is no straight line of the TSC, and messages that lie closer than that could not be told apart."""
        return self if "--monotonic" in self.program or uses_tsc(box) else self.changed(("--monotonic",))

    def changed(self, program):
        return Kind(self.program + program, self.run, self.ambiguous, self.dropped, self.switched)

    def monotonic(self):
        return "--monotonic" in self.program


def uses_tsc(box):
    """Whether the tool takes the TSC here, as it says itself."""
    clock, = (check for check in box.json("doctor", "--json")["checks"] if check["what"] == "clock")
    return clock["text"].startswith("tsc")


MONOTONIC = {"program": ("--monotonic",), "run": ("--clock", "monotonic")}
DROPPING = ("--clock", "monotonic", "--ring-events", "64", "--overflow", "drop")
KINDS = {
    "plain": Kind(),
    "monotonic": Kind(**MONOTONIC),
    "small-rings": Kind(run=("--ring-events", "256", "--overflow-wait", "60000")),
    "pcontrol": Kind(("--pcontrol", "--monotonic"), ("--clock", "monotonic"), switched=True),
    "dropping": Kind(("--burst", "--monotonic"), DROPPING, ambiguous=True, dropped=True),
    "pcontrol-dropping": Kind(("--pcontrol", "--monotonic"), DROPPING, ambiguous=True, dropped=True, switched=True),
    "threads": Kind(("--threads", "3")),
    "threads-pcontrol": Kind(("--threads", "2", "--pcontrol", "--monotonic"), ("--clock", "monotonic"), ambiguous=True,
                             dropped=True, switched=True),
    "race": Kind(("--threads", "3", "--race"), ambiguous=True),
    "race-dropping": Kind(("--threads", "2", "--race", "--burst", "--monotonic"), DROPPING,
                          ambiguous=True, dropped=True),
}


class Outcome:
    """What one run gave: differences from the truth (none when all is well), and its counts."""

    def __init__(self, differences, messages=0, totals=None, seconds=0.0):
        self.differences, self.messages, self.totals, self.seconds = differences, messages, totals or {}, seconds

    def count(self, name):
        return self.totals.get(name, 0)


def counts_disagree(kind, truth, totals, stored):
    """The equations between the oracle's numbers and those that pclscope reports."""
    differences = []
    count = {name: totals.get(name, 0) for name in ("matched", "ambiguous", "half_recorded", "dropped_events",
                                             "unmatched_sends", "unmatched_receives")}
    def require(holds, text):
        if not holds:
            differences.append(f"{text}: {count}, messages {truth.messages()}, stored {stored}")
    require(count["matched"] == stored, "as many rows as matched messages")
    require(count["matched"] + count["ambiguous"] + count["half_recorded"] <= truth.messages() or kind.ambiguous,
            "no message counts twice")
    if not kind.ambiguous:
        most = int(truth.posted_unrecorded().sum()) if kind.switched else 0
        require(count["ambiguous"] <= most, f"at most {most} ambiguous")
        require(count["unmatched_sends"] == count["unmatched_receives"] == 0, "nothing is unmatched")
    if not kind.dropped:
        require(count["dropped_events"] == 0, "nothing is dropped")
    if kind.whole():
        require(count["matched"] == truth.messages() and count["half_recorded"] == 0, "everything is matched")
        require(totals["bytes"] == truth.bytes(), f"bytes {totals['bytes']} {truth.bytes()}")
    elif not kind.dropped and not kind.switched:
        require(count["matched"] + count["ambiguous"] == truth.messages(), "matched and ambiguous are all")
    elif kind.switched and not kind.dropped:
        neither = int(truth.recorded_on_neither_side().sum())
        told = count["matched"] + count["half_recorded"] + count["ambiguous"]
        # Doubtful sends and receives of a channel need not be of the same messages.
        most = count["ambiguous"] + truth.overtaken()
        require(abs(told - (truth.messages() - neither)) <= most, f"all but {neither} are told, give or take {most}")
    return differences


def run(box, mpi, ranks, messages, seed, kind, timeout=3 * harness.PATIENCE):
    """One random program in a Sandbox."""
    # Several runs of a test may have the same seed (PCLSCOPE_SEED).
    directory = pathlib.Path(tempfile.mkdtemp(prefix=f"random-{mpi}-{seed}-", dir=box.directory))
    kind = kind.on_the_tools_clock(box)
    path = directory / "run.h5"
    arguments = ("--messages", str(messages), "--seed", str(seed), "--directory", str(directory), *kind.program)
    done = box.traced(ranks, harness.program("random_program", mpi), *arguments,
                      options=("--dump", path, "--keep", "all", *kind.run), timeout=timeout)
    if done.code != 0:
        return Outcome([str(done)])
    truth = oracle.Oracle(directory, ranks)
    if truth.faults:
        return Outcome(["the program contradicts itself: " + fault for fault in truth.faults])
    expected = f"random_program: ranks {ranks} messages {truth.messages()} checksum "
    differences = [] if done.stdout.startswith(expected) else [f"printed {done.stdout!r}, not {expected!r}"]
    totals = box.json("inspect", path, "--json")["messages"]
    rows = dump.read_messages(path)
    differences += counts_disagree(kind, truth, totals, len(rows))
    required = None
    if not kind.whole():
        required = truth.recorded_on_both_sides() & (not kind.ambiguous)
    try:
        differences += oracle.compare(rows, truth, kind.monotonic(), required, totals["ambiguous"])
    except AssertionError as cannot:  # what the counts say of it comes first
        differences.append(f"cannot be compared: {cannot}")
    return Outcome(differences, truth.messages(), totals, done.seconds)


def many(options):
    names = options.kind or [name for name in KINDS if name not in options.without]
    seed = options.first_seed if options.first_seed is not None else \
        int(os.environ.get("PCLSCOPE_SEED") or 0) or random.randrange(1, 1 << 30)
    began, wrong, total, runs = time.monotonic(), 0, 0, 0
    sums = dict.fromkeys(("matched", "ambiguous", "half_recorded", "dropped_events"), 0)
    while total < options.messages:
        name, ranks = names[runs % len(names)], options.ranks[runs // len(names) % len(options.ranks)]
        with harness.Sandbox() as box:
            outcome = run(box, options.mpi, ranks, options.per_run, seed, KINDS[name], options.timeout)
            outcome.differences += [f"left over: {left}" for left in box.remains()]
        print(f"{options.mpi} seed {seed} {name} ranks {ranks}: messages {outcome.messages} " +
              " ".join(f"{key} {outcome.count(key)}" for key in sums) +
              f" differences {len(outcome.differences)} seconds {outcome.seconds:.1f}", flush=True)
        for difference in outcome.differences[:oracle.MOST]:
            print("   ", difference[:3000], flush=True)
        wrong += bool(outcome.differences)
        for key in sums:
            sums[key] += outcome.count(key)
        total, runs, seed = total + max(outcome.messages, 1), runs + 1, seed + 1
        if wrong >= options.stop_after:
            break
    print(f"{options.mpi}: {runs} runs, {total} messages, " + ", ".join(f"{sums[key]} {key}" for key in sums) +
          f", runs with differences {wrong}, {time.monotonic() - began:.0f} s", flush=True)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=1_000_000, help="in all runs together (1000000)")
    parser.add_argument("--per-run", type=int, default=50_000)
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    parser.add_argument("--ranks", type=int, nargs="+", default=[4, 8, 5, 2, 6])
    parser.add_argument("--kind", nargs="+", choices=list(KINDS), help="default: all, in turn")
    parser.add_argument("--without", nargs="+", default=[], choices=list(KINDS))
    parser.add_argument("--first-seed", type=int, help="counted up from here (random)")
    parser.add_argument("--stop-after", type=int, default=3, help="runs with differences (3)")
    parser.add_argument("--timeout", type=float, default=600, help="seconds per run")
    return many(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
