"""The routes view in a real window: published traffic against its published routes and hops, a dump against distances
on a torus, a running job. Depends on: launcher, display, time."""
import collections
import pathlib
import re

import harness
import xvfb
from picture import colours

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "par-comm"
NAME = "MiniAMR_Vesta_n128_c1_s1"
TORUS = "torus:2x2x4x4x2@BACDE"


def published():
    """Bytes and hops of each pair, and the ranks whose routes cross each link (from and to as coordinates)."""
    pairs, links = {}, collections.defaultdict(list)
    for line in (DATA / "hopbyte" / f"{NAME}_hopbyte.txt").read_text().splitlines():
        source, destination, size, hops = line.split()
        pairs[int(source), int(destination)] = float(size), int(hops)
    hop = re.compile(r"Hop \d+: \[(\d+)-(\d+)\] \d+ \(([\d ]+)\) -> \d+ \(([\d ]+)\)")
    for line in (DATA / "route" / f"{NAME}_route.txt").read_text().splitlines():
        source, destination, begin, end = hop.match(line.strip()).groups()
        links[begin.rsplit(" ", 1)[0], end.rsplit(" ", 1)[0]].append((int(source), int(destination)))
    return pairs, links


class NetworkTest(harness.SystemTest):
    def setUp(self):
        if xvfb.why_not():
            self.skipTest(xvfb.why_not())
        super().setUp()
        self.box.environment["XDG_CACHE_HOME"] = str(self.box.directory / "cache")

    def open(self, *arguments):
        screen = xvfb.Screen(self.box)
        self.addCleanup(screen.close)
        self.addCleanup(self.box.kill_everything)  # the viewers first
        viewer = xvfb.Viewer(self.box, screen, *arguments)
        viewer.settled()
        viewer.focus()
        return viewer, screen

    @staticmethod
    def number(state, name):
        """What stands behind a mark's name; None without it."""
        for view in state["views"].values():
            for mark in view["marks"]:
                if mark.startswith(name + " "):
                    return int(mark[len(name) + 1:])
        return None


class Published(NetworkTest):
    def setUp(self):
        super().setUp()
        self.viewer, self.screen = self.open(DATA / "hopbyte" / f"{NAME}_hopbyte.txt", "--topology", TORUS, "--only",
                                             "routes")
        self.pairs, self.links = published()
        self.sum = round(sum(size * hops for size, hops in self.pairs.values()))

    def test_what_is_drawn_is_what_was_published_whole_and_merged(self):
        viewer = self.viewer
        state = viewer.settled()
        self.assertEqual(state["workspace"], "network")
        self.assertEqual(self.number(state, "routes shown"), len(self.pairs))
        self.assertEqual(self.number(state, "routes links"), len(self.links))
        self.assertEqual(self.number(state, "routes nodes"), 128)
        self.assertLessEqual(abs(self.number(state, "routes bytes") - self.sum), 1)
        self.assertGreater(colours(self.screen.pixels()), 100)
        for dimension, nodes in (("C", 32), ("D", 8)):
            state = viewer.until(lambda: viewer.click(viewer.mark(f"merge {dimension}")), f"{dimension} merged",
                                 lambda s: s["settled"] and self.number(s, "routes nodes") == nodes)
            self.assertLessEqual(abs(self.number(state, "routes bytes") - self.sum), 1)
        viewer.xdotool("mousemove", *viewer.mark("vertex 0"))
        viewer.until(lambda: viewer.click(viewer.mark("vertex 0"), 2), "an open node",
                     lambda s: self.number(s, "routes nodes") == 8 + 15)

    def test_the_heaviest_link_selects_the_ranks_of_its_routes(self):
        viewer = self.viewer
        loads = {link: sum(self.pairs.get(pair, (0, 0))[0] for pair in pairs) for link, pairs in self.links.items()}
        heaviest = max(loads, key=loads.get)
        ranks = sorted({rank for pair in self.links[heaviest] if pair in self.pairs for rank in pair})
        dark = self.screen.pixels().astype(int).sum()
        state = viewer.until(lambda: viewer.click(viewer.mark("heaviest link")), "its ranks",
                             lambda s: s["settled"] and s["selection"]["ranks"])
        self.assertEqual(state["selection"]["ranks"], ranks)
        # All else is faint.
        self.box.wait_for("faint lines", lambda: self.screen.pixels().astype(int).sum() < 0.9 * dark)
        state = viewer.until(lambda: viewer.click(viewer.mark("vertex 77")), "a node's rank",
                             lambda s: s["selection"]["ranks"] == [77])

    def test_a_lasso_filters_and_near_by_routes_lie_side_by_side(self):
        viewer = self.viewer
        x, y = viewer.mark("vertex 5")
        viewer.until(lambda: self.lasso((x - 14, y - 14), (x + 14, y - 14), (x + 14, y + 14), (x - 14, y + 14)),
                     "a lasso", lambda s: self.number(s, "routes shown") == 0)
        through = sum(1 for pair in self.pairs if 5 in pair or any(
            pair in pairs for link, pairs in self.links.items() if "0 0 0 2 1" in link))
        viewer.until(lambda: viewer.key("x"), "what crosses it", lambda s: self.number(s, "routes shown") == through)
        viewer.until(lambda: viewer.key("Escape"), "no hint", lambda s: not s["hint"])
        viewer.until(lambda: viewer.key("Escape"), "all routes",
                     lambda s: self.number(s, "routes shown") == len(self.pairs))
        viewer.xdotool("mousemove", x, y, "sleep", 0.2)
        viewer.until(lambda: viewer.xdotool("click", "--repeat", 12, "--delay", 60, 4), "routes of their own",
                     lambda s: s["settled"] and (self.number(s, "routes apart") or 0) > 10)

    def lasso(self, *corners):
        way = [word for corner in corners for word in ("mousemove", *corner, "sleep", 0.1)]
        self.viewer.xdotool("keydown", "shift", "mousemove", *corners[0], "sleep", 0.2, "mousedown", 1, "sleep", 0.1,
                            *way, "mouseup", 1, "sleep", 0.1, "keyup", "shift")

    def test_places_by_forces(self):
        before = self.viewer.mark("vertex 127")
        state = self.viewer.until(lambda: self.viewer.key("l"), "places by forces",
                                  lambda s: s["settled"] and any("by forces (" in m for view in s["views"].values()
                                                                 for m in view["marks"]))
        self.assertNotEqual(self.viewer.find(state, "vertex 127"), before)
        self.assertLessEqual(abs(self.number(state, "routes bytes") - self.sum), 1)


