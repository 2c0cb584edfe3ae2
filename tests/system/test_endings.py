"""What `pclscope run` does and says at the end of jobs that are short, fail in MPI_Init, or never get there: the status
is the application's, and each line is true. Depends on: launcher."""
import shlex
import signal

import dump
import harness
from harness import on_every_mpi

NEVER_MET = "ended without meeting pclscope's rank in MPI_Init"
NEVER_CALLED = "ended without calling MPI_Init"
# Of a shell that becomes the program: without what MPI needs to find the others.
LOSE_MANAGER = {"mpich": "export PMI_FD=999", "openmpi": "export OMPI_MCA_btl=none"}
ALONE = "unset PMI_FD PMI_RANK PMI_SIZE PMI_PORT PMI_ID"


class Endings(harness.SystemTest):
    def as_user(self, mpi, *command, options=(), ranks=2):
        """As a user starts it: not quiet."""
        return self.box.run(harness.PCLSCOPE, "run", "-n", ranks, "--mpi", mpi, *options, "--", *command)

    @staticmethod
    def exchange(mpi, before="true", how="exit", status="0"):
        program = shlex.join([str(harness.program("crash", mpi)), how, "40", "0", status])
        return ("sh", "-c", f"{before}; exec {program}")

    def assertNothing(self, done, why):
        lines = [line for line in done.our_lines() if "starts" not in line]
        self.assertEqual(len(lines), 1, str(done))
        self.assertIn(why, lines[0])
        self.assertIn("nothing was recorded", lines[0])

    @on_every_mpi
    def test_mpi_init_fails_in_all_ranks(self, mpi):
        """The tool's rank, which waits for them in there, must not hold the job."""
        command = self.exchange(mpi, LOSE_MANAGER[mpi])
        bare, done = self.box.bare(mpi, 2, *command), self.as_user(mpi, *command)
        self.assertNotEqual(bare.code, 0, str(bare))
        self.assertEqual(done.code, bare.code, str(done))
        if mpi == "mpich":  # Open MPI's launcher ends the tool's rank with the others
            self.assertNothing(done, NEVER_MET)
            several = self.as_user(mpi, *command, options=("--aggregators", "2"))
            self.assertEqual(several.code, bare.code, str(several))
            self.assertNothing(several, NEVER_MET)  # one speaks for the node

    def test_ranks_that_are_jobs_of_their_own(self):
        if "mpich" not in harness.MPIS:
            self.skipTest("MPICH's alone, see docs/limits.md")
        command = self.exchange("mpich", ALONE, how="single")
        self.assertWorked(self.box.bare("mpich", 2, *command))
        done = self.as_user("mpich", *command)
        self.assertWorked(done)
        self.assertNothing(done, NEVER_MET)

    def test_user_ends_a_job_that_hangs_in_mpi_init(self):
        """One rank ends before MPI_Init, the other waits for it, bare as well."""
        mpi, reached = "mpich", self.box.directory / "reached"
        if mpi not in harness.MPIS:
            self.skipTest("Open MPI's launcher ends such a job")
        command = ("sh", "-c", f"test $PMI_RANK = 1 && exit 0; touch {reached}; exec {harness.program('crash', mpi)}")
        running = self.box.start(harness.PCLSCOPE, "run", "-n", "2", "--mpi", mpi, "--", *command)
        self.box.wait_for("the other rank", reached.exists, running=running)
        self.box.job_name(running)  # the aggregator is there, too
        running.process.send_signal(signal.SIGTERM)
        lines = [line for line in running.finish().our_lines() if "starts" not in line]
        self.assertTrue(lines, "something must be said")
        self.assertFalse([line for line in lines if "nothing was recorded" not in line], lines)

    @on_every_mpi
    def test_ends_without_mpi(self, mpi):
        for status in ("0", "2"):
            with self.subTest(status=status):
                done = self.as_user(mpi, "sh", "-c", f"exit {status}")
                self.assertWorked(done, int(status))
                self.assertEqual([line for line in done.our_lines() if "matched" in line or "complete" in line], [])
                if status == "0":  # else a launcher may end the tool's rank before it has said anything
                    self.assertNothing(done, NEVER_CALLED)

    @on_every_mpi
    def test_short_job_without_a_dump(self, mpi):
        done = self.as_user(mpi, *self.exchange(mpi))
        self.assertWorked(done)
        self.assertTrue(any(": 80 messages matched" in line for line in done.our_lines()), str(done))
        self.assertFalse(any("not complete" in line for line in done.our_lines()), str(done))

    def test_offered_command_can_be_pasted(self):
        mpi = harness.MPIS[0]
        folder = self.box.directory / "odd $HOME 'dir'"
        folder.mkdir()
        path = folder / "d <b>&.h5"
        done = self.as_user(mpi, *self.exchange(mpi), options=("--dump", path))
        self.assertWorked(done)
        offer = next(line for line in done.our_lines() if "to look at it: pclscope inspect" in line)
        words = offer.partition("to look at it: ")[2]
        looked = self.box.run("sh", "-c", f"set -- {words}; shift; exec {harness.PCLSCOPE} \"$@\" --json")
        self.assertWorked(looked)
        self.assertTrue(dump.is_complete(path))


if __name__ == "__main__":
    harness.main()
