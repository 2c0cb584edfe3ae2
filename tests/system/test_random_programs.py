"""Random programs: every pair in the store equals what the receivers wrote down. The long run is random_programs.py.
Depends on: launcher."""
import harness
import oracle
import random_programs
from harness import thinned


class RandomPrograms(harness.SystemTest):
    def check(self, mpi, ranks, messages, kind="plain", seed=None):
        if mpi not in harness.MPIS:
            self.skipTest(f"{mpi} is not built")
        seed = seed or self.seed()
        print(f"{mpi} seed {seed} {kind} ranks {ranks}", flush=True)
        outcome = random_programs.run(self.box, mpi, ranks, messages, seed, random_programs.KINDS[kind])
        self.assertEqual(outcome.differences[:oracle.MOST], [], f"{mpi} seed {seed} {kind} ranks {ranks}")
        self.assertGreaterEqual(outcome.messages, messages)
        return outcome

    def test_openmpi_8_ranks(self):
        self.check("openmpi", 8, thinned(60_000, 20_000), seed=1)

    def test_openmpi_sizes(self):
        for ranks in (2, 3, 5):
            with self.subTest(ranks=ranks):
                self.check("openmpi", ranks, thinned(10_000, 5_000))

    def test_mpich(self):
        # It does not yield: slow beyond the number of cores.
        for ranks, messages in ((2, thinned(10_000, 5_000)), (3, thinned(1_000, 300))):
            with self.subTest(ranks=ranks):
                self.check("mpich", ranks, messages)

    def test_tiny_rings_make_the_ranks_wait_and_lose_nothing(self):
        self.check("openmpi", 4, 10_000, "small-rings")

    def test_recording_switched_off_and_on(self):
        self.check("openmpi", 4, thinned(20_000, 10_000), "pcontrol")
        self.check("mpich", 2, 4_000, "pcontrol")

    def test_rings_that_overflow(self):
        self.assertGreater(self.check("openmpi", 4, 30_000, "dropping").count("dropped_events"), 0)
        self.check("openmpi", 3, thinned(20_000, 10_000), "pcontrol-dropping")
        self.check("mpich", 2, 4_000, "dropping")

    def test_threads_with_channels_of_their_own(self):
        self.check("openmpi", 3, thinned(20_000, 10_000), "threads")
        self.check("mpich", 2, 4_000, "threads")

    def test_threads_on_the_same_channels(self):
        self.check("openmpi", 3, thinned(20_000, 10_000), "race")
        self.check("openmpi", 2, thinned(20_000, 10_000), "race-dropping")
        self.check("openmpi", 3, thinned(10_000, 5_000), "threads-pcontrol")


if __name__ == "__main__":
    harness.main()
