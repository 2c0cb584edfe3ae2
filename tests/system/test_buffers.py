"""The aggregator is stopped while a rank sends: a buffer that may grow loses nothing, one that may not holds the rank
up, and the user is told for how long. Depends on: launcher."""
import os
import signal
import time

import harness

MESSAGES, LATER = 1000, 10  # to itself: two events each


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


class Buffers(harness.SystemTest):
    def stopped_during_a_burst(self, mpi, name, *options):
        """(the end, what the dump says of the rank, its totals, seconds from before the burst to the end)."""
        marks, dump = self.box.directory / f"{name}-{mpi}", self.box.directory / f"{name}-{mpi}.h5"
        marks.mkdir()
        program = harness.BUILD / "tests" / "interpose" / f"mischief-{mpi}"
        running = self.box.start(harness.PCLSCOPE, "run", "-n", "1", "--dump", dump, "--mpi", mpi,
                                 "--ring-events", "64",
                                 *options, "--", program, "bursts", marks, str(MESSAGES), str(LATER))
        worker, = self.box.wait_for("aggregator", self.box.aggregator_workers, running=running)
        os.kill(worker, signal.SIGSTOP)
        self.box.wait_for("the stop", lambda: state(worker) == "T", running=running)
        begin = time.monotonic()
        (marks / "1").touch()
        self.box.wait_for("the burst's end", (marks / "2").exists, running=running)
        os.kill(worker, signal.SIGCONT)
        (marks / "3").touch()
        done = running.finish(harness.PATIENCE)
        seconds = time.monotonic() - begin
        self.assertWorked(done)
        rank, = self.box.json("inspect", dump, "ranks", "--json")["ranks"]
        return done, rank, self.box.json("inspect", dump, "--json")["messages"], seconds

    @harness.on_every_mpi
    def test_a_buffer_that_grows_drops_nothing(self, mpi):
        done, rank, totals, _ = self.stopped_during_a_burst(mpi, "grows", "--ring-limit", "8192", "--overflow", "drop")
        self.assertEqual((totals["dropped_events"], totals["matched"]), (0, MESSAGES + LATER))
        self.assertIn(rank["buffer_events"], (2048, 4096))  # 2,001 events, each buffer to its half
        self.assertEqual(rank["held_up_s"], 0)
        self.assertNotIn("held up", done.stderr)
        _, fixed, totals, _ = self.stopped_during_a_burst(mpi, "fixed", "--overflow", "drop")
        self.assertGreater(totals["dropped_events"], 0)
        self.assertEqual(fixed["buffer_events"], 64)

    @harness.on_every_mpi
    def test_what_a_full_buffer_cost_is_told(self, mpi):
        wait_s = 0.3
        done, rank, totals, seconds = self.stopped_during_a_burst(mpi, "waits", "--overflow-wait",
                                                                  str(int(wait_s * 1000)))
        self.assertGreater(totals["dropped_events"], 0)
        self.assertGreaterEqual(rank["held_up_s"], wait_s)
        self.assertLess(rank["held_up_s"], seconds)
        line, = [line for line in done.our_lines() if "held up by the tool for" in line]
        summary = self.box.pclscope("inspect", self.box.directory / f"waits-{mpi}.h5")
        self.assertIn(line.partition("ranks were ")[2], summary.stdout)


if __name__ == "__main__":
    harness.main()
