"""The viewer in a real window under Xvfb, driven by xdotool: what was clicked is what is selected. And pictures without
a window.

Pixels are compared with nothing: the viewer says what is selected and where things are (--describe); the screen is
looked at for whether it shows anything there. Depends on: launcher, display, time.
"""
import os
import re
import signal

import harness
import numpy
import xvfb
from picture import colours, read_png


class ViewTest(harness.SystemTest):
    made = {}  # the dump of make_dump, once it is made

    def setUp(self):
        if xvfb.why_not():
            self.skipTest(xvfb.why_not())
        super().setUp()

    def make_dump(self):
        """16 ranks in four groups; for half of the time rank 9 comes 10 ms late, and all of its group wait. Made once:
        every test looks at a copy."""
        path = self.box.directory / "groups.h5"
        if "dump" in self.made:
            path.write_bytes(self.made["dump"])
            self.planted = self.made["planted"]
            return path
        done = self.box.traced(16, harness.program("planted_groups", "openmpi"), "400", "4", "3000", "9", "100", "300",
                               "10000", options=("--dump", path, "--keep", "all"))
        self.assertWorked(done)
        self.planted = next(r["id"] for r in self.box.json("inspect", path, "--json")["regions"] if 9 in r["ranks"])
        self.made.update(dump=path.read_bytes(), planted=self.planted)
        return path

    def screen(self, *size):
        screen = xvfb.Screen(self.box, *size)
        self.addCleanup(screen.close)
        self.addCleanup(self.box.kill_everything)  # the viewers first
        return screen


