"""Single calls of a running job: what it tells of the newest seconds is, call by call, what the dump of the same run
has of that time; a call that does not return is there as long as it goes on.

Oracle: the dump, with --keep all.
Depends on: launcher."""
import harness
from harness import on_one_mpi

RANKS = 4


def in_ns(seconds):
    return round(seconds * 1e9)


def whole(calls):
    """Those that have returned: what they were, and between which moments."""
    return {(call["rank"], call["thread"], call["function"], in_ns(call["begin_s"]),
             in_ns(call["begin_s"]) + in_ns(call["duration_s"]), call["bytes"], call["peer"], call["site"])
            for call in calls if call["ending"] == "returned"}


class NewestCalls(harness.SystemTest):
    def check(self, mpi, *options):
        """Rank 0 and 2 sleep before they send, 1 and 3 before they receive: all have long calls."""
        path = self.box.directory / "run.h5"
        running = self.box.start_traced(RANKS, harness.program("call_sites", mpi), "1000000", "20000", self.box.until(),
                                        options=("--dump", path, "--keep", "all", *options))
        job = self.box.job_name(running)
        self.box.live_with_messages(job, running, at_least=20)
        live = self.box.json("inspect", job, "timeline", "--json")
        self.assertEqual(live["not_stored"], 0)
        of_some = self.box.json("inspect", job, "timeline", "--rank", "1", "--function", "MPI_Recv", "--json")
        text = self.box.answer("inspect", job, "timeline", "--sort", "duration", "--limit", "5")
        self.assertWorked(text)
        self.assertEqual(len(text.stdout.splitlines()), 6, str(text))
        self.assertIn("calls of the newest ", text.stderr)
        done = self.box.end(running)
        self.assertWorked(done)
        stored = self.box.json("inspect", path, "timeline", "--json")
        got, expected = whole(live["calls"]), whole(stored["calls"])
        first, last = min(call[4] for call in got), max(call[4] for call in got)
        self.assertGreater(last - first, 10 ** 9)
        self.assertEqual({call[0] for call in got}, set(range(RANKS)))
        self.assertEqual(len(got), len([c for c in live["calls"] if c["ending"] == "returned"]), "a call came twice")
        of_that_time = {call for call in expected if first <= call[4] <= last}
        lines = {call[:-1]: call[-1] for call in of_that_time}
        # A line may not be known yet: of several aggregators the others' lines come later. One that is told is right.
        as_told = {(*call[:-1], lines.get(call[:-1]) if call[-1] is None else call[-1]) for call in got}
        self.assertEqual((sorted(as_told - of_that_time)[:5], sorted(of_that_time - as_told)[:5]), ([], []))
        self.assertEqual(len(lines), len(of_that_time), "a call twice in the dump")
        self.assertTrue(any(call[2] == "MPI_Recv" and call[4] - call[3] >= 15 * 10 ** 6 for call in got))
        some = whole(of_some["calls"])
        self.assertEqual({(call[0], call[2]) for call in some}, {(1, "MPI_Recv")})
        self.assertEqual(sorted({call[:-1] for call in some} - {call[:-1] for call in expected})[:5], [])
        # A call that went on is one that the dump has with this begin.
        begun = {call[:4] for call in expected}
        for call in live["calls"]:
            if call["ending"] == "running":
                what = call["rank"], call["thread"], call["function"], in_ns(call["begin_s"])
                self.assertTrue(what in begun, str(call))

    @on_one_mpi("openmpi")
    def test_they_are_those_of_the_dump(self, mpi):
        self.check(mpi)

    def test_with_two_aggregators(self):
        self.check("openmpi", "--aggregators", "2")

    def test_without_a_dump_and_with_summaries_only(self):
        for options in ((), ("--dump", self.box.directory / "short.h5", "--keep", "summaries")):
            running = self.box.start_traced(RANKS, harness.program("call_sites", "openmpi"), "1000000", "20000",
                                            self.box.until(), options=options)
            job = self.box.job_name(running)
            self.box.live_with_messages(job, running, at_least=20)
            calls = self.box.json("inspect", job, "timeline", "--json")["calls"]
            self.assertEqual({call["rank"] for call in calls}, set(range(RANKS)))
            self.assertWorked(self.box.end(running))

    @on_one_mpi("mpich")
    def test_a_call_that_does_not_return(self, mpi):
        """Rank 0 computes, 1 waits for it, 2 for 1, 3 for 2."""
        path = self.box.directory / "run.h5"
        running = self.box.start_traced(RANKS, harness.program("deadlock", mpi), "slow_compute", "600", "20",
                                        self.box.until(), options=("--dump", path, "--keep", "all"))
        job = self.box.job_name(running)

        def waiting():
            calls = self.box.json("inspect", job, "timeline", "--json")["calls"]
            open_ones = {call["rank"]: call for call in calls if call["ending"] == "running"}
            return open_ones if sorted(open_ones) == [1, 2, 3] else None
        before = self.box.wait_for("three ranks that wait", waiting, running=running)
        after = self.box.wait_for("the same", waiting, running=running)
        for rank in (1, 2, 3):
            self.assertEqual(before[rank]["function"], "MPI_Recv")
            self.assertEqual(before[rank]["peer"], rank - 1)
            self.assertEqual(before[rank]["begin_s"], after[rank]["begin_s"])
        self.assertWorked(self.box.end(running))
        stored = {(call["rank"], call["function"], in_ns(call["begin_s"]))
                  for call in self.box.json("inspect", path, "timeline", "--json")["calls"]}
        for rank, call in before.items():
            self.assertIn((rank, "MPI_Recv", in_ns(call["begin_s"])), stored)


if __name__ == "__main__":
    harness.main()
