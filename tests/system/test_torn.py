"""A record that was torn says so: jobs whose ranks log for themselves what they send and receive, and in which the
aggregator, a rank or the launcher is ended or killed at a random moment. When the dump says complete, it has all that
was sent; else it has all that was sent and received before the times from which it says that ranks are missing.
Depends on: launcher."""
import collections
import os
import pathlib
import random
import signal
import struct
import time

import numpy

import dump
import harness
from harness import thinned

RANKS = 3
PATIENCE_MS = "20000"  # where a busy machine keeps its core from the aggregator, ranks wait for it and drop nothing
TAG, LARGEST = 5, 4000  # of programs/logged.c
CLOCKS = 500e-6         # what adjtime may add to CLOCK_REALTIME, per second
AT_ONCE_NS = 2_000_000  # between two clocks that are read one after the other

# Who, and by what. The worker ignores SIGINT; SIGKILL leaves the dump as of its last flush.
ENDS = [("worker", signal.SIGTERM), ("worker", signal.SIGKILL),
        ("anchor", signal.SIGTERM), ("anchor", signal.SIGINT), ("anchor", signal.SIGKILL),
        ("rank", signal.SIGKILL), ("rank", signal.SIGTERM), ("rank", signal.SIGINT),
        ("launcher", signal.SIGTERM), ("launcher", signal.SIGINT), ("launcher", signal.SIGKILL)]


class Log:
    """What a rank wrote of itself."""

    def __init__(self, path, messages):
        data = path.read_bytes()
        self.begun, self.sent, self.received = struct.unpack_from("<3Q", data)
        kind = numpy.dtype([("time", "<i8"), ("peer", "<i4"), ("number", "<i4")])
        self.sends = numpy.frombuffer(data, kind, self.sent, 24)
        self.receives = numpy.frombuffer(data, kind, self.received, 24 + messages * kind.itemsize)


