"""Two pairs of chatty ranks placed apart on two nodes with a slow network (tests/programs/chatty), run as they are
placed and again by a rankfile."""
import pathlib
import sys

import harness
import testbed

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "truth"))
import job  # noqa: E402

RATE = "100mbit"
TRIES = 4           # for a run in which nothing but the program took time
MOST_LONGER = 0.03  # of its time, by which a rank slept longer than asked: noise
WITHIN = 0.10
STEPS, RARELY = 100, 20
# Neighbours talk at some steps, and come apart: 4 messages each time; before it was 4 at every step.
APART, TOGETHER = 4 * STEPS, 4 * STEPS // RARELY


class Stalled(Exception):
    """Not only what was planted happened."""


class ChattyTest(testbed.TestbedTest):
    NODES = 2

    def timed(self, dump, *arguments, rankfile=None):
        """The seconds of the program's loop, two ranks on each node."""
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

    def assertAsPredicted(self, took, gain_s, reruns):
        predicted, real = took - gain_s, sorted(reruns)[len(reruns) // 2]
        spread = max(reruns) - min(reruns)
        print(f"{took:.3f} s, predicted {predicted:.3f} s, really {real:.3f} s (spread {spread:.3f} s)", flush=True)
        self.assertLess(abs(predicted - real), WITHIN * real + spread)
        self.assertGreater(took - real, 2 * WITHIN * real)  # or it would be right without a replay
