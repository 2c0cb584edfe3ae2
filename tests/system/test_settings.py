"""Options of `pclscope run` from variables and from the user's file: the same as on the command line, which goes first.
Depends on: launcher."""
import re

import harness

# What is set, and a value that changes what `run --print` says.
VALUES = {"ranks": "3", "dump": "run.h5", "window": "50ms", "keep": "all", "budget": "500MB", "baseline": "none.h5",
          "regions": "paper", "half-life": "5", "publish": "none", "hosts": "localhost:9", "aggregators": "2",
          "rankfile": "none.txt", "launcher": "/bin/true", "launcher-args": "-genv A 'b c'", "ring-events": "128",
          "ring-limit": "100000", "stacks": "2", "ring-dir": "/tmp", "overflow": "drop", "overflow-wait": "10",
          "clock": "monotonic"}


class Settings(harness.SystemTest):
    def setUp(self):
        super().setUp()
        self.mpi = harness.MPIS[-1]
        self.file = self.box.directory / "config" / "pclscope" / "config"
        self.file.parent.mkdir(parents=True)
        self.application = ["--", harness.program("late_sender", self.mpi), "2"]

    def planned(self, *options, ranks=("-n", "2"), **variables):
        """(status, what is printed) of a run that is only planned, without what is another each time."""
        words = [f"{name}={value}" for name, value in variables.items()]
        done = self.box.run("env", *words, harness.PCLSCOPE, "run", "--print", *ranks, *options, *self.application)
        told = re.sub(r"\b[0-9a-f]{32}\b", "SECRET", done.stdout + done.stderr)
        return done.code, re.sub(r"late_sender-\w+-\d+", "JOB", told)

    @staticmethod
    def variable(option):
        return "PCLSCOPE_RUN_" + option.upper().replace("-", "_")

    def test_every_option_may_be_a_variable_or_in_the_file(self):
        options = re.findall(r"^  (?:-\w,)?--([a-z-]+)", self.box.pclscope("run", "--help").stdout, re.MULTILINE)
        self.assertLessEqual(set(VALUES), set(options))
        usual = self.planned()
        self.assertEqual(usual[0], 0, usual)
        for option, value in VALUES.items():
            with self.subTest(option=option):
                ranks = () if option == "ranks" else ("-n", "2")
                by_word = self.planned(f"--{option}={value}", ranks=ranks)
                self.assertNotEqual(by_word, usual)
                self.assertEqual(self.planned(ranks=ranks, **{self.variable(option): value}), by_word)
                self.file.write_text(f"# mine\n\n[run]\n  {option} = {value}\n")
                self.assertEqual(self.planned(ranks=ranks), by_word)
                self.file.unlink()

    def test_who_goes_first(self):
        self.file.write_text("window = 50ms\nquiet = yes\n")
        self.assertIn("--window-ms 50 ", self.planned()[1])
        self.assertIn("--window-ms 60 ", self.planned(PCLSCOPE_RUN_WINDOW="60ms")[1])
        self.assertIn("--window-ms 70 ", self.planned("--window", "70ms", PCLSCOPE_RUN_WINDOW="60ms")[1])
        self.assertIn("--window-ms 70 ", self.planned("--window=70ms", PCLSCOPE_RUN_WINDOW="nonsense")[1])

    def test_flags(self):
        run = ["run", "-n", "2", *self.application]
        for value, printed in (("yes", True), ("1", True), ("no", False), ("0", False)):
            done = self.box.run("env", f"PCLSCOPE_RUN_PRINT={value}", "PCLSCOPE_RUN_QUIET=yes", harness.PCLSCOPE, *run)
            self.assertWorked(done)
            self.assertEqual("pclscope-rank" in done.stdout, printed, str(done))
            self.assertEqual(done.our_lines(), [])

    def test_what_is_wrong_is_told_with_its_place(self):
        def refused(text, *words, **variables):
            self.file.write_text(text)
            named = [f"{name}={value}" for name, value in variables.items()]
            done = self.box.run("env", *named, harness.PCLSCOPE, "run", "-n", "2", *self.application)
            self.assertRefused(done, 2, *words)

        refused("keep = all\nwindwo = 50ms\n", f"{self.file}:2", "--windwo", "did you mean '--window'?")
        refused("\nkeep\n", f"{self.file}:2", "no setting")
        refused("keep = some\n", f"{self.file}:1", "some")
        refused("", "PCLSCOPE_RUN_WINDOW", "soon", PCLSCOPE_RUN_WINDOW="soon")
        refused("", "PCLSCOPE_RUN_QUIET", "perhaps", PCLSCOPE_RUN_QUIET="perhaps")
        refused("help = yes\n", f"{self.file}:1", "--help")
        self.file.write_text("nonsense\n")
        self.assertWorked(self.box.pclscope("run", "--help"))


if __name__ == "__main__":
    harness.main()
