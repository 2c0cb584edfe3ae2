"""The network views in a real window, on published traffic, driven by xdotool: what is worst, another route, another
placement; the file that the window writes is the one that `pclscope map` writes.

Depends on: display, time.
"""
import harness
import xvfb

TRAFFIC = harness.DATA / "par-comm" / "hopbyte" / "MiniAMR_Vesta_n128_c1_s1_hopbyte.txt"
TOPOLOGY = "torus:2x2x4x4x2@BACDE"
ROUTES = 2222


class NetworkChange(harness.SystemTest):
    def setUp(self):
        if xvfb.why_not():
            self.skipTest(xvfb.why_not())
        super().setUp()

    def viewer(self, view):
        screen = xvfb.Screen(self.box)
        self.addCleanup(screen.close)
        self.addCleanup(self.box.kill_everything)  # the viewers first
        viewer = xvfb.Viewer(self.box, screen, TRAFFIC, "--topology", TOPOLOGY, "--only", view)
        viewer.settled()
        viewer.focus()
        return viewer

    @staticmethod
    def marks(state):
        return {name: at for view in state["views"].values() for name, at in view["marks"].items()}

    def number(self, state, prefix):
        """Of the mark "PREFIX number"; -1: there is none."""
        return next((int(name[len(prefix):]) for name in self.marks(state) if name.startswith(prefix)), -1)

    def press(self, viewer, mark, what, condition):
        return viewer.until(lambda: viewer.click(viewer.mark(mark)), what, lambda s: s["settled"] and condition(s))

    def test_a_brush_leaves_the_worst_and_a_row_selects_its_ranks(self):
        viewer = self.viewer("ranking")
        state = viewer.wait("ranking", lambda s: s["settled"] and self.number(s, "ranking bars ") == ROUTES)
        self.assertEqual(self.number(state, "ranking rows "), ROUTES)
        self.press(viewer, "ranking top", "five percent", lambda s: self.number(s, "ranking rows ") == 112)
        first, last = viewer.mark("ranking first"), viewer.mark("ranking last")
        middle = ((first[0] + last[0]) // 2, first[1])
        state = viewer.until(lambda: viewer.drag(first, middle), "half",
                             lambda s: s["settled"] and abs(self.number(s, "ranking rows ") - ROUTES // 2) < 60)
        row = sorted(name for name in self.marks(state) if name.startswith("route "))[0]
        ranks = sorted(int(rank) for rank in row.split()[1].split("-"))
        self.press(viewer, row, "its ranks", lambda s: s["selection"]["ranks"] == ranks)

    def test_another_route_is_tried_applied_and_undone(self):
        viewer = self.viewer("matrix")
        state = viewer.wait("matrix", lambda s: s["settled"] and self.number(s, "matrix loaded ") > 0)
        loaded = self.number(state, "matrix loaded ")
        self.press(viewer, "matrix heaviest", "a link", lambda s: len(s["selection"]["ranks"]) > 1)
        self.press(viewer, "reroute other route", "other ways", lambda s: "reroute apply" in self.marks(s))
        self.press(viewer, "reroute apply", "applied", lambda s: "reroute undo" in self.marks(s))
        state = self.press(viewer, "reroute undo", "undone", lambda s: "reroute redo" in self.marks(s))
        self.assertEqual(self.number(state, "matrix loaded "), loaded)
        self.assertEqual(self.number(state, "matrix lines "), 128)
        viewer.click(viewer.mark("matrix lens"))
        viewer.until(lambda: viewer.xdotool("mousemove", *viewer.mark("matrix heaviest")), "a lens",
                     lambda s: s["settled"] and self.number(s, "matrix lens cells ") > 0)

    def test_a_placement_is_found_applied_and_written_as_map_writes_it(self):
        viewer = self.viewer("placement")
        viewer.wait("links", lambda s: s["settled"] and self.number(s, "placement links before ") > 0)
        self.press(viewer, "placement find", "a proposal", lambda s: self.number(s, "placement moved ") > 0)
        self.press(viewer, "placement apply", "applied", lambda s: "placement undo" in self.marks(s))
        self.press(viewer, "placement write", "the file", lambda s: "placement written" in self.marks(s))
        done = self.box.run(harness.PCLSCOPE, "map", TRAFFIC, "--topology", TOPOLOGY, "--objective", "hop-bytes",
                            "--format", "plain", "-o", "map.txt")
        self.assertWorked(done)
        written = (self.box.directory / "ranks.txt").read_text()
        self.assertEqual(written, (self.box.directory / "map.txt").read_text())
        self.assertEqual(len([line for line in written.splitlines() if not line.startswith("#")]), 128)


if __name__ == "__main__":
    harness.main()
