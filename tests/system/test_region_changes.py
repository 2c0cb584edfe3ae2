"""A job whose pattern of communication changes twice: regions follow, live and in the dump, and a number never changes
its ranks.
Depends on: launcher."""
import dump
import h5py
import harness
import numpy

RANKS = 8
PHASES = ([[0, 1, 2, 3], [4, 5, 6, 7]], [[0, 2, 4, 6], [1, 3, 5, 7]], [[0, 1], [2, 3], [4, 5], [6, 7]])
ITERATIONS = (1, 3, 2)
PARTNERS = (3, 3, 1)


def newest_summary(path):
    """(regions of now, ended regions, matched messages): each region a dictionary of its row, with `ranks`."""
    with h5py.File(path, "r") as file:
        summaries = [file["summary"][name] for name in file["summary"] if isinstance(file["summary"][name], h5py.Group)]
        summary = max(summaries, key=lambda group: float(numpy.asarray(
            group["matched"] if "matched" in group else group.attrs["matched"])))
        ranks = summary["region_ranks"]["rank"][...]

        def regions(name):
            columns = {column: summary[name][column][...] for column in summary[name]}
            rows = [{column: values[i] for column, values in columns.items()} for i in range(len(columns["id"]))]
            for row in rows:
                row["ranks"] = [int(rank) for rank in ranks[row["ranks_begin"]:row["ranks_begin"] + row["ranks_count"]]]
            return rows
        return regions("regions"), regions("ended_regions")


class RegionChanges(harness.SystemTest):
    def setUp(self):
        super().setUp()
        if "openmpi" not in harness.MPIS:
            self.skipTest("openmpi is not built")
        self.path = self.box.directory / "changes.h5"
        self.known = {}  # id -> ranks

    def remember(self, regions):
        for region in regions:
            ranks = [int(rank) for rank in region["ranks"]]
            self.assertEqual(self.known.setdefault(int(region["id"]), ranks), ranks, "a number changed its ranks")

    def test_regions_follow(self):
        unit, until = 700, self.box.directory / "end"
        running = self.box.start_traced(RANKS, harness.program("changing_groups", "openmpi"), str(unit), "2000",
                                        f"until={until}",
                                        options=("--dump", self.path, "--keep", "all", "--window", "50ms"))
        job = self.box.job_name(running)
        for phase, expected in enumerate(PHASES):
            def there():
                live = self.box.live(job)
                regions = live["regions"] + live["ended_regions"]  # the phase may be over when we look
                self.remember(regions)
                return all(group in [region["ranks"] for region in regions] for group in expected)
            self.box.wait_for(f"the regions of phase {phase + 1}", there, running=running)
        until.touch()
        done = running.finish(4 * harness.PATIENCE)
        self.assertWorked(done)
        messages = dump.read_messages(self.path)
        present, ended = newest_summary(self.path)
        self.remember(present + ended)
        self.check_intervals(present, ended, messages)
        self.check_windows(messages, unit)
        self.check_sums(messages)
        self.check_views(unit)

    def check_intervals(self, present, ended, messages):
        self.assertEqual(sorted(region["ranks"] for region in present), PHASES[2])
        self.assertEqual(sorted(region["ranks"] for region in ended if region["until_s"] < max(
            other["until_s"] for other in ended)), PHASES[0])
        for region in present:
            self.assertEqual(region["until_s"], -1)
            self.assertIn(region["parent"], [other["id"] for other in ended])
        for region in present + ended:
            until = region["until_s"] if region["until_s"] >= 0 else numpy.inf
            inside = numpy.isin(messages.source, region["ranks"]) & numpy.isin(messages.destination, region["ranks"])
            at = messages.recv_end * 1e-9
            mine = inside & (at >= region["from_s"]) & (at < until)
            tag = 1 + next(i for i, groups in enumerate(PHASES) if region["ranks"] in groups)
            # The window in which a pattern ends may have much of the next one.
            self.assertGreater(numpy.mean(messages.tag[mine] == tag), 0.8)
            # A message that was matched late counts in a later window than it was received in.
            self.assertLess(abs(int(region["messages"]) - int(mine.sum())), 0.05 * mine.sum() + 50)

    def check_windows(self, messages, unit):
        """From the windows as they were closed: a few of them after a phase began it has its regions."""
        with h5py.File(self.path, "r") as file:
            begins, rows = file["windows"]["begin_s"][...], file["windows"]["messages"][...]
            window, region = file["window_regions"]["window"][...], file["window_regions"]["region"][...]
        for phase in (1, 2):
            began = messages.recv_end[messages.tag == 1 + phase].min() * 1e-9
            ids = [id for id, ranks in self.known.items() if ranks in PHASES[phase]]
            first = int(window[numpy.isin(region, ids)].min())
            # Windows with few messages are put together, and found regions wait while the machine is busy.
            between = int(((begins > began) & (rows >= 100))[:first].sum())
            print(f"phase {phase + 1}: its regions after {between} windows of 100 messages and more")
            last = messages.recv_end[messages.tag == 1 + phase].max() * 1e-9
            self.assertLess(begins[first], last)

    def check_sums(self, messages):
        summary = self.box.json("inspect", self.path, "--json")
        inside = sum(region["messages"] for region in summary["regions"] + summary["ended_regions"])
        between = sum(link["messages"] for link in summary["links"] + summary["ended_links"])
        self.assertEqual(inside + between, summary["messages"]["matched"])
        self.assertEqual(len(messages.tag), summary["messages"]["matched"])
        self.assertEqual([len(change["began"]) for change in summary["pattern_changes"]], [2, 4])

    def check_views(self, unit):
        listed = self.box.json("inspect", self.path, "regions", "--json")["regions"]
        self.assertEqual([region["until_s"] < 0 for region in listed], [True] * 4 + [False] * 4)
        whole = self.box.json("inspect", self.path, "regions", "--whole", "--json")["regions"]
        self.assertEqual(sorted(region["ranks"] for region in whole), PHASES[1])  # most messages
        first = listed[-1]
        evolution = self.box.json("inspect", self.path, "evolution", "--region", str(first["id"]), "--json")["regions"]
        self.assertEqual(evolution[0]["ranks"], first["ranks"])
        self.assertTrue(evolution[0]["periods"])
        dag = self.box.json("inspect", self.path, "dag", "--region", str(first["id"]), "--from", "0", "--to", "500ms",
                            "--json")
        self.assertLessEqual({rank["rank"] for rank in dag["ranks"]}, set(first["ranks"]))
        text = self.box.pclscope("inspect", self.path, "regions").stdout
        self.assertEqual(text.count("pattern changed at"), 2)


if __name__ == "__main__":
    harness.main()
