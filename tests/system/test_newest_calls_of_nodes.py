"""Single calls of a running job on several nodes, whose clocks are known better at the end than while it runs: against
the dump of the same run, as in test_newest_calls. Depends on: launcher, time."""
import bisect

import dump
import harness
import testbed


def what(call):
    return call["function"], call["bytes"], call["peer"], call["site"]


class NewestCallsOfNodes(testbed.TestbedTest):
    RANKS_PER_NODE = 2

    def place_of(self, call, expected, corrected):
        """Where the same call stands in `expected`, by begin: of those that are alike within the correction the nearest
        (a neighbour may be another call of the same function)."""
        moments = [other["begin_s"] for other in expected]
        first, last = (bisect.bisect_left(moments, call["begin_s"] + by) for by in (-corrected, corrected))
        alike = [at for at in range(first, last) if what(expected[at]) == what(call)]
        self.assertNotEqual(alike, [], f"{call} is not in the dump")
        return min(alike, key=lambda at: abs(moments[at] - call["begin_s"]))

    def test_they_are_those_of_the_dump(self):
        """Nodes whose clocks differ: each rank's calls are a stretch of those that the dump has, without a gap."""
        path = self.box.directory / "run.h5"
        running = self.testbed.start(self.RANKS_PER_NODE, harness.program("call_sites", "openmpi"), "1000000", "20000",
                                     self.box.until(), options=("--dump", path, "--keep", "all"), skew=(0, 40, 7))
        job = self.box.job_name(running)
        self.box.live_with_messages(job, running, at_least=50)
        told = self.box.answer("inspect", job, "timeline", "--limit", "1")
        self.assertWorked(told)
        self.assertNotIn("nothing has come yet", told.stderr)
        live = self.box.json("inspect", job, "timeline", "--json")
        self.assertEqual(live["not_stored"], 0)
        self.assertWorked(self.box.end(running))
        stored = self.box.json("inspect", path, "timeline", "--json")
        clocks = dump.Clocks(path)
        for rank in range(self.RANKS_PER_NODE * self.NODES):
            got, expected = ([call for call in sorted(of["calls"], key=lambda call: call["begin_s"])
                              if call["rank"] == rank and call["ending"] == "returned"] for of in (live, stored))
            self.assertGreater(len(got), 100)
            # s: clocks are known better at the end than when the calls were told, on a busy machine by tens of ms
            corrected = max(1e-3, 2 * clocks.most_wrong_s(rank))
            for one, other in zip(got, expected[self.place_of(got[0], expected, corrected):], strict=False):
                self.assertEqual(what(one), what(other), f"rank {rank}")
                self.assertAlmostEqual(one["begin_s"], other["begin_s"], delta=corrected)
                self.assertAlmostEqual(one["duration_s"], other["duration_s"], delta=corrected)


if __name__ == "__main__":
    harness.main()
