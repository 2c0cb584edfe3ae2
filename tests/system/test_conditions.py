"""Off the core: running, runnable and asleep are what the ranks' own kernels say; and the conditions of a run: more
ranks than cores, a foreign process on a rank's core, a quota, and none where there is none. Whatever else runs on the
machine is a condition, too: what is expected is worked out from what the programs saw themselves.
Depends on: launcher, time."""
import os
import pathlib
import time

import harness
import testbed
from harness import on_one_mpi

STRUCTURE = ("more-ranks-than-cores", "ranks-on-one-core", "own-threads")
CORES = sorted(os.sched_getaffinity(0))[:2]
CORE_LIST = ",".join(map(str, CORES))
PARTS = ("running_s", "off_core_s", "asleep_s")
EDGES = 1.0  # s: of what ranks do before the program reads its times, and after
BOUND = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
[ "$rank" = 0 ] && core=%d || core=%d
exec taskset -c $core "$@"
"""


def quota_group(name):
    """The folder of a new cgroup with a quota of half a core, which it gets whatever else runs; None: not possible."""
    for parent, quota, weight in (("/sys/fs/cgroup/cpu", ("cpu.cfs_quota_us", "50000"), ("cpu.shares", "200000")),
                                  ("/sys/fs/cgroup/cpu,cpuacct", ("cpu.cfs_quota_us", "50000"),
                                   ("cpu.shares", "200000")),
                                  ("/sys/fs/cgroup", ("cpu.max", "50000 100000"), ("cpu.weight", "10000"))):
        folder = pathlib.Path(parent) / name
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            for file, words in (quota, weight):
                (folder / file).write_text(words)
            return folder
        except OSError:
            folder.rmdir()
    return None


def numbers(text):
    return {line.split()[0]: int(line.split()[1]) for line in text.splitlines()}


def ran_s(pid):
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) * 1e-9


class Seen:
    """What pclscope says of a job of `spin`, and what its ranks saw: self.truth[rank] = ran, waited, wall in s."""

    def look(self, path, times, ranks, mpi):
        self.truth = [[float(word) * 1e-9 for word in pathlib.Path(f"{times}.{rank}").read_text().split()[:3]]
                      for rank in range(ranks)]
        self.path = path
        self.summary = self.box.json("inspect", path, "--json")
        self.ranks = self.box.json("inspect", path, "ranks", "--json")["ranks"]
        self.conditions = self.box.json("inspect", path, "conditions", "--json")["conditions"]
        self.assertEqual(self.conditions, self.summary["conditions"])
        self.note = f"{mpi}: ranks saw {self.truth}, found {self.ranks}, {self.conditions}"
        self.check_times()

    def check_times(self):
        for rank, (ran, waited, wall) in zip(self.ranks, self.truth):
            parts = rank["running_s"], rank["off_core_s"], rank["asleep_s"]
            self.assertAlmostEqual(rank["running_s"], ran, delta=0.1 * ran + EDGES, msg=self.note)
            self.assertAlmostEqual(rank["off_core_s"], waited, delta=0.1 * waited + EDGES, msg=self.note)
            self.assertAlmostEqual(sum(parts), wall, delta=0.1 * wall + EDGES, msg=self.note)
            self.assertGreaterEqual(min(parts), 0, self.note)
            self.assertLessEqual(rank["off_core_computing_s"], rank["off_core_s"] + 1e-6, self.note)
            self.assertTrue(0 <= rank["other_load"] <= 1, self.note)
        lost = sum(c["cost_s"] + c["in_mpi_s"] for c in self.conditions)
        self.assertLessEqual(lost, sum(rank["off_core_s"] for rank in self.ranks) * 1.01 + 0.1, self.note)

    def check_computed(self, computed_s):
        """Each rank computed for so long of its own processor time, which lies between what is said for certain; what
        the scheduler took for sleep outside MPI counts as useful, too."""
        ranks = self.box.json("inspect", self.path, "efficiency", "--json")["ranks"]
        self.assertEqual(len(ranks), len(self.ranks))
        slack = 0.05 * computed_s + 0.05
        for rank, times in zip(ranks, self.ranks):
            least, most = rank["useful_least_s"], rank["useful_most_s"]
            print(f"rank {rank['rank']}: {least:.3f} {rank['useful_s']} {most:.3f}", flush=True)
            self.assertLessEqual(least, computed_s + times["asleep_s"] + slack, f"{rank} {self.note}")
            self.assertGreaterEqual(most, computed_s - slack, f"{rank} {self.note}")
            unseen = max(0, rank["end_s"] - rank["begin_s"] - sum(times[name] for name in PARTS))
            self.assertLessEqual(most, times["running_s"] + times["asleep_s"] + unseen + 1e-3, f"{rank} {self.note}")

    def of_kind(self, kind):
        return [c for c in self.conditions if c["kind"] == kind]


class Conditions(Seen, harness.SystemTest):
    def setUp(self):
        super().setUp()
        if len(CORES) < 2:
            self.skipTest("one core only")

    def spin(self, mpi, ranks, steps, step_ms, before=(), launched=(), name="run"):
        """A job on two cores."""
        path, times = self.box.directory / f"{name}-{mpi}.h5", self.box.directory / f"{name}-{mpi}"
        command = self.box.traced_command(ranks, *launched, harness.program("spin", mpi), str(steps), str(step_ms),
                                          str(times), options=("--mpi", mpi, "--dump", path))
        self.assertWorked(self.box.run(*before, "taskset", "-c", CORE_LIST, *command))
        self.look(path, times, ranks, mpi)

    @on_one_mpi("openmpi")
    def test_more_ranks_than_cores(self, mpi):
        for ranks in (4, 8):
            self.spin(mpi, ranks, 10, 60, name=f"many{ranks}")
            self.check_computed(0.6)
            found = self.of_kind("more-ranks-than-cores")
            self.assertEqual(len(found), 1, self.note)
            self.assertEqual(found[0]["ranks"], list(range(ranks)), self.note)
            self.assertEqual((found[0]["ranks_met"], found[0]["cores"]), (ranks, 2), self.note)
            # Whatever others use: all that were runnable beyond the two that could have run.
            wall = min(wall for _, _, wall in self.truth)
            asleep = sum(rank["asleep_s"] for rank in self.ranks)
            lost = found[0]["cost_s"] + found[0]["in_mpi_s"]
            self.assertGreater(lost, 0.5 * (ranks - 2) * (wall - EDGES) - asleep, self.note)
            self.check_order()
        if mpi == "openmpi":
            self.assertTrue(self.summary["conditions_first"], self.note)

    def check_order(self):
        """Conditions stand first when one of them costs more than every cause."""
        causes = [f["lost_s"] for f in self.summary["findings"] if f["cause"] not in ("none", "unknown")]
        first = max(c["cost_s"] for c in self.conditions) > max(causes, default=0)
        self.assertEqual(self.summary["conditions_first"], first, self.note)
        lines = self.box.pclscope("inspect", self.path, "findings").stdout.splitlines()
        self.assertEqual(lines[0].startswith("condition of the run: "), first, lines)
        watched = self.box.pclscope("watch", self.path, "--once").stdout
        self.assertIn("condition: ", watched)
        self.assertIn("condition  ", self.box.pclscope("inspect", self.path).stdout)

    @on_one_mpi("mpich")
    def test_short_pieces(self, mpi):
        """Shorter than the time between two looks at the scheduler's sums."""
        self.spin(mpi, 8, 200, 2, name="short")
        self.check_computed(0.4)

    @on_one_mpi("mpich")
    def test_foreign_process(self, mpi):
        script = self.box.directory / "bound"
        script.write_text(BOUND % tuple(CORES))
        script.chmod(0o755)
        loop = self.box.start("taskset", "-c", str(CORES[1]), "sh", "-c", "while :; do :; done")
        try:
            began = time.monotonic()
            self.spin(mpi, 2, 40, 60, launched=(script,), name="foreign")
            took = time.monotonic() - began
            used = ran_s(loop.process.pid) / took
        finally:
            loop.process.kill()
            loop.finish()
        self.note += f"; the loop used {used}"
        found = [c for c in self.of_kind("other-load") if c["core"] == CORES[1] and 1 in c["ranks"]]
        self.assertTrue(found, self.note)
        worst = max(found, key=lambda c: c["cost_s"])
        self.assertGreater(worst["load"], 0.6 * used, self.note)
        self.assertIsNotNone(worst["process"], self.note)
        if worst["pid"] != loop.process.pid:  # somebody else used more
            self.assertGreater(worst["process_load"], 0.6 * used, self.note)
        else:
            self.assertEqual(worst["process"], "sh", self.note)
            self.assertIn("a foreign process, ", worst["sentence"])
        self.assertGreater(self.ranks[1]["other_load"], 0.6 * used, self.note)
        self.assertFalse([c for kind in STRUCTURE for c in self.of_kind(kind)], self.note)
        self.check_order()

    @on_one_mpi("openmpi")
    def test_two_on_one_core(self, mpi):
        self.spin(mpi, 3, 20, 60, launched=("sh", "-c", 'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; '
                                            f'[ "$rank" = 1 ] && core={CORES[0]} || core={CORES[1]}; '
                                            'exec taskset -c $core "$@"', "sh"), name="one")
        found = self.of_kind("ranks-on-one-core")
        self.assertEqual(len(found), 1, self.note)
        self.assertEqual((found[0]["ranks"], found[0]["core"]), ([0, 2], CORES[1]), self.note)
        self.assertFalse(self.of_kind("more-ranks-than-cores"), self.note)

    @on_one_mpi("openmpi")
    def test_healthy(self, mpi):
        self.spin(mpi, 2, 40, 60, name="healthy")
        self.check_computed(2.4)
        self.assertFalse([c for kind in STRUCTURE for c in self.of_kind(kind)], self.note)
        waited, wall = sum(t[1] for t in self.truth), sum(t[2] for t in self.truth)
        if waited < 0.01 * wall:
            self.assertEqual(self.conditions, [], self.note)
            self.assertIn("no conditions", self.box.pclscope("inspect", self.path, "conditions").stdout)

    def test_quota(self):
        folder = quota_group(f"pcl-test-{self.box.mark}")
        if folder is None:
            self.skipTest("no cgroup for processor time can be made here")
        try:
            self.spin(harness.MPIS[0], 2, 20, 60, name="quota",
                      before=("sh", "-c", f'echo $$ > {folder}/cgroup.procs && exec "$@"', "sh"))
            stat = numbers((folder / "cpu.stat").read_text())
        finally:
            self.leave(folder)
        throttled = stat["nr_throttled"] / max(1, stat["nr_periods"])
        self.note += f"; throttled {throttled}"
        if throttled < 0.3:
            self.skipTest("others use the cores: the quota is hardly ever used up")
        found = self.of_kind("quota")
        self.assertEqual(len(found), 1, self.note)
        self.assertEqual(found[0]["quota_cores"], 0.5, self.note)
        self.assertAlmostEqual(found[0]["throttled_share"], throttled, delta=0.3, msg=self.note)
        # Two could have run. They had half a core, and others had what they had.
        waited = sum(t[1] for t in self.truth)
        self.assertGreater(found[0]["cost_s"] + found[0]["in_mpi_s"], 0.4 * waited - EDGES, self.note)
        self.assertFalse([c for kind in STRUCTURE for c in self.of_kind(kind)], self.note)

    def leave(self, folder):
        """The group can be removed when nobody is in it."""
        self.box.kill_everything()
        for _ in range(1000):
            try:
                return folder.rmdir()
            except OSError:
                time.sleep(0.01)
        self.fail(f"{folder} cannot be removed")


