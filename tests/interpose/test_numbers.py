"""Every send, receive and collective of numbers.c is in the record under a number of its own, whatever way its call
ended. And the check itself (numbering.py) finds what is wrong with a record. Depends on: launcher."""

import unittest

import job
import numbering


def event(kind, ordinal, *flags, comm=1, count=0):
    return job.Event(0, 0, 0, comm, count, ordinal, 1, 0, kind, "?", set(flags))


class Check(job.Test):
    GOOD = [event("send", 0), event("send", 1), event("recv_post", 0), event("recv_done", 0, "posted"),
            event("recv_done", 1), event("recv_post", 2, "entered"), event("recv_post", 2, "matched_probe"),
            event("recv_cancelled", 3, "failed"), event("recv_post", 4), event("recv_freed", 4),
            event("recv_done", 2, "posted"), event("lost_number", 5, "of_receives", count=3), event("recv_post", 8),
            event("lost_number", 2, count=2), event("send", 4 | 7 << 40), event("collective", 0),
            event("collective", 1)]

    def problems(self, events, **how):
        return numbering.problems_of(numbering.Process(events), **how)

    def test_a_right_record_has_no_problems(self):
        self.assertEqual(self.problems(self.GOOD), [])
        self.assertEqual(numbering.Process(self.GOOD).open_receives(), [8])

    def test_whatever_is_missing_is_found(self):
        last = {4 | 7 << 40, 8}  # nobody can know of the last ones; nor of the ends of receives
        harmless = [event("recv_post", 2, "matched_probe"), event("recv_post", 2, "entered"), event("collective", 1),
                    event("recv_done", 0, "posted"), event("recv_done", 2, "posted"), event("recv_freed", 4)]
        for i, gone in enumerate(self.GOOD):
            if gone.ordinal in last or gone in harmless:
                continue
            rest = self.GOOD[:i] + self.GOOD[i + 1:]
            self.assertEqual(len(self.problems(rest)), 1, (gone, self.problems(rest)))
            if gone.kind in ("send", "lost_number", "collective"):
                self.assertEqual(self.problems(rest, whole=False), [])

    def test_whatever_comes_twice_is_found(self):
        for again in self.GOOD:
            self.assertTrue(self.problems(self.GOOD + [again]), again)

    def test_the_message_is_short(self):
        with self.assertRaises(AssertionError) as found:
            numbering.check({3: [event("send", 10_000_000), event("send", 10_000_000)]})
        self.assertEqual(str(found.exception), "numbers in the record:\nrank 3: numbers of sends used twice: 10000000\n"
                         "rank 3: numbers of sends missing: 0, 1, 2, 3, 4 and 9999995 more of 10000001")


class Numbers(job.Test):
    mpi = None

    def observe(self, threads, seed):
        """launch() checks the numbers."""
        result = job.launch(self.mpi, 2, [job.program("numbers", self.mpi), threads, str(seed)], tools=0)
        self.assertEqual(result.status, 0, result.err)
        if "no threads" in result.out:
            self.skipTest("this MPI has no MPI_THREAD_MULTIPLE")
        self.assertEqual(result.out, "numbers: right\n")
        ranks = [[e for s in result.segments if s.rank == rank for e in s.events] for rank in (0, 1)]
        for rank, events in enumerate(ranks):
            self.assertEqual([e for e in events if e.kind == "lost" and "summarised" not in e.flags], [])
            process = numbering.Process(events)
            self.assertEqual(process.open_receives(), [], f"receives of rank {rank} that never ended")
        return ranks

    def check_messages(self, ranks):
        """Whatever was sent arrived, channel by channel, recorded or not."""
        sent, received = {}, {}

        def count(found, key, number):
            found[key] = found.get(key, 0) + number
        for rank, events in enumerate(ranks):
            posted = {e.ordinal & job.NUMBER: e for e in events if e.kind == "recv_post"}
            for e in events:
                if e.peer < 0 and e.kind != "recv_freed":
                    continue
                if e.kind == "send" and "failed" not in e.flags:
                    count(sent, (e.comm, rank, e.peer, e.tag), 1)
                elif e.kind == "unrecorded_sends":
                    count(sent, (e.comm, rank, e.peer, e.tag), e.bytes)
                elif e.kind == "recv_done":
                    count(received, (e.comm, e.peer, rank, e.tag), 1)
                elif e.kind == "unrecorded_receives":
                    count(received, (e.comm, e.peer, rank, e.tag), e.bytes)
                elif e.kind == "recv_freed" and posted[e.ordinal & job.NUMBER].peer >= 0:
                    count(received, (e.comm, e.peer, rank, e.tag), 1)
        return sent, received

    def run_one(self, threads, seed):
        with self.subTest(threads=threads, seed=seed):
            ranks = self.observe(threads, seed)
            sent, received = self.check_messages(ranks)
            tags = {"mpich": {8}}.get(self.mpi, set())  # of an Isendrecv from anybody nobody knows what it received
            self.assertSame({k: n for k, n in received.items() if k[3] not in tags},
                            {k: n for k, n in sent.items() if k[3] not in tags})

    def test_recorded_throughout(self):
        for threads in ("single", "multiple"):
            self.run_one(threads, 0)

    def test_two_threads_at_once(self):
        for _ in range(job.thinned(10, 3)):
            self.run_one("both", 0)

    def test_switched_off_and_on(self):
        for seed in self.seeds_or(*range(1, job.thinned(12, 4))):
            for threads in ("single", "multiple", "both"):
                self.run_one(threads, seed)


def load_tests(loader, _tests, _pattern):
    suite = loader.loadTestsFromTestCase(Check)
    for mpi in job.mpis():
        suite.addTests(loader.loadTestsFromTestCase(type(f"Numbers_{mpi}", (Numbers,), {"mpi": mpi})))
    return suite


if __name__ == "__main__":
    job.checks.main()
