"""Criteria of an earlier run: when everything is slow, the run's own medians call it normal; a baseline does not.
Depends on: launcher, time."""
import dump
import harness
import numpy
from harness import on_one_mpi

SLEEP_US = 50_000  # at least. Others may hold the sender back for some 10 ms: then its message is not late
MESSAGES = 40


class Baseline(harness.SystemTest):
    def run_waits(self, mpi, name, sleep_us, *options):
        path = self.box.directory / f"{name}-{mpi}.h5"
        done = self.box.traced(2, harness.program("late_receiver", mpi), str(MESSAGES), str(sleep_us),
                               options=("--dump", path, *options))
        self.assertWorked(done)
        return path, self.box.json("inspect", path, "--json"), done

    @on_one_mpi("mpich")
    def test_a_slow_run_is_judged_by_the_baseline(self, mpi):
        healthy, _, _ = self.run_waits(mpi, "healthy", 0)
        criteria = self.box.json("inspect", healthy, "criteria", "--json")["criteria"]
        self.assertTrue(all(c["median_s"] >= c["transfer_median_s"] > 0 for c in criteria), criteria)
        typical = max(c["median_s"] for c in criteria)
        sleep_us = max(SLEEP_US, int(20e6 * typical))  # long, by what messages take on this machine now
        _, alone, _ = self.run_waits(mpi, "alone", sleep_us)
        path, judged, _ = self.run_waits(mpi, "judged", sleep_us, "--baseline", healthy)
        self.assertLess(alone["latency"]["mean_ratio"], 4)
        expected = sleep_us * 1e-6 / typical
        self.assertGreater(judged["latency"]["mean_ratio"], max(expected / 2, 1.5 * alone["latency"]["mean_ratio"]))
        self.assertGreater(judged["messages"]["delayed"], 0.8 * judged["messages"]["matched"])
        criterion, = criteria
        rows = dump.read_messages(path)
        time = rows.recv_end - rows.send_begin
        transfer = time - numpy.clip(rows.recv_post - rows.send_begin, 0, time)
        region, = judged["regions"]
        self.assertAlmostEqual(region["mean_latency_ratio"] * criterion["median_s"], time.mean() * 1e-9, delta=1e-9)
        self.assertAlmostEqual(region["mean_transfer_ratio"] * criterion["transfer_median_s"], transfer.mean() * 1e-9,
                               delta=1e-9)

    def test_bad_baselines_are_refused_before_the_job_starts(self):
        program = harness.program("ring", harness.MPIS[0])
        text = self.box.directory / "text.h5"
        text.write_text("not a dump")
        for name, why in ((self.box.directory / "absent.h5", "no such file"), (text, "not a dump")):
            done = self.box.pclscope("run", "-n", "2", "--baseline", name, "--", program)
            self.assertRefused(done, 1, "--baseline", why)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    harness.main()