class Torn(harness.SystemTest):
    def progress(self, logs, at_least):
        """Whether the ranks have begun so many sends."""
        begun = 0
        for path in logs:
            try:
                with open(path, "rb") as file:
                    begun += struct.unpack("<Q", file.read(8))[0]
            except (FileNotFoundError, struct.error):
                pass
        return begun >= at_least

    def victims(self, who, rank):
        mine = self.box.processes()

        def named(*names):
            return [pid for pid, command in mine if pathlib.Path(command.split()[0]).name.startswith(names)]
        if who == "worker":
            return self.box.aggregator_workers()
        if who == "anchor":
            return sorted(set(named("pclscope-aggregator-")) - set(self.box.aggregator_workers()))
        if who == "rank":
            return sorted(self.box.application_ranks("logged"))[rank:rank + 1]
        return named("mpirun", "mpiexec")

    def one(self, mpi, chance, end):
        """One job, in which somebody is ended. Returns how much of it had been sent, and what the dump says."""
        who, number = end
        folder = pathlib.Path(self.box.directory / f"turn-{self.box.files}")
        folder.mkdir()
        path = folder / "run.h5"
        lengths = (1000, 5000, thinned(60_000, 20_000)) if mpi == "openmpi" else (200, 800, 3000)
        iterations = chance.choice(lengths)
        messages = 2 * iterations
        moment = chance.random() * 1.1
        pause = 0 if iterations == lengths[-1] else 300
        window = chance.choice(("100ms", "1s"))
        after_ms = chance.random() * 60
        rank = chance.randrange(RANKS)
        words = (str(iterations), str(chance.randrange(1 << 30)), str(pause))
        command = (harness.program("logged", mpi), folder, *words)
        running = self.box.start_traced(RANKS, *command,
                                        options=("--dump", path, "--keep", "all", "--window", window,
                                                 "--overflow-wait", PATIENCE_MS))
        logs = [folder / f"{rank}.log" for rank in range(RANKS)]
        while running.running() and not self.progress(logs, 1):
            time.sleep(0.001)
        victims = self.victims(who, rank)  # now: to look for them takes longer than many a job
        # In the last part of its time the job is at its end, the dump being closed.
        least = int(min(moment, 1) * messages * RANKS)
        while running.running() and not self.progress(logs, least):
            time.sleep(0.0002)
        if moment >= 0.95:
            time.sleep(after_ms / 1e3)
        if number == signal.SIGKILL:
            self.box.will_be_orphaned()
        for pid in victims:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        self.end(running, who, number)
        what = f"{mpi}: {number.name} to {who} at {moment:.3f} of {iterations} iterations, pause {pause}, {window}"
        if not path.exists():  # a job of 200 iterations may be over before its worker, where cores are taken, has begun
            if (who, number) != ("worker", signal.SIGKILL):
                self.assertLess(moment, 0.95, what)
            return "none"
        return self.judge(path, logs, messages, what)

    def end(self, running, who, number):
        """Until nobody writes any more. A launcher that was killed leaves its ranks behind; they may wait for ever."""
        running.finish()
        if number == signal.SIGKILL:
            limit = time.monotonic() + 10
            while self.box.aggregator_workers() and time.monotonic() < limit:
                time.sleep(0.02)
            self.box.kill_everything()
        self.box.wait_for("end of the aggregator", lambda: not self.box.aggregator_workers())
        self.box.wait_for("end of the ranks", lambda: not self.box.application_ranks("logged"))

    def judge(self, path, logs, messages, what):
        with self.subTest(what):
            says = dump.torn(path)
            own = [Log(log, messages) if log.exists() else None for log in logs]
            rows = dump.read_messages(path)
            totals = dump.totals(path)
            stored = collections.defaultdict(list)
            for row in numpy.argsort(rows.recv_end, kind="stable").tolist():
                stored[int(rows.source[row]), int(rows.destination[row])].append(row)
            self.assertTrue(set(rows.tag.tolist()) <= {TAG})
            if says.complete:
                self.assertTrue(says.closed)
                self.assertEqual(says.missing, {})
                self.assertTrue(all(own), "every rank has been in MPI")
                counted = sum(totals[name] for name in ("matched", "ambiguous", "unmatched_sends", "half_recorded",
                                                        "foreign"))
                if totals["dropped_events"] == 0:  # else some were recorded by neither side
                    self.assertEqual(counted, sum(log.begun for log in own))
                self.assertEqual(totals["matched"], len(rows))
            else:
                self.assertTrue(says.missing or not says.closed)
            if says.ranks:
                self.assertHasAllBefore(path, says, own, rows, stored, totals)
            text = self.box.pclscope("inspect", path)
            self.assertWorked(text)
            self.assertEqual("not complete: " in text.stdout, not says.complete, str(text))
            if says.missing:
                self.assertIn("missing", text.stdout)
                told = self.box.json("inspect", path, "--json")
                self.assertEqual({m["rank"]: m["from_s"] for m in told["missing"]}, says.missing)
                self.assertFalse(told["complete"])
            return "complete" if says.complete else "closed" if says.closed else "cut off"

    def assertHasAllBefore(self, path, says, own, rows, stored, totals):
        """Each message that was sent before its sender is missing, and received before its receiver is."""
        origin = dump.time_origin(path)

        def until(rank):
            if rank not in says.missing:
                return float("inf")
            from_s = says.missing[rank]
            return float("-inf") if from_s <= 0 else origin + from_s * 1e9 - AT_ONCE_NS - from_s * 1e9 * CLOCKS
        for source, log in enumerate(own):
            if log is None:
                continue
            for destination in {(source + 1) % RANKS, (source - 1) % RANKS}:
                sent = log.sends["time"][log.sends["peer"] == destination]
                there = own[destination]
                received = there.receives["time"][there.receives["peer"] == source] if there else sent[:0]
                both = min(int((sent < until(source)).sum()), int((received < until(destination)).sum()))
                sizes = [int(rows.bytes[row]) for row in stored[source, destination]]
                # The messages of a channel are told apart by their sizes; none in between is missing, but those that a
                # full ring dropped, which are counted.
                if totals["dropped_events"] == 0:
                    self.assertEqual(sizes, [1 + k % LARGEST for k in range(len(sizes))], (source, destination))
                else:
                    print(f"{totals['dropped_events']} events dropped: {len(sizes)} of {both} messages", flush=True)
                    continue
                self.assertGreaterEqual(len(sizes), both, (source, destination, len(sent), len(received), says))
                if says.closed and destination in says.missing and sizes:
                    newest = int(rows.recv_end[stored[source, destination][-1]])
                    self.assertGreaterEqual(says.missing[destination] * 1e9 + 1e3, newest, "not missing yet then")

    def turns(self, mpi, turns):
        chance = random.Random(self.seed())
        found = collections.Counter()
        ends = [ENDS[i % len(ENDS)] for i in range(turns)]
        chance.shuffle(ends)
        for end in ends:
            found[self.one(mpi, chance, end)] += 1
        print(f"{mpi}: {turns} ended: {dict(found)}", flush=True)

    def test_openmpi(self):
        if "openmpi" not in harness.MPIS:
            self.skipTest("openmpi is not built")
        self.turns("openmpi", thinned(44, 6))

    def test_mpich(self):
        if "mpich" not in harness.MPIS:
            self.skipTest("mpich is not built")
        self.turns("mpich", thinned(22, 4))

    def test_nobody_is_ended(self):
        """The other way round: who ends in order is not said to be missing."""
        for mpi in harness.MPIS:
            with self.subTest(mpi=mpi):
                folder = self.box.directory / mpi
                folder.mkdir()
                done = self.box.traced(RANKS, harness.program("logged", mpi), folder, "400",
                                       options=("--dump", folder / "run.h5", "--keep", "all"))
                self.assertWorked(done)
                logs = [folder / f"{rank}.log" for rank in range(RANKS)]
                self.assertEqual(self.judge(folder / "run.h5", logs, 800, mpi), "complete")


if __name__ == "__main__":
    harness.main()