class Window(ViewTest):
    @staticmethod
    def redness(picture, at, reach=9):
        """Of the disc around a rank's number: how much more red than blue there is, in the median pixel that is not
        text."""
        x, y = at
        around = picture[max(0, y - reach):y + reach, max(0, x - reach):x + reach].reshape(-1, 3).astype(int)
        return int(numpy.percentile(around[:, 0] - around[:, 2], 70))

    def test_a_file_is_explored_by_mouse_and_keys(self):
        screen = self.screen()
        viewer = xvfb.Viewer(self.box, screen, self.make_dump())
        state = viewer.settled()
        viewer.focus()
        self.assertEqual(state["connection"]["state"], "stored")
        self.assertEqual(len(state["views"]), 4)
        self.assertIsNotNone(state["selection"]["region"])  # a newcomer sees something at once
        self.assertTrue(state["hint"])
        self.assertEqual(state["selection"]["region"], self.planted)
        picture = screen.pixels()
        self.assertGreater(colours(picture), 100)
        red = {rank: self.redness(picture, viewer.mark(f"rank {rank}")) for rank in range(16)}
        self.assertGreater(red[9], 60, red)  # others wait for it; on a busy machine others may do harm as well

        regions = [name for name in viewer.names("region ") if name.split()[1].isdigit()]
        self.assertGreaterEqual(len(regions), 4)
        # The late one last: it has messages to the end, others may have finished long before.
        for name in sorted(regions, key=lambda n: n == f"region {self.planted}"):
            wanted = int(name.split()[1])
            state = viewer.until(lambda: viewer.click(viewer.mark(name)), f"selection of {name}",
                                 lambda s: s["selection"]["region"] == wanted)
            # Of the selected period some may have no message.
            viewer.wait("its graph", lambda s: s["settled"] and s["dag"] and s["dag"]["region"] == wanted and
                        (s["dag"]["messages"] > 0 or (wanted != self.planted and s["selection"]["period"])))

        left, right = viewer.mark("slider left"), viewer.mark("slider right")
        third = (right[0] - left[0]) // 3
        first = viewer.until(lambda: viewer.drag(viewer.mark("slider left"), (left[0] + third, left[1])), "period",
                             lambda s: s["selection"]["period"])["selection"]["period"]
        state = viewer.until(lambda: viewer.drag(viewer.mark("slider right"), (right[0] - third, right[1])),
                             "other end",
                             lambda s: s["selection"]["period"] and s["selection"]["period"][1] < first[1] - 0.01)
        both = state["selection"]["period"]
        duration = state["shown"]["duration_s"]
        self.assertGreater(both[0], 0)
        self.assertLess(both[1], duration)
        self.assertLess(both[0], both[1])
        viewer.wait("graph of that period", lambda s: s["settled"] and s["dag"] and s["dag"]["messages"] > 0)

        # The hint, then everything.
        viewer.until(lambda: viewer.key("Escape"), "no hint", lambda s: not s["hint"])
        viewer.until(lambda: viewer.key("Escape"), "nothing selected",
                     lambda s: s["selection"]["region"] is None and s["selection"]["period"] is None)

    def test_a_node_of_the_graph_is_folded_and_unfolded(self):
        dump = self.make_dump()  # regions have the numbers that they got: one may have ended in the first windows
        # Few enough to be seen from the begin on: in the middle of a graph nothing hangs on one node alone.
        first = self.box.json("inspect", dump, "messages", "--rank", "9", "--limit", "28", "--json")["messages"]
        begin, end = first[0]["start_s"] - 1e-4, max(m["start_s"] + m["time_s"] for m in first) + 1e-4
        viewer = xvfb.Viewer(self.box, self.screen(), dump, "--only", "dag", "--select",
                             f"region={self.planted},period={begin:.6f}:{end:.6f}")
        viewer.settled()
        viewer.focus()
        def nodes(state):
            return [name for view in state["views"].values() for name in view["marks"] if name.startswith("node ")]

        state = viewer.wait("nodes", lambda s: s["settled"] and len(nodes(s)) > 3)
        before = len(nodes(state))
        # Of the leftmost some may have nothing right of them that hangs on them alone.
        for name in sorted(nodes(state), key=lambda n: viewer.find(state, n)[0])[:6]:
            viewer.click(viewer.mark(name), count=2)
            try:
                viewer.wait("other nodes", lambda s: s["settled"] and len(nodes(s)) != before, timeout=20)
            except AssertionError:
                continue
            break
        else:
            self.fail(f"no double click changed the {before} nodes: {viewer.state()}")
        folded = len(nodes(viewer.state()))
        self.assertLess(folded, before)
        viewer.until(lambda: viewer.click(viewer.mark(name), count=2), "more nodes again",
                     lambda s: s["settled"] and len(nodes(s)) > folded)

    def test_a_finding_selects_its_region_and_period_everywhere(self):
        dump = self.make_dump()
        viewer = xvfb.Viewer(self.box, self.screen(), dump, "--only", "attribution", "--select",
                             f"region={self.planted}")
        viewer.settled()
        viewer.focus()
        if not viewer.names("finding 0"):
            self.skipTest("this run has no finding")
        state = viewer.until(lambda: viewer.click(viewer.mark("finding 0")), "finding",
                             lambda s: s["selection"]["finding"] == 0)
        self.assertIsNotNone(state["selection"]["period"])

    def test_who_is_late_in_logical_time_is_a_click_away(self):
        dump = self.make_dump()
        viewer = xvfb.Viewer(self.box, self.screen(), dump, "--workspace", "time")
        state = viewer.wait("logical time", lambda s: s["settled"] and s["workspace"] == "time" and
                            "latest event" in s["views"]["who first: logical timeline"]["marks"])
        viewer.focus()
        marks = [name for view in state["views"].values() for name in view["marks"]]
        for content in ("logical boxes", "cluster rows", "overview bars"):
            self.assertTrue(any(name.startswith(content) for name in marks), marks)
        viewer.until(lambda: viewer.key("Escape"), "no hint", lambda s: not s["hint"])
        state = viewer.until(lambda: viewer.click(viewer.mark("latest event")), "rank and phase",
                             lambda s: s["selection"]["rank"] is not None and s["selection"]["phase"] is not None)
        # Rank 9, or one of those that it makes late; on a busy machine another one.
        rank, region = state["selection"]["rank"], state["selection"]["region"]
        regions = {r["id"]: r["ranks"] for r in self.box.json("inspect", dump, "--json")["regions"]}
        if region is not None or any(rank in ranks for ranks in regions.values()):
            self.assertIn(rank, regions[region])
        self.assertEqual(state["selection"]["ranks"], [rank])
        state = viewer.until(lambda: viewer.key("1"), "the same in the other views",
                             lambda s: s["workspace"] == "latency" and s["settled"])
        self.assertEqual((state["selection"]["rank"], state["selection"]["region"]), (rank, region))

    @staticmethod
    def drawn(state, begin):
        return [name for view in state["views"].values() for name in view["marks"] if name.startswith(begin)]

    def test_what_happened_before_an_event_is_a_click_away(self):
        viewer = xvfb.Viewer(self.box, self.screen(), self.make_dump(), "--only", "clocks", "--select",
                             "ranks=8-11,rank=9")
        viewer.wait("clocks", lambda s: s["settled"] and self.drawn(s, "clock of rank 9 "))
        viewer.focus()
        viewer.until(lambda: viewer.key("t"), "no hint", lambda s: not s["hint"])
        event = viewer.names("clock of rank 9 ")[0]
        state = viewer.until(lambda: viewer.click(viewer.mark(event)), "an event of rank 9",
                             lambda s: s["settled"] and s["selection"]["period"] and self.drawn(s, "before "))
        self.assertEqual(state["selection"]["ranks"], [8, 9, 10, 11])
        self.assertEqual(state["selection"]["rank"], 9)

    def test_a_pinned_period_is_compared_with_the_next_one(self):
        viewer = xvfb.Viewer(self.box, self.screen(), self.make_dump(), "--only", "logical", "--select",
                             "period=0:0.5")
        viewer.wait("the run", lambda s: s["settled"] and self.drawn(s, "logical boxes "))
        viewer.focus()
        state = viewer.until(lambda: viewer.key("c"), "a pinned period", lambda s: s["selection"]["pinned"] == [0, 0.5])
        self.assertEqual(self.drawn(state, "below logical boxes "), [])
        state = viewer.until(lambda: viewer.click(viewer.mark("latest event")), "both periods",
                             lambda s: s["settled"] and self.drawn(s, "below logical boxes "))
        self.assertEqual(state["selection"]["pinned"], [0, 0.5])
        self.assertNotEqual(state["selection"]["period"], [0, 0.5])

    def test_a_run_compared_with_itself_differs_nowhere(self):
        dump = self.make_dump()
        viewer = xvfb.Viewer(self.box, self.screen(), dump, "--compare", dump)
        state = viewer.wait("both runs", lambda s: s["settled"] and self.drawn(s, "below logical boxes "))
        self.assertEqual(state["workspace"], "time")
        self.assertEqual(self.drawn(state, "differing steps "), ["differing steps 0"])

    def test_keys(self):
        viewer = xvfb.Viewer(self.box, self.screen(), self.make_dump())
        viewer.settled()
        viewer.focus()
        for key, what, holds in (("Escape", "no hint", lambda s: not s["hint"]),
                                 ("v", "one view", lambda s: len(s["views"]) == 1),
                                 ("0", "all views", lambda s: len(s["views"]) == 4),
                                 ("ctrl+f", "search", lambda s: s["search"] is not None),
                                 ("Escape", "no search", lambda s: s["search"] is None),
                                 ("t", "light", lambda s: s["theme"] == "light"),
                                 ("question", "help", lambda s: s["help"]),
                                 ("Escape", "no help", lambda s: not s["help"])):
            viewer.until(lambda: viewer.key(key), what, holds)  # pylint: disable=cell-var-from-loop
        viewer.key("q")
        done = viewer.running.finish()
        self.assertWorked(done)
        again = xvfb.Viewer(self.box, xvfb_screen_of(viewer), self.box.directory / "groups.h5")
        self.assertFalse(again.settled()["hint"])  # not the first run any more


