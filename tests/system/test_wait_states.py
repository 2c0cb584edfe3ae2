"""Wait states beside those of blocking sends and receives: `inspect waits` against the program's own clocks.
Depends on: launcher. Times are compared within the run: the program notes when it enters a call and others come."""

import harness
from harness import on_one_mpi

ROUNDS, RANKS, LEAST = 15, 4, 0.02  # seconds
# What the program calls it: wait state, function
ROWS = {
    "ibarrier": ("wait at barrier", "MPI_Ibarrier"),
    "iallreduce_test": ("wait at NxN", "MPI_Iallreduce"),
    "scan": ("early scan", "MPI_Scan"),
    "neighbour": ("late neighbour", "MPI_Neighbor_allgather"),
    "fence": ("wait at fence", "MPI_Win_fence"),
    "late_complete": ("late complete", None),
    "late_post": ("late post", None),
    "lock": ("lock contention", None),
    "file": ("wait at file", "MPI_File_set_size"),
}
SUMS = {"late_sender": ("probe", "test_loop", "sleeping_test_loop", "iprobe_loop", "improbe_loop"),
        "late_receiver": ("late_receiver",)}


class WaitStates(harness.SystemTest):
    @on_one_mpi("mpich")
    def test_each_costs_what_the_program_says(self, mpi):
        seed = self.seed() % 1000000
        path = self.box.directory / f"{mpi}.h5"
        # On a busy machine those who should wait may all be late themselves: then there is nothing to compare.
        for _ in range(5):
            run = self.box.traced(RANKS, harness.program("wait_states", mpi), str(ROUNDS), str(seed),
                                  self.box.directory / "written", options=("--dump", path))
            self.assertWorked(run)
            said = {words[0]: float(words[1]) for words in map(str.split, run.stdout.splitlines()) if len(words) == 2}
            if min(said[kind] for kind in ROWS) > LEAST:
                break
            path.unlink()
        else:
            self.skipTest(f"nobody waited in five runs: {said}")
        rows = self.box.json("inspect", path, "waits", "--json")["wait_states"]
        found = {}
        for row in rows:
            for key in {(row["state"], row["function"]), (row["state"], None)}:
                found[key] = found.get(key, 0) + row["wait_s"]
        for kind, key in ROWS.items():
            with self.subTest(kind=kind):
                self.assertClose(found.get(key, 0), said[kind], kind)
        for name, kinds in SUMS.items():
            with self.subTest(kind=name):
                self.assertClose(found.get((name.replace("_", " "), None), 0), sum(said[kind] for kind in kinds), name)
        ranks = self.box.json("inspect", path, "ranks", "--json")["ranks"]
        for rank in ranks:
            parts = ("late_sender_s", "late_receiver_s", "transfer_s", "collective_wait_s", "one_sided_s", "file_s",
                     "other_s", "init_s", "finalize_s")
            self.assertAlmostEqual(sum(rank[part] for part in parts), rank["mpi_s"], delta=1e-6)

    # A rank may be off its core between its own look at the clock and the call: some of its time then.
    def assertClose(self, found, expected, what):
        self.assertGreater(expected, LEAST, what)
        self.assertAlmostEqual(found, expected, delta=0.15 * expected + 0.03, msg=what)


if __name__ == "__main__":
    harness.main()
