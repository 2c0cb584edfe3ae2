"""pclscope itself in trouble: the application finishes with the right result and exit status 0, one line says what is
the matter, and what was recorded is not lost. Depends on: launcher."""
import os
import re
import signal
import socket
import time

import dump
import harness
import paper
from harness import thinned

MPI = harness.MPIS[0]
HALO_MESSAGES = 8  # per iteration on 2 x 2 ranks


class FailingTool(harness.SystemTest):
    printed = {}  # by bare runs: {iterations: text}

    def halo(self, iterations):
        """(command, what it prints bare)"""
        command = (harness.program("halo2d", MPI), str(iterations), "32")
        if iterations not in self.printed:
            bare = self.box.bare(MPI, 4, *command, timeout=3 * harness.PATIENCE)
            self.assertWorked(bare)
            self.printed[iterations] = bare.stdout
        return command, self.printed[iterations]

    def assertUnharmed(self, done, output, lines=1, *words):
        """Right result, status 0, and exactly so many lines of ours."""
        self.assertWorked(done)
        self.assertEqual(done.stdout, output)
        ours = done.our_lines()
        self.assertEqual(len(ours), lines, str(done))
        for word in words:
            self.assertIn(word.lower(), ours[0].lower(), str(done))

    def until_told(self, mpi, pause_us):
        """A halo exchange that goes on until it is told to end."""
        return harness.program("halo2d", mpi), "1000000", "32", str(pause_us), self.box.until()

    def ends_as_bare(self, mpi, running):
        """How it ended, and what it would have printed bare after as many iterations."""
        done = self.box.end(running)
        iterations = re.search(r"iterations (\d+)", done.stdout)
        self.assertTrue(iterations, str(done))
        bare = self.box.bare(mpi, 4, harness.program("halo2d", mpi), iterations[1], "32", timeout=3 * harness.PATIENCE)
        self.assertWorked(bare)
        return done, bare.stdout

    def kill_worker(self, mpi, pause_us):
        path = self.box.directory / f"killed-{mpi}.h5"
        running = self.box.start_traced(4, *self.until_told(mpi, pause_us), options=("--dump", path))
        early = self.box.live_with_messages(self.box.job_name(running), running, at_least=8)
        self.box.wait_for("a flush", lambda: dump.stored_messages(path) >= early["messages"]["matched"],
                          running=running)
        worker, = self.box.aggregator_workers()
        os.kill(worker, signal.SIGKILL)
        done, output = self.ends_as_bare(mpi, running)
        self.assertUnharmed(done, output, 1, "aggregator")
        rows = dump.read_messages(path)
        self.assertFalse(dump.is_complete(path))
        self.assertGreaterEqual(len(rows), early["messages"]["matched"])
        self.assertEqual(self.box.json("list", "--json")["jobs"], [])

    def test_aggregator_killed_under_openmpi(self):
        if "openmpi" not in harness.MPIS:
            self.skipTest("openmpi is not built")
        self.kill_worker("openmpi", 8000)

    def test_aggregator_killed_under_mpich(self):
        if "mpich" not in harness.MPIS:
            self.skipTest("mpich is not built")
        self.kill_worker("mpich", 20000)

    def kill_while_the_ranks_wait(self, attached):
        """The ranks wait for the aggregator when a ring is full; they must notice that it is gone."""
        command = self.until_told(MPI, 1000 if attached else 0)
        running = self.box.start_traced(4, *command, options=("--ring-events", "64", "--overflow-wait", "60000"))
        if attached:
            self.box.live_with_messages(self.box.job_name(running), running)
        worker = self.box.wait_for("aggregator", self.box.aggregator_workers, running=running)[0]
        os.kill(worker, signal.SIGSTOP)
        time.sleep(1)  # for the ranks to fill their rings; those that have not yet done so find a dead aggregator
        self.assertTrue(running.running(), "the ranks wait")
        os.kill(worker, signal.SIGKILL)
        done, output = self.ends_as_bare(MPI, running)
        self.assertUnharmed(done, output, 1, "aggregator")

    def test_aggregator_killed_while_the_rings_are_full(self):
        self.kill_while_the_ranks_wait(attached=True)

    def test_aggregator_killed_before_it_found_the_rings(self):
        self.kill_while_the_ranks_wait(attached=False)

    def test_aggregator_stopped_holds_the_ranks_only_as_long_as_asked(self):
        running = self.box.start_traced(4, *self.until_told(MPI, 0),
                                        options=("--ring-events", "64", "--overflow-wait", "200"))
        worker = self.box.wait_for("aggregator", self.box.aggregator_workers, running=running)[0]
        os.kill(worker, signal.SIGSTOP)
        time.sleep(thinned(4, 1.5))  # for the ranks to wait, and to go on; how often is not judged
        os.kill(worker, signal.SIGCONT)
        done, output = self.ends_as_bare(MPI, running)
        self.assertWorked(done)
        self.assertEqual(done.stdout, output)

    # --- /dev/shm ---
    def small_shared_memory(self, size):
        command, output = self.halo(50)
        path = self.box.directory / "small.h5"
        # MPI's own shared memory elsewhere: only pclscope's is to find too little room. A network of its own
        # (tests/apart) has no other interface than lo.
        self.box.environment.update(OMPI_MCA_btl="tcp,self", OMPI_MCA_btl_tcp_if_include="lo",
                                    OMPI_MCA_btl_vader_backing_directory="/tmp")
        done = self.box.in_private_mounts(f"mount -t tmpfs -o size={size} tmpfs /dev/shm",
                                          self.box.traced_command(4, *command, options=("--dump", path,
                                                                                       "--ring-dir", "/dev/shm")))
        if done is None or done.code == 99:
            self.skipTest("no private mounts here (unshare -m)")
        return done, output, path

    def test_shared_memory_too_small_for_any_ring(self):
        done, output, _ = self.small_shared_memory("64k")
        self.assertUnharmed(done, output, 1, "/dev/shm")

    def test_shared_memory_large_enough_for_two_ranks_of_four(self):
        done, output, path = self.small_shared_memory("9m")
        self.assertUnharmed(done, output, 1, "/dev/shm")
        recorded = paper.halo2d((2, 2), 50)
        found = dump.read_messages(path).channels()
        self.assertTrue(found)
        for channel, count in found.items():  # between ranks that found room: all of them, none elsewhere
            self.assertEqual(count, recorded[channel])
        says, seen = dump.torn(path), {rank for channel in found for rank in channel[:2]}
        self.assertEqual(says.missing, {rank: 0 for rank in set(range(4)) - seen}, "those from the beginning")
        self.assertEqual(says.complete, not says.missing)

    # --- endpoint ---
    def endpoint_in_use(self, offset):
        command, output = self.halo(50)
        path = self.box.directory / "occupied.h5"
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            endpoint = f"tcp://127.0.0.1:{port - offset}"
            done = self.box.traced(4, *command, options=("--dump", path, "--publish", endpoint))
        self.assertUnharmed(done, output, len(done.our_lines()) or 1, "in use", str(port))
        self.assertLessEqual(len(done.our_lines()), 2, "what is the matter, and where it is published instead")
        self.assertComplete(self.box.json("inspect", path, "--json"), 4, 50 * HALO_MESSAGES)

    def test_endpoint_in_use(self):
        self.endpoint_in_use(0)

    def test_second_port_of_the_endpoint_in_use(self):
        self.endpoint_in_use(1)

    # --- dump ---
    def test_dump_into_a_missing_directory(self):
        done = self.box.traced(2, harness.program("ring", MPI), options=("--dump", "/no/such/directory/run.h5"))
        self.assertRefused(done, 1, "/no/such/directory")
        self.assertEqual(done.stdout, "", "the application was not started")

    def test_dump_onto_a_directory(self):
        done = self.box.traced(2, harness.program("ring", MPI), options=("--dump", self.box.runtime))
        self.assertRefused(done, 1, str(self.box.runtime))

    def test_dump_where_this_user_may_not_write(self):
        if os.getuid() == 0:
            as_user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
            self.box.directory.chmod(0o755)
            if self.box.run(*as_user, "test", "-x", harness.PCLSCOPE).code != 0:
                self.skipTest("the build is not readable for other users")
            self.box.environment["XDG_RUNTIME_DIR"] = str(self.box.directory / "nobody")
            os.mkdir(self.box.directory / "nobody", 0o700)
            os.chown(self.box.directory / "nobody", 65534, 65534)
        else:
            as_user = ()
            self.box.runtime.chmod(0o500)
        path = self.box.runtime / "run.h5"
        done = self.box.run(*as_user, *self.box.traced_command(2, "true", options=("--dump", path)))
        self.assertRefused(done, 1, str(path))

    def test_dump_does_not_replace_a_file_when_refused(self):
        path = self.box.directory / "precious.h5"
        path.write_text("precious")
        self.assertNotEqual(self.box.traced(2, "./no-such-program", options=("--dump", path)).code, 0)
        self.assertEqual(path.read_text(), "precious")

    def test_disk_full(self):
        """Two million messages, or half of that, of which the disk has room for a third or so: those that do not fit
        are counted, and the summary is of the whole run."""
        iterations, size = thinned((240_000, "12m"), (120_000, "6m"))
        disk, copy = self.box.directory / "disk", self.box.directory / "copy.h5"
        disk.mkdir()
        command, output = self.halo(iterations)
        done = self.box.in_private_mounts(f"mount -t tmpfs -o size={size} tmpfs {disk}",
                                          self.box.traced_command(4, *command, options=("--dump", disk / "run.h5")),
                                          f"cp {disk}/run.h5 {copy}", timeout=3 * harness.PATIENCE)
        if done is None or done.code == 99:
            self.skipTest("no private mounts here (unshare -m)")
        self.assertUnharmed(done, output, 1, "space")
        self.assertTrue(dump.is_complete(copy))
        rows, whole = dump.read_messages(copy), paper.halo2d((2, 2), iterations)
        self.assertGreater(len(rows), 4000)
        self.assertLess(len(rows), paper.total(whole))
        for channel, count in rows.channels().items():
            self.assertLessEqual(count, whole[channel])
        summary = self.box.json("inspect", copy, "--json")
        self.assertEqual(summary["application"]["ranks"], 4)
        self.assertComplete(summary, 4, paper.total(whole), paper.total_bytes(whole))
        self.assertEqual(summary["retention"]["messages_stored"], len(rows))
        self.assertEqual(summary["retention"]["messages_left_out"], paper.total(whole) - len(rows))

    def test_disk_full_from_the_start(self):
        disk = self.box.directory / "disk"
        disk.mkdir()
        command, output = self.halo(50)
        done = self.box.in_private_mounts(
            f"mount -t tmpfs -o size=16k tmpfs {disk} && head -c 16k /dev/zero > {disk}/filler",
            self.box.traced_command(4, *command, options=("--dump", disk / "run.h5")))
        if done is None or done.code == 99:
            self.skipTest("no private mounts here (unshare -m)")
        if done.code == 1 and done.stdout == "":
            self.assertRefused(done, 1, "space")  # noticed before the start
        else:
            self.assertUnharmed(done, output, 1, "space")


if __name__ == "__main__":
    harness.main()
