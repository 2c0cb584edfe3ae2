"""The application in a container, pclscope outside: what `doctor --container` names is enough, and what is missing
is said. Depends on: launcher."""
import shlex
import shutil
import subprocess

import harness

RANKS, ROUNDS = 2, 50


class Containers(harness.SystemTest):
    def setUp(self):
        if subprocess.run(["bwrap", "--ro-bind", "/", "/", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no bwrap (bubblewrap), or it is not allowed here")
        super().setUp()

    def printed(self):
        """The words for bubblewrap, over this machine's root without our build."""
        told = self.box.pclscope("doctor", "--container")
        self.assertWorked(told)
        words = shlex.split(told.stdout.splitlines()[-1])
        self.assertEqual((words[0], words[-1]), ("bwrap", "./app"), str(told))
        words[words.index("ROOT")] = "/"
        at = words.index("/proc") + 1
        return [*words[:at], "--tmpfs", str(harness.BUILD), *words[at:-1]]

    def traced(self, container, mpi, *options):
        ring = self.box.directory / f"ring-{mpi}"
        shutil.copy(harness.program("ring", mpi), ring)
        return self.box.traced(RANKS, *container, ring, ROUNDS, options=("--mpi", mpi, *options))

    @harness.on_every_mpi
    def test_what_is_printed_is_enough(self, mpi):
        dump = self.box.directory / f"{mpi}.h5"
        done = self.traced(self.printed(), mpi, "--dump", dump)
        self.assertWorked(done)
        self.assertIn(f"ring: ranks {RANKS} rounds {ROUNDS} token {RANKS * ROUNDS}", done.stdout)
        self.assertComplete(self.box.json("inspect", dump, "--json"), RANKS, matched=RANKS * ROUNDS)

    def test_what_is_missing_is_said(self):
        mpi = harness.MPIS[0]
        bound = self.printed()
        at = bound.index(str(harness.BUILD / "lib")) - 1
        self.assertEqual(bound[at], "--ro-bind")
        for what, container in (("a container without", [*bound[:at], *bound[at + 3:]]),
                                ("without the preloaded library", [*bound, "--unsetenv", "LD_PRELOAD"])):
            with self.subTest(missing=what):
                done = self.traced(container, mpi)
                self.assertNotEqual(done.code, 0, str(done))
                self.assertTrue(any(what in line for line in done.our_lines()), str(done))


if __name__ == "__main__":
    harness.main()
