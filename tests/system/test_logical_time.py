"""Phases and steps of real jobs are what their programs do, and a planted late rank is named.
Depends on: launcher, time."""
import re

import harness
from harness import on_every_mpi, on_one_mpi

SLEEP_S = 0.5


class LogicalTime(harness.SystemTest):
    def dump_of(self, mpi, ranks, name, *arguments):
        path = self.box.directory / f"{name}-{mpi}.h5"
        self.assertWorked(self.box.traced(ranks, harness.program(name, mpi), *[str(a) for a in arguments],
                                          options=("--dump", path, "--keep", "all")))
        return path

    def listed(self, path, topic, *options):
        answer = self.box.json("inspect", path, topic, "--json", *options)
        self.assertFalse(answer["partial"], answer["why_partial"])
        return answer[topic]

    @on_every_mpi
    def test_a_token_in_a_ring_is_in_one_place_at_a_time(self, mpi):
        ranks, rounds = 4, 5
        path = self.dump_of(mpi, ranks, "ring", rounds)
        messages = self.box.json("inspect", path, "messages", "--limit", "100", "--json")["messages"]
        self.assertEqual(len(messages), ranks * rounds, self.box.pclscope("inspect", path).stdout)
        steps = self.listed(path, "steps")
        self.assertEqual([step["step"] for step in steps], list(range(2 * ranks * rounds)))
        self.assertEqual([(step["sends"], step["receives"]) for step in steps], [(1, 0), (0, 1)] * (ranks * rounds))
        self.assertEqual({step["lateness_s"] for step in steps}, {0.0})
        at_rank_2 = self.listed(path, "steps", "--rank", "2")
        self.assertEqual([step["step"] % (2 * ranks) for step in at_rank_2], [3, 4] * rounds)

    @on_one_mpi("openmpi")
    def test_each_iteration_of_a_halo_is_a_phase_and_the_late_rank_is_named(self, mpi):
        ranks, late = (8, 5) if mpi == "openmpi" else (4, 2)
        iterations, slow = 12, 5
        path = self.dump_of(mpi, ranks, "planted_halo3d", iterations, late, slow, 1, int(SLEEP_S * 1e6))
        phases = self.listed(path, "phases")
        self.assertEqual(len(phases), iterations)
        for number, phase in enumerate(phases):
            self.assertEqual(phase["phase"], number)
            self.assertEqual(phase["ranks"], list(range(ranks)))
            self.assertEqual(phase["messages"], 6 * ranks)
            self.assertEqual(phase["collectives"], 1 if number == 0 else 0)  # the barrier before the first
            self.assertEqual(phase["after"], [number - 1] if number > 0 else [])
            self.assertEqual(phase["last_step"] - phase["first_step"] + 1, 8 if number == 0 else 7)
        steps = self.listed(path, "steps", "--phase", str(slow))
        self.assertEqual([(step["sends"], step["receives"]) for step in steps], [(ranks, 0)] * 6 + [(0, ranks)])
        # Its six sends are late by what it slept, at the line of MPI_Isend; others once, when they have waited.
        phase = phases[slow]
        self.assertEqual((phase["late_rank"], phase["entry_late_rank"]), (late, late))
        self.assertIn("planted_halo3d.c:", phase["late_site"])
        self.assertGreater(phase["max_lateness_s"], 0.8 * SLEEP_S)
        for step in steps[:6]:
            self.assertEqual(step["late_rank"], late)
            self.assertGreater(step["max_lateness_s"], 0.8 * SLEEP_S)

        # Its ranks by what they have in common: the late one, those that wait for it, all others.
        clusters = self.box.json("inspect", path, "clusters", "--phase", str(slow), "--clusters", "3", "--json")
        self.assertEqual((clusters["pattern"], clusters["metric"]), ("waitall", "lateness"))
        if ranks == 8:  # a grid of 2 x 2 x 2
            found = sorted(cluster["ranks"] for cluster in clusters["clusters"])
            self.assertEqual(found, [[0, 2, 3, 6], [1, 4, 7], [5]])
            self.assertEqual(len(clusters["merges"]), 2)

        # By what they waited, each rank alone: the late one for nobody. By bytes: in bytes alone.
        waits = self.box.json("inspect", path, "clusters", "--phase", str(slow), "--clusters", str(ranks), "--metric",
                              "wait", "--json")
        self.assertEqual(waits["metric"], "wait")
        mean_of = {rank: cluster["mean_s"] for cluster in waits["clusters"] for rank in cluster["ranks"]}
        self.assertGreater(max(mean_of.values()), 0.8 * SLEEP_S / 7)  # of seven events one waits
        # When it has slept all are there; another may be held back meanwhile, by less than that.
        self.assertLess(mean_of[late], 0.5 * max(mean_of.values()))
        sizes = self.box.json("inspect", path, "clusters", "--phase", str(slow), "--metric", "bytes", "--json")
        self.assertEqual((sizes["metric"], sizes["mean_distance_s"]), ("bytes", None))
        for cluster in sizes["clusters"]:
            self.assertIsNone(cluster["mean_s"])
            self.assertGreater(cluster["mean_bytes"], 0)

        # The same as text and as CSV; a period.
        text = self.box.pclscope("inspect", path, "phases")
        self.assertWorked(text)
        self.assertIn(f"{late} at planted_halo3d.c", text.stdout)
        page = self.box.pclscope("watch", path, "--page", "phases")
        self.assertWorked(page)
        self.assertIn(f"{iterations} phases of the run", page.stdout)
        self.assertRegex(page.stdout, rf"(?m)^ *{slow} .* {late} +\d+ ms  MPI_Isend at planted_halo3d\.c:")
        table = self.box.pclscope("inspect", path, "steps", "--csv")
        self.assertWorked(table)
        self.assertEqual(len(table.stdout.splitlines()), 1 + 7 * iterations + 1)
        later = self.listed(path, "phases", "--from", f"{phase['end_s']:.9f}")
        self.assertLess(len(later), iterations - slow + 1)
        refused = self.box.pclscope("inspect", path, "phases", "--phase", str(iterations))
        self.assertEqual(refused.code, 1)
        self.assertIn(f"there is no phase {iterations}", refused.stderr)
        refused = self.box.pclscope("inspect", path, "steps", "--rank", str(ranks))
        self.assertEqual(refused.code, 1)
        self.assertIn(f"no rank {ranks}: ", refused.stderr)


    @on_one_mpi("mpich")
    def test_watch_names_the_late_rank_of_a_running_job(self, mpi):
        ranks, late = (8, 5) if mpi == "openmpi" else (4, 2)
        job = self.box.start_traced(ranks, harness.program("planted_halo3d", mpi), "1000000", str(late), "0", "1000000",
                                    "50000", self.box.until())
        name = self.box.job_name(job)

        def page_that_names_it():  # one picture may be of a moment in which the machine was busy
            done = self.box.pclscope("watch", name, "--once", "--page", "phases")
            named = re.search(rf"most late: rank {late} in \d+ of \d+ phases", done.stdout)
            row = re.search(rf" {late}  .*MPI_Isend at planted_halo3d\.c:\d+", done.stdout)
            return done.stdout if named and row else None
        page = self.box.wait_for("page that names the late rank", page_that_names_it, running=job)
        self.assertIn("of the job's messages, without collectives", page)
        self.assertWorked(self.box.end(job))


if __name__ == "__main__":
    harness.main()
