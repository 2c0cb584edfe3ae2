"""The rarer parts of MPI: each program of long_tail/ answers as without pclscope, and its events are those on paper.
Depends on: launcher."""

import collections
import concurrent.futures
import os
import tempfile
import unittest

import job
from job import ANY_SOURCE, ANY_TAG

INT, WORLD, SELF, NOT_IN_THIS_MPI = 4, 1, 2, 77
# Programs that find each other do so by TCP; a network of its own (tests/apart) has this interface only.
TCP = {"OMPI_MCA_btl_tcp_if_include": "lo"}


class LongTail(job.Test):
    mpi = None

    def pair(self, ranks, command, alone=False, tools=1, **variables):
        """A bare launch, and what gives the recorded one. Under Open MPI they run side by side, as most of their time
        is start-up, unless `alone`; MPICH's ranks spin and would only hinder each other."""
        def recorded():
            return job.launch(self.mpi, ranks, command, tools=tools, **variables)
        if alone or self.mpi != "openmpi":
            return self.bare(ranks, command, **variables), recorded
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own, \
                concurrent.futures.ThreadPoolExecutor(1) as pool:
            ahead = pool.submit(recorded)
            # Its files elsewhere: two at a time must not tidy up each other's.
            first = self.bare(ranks, command, TMPDIR=own, **variables)
        return first, ahead.result

    def ends_alike(self, ranks, command, end, tools):
        """assertEndsAlike of an end that is chance."""
        ahead = []

        def bare():
            first, recorded = self.pair(ranks, command, tools=tools)
            ahead[:] = [recorded]
            return first

        def traced():
            if ahead:
                return ahead.pop()()
            return job.launch(self.mpi, ranks, command, tools=tools)
        return self.assertEndsAlike(bare, traced, end, is_chance=True)

    def run_both(self, name, ranks, *arguments, tools=1, status=0, alone=False):
        """Bare and recorded with a hidden tool rank: the same status and output. Returns the recorded one."""
        command = [job.program(name, self.mpi), *arguments]

        def end(result):  # another status than this one is the launcher's chance
            return tuple(sorted(result.out.partition("\n=====")[0].splitlines())) if result.status == status else None
        if status == 0:
            first, recorded = self.pair(ranks, command, alone, tools)
            if first.status == NOT_IN_THIS_MPI:
                self.skipTest(f"{name} needs MPI 4")
            self.assertEqual(first.status, 0, first.err)
            traced = recorded()
            self.assertEqual(traced.status, 0, traced.err)
            self.assertEqual(end(traced), end(first))
        else:
            traced = self.ends_alike(ranks, command, end, tools)
        self.assertEqual(sum(s.dropped for s in traced.segments), 0)
        return traced

    def bare(self, ranks, command, **variables):
        return self.unless_hung(lambda: job.launch(self.mpi, ranks, command, tools=0, preload=False, job=False,
                                                   **variables))

    def events(self, result, ranks, *kinds):
        self.assertEqual([s.rank for s in result.segments], list(range(ranks)))
        return [[e for e in s.events if e.kind in kinds] for s in result.segments]

    def test_one_sided(self):
        result = self.run_both("one_sided", 4)
        for rank, events in enumerate(self.events(result, 4, "rma", "rma_sync")):
            right, left = (rank + 1) % 4, (rank + 3) % 4
            reversed_id = next(e.comm for e in result.segments[rank].events if e.kind == "comm_created")
            making = ("Win_create", "Win_allocate", "Win_free")
            seen = [(e.function, e.comm, e.peer, e.bytes // INT) for e in events
                    if not e.function.startswith(("Win_test", *making))]
            fence = ("Win_fence", WORLD, ANY_SOURCE, 0)
            sync = lambda name, peer=ANY_SOURCE, comm=WORLD: (name, comm, peer, 0)
            paper = [fence, ("Put", WORLD, right, 2), ("Accumulate", WORLD, 0, 1), fence,
                     ("Get", WORLD, left, 2), fence]
            # In the reversed communicator the next rank is the one before in the world.
            paper += [sync("Win_lock", left, reversed_id), ("Fetch_and_op", reversed_id, left, 1),
                      sync("Win_flush", left, reversed_id), ("Compare_and_swap", reversed_id, left, 1),
                      sync("Win_flush_local", left, reversed_id), ("Get_accumulate", reversed_id, left, 1),
                      sync("Win_unlock", left, reversed_id), sync("Win_lock", rank, reversed_id),
                      sync("Win_sync", comm=reversed_id), sync("Win_unlock", rank, reversed_id)]
            paper += [sync("Win_lock_all"), ("Rput", WORLD, right, 3), sync("Win_flush_all"), ("Rget", WORLD, right, 3),
                      ("Raccumulate", WORLD, right, 1), sync("Win_flush_local_all"), sync("Win_flush", right),
                      ("Rget_accumulate", WORLD, right, 1), sync("Win_unlock_all"), sync("Win_lock_all"),
                      sync("Win_sync"), sync("Win_unlock_all")]
            paper += [[sync("Win_start", right), ("Put", WORLD, right, 1), sync("Win_complete")],
                      [sync("Win_post", left), sync("Win_wait")],
                      [sync("Win_start", right), ("Put", WORLD, right, 1), sync("Win_complete")],
                      [sync("Win_post", left)]][rank]
            paper += 2 * [fence, ("Put", WORLD, right, 1), fence]
            self.assertEqual(seen, paper)
            self.assertEqual(sum(e.function == "Win_test" for e in events), 1 if rank == 3 else 0)
            for e in events:
                self.assertEqual(e.kind == "rma_sync", e.function.startswith("Win_"))
                self.assertEqual("nonblocking" in e.flags, e.function[:2] in ("Rp", "Rg", "Ra"))
                self.assertLessEqual(e.begin, e.end)
            windows = [e for s in [result.segments[rank]] for e in s.events if e.function.startswith(making)]
            self.assertEqual([(e.function, e.comm) for e in windows],
                             [("Win_allocate", WORLD), ("Win_free", WORLD), ("Win_create", reversed_id),
                              ("Win_free", reversed_id), ("Win_create", WORLD), ("Win_free", WORLD),
                              ("Win_create_dynamic", WORLD), ("Win_free", WORLD), ("Win_allocate_shared", WORLD),
                              ("Win_free", WORLD)])

    def test_mpi_io(self):
        with tempfile.TemporaryDirectory() as directory:
            result = self.run_both("mpi_io", 2, os.path.join(directory, "data"), alone=True)  # both write that file
        data = [("File_open", 0), ("File_set_view", 0), ("File_write_at_all", 4), ("File_write", 2), ("File_sync", 0),
                ("File_read_at", 4), ("File_iread_at", 4), ("File_iwrite_at_all", 4), ("File_read_all_begin", 2),
                ("File_read_all_end", 0), ("File_seek_shared", 0), ("File_write_ordered", 1), ("File_close", 0)]
        shared = [(name, WORLD, size) for name, size in data]
        alone = [("File_open", SELF, 0), ("File_read", SELF, 1), ("File_close", SELF, 0), ("File_delete", 0, 0)]
        for rank, events in enumerate(self.events(result, 2, "file")):
            self.assertEqual([(e.function, e.comm, e.bytes // INT) for e in events],
                             shared + (alone if rank == 0 else []))
            self.assertEqual([e.function for e in events if "nonblocking" in e.flags],
                             ["File_iread_at", "File_iwrite_at_all"])
            # What the MPI library does inside is not counted: these are all the events there are.
            kinds = collections.Counter(e.kind for e in result.segments[rank].events)
            self.assertEqual(kinds, {"init": 1, "finalize": 1, "file": len(events), "collective": 2, "call": 2})

    def test_persistent_collectives(self):
        result = self.run_both("persistent_collectives", 2)
        for rank, events in enumerate(self.events(result, 2, "collective")):
            seen = [(e.function, e.ordinal, e.peer, e.bytes) for e in events if e.comm == WORLD]
            root = (lambda n: ("Bcast_init", n, 1, 4 if rank == 1 else 0))
            everyone = (lambda n: ("Allreduce_init", n, ANY_SOURCE, 4))
            barrier = (lambda n: ("Barrier", n, ANY_SOURCE, 0))
            self.assertEqual(seen, [root(1), everyone(0), barrier(2), root(4), everyone(3), barrier(5),
                                    everyone(6), root(7), barrier(8)])
            for e in events:
                self.assertEqual("persistent" in e.flags, e.function.endswith("_init"))
            self.assertEqual([(e.function, e.ordinal) for e in events if e.comm != WORLD], [("Barrier_init", 0)])
            starts = [e for e in result.segments[rank].events if e.function in ("Start", "Startall")]
            self.assertEqual(starts, [])  # the collective's own event covers the start
            made = [e for e in result.segments[rank].events if e.kind == "call" and e.function.endswith("_init")]
            self.assertEqual([e.function for e in made],
                             ["Allreduce_init", "Bcast_init", "Barrier_init", "Barrier_init"])

    def test_partitioned(self):
        result = self.run_both("partitioned", 2)
        channels = []
        for rank, events in enumerate(self.events(result, 2, "comm_created", "send", "recv_post", "recv_done")):
            made = [e for e in events if e.kind == "comm_created"]
            self.assertEqual([(e.ordinal, e.bytes) for e in made], 4 * [(WORLD, 2)])
            channels.append([e.comm for e in made])
            for k, comm in enumerate(channels[rank]):
                sends = k // 2 == rank
                mine = [e for e in events if e.comm == comm and e.kind != "comm_created"]
                self.assertEqual([e.kind for e in mine], 3 * (["send"] if sends else ["recv_post", "recv_done"]))
                for e in mine:
                    self.assertEqual((e.peer, e.tag, e.bytes), (1 - rank, 7, 0 if e.kind == "recv_post" else 32))
                    self.assertLessEqual({"persistent", "partitioned"}, e.flags)
        self.assertEqual(channels[0], channels[1])  # the same ids in the same order on both sides
        self.assertEqual(len(set(channels[0])), 4)

    def test_isendrecv(self):
        """MPICH's statuses of these tell nothing: sizes are left open, and a wildcard's message is not guessed."""
        result = self.run_both("isendrecv", 2)
        untold = (1 << 64) - 1
        for rank, events in enumerate(self.events(result, 2, "send", "recv_post", "recv_done", "recv_freed")):
            other = 1 - rank
            mine = [e for e in events if e.tag != 70]
            posts = [(e.peer, e.tag) for e in mine if e.kind == "recv_post"]
            self.assertEqual(posts, [(other, 10 + other), (other, 20), (ANY_SOURCE, ANY_TAG)])
            ends = [(e.kind, e.peer, e.tag, e.bytes) for e in mine if e.kind in ("recv_done", "recv_freed")]
            told = self.mpi != "mpich"
            self.assertEqual(ends, [("recv_done", other, 10 + other, 40 if told else untold),
                                    ("recv_done", other, 20, 24 if told else untold),
                                    ("recv_done", other, 30, 16) if told else ("recv_freed", ANY_SOURCE, ANY_TAG, 0)])
            self.assertEqual([(e.tag, e.bytes) for e in mine if e.kind == "send"],
                             [(10 + rank, 40), (20, 24), (30, 16)])

    def check_pairs(self, result, ranks, expected):
        """Every send has its receive: numbers per (comm, from, to) agree on both sides. `expected`: {rank: sends}."""
        sent, received = collections.Counter(), collections.Counter()
        for rank, events in enumerate(self.events(result, ranks, "send", "recv_done")):
            for e in events:
                key = (e.comm, rank, e.peer) if e.kind == "send" else (e.comm, e.peer, rank)
                (sent if e.kind == "send" else received)[key] += 1
                self.assertNotIn("unordered", e.flags)
        self.assertEqual(sent, received)
        self.assertEqual([sum(n for (_, source, _), n in sent.items() if source == r) for r in range(ranks)], expected)

    def test_sessions_only(self):
        result = self.run_both("sessions", 4, "only")
        self.check_pairs(result, 4, [2, 2, 2, 2])
        for segment in result.segments:
            self.assertEqual((segment.events[0].kind, segment.events[0].function), ("init", "Session_init"))
            self.assertEqual((segment.events[-1].kind, segment.events[-1].function), ("finalize", "Session_finalize"))
            made = [e for e in segment.events if e.kind == "comm_created"]
            self.assertEqual([e.bytes for e in made], [4, 2])
        self.assertEqual((result.board["initializing"], result.board["finalizing"]), (4, 4))

    def test_sessions_around_the_world(self):
        result = self.run_both("sessions", 4, "both")
        self.check_pairs(result, 4, [5, 5, 5, 5])
        for segment in result.segments:
            self.assertEqual([e.function for e in segment.events if e.kind in ("init", "finalize")],
                             ["Session_init", "Session_finalize"])
            self.assertEqual(len([e for e in segment.events if e.kind == "send" and e.comm == WORLD]), 1)
        self.assertEqual((result.board["initializing"], result.board["finalizing"]), (4, 4))

    def assertSaid(self, words, result, run):
        """Launchers kill the job at once and lose what it said in one of some ten runs, and in more on a busy machine:
        it may say it again, 20 times."""
        for _ in range(20):
            if words.lower() in result.err.lower():
                return
            result = run()
        self.fail(f"never said {words!r}: {result.err}")

    @staticmethod
    def or_again(first, run):
        try:
            return first()
        except job.checks.Hung as told:
            print(f"once more: {told}", flush=True)
            return run()

    def both_fail(self, command, words, **variables):
        """Which rank's status the launcher tells is chance, and whether it tells their words."""
        runs = [lambda: self.bare(2, command, **variables),
                lambda: self.unless_hung(lambda: job.launch(self.mpi, 2, command, **variables))]
        first, recorded = self.pair(2, command, **variables)
        for run, result in zip(runs, (first, self.or_again(recorded, runs[1]))):
            self.assertNotEqual(result.status, 0)
            self.assertSaid(words, result, run)

    def test_spawned_and_connected_programs(self):
        for how in ("spawn", "multiple", "connect", "join"):
            with self.subTest(how=how):
                command = [job.program("spawn", self.mpi), how]
                bare = self.bare(2, command, **TCP)
                if bare.status != 0:  # MPICH over UCX can neither spawn nor connect: it says so and aborts
                    self.both_fail(command, "Fatal error in internal_", **TCP)
                    continue
                traced = job.launch(self.mpi, 2, command, **TCP)
                self.assertEqual((bare.status, bare.out), (traced.status, traced.out), traced.err)
                self.assertEqual((traced.board["initializing"], traced.board["finalizing"]), (2, 2))
                for rank, events in enumerate(self.events(traced, 2, "comm_created", "send", "recv_done")):
                    made = [e for e in events if e.kind == "comm_created" and "foreign" in e.flags]
                    self.assertEqual(len(made), 1 if how.startswith(("s", "m")) else 0, rank)
                    messages = [e for e in events if e.kind != "comm_created" and e.function != "Sendrecv"]
                    self.assertTrue(all("foreign" in e.flags for e in messages))

    def test_generalized_requests(self):
        result = self.run_both("grequest", 2)
        self.check_pairs(result, 2, [1, 1])
        for events in self.events(result, 2, "call"):
            self.assertEqual([(e.function, e.ordinal) for e in events],
                             [("Wait", 1), ("Waitall", 3), ("Test", 1), ("Wait", 1)])

    def test_errors_that_return(self):
        result = self.run_both("errors_return", 2)
        for rank, events in enumerate(self.events(result, 2, "send", "recv_done", "collective")):
            ends = collections.Counter((e.kind, e.function) for e in events)
            self.assertEqual(ends, {("send", "Sendrecv"): 4, ("recv_done", "Sendrecv"): 4, ("send", "Isend"): 2,
                                    ("recv_done", "Recv"): 2, ("collective", "Bcast"): 4})
            bcasts = [e.ordinal for e in events if e.kind == "collective" and e.comm == WORLD]
            self.assertEqual(bcasts, [0, 1], f"rank {rank}: refused collectives take no numbers")
            self.assertTrue(all("truncated" in e.flags for e in events if e.function == "Recv"))

    def test_callbacks_see_the_world(self):
        self.run_both("callbacks", 2)

    def test_questions_before_and_after(self):
        result = self.run_both("endings", 2, "questions")
        self.assertEqual([[e.kind for e in s.events] for s in result.segments], 2 * [["init", "finalize"]])

    def test_status_after_finalize_is_the_programs(self):
        for status in (0, 3):
            self.run_both("endings", 2, "finalize_then", str(status), status=status)

    def test_abort_keeps_its_code(self):
        for how in ("abort", "abort_self"):
            self.run_both("endings", 2, how, "5", tools=0, status=5)

    def test_errors_that_are_fatal_end_the_job(self):
        for how in ("fatal", "fatal_asked", "fatal_again"):
            with self.subTest(how=how):
                self.both_fail([job.program("endings", self.mpi), how], "invalid rank")

    def test_ends_without_finalize(self):
        """Whatever the launcher makes of it: the same status and standard output as bare."""
        for how in (["exit", "0"], ["exit", "4"], ["return", "6"], ["too_early"], ["too_late"],
                    ["init_twice"]):
            with self.subTest(how=how):
                def end(result):
                    self.assertNotIn("pclscope", result.err)
                    return job.end(result)
                self.ends_alike(2, [job.program("endings", self.mpi), *how], end, tools=0)


def load_tests(loader, _tests, _pattern):
    suite = unittest.TestSuite()
    for mpi in job.mpis():
        suite.addTests(loader.loadTestsFromTestCase(type(f"LongTail_{mpi}", (LongTail,), {"mpi": mpi})))
    return suite


if __name__ == "__main__":
    job.checks.main()
