"""Several aggregators on a node find what one finds: the same pairs, sums, calls and deadlocks; when one
dies the others go on.

Oracles: payloads that carry their own number (random_program), programs whose counts are the same in every run, and the
same run with one aggregator.
Depends on: launcher, time."""
import os
import re
import signal

import dump
import harness
import random_programs
import test_deadlocks
import testbed
from harness import on_one_mpi, thinned

INTER_NODE = 1 << 30
COUNTS = ("sends", "receives", "bytes_sent", "bytes_received", "collectives", "dropped_events", "threads", "node")


def counts(box, path):
    """What is the same in every run of a program that does the same, whatever the machine does meanwhile."""
    summary = box.json("inspect", path, "--json")
    ranks = box.json("inspect", path, "ranks", "--json")["ranks"]
    sites = box.json("inspect", path, "calls", "--json")["sites"]
    # How many events are recorded depends on time: a call that completed a send has one of its own when it took long.
    messages = {key: value for key, value in summary["messages"].items() if key not in ("delayed", "events")}
    return {"messages": messages,
            "ranks": [{key: rank[key] for key in COUNTS} for rank in ranks],
            "calls": sorted((site["offset"], site["call"], site["sends"], site["receives"], site["bytes"])
                            for site in sites),
            "pairs": dump.read_messages(path).channels(),
            "nodes": (summary["application"]["nodes"], summary["network"]["clocks"], summary["network"]["links"],
                      summary["network"]["messages_left_out"])}


