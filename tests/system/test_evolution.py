"""A row of the CG pattern whose link becomes slow: seen live within two windows, and as a growth period afterwards.
Depends on: launcher, time, quiet."""
import json
import time

import dump
import harness
import numpy

RANKS, COLUMNS = 16, 4
ROW = 2
SURELY, DEVIATIONS = 1.5, 4  # so many times as much is a growth, and so many deviations of what was before
SLOW = range(ROW * COLUMNS, (ROW + 1) * COLUMNS)


class DelayedLink(harness.SystemTest):
    def job(self, iterations, first, last, sleep_us, pause_us=2000):
        return (harness.program("cg_pattern", "openmpi"), str(iterations), "1024", str(pause_us), str(ROW), str(first),
                str(last), str(sleep_us))

    def setUp(self):
        super().setUp()
        if "openmpi" not in harness.MPIS:
            self.skipTest("openmpi is not built")
        self.path = self.box.directory / "cg.h5"

    def rows(self, regions):
        return sorted(region["ranks"] for region in regions)

    def iteration_s(self):
        """What one takes on this machine now, without any sleep."""
        took = [self.box.bare("openmpi", RANKS, *self.job(n, 0, 0, 0)).seconds for n in (1, 201)]
        return max(0.0, took[1] - took[0]) / 200

    def test_live_and_from_file(self):
        iterations, first, last = 1100, 600, 850
        sleep_us = max(60_000, int(10e6 * self.iteration_s()))  # the row shall be much slower than all are
        running = self.box.start_traced(RANKS, *self.job(iterations, first, last, sleep_us),
                                        options=("--dump", self.path, "--keep", "all"))
        job = self.box.job_name(running)
        expected = [list(range(row * COLUMNS, (row + 1) * COLUMNS)) for row in range(RANKS // COLUMNS)]
        self.box.wait_for("the four rows", lambda: self.rows(self.box.live(job)["regions"]) == expected,
                          running=running)

        told = self.growth_told_live(job, running)
        done = running.finish(4 * harness.PATIENCE)
        self.assertWorked(done)
        self.check_windows(first, last)
        self.check_growth(first, last, told)

    def growth_told_live(self, job, running):
        """Whether it was before the job ended. Periods that are over are told until the end."""
        while running.running():
            done = self.box.pclscope("watch", job, "--once", "--json")
            if done.code == 0:
                slow = [r for r in json.loads(done.stdout)["regions"] if r["ranks"] == list(SLOW)]
                if slow and any(p["kind"] == "growth" for p in slow[0]["periods"]):
                    self.assertGreater(slow[0]["mean_latency_ratio"], 0)
                    return True
            time.sleep(0.15)
        return False

    def planted(self):
        """When each iteration of the sleeping rank sent to its transpose partner, from the messages themselves."""
        rows = dump.read_messages(self.path)
        mine = (rows.source == ROW * COLUMNS) & (rows.tag == 2)
        begins = numpy.sort(rows.send_begin[mine]) * 1e-9
        return begins

    def windows_of_slow_row(self):
        regions = self.box.json("inspect", self.path, "evolution", "--json")["regions"]
        slow, = [r for r in regions if r["ranks"] == list(SLOW)]
        return slow

    def check_windows(self, first, last):
        """Two windows after the sleeps reach a few milliseconds the ratio is far above what it was."""
        begins = self.planted()
        slow = self.windows_of_slow_row()
        ratio = numpy.array([w["mean_ratio"] for w in slow["windows"]])
        start = numpy.array([w["begin_s"] for w in slow["windows"]])
        at = first + (last - first) // 4
        quarter, iteration = begins[at], begins[at + 1] - begins[at]
        before = numpy.median(ratio[start < begins[first]])
        then = (start > quarter - 0.1) & (start < quarter + 0.2 + 2 * iteration)
        self.assertGreater(numpy.max(ratio[then]), 1.5 * before)

    @staticmethod
    def typical_grew(slow, first, last):
        """The last quarter of the sleeps against what was before them; how much is the machine's affair: one message
        of a row's 28 is late itself. And the factor by which those before differ, a deviation."""
        typical = [(w["begin_s"], w["typical_ratio"]) for w in slow["windows"] if w["typical_ratio"]]
        before = [ratio for begin, ratio in typical if begin < first]
        late = [ratio for begin, ratio in typical if last - (last - first) / 4 < begin < last]
        usual = numpy.median(before)
        noise = numpy.exp(1.48 * numpy.median(numpy.abs(numpy.log(before) - numpy.log(usual))))
        return float(numpy.median(late) / usual), float(noise)

    def check_growth(self, first_slow, last_slow, told):
        begins = self.planted()
        slow = self.windows_of_slow_row()
        growths = [p for p in slow["periods"] if p["kind"] == "growth"]
        grew, noise = self.typical_grew(slow, begins[first_slow], begins[last_slow])
        if grew < max(SURELY, noise ** DEVIATIONS):
            self.skipTest(f"typical ratios were {grew:.2f} times those of before at the end of the sleeps, where they "
                          f"differ by a factor of {noise:.2f}: no growth has to be told")
        first, last = begins[first_slow], begins[last_slow]
        if not growths:  # a row that is slow from one window to the next has a period of its own
            before = [p["mean_ratio"] for p in slow["periods"] if p["end_s"] < (first + last) / 2]
            during = [p["mean_ratio"] for p in slow["periods"] if p["begin_s"] < (first + last) / 2 < p["end_s"]]
            self.assertTrue(before and during, slow["periods"])
            self.assertGreater(during[0], 2 * max(before), slow["periods"])
            return
        margin = 1 + 20 * float(numpy.median(numpy.diff(begins)))
        # Where the machine stood still for a moment there may be two, one behind the other, and others elsewhere; one
        # that was a little slow before the sleeps began is part of it.
        ours = [p for p in growths if first < p["end_s"] < last + margin]
        self.assertTrue(ours, (first, last, growths))
        self.assertTrue(told, "no growth was told while the job ran")
        self.assertLess(min(p["begin_s"] for p in ours), (first + last) / 2, (first, last, growths))
        # How much typical ratios grow is the machine's affair (1.34 to 1.98 was seen): growth is 20 % at least.
        self.assertGreater(max(p["end_ratio"] for p in ours), 1.2 * min(p["begin_ratio"] for p in ours))


if __name__ == "__main__":
    harness.main()
