"""MPI_THREAD_MULTIPLE: every send and receive of threads.c has one number, ends once, and knows with how many others it
ran at once. Depends on: launcher."""

import collections
import unittest

import job
from job import NUMBER

SHARED, LARGEST, THREADS = 99, 500, 3
NOBODY = -2  # MPI_PROC_NULL


def number(event):
    return event.ordinal & NUMBER


def meanwhile(event):
    return event.ordinal >> 40


class Threads(job.Test):
    mpi = None

    def observe(self, count, *words):
        result = job.launch(self.mpi, 2, [job.program("threads", self.mpi), str(THREADS), str(count), *words], tools=0,
                            PCLSCOPE_CLOCK="monotonic")
        self.assertEqual(result.status, 0, result.err)
        if "single" in result.out:
            self.skipTest("this MPI has no MPI_THREAD_MULTIPLE")
        return [[(s.thread, e) for s in result.segments if s.rank == rank for e in s.events] for rank in (0, 1)]

    def lost(self, events, receives):
        return [n for _, e in events if e.kind == "lost_number" and ("of_receives" in e.flags) == receives
                for n in range(e.ordinal, e.ordinal + e.bytes)]

    def check_numbers_of_sends(self, events):
        sends = [number(e) for _, e in events if e.kind == "send"] + self.lost(events, False)
        self.assertEqual(sorted(sends), list(range(len(sends))))

    def check_numbers_of_receives(self, events):
        posts, ends = collections.defaultdict(list), collections.Counter()
        for _, e in events:
            if e.kind == "recv_post":
                posts[number(e)].append(e)
            if e.kind in ("recv_done", "recv_cancelled"):
                ends[number(e)] += 1
            if e.kind == "recv_done" and e.peer != NOBODY:
                self.assertIn("posted", e.flags)
        lost = self.lost(events, True)
        self.assertEqual(sorted(set(posts) | set(ends) | set(lost)),
                         list(range(len(set(posts) | set(ends) | set(lost)))))
        for n, group in posts.items():
            entered = ["entered" in e.flags for e in group]
            self.assertEqual(ends[n], 1)
            # A blocking matched probe has two: that it began, and what it took.
            self.assertIn(entered, ([False], [True], [True, False], [False, True]))
            if len(group) == 2:
                self.assertTrue(any("matched_probe" in e.flags for e in group))
        for n, count in ends.items():
            self.assertEqual(count, 1)
            if n not in posts:  # a probe that found nothing, or a receive from nobody
                self.assertTrue(any((e.kind == "recv_cancelled" and "failed" in e.flags) or
                                    (e.kind == "recv_done" and e.peer == NOBODY)
                                    for _, e in events if number(e) == n))

    def check_own_channels(self, events, kind):
        """The order of a thread's own channel is that of the numbers, whatever other threads did."""
        for tag in range(THREADS):
            own = sorted((number(e), e.bytes) for _, e in events if e.kind == kind and e.tag == tag and e.comm != 1)
            self.assertEqual([size for _, size in own], [1 + k % LARGEST for k in range(len(own))])
            self.assertGreater(len(own), 0)

    def check_overlaps(self, calls):
        """One that began and ended during another is within its count; nobody is who began long after it: but for the
        few calls whose thread lost its core between its last look at the clock and its last look at the numbers. These
        are 100 ns of some microseconds, of 1800 calls, and on a busy machine a thread loses its core every 3 ms or so:
        one call in a run now and then, never one in a hundred."""
        calls = sorted(calls, key=number)
        numbers = [number(e) for e in calls]
        overlapping, late = 0, set()
        for i, a in enumerate(calls):
            last = number(a) + meanwhile(a)
            for b in calls[i + 1:i + 200]:
                if number(b) <= last:
                    overlapping += 1
                    if b.begin > a.end + 20_000_000:
                        late.add(i)
                else:
                    self.assertGreaterEqual(b.end, a.end, (a, b))
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertLessEqual(len(late), len(calls) // 100)
        return overlapping

    def numbers_and_counts(self, count):
        sender, receiver = self.observe(count)
        self.assertEqual(len([1 for _, e in sender if e.kind == "send"]), 3 * THREADS * count)
        received = [e for _, e in receiver if e.kind == "recv_done"]
        self.assertEqual(len([e for e in received if e.peer != NOBODY]), 3 * THREADS * count)
        # A matched probe of nobody and the receive of its message have one number each; Improbe gives its own back.
        self.assertEqual(len([e for e in received if e.peer == NOBODY]), THREADS * (count // 10 + count // 20))
        self.check_numbers_of_sends(sender)
        self.check_numbers_of_receives(receiver)
        self.check_own_channels(sender, "send")
        self.check_own_channels(receiver, "recv_done")
        sends = self.check_overlaps([e for _, e in sender if e.kind == "send"])
        # Mrecv has the number of its probe, which ended before.
        receives = self.check_overlaps([e for _, e in receiver if e.kind == "recv_done" and
                                        "nonblocking" not in e.flags and e.function != "Mrecv"])
        print(f"{self.mpi}: overlapping pairs of sends {sends}, of receives {receives}")
        self.assertEqual([e for _, e in sender + receiver if e.kind in ("lost", "recv_freed")], [])
        return receives

    def test_numbers_and_counts(self):
        """Whether calls overlap is chance: in one of some runs they do."""
        self.assertTrue(any(self.numbers_and_counts(200) > 0 for _ in range(10)))

    def test_switched_off_and_on_by_one_thread(self):
        count = 200
        sender, receiver = self.observe(count, "control")
        for events, kind, sums in ((sender, "send", "unrecorded_sends"),
                                   (receiver, "recv_done", "unrecorded_receives")):
            found = collections.Counter()
            for _, e in events:
                self.assertFalse(e.kind == "lost" and "summarised" not in e.flags)
                if e.kind == kind and e.peer != NOBODY:
                    found[e.comm, e.tag] += 1
                if e.kind == sums:
                    self.assertLessEqual(e.begin, e.end)
                    found[e.comm, e.tag] += e.bytes
            self.assertEqual(found.pop((1, SHARED)), 2 * THREADS * count, kind)
            self.assertEqual(sorted(found.values()), [count] * THREADS)
            self.assertGreater(sum(e.bytes for _, e in events if e.kind == sums), THREADS * count // 10)
        self.check_numbers_of_sends(sender)


def load_tests(loader, _tests, _pattern):
    suite = unittest.TestSuite()
    for mpi in job.mpis():
        suite.addTests(loader.loadTestsFromTestCase(type(f"Threads_{mpi}", (Threads,), {"mpi": mpi})))
    return suite


if __name__ == "__main__":
    job.checks.main()
