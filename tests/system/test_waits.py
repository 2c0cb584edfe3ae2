"""Planted waits of known length: late senders, late receivers."""
import dump
import harness
import numpy
from harness import on_every_mpi

SLEEP_NS = 30_000_000
MESSAGES = 8


def late_sender(rows):
    return numpy.maximum(0, rows.send_begin - rows.recv_wait)


def late_receiver(rows):
    return numpy.clip(rows.recv_post - rows.send_begin, 0, rows.recv_end - rows.send_begin)


class PlantedWaits(harness.SystemTest):
    def rows(self, mpi, name):
        path = self.box.directory / f"{name}-{mpi}.h5"
        done = self.box.traced(2, harness.program(name, mpi), str(MESSAGES), str(SLEEP_NS // 1000),
                               options=("--dump", path))
        self.assertWorked(done)
        ranks = {rank["rank"]: rank for rank in self.box.json("inspect", path, "ranks", "--json")["ranks"]}
        return dump.read_messages(path), ranks[1]

    def assertPlanted(self, waits):
        """Both sides leave a barrier at about the same time, never exactly: 10 ms on a busy machine. The median is
        close, no wait is far below, and one or two may be far above when the machine is taken away from us."""
        self.assertEqual(len(waits), MESSAGES)
        milliseconds = numpy.sort(waits) / 1e6
        self.assertGreater(milliseconds[0], SLEEP_NS / 1e6 - 10, milliseconds)
        self.assertAlmostEqual(float(numpy.median(milliseconds)), SLEEP_NS / 1e6, delta=8, msg=str(milliseconds))

    def assertNone(self, waits):
        """The other kind of wait is absent but for the spread of the barrier."""
        self.assertLess(float(numpy.median(waits)) / 1e6, 5, waits)

    @on_every_mpi
    def test_late_sender(self, mpi):
        rows, receiver = self.rows(mpi, "late_sender")
        self.assertPlanted(late_sender(rows))
        self.assertNone(late_receiver(rows))
        self.assertAlmostEqual(receiver["late_sender_s"], float(late_sender(rows).sum()) * 1e-9, delta=1e-5)

    @on_every_mpi
    def test_late_receiver(self, mpi):
        rows, receiver = self.rows(mpi, "late_receiver")
        self.assertPlanted(late_receiver(rows))
        self.assertNone(late_sender(rows))
        self.assertAlmostEqual(receiver["late_receiver_s"], float(late_receiver(rows).sum()) * 1e-9, delta=1e-5)


if __name__ == "__main__":
    harness.main()
