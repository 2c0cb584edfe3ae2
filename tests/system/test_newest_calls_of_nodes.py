"""Single calls of a running job on several nodes, whose clocks are known better at the end than while it runs: against
the dump of the same run, as in test_newest_calls. Depends on: launcher, time."""
import bisect

import harness
import testbed


class NewestCallsOfNodes(testbed.TestbedTest):
    RANKS_PER_NODE = 2
    CORRECTED = 1e-3  # s: clocks are known better at the end than when the calls were told

    def test_they_are_those_of_the_dump(self):
        """Nodes whose clocks differ: each rank's calls are a stretch of those that the dump has, without a gap."""
        path = self.box.directory / "run.h5"
        running = self.testbed.start(self.RANKS_PER_NODE, harness.program("call_sites", "openmpi"), "1000000", "20000",
                                     self.box.until(), options=("--dump", path, "--keep", "all"), skew=(0, 40, 7))
        job = self.box.job_name(running)
        self.box.live_with_messages(job, running, at_least=50)
        told = self.box.pclscope("inspect", job, "timeline", "--limit", "1")
        self.assertWorked(told)
        self.assertNotIn("nothing has come yet", told.stderr)
        live = self.box.json("inspect", job, "timeline", "--json")
        self.assertEqual(live["not_stored"], 0)
        self.assertWorked(self.box.end(running))
        stored = self.box.json("inspect", path, "timeline", "--json")
        for rank in range(self.RANKS_PER_NODE * self.NODES):
            got, expected = ([call for call in sorted(of["calls"], key=lambda call: call["begin_s"])
                              if call["rank"] == rank and call["ending"] == "returned"] for of in (live, stored))
            self.assertGreater(len(got), 100)
            moments = [call["begin_s"] for call in expected]
            at = bisect.bisect_left(moments, got[0]["begin_s"] - self.CORRECTED)
            while expected[at]["function"] != got[0]["function"]:
                at += 1
            for one, other in zip(got, expected[at:], strict=False):
                self.assertEqual(*((call["function"], call["bytes"], call["peer"], call["site"])
                                   for call in (one, other)), f"rank {rank}")
                self.assertAlmostEqual(one["begin_s"], other["begin_s"], delta=self.CORRECTED)
                self.assertAlmostEqual(one["duration_s"], other["duration_s"], delta=self.CORRECTED)


if __name__ == "__main__":
    harness.main()
