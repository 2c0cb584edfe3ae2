"""`pclscope doctor` on this machine, and where /dev/shm is small: it foretells what a run does.
Depends on: launcher."""
import json
import unittest

import harness


class Doctor(harness.SystemTest):
    def asked(self, done):
        """{what: check} of its JSON, and whether a run would fail."""
        said = json.loads(done.stdout)
        self.assertEqual(done.code, int(said["would_fail"]), str(done))
        return {check["what"]: check for check in said["checks"]}, said["would_fail"]

    def test_on_this_machine(self):
        checks, fails = self.asked(self.box.pclscope("doctor", "-n", "2", "--json"))
        self.assertFalse(fails, checks)
        titles = {"openmpi": "Open MPI", "mpich": "MPICH"}
        for mpi in harness.MPIS:
            self.assertEqual(checks[titles[mpi]]["verdict"], "good")
            self.assertIn(f"mpirun.{mpi}", checks[titles[mpi]]["text"])
        for check in checks.values():
            self.assertEqual(check["verdict"] == "good", check["advice"] == "", check)
        text = self.box.pclscope("doctor", "-n", "2")
        self.assertWorked(text)
        self.assertEqual(text.stdout.splitlines()[-1], "Nothing here would stop a run.")

    def test_without_any_mpirun(self):
        done = self.box.run("env", "PATH=/nowhere", harness.PCLSCOPE, "doctor", "--json")
        checks, fails = self.asked(done)
        self.assertTrue(fails)
        self.assertEqual(checks["MPICH"]["verdict"], "stops")

    @unittest.skipIf("mpich" not in harness.MPIS, "no MPICH here")
    def test_a_small_shared_memory(self):
        """64 MB, as in a container: two ranks run, a hundred would not fit."""
        mount = "mount -t tmpfs -o size=64m tmpfs /dev/shm"

        def small(*command):
            done = self.box.in_private_mounts(mount, command)
            if done is None:
                self.skipTest("no private mounts here")
            return done

        checks, fails = self.asked(small(harness.PCLSCOPE, "doctor", "-n", "2", "--json"))
        self.assertFalse(fails, checks)
        self.assertEqual(checks["/dev/shm"]["verdict"], "note")
        self.assertIn("64.0 MiB", checks["/dev/shm"]["text"])
        run = small(*self.box.traced_command(2, harness.program("late_sender", "mpich"), "20", "1000"))
        self.assertWorked(run)
        checks, fails = self.asked(small(harness.PCLSCOPE, "doctor", "-n", "100", "--json"))
        self.assertTrue(fails)
        self.assertEqual(checks["/dev/shm"]["verdict"], "stops")
        self.assertIn("--shm-size", checks["/dev/shm"]["advice"])


if __name__ == "__main__":
    harness.main()
