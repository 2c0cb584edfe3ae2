"""pclscope run inside allocations of a real Slurm on one node. Depends on: launcher."""
import pathlib
import unittest

import dump as read
import harness
import checks  # noqa: E402  harness knows where it lies
import slurm

RANKS, ROUNDS = 4, 100
PCLSCOPE = harness.PCLSCOPE
# Which of Slurm's plug-ins an MPI finds its world by; with the other one each process is a job of its own.
TYPES = {"openmpi": "pmix", "mpich": "pmi2"}


class OneNode(harness.SystemTest):
    def setUp(self):
        reason = slurm.why_not()
        if reason:
            self.skipTest(f"no Slurm: {reason}")
        super().setUp()
        self.slurm = slurm.Slurm(self.box, cores=32)
        self.addCleanup(self.slurm.close)

    def assertRing(self, dump, told):
        """All messages of the ring were seen: matched counts are known on paper."""
        self.assertIn(f"ring: ranks {RANKS} rounds {ROUNDS} token {RANKS * ROUNDS}", told)
        summary = self.box.json("inspect", dump, "--json")
        self.assertComplete(summary, RANKS, matched=RANKS * ROUNDS)
        return summary

    def dump(self, name):
        return self.box.directory / f"{name}.h5"

    def by_srun(self, mpi):
        """A batch job of several runs. The plug-in is found by itself; srun would take the number of tasks per node
        from sbatch, which is the application's and not ours; --export=NONE keeps variables from srun."""
        ring, path = harness.program("ring", mpi), self.dump(mpi)
        run = f"{PCLSCOPE} run --launcher srun --quiet"
        seen = "env | grep -E '^SLURM_(NTASKS|NPROCS|NTASKS_PER_NODE|STEP_NUM_TASKS)=' | sort"
        return self.slurm.submit("\n".join([
            f"{run} -n {RANKS} --dump {path} -- {ring} {ROUNDS} || exit 50",
            f"{run} -n 1 --mpi {mpi} -- /bin/sh -c \"{seen} >{path}.seen; {ring}\" || exit 51",
            f"srun --ntasks=1 --ntasks-per-node=1 /bin/sh -c \"{seen} >{path}.bare\" || exit 52",
            f"{run} -n 2 --mpi {mpi} --print -- {self.slurm.with_status(ring, 3)} >{path}.sh",
            f"bash {path}.sh"]), f"--ntasks={RANKS}", f"--ntasks-per-node={RANKS}", "--export=NONE")

    def check_by_srun(self, mpi, job):
        job.wait()
        self.assertEqual(job.statuses(), [3], str(job))  # of the printed lines, the last
        self.assertRing(self.dump(mpi), job.output())
        # The application sees its own number of tasks, and what sbatch said.
        numbers = {name: [line for line in pathlib.Path(f"{self.dump(mpi)}.{name}").read_text().splitlines()
                          if not line.startswith("SLURM_NTASKS_PER_NODE")] for name in ("seen", "bare")}
        self.assertEqual(numbers["seen"], numbers["bare"], str(job))
        self.assertIn(f"SLURM_NTASKS_PER_NODE={RANKS}", pathlib.Path(f"{self.dump(mpi)}.seen").read_text())

    def test_batch_jobs_by_srun_with_either_mpi(self):
        """Both at once. And a world that is none is an error: else MPICH's ranks say four times "ranks 1", status 0
        (Open MPI's fail by themselves)."""
        jobs = {mpi: self.by_srun(mpi) for mpi in harness.MPIS}
        wrong = None
        if "mpich" in harness.MPIS:
            wrong = self.slurm.submit(f"{PCLSCOPE} run --launcher srun --quiet -n {RANKS} --launcher-args --mpi=pmix "
                                      f"-- {harness.program('ring', 'mpich')}", f"--ntasks={RANKS}")
        for mpi, job in jobs.items():
            self.check_by_srun(mpi, job)
        if wrong is None:
            return
        wrong.wait()
        self.assertNotEqual(wrong.statuses(), [0], str(wrong))
        ours = [line for line in wrong.output().splitlines() if line.startswith("pclscope")]
        self.assertEqual(len(ours), 1, str(wrong))
        self.assertIn("is an MPI job of its own", ours[0])
        self.assertIn("--mpi=pmi2", ours[0])

    def test_the_launcher_is_the_sites(self):
        """Slurm's default plug-in (or SLURM_MPI_TYPE) fits the MPI: by srun. It fits none: by mpirun, which works."""
        for mpi in harness.MPIS:
            ring = harness.program("ring", mpi)
            run = f"{PCLSCOPE} run --quiet -n {RANKS}"
            types = "; ".join(f"SLURM_MPI_TYPE={kind} {run} --print -- {ring}" for kind in TYPES.values())
            done = self.box.run("salloc", "--quiet", f"--ntasks={RANKS}", "sh", "-c",
                                f"{types}; exec {run} --dump {self.dump(mpi)} -- {ring} {ROUNDS}")
            self.assertWorked(done)
            lines = done.stdout.splitlines()
            self.assertEqual([f"srun --ntasks={RANKS + 1} " in line for line in lines[:2]],
                             [kind == TYPES[mpi] for kind in TYPES.values()], str(done))
            self.assertRing(self.dump(mpi), done.stdout)

    def test_signals_of_slurm_and_an_array(self):
        """scancel --signal (and so --signal=USR1@60) reaches the application and not the tool's rank, two jobs of an
        array on one node do not see each other."""
        mpi = harness.MPIS[0]
        program = harness.program("checkpoint", mpi)
        job = self.slurm.submit(f"cd {self.box.directory}; {PCLSCOPE} run --launcher srun --quiet -n 2 --dump "
                                f"signal-$SLURM_ARRAY_TASK_ID.h5 -- {program} state$SLURM_ARRAY_TASK_ID handled",
                                "--ntasks=2", "--array=1-2")
        ready = [self.box.directory / f"state{i}.ready" for i in (1, 2)]
        self.box.wait_for("running ranks", lambda: all(path.exists() for path in ready))
        job.signal("--signal=USR1")
        job.wait()
        self.assertEqual(job.statuses(), [0, 0], str(job))
        for i in (1, 2):
            self.assertEqual((self.box.directory / f"state{i}").read_text(), "saved 10\n", str(job))
            summary = self.box.json("inspect", self.box.directory / f"signal-{i}.h5", "--json")
            self.assertEqual(summary["application"]["ranks"], 2, str(job))
            self.assertEqual(summary["messages"]["unmatched_sends"], 0, str(job))

    def test_a_cancelled_job_has_its_dump(self):
        """scancel: TERM to every task, then KILL. The application dies of the first; the dump is closed in order."""
        mpi = harness.MPIS[0]
        program, dump = harness.program("checkpoint", mpi), self.dump("cancelled")
        job = self.slurm.submit(f"exec {PCLSCOPE} run --launcher srun --quiet -n 2 --dump {dump} -- {program} "
                                f"{self.box.directory}/cancelled plain", "--ntasks=2")
        self.box.wait_for("running ranks", (self.box.directory / "cancelled.ready").exists)
        job.signal()
        job.wait()
        self.assertEqual(job.state(), {"CANCELLED"}, str(job))
        self.box.wait_for("end of the aggregator", lambda: not self.box.aggregator_workers())
        torn = read.torn(dump)
        self.assertTrue(torn.closed, torn)
        self.assertEqual((torn.ranks, torn.complete), (2, False), torn)

    @unittest.skipUnless(checks.FULL, "in ci/nightly")
    def test_a_requeued_job_begins_anew(self):
        """The same number and the same dump: what is there in the end is of the second run, and whole."""
        mpi = harness.MPIS[0]
        ring, program = harness.program("ring", mpi), harness.program("checkpoint", mpi)
        dump, state = self.dump("requeued"), self.box.directory / "requeued"
        run = f"{PCLSCOPE} run --launcher srun --quiet --dump {dump} -n"
        job = self.slurm.submit(f"if [ -e {state}.ready ]; then {run} {RANKS} -- {ring} {ROUNDS}; "
                                f"else {run} 2 -- {program} {state} plain; fi", f"--ntasks={RANKS}", "--requeue")
        self.box.wait_for("running ranks", state.with_suffix(".ready").exists)
        self.assertWorked(self.box.run("scontrol", "requeue", job.number))
        self.box.wait_for("requeued job", lambda: job.state() == {"PENDING"})
        self.assertWorked(self.box.run("scontrol", "update", f"JobId={job.number}", "StartTime=now"))
        job.wait()
        self.assertEqual(job.statuses(), [0], str(job))
        self.assertRing(dump, job.output())

    @unittest.skipUnless(checks.FULL, "in ci/nightly")
    def test_a_signal_before_the_time_limit(self):
        """Slurm looks at limits every 30 s, and sends the signal up to a minute early."""
        mpi = harness.MPIS[0]
        state, dump = self.box.directory / "limit", self.dump("limit")
        job = self.slurm.batch(f"{PCLSCOPE} run --launcher srun --quiet -n 2 --dump {dump} -- "
                               f"{harness.program('checkpoint', mpi)} {state} handled", "--ntasks=2", "--time=1",
                               "--signal=USR1@60")
        self.assertEqual((job.statuses(), job.state()), ([0], {"COMPLETED"}), str(job))
        self.assertEqual(state.read_text(), "saved 10\n", str(job))
        self.assertTrue(read.is_complete(dump), str(job))


if __name__ == "__main__":
    harness.main()