class Runs(NetworkTest):
    def test_a_dump_on_a_torus_and_on_its_own_node(self):
        dump = self.box.directory / "groups.h5"
        self.assertWorked(self.box.traced(16, harness.program("planted_groups", "openmpi"), "100", "4", "1000", "9",
                                          "20", "40", "5000", options=("--dump", dump)))
        def apart(a, b):
            return min((a - b) % 4, (b - a) % 4)
        pairs = self.box.json("inspect", dump, "traffic", "--json")["traffic"]
        wanted = sum(p["bytes"] * (apart(p["source"] // 4, p["destination"] // 4) +
                                   apart(p["source"] % 4, p["destination"] % 4)) for p in pairs)
        viewer, _ = self.open(dump, "--topology", "torus:4x4", "--ranks-per-node", "1", "--only", "routes")
        viewer.wait("all bytes", lambda s: self.number(s, "routes bytes") == wanted)
        viewer.kill()
        viewer, _ = self.open(dump, "--only", "routes")  # all ranks on one node
        viewer.wait("one node", lambda s: self.number(s, "routes nodes") == 1 and
                    self.number(s, "routes bytes") == 0)

    def test_links_of_a_running_job_go_on(self):
        job = self.box.start_traced(8, harness.program("cg_pattern", "openmpi"), "1000000", "1024", "6000",
                                    self.box.until())
        viewer, _ = self.open(self.box.job_name(job), "--topology", "torus:4x2", "--ranks-per-node", "1", "--only",
                              "routes")
        first = self.number(viewer.wait("bytes", lambda s: (self.number(s, "routes bytes") or 0) > 0), "routes bytes")
        viewer.wait("more bytes", lambda s: (self.number(s, "routes bytes") or 0) > first)
        all_so_far = self.number(viewer.wait("much more", lambda s: (self.number(s, "routes bytes") or 0) > 3 * first),
                                 "routes bytes")
        viewer.until(lambda: viewer.click(viewer.mark("newest traffic")), "the newest alone",
                     lambda s: 0 < (self.number(s, "routes bytes") or 0) < all_so_far)
        self.assertWorked(self.box.end(job))


if __name__ == "__main__":
    harness.main()
