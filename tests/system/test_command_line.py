"""Wrong usage is refused in one line with status 2; help and version work; what pclscope says stays out of stdout.
Depends on: launcher."""
import os
import re

import harness


class CommandLine(harness.SystemTest):
    def test_unknown_options_and_commands(self):
        for words in (["--frobnicate"], ["frobnicate"], ["run", "--frobnicate", "-n", "2", "--", "true"],
                      ["watch", "--frobnicate"], ["inspect", "--frobnicate", "x.h5"], ["list", "--frobnicate"],
                      ["inspect", "x.h5", "frobnicate"]):
            with self.subTest(words=words):
                self.assertRefused(self.box.pclscope(*words), 2, "frobnicate")

    def test_mistyped_words(self):
        for words, meant in ((["inspekt", "x.h5"], "inspect"), (["wathc"], "watch"), (["att"], "attach"),
                             (["inspect", "x.h5", "finding"], "findings"), (["inspect", "x.h5", "mesages"], "messages"),
                             (["inspect", "x.h5", "--form", "3"], "--from"), (["list", "--jason"], "--json"),
                             (["run", "--dmup=x.h5", "-n", "2", "--", "true"], "--dump"),
                             (["run", "-n", "2", "--keep", "al", "--", "true"], "all"),
                             (["inspect", "x.h5", "messages", "--sort", "tiem"], "time"),
                             (["watch", "--until", "deadlok"], "deadlock")):
            with self.subTest(words=words):
                self.assertRefused(self.box.pclscope(*words), 2, f"did you mean '{meant}'?")
        for words in (["frobnicate"], ["inspect", "x.h5", "xyz"], ["list", "--zzz"]):
            self.assertNotIn("did you mean", self.box.pclscope(*words).stderr)

    def test_missing_and_wrong_values(self):
        for words, word in ((["run", "-n", "2"], "application"), (["run", "--", "true"], "--ranks"),
                            (["run", "-n", "0", "--", "true"], "--ranks"),
                            (["run", "-n", "many", "--", "true"], "many"),
                            (["run", "-n", "2", "--window", "soon", "--", "true"], "soon"),
                            (["run", "-n", "2", "--mpi", "lam", "--", "true"], "lam"),
                            (["run", "-n", "2", "--publish", "carrier-pigeon", "--", "true"], "carrier-pigeon"),
                            (["run", "-n", "2", "--launcher-args", "-n 3", "--", "true"], "-n"),
                            (["run", "-n", "2", "--launcher-args", "'open", "--", "true"], "quote"),
                            (["run", "-n", "2", "--dump", "", "--", "true"], "--dump"),
                            (["run", "-n", "2", "--budget", "1MB", "--", "true"], "--budget"),
                            (["run", "-n", "2", "--budget", "much", "--", "true"], "much"),
                            (["run", "-n", "2", "--keep", "some", "--", "true"], "some"),
                            (["run", "-n", "2", "--regions", "guessed", "--", "true"], "guessed"),
                            (["run", "-n", "2", "--baseline", "", "--", "true"], "--baseline"),
                            (["inspect", "x.h5", "dag", "--from", "soon"], "soon"),
                            (["inspect", "x.h5", "regions", "--cut", "none"], "--cut"),
                            (["inspect"], "target"), ([], "command")):
            with self.subTest(words=words):
                self.assertRefused(self.box.pclscope(*words), 2, word)

    def test_help_and_version(self):
        for words in (["--help"], ["--version"], ["run", "--help"], ["list", "--help"], ["watch", "--help"],
                      ["inspect", "--help"]):
            with self.subTest(words=words):
                done = self.box.pclscope(*words)
                self.assertWorked(done)
                self.assertRegex(done.stdout, r"\n\Z")
                self.assertEqual(done.stderr, "")

    def test_version_tells_how_it_was_built(self):
        lines = self.box.pclscope("--version").stdout.splitlines()
        self.assertRegex(lines[0], r"^pclscope \d+\.\d+\.\d+$")
        facts = [line.split(maxsplit=1) for line in lines[1:]]
        self.assertLessEqual({"compiler", "MPI", "HDF5"}, {name for name, _ in facts})
        for mpi, title in (("openmpi", "Open MPI"), ("mpich", "MPICH")):
            told = any(name == "MPI" and re.match(rf"{title} \d+\.\d+", value) for name, value in facts)
            self.assertEqual(told, mpi in harness.MPIS, lines)

    def test_application_arguments_pass_unchanged(self):
        mpi = harness.MPIS[0]
        words = ["a b", "", "--dump", "x", "*", "$HOME", "'", '"', "--", "-n", "\\"]
        bare = self.box.bare(mpi, 2, harness.program("world_view", mpi), *words)
        self.assertWorked(bare)
        traced = self.box.traced(2, harness.program("world_view", mpi), *words)
        self.assertWorked(traced)
        self.assertEqual(traced.stdout, bare.stdout)

    def test_standard_input_environment_and_directory_reach_the_application(self):
        here = self.box.directory / "here"
        here.mkdir()
        self.box.environment["SOME_VARIABLE"] = "some value"
        done = self.box.traced(1, "sh", "-c", "pwd; echo $SOME_VARIABLE", directory=here)
        self.assertWorked(done)
        self.assertEqual(done.stdout, f"{here}\nsome value\n")

    def test_search_paths_reach_the_application(self):
        """Open MPI would put its own folders first if we called it by its path: another python, another library."""
        self.box.environment["LD_LIBRARY_PATH"] = "/opt/of/the/user/lib"
        self.box.environment["PATH"] = f"/opt/of/the/user:{os.environ['PATH']}"
        for mpi in harness.MPIS:
            with self.subTest(mpi=mpi):
                words = ("sh", "-c", "echo $PATH $LD_LIBRARY_PATH")
                bare = self.box.bare(mpi, 1, *words)
                self.assertWorked(bare)
                traced = self.box.traced(1, *words, options=("--mpi", mpi))
                self.assertEqual(traced.stdout, bare.stdout)

    def test_preload_of_the_user_is_kept(self):
        mpi = harness.MPIS[0]
        self.box.environment["LD_PRELOAD"] = "libm.so.6"
        path = self.box.directory / "kept.h5"
        done = self.box.traced(1, harness.program("ring", mpi), "4", options=("--dump", path))
        self.assertWorked(done)
        self.assertComplete(self.box.json("inspect", path, "--json"), 1, 4)
        done = self.box.traced(1, "sh", "-c", "grep -c libm.so.6 /proc/self/maps")
        self.assertGreater(int(done.stdout), 0)

    def test_without_quiet_it_says_how_to_watch_and_what_was_seen(self):
        mpi = harness.MPIS[0]
        path = self.box.directory / "told.h5"
        done = self.box.run(harness.PCLSCOPE, "run", "-n", "2", "--dump", path, "--", harness.program("ring", mpi), "9")
        self.assertWorked(done)
        self.assertEqual(done.stdout, "ring: ranks 2 rounds 9 token 18\n")
        self.assertIn("pclscope watch", done.stderr)
        self.assertIn("told.h5", done.stderr)
        self.assertIn("18", done.stderr)
        self.assertEqual(len(done.our_lines()), len(done.stderr.splitlines()), str(done))


if __name__ == "__main__":
    harness.main()
