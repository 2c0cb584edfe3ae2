"""Real programs run unchanged: LAMMPS, HPC Challenge, Python with mpi4py.
Depends on: launcher."""
import re
import shutil

import dump
import harness
import paper

MELT = ("-log", "none", "-in", str(harness.DATA / "lammps" / "melt.in"))


def thermo_table(text):
    """The lines between the header `Step Temp ...` and `Loop time`: what physics says, no timings."""
    found = re.search(r"^\s*Step .*?(?=^Loop time)", text, re.MULTILINE | re.DOTALL)
    return [line.split() for line in found.group().splitlines()] if found else None


class Applications(harness.SystemTest):
    def needs(self, name):
        path = shutil.which(name)
        if path is None:
            self.skipTest(f"{name} is not installed")
        if "openmpi" not in harness.MPIS:
            self.skipTest("Debian's programs use Open MPI, which is not built")
        return path

    def test_lammps_melt(self):
        lmp = self.needs("lmp")
        bare = self.box.bare("openmpi", 4, lmp, *MELT)
        self.assertWorked(bare)
        path = self.box.directory / "run.h5"
        traced = self.box.traced(4, lmp, *MELT, options=("--dump", path))
        self.assertWorked(traced)
        table = thermo_table(bare.stdout)
        self.assertEqual(len(table), 12, bare.stdout)
        self.assertEqual(thermo_table(traced.stdout), table)
        summary = self.box.json("inspect", path, "--json")
        self.assertComplete(summary, 4)
        self.assertGreater(summary["messages"]["matched"], 1000)
        self.assertEqual(summary["messages"]["matched"], len(dump.read_messages(path)))
        self.assertTrue(summary["regions"])

    def test_hpcc(self):
        hpcc = self.needs("hpcc")
        directory = self.box.directory / "hpcc"
        directory.mkdir()
        shutil.copy(harness.DATA / "hpcc" / "hpccinf.txt", directory)
        path = directory / "run.h5"
        self.assertWorked(self.box.traced(4, hpcc, options=("--dump", path), directory=directory))
        output = (directory / "hpccoutf.txt").read_text()
        self.assertIn("End of HPC Challenge tests.", output)
        self.assertRegex(output, r"(?m)^Success=1$")
        self.assertRegex(output, r"(?m)^CommWorldProcs=4$")
        self.assertNotRegex(output, "FAILED")
        summary = self.box.json("inspect", path, "--json")
        self.assertComplete(summary, 4)
        self.assertGreater(summary["messages"]["matched"], 1000)

    def test_python_with_mpi4py(self):
        self.needs("/usr/bin/python3")
        script = str(harness.SOURCE / "tests" / "programs" / "objects.py")
        command = ("/usr/bin/python3", script, "15")
        if self.box.run("/usr/bin/python3", "-c", "import mpi4py").code != 0:
            self.skipTest("mpi4py is not installed for /usr/bin/python3")
        bare = self.box.bare("openmpi", 3, *command)
        self.assertWorked(bare)
        path = self.box.directory / "objects.h5"
        traced = self.box.traced(3, *command, options=("--dump", path))
        self.assertWorked(traced)
        self.assertEqual(traced.stdout, bare.stdout)
        self.assertComplete(self.box.json("inspect", path, "--json"), 3, paper.objects_count(3, 15))

    def test_whatever_mpi4py_makes_of_objects(self):
        """Each message is paired: as many as the program has counted itself."""
        self.needs("/usr/bin/python3")
        if self.box.run("/usr/bin/python3", "-c", "import mpi4py, numpy").code != 0:
            self.skipTest("mpi4py is not installed for /usr/bin/python3")
        command = ("/usr/bin/python3", str(harness.SOURCE / "tests" / "programs" / "pickled.py"), "3")
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                path = self.box.directory / f"pickled-{ranks}.h5"
                traced = self.box.traced(ranks, *command, options=("--dump", path, "--keep", "all"))
                self.assertWorked(traced)
                told = re.fullmatch(rf"pickled: ranks {ranks} rounds 3 threads True messages (\d+)\n", traced.stdout)
                self.assertTrue(told, traced.stdout)
                summary = self.box.json("inspect", path, "--json")
                self.assertComplete(summary, ranks, int(told.group(1)))
                self.assertEqual(summary["messages"]["half_recorded"], 0)
                self.assertEqual(len(dump.read_messages(path)), int(told.group(1)))


if __name__ == "__main__":
    harness.main()