class Aggregators(harness.SystemTest):
    @on_one_mpi("openmpi")
    def test_every_pair_is_right(self, mpi):
        seed = self.seed()
        for aggregators in thinned((2, 3, 4), (2, 4)):
            kind = random_programs.Kind(run=("--aggregators", str(aggregators)))
            messages = thinned(20_000, 8_000) if mpi == "openmpi" else 300  # MPICH does not yield
            outcome = random_programs.run(self.box, mpi, 4, messages, seed + aggregators, kind)
            self.assertEqual(outcome.differences, [], f"{mpi} seed {seed + aggregators} aggregators {aggregators}")
            self.assertGreaterEqual(outcome.messages, messages)

    @on_one_mpi("mpich")
    def test_sums_pairs_and_calls_are_those_of_one(self, mpi):
        found, aggregators = {}, {}
        for count in (1, 2, 4):
            path = self.box.directory / f"halo-{mpi}-{count}.h5"
            done = self.box.traced(4, harness.program("halo3d", mpi), "500" if mpi == "openmpi" else "20",
                                   options=("--dump", path, "--keep", "all", "--aggregators", str(count)))
            self.assertWorked(done)
            self.assertEqual(done.our_lines(), [], str(done))
            self.assertTrue(dump.is_complete(path))
            found[count] = counts(self.box, path)
            aggregators[count] = self.box.json("inspect", path, "--json")["application"]["aggregators"]
        self.assertEqual(aggregators, {1: 1, 2: 2, 4: 4})
        self.assertGreater(found[1]["messages"]["matched"], 0)
        self.assertEqual(found[1]["nodes"][0], 1)
        self.assertEqual(found[2], found[1])
        self.assertEqual(found[4], found[1])

    def test_one_of_them_is_killed(self):
        """Its ranks are not recorded any more, the others are, and the application does not notice."""
        mpi = harness.MPIS[0]
        path = self.box.directory / "killed.h5"
        running = self.box.start_traced(4, harness.program("halo2d", mpi), "1000000", "32", "8000", self.box.until(),
                                        options=("--dump", path, "--aggregators", "2"))
        name = self.box.job_name(running)
        self.box.live_with_messages(name, running, at_least=100)
        second, = (pid for pid, command in self.box.processes()
                   if pid in self.box.aggregator_workers() and "--part 1" in command)
        os.kill(second, signal.SIGKILL)
        self.box.wait_for("its line", lambda: "killed by signal 9" in running.output()[1], running=running)
        self.box.wait_for("word of it", lambda: len(self.box.live(name)["network"]["dead_nodes"]) == 1,
                          running=running)
        done = self.box.end(running)
        self.assertWorked(done)
        line, = done.our_lines()
        self.assertIn("killed by signal 9: recording of its ranks stopped", line)
        self.assertIn("checksum", done.stdout)
        self.assertEqual(set(dump.torn(path).missing), {2, 3})
        self.assertIn("an aggregator of", self.box.pclscope("inspect", path).stdout)

    def test_one_of_them_is_not_given_a_core_at_the_end(self):
        """The job ends without it, and says so; what is missing of the record is told."""
        mpi = harness.MPIS[-1]
        path = self.box.directory / "late.h5"
        running = self.box.start_traced(4, harness.program("halo2d", mpi), "1000000", "32", "8000", self.box.until(),
                                        options=("--dump", path, "--aggregators", "2"))
        self.box.live_with_messages(self.box.job_name(running), running, at_least=100)
        second, = (pid for pid, command in self.box.processes()
                   if pid in self.box.aggregator_workers() and "--part 1" in command)
        os.kill(second, signal.SIGSTOP)
        try:
            self.box.end_sign.touch()
            self.box.wait_for("its line", lambda: "in time" in running.output()[1], running=running)
        finally:
            os.kill(second, signal.SIGCONT)
        done = running.finish(3 * harness.PATIENCE)
        self.assertWorked(done)
        line, = done.our_lines()
        self.assertIn("did not finish in time: the end of the record of its ranks is missing", line)
        self.assertIn("checksum", done.stdout)
        says = dump.torn(path)
        self.assertFalse(says.complete)
        self.assertEqual(set(says.missing), {2, 3})

    @on_one_mpi("mpich")
    def test_ends_as_bare(self, mpi):
        """Ranks of both aggregators that leave without MPI_Finalize, or with a status."""
        for how in ("exit", "leave"):
            arguments = (harness.program("crash", mpi), how, "40", "3", "3")

            def start(words=arguments):
                return self.box.start_traced(4, *words, options=("--aggregators", "2"))
            bare, traced = self.side_by_side(mpi, 4, arguments, start)
            self.assertEndsAlike(bare, traced, is_chance=harness.end_is_chance(arguments))

    def test_which_ranks_an_aggregator_reads(self):
        """Five ranks and two aggregators: neighbours together where the launcher says who is where, else in turn."""
        told = {"": [0, 1, 0, 1, 0],
                "OMPI_COMM_WORLD_LOCAL_RANK={} OMPI_COMM_WORLD_LOCAL_SIZE=7": [0, 0, 0, 1, 1],
                "MPI_LOCALRANKID={} MPI_LOCALNRANKS=7": [0, 0, 0, 1, 1]}
        for number, (words, expected) in enumerate(told.items()):
            token = f"{number}{self.box.mark[1:]}"
            parts = [int(self.box.run("env", f"PCLSCOPE_JOB={token}", "PCLSCOPE_AGGREGATORS=2",
                                      *words.format(rank).split(), harness.PCLSCOPE.with_name("pclscope-rank"), "sh",
                                      "-c", "echo $PCLSCOPE_PART").stdout) for rank in range(5)]
            self.assertEqual(parts, expected, words)
        self.box.pclscope("list")  # removes the boards

    def test_auto_and_wrong_numbers(self):
        app = harness.program("halo3d", harness.MPIS[0])
        for ranks, expected in ((2, 1), (32, 1), (33, 2), (192, 6)):
            line = self.box.pclscope("run", "--print", "--aggregators", "auto", "-n", str(ranks), "--", app).stdout
            found = re.search(r"PCLSCOPE_TOOL_RANKS=(\d+)", line)
            self.assertTrue(found, line)
            self.assertEqual(int(found[1]), expected)
        for wrong in ("0", "3", "x", "2.5", ""):
            self.assertRefused(self.box.pclscope("run", "-n", "2", f"--aggregators={wrong}", "--", app), 2,
                               "--aggregators")


