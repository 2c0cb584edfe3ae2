"""Applications that are no MPI programs, are missing, fail, abort, crash or are killed: their exit status comes
through, and the dump holds what was recorded. Depends on: launcher."""
import os
import signal

import dump
import harness
import paper
import remains
from harness import on_every_mpi

RANKS, MESSAGES = 2, 40
TABLE = paper.crash(RANKS, MESSAGES)
MPIRUN_CRASHED = 139  # Open MPI's launcher, after MPI_Abort, now and then: who was not through yet is lost


class FailingApplications(harness.SystemTest):
    def assertHolds(self, path, complete=None):
        """The dump opens and holds every message that was exchanged before the end."""
        summary = self.box.json("inspect", path, "--json")
        self.assertComplete(summary, RANKS, paper.total(TABLE), paper.total_bytes(TABLE))
        self.assertEqual(dump.read_messages(path).channels(), TABLE)
        if complete is not None:
            self.assertEqual(dump.is_complete(path), complete)

    def crash(self, mpi, how):
        """Crashes bare and traced: same output, same exit status; the dump holds everything."""
        arguments = (harness.program("crash", mpi), how, str(MESSAGES), "1", "3")
        path = self.box.directory / f"{how}-{mpi}.h5"

        def start():
            path.unlink(missing_ok=True)
            return self.box.start_traced(RANKS, *arguments, options=("--dump", path))
        bare, ended = self.side_by_side(mpi, RANKS, arguments, start)

        def traced():
            done = ended()
            self.assertNotIn("did not finish within", done.stderr)  # what it says of an analysis that does not end
            if done.code != MPIRUN_CRASHED or how == "segfault":
                # Who leaves without MPI_Finalize may be killed by the launcher before it has said so.
                self.assertHolds(path, {"exit": True, "one-exit": True, "segfault": False, "kill": False}.get(how))
            return done

        def end(done):
            self.assertNotEqual(done.code, 0, str(done))
            status, said = done.end()
            return said if (mpi, how) == ("mpich", "early") else (status, said)  # any of the killed ranks' (limits.md)

        self.assertEndsAlike(bare, traced, end, is_chance=harness.end_is_chance(arguments))

    @on_every_mpi
    def test_every_rank_returns_3(self, mpi):
        self.crash(mpi, "exit")

    @on_every_mpi
    def test_one_rank_returns_3(self, mpi):
        self.crash(mpi, "one-exit")

    @on_every_mpi
    def test_every_rank_returns_3_without_finalize(self, mpi):
        self.crash(mpi, "leave")

    @on_every_mpi
    def test_exit_without_finalize(self, mpi):
        self.crash(mpi, "early")

    @on_every_mpi
    def test_mpi_abort(self, mpi):
        self.crash(mpi, "abort")

    @on_every_mpi
    def test_segmentation_fault(self, mpi):
        self.crash(mpi, "segfault")

    @on_every_mpi
    def test_rank_kills_itself(self, mpi):
        self.crash(mpi, "kill")

    @on_every_mpi
    def test_rank_killed_from_outside(self, mpi):
        path = self.box.directory / f"killed-{mpi}.h5"
        pause = "2000" if mpi == "openmpi" else "20000"
        running = self.box.start_traced(RANKS, harness.program("halo2d", mpi), "100000", "32", pause,
                                        options=("--dump", path))
        before = self.box.live_with_messages(self.box.job_name(running), running, at_least=40)
        victim = self.box.application_ranks("halo2d")[-1]
        rank = next(int(word.split(b"=")[1]) for word in remains.environment(remains.PROCESSES / str(victim))
                    if word.startswith((b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK=")))
        os.kill(victim, signal.SIGKILL)
        done = running.finish()
        self.assertNotEqual(done.code, 0, str(done))
        summary = self.box.json("inspect", path, "--json")
        says = dump.torn(path)
        self.assertTrue(says.closed, "the aggregator had time to")
        self.assertFalse(says.complete)
        self.assertIn(rank, says.missing)
        self.assertGreaterEqual(summary["messages"]["matched"], before["messages"]["matched"])
        self.assertEqual(summary["messages"]["matched"], len(dump.read_messages(path)))
        self.assertEqual(summary["messages"]["ambiguous"], 0)
        self.assertEqual(summary["messages"]["dropped_events"], 0)
        # At the moment of death at most one message per direction was under way.
        self.assertLessEqual(summary["messages"]["unmatched_sends"], 2)

    @on_every_mpi
    def test_user_ends_a_hanging_job(self, mpi):
        for number, name in ((signal.SIGINT, "interrupt"), (signal.SIGTERM, "terminate")):
            with self.subTest(signal=name):
                path = self.box.directory / f"{name}-{mpi}.h5"
                running = self.box.start_traced(RANKS, harness.program("crash", mpi), "deadlock", str(MESSAGES),
                                                options=("--dump", path))
                self.box.live_with_messages(self.box.job_name(running), running, at_least=paper.total(TABLE))
                running.process.send_signal(number)
                self.assertNotEqual(running.finish().code, 0)
                self.assertEqual(dump.read_messages(path).channels(), TABLE)

    def test_not_an_mpi_program(self):
        path = self.box.directory / "nothing.h5"
        command = (str(harness.BUILD / "tests" / "programs" / "not_mpi"), "3", "some", "words")

        def end(done):  # who is not through when the first one returns 3 may be killed before it says anything
            return done.end() if done.end() == (3, "3 some words\n" * 2) else None
        traced = (harness.PCLSCOPE, "run", "-n", "2", "--dump", path, "--", *command)
        done = self.assertEndsAlike(lambda: self.box.bare(harness.MPIS[0], 2, *command),
                                    lambda: self.box.run(*traced), end, is_chance=True)
        self.assertTrue(any("MPI" in line for line in done.our_lines()), str(done))

    def test_not_an_mpi_program_that_succeeds(self):
        done = self.box.traced(2, "true")
        self.assertWorked(done)
        self.assertEqual(done.stdout, "")

    def test_shell_that_starts_an_mpi_program(self):
        for mpi in harness.MPIS:
            with self.subTest(mpi=mpi):
                path = self.box.directory / f"shell-{mpi}.h5"
                command = ("sh", "-c", f"{harness.program('crash', mpi)} exit {MESSAGES} 0 0")
                self.assertWorked(self.box.traced(RANKS, *command, options=("--mpi", mpi, "--dump", path)))
                self.assertHolds(path, complete=True)

    def test_missing_application(self):
        done = self.box.pclscope("run", "-n", "2", "--", "./no-such-program")
        self.assertRefused(done, 127, "no-such-program")

    def test_application_that_is_not_executable(self):
        file = self.box.directory / "data.txt"
        file.write_text("no program\n")
        self.assertRefused(self.box.pclscope("run", "-n", "2", "--", file), 126, "data.txt")

    def test_killed_so_hard_that_nothing_can_be_closed(self):
        """SIGKILL for everything at once: the dump holds what was flushed, at least every second."""
        mpi = harness.MPIS[0]
        path = self.box.directory / "cut.h5"
        running = self.box.start_traced(4, harness.program("halo2d", mpi), "100000", "32", "2000",
                                        options=("--dump", path))
        early = self.box.live_with_messages(self.box.job_name(running), running, at_least=400)
        self.box.wait_for("a flush", lambda: dump.stored_messages(path) >= early["messages"]["matched"],
                          running=running)
        self.box.kill_everything()
        running.finish()
        rows = dump.read_messages(path)
        self.assertFalse(dump.is_complete(path))
        self.assertGreaterEqual(len(rows), early["messages"]["matched"])
        done = self.box.pclscope("inspect", path, "--json")
        self.assertWorked(done)
        self.assertEqual(len(done.our_lines()), 1, str(done))
        self.assertIn("incomplete", done.our_lines()[0])
        # What was announced does not stay: the dead job is not listed.
        self.assertEqual(self.box.json("list", "--json")["jobs"], [])


if __name__ == "__main__":
    harness.main()
