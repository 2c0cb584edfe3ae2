"""Calls over time: their totals are those of the other tables, and slice by slice those of the single calls in the
dump, under each MPI, with several aggregators, in random programs, LAMMPS and HPC Challenge.
Depends on: launcher."""
import csv
import io
import shutil
import unittest

import dump
import harness
import numpy
from harness import on_one_mpi, thinned

RANKS = 4
PER_CALL = 2e-9  # s: the density counts whole nanoseconds
POLLS = "MPI_Test", "MPI_Iprobe", "MPI_Improbe"


def per_slice(slices):
    return dict(zip(*(found.tolist() for found in numpy.unique(slices, return_counts=True))))


def overlaps(begin, end, step):
    """{slice: ns that these intervals share with it}"""
    inside = {}
    for first, last in zip(begin.tolist(), end.tolist()):
        for k in range(first // step, last // step + 1):
            inside[k] = inside.get(k, 0) + min(last, (k + 1) * step) - max(first, k * step)
    return inside


class CallsOverTime(harness.SystemTest):
    def check(self, target):
        """Calls and seconds by function, as `inspect calls` has them. Polls are sampled alike."""
        activity = self.box.json("inspect", target, "activity", "--json")["activity"]
        table = self.box.json("inspect", target, "calls", "--json")["functions"]
        found = {f["function"]: f for f in activity["functions"]}
        self.assertEqual(sorted(found), sorted(f["function"] for f in table))
        for expected in table:
            of = found[expected["function"]]
            self.assertEqual(of["calls"], expected["calls"], expected["function"])
            self.assertAlmostEqual(of["inside_s"], expected["inside_s"], delta=1e-6 + PER_CALL * expected["calls"])
            for edge in ("starts", "ends"):
                self.assertEqual(sum(s[edge] for s in of["slices"]), of["calls"], f"{edge} of {of['function']}")
            self.assertAlmostEqual(sum(s["inside_s"] for s in of["slices"]), of["inside_s"], places=6)
        rows = list(csv.DictReader(io.StringIO(self.box.pclscope("inspect", target, "activity", "--csv").stdout)))
        self.assertEqual(len(rows), sum(len(f["slices"]) for f in activity["functions"]))
        self.assertEqual(sum(int(row["starts"]) for row in rows), sum(f["calls"] for f in table))
        bins = list(csv.DictReader(io.StringIO(self.box.pclscope("inspect", target, "durations", "--csv").stdout)))
        for edge in ("starts", "ends"):
            self.assertEqual(sum(int(row[edge]) for row in bins), sum(f["calls"] for f in table), edge)
        durations = self.box.json("inspect", target, "durations", "--json")["durations"]
        self.assertEqual(sum(len(f["bins"]) for f in durations["functions"]), len(bins))
        return found

    def against_single_calls(self, target):
        """Each slice of each function, counted anew from the rows of /calls: all calls must be stored. Of nonblocking
        collectives a row ends where they were posted; of polls it is one call of a loop."""
        activity = self.box.json("inspect", target, "activity", "--json")["activity"]
        step, names = round(activity["slice_s"] * 1e9), dump.function_names()
        rows = dump.read_calls(target)
        of_row = numpy.array(["MPI_" + names[function] for function in rows["function"].tolist()])
        exact = 0
        for function in activity["functions"]:
            name = function["function"]
            here = of_row == name
            begin, end = rows["begin"][here], rows["end"][here]
            slices = {round(s["begin_s"] * 1e9) // step: s for s in function["slices"]}
            self.assertEqual(function["calls"], len(begin), name)
            self.assertEqual(per_slice(begin // step), {k: s["starts"] for k, s in slices.items() if s["starts"]}, name)
            if rows["ending"][here].any():
                continue
            self.assertEqual(per_slice(end // step), {k: s["ends"] for k, s in slices.items() if s["ends"]}, name)
            if name.startswith(POLLS):
                continue
            inside = overlaps(begin, end, step)
            self.assertEqual(sum(inside.values()), int((end - begin).sum()))
            self.assertEqual({k: ns for k, ns in inside.items() if ns},
                             {k: round(s["inside_s"] * 1e9) for k, s in slices.items() if s["inside_s"]}, name)
            exact += len(begin)
        return exact

    def traced(self, mpi, *command, options=(), ranks=RANKS, **others):
        path = self.box.directory / f"calls-{mpi}.h5"
        self.assertWorked(self.box.traced(ranks, *command, options=("--dump", path, "--mpi", mpi, *options), **others))
        return path

    @on_one_mpi("mpich")
    def test_known_program(self, mpi):
        messages, sleep_us = 20, 10000
        path = self.traced(mpi, harness.program("late_sender", mpi), str(messages), str(sleep_us))
        found = self.check(path)
        self.assertEqual(found["MPI_Barrier"]["calls"], RANKS * messages)
        self.assertEqual(found["MPI_Send"]["calls"], RANKS // 2 * messages)
        self.assertEqual(found["MPI_Recv"]["calls"], RANKS // 2 * messages)
        # Each receive waits for its sender's sleep, less what the receiver came later than it.
        slept = RANKS // 2 * messages * sleep_us * 1e-6
        self.assertGreater(found["MPI_Recv"]["inside_s"] + found["MPI_Barrier"]["inside_s"], 0.8 * slept)
        text = self.box.pclscope("inspect", path, "activity").stdout
        self.assertIn("MPI_Recv", text)
        self.assertIn("computation", text)

    @on_one_mpi("openmpi")
    def test_polls_that_found_nothing(self, mpi):
        """They leave no event, and are looked at: functions and ranks have the same time of them."""
        for options in ((), ("--aggregators", "2")):
            with self.subTest(options):
                self.check_polls(mpi, options)

    def check_polls(self, mpi, options):
        """Looks are made when there is a core for them: too few are possible, far too many are not. An aggregator that
        takes seconds to begin, where cores are taken, has missed all of a run."""
        for attempt in range(4):
            notes = self.box.directory / f"polls-{mpi}-{len(options)}-{attempt}"
            notes.mkdir()
            path = self.traced(mpi, harness.program("polling", mpi), "2500", str(notes), options=options)
            found = self.check(path)
            ranks = self.box.json("inspect", path, "ranks", "--json")["ranks"]
            polled = [int((notes / f"rank-{rank}").read_text()) * 1e-9 for rank in range(RANKS)]
            inside = [r["mpi_s"] - r["init_s"] - r["finalize_s"] for r in ranks]
            functions = sum(f["inside_s"] for f in found.values())
            self.assertAlmostEqual(functions, sum(inside), delta=0.01 * functions, msg=str(ranks))
            self.assertLess(found["MPI_Iprobe"]["inside_s"], 1.6 * sum(polled))
            if found["MPI_Iprobe"]["inside_s"] > 0.3 * sum(polled) and all(
                    inside[rank] > 0.2 * polled[rank] for rank in range(1, RANKS)):
                return
            print(f"too few looks: {inside} of {polled}", flush=True)
        self.fail("four runs, and in none had all ranks been looked at while they polled")

    def test_several_aggregators(self):
        path = self.traced("openmpi", harness.program("halo2d", "openmpi"), "300", "32", "500",
                           options=("--aggregators", "2"))
        found = self.check(path)
        self.assertGreater(len(found), 2)

    def test_calls_that_go_on(self):
        """A receive that has not returned counts as time inside while it waits, and as a call when it has."""
        for options in ((), ("--aggregators", "2")):
            job = self.box.start_traced(2, harness.program("late_sender", "openmpi"), "1", "900000000",
                                        self.box.until(), options=options)
            name = self.box.job_name(job)

            def told(name=name):
                functions = self.box.json("inspect", name, "activity", "--json")["activity"]["functions"]
                found = {f["function"]: f for f in functions}.get("MPI_Recv")
                return found is not None and found["inside_s"] > 0.5 and found
            waiting = self.box.wait_for("a receive that waits", told, running=job)
            self.assertEqual(waiting["calls"], 0, options)
            self.assertWorked(self.box.end(job))

    @on_one_mpi("mpich")
    def test_single_calls(self, mpi):
        """The oracle is the table of single calls, which is written from another place."""
        for ranks, name, arguments in ((3, "collectives", ("1",)), (4, "cg_pattern", ()),
                                       (3, "persistent_halo", ("20",))):
            with self.subTest(name):
                path = self.traced(mpi, harness.program(name, mpi), *arguments, ranks=ranks, options=("--keep", "all"))
                self.check(path)
                self.assertGreater(self.against_single_calls(path), 200)

    @on_one_mpi("openmpi")
    def test_random_programs(self, mpi):
        seed, ranks = self.seed(), 3 if mpi == "openmpi" else 2
        for more in ((), ("--threads", "3")):
            with self.subTest(seed=seed, more=more):
                folder = self.box.directory / f"random-{mpi}-{len(more)}"
                folder.mkdir()
                messages = thinned(10_000, 2_000)
                path = self.traced(mpi, harness.program("random_program", mpi), "--messages", str(messages), "--seed",
                                   str(seed), "--directory", str(folder), *more, ranks=ranks, options=("--keep", "all"))
                self.check(path)
                self.assertGreater(self.against_single_calls(path), messages)

    def test_killed(self):
        """The dump of a job that was killed has all slices, as that of one that ended in order."""
        for options in ((), ("--aggregators", "2")):
            path = self.box.directory / "killed.h5"
            path.unlink(missing_ok=True)
            done = self.box.traced(RANKS, harness.program("crash", "openmpi"), "kill", "200", str(RANKS - 1), "3",
                                   "1500", options=("--dump", path, *options))
            self.assertNotEqual(done.code, 0, str(done))
            found = self.check(path)
            self.assertEqual(found["MPI_Sendrecv"]["calls"], 200 * RANKS)
            activity = self.box.json("inspect", path, "activity", "--json")["activity"]
            last_s = max(s["begin_s"] for f in activity["functions"] for s in f["slices"])
            self.assertGreater(last_s, 400 * activity["slice_s"], options)  # of a running job: 256 slices

    def test_full_resolution_of_a_running_job(self):
        """Who asks a running job gets all of its slices; its snapshots have 256."""
        for options in ((), ("--aggregators", "2")):
            job = self.box.start_traced(RANKS, harness.program("late_sender", "openmpi"), "100000", "10000",
                                        self.box.until(), options=options)
            name = self.box.job_name(job)

            def many(name=name):
                told = self.box.json("inspect", name, "activity", "--json")["activity"]
                slices = [s["begin_s"] for f in told["functions"] for s in f["slices"]]
                return slices and max(slices) > 400 * told["slice_s"] and told
            told = self.box.wait_for("all slices", many, running=job)
            for function in told["functions"]:
                self.assertEqual(sum(s["ends"] for s in function["slices"]), function["calls"], options)
            self.assertWorked(self.box.end(job))

    def test_lammps(self):
        if shutil.which("lmp") is None:
            self.skipTest("LAMMPS is not installed")
        melt = harness.SOURCE / "tests" / "data" / "lammps" / "melt.in"
        path = self.traced("openmpi", "lmp", "-log", "none", "-screen", "none", "-in", str(melt), "-var", "steps", "60",
                           ranks=2, options=("--keep", "all"))
        self.check(path)
        self.assertGreater(self.against_single_calls(path), 1000)

    @unittest.skipUnless(harness.checks.FULL, "in ci/nightly")
    def test_hpcc(self):
        if shutil.which("hpcc") is None:
            self.skipTest("HPC Challenge is not installed")
        directory = self.box.directory / "hpcc"
        directory.mkdir()
        shutil.copy(harness.DATA / "hpcc" / "hpccinf.txt", directory)
        path = self.traced("openmpi", "hpcc", options=("--keep", "all"), directory=directory)
        self.check(path)
        self.assertGreater(self.against_single_calls(path), 10_000)


if __name__ == "__main__":
    harness.main()
