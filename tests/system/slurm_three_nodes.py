"""pclscope run in allocations of three nodes of a real Slurm: the testbed's namespaces, a slurmd in each. In
ci/nightly. Depends on: launcher."""
import re

import harness
import slurm
import testbed

NODES = ("node1", "node2", "node3")
PER_NODE, ROUNDS = 2, 100
RANKS = PER_NODE * len(NODES)
PCLSCOPE = harness.PCLSCOPE
# MPI over the bridge, as with the testbed's own jobs.
NETWORK = (f"export OMPI_MCA_btl_tcp_if_include={testbed.NETWORK} OMPI_MCA_oob_tcp_if_include={testbed.NETWORK} "
           "OMPI_MCA_btl=tcp,self,vader OMPI_MCA_pml=ob1 OMPI_MCA_mpi_yield_when_idle=1 UCX_TLS=tcp,self "
           "UCX_WARN_UNUSED_ENV_VARS=n")


class ThreeNodes(testbed.TestbedTest):
    def setUp(self):
        reason = slurm.why_not()
        if reason:
            self.skipTest(f"no Slurm: {reason}")
        super().setUp()
        self.slurm = slurm.Slurm(self.box, NODES, cores=4)
        self.addCleanup(self.slurm.close)

    def dump(self, name):
        return self.box.directory / f"{name}.h5"

    def batch(self, *lines, options=("--nodes=3", f"--ntasks-per-node={PER_NODE}")):
        return self.slurm.batch("\n".join([NETWORK, *lines]), *options)

    def assertRing(self, job, dump, ranks=RANKS, nodes=3):
        """Matched counts are known on paper; ranks are where Slurm puts them, in blocks."""
        self.assertIn(f"ring: ranks {ranks} rounds {ROUNDS} token {ranks * ROUNDS}", job.output(), str(job))
        summary = self.box.json("inspect", dump, "--json")
        self.assertComplete(summary, ranks, matched=ranks * ROUNDS)
        self.assertEqual(summary["application"]["nodes"], nodes, summary["application"])
        return summary

    @harness.on_every_mpi
    def test_srun_mpirun_and_the_printed_lines(self, mpi):
        """MPICH's mpirun cannot, and srun is taken by itself; asked for, it is refused in a line."""
        ring = harness.program("ring", mpi)
        run = f"{PCLSCOPE} run --quiet -n {RANKS}"
        paths = {how: self.dump(f"{mpi}-{how}") for how in ("srun", "plain", "printed")}
        job = self.batch(f"{run} --launcher srun --dump {paths['srun']} -- {ring} {ROUNDS} || exit 50",
                         f"{run} --dump {paths['plain']} -- {ring} {ROUNDS} || exit 51",
                         f"{run} --launcher srun --print --dump {paths['printed']} -- {ring} {ROUNDS} >step.sh",
                         "bash step.sh || exit 52",
                         f"{run} --launcher srun --mpi {mpi} --print -- {self.slurm.with_status(ring, 3)} >status.sh",
                         "bash status.sh")
        self.assertEqual(job.statuses(), [3], str(job))
        for path in paths.values():
            links = self.assertRing(job, path)["network"]["links"]
            # In blocks, as Slurm says: each node sends to the next one, and the last to the first.
            self.assertEqual(sorted((link["source"], link["destination"], link["messages"]) for link in links),
                             [(a, b, ROUNDS) for a, b in zip(NODES, [*NODES[1:], NODES[0]])], str(job))
        if mpi == "mpich":
            job = self.batch(f"{run} --launcher mpirun.mpich -- {ring}")
            self.assertEqual(job.statuses(), [2], str(job))
            self.assertIn("leave --launcher out", job.output(), str(job))

    def test_ranks_of_a_heterogeneous_job_go_to_the_first_component(self):
        mpi = harness.MPIS[0]
        job = self.batch(f"{PCLSCOPE} run --launcher srun -n 2 --dump {self.dump('het')} -- "
                         f"{harness.program('ring', mpi)} {ROUNDS}", options=("--ntasks=2", ":", "--ntasks=1"))
        self.assertEqual(job.statuses()[0], 0, str(job))
        self.assertRing(job, self.dump("het"), ranks=2, nodes=1)
        self.assertTrue(re.search("heterogeneous job of 2 components", job.output()), str(job))

    def test_attach_from_inside_the_allocation(self):
        """A job of srun that was only preloaded; a step beside it would wait for its end."""
        mpi = "openmpi"
        if mpi not in harness.MPIS:
            self.skipTest("no Open MPI")
        job = self.slurm.submit("\n".join([
            NETWORK,
            f"LD_PRELOAD={harness.library(mpi)} srun --mpi=pmix {harness.program('halo2d', mpi)} 1000000 32 "
            f"{self.box.until()} &",
            f"for i in $(seq 600); do name=$({PCLSCOPE} list | grep -o 'halo2d-{mpi}-[0-9]*' | head -n 1); "
            '[ -n "$name" ] && break; sleep 0.1; done',
            f"{PCLSCOPE} attach $name --dump {self.dump('part')} || exit 53",
            f"sleep 1; {PCLSCOPE} detach $name || exit 54", f"touch {self.box.end_sign}; wait $!"]),
            "--nodes=3", f"--ntasks-per-node={PER_NODE}")
        job.wait()
        self.assertEqual(job.statuses(), [0], str(job))
        summary = self.box.json("inspect", self.dump("part"), "--json")
        self.assertEqual((summary["application"]["ranks"], summary["application"]["nodes"]), (RANKS, 3), str(job))
        self.assertGreater(summary["messages"]["matched"], 0, str(job))


if __name__ == "__main__":
    harness.main()
