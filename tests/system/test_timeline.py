"""Single MPI calls in the dump: those that were made, no more and no less, in order, and what they waited for.
Depends on: launcher, time."""
import csv
import io
import os
import signal

import dump
import harness
import numpy
from harness import on_one_mpi

ITERATIONS = 32


def counts_of(calls):
    """{(rank, function): how many}"""
    names = dump.function_names()
    counts = {}
    for rank, function in zip(calls["rank"].tolist(), calls["function"].tolist()):
        key = rank, "MPI_" + names[function]
        counts[key] = counts.get(key, 0) + 1
    return counts


class Timeline(harness.SystemTest):
    def run_program(self, mpi, ranks, name, *arguments, keep="all"):
        path = self.box.directory / f"{name}-{mpi}.h5"
        self.assertWorked(self.box.traced(ranks, harness.program(name, mpi), *arguments,
                                          options=("--dump", path, "--keep", keep)))
        return path

    def assertInOrder(self, calls):
        """Of each thread: one after the other, and the time between them is as stored."""
        for rank, thread in {*zip(calls["rank"].tolist(), calls["thread"].tolist())}:
            here = (calls["rank"] == rank) & (calls["thread"] == thread)
            own = numpy.lexsort((calls["end"][here], calls["begin"][here]))
            begin, end, outside, ending = (calls[name][here][own] for name in ("begin", "end", "outside", "ending"))
            self.assertTrue((end >= begin).all())
            self.assertTrue((begin[1:] >= end[:-1]).all(), (rank, thread))
            returned = ending == 0
            before = numpy.concatenate([[-1], begin[returned][1:] - end[returned][:-1]])
            # Ticks become nanoseconds one by one.
            self.assertLessEqual(int(numpy.abs(outside[returned] - before).max()), 1, (rank, thread))

    @on_one_mpi("openmpi")
    def test_calls_as_on_paper(self, mpi):
        path = self.run_program(mpi, 4, "ring", str(ITERATIONS))
        calls = dump.read_calls(path)
        self.assertInOrder(calls)
        counts = counts_of(calls)
        for rank in range(4):
            for function, count in (("MPI_Init", 1), ("MPI_Finalize", 1), ("MPI_Send", ITERATIONS),
                                    ("MPI_Recv", ITERATIONS)):
                self.assertEqual(counts.pop((rank, function)), count, (rank, function))
        self.assertEqual(counts, {})
        names = dump.function_names()
        of = numpy.array([names[function] for function in calls["function"].tolist()])
        for function, step in (("Send", 1), ("Recv", -1)):
            self.assertTrue((calls["peer"][of == function] == (calls["rank"][of == function] + step) % 4).all())
            self.assertTrue((calls["bytes"][of == function] == 64).all())
            self.assertTrue((calls["site"][of == function] > 0).all())

    @on_one_mpi("mpich")
    def test_calls_as_counted(self, mpi):
        """Every kind of collective, blocking and not; persistent requests; threads."""
        for ranks, name, arguments in ((3, "collectives", ("1",)), (3, "persistent_halo", ("20",)),
                                       (4, "planted_groups", (str(ITERATIONS), "2", "0")), (2, "cancel_and_free", ())):
            with self.subTest(name):
                path = self.run_program(mpi, ranks, name, *arguments)
                calls = dump.read_calls(path)
                self.assertInOrder(calls)
                sums = {}
                for (_, function), count in counts_of(calls).items():
                    sums[function] = sums.get(function, 0) + count
                self.assertEqual((sums.pop("MPI_Init", 0) + sums.pop("MPI_Init_thread", 0), sums.pop("MPI_Finalize")),
                                 (ranks, ranks))
                counted = {function: count for function, count in dump.counted_functions(path).items() if count > 0}
                self.assertEqual(sums, counted)

    @on_one_mpi("openmpi")
    def test_calls_of_several_aggregators(self, mpi):
        path = self.box.directory / f"aggregators-{mpi}.h5"
        self.assertWorked(self.box.traced(4, harness.program("ring", mpi), str(ITERATIONS),
                                          options=("--dump", path, "--keep", "all", "--aggregators", "2")))
        calls = dump.read_calls(path)
        self.assertInOrder(calls)
        self.assertEqual(counts_of(calls), {(rank, function): count for rank in range(4) for function, count in
                                            (("MPI_Init", 1), ("MPI_Finalize", 1), ("MPI_Send", ITERATIONS),
                                             ("MPI_Recv", ITERATIONS))})
        told = self.box.json("inspect", path, "timeline", "--json")["calls"]
        self.assertEqual([call for call in told if call["site"] is None], [])

    @on_one_mpi("mpich")
    def test_what_a_call_waited_for(self, mpi):
        path = self.run_program(mpi, 2, "late_sender", "4", "50000")
        told = self.box.json("inspect", path, "timeline", "--json")
        self.assertEqual((told["not_stored"], told["shed"]), (0, 0))
        self.assertEqual(told["total"], len(told["calls"]))
        receives = [call for call in told["calls"] if call["function"] == "MPI_Recv"]
        self.assertEqual(len(receives), 4)
        # What each waited for, by the stored messages: the receiver may be held back while the sender sleeps.
        rows = dump.read_messages(path)
        waits = numpy.maximum(0, rows.send_begin - rows.recv_wait)[numpy.argsort(rows.recv_wait)]
        for call, wait in zip(receives, waits.tolist(), strict=True):
            self.assertEqual((call["rank"], call["peer"]), (1, 0))
            if wait > 0:
                self.assertEqual((call["waited_for"], call["wait_state"]), (0, "late sender"), call)
                self.assertAlmostEqual(call["waited_s"], wait * 1e-9, delta=2e-9)
            self.assertLessEqual(call["waited_s"], call["duration_s"] + 1e-9)
        self.assertGreater(max(call["waited_s"] for call in receives), 0.025)
        # The same as rows; of one rank; of a period; as text.
        text = self.box.pclscope("inspect", path, "timeline", "--csv", "--rank", "1").stdout
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([row["function"] for row in rows],
                         [call["function"] for call in told["calls"] if call["rank"] == 1])
        longest = max(receives, key=lambda call: call["duration_s"])
        begin, part = longest["begin_s"], longest["duration_s"] / 5
        within = self.box.json("inspect", path, "timeline", "--json", "--rank", "1", "--from", f"{begin + part:.9f}",
                               "--to", f"{begin + 4 * part:.9f}")["calls"]
        self.assertEqual(within, [longest])
        lines = self.box.pclscope("inspect", path, "timeline", "--limit", "3").stdout.splitlines()
        self.assertEqual(len(lines), 4, lines)
        self.assertIn("MPI_Init", lines[1])

    @on_one_mpi("openmpi")
    def test_what_had_not_returned(self, mpi):
        path = self.box.directory / f"hangs-{mpi}.h5"
        running = self.box.start_traced(2, harness.program("deadlock", mpi), "recv_cycle", options=("--dump", path))

        def inside():
            rows = self.box.pclscope("inspect", path, "timeline", "--json")
            return rows.code == 0 and rows.stdout.count('"ending":"running"') == 2
        self.box.wait_for("ranks that hang", inside, running=running)
        for pid in self.box.application_ranks("deadlock"):
            os.kill(pid, signal.SIGKILL)
        running.finish()
        calls = self.box.json("inspect", path, "timeline", "--json")["calls"]
        hanging = [call for call in calls if call["ending"] == "running"]
        self.assertEqual([(call["rank"], call["function"]) for call in hanging], [(0, "MPI_Recv"), (1, "MPI_Recv")])
        self.assertEqual([call["duration_s"] for call in hanging], [None, None])

    def test_dumps_without_calls(self):
        mpi = harness.MPIS[0]
        path = self.run_program(mpi, 2, "ring", "5", keep="summaries")
        done = self.box.pclscope("inspect", path, "timeline")
        self.assertEqual(done.code, 1, done)
        self.assertIn("--keep summaries", done.stderr)
        path = self.run_program(mpi, 2, "ring", "5")
        dump.forget_calls(path)
        done = self.box.pclscope("inspect", path, "timeline")
        self.assertEqual(done.code, 1, done)
        self.assertIn("earlier version", done.stderr)
        self.assertWorked(self.box.pclscope("inspect", path))


if __name__ == "__main__":
    harness.main()
