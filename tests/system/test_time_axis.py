"""Second 0 is when the first rank of the job enters MPI_Init, whenever the aggregators began; and who is said to be
late for MPI_Init.
Depends on: launcher."""
import dump
import harness
import testbed
from harness import on_one_mpi

FIRST_S, LAST_S = 1.5, 4.0  # ranks enter MPI_Init so long after their start
# The moment is taken by the rank itself, just before its MPI_Init begins; on several nodes a round trip is added.
NEAR_S = 1.5
# Rows are stored with the nodes' clocks as they were known then: of a busy machine's round trips that may be some
# milliseconds off. What is looked for is two seconds.
CLOCKS_S = 0.25


class Axis:
    def late_program(self, which, name, mpi, *arguments, begin='exec "$0" "$@"'):
        """The program of a rank; the shell's condition `which` says whether it is one of the last."""
        self.begun = self.box.directory / f"begun-{mpi}"
        self.begun.mkdir()
        pause = f"date +%s.%N >{self.begun}/$$; if {which}; then sleep {LAST_S}; else sleep {FIRST_S}; fi"
        return "sh", "-c", f"{pause}; {begin}", harness.program(name, mpi), *arguments

    def skip_if_begun_apart(self):
        """Ranks are 2.5 s apart by their own doing. What is the larger part of a wait is known beforehand only where
        the launcher, and a machine without a core for them, made much less of it."""
        moments = sorted(float(file.read_text()) for file in self.begun.iterdir())
        if moments[-1] - moments[0] > (LAST_S - FIRST_S) / 3:
            self.skipTest(f"the ranks' processes were begun within {moments[-1] - moments[0]:.1f} s")

    def check(self, path, ranks, clocks_s=0):
        names = dump.function_names()
        calls = dump.read_collectives(path)
        begins = sorted(int(begin) * 1e-9 for begin, function in zip(calls["begin"], calls["function"])
                        if names[int(function)] in ("Init", "Init_thread"))
        self.assertEqual(len(begins), ranks)
        self.assertGreaterEqual(begins[0], -clocks_s, begins)
        self.assertLess(begins[0], NEAR_S, begins)
        rows = dump.read_messages(path)
        self.assertGreater(len(rows), 0)
        self.assertGreater(int(rows.send_begin.min()) * 1e-9, begins[0] - clocks_s)
        duration = self.box.json("inspect", path, "--json")["time"]["duration_s"]
        # A call that is a little before second 0 by its node's clock (MPI_Init of the first) counts in full.
        for rank in self.box.json("inspect", path, "ranks", "--json")["ranks"]:
            self.assertLessEqual(rank["mpi_s"], rank["threads"] * (duration + clocks_s) + 1e-6)
            self.assertLessEqual(rank["end_s"], duration + 1e-6)

    def late_for_init(self, path):
        """What ranks waited in MPI_Init, in rank-seconds: for what whoever came last did, for what its launcher did;
        and whom the first names."""
        found = {f["detail"]: f for f in self.box.json("inspect", path, "findings", "--json")["findings"]
                 if f["cause"] == "startup"}
        own, launcher = found.pop("late for MPI_Init", None), found.pop("processes begun late", None)
        self.assertFalse(found)
        if own:
            self.assertIn("its process was at work for", " ".join(own["evidence"]))
        if launcher:
            self.assertEqual(launcher["ranks"], [])
        return own["lost_s"] if own else 0, launcher["lost_s"] if launcher else 0, own["ranks"] if own else []


class OfOneNode(Axis, harness.SystemTest):
    @on_one_mpi("mpich")
    def test_ranks_that_come_after_the_aggregator(self, mpi):
        path = self.box.directory / f"{mpi}.h5"
        command = self.late_program('[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 2 ]', "ring", mpi, "10")
        self.assertWorked(self.box.traced(4, *command, options=("--dump", path, "--keep", "all", "--mpi", mpi)))
        self.check(path, 4)
        self.skip_if_begun_apart()
        own_s, launcher_s, ranks = self.late_for_init(path)
        self.assertGreater(own_s, launcher_s)
        self.assertEqual(ranks, [2])

    @on_one_mpi("openmpi")
    def test_a_rank_that_is_begun_late_is_not_late_itself(self, mpi):
        path = self.box.directory / f"{mpi}.h5"
        command = self.late_program('[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 2 ]', "ring", mpi, "10",
                                    begin='"$0" "$@"; exit $?')
        self.assertWorked(self.box.traced(4, *command, options=("--dump", path, "--keep", "all", "--mpi", mpi)))
        self.skip_if_begun_apart()
        own_s, launcher_s, _ = self.late_for_init(path)
        self.assertGreater(launcher_s, own_s)


class OfSeveralNodes(Axis, testbed.TestbedTest):
    NODES = 2

    def test_the_roots_ranks_come_last(self):
        path = self.box.directory / "run.h5"
        command = self.late_program('[ "$(hostname)" = node1 ]', "ring", "openmpi", "10")
        self.assertWorked(self.testbed.run(2, *command, options=("--dump", path, "--keep", "all", "--mpi", "openmpi")))
        self.check(path, 4, CLOCKS_S)
        self.skip_if_begun_apart()
        own_s, launcher_s, ranks = self.late_for_init(path)
        self.assertGreater(own_s, launcher_s)
        self.assertEqual(len(ranks), 1)


if __name__ == "__main__":
    harness.main()
