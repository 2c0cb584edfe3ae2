"""Little room in /dev/shm (a container has 64 MB): the job ends as it does without us, and is recorded as far as there
is room. Depends on: launcher."""
import os
import signal
import time

import harness
from harness import thinned

# Size of /dev/shm, ranks, and each rank's part of a window in shared memory (KiB).
SIZES = ("64m", "32m", "20m", "16m", "9m", "4m")
LARGE_WINDOW = 0.5  # of /dev/shm, all parts together
CELLS = [(size, ranks, window) for size in SIZES for ranks in (2, 4, 16) for window in (0, LARGE_WINDOW)]
BRIEF = {"openmpi": [("64m", 16, 0), ("16m", 4, LARGE_WINDOW), ("4m", 2, 0)],
         "mpich": [("64m", 4, LARGE_WINDOW), ("20m", 2, LARGE_WINDOW), ("9m", 2, 0)]}
SPINNING = 4  # ranks: with more, MPICH's do nothing but wait for each other's turn on the core


def kib(size):
    return int(size[:-1]) * 1024


class Memory(harness.SystemTest):
    def in_small(self, size, command):
        done = self.box.in_private_mounts(f"mount -t tmpfs -o size={size} tmpfs /dev/shm", command)
        if done is None:
            self.skipTest("mount namespaces are not allowed here")
        self.assertNotEqual(done.code, 99, str(done))
        return done

    def window(self, size, ranks, part):
        return str(int(kib(size) * part / ranks))

    def worked(self, done):
        """What is compared: an MPI that finds no room dies in one way or another."""
        return done.stdout if done.code == 0 else "ended by want of room"

    def cell(self, mpi, size, ranks, part):
        """The dump's summary when both jobs end well; None when the bare one does not, either."""
        words = [harness.program("shared_memory", mpi), self.window(size, ranks, part)]
        dump = self.box.directory / "run.h5"
        dump.unlink(missing_ok=True)
        ended = self.assertEndsAlike(
            lambda: self.in_small(size, self.box.bare_command(mpi, ranks, *words)),
            lambda: self.in_small(size, self.box.traced_command(ranks, *words, options=("--dump", dump))),
            self.worked)
        right = ended.code == 0
        summary = self.box.json("inspect", dump, "--json") if right else None
        recorded = summary["messages"] if summary else {}
        said = f"ends well, {recorded.get('matched')} matched" if right else "no room, bare too"
        print(f"{mpi}: {size}, {ranks} ranks, windows of {words[1]} KiB: {said}", flush=True)
        return summary

    @harness.on_one_mpi("openmpi")
    def test_small_dev_shm(self, mpi):
        """All messages, too: rings that find no room lie elsewhere."""
        for size, ranks, part in thinned(CELLS, BRIEF[mpi]):
            if mpi == "mpich" and ranks > SPINNING:
                ranks = SPINNING + 2
            with self.subTest(size=size, ranks=ranks, window=part):
                summary = self.cell(mpi, size, ranks, part)
                if summary:
                    self.assertComplete(summary, ranks, matched=5 * ranks * ranks)

    @harness.on_one_mpi("mpich")
    def test_rings_in_a_directory_of_the_users_choice(self, mpi):
        place = self.box.directory / "rings"
        place.mkdir(exist_ok=True)
        dump = self.box.directory / "run.h5"
        done = self.box.traced(2, harness.program("ring", mpi), "20",
                               options=("--dump", dump, "--mpi", mpi, "--ring-dir", place))
        self.assertWorked(done)
        self.assertEqual(done.our_lines(), [], str(done))
        self.assertComplete(self.box.json("inspect", dump, "--json"), 2, matched=40)
        self.assertEqual(list(place.iterdir()), [])

    @harness.on_one_mpi("openmpi")
    def test_a_program_that_ends_before_its_rings_are_found(self, mpi):
        """Rings without a name, and what addresses mean, can be read as long as their processes live."""
        (self.box.directory / "rings").mkdir(exist_ok=True)
        for name, options in (("named", ()), ("nameless", ("--ring-dir", self.box.directory / "rings"))):
            with self.subTest(rings=name):
                self.ends_before_its_rings_are_found(mpi, name, options)

    def ends_before_its_rings_are_found(self, mpi, name, options):
        dump, go = self.box.directory / f"{name}.h5", self.box.directory / f"go-{mpi}-{name}"
        script = 'while [ ! -e "$0" ]; do sleep 0.01; done; exec "$@"'
        running = self.box.start_traced(2, "/bin/sh", "-c", script, go, harness.program("ring", mpi), "20",
                                        options=("--dump", dump, "--mpi", mpi, *options))
        worker, = self.box.wait_for("aggregator", self.box.aggregator_workers, running=running)
        os.kill(worker, signal.SIGSTOP)
        go.touch()
        time.sleep(0.4)  # the program takes less when nobody waits
        os.kill(worker, signal.SIGCONT)
        done = running.finish(harness.PATIENCE)
        self.assertWorked(done)
        self.assertEqual(done.our_lines(), [], str(done))
        self.assertComplete(self.box.json("inspect", dump, "--json"), 2, matched=40)
        sites = self.box.json("inspect", dump, "calls", "--json")["sites"]
        self.assertGreater(len(sites), 0)
        self.assertNotIn([0], [site["sites"] for site in sites], sites)

    @harness.on_one_mpi("mpich")
    def test_only_in_dev_shm(self, mpi):
        """Where the user wants it so, rings are made smaller, one line says it, and what is lost is counted."""
        dump = self.box.directory / "run.h5"
        words = [harness.program("ring", mpi), "3000"]
        if self.in_small("16m", self.box.bare_command(mpi, 2, *words)).code != 0:
            self.skipTest("this MPI itself needs more room")
        done = self.in_small("16m", self.box.traced_command(
            2, *words, options=("--dump", dump, "--ring-dir", "/dev/shm", "--overflow-wait", "20000")))
        self.assertWorked(done)
        lines = done.our_lines()
        self.assertEqual(len(lines), 1, str(done))
        self.assertIn("short of room", lines[0])
        self.assertComplete(self.box.json("inspect", dump, "--json"), 2, matched=6000)


if __name__ == "__main__":
    harness.main()
