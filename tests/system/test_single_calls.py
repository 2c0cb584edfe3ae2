"""Single calls where they matter: an outlier is clicked in the call view, and who, what, when and from where is
selected in every workspace; and the same question as text. Truth is the dump itself, read row by row.

Depends on: launcher, display, time.
"""
import math

import harness
import xvfb

CALLS = "every call: begin or end, duration, function"
OUTLIER_US = 400_000
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


class OutlierTest(harness.SystemTest):
    made = {}  # the dump, once it is made

    def make_dump(self, keep="all"):
        """Two ranks; once rank 0 sleeps longer in step_b, so that rank 1 is inside one MPI_Recv for about that long."""
        path = self.box.directory / "outlier.h5"
        if keep not in self.made:
            done = self.box.traced(2, harness.program("call_paths", "openmpi"), "100", "1000", "60", str(OUTLIER_US),
                                   options=("--dump", path, "--keep", keep))
            self.assertWorked(done)
            self.made[keep] = path.read_bytes()
        path.write_bytes(self.made[keep])
        return path

    def calls_of(self, dump):
        """Those that left a time of their return."""
        return [call for call in self.box.json("inspect", dump, "timeline", "--json")["calls"]
                if call["duration_s"] is not None]


class AsText(OutlierTest):
    def test_the_longest_calls_of_a_function_and_a_period_as_text(self):
        dump = self.make_dump()
        calls = self.calls_of(dump)

        def longest(*options, limit):
            told = self.box.json("inspect", dump, "timeline", "--json", "--sort", "duration", "--limit", str(limit),
                                 *options)
            return [(c["duration_s"], c["rank"], c["begin_s"]) for c in told["calls"]]

        def expected(chosen, limit):
            ordered = sorted(chosen, key=lambda c: (-round(c["duration_s"] * 1e9), c["begin_s"], c["rank"]))
            return [(c["duration_s"], c["rank"], c["begin_s"]) for c in ordered[:limit]]

        self.assertEqual(longest(limit=7), expected(calls, 7))
        receives = [c for c in calls if c["function"] == "MPI_Recv"]
        self.assertEqual(longest("--function", "MPI_Recv", limit=5), expected(receives, 5))
        middle = sorted(c["begin_s"] for c in receives)[len(receives) // 2]
        later = [c for c in receives if c["begin_s"] + c["duration_s"] >= middle]
        self.assertEqual(longest("--function", "MPI_Recv", "--from", f"{middle:.9f}", limit=5), expected(later, 5))
        lines = self.box.pclscope("inspect", dump, "timeline", "--sort", "duration", "--function",
                                  "MPI_Recv").stdout.splitlines()
        self.assertEqual(lines[-1], f"longest 20 of {len(receives)} such stored calls; --limit N shows more")
        self.assertEqual([line.split()[3] for line in lines[1:-1]], ["MPI_Recv"] * 20)
        for words, said in ((("--function", "MPI_Recvv"), "MPI_Recv"), (("--sort", "ratio"), "time or duration")):
            done = self.box.pclscope("inspect", dump, "timeline", *words)
            self.assertEqual(done.code, 2, done)
            self.assertIn(said, done.stderr)


class Clicked(OutlierTest):
    def setUp(self):
        if xvfb.why_not():
            self.skipTest(xvfb.why_not())
        super().setUp()

    def open(self, dump, *options):
        screen = xvfb.Screen(self.box)
        self.addCleanup(screen.close)
        self.addCleanup(self.box.kill_everything)  # the viewer first
        viewer = xvfb.Viewer(self.box, screen, dump, *options)
        viewer.wait("picture of calls", lambda s: s["settled"] and "calls left" in s["views"][CALLS]["marks"] and
                    len(self.durations(s)) > 1)
        viewer.focus()
        viewer.until(lambda: viewer.key("Escape"), "no hint", lambda s: not s["hint"])
        state = viewer.until(lambda: viewer.key("Escape"), "nothing selected",
                             lambda s: s["selection"]["region"] is None and s["settled"])
        return viewer, state

    @staticmethod
    def durations(state):
        """[(log10 of ns, pixel)] of the axis, the lowest first."""
        marks = state["views"][CALLS]["marks"]
        names = [name.split() for name in marks if name.startswith("duration ")]
        return sorted((math.log10(int(n) * UNITS[unit]), marks[f"duration {n} {unit}"][1]) for _, n, unit in names)

    def place(self, state, call):
        """Pixels of a call, not rounded, from what the axes say of themselves."""
        marks = state["views"][CALLS]["marks"]
        left, right = marks["calls left"][0] - 1, marks["calls right"][0] + 1
        (low, y_low), *_, (high, y_high) = self.durations(state)
        x = left + call["begin_s"] / state["shown"]["duration_s"] * (right - left)
        y = y_low + (math.log10(max(call["duration_s"] * 1e9, 1)) - low) / (high - low) * (y_high - y_low)
        return x, y

    def test_an_outlier_that_is_clicked_is_selected_everywhere(self):
        dump = self.make_dump()
        calls = self.calls_of(dump)
        outlier = max((c for c in calls if c["function"] == "MPI_Recv"), key=lambda c: c["duration_s"])
        viewer, state = self.open(dump, "--workspace", "calls")
        at = self.place(state, outlier)
        pixel = [round(v) for v in at]
        # What else may be the nearest: marks are rounded to pixels.
        near = {(c["rank"], c["function"], round(c["begin_s"] * 1e9)) for c in calls
                if math.dist(self.place(state, c), at) <= 4}
        state = viewer.until(lambda: viewer.click(pixel), "the call", lambda s: s["selection"]["call"] is not None)
        call = state["selection"]["call"]
        self.assertIn((call["rank"], call["function"], round(call["begin_s"] * 1e9)), near)
        chosen = next(c for c in calls if (c["rank"], round(c["begin_s"] * 1e9)) ==
                      (call["rank"], round(call["begin_s"] * 1e9)))
        self.assertEqual(call["site"], chosen["site"])
        if call["function"] == "MPI_Recv":  # which it is, unless the machine stood still at the same moment
            self.assertEqual([frame.split()[0] for frame in call["path"]],
                             ["layer_receive", "transfer", "step_b", "main"])

        def is_selected(state):
            selection = state["selection"]
            return (selection["rank"] == chosen["rank"] and selection["ranks"] == [chosen["rank"]] and
                    selection["call"] == call and
                    abs(selection["period"][0] - chosen["begin_s"]) < 2e-9 and
                    abs(selection["period"][1] - chosen["begin_s"] - chosen["duration_s"]) < 2e-9)

        self.assertTrue(is_selected(state), state["selection"])
        for key, workspace in (("1", "latency"), ("2", "time"), ("3", "calls")):
            state = viewer.until(lambda: viewer.key(key), f"{workspace} with the call",  # pylint: disable=W0640
                                 lambda s: s["workspace"] == workspace and s["settled"])  # pylint: disable=W0640
            self.assertTrue(is_selected(state), (workspace, state["selection"]))
            self.assertIn("selected call", state["status"])

        # Back to before, and it is not selected any more.
        viewer.until(lambda: viewer.key("Escape"), "nothing", lambda s: s["selection"]["call"] is None)

    def test_a_rectangle_lists_the_worst_and_how_many_there_are(self):
        dump = self.make_dump()
        viewer, state = self.open(dump, "--only", "calls")
        marks = state["views"][CALLS]["marks"]
        axis = self.durations(state)
        top, bottom = axis[-1][1], axis[0][1]
        left, right = marks["calls left"][0] + 3, marks["calls right"][0] - 3

        def listed(state):
            return [name for name in state["views"][CALLS]["marks"] if name.startswith("listed ")]
        viewer.until(lambda: viewer.drag((left, top), (right, bottom), shift=True), "a list",
                     lambda s: s["settled"] and listed(s))
        stored, counted = (int(n) for n in listed(viewer.state())[0].split()[1::2])
        calls = self.calls_of(dump)
        inside = 0  # without those near the border: whole cells are listed, and marks are rounded to pixels
        for call in calls:
            x, y = self.place(state, call)
            inside += left + 2 < x < right - 2 and top + 2 < y < bottom - 2
        self.assertGreater(inside, 500)
        for number in (stored, counted):
            self.assertLessEqual(inside, number)
            self.assertLessEqual(number, len(calls))
        state = viewer.until(lambda: viewer.click(viewer.mark("call 1")), "the worst",
                             lambda s: s["selection"]["call"] is not None)
        worst = state["selection"]["call"]
        state = viewer.until(lambda: viewer.click(viewer.mark("call 2")), "the next",
                             lambda s: s["selection"]["call"] not in (None, worst))
        second = state["selection"]["call"]
        self.assertGreaterEqual(worst["end_s"] - worst["begin_s"], second["end_s"] - second["begin_s"])
        viewer.until(lambda: viewer.click(viewer.mark("close list")), "no list", lambda s: not listed(s))

    def test_a_dump_without_single_calls_has_its_counts(self):
        dump = self.make_dump(keep="summaries")
        viewer, state = self.open(dump, "--only", "calls")
        marks = state["views"][CALLS]["marks"]
        viewer.click(marks["calls middle"])
        viewer.until(lambda: viewer.drag(marks["calls left"], marks["calls middle"]), "a period",
                     lambda s: s["selection"]["period"] is not None)
        self.assertIsNone(viewer.state()["selection"]["call"])


if __name__ == "__main__":
    harness.main()
