"""pclscope report: one page that stands alone and says what `inspect --json` says, of dumps of our own making and of a
run. Depends on: launcher."""
import re

import harness
from page import Page

HELPERS = harness.BUILD / "tests"
MOST_BYTES = 2_000_000


def at(json, path):
    """The value that `efficiencies.0.parallel` names."""
    for word in path.split("."):
        json = json[int(word) if word.isdigit() else word]
    return json


class Report(harness.SystemTest):
    def made(self, *form):
        dump = self.box.directory / ("-".join(form or ("small",)) + ".h5")
        self.assertWorked(self.box.run(HELPERS / "viewer_make_dump", dump, *form))
        return dump

    def page_of(self, dump):
        path = self.box.directory / "report.html"
        done = self.box.pclscope("report", dump, "-o", path)
        self.assertWorked(done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, str(done))
        text = path.read_text(encoding="utf-8")
        self.assertLess(len(text.encode()), MOST_BYTES)
        return Page(text)

    def assertStandsAlone(self, page):
        self.assertEqual(page.wrong, [])
        self.assertTrue(page.source.startswith("<!DOCTYPE html>\n<html lang="))
        self.assertFalse({"script", "iframe", "object", "embed", "link", "img", "base"} & set(page.tags))
        self.assertEqual(page.tags.count("style"), 1)
        self.assertFalse(re.search(r"url\(|@import|https?://|javascript:", page.source))
        self.assertTrue(page.links)
        self.assertEqual({link[1:] for link in page.links} - page.ids, set())

    def assertSaysWhatInspectSays(self, page, dump):
        summary = self.box.json("inspect", dump, "--json")
        topics = {topic: self.box.json("inspect", dump, topic, "--json")
                  for topic, first in (("efficiency", "efficiencies."), ("tree", "tree."))
                  if any(field.startswith(first) for field, _ in page.numbers)}
        for field, value in page.numbers:
            self.assertFalse(field.startswith("comparison."))
            topic = {"efficiencies": "efficiency", "tree": "tree"}.get(field.split(".")[0])
            self.assertEqual(value, at(topics[topic] if topic else summary, field), field)
        for sentence in summary["sentences"]:
            self.assertIn(sentence, page.text)
        fields = {field for field, _ in page.numbers}
        for number, finding in enumerate(summary["findings"]):
            self.assertIn(f"{number + 1}. ", page.text)
            for word in (finding["advice"], *finding["evidence"]):
                self.assertIn(word, page.text)
            self.assertLessEqual({f"findings.{number}.lost_s", f"findings.{number}.confidence"}, fields)
        for condition in summary["conditions"]:
            self.assertIn(condition["sentence"], page.text)
        self.assertLessEqual({"time.elapsed_s", "application.ranks", "messages.matched", "messages.ambiguous"}, fields)

    def test_small_dumps(self):
        for form, words in (((), "no event lost at full buffers"),
                            (("cut",), "The record is not whole: the run was cut off"),
                            (("dropped",), "1,234 events lost at full buffers")):
            with self.subTest(form=form):
                dump = self.made(*form)
                page = self.page_of(dump)
                self.assertStandsAlone(page)
                self.assertSaysWhatInspectSays(page, dump)
                self.assertIn(words, page.text)

    def test_a_large_job_whose_names_mean_harm(self):
        dump = self.made("large")
        page = self.page_of(dump)
        self.assertStandsAlone(page)
        self.assertSaysWhatInspectSays(page, dump)
        self.assertIn("</style><script>alert(1)</script>' &amp; \"x\"", page.text)
        self.assertIn("Grid::operator<", page.text)
        self.assertIn("Region 2 delays others most.", page.text)

    def test_a_run(self):
        dump = self.box.directory / "run.h5"
        mpi = harness.MPIS[0]
        self.assertWorked(self.box.traced(4, harness.program("planted_groups", mpi), "300", "2", "500", "1", "100",
                                          "200", "2000", options=("--dump", dump)))
        page = self.page_of(dump)
        self.assertStandsAlone(page)
        self.assertSaysWhatInspectSays(page, dump)
        self.assertGreaterEqual(page.tags.count("svg"), 4)

    def test_compared_with_an_earlier_run(self):
        """Both say the same: the page, and `inspect --compare`."""
        dumps = []
        mpi = harness.MPIS[0]
        for late_us in ("5000", "0"):
            dump = self.box.directory / f"late-{late_us}.h5"
            self.assertWorked(self.box.traced(4, harness.program("planted_groups", mpi), "600", "2", "500", "1", "100",
                                              "500", late_us, options=("--dump", dump)))
            dumps.append(dump)
        before, now = dumps
        json = self.box.json("inspect", now, "--compare", before, "--json")
        time = json["measures"][0]
        self.assertEqual(time["name"], "duration_s")
        self.assertEqual([time["before"], time["now"]],
                         [self.box.json("inspect", dump, "--json")["time"]["duration_s"] for dump in dumps])
        self.assertEqual(time["change"], time["now"] - time["before"])
        self.assertEqual(json["now"]["name"], "late-0.h5")
        self.assertEqual({rank for region in json["regions"] for rank in region["ranks"]}, {0, 1, 2, 3})
        text = self.box.pclscope("inspect", now, "--compare", before)
        self.assertWorked(text)
        page = Page(self.box.pclscope("report", now, "--compare", before, "-o", "-").stdout)
        self.assertStandsAlone(page)
        for sentence in json["sentences"]:
            self.assertIn(sentence, text.stdout)
            self.assertIn(sentence, page.text)
        compared = [(field, value) for field, value in page.numbers if field.startswith("comparison.")]
        self.assertGreater(len(compared), 10)
        for field, value in compared:
            self.assertEqual(value, at({"comparison": json}, field), field)
        self.assertRefused(self.box.pclscope("inspect", now, "--compare", "nothing.h5"), 1, "--compare", "nothing.h5")
        self.assertRefused(self.box.pclscope("report", now, "--compare", "nothing.h5"), 1, "--compare", "nothing.h5")
        self.assertRefused(self.box.pclscope("inspect", now, "ranks", "--compare", before), 2, "--compare is for")
        self.assertRefused(self.box.pclscope("inspect", now, "--compare", before, "--csv"), 2, "--compare")

    def test_standard_output_and_the_name_that_is_chosen(self):
        dump = self.made()
        done = self.box.pclscope("report", dump, "-o", "-")
        self.assertWorked(done)
        self.assertEqual(done.stderr, "")
        self.assertStandsAlone(Page(done.stdout))
        self.assertWorked(self.box.pclscope("report", dump))
        self.assertEqual((self.box.directory / "small.html").read_text(encoding="utf-8"), done.stdout)

    def test_only_reports_are_replaced(self):
        dump = self.made()
        before = dump.read_bytes()
        self.assertRefused(self.box.pclscope("report", dump, "-o", dump), 1, "is no report")
        self.assertEqual(dump.read_bytes(), before)
        notes = self.box.directory / "notes.html"
        notes.write_text("<!DOCTYPE html><title>mine</title>")
        self.assertRefused(self.box.pclscope("report", dump, "-o", notes), 1, "is no report")
        self.assertEqual(notes.read_text(), "<!DOCTYPE html><title>mine</title>")
        path = self.box.directory / "report.html"
        for _ in range(2):  # the second time it is one
            self.assertWorked(self.box.pclscope("report", dump, "-o", path))
        path.write_text("")
        self.assertWorked(self.box.pclscope("report", dump, "-o", path))

    def test_errors_are_one_line(self):
        dump = self.made()
        self.assertRefused(self.box.pclscope("report", "nothing.h5"), 1, "nothing.h5")
        self.assertRefused(self.box.pclscope("report", dump, "-o", self.box.directory), 1, "directory")
        self.assertRefused(self.box.pclscope("report", dump, "-o", self.box.directory / "no" / "x.html"), 1, "x.html")
        self.assertRefused(self.box.pclscope("report"), 2, "target")
        self.assertRefused(self.box.pclscope("report", dump, "--frobnicate"), 2, "frobnicate")


if __name__ == "__main__":
    harness.main()
