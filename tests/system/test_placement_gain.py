"""What another placement brings: predicted by `pclscope map`, done by its rankfile, and measured.
Depends on: launcher, time, quiet."""
import itertools

import chatty
import harness
from harness import thinned


class PlacementGain(chatty.ChattyTest):
    def test_chatty_pairs_that_are_apart_come_together(self):
        before, after = self.box.directory / "apart.h5", self.box.directory / "together.h5"
        rankfile = self.box.directory / "rankfile"
        try:
            took = self.timed(before)
            mapped = self.box.json("map", before, "--format", "openmpi-rankfile", "-o", rankfile, "--json")
            reruns = []
            for _ in range(thinned(3, 2)):
                reruns.append(self.timed(after, rankfile=rankfile))
                self.assertEqual(self.between_nodes(before), mapped["before"]["inter_messages"])
                self.assertEqual(self.between_nodes(after), mapped["after"]["inter_messages"])
        except chatty.Stalled:
            self.skipTest("the machine did not run the program at its own speed")
        self.assertEqual((mapped["before"]["inter_messages"], mapped["after"]["inter_messages"]),
                         (chatty.APART, chatty.TOGETHER))
        brings = mapped["brings"]
        self.assertTrue(brings["told"], brings)
        self.assertTrue(brings["worth"])
        self.assertAsPredicted(took, brings["gain_s"], reruns)
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
        except chatty.Stalled:
            self.skipTest("the machine did not run the program at its own speed")
        brings = self.box.json("map", dump, "--json")["brings"]
        self.assertTrue(brings["told"], brings)
        self.assertLess(abs(brings["share"]), 0.05)
        text = self.box.pclscope("map", dump).stderr
        self.assertEqual("Not worth it" in text, not brings["worth"], text)
        self.assertFalse(brings["worth"] and brings["share"] < 0.02)


class Phases(harness.SystemTest):
    """Advice for each phase of a run whose pattern changes, as if its ranks were on two nodes."""

    def halves(self, cuts):
        """The least that any placement of eight ranks on two nodes of four leaves between them."""
        return min(sum(count for (a, b), count in cuts.items() if (a in half) != (b in half))
                   for half in map(set, itertools.combinations(range(8), 4)))

    def test_phases_want_different_placements(self):
        """tests/programs/changing_groups: groups of four, then by parity, then pairs."""
        dump, unit = self.box.directory / "changes.h5", 400
        program = [harness.program("changing_groups", "openmpi"), str(unit), "2000"]
        self.assertWorked(self.box.traced(8, *program, options=("--dump", dump, "--keep", "all", "--window", "50ms")))
        words = ("--topology", "nodes:2", "--ranks-per-node", "4", "--objective", "inter-messages", "--per-phase")
        answer = self.box.json("map", dump, *words, "--json")
        phases = answer["phases"]
        self.assertEqual(len(phases), 3)
        # Every message is in one phase, so phases add up to the run.
        self.assertEqual(sum(p["messages"] for p in phases), 8 * (3 * unit + 3 * 3 * unit + 2 * unit))
        self.assertEqual(sum(p["now"] for p in phases), answer["before"]["inter_messages"])
        self.assertEqual(sum(p["common"] for p in phases), answer["after"]["inter_messages"])
        groups, parity = {}, {}
        cuts = {}
        for a, b in itertools.permutations(range(8), 2):
            groups[a, b], parity[a, b] = unit * (a // 4 == b // 4), 3 * unit * (a % 2 == b % 2)
            cuts[a, b] = groups[a, b] + parity[a, b] + 2 * unit * (a ^ 1 == b)
        self.assertEqual(answer["after"]["inter_messages"], self.halves(cuts))
        # A change is found within a window or so, of some 25 steps with 56 messages at most.
        near = 56 * 25 * 4
        for phase, common in zip(phases, (16 * unit, 0, 16 * unit)):  # by parity, as most messages are
            self.assertLess(abs(phase["common"] - common), near)
            self.assertLess(phase["own"], near)
            self.assertLessEqual(phase["own"], min(phase["now"], phase["common"]))
        self.assertTrue(phases[0]["wants_own"] and phases[2]["wants_own"])
        self.assertFalse(phases[1]["wants_own"])
        text = self.box.pclscope("map", dump, *words, "-o", self.box.directory / "file").stdout
        self.assertIn("Phases want different placements: 1, 3 would", text)
        for told in ("cannot be told", "the run's own placement does not fit"):
            self.assertIn(told, text)
        traffic = harness.DATA / "par-comm" / "hopbyte" / "MiniAMR_Vesta_n128_c1_s1_hopbyte.txt"
        refused = self.box.pclscope("map", traffic, "--topology", "torus:2x2x4x4x2", "--effort", "0.01", "--per-phase")
        self.assertRefused(refused, 1, "--per-phase needs a dump")

    def test_a_run_of_one_pattern_has_one_placement(self):
        dump = self.box.directory / "ring.h5"
        self.assertWorked(self.box.traced(4, harness.program("ring", "openmpi"), options=("--dump", dump)))
        text = self.box.pclscope("map", dump, "--per-phase", "-o", self.box.directory / "file").stdout
        self.assertIn("the pattern of communication did not change", text)


if __name__ == "__main__":
    harness.main()
