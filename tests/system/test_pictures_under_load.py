"""The window of a running job while two loops keep the machine busy: no view is empty once there is something to show,
and none becomes empty again. Each view says what it drew (--describe), and the screen is looked at inside its
rectangle. Depends on: launcher, display, time, quiet."""
import re
import sys

import harness
import numpy
import xvfb

WIDTH, HEIGHT = 1200, 800
LOOKS = 4  # at other pictures of the same view, after it has shown something
LATE_US = 20000
NETWORK = ("--topology", "torus:4x2", "--ranks-per-node", "1")  # all ranks are on one node: their messages use no link

# Of each view (the begin of its title) marks and how many there are at least; with a number behind the name (None as
# the count of marks): that number at least.
LIVE = {"latency": {"where:": {"region ": 2, "rank ": 8}, "when:": {"row ": 2, "circle ": 1},
                    "how:": {"node ": 2, "links ": 1}, "why:": {"plotted slices ": 2}},
        "time": {"who first:": {"logical boxes ": 16, "latest event": 1}, "who is alike:": {"cluster rows ": 1},
                 "where in the run:": {"overview bars ": 3}, "who can know:": {"clock events ": 3}},
        "calls": {"what is everybody doing:": {"legend MPI_": 2}},
        "network": {"which links:": {"routes links ": 8}, "what is usual:": {"criteria points ": 1}}}
STORED = {"time": {"what each rank did:": {"timeline coloured ": 100}, **LIVE["time"]},
          "calls": {**LIVE["calls"], "every call:": {"legend MPI_": 2}},
          "network": LIVE["network"]}
NUMBERED = ("links ", "plotted slices ", "logical boxes ", "cluster rows ", "overview bars ", "timeline coloured ",
            "criteria points ", "clock events ", "routes links ")


def drawn(view, mark):
    """How much of it the view says that it drew."""
    names = [name for name in view["marks"] if name.startswith(mark)]
    if mark in NUMBERED:
        return sum(int(re.sub(r"\D", "", name[len(mark):])) for name in names)
    return len([name for name in names if mark != "region " or name[len(mark):].isdigit()])


def empty(state, contents):
    """What is missing, of all views of the workspace."""
    missing = []
    for begin, marks in contents.items():
        view = next((v for title, v in state["views"].items() if title.startswith(begin)), None)
        if view is None:
            missing.append(f"no view '{begin}'")
            continue
        missing += [f"'{begin}' shows {drawn(view, mark)} of '{mark}', not {least}"
                    for mark, least in marks.items() if drawn(view, mark) < least]
    return missing


class UnderLoad(harness.SystemTest):
    def setUp(self):
        if xvfb.why_not():
            self.skipTest(xvfb.why_not())
        super().setUp()
        self.loops = [self.box.start(sys.executable, "-c", "while True: pass") for _ in range(2)]
        self.screen = xvfb.Screen(self.box, WIDTH, HEIGHT)
        self.addCleanup(self.screen.close)
        self.addCleanup(self.box.kill_everything)  # the viewers first

    def painted(self, at):
        """Share of the pixels of a view's rectangle, below its title, that are not its most frequent colour."""
        left, top, width, height = at
        part = self.screen.pixels()[top + 26:top + height, left:left + width].reshape(-1, 3).astype(numpy.uint32)
        _, counts = numpy.unique((part[:, 0] << 16) | (part[:, 1] << 8) | part[:, 2], return_counts=True)
        return 1 - counts.max() / counts.sum()

    def look_at(self, viewer, workspace, contents):
        """Waits until all its views show something; from then on they do, in every later picture."""
        shown = []

        def whole(state):
            if state["workspace"] != workspace:
                return False
            missing = empty(state, contents)
            shown[:] = missing or ["whole"]
            shown.append(str({key: state[key] for key in ("selection", "dag", "dag_problem", "connection", "shown")}))
            return not missing
        try:
            state = viewer.wait(f"content of {workspace}", whole)
        except AssertionError as failed:
            raise AssertionError(f"{workspace}: {'; '.join(shown)}") from failed
        running = state["connection"]["state"] == "running"
        for _ in range(LOOKS if running else 1):
            for begin in contents:
                title = next(t for t in state["views"] if t.startswith(begin))
                self.assertGreater(self.painted(state["views"][title]["at"]), 0.01, title)
            if not running:
                return
            sequence = state["shown"]["sequence"]
            state = viewer.wait("a later picture", lambda s: s["shown"]["sequence"] > sequence)  # pylint: disable=W0640
            self.assertEqual(empty(state, contents), [])

    def show(self, viewer, key, workspace):
        """Where frames are slow a key may be lost: it is pressed until it has been heard. It closes the hint, too."""
        viewer.focus()

        def shown():
            state = viewer.state()
            if state and state["views"] and state["workspace"] == workspace and not state["hint"]:
                return True
            viewer.key(str(key))
            return False
        self.box.wait_for(f"workspace {workspace}", shown, running=viewer.running)

    def test_no_view_is_empty(self):
        dump = self.box.directory / "load.h5"
        job = self.box.start_traced(8, harness.program("cg_pattern", "openmpi"), "1000000", "1024", "2000", "0", "0",
                                    "1000000", str(LATE_US), self.box.until(),
                                    options=("--dump", dump, "--keep", "all"))
        name = self.box.job_name(job)

        def row():
            """The first row's region. What is found before that may be found anew, and its id is gone."""
            return next((r for r in self.box.live(name)["regions"] if r["ranks"] == [0, 1, 2, 3]), None)
        # A region, but no period: what the window selects by itself may be a moment with one message.
        region = self.box.wait_for("the region of a row", row, running=job)["id"]
        viewer = xvfb.Viewer(self.box, self.screen, name, "--select", f"region={region}", *NETWORK)
        viewer.wait("news", lambda s: s["connection"]["state"] == "running" and s["views"])
        for key, (workspace, contents) in enumerate(LIVE.items(), start=1):
            self.show(viewer, key, workspace)
            self.look_at(viewer, workspace, contents)
        viewer.kill()
        viewer.running.process.wait(harness.PATIENCE)
        self.assertWorked(self.box.end(job))

        stored = xvfb.Viewer(self.box, self.screen, dump, *NETWORK)
        stored.wait("picture", lambda s: s["views"])
        for key, (workspace, contents) in enumerate(STORED.items(), start=2):
            self.show(stored, key, workspace)
            self.look_at(stored, workspace, contents)
        for loop in self.loops:
            self.assertTrue(loop.running())


if __name__ == "__main__":
    harness.main()
