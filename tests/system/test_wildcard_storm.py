"""Wildcard storm: every pair in the store equals what the receivers wrote down."""
import random

import dump
import harness
import oracle


class WildcardStorm(harness.SystemTest):
    def storm(self, mpi, ranks, messages, seed, options=()):
        if mpi not in harness.MPIS:
            self.skipTest(f"{mpi} is not built")
        directory = self.box.directory / f"oracle-{mpi}-{ranks}-{seed}"
        directory.mkdir()
        path = directory / "storm.h5"
        done = self.box.traced(ranks, harness.program("wildcard_storm", mpi), str(messages), str(seed), str(directory),
                               options=("--dump", path, *options), timeout=150)
        self.assertWorked(done)
        truth = oracle.Oracle(directory, ranks)
        self.assertTrue(truth.is_consistent(), "the program's own records contradict each other")
        self.assertGreaterEqual(truth.messages(), messages)
        size = sum(record[3] for records in truth.received for record in records)
        self.assertComplete(self.box.json("inspect", path, "--json"), ranks, truth.messages(), size)
        differences = oracle.compare(dump.read_messages(path), truth)
        self.assertEqual(differences[:oracle.MOST], [], f"seed {seed}: {len(differences)} differences")

    def test_openmpi_8_ranks_100000_messages(self):
        self.storm("openmpi", 8, 100_000, 1)

    def test_mpich_4_ranks_10000_messages(self):
        self.storm("mpich", 4, 10_000, 2)

    def test_random_seeds_and_sizes(self):
        for ranks in (2, 3, 5):
            seed = random.randrange(1, 1 << 30)
            with self.subTest(ranks=ranks, seed=seed):
                self.storm("openmpi", ranks, 10_000, seed)

    def test_tiny_rings_make_the_ranks_wait_and_lose_nothing(self):
        self.storm("openmpi", 4, 20_000, 5, options=("--ring-events", "256", "--overflow-wait", "60000"))


if __name__ == "__main__":
    harness.main()
