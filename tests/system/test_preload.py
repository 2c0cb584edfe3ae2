"""The preloaded library where it does not belong: nothing happens, or one line says what is wrong.
Depends on: launcher."""
import harness


def other(mpi):
    return "mpich" if mpi == "openmpi" else "openmpi"


class Preload(harness.SystemTest):
    def preloaded(self, mpi, *command, timeout=harness.PATIENCE):
        return self.box.run("env", harness.preload(harness.library(mpi)), *command, timeout=timeout)

    def assertUnchanged(self, mpi, *command):
        """The same output and status, and not a word, with the library as without it."""
        bare = self.box.run(*command)
        self.assertWorked(bare)
        done = self.preloaded(mpi, *command)
        self.assertEqual((done.code, done.stdout, done.stderr), (0, bare.stdout, bare.stderr), str(done))

    @harness.on_every_mpi
    def test_programs_without_mpi(self, mpi):
        self.assertUnchanged(mpi, "bash", "-c", "echo $((6 * 7)); /bin/true | cat; (exit 0)")
        self.assertUnchanged(mpi, "/usr/bin/python3", "-c",
                             "import ctypes, subprocess; print(subprocess.getoutput('echo 1'))")
        self.assertUnchanged(mpi, "ls", "/")

    @harness.on_every_mpi
    def test_singleton_without_mpirun(self, mpi):
        self.assertUnchanged(mpi, harness.program("ring", mpi), "5")
        self.assertUnchanged(mpi, harness.program("collectives", mpi), "1")

    def assertToldOnce(self, library, *command):
        """The same result, and one line that says that the library is the other MPI's."""
        bare = self.box.run(*command)
        self.assertWorked(bare)
        done = self.preloaded(library, *command)
        self.assertEqual((done.code, done.stdout), (0, bare.stdout), str(done))
        line, = done.stderr.splitlines()
        for word in ("pclscope: ", f"libpclscope-{library}.so", f"libpclscope-{other(library)}.so",
                     {"openmpi": "Open MPI", "mpich": "MPICH"}[other(library)], "nothing is recorded"):
            self.assertIn(word, line)

    @harness.on_every_mpi
    def test_singleton_with_the_library_of_the_other_mpi(self, mpi):
        if other(mpi) not in harness.MPIS:
            self.skipTest("only one MPI is built")
        self.assertToldOnce(other(mpi), harness.program("ring", mpi), "5")

    @harness.on_every_mpi
    def test_whole_launcher_preloaded(self, mpi):
        """mpirun, orted, hydra's proxy, shells between them and the application all get the library."""
        for library in harness.MPIS:
            with self.subTest(library=library):
                command = self.box.bare_command(mpi, 2, "sh", "-c", harness.program("ring", mpi) + " 10")
                check = self.assertUnchanged if library == mpi else self.assertToldOnce
                check(library, *command)

    def test_open_mpi_daemon(self):
        self.assertUnchanged(harness.MPIS[0], "sh", "-c", "orted --version 2>&1 || true")

    def test_python_with_mpi4py_as_singleton(self):
        if self.box.run("/usr/bin/python3", "-c", "import mpi4py").code != 0:
            self.skipTest("mpi4py is not installed for /usr/bin/python3")
        script = harness.SOURCE / "tests" / "programs" / "objects.py"
        self.assertUnchanged("openmpi", "/usr/bin/python3", str(script), "3")

    def test_run_with_the_wrong_mpi_is_refused(self):
        for mpi in harness.MPIS:
            if other(mpi) not in harness.MPIS:
                self.skipTest("only one MPI is built")
            with self.subTest(mpi=mpi):
                done = self.box.traced(2, harness.program("ring", mpi), "5", options=("--mpi", other(mpi)))
                self.assertRefused(done, 2, "Open MPI" if mpi == "openmpi" else "MPICH", "--mpi")

    def test_wrong_mpi_hidden_in_a_script(self):
        """What cannot be seen from outside is noticed in MPI_Init: the application runs as its launcher lets it, one
        line tells the user."""
        if len(harness.MPIS) < 2:
            self.skipTest("only one MPI is built")
        script = self.box.directory / "hidden"
        script.write_text(f"#!/bin/sh\nexec {harness.program('ring', 'mpich')} 5\n")
        script.chmod(0o755)
        bare = self.box.bare("openmpi", 2, script)
        done = self.box.traced(2, script, options=("--mpi", "openmpi"))
        self.assertWorked(done, bare.code)
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(bare.stdout.splitlines()))
        ours = done.our_lines()
        self.assertGreaterEqual(len(ours), 1, str(done))
        self.assertLessEqual(len(ours), 2, "a line per process at most")
        self.assertIn("MPICH", ours[0])
        self.assertNotIn("did not finish within", done.stderr)  # what it says of an analysis that does not end


if __name__ == "__main__":
    harness.main()
