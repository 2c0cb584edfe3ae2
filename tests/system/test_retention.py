"""What --keep and --budget leave in the dump: counts always add up, and the file never exceeds its budget. On a machine
that gives the aggregator no time single messages are shed (docs/decisions.md, 125): they are counted apart.
Depends on: launcher."""
import os

import dump
import harness
from harness import thinned

BUDGET = 10_000_000  # the smallest there is
ITERATIONS = thinned(180_000, 110_000)


class Retention(harness.SystemTest):
    def run_halo(self, iterations, *options):
        self.path = self.box.directory / f"halo-{len(options)}.h5"
        self.path.unlink(missing_ok=True)
        done = self.box.traced(4, harness.program("halo2d", "openmpi"), str(iterations), "8",
                               options=("--dump", self.path, *options), timeout=3 * harness.PATIENCE)
        self.assertWorked(done)
        summary = self.box.json("inspect", self.path, "--json")
        self.assertEqual(summary["messages"]["matched"], 8 * iterations)
        return summary, done

    def setUp(self):
        super().setUp()
        if "openmpi" not in harness.MPIS:
            self.skipTest("openmpi is not built")

    def test_summaries_only(self):
        summary, _ = self.run_halo(3000, "--keep", "summaries")
        self.assertEqual(len(dump.read_messages(self.path).source), 0)
        self.assertEqual(sum(r["messages"] for r in summary["regions"]) + sum(l["messages"] for l in summary["links"]),
                         summary["messages"]["matched"])
        self.assertGreater(len(self.box.json("inspect", self.path, "evolution", "--json")["regions"]), 0)

    def test_short_runs_keep_everything(self):
        summary, done = self.run_halo(3000)
        retention = summary["retention"]
        self.assertEqual(len(dump.read_messages(self.path).source),
                         summary["messages"]["matched"] - retention["messages_shed"])
        self.assertEqual(retention["keep"], "interesting")
        self.assertEqual(retention["messages_left_out"], retention["messages_shed"])
        self.assertIsNone(retention["bites_since_s"])
        self.assertEqual(done.our_lines(), [])

    def check_budget(self, keep):
        summary, done = self.run_halo(ITERATIONS, "--keep", keep, "--budget", "10MB", "--window", "20ms")
        stored = len(dump.read_messages(self.path).source)
        retention = summary["retention"]
        self.assertLessEqual(os.path.getsize(self.path), BUDGET)
        self.assertEqual(retention["budget_bytes"], BUDGET)
        self.assertEqual(stored + retention["messages_left_out"], summary["messages"]["matched"], retention)
        self.assertGreater(retention["messages_left_out"], 0)
        lines = [line for line in done.our_lines() if "budget" in line]
        if retention["bites_since_s"] is None:  # where the aggregator had no time for most, the rest had room
            self.assertGreater(retention["messages_shed"], 0, retention)
            self.assertEqual(keep, "interesting")
            self.assertEqual(lines, [])
        else:
            self.assertGreater(retention["bites_since_s"], 0)
            self.assertEqual(len(lines), 1, done)
        return stored, summary

    def test_interesting_within_a_small_budget(self):
        self.check_budget("interesting")

    def test_all_within_a_small_budget(self):
        stored, summary = self.check_budget("all")
        # Everything from the beginning, until there was no more room.
        rows = dump.read_messages(self.path)
        self.assertLess(rows.recv_end.max() * 1e-9, summary["time"]["duration_s"])


if __name__ == "__main__":
    harness.main()
