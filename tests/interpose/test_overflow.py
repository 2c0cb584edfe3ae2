"""A ring of 64 events and a consumer that is slow, stuck, dead or gone: the program runs on, and the loss is counted,
or the ring grows.
Depends on: launcher."""

import glob
import mmap
import os
import secrets
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import job

CAPACITY, ATTACHED, GONE = 64, 1, 2
HEAD, DROPPED, HELD_UP, TAIL, CONSUMER, CONSUMER_PID = 448, 456, 464, 640, 704, 708
LONG_MS = 60_000  # a wait that shall not be, or end before


class Consumer:
    """Maps the segment of rank 0 when it appears, as the aggregator does."""

    def __init__(self, token, growths=0):
        pattern = job.shm(token) + "0-0"
        deadline = time.monotonic() + job.PATIENCE
        bytes_in_all = 4096 + 64 * CAPACITY * (2 ** (growths + 1) - 1)
        while not (os.path.exists(pattern) and os.path.getsize(pattern) == bytes_in_all):
            assert time.monotonic() < deadline
            time.sleep(0.005)
        with open(pattern, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        while self.memory[:6] != b"PCLSEG" or struct.unpack_from("<I", self.memory, 512)[0] == 0:
            assert time.monotonic() < deadline
            time.sleep(0.001)
        self.events, self.tail = [], 0

    def number(self, offset):
        return struct.unpack_from("<Q", self.memory, offset)[0]

    def attach(self, pid, state=ATTACHED):
        struct.pack_into("<I", self.memory, CONSUMER_PID, pid)
        struct.pack_into("<I", self.memory, CONSUMER, state)

    def drain(self, limit=CAPACITY):
        segment = job.parse_live(self.memory, self.tail)
        self.events += [e for e in segment.events[:limit] if e.kind != "call_path"]
        self.tail += min(limit, len(segment.events))
        struct.pack_into("<Q", self.memory, TAIL, self.tail)


class Overflow(job.Test):
    mpi = None

    def burst(self, consume, first=1000, second=10, wait_ms=LONG_MS, growths=0, stacks=0, **variables):
        """Runs two bursts; `consume(consumer, directory)` decides what the consumer does. Returns (consumer,
        seconds)."""
        token, times = secrets.token_hex(16), []
        with tempfile.TemporaryDirectory() as directory:
            mark = lambda n: os.path.join(directory, str(n))
            command = [job.program("mischief", self.mpi), "bursts", directory, str(first), str(second)]
            result = []
            thread = threading.Thread(target=lambda: result.append(job.launch(
                self.mpi, 1, command, tools=0, token=token, PCLSCOPE_RING_EVENTS=CAPACITY,
                PCLSCOPE_RING_LIMIT=CAPACITY << growths, PCLSCOPE_OVERFLOW_WAIT_MS=wait_ms, PCLSCOPE_STACKS=stacks,
                **variables)))
            thread.start()
            consumer = Consumer(token, growths)
            consume(consumer, "attach")
            start = time.monotonic()
            open(mark(1), "w", encoding="utf-8").close()
            while not os.path.exists(mark(2)):
                self.assertTrue(thread.is_alive(), result)
                consume(consumer, "during")
                time.sleep(0.0005)
            times.append(time.monotonic() - start)
            consume(consumer, "between")
            open(mark(3), "w", encoding="utf-8").close()
            while thread.is_alive():
                consume(consumer, "after")
                time.sleep(0.002)
            thread.join()
        consume(consumer, "end")
        self.assertEqual(result[0].status, 0, result[0].err)
        self.assertEqual(glob.glob(f"/dev/shm/pclscope-{token}*"), [])
        ended = bool(consumer.events) and consumer.events[-1].kind == "finalize"
        job.numbering.check({0: consumer.events}, whole=ended)
        return consumer, times[0]

    def check_whole(self, events, count):
        sends = [e.ordinal for e in events if e.kind == "send"]
        done = [e.ordinal for e in events if e.kind == "recv_done"]
        self.assertEqual((sends, done), (list(range(count)), list(range(count))))
        self.assertEqual((events[0].kind, events[-1].kind), ("init", "finalize"))

    def test_a_slow_consumer_loses_nothing(self):
        def consume(consumer, moment):
            if moment == "attach":
                consumer.attach(os.getpid())
            consumer.drain()
        consumer, _ = self.burst(consume, stacks=8)
        self.assertEqual(consumer.number(DROPPED), 0)
        self.check_whole(consumer.events, 1010)

    def test_a_stuck_consumer_costs_one_wait_and_the_loss_is_told(self):
        def consume(consumer, moment):
            if moment == "attach":
                consumer.attach(os.getpid())
                consumer.drain()
            if moment in ("between", "after", "end"):
                consumer.drain()
        consumer, seconds = self.burst(consume, wait_ms=1000)
        self.assertGreater(seconds, 0.9)
        self.assertGreaterEqual(consumer.number(HELD_UP), 1e9)
        self.assertLess(seconds, 180)  # the burst takes milliseconds of a core; a wait per event would be half an hour
        kinds = [e.kind for e in consumer.events]
        self.assertEqual(kinds[:65], ["init"] + ["send", "recv_done"] * 32)
        lost, receives, sends, number = consumer.events[65:69]
        self.assertEqual((lost.kind, lost.ordinal, lost.flags), ("lost", 2000 - 64, {"summarised"}))
        self.assertEqual(consumer.number(DROPPED), lost.ordinal)
        # Send 32 had a number when there was no room; the 967 others, and all 968 receives, took none.
        self.assertEqual((number.kind, number.ordinal, number.bytes, number.flags), ("lost_number", 32, 1, set()))
        self.assertEqual((sends.kind, sends.begin, sends.end, sends.bytes), ("unrecorded_sends", 32, 33, 968))
        self.assertEqual((receives.kind, receives.bytes), ("unrecorded_receives", 968))
        self.assertEqual(kinds[70:], ["send", "recv_done"] * 10 + ["finalize"])
        self.assertEqual(consumer.events[70].ordinal, 33)

    def test_the_policy_drop_never_waits(self):
        def consume(consumer, moment):
            if moment == "attach":
                consumer.attach(os.getpid())
        # MPI_Finalize does wait. The burst takes some 5 ms of a core: also with 20 others on two cores, who let it have
        # one after 100 ms at the latest, it is over long before.
        wait_ms = 15_000
        consumer, seconds = self.burst(consume, wait_ms=wait_ms, PCLSCOPE_OVERFLOW="drop")
        self.assertLess(seconds, wait_ms / 1000)
        summary = 4  # not written either: lost, a channel each of sends and receives, the number of receive 31
        self.assertEqual(consumer.number(DROPPED), 1 + 2 * 1010 + 1 - CAPACITY + summary)

    def test_a_stuck_consumer_costs_nothing_while_the_ring_may_grow(self):
        def consume(consumer, moment):
            if moment == "attach":
                consumer.attach(os.getpid())
            if moment == "end":
                consumer.drain(2 * 1010 + 2)
        consumer, _ = self.burst(consume, growths=8)
        self.assertEqual((consumer.number(DROPPED), consumer.number(HELD_UP)), (0, 0))
        self.check_whole(consumer.events, 1010)
        # Each ring until it is half full.
        self.assertEqual(job.begins(consumer.memory), [0, 32, 96, 224, 480, 992, 2016])

    def test_a_ring_grows_while_it_is_read(self):
        def consume(consumer, moment):
            if moment == "attach":
                consumer.attach(os.getpid())
            consumer.drain(7)
            if moment == "end":
                consumer.drain(2 * 1010 + 99)  # with what tells call paths
        consumer, _ = self.burst(consume, growths=8, stacks=8)
        self.assertEqual(consumer.number(DROPPED), 0)
        self.check_whole(consumer.events, 1010)

    def test_a_ring_grows_as_far_as_it_may(self):
        def consume(consumer, moment):
            if moment == "attach":
                consumer.attach(os.getpid())
        consumer, _ = self.burst(consume, growths=2, PCLSCOPE_OVERFLOW="drop", wait_ms=0)
        self.assertEqual(job.begins(consumer.memory), [0, 32, 96])
        self.assertEqual(consumer.number(HEAD), 96 + 256)

    def test_a_dead_consumer_is_noticed_and_recording_stops(self):
        with subprocess.Popen([sys.executable, "-c", ""]) as gone:
            gone.wait()
            consumer, seconds = self.burst(lambda c, moment: moment == "attach" and c.attach(gone.pid))
        self.assertLess(seconds, LONG_MS / 1000)
        self.assertEqual(consumer.number(HEAD), CAPACITY)

    def test_a_consumer_that_left_is_noticed_while_waiting(self):
        def consume(consumer, moment):
            if moment == "attach":
                consumer.attach(os.getpid())
            if moment == "during":
                time.sleep(0.05)  # the program mostly waits by then; if it does not, it never has to
                consumer.attach(os.getpid(), GONE)
        consumer, seconds = self.burst(consume)
        self.assertLess(seconds, LONG_MS / 1000)
        self.assertEqual(consumer.number(HEAD), CAPACITY)


def load_tests(loader, _tests, _pattern):
    suite = unittest.TestSuite()
    for mpi in job.mpis():
        suite.addTests(loader.loadTestsFromTestCase(type(f"Overflow_{mpi}", (Overflow,), {"mpi": mpi})))
    return suite


if __name__ == "__main__":
    job.checks.main()