def xvfb_screen_of(viewer):
    return viewer.screen


class Live(ViewTest):
    def start_job(self):
        job = self.box.start_traced(8, harness.program("cg_pattern", "openmpi"), "1000000", "1024", "6000",
                                    self.box.until())
        return job, self.box.job_name(job)

    def test_pause_loses_nothing_and_a_killed_viewer_comes_back(self):
        job, name = self.start_job()
        screen = self.screen()
        viewer = xvfb.Viewer(self.box, screen, name)
        viewer.wait("news", lambda s: s["connection"]["state"] == "running" and s["snapshots"] >= 3)
        viewer.focus()
        viewer.key("Escape")
        viewer.key("space")
        picture = self.box.directory / "live.png"
        self.assertWorked(self.box.pclscope("view", "--screenshot", picture, "--size", "800x500", name))
        self.assertGreater(colours(read_png(picture)), 100)
        paused = viewer.wait("pause", lambda s: s["paused"])
        later = viewer.wait("more news behind it", lambda s: s["snapshots"] >= paused["snapshots"] + 5)
        self.assertEqual(later["shown"]["sequence"], paused["shown"]["sequence"])
        viewer.key("space")
        viewer.wait("newest", lambda s: not s["paused"] and s["shown"]["sequence"] > paused["shown"]["sequence"] + 3)

        viewer.kill()
        viewer.running.process.wait(harness.PATIENCE)
        again = xvfb.Viewer(self.box, screen, name)
        again.wait("news again", lambda s: s["connection"]["state"] == "running" and s["snapshots"] >= 3)
        self.assertTrue(job.running())

        for pid, command in self.box.processes():
            if "pclscope-aggregator" in command.split()[0]:
                os.kill(pid, signal.SIGKILL)
        lost = again.wait("loss", lambda s: s["connection"]["state"] == "lost")
        self.assertIn("gone", lost["connection"]["problem"])
        job.finish()  # its launcher ends it; then pclscope run tidies up

    def test_of_several_jobs_one_is_chosen(self):
        (self.box.runtime / "pclscope").mkdir(mode=0o700, exist_ok=True)
        end = self.box.until().removeprefix("until=")
        jobs = [self.box.start(harness.BUILD / "tests" / "viewer_fake_job", name,
                               f"ipc://{self.box.runtime}/pclscope/{name}", end, "finish")
                for name in ("rain-1", "rain-2")]
        self.box.wait_for("both jobs", lambda: len(self.box.json("list", "--json")["jobs"]) == 2)
        viewer = xvfb.Viewer(self.box, self.screen())
        state = viewer.wait("list of jobs", lambda s: len(s.get("jobs", {})) == 2)
        viewer.focus()
        at = state["jobs"]["rain-1"]
        state = viewer.until(lambda: viewer.click(at), "the chosen job",
                             lambda s: "connection" in s and s["connection"]["state"] == "running")
        self.assertEqual(state["connection"]["name"], "rain-1")
        viewer.until(lambda: viewer.key("Escape"), "no hint", lambda s: not s["hint"])
        viewer.key("q")
        self.assertWorked(viewer.running.finish())
        for job in jobs:
            self.assertWorked(self.box.end(job))

    def test_where_lateness_begins_is_the_slow_rank_and_its_line(self):
        late = 5
        job = self.box.start_traced(8, harness.program("planted_halo3d", "openmpi"), "1000000", str(late), "0",
                                    "1000000", "50000", self.box.until())
        viewer = xvfb.Viewer(self.box, self.screen(), self.box.job_name(job), "--workspace", "time")
        def there(state):
            return viewer.find(state, "late first") is not None
        viewer.wait("logical time", lambda s: s["workspace"] == "time" and there(s))
        viewer.focus()
        viewer.until(lambda: viewer.key("Escape"), "no hint", lambda s: not s["hint"])
        viewer.until(lambda: viewer.key("Escape"), "nothing selected", lambda s: s["selection"]["rank"] is None)
        lines = (harness.SOURCE / "tests/programs/planted_halo3d.c").read_text().splitlines()
        sends, = [number for number, line in enumerate(lines, start=1) if "MPI_Isend" in line]
        for _ in range(8):  # one picture may be of a moment in which the machine was busy
            viewer.until(lambda: viewer.key("space"), "pause", lambda s: s["paused"])
            state = viewer.until(lambda: viewer.click(viewer.mark("late first")), "a rank",
                                 lambda s: s["selection"]["rank"] is not None and s["selection"]["phase"] is not None)
            selected = state["selection"]
            if selected["rank"] == late and (selected["site"] or "").endswith(f"planted_halo3d.c:{sends}"):
                break
            viewer.until(lambda: viewer.key("space"), "news", lambda s: not s["paused"])
            viewer.until(lambda: viewer.key("Escape"), "nothing selected", lambda s: s["selection"]["rank"] is None)
            shown = viewer.state()["shown"]["sequence"]
            viewer.wait("another picture", lambda s: s["shown"]["sequence"] > shown + 20)  # pylint: disable=W0640
        else:
            self.fail(f"never rank {late} at line {sends}: {selected}")
        self.assertIsNotNone(selected["period"])
        # The same in all workspaces, and as text.
        state = viewer.until(lambda: viewer.key("1"), "the same in the other views",
                             lambda s: s["workspace"] == "latency")
        self.assertEqual((state["selection"]["rank"], state["selection"]["site"]), (late, selected["site"]))
        state = viewer.until(lambda: viewer.key("ctrl+c"), "text", lambda s: s["copied"])
        self.assertIn(f": rank {late}, ", state["copied"])
        self.assertIn(f"MPI_Isend at planted_halo3d.c:{sends}", state["copied"])
        self.assertWorked(self.box.end(job))

    def test_a_job_that_ends_is_finished(self):
        job, name = self.start_job()
        viewer = xvfb.Viewer(self.box, self.screen(), name)
        viewer.wait("news", lambda s: s["connection"]["state"] == "running")
        done = self.box.end(job)
        self.assertWorked(done)
        state = viewer.wait("end", lambda s: s["connection"]["state"] == "finished")
        self.assertEqual(state["shown"]["matched"], 8 * 7 * int(re.search(r"iterations (\d+)", done.stdout)[1]))


