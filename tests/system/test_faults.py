"""Hard conditions: processes killed and stopped, thousands of communicators and requests, forks. The application
behaves as without pclscope, the dump opens in h5py and in `inspect`, and nothing is left over (the harness looks).
Depends on: launcher, time."""
import os
import re
import signal
import time

import dump
import harness
import oracle
import random_programs
from harness import on_every_mpi, on_one_mpi, thinned

PAUSE = {"openmpi": "2000", "mpich": "20000"}  # microseconds per iteration: a live job that is not in a hurry


class Faults(harness.SystemTest):
    def opens(self, path):
        """The summary of the dump; its rows are as many as it says."""
        summary = self.box.json("inspect", path, "--json")
        self.assertGreaterEqual(len(dump.read_messages(path)),
                                summary["messages"]["matched"] if dump.is_complete(path) else 0)
        return summary

    def both(self, mpi, ranks, name, *arguments, options=(), timeout=harness.PATIENCE):
        """Bare and traced: same output, same status. The summary of the dump."""
        command = (harness.program(name, mpi), *arguments)
        path = self.box.directory / f"{name}-{mpi}.h5"
        run_bare, run_traced = self.side_by_side(
            mpi, ranks, command,
            lambda: self.box.start_traced(ranks, *command, options=("--dump", path, *options)), timeout)
        bare, traced = run_bare(), run_traced()
        self.assertEqual((traced.code, traced.stdout), (bare.code, bare.stdout), f"{bare}\n{traced}")
        return self.opens(path), bare, traced

    def assertMatched(self, summary, messages):
        self.assertComplete(summary, summary["application"]["ranks"], messages)

    # --- killed ---
    def start_halo(self, mpi, path):
        running = self.box.start_traced(2, harness.program("halo2d", mpi), "100000", "32", PAUSE[mpi],
                                        options=("--dump", path))
        before = self.box.live_with_messages(self.box.job_name(running), running, at_least=40)
        self.box.wait_for("a flush", lambda: dump.stored_messages(path) >= before["messages"]["matched"],
                          running=running)
        return running, before["messages"]["matched"]

    @on_every_mpi
    def test_launcher_killed(self, mpi):
        """As without pclscope the ranks end with their launcher."""
        path = self.box.directory / f"launcher-{mpi}.h5"
        running, before = self.start_halo(mpi, path)
        launchers = self.box.application_ranks("mpirun") + self.box.application_ranks("mpiexec")
        self.assertTrue(launchers)
        self.box.will_be_orphaned()
        self.box.kill(launchers)
        self.assertNotEqual(running.finish().code, 0)
        self.box.remains()
        self.assertGreaterEqual(len(dump.read_messages(path)), before)
        self.opens(path)

    @on_every_mpi
    def test_rank_killed(self, mpi):
        path = self.box.directory / f"rank-{mpi}.h5"
        running, before = self.start_halo(mpi, path)
        os.kill(self.box.application_ranks("halo2d")[0], signal.SIGKILL)
        self.assertNotEqual(running.finish().code, 0)
        self.assertGreaterEqual(len(dump.read_messages(path)), before)
        messages = self.opens(path)["messages"]
        self.assertEqual((messages["ambiguous"], messages["dropped_events"]), (0, 0))

    @on_every_mpi
    def test_aggregator_killed(self, mpi):
        path = self.box.directory / f"aggregator-{mpi}.h5"
        command = (harness.program("halo2d", mpi), "1000000", "32", "20000", self.box.until())
        running = self.box.start_traced(2, *command, options=("--dump", path))
        self.box.live_with_messages(self.box.job_name(running), running, at_least=8)
        worker, = self.box.aggregator_workers()
        os.kill(worker, signal.SIGKILL)
        done = self.box.end(running)
        iterations = re.search(r"iterations (\d+)", done.stdout)
        self.assertTrue(iterations, str(done))
        bare = self.box.bare(mpi, 2, harness.program("halo2d", mpi), iterations[1], "32")
        self.assertEqual((done.code, done.stdout), (bare.code, bare.stdout), str(done))
        self.opens(path)

    # --- stopped ---
    def test_aggregator_stopped_for_seconds(self):
        """The application goes on and ends its work; what is lost is counted; no pair is wrong after it."""
        kind = random_programs.Kind(("--monotonic",), ambiguous=True, dropped=True)
        seconds = thinned(10, 5)
        directory = self.box.directory
        running = self.box.start_traced(
            3, harness.program("random_program", "openmpi"), "--messages", thinned("600000", "300000"),
            "--seed", "5", "--monotonic", "--directory", directory,
            options=("--dump", directory / "stopped.h5", "--clock", "monotonic", "--ring-events", "1024",
                     "--overflow-wait", "1000"))  # the default
        self.box.live_with_messages(self.box.job_name(running), running, at_least=100)
        worker, = self.box.aggregator_workers()
        os.kill(worker, signal.SIGSTOP)
        self.assertTrue(running.running())
        stopped = time.monotonic_ns()
        time.sleep(seconds)  # what was sent meanwhile is judged by the program's own clock
        os.kill(worker, signal.SIGCONT)
        self.assertWorked(running.finish(3 * harness.PATIENCE))
        truth = oracle.Oracle(directory, 3)
        self.assertEqual(truth.faults, [])
        meanwhile = truth.all.send_before - stopped
        # Ranks that wait for the aggregator send nothing. A message takes some 30 us of a core, so that of two cores
        # with ten others on each 1000 take less than a second.
        went_on = int(((meanwhile > 5e8) & (meanwhile < seconds * 1e9)).sum())
        self.assertGreater(went_on, 1000, "the application went on")
        totals, rows = self.opens(directory / "stopped.h5")["messages"], dump.read_messages(directory / "stopped.h5")
        self.assertGreater(totals["dropped_events"], 0)
        self.assertEqual(random_programs.counts_disagree(kind, truth, totals, len(rows)), [])
        nothing = truth.recorded_on_both_sides() & False
        self.assertEqual(oracle.compare(rows, truth, True, nothing)[:oracle.MOST], [])

    def test_what_the_analysis_has_no_time_for_is_counted(self):
        """A worker that finds full rings leaves out single messages; counts stay exact, and nothing is lost."""
        self.box.environment["OMPI_MCA_mpi_yield_when_idle"] = "0"  # as many messages as there can be
        path = self.box.directory / "behind.h5"
        running = self.box.start_traced(2, harness.program("halo2d", "openmpi"), "100000000", "4", "0",
                                        self.box.until(), options=("--dump", path, "--overflow-wait", "600000"))
        name = self.box.job_name(running)
        self.box.live_with_messages(name, running, at_least=100)
        worker, = self.box.aggregator_workers()
        lengths = iter([1, 2, 4, 8, 16] + 100 * [32])  # seconds: until one is long enough to fill the rings

        def some_left_out():
            os.kill(worker, signal.SIGSTOP)
            time.sleep(next(lengths))
            os.kill(worker, signal.SIGCONT)
            time.sleep(1)
            return self.box.live(name)["retention"]["messages_shed"] > 0

        self.box.wait_for("messages that are not kept", some_left_out, running=running)
        done = self.box.end(running)
        self.assertWorked(done)
        summary, rows = self.box.json("inspect", path, "--json"), dump.read_messages(path)
        iterations = int(re.search(r"iterations (\d+)", done.stdout)[1])
        self.assertMatched(summary, 2 * iterations)
        retention = summary["retention"]
        self.assertGreater(retention["messages_shed"], 0)
        self.assertLess(retention["shed_from_s"], retention["shed_to_s"])
        self.assertEqual(len(rows) + retention["messages_left_out"], 2 * iterations, retention)
        shed, messages = dump.read_windows(path, "shed", "messages")
        self.assertEqual(int(shed.sum()), retention["messages_shed"])
        self.assertTrue((shed <= messages).all())
        self.assertIn("for lack of time", self.box.run(harness.PCLSCOPE, "inspect", path).stdout)

    # --- many ---
    @on_one_mpi("mpich")
    def test_2000_communicators(self, mpi):
        summary, _, _ = self.both(mpi, 2, "many_comms", "2000")
        self.assertMatched(summary, 2 * 2000)

    def test_communicators_of_8_ranks(self):
        made = thinned(2000, 500)
        summary, _, _ = self.both("openmpi", 8, "many_comms", str(made))
        self.assertMatched(summary, 8 * made)

    def test_outstanding_requests_by_the_100000(self):
        """By hand, with 1,000,000: PCL_OUTSTANDING=1000000."""
        messages = int(os.environ.get("PCL_OUTSTANDING", "100000"))
        summary, bare, traced = self.both("openmpi", 2, "outstanding", str(messages), "2",
                                          options=("--overflow-wait", "60000"), timeout=3 * harness.PATIENCE)
        self.assertMatched(summary, 2 * 2 * messages)
        print("bare:", bare.stderr.strip(), " traced:", traced.stderr.strip(), flush=True)

    def test_20000_outstanding_requests_under_mpich(self):
        if "mpich" not in harness.MPIS:
            self.skipTest("mpich is not built")
        summary, _, _ = self.both("mpich", 2, "outstanding", "20000", "2", options=("--overflow-wait", "60000"))
        self.assertMatched(summary, 2 * 2 * 20000)

    @on_one_mpi("openmpi")
    def test_ring_of_64_events(self, mpi):
        summary, _, _ = self.both(mpi, 2, "persistent_halo", "400", "16",
                                  options=("--ring-events", "64", "--overflow-wait", "60000"))
        self.assertMatched(summary, 2 * 2 * 400)

    # --- forks ---
    @on_every_mpi
    def test_forks(self, mpi):
        for how in ("quiet", "exit", "exec", "shell"):
            with self.subTest(how=how):
                summary, _, traced = self.both(mpi, 2, "forking", how, "30")
                self.assertMatched(summary, 2 * 30)
                self.assertEqual(traced.our_lines(), [])


if __name__ == "__main__":
    harness.main()
