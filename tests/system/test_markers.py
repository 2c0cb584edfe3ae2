"""Markers: parts that a program names, against what its ranks note of themselves; and the examples of docs/markers.md,
which run alike with and without the library.
Depends on: launcher."""
import os
import re
import shutil

import harness
from harness import on_one_mpi

RANKS, ROUNDS, WORK_US = 4, 50, 3000
NAMES = ("level 2", "round", "left", "right, with a name of more than forty bytes")  # in the order of their begins
WITHIN = 0.1  # of the noted time
EXAMPLES = re.compile(r"^```(c|fortran)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INCLUDE = harness.SOURCE / "interpose" / "marker"


class Markers(harness.SystemTest):
    def noted(self, directory):
        """{name: [(seconds inside, of that in MPI) of rank 0, ...]}"""
        noted = {}
        for rank in range(RANKS):
            for line in (directory / f"rank-{rank}").read_text().splitlines():
                name, inside, in_mpi = line.split("\t")
                noted.setdefault(name, []).append((int(inside) * 1e-9, int(in_mpi) * 1e-9))
        return noted

    def run_noted(self, mpi, *options):
        directory = self.box.directory / f"notes-{mpi}"
        directory.mkdir()
        command = (harness.program("markers", mpi), str(directory), str(ROUNDS), str(WORK_US))
        path = self.box.directory / f"markers-{mpi}.h5"
        done = self.box.traced(RANKS, *command, options=("--dump", path, "--mpi", mpi, *options))
        self.assertWorked(done)
        return path, self.noted(directory), done.stdout

    def assertNear(self, found, expected, of, what):
        self.assertLess(abs(found - expected), WITHIN * of, f"{what}: {found}, and noted {expected}")

    def check(self, path, noted):
        markers = self.box.json("inspect", path, "markers", "--json")["markers"]
        self.assertEqual(tuple(marker["name"] for marker in markers), NAMES)
        duration = self.box.json("inspect", path, "--json")["time"]["duration_s"]
        for marker in markers:
            name, of_ranks = marker["name"], noted[marker["name"]]
            times = RANKS * (1 if name == "level 2" else ROUNDS)
            self.assertEqual((marker["ranks"], marker["lowest_rank"], marker["highest_rank"], marker["times"],
                              marker["inside"], marker["cut"], marker["threads"]),
                             (RANKS, 0, RANKS - 1, times, 0, 0, False), name)
            numbers = (ROUNDS * RANKS, 1000, 999 + ROUNDS) if name == "round" else (0, None, None)
            self.assertEqual((marker["iterations"], marker["lowest_iteration"], marker["highest_iteration"]), numbers)
            whole = sum(inside for inside, _ in of_ranks)
            self.assertNear(marker["time_s"], whole, whole, f"{name}: time_s")
            self.assertNear(marker["mpi_s"], sum(in_mpi for _, in_mpi in of_ranks), whole, f"{name}: mpi_s")
            longest = max(inside for inside, _ in of_ranks)
            self.assertNear(marker["most_s"], longest, longest, f"{name}: most_s")
            self.assertNear(marker["most_useful_s"], max(inside - in_mpi for inside, in_mpi in of_ranks), longest,
                            f"{name}: most_useful_s")
            self.assertGreaterEqual(marker["begin_s"], 0)
            self.assertGreaterEqual(marker["end_s"] - marker["begin_s"], marker["most_s"] * (1 - WITHIN))
            self.assertLessEqual(marker["end_s"], duration)
        self.assertEqual(markers[3]["mpi_s"], 0, "no call in it")
        of_parts = {row["marker"]: row for row in self.box.json("inspect", path, "efficiency", "--json")["efficiencies"]
                    if row["scope"] == "marker"}
        self.assertEqual(sorted(of_parts), sorted(NAMES))
        for marker in markers:
            row = of_parts[marker["name"]]
            self.assertEqual((row["ranks"], row["serialisation"], row["transfer"]), (RANKS, None, None))
            outside = (marker["time_s"] - marker["mpi_s"]) / RANKS
            least, most = row["useful_least_s"], row["useful_most_s"]
            self.assertLessEqual(0, least)
            self.assertLessEqual(least, most)
            self.assertLessEqual(most, outside + 1e-9)
            if row["parallel"] is None:  # ranks were off the core, perhaps here
                self.assertGreater(most - least, 0.199 * most)
                continue
            self.assertLessEqual(most - least, 0.201 * most)
            self.assertAlmostEqual(row["useful_s"] + row["off_core_s"], outside, places=6)
            self.assertAlmostEqual(row["parallel"], row["useful_s"] / marker["most_s"], places=6)
            self.assertAlmostEqual(row["load_balance"], outside / marker["most_useful_s"], places=6)
        for name, of_ranks in noted.items():
            row = of_parts[name]
            if row["parallel"] is None:
                continue
            useful = [inside - in_mpi for inside, in_mpi in of_ranks]
            longest = max(inside for inside, _ in of_ranks)
            on_core = row["useful_s"] / (row["useful_s"] + row["off_core_s"])
            self.assertNear(row["load_balance"], sum(useful) / RANKS / max(useful), 1, f"{name}: balance")
            self.assertNear(row["communication"], on_core * max(useful) / longest, 1, f"{name}: communication")
        return markers

    @on_one_mpi("mpich")
    def test_against_notes(self, mpi):
        path, noted, said = self.run_noted(mpi)
        self.check(path, noted)
        bare = self.box.bare(mpi, RANKS, harness.program("markers", mpi), str(self.box.directory / f"notes-{mpi}"),
                             str(ROUNDS), "10")
        self.assertWorked(bare)
        self.assertEqual(bare.stdout, said)

    def test_forms(self):
        path, _, _ = self.run_noted("openmpi")
        text = self.box.pclscope("inspect", path, "markers").stdout
        self.assertRegex(text, r"round +0-3 .* 1000 to 1049 ")
        self.assertEqual(len(text.splitlines()), 1 + len(NAMES), text)
        rows = self.box.pclscope("inspect", path, "markers", "--csv").stdout.splitlines()
        self.assertTrue(rows[0].startswith("name,ranks,lowest_rank,"), rows[0])
        self.assertEqual(len(rows), 1 + len(NAMES))
        self.assertIn("marker left", self.box.pclscope("inspect", path, "efficiency").stdout)
        page = self.box.directory / "page.html"
        self.assertWorked(self.box.pclscope("report", path, "-o", page))
        self.assertIn("marker left", page.read_text())
        without = self.box.directory / "without.h5"
        self.assertWorked(self.box.traced(2, harness.program("ring", "openmpi"), options=("--dump", without)))
        self.assertIn("no markers", self.box.pclscope("inspect", without, "markers").stdout)
        self.assertEqual(self.box.json("inspect", without, "markers", "--json")["markers"], [])

    def test_of_several_aggregators(self):
        """Parts of ranks that two aggregators read are one, on the job's axis."""
        path, noted, _ = self.run_noted("openmpi", "--aggregators", "2")
        self.check(path, noted)

    def test_of_a_running_job(self):
        job = self.box.start_traced(2, harness.program("markers", "openmpi"), str(self.box.directory), "1000000",
                                    "2000", self.box.until())
        name = self.box.job_name(job)

        def told():
            markers = {m["name"]: m for m in self.box.json("inspect", name, "markers", "--json")["markers"]}
            return markers if "round" in markers and markers["round"]["iterations"] > 20 else None

        live = self.box.wait_for("markers", told, running=job)
        self.assertEqual((live["level 2"]["inside"], live["level 2"]["times"]), (2, 2))
        self.assertEqual((live["round"]["inside"], live["round"]["lowest_iteration"]), (2, 1000))
        self.assertGreater(live["round"]["mpi_s"], 0)
        self.assertGreaterEqual(live["level 2"]["time_s"], live["round"]["time_s"])
        self.assertWorked(self.box.end(job))

    def built(self, mpi, language, source, *flags):
        """The program of an example; None without a compiler."""
        compiler = shutil.which({"c": "mpicc", "fortran": "mpif90"}[language] + "." + mpi)
        if compiler is None:
            return None
        directory = self.box.directory / f"{language}-{mpi}{''.join(flags)}"
        directory.mkdir()
        path = directory / {"c": "program.c", "fortran": "program.f90"}[language]
        path.write_text(source)
        program = directory / "program"
        sources = (path,) if language == "c" else (INCLUDE / "pclscope.f90", path)
        done = self.box.run("env", "-C", directory, compiler, "-O1", *flags, f"-I{INCLUDE}", *sources, "-o", program)
        self.assertWorked(done)
        return program

    @on_one_mpi("openmpi")
    def test_examples(self, mpi):
        examples = EXAMPLES.findall((harness.SOURCE / "docs" / "markers.md").read_text())
        self.assertEqual([language for language, _ in examples], ["c", "fortran"])
        for language, source in examples:
            for flags in ((), ("-no-pie",)) if language == "c" else ((),):
                program = self.built(mpi, language, source, *flags)
                if program is None:
                    print(f"no {language} compiler for {mpi}: its example is not tested", flush=True)
                    continue
                bare = self.box.bare(mpi, 2, program)
                self.assertWorked(bare)
                path = self.box.directory / f"{language}-{mpi}{''.join(flags)}.h5"
                done = self.box.traced(2, program, options=("--dump", path, "--mpi", mpi))
                self.assertWorked(done)
                self.assertEqual(done.stdout, bare.stdout)
                markers = {m["name"]: m for m in self.box.json("inspect", path, "markers", "--json")["markers"]}
                self.assertEqual(sorted(markers), ["solve", "step"])
                self.assertEqual((markers["solve"]["times"], markers["solve"]["iterations"]), (2, 0))
                step = markers["step"]
                self.assertEqual((step["iterations"], step["lowest_iteration"], step["highest_iteration"]), (40, 1, 20))

    @on_one_mpi("mpich")
    def test_every_level_goes_on_to_mpi(self, mpi):
        """A library that stands before MPI's own has PMPI_Pcontrol, and says with what it was called."""
        levels = (2, 0, 7, 1, -1, -7, 1000000)
        probe, program = self.box.directory / "probe.c", self.box.directory / "levels.c"
        probe.write_text('#include <stdio.h>\nint PMPI_Pcontrol(const int level, ...);\n'
                         'int PMPI_Pcontrol(const int level, ...) {\n'
                         '  fprintf(stderr, "level %d\\n", level);\n  return 0;\n}\n')
        calls = "".join(f"  MPI_Pcontrol({level});\n" for level in levels)
        program.write_text(f"#include <mpi.h>\nint main(int argc, char** argv) {{\n  MPI_Init(&argc, &argv);\n{calls}"
                           "  MPI_Finalize();\n  return 0;\n}\n")
        there = self.box.directory
        self.assertWorked(self.box.run("cc", "-shared", "-fPIC", probe, "-o", there / "libprobe.so"))
        self.assertWorked(self.box.run(f"mpicc.{mpi}", program, "-Wl,--no-as-needed", f"-L{there}", "-lprobe",
                                       f"-Wl,-rpath,{there}", "-o", there / "levels"))
        path = there / "levels.h5"
        done = self.box.traced(1, there / "levels", options=("--dump", path, "--mpi", mpi))
        self.assertWorked(done)
        self.assertEqual(re.findall(r"level (-?\d+)", done.stderr), [str(level) for level in levels], str(done))
        markers = self.box.json("inspect", path, "markers", "--json")["markers"]
        self.assertEqual([(m["name"], m["times"], m["cut"]) for m in markers],
                         [("level 2", 1, 0), ("level 7", 1, 0), ("level 1000000", 1, 0)])

    def test_the_installed_header(self):
        where = self.box.directory / "installed"
        self.assertWorked(self.box.run("cmake", "--install", harness.BUILD, "--prefix", where))
        for name in ("pclscope.h", "pclscope.f90"):
            self.assertEqual((where / "include" / name).read_bytes(), (INCLUDE / name).read_bytes())
        # As every program may have it: strict C99 and C++ without a warning.
        unit = self.box.directory / "unit.c"
        unit.write_text('#include "pclscope.h"\nint f(void);\nint f(void) { pclscope_begin("a"); return 0; }\n')
        for compiler in (("cc", "-std=c99", "-pedantic"), ("c++", "-x", "c++", "-std=c++11")):
            done = self.box.run(*compiler, "-Wall", "-Wextra", "-Werror", f"-I{where / 'include'}", "-c", unit, "-o",
                                os.devnull)
            self.assertWorked(done)


if __name__ == "__main__":
    harness.main()
