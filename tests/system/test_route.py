"""pclscope route on the published data: what it says, what it writes, and what it refuses.
Depends on: nothing."""
import json

import harness

HOPBYTE = harness.DATA / "par-comm" / "hopbyte"
ROUTE = harness.DATA / "par-comm" / "route"
IMB_BYTES = HOPBYTE / "IMB-MPI1_Vesta_n32_c16_hopbyte.txt"
IMB = ROUTE / "IMB-MPI1_Vesta_n32_c16_route.txt"
TORUS = "torus:2x2x2x2x2"


class Route(harness.SystemTest):
    def ask(self, *words):
        done = self.box.pclscope("route", *words, "--json")
        self.assertWorked(done)
        return json.loads(done.stdout)

    def refused(self, code, word, *words):
        self.assertRefused(self.box.pclscope("route", *words), code, word)

    def write(self, name, text):
        path = self.box.directory / name
        path.write_text(text)
        return path

    def test_published_traffic_has_the_published_routes(self):
        written = self.box.directory / "routes.txt"
        answer = self.ask(IMB_BYTES, "--topology", TORUS + "@DCBAE", "--ranks-per-node", 16, "-o", written)
        self.assertEqual(sorted(written.read_text().splitlines()), sorted(IMB.read_text().splitlines()))
        self.assertEqual(answer["routes_between_nodes"], 527)
        self.assertEqual(answer["most_hops"], 5)
        rows = [line.split() for line in IMB_BYTES.read_text().splitlines()]
        self.assertAlmostEqual(answer["hop_bytes"] / sum(float(b) * int(h) for _, _, b, h in rows), 1, places=12)

    def test_link_loads_are_those_of_the_file(self):
        loads = {}
        for line in IMB.read_text().splitlines():
            nodes = [tuple(map(int, part.split(")")[0].split()[:5])) for part in line.split("(")[1:]]
            loads[tuple(nodes)] = loads.get(tuple(nodes), 0) + 1
        for topology in ([], ["--topology", TORUS]):
            answer = self.ask(IMB, *topology, "--top", 1000)
            self.assertEqual({(tuple(l["from"]), tuple(l["to"])): l["bytes"] for l in answer["heaviest_links"]}, loads)
            self.assertEqual(answer["max_link_bytes"], max(loads.values()))

    def test_rerouting_reaches_the_bound_of_imb(self):
        # 496 ranks send to node 0, which has five links: no way has fewer than 100 on one of them.
        written = self.box.directory / "better.txt"
        answer = self.ask(IMB, "--topology", TORUS, "--reroute", "all", "-o", written)
        self.assertEqual(answer["max_link_bytes"], 256)
        after = answer["reroute"]["after"]
        self.assertEqual(after["max_link_bytes"], 100)
        self.assertEqual(after["mean_hops"], answer["mean_hops"])
        again = self.ask(written, "--topology", TORUS)
        self.assertEqual(again["max_link_bytes"], 100)
        self.assertEqual(again["problems"], 0)

    def test_one_route_and_the_worst(self):
        one = self.ask(IMB, "--topology", TORUS, "--traffic", IMB_BYTES, "--reroute", "255-0")["reroute"]
        self.assertEqual((one["asked"], one["changed"]), (1, 1))
        self.assertLess(one["routes"][0]["heaviest_link_bytes_after"], one["routes"][0]["heaviest_link_bytes_before"])
        self.assertEqual(one["routes"][0]["hops_after"], 4)
        worst = self.ask(IMB, "--topology", TORUS, "--rank-by", "length", "--reroute", "worst:7",
                         "--criterion", "length")["reroute"]
        self.assertEqual(worst["asked"], 7)

    def test_tables_for_people(self):
        done = self.box.pclscope("route", IMB, "--topology", TORUS, "--reroute", "all", "--top", 3)
        self.assertWorked(done)
        for words in ("527 routes; mean length 2.54, longest 5", "Routes by heaviest link", "Most loaded links before",
                      "Rerouted by heaviest link", "-60.9 %"):
            self.assertIn(words, done.stdout)

    def test_theta_keeps_its_rank_numbers(self):
        answer = self.ask(ROUTE / "MiniMD_Theta_n64_c1_w_route.txt",
                          "--traffic", HOPBYTE / "MiniMD_Theta_n64_c1_w_hopbyte.txt", "--top", 1000)
        self.assertEqual(answer["problems"], 0)
        self.assertEqual(len(answer["worst_routes"]), 384)
        self.assertTrue(all(route["bytes"] > 0 and 3433 <= route["source"] <= 3496 for route in answer["worst_routes"]))

    def test_wrong_usage(self):
        self.refused(2, "input")
        self.refused(2, "best", IMB, "--reroute", "best")
        self.refused(2, "worst:0", IMB, "--reroute", "worst:0")
        self.refused(2, "--delta", IMB, "--reroute", "all", "--delta", "-1")
        self.refused(2, "weight", IMB, "--rank-by", "weight")
        self.refused(2, "--ranks-per-node", IMB_BYTES, "--topology", TORUS, "--ranks-per-node", "0")

    def test_what_cannot_be_done(self):
        # 512 ranks, 32 nodes: the number that would do.
        self.refused(1, "16", IMB_BYTES, "--topology", TORUS)
        self.refused(1, "--topology", IMB_BYTES)
        self.refused(1, "moebius", IMB, "--topology", "moebius:4")
        self.refused(1, "no route", IMB, "--reroute", "0-0")
        self.refused(1, "topology", IMB, "--topology", "torus:4x4")                 # other coordinates
        self.refused(1, "none of the routes", ROUTE / "MiniMD_Theta_n64_c1_w_route.txt", "--traffic", IMB_BYTES)
        self.refused(1, "--traffic", IMB_BYTES, "--topology", TORUS, "--traffic", IMB_BYTES)
        self.refused(1, "line 2", self.write("bad.txt", "Hop 1: [1-0] 1 (1 0) -> 0 (0 0)\nHop 1: [2-0\n"))
        self.refused(1, "cannot write", IMB, "-o", self.box.directory / "no" / "such" / "folder")
        edges = self.write("edges.txt", "a b\nc d\n")
        self.refused(1, "not connected", IMB_BYTES, "--topology", f"edges:{edges}")

    def test_routes_that_do_not_fit_are_left_out_and_told(self):
        path = self.write("partly.txt", "Hop 1: [1-0] 1 (1 0) -> 0 (0 0)\nHop 2: [2-0] 2 (2 0) -> 0 (0 0)\n")
        done = self.box.pclscope("route", path, "--json")
        self.assertWorked(done)
        self.assertIn("line 2: route 2-0: hop 1 is missing", done.stderr)
        answer = json.loads(done.stdout)
        self.assertTrue(answer["partial"])
        self.assertEqual((answer["routes"], answer["problems"], answer["problem_lines"][0]["line"]), (1, 1, 2))


if __name__ == "__main__":
    harness.main()
