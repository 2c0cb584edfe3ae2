"""What the window says that another placement brings, by the launcher's file that it writes, and measured.
Depends on: launcher, display, time, quiet."""
import chatty
import harness
import xvfb
from harness import thinned


class ViewPlacementGain(chatty.ChattyTest):
    def setUp(self):
        if xvfb.why_not():
            self.skipTest(xvfb.why_not())
        super().setUp()

    @staticmethod
    def number(state, prefix):
        """Of the mark "PREFIX number"; None: there is none."""
        return next((int(name[len(prefix):]) for view in state["views"].values() for name in view["marks"]
                     if name.startswith(prefix)), None)

    def placed_by_hand(self, dump):
        """Opens the dump, goes to the workspace's placement, finds, reads, applies, writes; what was read."""
        screen = xvfb.Screen(self.box)
        self.addCleanup(screen.close)
        self.addCleanup(self.box.kill_everything)  # the viewer first
        viewer = xvfb.Viewer(self.box, screen, dump)
        viewer.settled()
        viewer.focus()

        def has(name):
            return lambda s: s["settled"] and viewer.find(s, name)

        def press(mark, what, condition):
            return viewer.until(lambda: viewer.click(viewer.mark(mark)), what, condition)

        viewer.until(lambda: viewer.key("4"), "the network", has("placement find"))
        state = press("placement find", "a proposal and what it brings",
                      lambda s: s["settled"] and self.number(s, "placement gain us ") is not None)
        read = {name: self.number(state, f"placement {name} ")
                for name in ("moved", "messages before", "messages after", "gain us")}
        press("placement apply", "applied", has("placement undo"))
        press("placement openmpi-rankfile", "the format", lambda s: s["settled"])
        press("placement write", "the file", has("placement written"))
        viewer.kill()
        return read

    def test_chatty_pairs_are_put_together_in_the_window(self):
        before, after = self.box.directory / "apart.h5", self.box.directory / "together.h5"
        try:
            took = self.timed(before)
            read = self.placed_by_hand(before)
            reruns = []
            for _ in range(thinned(3, 2)):
                reruns.append(self.timed(after, rankfile=self.box.directory / "ranks.txt"))
                self.assertEqual(self.between_nodes(after), read["messages after"])
        except chatty.Stalled:
            self.skipTest("the machine did not run the program at its own speed")
        self.assertEqual(self.between_nodes(before), read["messages before"])
        self.assertEqual((read["moved"], read["messages before"], read["messages after"]),
                         (2, chatty.APART, chatty.TOGETHER))
        self.assertAsPredicted(took, read["gain us"] * 1e-6, reruns)
        # The command line says the same.
        mapped = self.box.json("map", before, "--format", "openmpi-rankfile", "-o", self.box.directory / "map.txt",
                               "--json")
        self.assertAlmostEqual(mapped["brings"]["gain_s"], read["gain us"] * 1e-6, delta=1e-6)
        self.assertEqual((self.box.directory / "map.txt").read_text(), (self.box.directory / "ranks.txt").read_text())


if __name__ == "__main__":
    harness.main()