class DeadlocksAcrossParts(test_deadlocks.Deadlocks):
    """Each member waits for one whose rings another aggregator reads."""

    def start(self, kind, mpi, *arguments):
        return self.box.start_traced(4, harness.program("deadlock", mpi), kind, *arguments,
                                     options=("--aggregators", "4"))

    def test_cycles(self):
        for kind in thinned(("recv_cycle", "send_cycle", "waitall_cycle"), ("recv_cycle",)):
            self.check_hang(kind, harness.MPIS[0])


class SeveralNodes(testbed.TestbedTest):
    """Two nodes, two aggregators on each: between those of a node nothing is a network, and clocks are one."""
    NODES = 2

    @on_one_mpi("openmpi")
    def test_nodes_stay_nodes(self, mpi):
        path = self.box.directory / f"nodes-{mpi}.h5"
        done = self.testbed.run(2, harness.program("halo3d", mpi), "1000" if mpi == "openmpi" else "20", mpi=mpi,
                                options=("--dump", path, "--keep", "all", "--aggregators", "2"))
        self.assertWorked(done)
        self.assertEqual(done.our_lines(), [], str(done))
        summary = self.box.json("inspect", path, "--json")
        self.assertComplete(summary, 4)
        self.assertEqual((summary["application"]["nodes"], summary["application"]["aggregators"]), (2, 4))
        self.assertEqual([clock["node"] for clock in summary["network"]["clocks"]], ["node2"])
        ranks = self.box.json("inspect", path, "ranks", "--json")["ranks"]
        self.assertEqual([rank["node"] for rank in ranks], ["node1", "node1", "node2", "node2"])
        rows = dump.read_messages(path)
        between = (rows.flags & INTER_NODE) != 0
        self.assertTrue((between == (rows.source // 2 != rows.destination // 2)).all())
        self.assertTrue(between.any() and not between.all())
        links = self.box.json("inspect", path, "nodes", "--json")["links"]
        self.assertEqual(sorted((link["source"], link["destination"]) for link in links),
                         [("node1", "node2"), ("node2", "node1")])
        self.assertEqual(sum(link["messages"] for link in links), int(between.sum()))
        # One axis for both aggregators of a node, but each takes up what is new of its clock at a moment of its own
        # (docs/limits.md): nothing is received before it is sent, by more than that and the error that is told.
        known = dump.Clocks(path)
        error = sum(abs(known.at(ranks, times, what)) for what in ("error_s", "correction_s")
                    for ranks, times in ((rows.destination, rows.recv_end), (rows.source, rows.send_begin)))
        took = rows.recv_end - rows.send_begin
        self.assertEqual(int(((took + error)[~between] < 0).sum()), 0)
        root = ~between & (rows.source < 2)  # whose clock is the axis
        self.assertGreater(int(took[root].min()), 0)

    def test_an_aggregator_without_ranks_holds_up_nobody(self):
        """The second node has one rank, and so a part without any."""
        mpi = harness.MPIS[0]
        path = self.box.directory / "uneven.h5"
        done = self.testbed.run((3, 1), harness.program("halo3d", mpi), "200", mpi=mpi,
                                options=("--dump", path, "--keep", "all", "--aggregators", "2"))
        self.assertWorked(done)
        self.assertEqual(done.our_lines(), [], str(done))
        summary = self.box.json("inspect", path, "--json")
        self.assertComplete(summary, 4, matched=200 * 24)
        self.assertTrue(dump.is_complete(path))
        self.assertEqual((summary["application"]["nodes"], summary["application"]["aggregators"]), (2, 4))


# Only what is here: the inherited tests have a script of their own.
for name in [name for name in dir(test_deadlocks.Deadlocks) if name.startswith("test_")]:
    setattr(DeadlocksAcrossParts, name, None)

if __name__ == "__main__":
    harness.main()
