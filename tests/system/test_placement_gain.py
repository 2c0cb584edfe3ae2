"""What another placement brings: predicted by `pclscope map`, done by its rankfile, and measured.
Depends on: launcher, time."""
import pathlib
import sys

import harness
import testbed

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "truth"))
import checks  # noqa: E402
import job  # noqa: E402

RATE = "100mbit"
TRIES = 4           # for a run in which nothing but the program took time
MOST_LONGER = 0.03  # of its time, by which a rank slept longer than asked: noise
WITHIN = 0.10
STEPS, RARELY = 100, 20


class Stalled(Exception):
    """Not only what was planted happened."""


class PlacementGain(testbed.TestbedTest):
    NODES = 2

    def timed(self, dump, *arguments, rankfile=None):
        """The seconds of the loop of tests/programs/chatty, two ranks on each node."""
        program = [harness.program("chatty", "openmpi"), str(STEPS), *map(str, arguments)]
        for _ in range(TRIES):
            for node in range(self.NODES):
                self.testbed.throttle(node + 1, RATE)
            job.quiet_moment(0.3, patience=4)
            options = ("--dump", dump, "--keep", "all")
            if rankfile is None:
                done = self.testbed.run(2, *program, options=options)
            else:
                done = self.box.start(harness.PCLSCOPE, "run", "--quiet", "--rankfile", rankfile, "-n", "4",
                                      "--launcher-args", self.testbed.launcher_args("openmpi"), *options, "--",
                                      *program).finish(3 * harness.PATIENCE)
            self.assertWorked(done)
            words = done.stdout.split()
            took, longer = float(words[2]), float(words[4])
            if longer <= MOST_LONGER * took:
                return took
            print(f"again: {took:.3f} s, a rank slept {longer:.3f} s longer than asked", flush=True)
        raise Stalled

    def between_nodes(self, dump):
        return sum(link["messages"] for link in self.box.json("inspect", dump, "nodes", "--json")["links"])

    def test_chatty_pairs_that_are_apart_come_together(self):
        before, after = self.box.directory / "apart.h5", self.box.directory / "together.h5"
        rankfile = self.box.directory / "rankfile"
        try:
            took = self.timed(before)
            mapped = self.box.json("map", before, "--format", "openmpi-rankfile", "-o", rankfile, "--json")
            reruns = []
            for _ in range(checks.thinned(3, 2)):
                reruns.append(self.timed(after, rankfile=rankfile))
                self.assertEqual(self.between_nodes(before), mapped["before"]["inter_messages"])
                self.assertEqual(self.between_nodes(after), mapped["after"]["inter_messages"])
        except Stalled:
            self.skipTest("the machine did not run the program at its own speed")
        # Neighbours talk at some steps, and come apart: 4 messages each time; before it was 4 at every step.
        self.assertEqual((mapped["before"]["inter_messages"], mapped["after"]["inter_messages"]),
                         (4 * STEPS, 4 * STEPS // RARELY))
        brings = mapped["brings"]
        self.assertTrue(brings["told"], brings)
        self.assertTrue(brings["worth"])
        predicted, real = took - brings["gain_s"], sorted(reruns)[len(reruns) // 2]
        spread = max(reruns) - min(reruns)
        print(f"{took:.3f} s, predicted {predicted:.3f} s, really {real:.3f} s (spread {spread:.3f} s); messages "
              f"between nodes {mapped['before']['inter_messages']} to {mapped['after']['inter_messages']}",
              flush=True)
        self.assertLess(abs(predicted - real), WITHIN * real + spread)
        self.assertGreater(took - real, 2 * WITHIN * real)  # or it would be right without a replay
        text = self.box.pclscope("map", before, "-o", rankfile).stdout
        self.assertIn("what it brings: the run takes", text)
        self.assertNotIn("Not worth it", text)
        finding = self.box.json("inspect", before, "findings", "--json")["findings"][0]
        if finding["cause"] == "mapping" and finding["gain_s"] is not None:  # the same replay, in the job
            self.assertLess(abs(finding["gain_s"] - brings["gain_s"]), 0.05 * took)
        again = self.box.json("map", after, "--json")  # nothing is left to gain
        self.assertFalse(again["better"])
        self.assertEqual((again["brings"]["gain_s"], again["brings"]["changed"]), (0, 0))

    def test_what_is_not_worth_it_is_said(self):
        """Small messages that hardly anybody waits for: another placement has fewer between nodes, and no time."""
        dump = self.box.directory / "small.h5"
        try:
            self.timed(dump, 64)
        except Stalled:
            self.skipTest("the machine did not run the program at its own speed")
        brings = self.box.json("map", dump, "--json")["brings"]
        self.assertTrue(brings["told"], brings)
        self.assertLess(abs(brings["share"]), 0.05)
        text = self.box.pclscope("map", dump).stderr
        self.assertEqual("Not worth it" in text, not brings["worth"], text)
        self.assertFalse(brings["worth"] and brings["share"] < 0.02)


if __name__ == "__main__":
    harness.main()