class Pictures(ViewTest):
    def picture(self, *arguments, name="out.png"):
        path = self.box.directory / name
        self.box.environment.pop("DISPLAY", None)
        done = self.box.pclscope("view", "--screenshot", path, *arguments)
        return path, done

    def test_a_picture_without_a_display(self):
        dump = self.make_dump()
        description = self.box.directory / "d.json"
        path, done = self.picture("--size", "1200x800", "--select", f"region={self.planted}", "--describe",
                                  description, dump)
        self.assertWorked(done)
        image = read_png(path)
        self.assertEqual(image.shape, (800, 1200, 3))
        self.assertGreater(colours(image), 100)
        self.assertIn(f'"region": {self.planted}', description.read_text())
        path, done = self.picture("--size", "600x400", "--theme", "light", dump)
        self.assertWorked(done)
        self.assertGreater(read_png(path).mean(), 128)
        for size in ("1x1", "30x2000"):
            path, done = self.picture("--size", size, dump)
            self.assertWorked(done)
            self.assertEqual("{1}x{0}".format(*read_png(path).shape), size)

    def assertOneLine(self, done, code, *words):
        self.assertEqual(done.code, code, str(done))
        self.assertEqual(len(done.stderr.splitlines()), 1, str(done))
        for word in words:
            self.assertIn(word, done.stderr)

    def test_bad_input_is_said_in_one_line(self):
        dump = self.make_dump()
        cut = self.box.directory / "cut.h5"
        cut.write_bytes(dump.read_bytes()[:4000])
        other = self.box.directory / "other.h5"
        other.write_text("hello")
        self.assertOneLine(self.picture(cut)[1], 1)
        self.assertOneLine(self.picture(other)[1], 1)
        self.assertOneLine(self.picture("no-such-job")[1], 1, "neither a running job")
        self.assertOneLine(self.picture("tcp://127.0.0.1:1")[1], 1)
        self.assertOneLine(self.picture("ipc:///tmp/no-such-endpoint")[1], 1, "no news")
        self.assertOneLine(self.picture("--size", "0x0", dump)[1], 2, "--size")
        self.assertOneLine(self.picture("--select", "region", dump)[1], 2, "--select")
        self.assertOneLine(self.picture("--select", "ranks=1-99", dump)[1], 1, "rank 99")
        self.assertOneLine(self.picture("--compare", cut, dump)[1], 1, "--compare")
        for what in ("region", "rank", "finding"):  # no picture of something else
            self.assertOneLine(self.picture("--select", f"{what}=99", dump)[1], 1, f"no {what} 99")
        self.assertOneLine(self.picture(dump, name="no/such/directory.png")[1], 1, "cannot write")
        self.box.environment["MESA_GL_VERSION_OVERRIDE"] = "2.1"
        self.assertOneLine(self.picture(dump)[1], 1, "no OpenGL 3.0", "watch")
        self.screen(640, 480)
        self.assertOneLine(self.box.pclscope("view", dump), 1, "no OpenGL 3.0", "watch")
        self.box.environment.pop("DISPLAY", None)
        self.assertOneLine(self.box.pclscope("view", dump), 1, "no display", "watch")
        self.box.environment["DISPLAY"] = ":9999"
        self.assertOneLine(self.box.pclscope("view", dump), 1, "cannot open a window", "watch")


if __name__ == "__main__":
    harness.main()
