"""Every number that `inspect` prints of a run whose messages are all in the dump, recomputed with h5py and numpy.
Depends on: launcher."""
import copy
import shutil

import harness
import recompute
from harness import thinned


class Recompute(harness.SystemTest):
    def asker(self, path):
        answers = {}

        def ask(topic):
            if topic not in answers:
                answers[topic] = self.box.json("inspect", path, topic, "--limit", "1000000", "--json") \
                    if topic in ("links", "traffic", "delays", "nodes") else \
                    self.box.json("inspect", path, topic, "--json")
            return answers[topic]

        return ask

    def check(self, name, ranks, *command, directory=None):
        path = self.box.directory / f"{name}.h5"
        done = self.box.traced(ranks, *command, options=("--dump", path, "--keep", "all"), directory=directory)
        self.assertWorked(done)
        ask = self.asker(path)
        self.assertGreater(ask("summary")["messages"]["matched"], 100)
        self.assertEqual(recompute.check(path, ask), [])
        return path, ask

    def test_rows_of_a_grid(self):
        path, ask = self.check("cg", 16, harness.program("cg_pattern", "openmpi"), thinned("400", "80"))
        # A check that cannot fail is none: one wrong number at a time.
        for topic, change in (
                ("summary", lambda a: a["latency"].update(mean_ratio=a["latency"]["mean_ratio"] * 1.001)),
                ("summary", lambda a: a["latency"].update(typical_ratio=a["latency"]["typical_ratio"] * 1.01)),
                ("summary", lambda a: a["messages"].update(delayed=2 * a["messages"]["delayed"])),
                ("summary", lambda a: a["collectives"].update(wait_s=a["collectives"]["wait_s"] + 1)),
                ("regions", lambda a: a["regions"][1].update(messages=a["regions"][1]["messages"] - 1)),
                ("regions", lambda a: a["regions"][0]["ranks"].reverse() or a["regions"][0]["ranks"].pop()),
                ("links", lambda a: a["links"].pop()),
                ("ranks", lambda a: a["ranks"][3].update(bytes_sent=a["ranks"][3]["bytes_sent"] + 8)),
                ("ranks", lambda a: a["ranks"][3].update(other_s=a["ranks"][3]["other_s"] + 0.01)),
                ("ranks", lambda a: a["ranks"][2].update(late_sender_s=a["ranks"][2]["late_sender_s"] + 1,
                                                         other_s=a["ranks"][2]["other_s"] - 1)),
                ("criteria", lambda a: a["criteria"][0].update(median_s=a["criteria"][0]["median_s"] * 1.03)),
                ("traffic", lambda a: a["traffic"][0].update(messages=1)),
                ("delays", lambda a: a["totals"].update(unknown_s=a["totals"]["unknown_s"] + 1))):
            changed = copy.deepcopy(ask(topic))
            change(changed)
            self.assertNotEqual(recompute.check(path, lambda t: changed if t == topic else ask(t)), [], topic)

    def test_halo_of_many_ranks(self):
        ranks, iterations = thinned((64, "60"), (32, "20"))
        self.check("halo", ranks, harness.program("halo3d", "openmpi"), iterations)

    def test_groups_that_come_and_go(self):
        self.check("groups", 8, harness.program("subcomms", "openmpi"), thinned("100", "40"))

    def test_wildcards_and_few_messages_of_many_sizes(self):
        directory = self.box.directory / "random"
        directory.mkdir()
        self.check("random", 4, harness.program("random_program", "openmpi"), "--messages", thinned("20000", "4000"),
                   "--seed", str(self.seed()), "--directory", str(directory))

    def test_lammps(self):
        lmp = shutil.which("lmp")
        if lmp is None:
            self.skipTest("lmp is not installed")
        self.check("lammps", 4, lmp, "-log", "none", "-in", str(harness.DATA / "lammps" / "melt.in"))

    def test_mpich(self):
        if "mpich" not in harness.MPIS:
            self.skipTest("MPICH is not built")
        self.check("mpich", 4, harness.program("halo2d", "mpich"), "60")


if __name__ == "__main__":
    harness.main()
