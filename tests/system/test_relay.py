"""The relay between aggregators under real launchers: thousands of messages of random sizes in random epochs, up to
some that go in several parts; tests/aggregator/relay_program says who must have got what, to the byte.
Depends on: launcher."""
import re

import harness
from harness import on_every_mpi, thinned


class RelayTest(harness.SystemTest):
    def talk(self, mpi, *arguments):
        nodes, epochs = (4, thinned(2000, 200)) if mpi == "openmpi" else (3, thinned(100, 20))  # MPICH does not yield
        program = harness.BUILD / "tests" / f"relay_program-{mpi}"
        words = ["--epochs", epochs, "--seed", self.seed(), *arguments]
        done = self.box.bare(mpi, nodes, str(program), *map(str, words))
        print(f"{mpi} {words}: {done.stdout}", flush=True)
        self.assertWorked(done)
        self.assertIn("all right", done.stdout)
        return int(re.search(r"messages received here (\d+)", done.stdout)[1])

    @on_every_mpi
    def test_every_message_comes_in_its_epoch(self, mpi):
        self.assertGreater(self.talk(mpi), 0)

    @on_every_mpi
    def test_the_others_go_on_when_a_worker_dies(self, mpi):
        self.talk(mpi, "--kill", "1:10")

    @on_every_mpi
    def test_one_that_is_slow_loses_nothing(self, mpi):
        self.talk(mpi, "--slow", "1")


if __name__ == "__main__":
    harness.main()
