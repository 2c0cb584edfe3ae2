"""Planted waits of known length: late senders, late receivers.
Depends on: launcher."""
import dump
import harness
import numpy
from harness import on_one_mpi

SLEEP_NS = 100_000_000  # others may hold a side back for some 10 ms
MESSAGES = 8


def late_sender(rows):
    return numpy.maximum(0, rows.send_begin - rows.recv_wait)


def late_receiver(rows):
    return numpy.clip(rows.recv_post - rows.send_begin, 0, rows.recv_end - rows.send_begin)


class PlantedWaits(harness.SystemTest):
    def rows(self, mpi, name):
        path = self.box.directory / f"{name}-{mpi}.h5"
        done = self.box.traced(2, harness.program(name, mpi), str(MESSAGES), str(SLEEP_NS // 1000), "1", "1",
                               options=("--dump", path))
        self.assertWorked(done)
        expected = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("wait ")]
        self.assertEqual(len(expected), MESSAGES, done)
        ranks = {rank["rank"]: rank for rank in self.box.json("inspect", path, "ranks", "--json")["ranks"]}
        region, = self.box.json("inspect", path, "regions", "--json")["regions"]
        return dump.read_messages(path), ranks, numpy.array(expected), region

    def assertPlanted(self, waits, expected):
        """The program itself says how long each side waited for the other, from its own clocks just before its calls:
        the split says the same within 10 % or 200 us. Between clock and call the core may be taken away: in 2 us of
        every 3 ms between such changes, so of 8 messages from three or more with probability 2e-8."""
        self.assertEqual(len(waits), MESSAGES)
        off = numpy.abs(waits - expected)
        wrong = off > numpy.maximum(0.1 * expected, 200_000)
        self.assertLessEqual(wrong.sum(), 2, (waits / 1e6, expected / 1e6))
        self.assertGreater(float(numpy.median(waits)), 0.5 * SLEEP_NS, waits / 1e6)

    def assertNone(self, waits):
        """The other kind of wait is absent but for the spread of the barrier: who sleeps would have to be the first."""
        self.assertLess(float(numpy.median(waits)) / 1e6, 5, waits)

    @on_one_mpi("mpich")
    def test_late_sender(self, mpi):
        rows, ranks, expected, region = self.rows(mpi, "late_sender")
        self.assertPlanted(late_sender(rows), expected)
        self.assertNone(late_receiver(rows))
        self.assertAlmostEqual(ranks[1]["late_sender_s"], float(late_sender(rows).sum()) * 1e-9, delta=1e-5)
        self.assertAlmostEqual(region["late_sender_s"], float(late_sender(rows).sum()) * 1e-9, delta=1e-5)

    @on_one_mpi("openmpi")
    def test_late_receiver(self, mpi):
        rows, ranks, expected, region = self.rows(mpi, "late_receiver")
        self.assertPlanted(late_receiver(rows), expected)
        self.assertNone(late_sender(rows))
        self.assertAlmostEqual(ranks[0]["late_receiver_s"], float(late_receiver(rows).sum()) * 1e-9, delta=1e-5)
        self.assertAlmostEqual(region["late_receiver_s"], float(late_receiver(rows).sum()) * 1e-9, delta=1e-5)


if __name__ == "__main__":
    harness.main()