class SeveralAggregators(Seen, harness.SystemTest):
    def test_ranks_of_all_aggregators_are_one_crowd(self):
        """Four ranks on two cores: each aggregator reads two of them, which alone would be none too many."""
        if len(CORES) < 2:
            self.skipTest("one core only")
        mpi = harness.MPIS[0]
        path, times = self.box.directory / "crowd.h5", self.box.directory / "crowd"
        command = self.box.traced_command(4, harness.program("spin", mpi), "20", "60", str(times),
                                          options=("--dump", path, "--aggregators", "2"))
        self.assertWorked(self.box.run("taskset", "-c", CORE_LIST, *command))
        self.look(path, times, 4, mpi)
        found = self.of_kind("more-ranks-than-cores")
        self.assertEqual(len(found), 1, self.note)
        self.assertEqual((found[0]["ranks"], found[0]["ranks_met"], found[0]["cores"]), ([0, 1, 2, 3], 4, 2), self.note)
        # The ranks of the other aggregator are no foreign load.
        for other in self.of_kind("other-load"):
            self.assertNotIn("spin", other["process"] or "", self.note)


class SeveralNodes(Seen, testbed.TestbedTest):
    """Each node's aggregator reads its own ranks. The nodes are of one machine, and take each other's cores."""
    NODES = 2

    def test_each_node_its_ranks(self):
        path, times, ranks = self.box.directory / "nodes.h5", self.box.directory / "nodes", 3 * self.NODES
        self.assertWorked(self.testbed.run(3, harness.program("spin", "openmpi"), "20", "60", str(times),
                                           options=("--dump", path)))
        self.look(path, times, ranks, "openmpi")
        nodes = [rank["node"] for rank in self.ranks]
        self.assertEqual(len(set(nodes)), self.NODES, nodes)
        for condition in self.conditions:
            self.assertEqual({nodes[rank] for rank in condition["ranks"]}, {condition["node"]}, self.note)
        if len(os.sched_getaffinity(0)) == 2:
            found = self.of_kind("more-ranks-than-cores")
            self.assertEqual(sorted(c["ranks"] for c in found), [[0, 1, 2], [3, 4, 5]], self.note)


if __name__ == "__main__":
    harness.main()
