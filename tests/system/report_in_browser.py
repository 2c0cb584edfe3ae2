"""Pages of `pclscope report` in a browser (Debian's chromium, without a window): light, dark, and on A4; and through an
HTML validator (npm's html-validate, where it is installed). Part of ci/nightly; skipped with a word where a program is
missing. Depends on: launcher."""
import os
import re
import shutil
import unittest

import harness
from picture import colours, read_png

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
VALIDATOR = shutil.which("html-validate")


class Browser(harness.SystemTest):
    def setUp(self):
        super().setUp()
        self.pages = []
        for form in ((), ("large",)):
            dump, page = (self.box.directory / ("-".join(("p", *form)) + end) for end in (".h5", ".html"))
            self.assertWorked(self.box.run(harness.BUILD / "tests" / "viewer_make_dump", dump, *form))
            self.assertWorked(self.box.pclscope("report", dump, "-o", page))
            self.pages.append(page)

    def browse(self, page, *options):
        sandbox = ("--no-sandbox",) if os.getuid() == 0 else ()
        own = self.box.directory / "runtime"  # it leaves files in there
        own.mkdir(mode=0o700, exist_ok=True)
        done = self.box.run("env", f"XDG_RUNTIME_DIR={own}", BROWSER, "--headless", "--disable-gpu", *sandbox,
                            "--hide-scrollbars", f"--user-data-dir={self.box.directory / 'profile'}", *options,
                            page.as_uri())
        self.assertWorked(done)

    @unittest.skipIf(BROWSER is None, "chromium is not installed")
    def test_light_and_dark(self):
        for page in self.pages:
            light, dark = (self.box.directory / name for name in ("light.png", "dark.png"))
            self.browse(page, "--window-size=900,1500", f"--screenshot={light}")
            self.browse(page, "--window-size=900,1500", "--force-dark-mode",
                        "--blink-settings=preferredColorScheme=0", f"--screenshot={dark}")
            light, dark = read_png(light), read_png(dark)
            self.assertGreater(light.mean(), 200)
            self.assertLess(dark.mean(), 80)
            for picture in (light, dark):
                self.assertEqual(picture.shape[:2], (1500, 900))
                self.assertGreater(colours(picture), 50)

    @unittest.skipIf(BROWSER is None, "chromium is not installed")
    def test_on_paper(self):
        for page in self.pages:
            paper = self.box.directory / "page.pdf"
            self.browse(page, "--no-pdf-header-footer", f"--print-to-pdf={paper}")
            boxes = re.findall(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", paper.read_bytes())
            self.assertGreaterEqual(len(boxes), 2)
            for width, height in boxes:  # A4 in points
                self.assertAlmostEqual(float(width), 595, delta=1)
                self.assertAlmostEqual(float(height), 842, delta=1)

    @unittest.skipIf(VALIDATOR is None, "html-validate is not installed: npm install -g html-validate")
    def test_valid(self):
        self.assertWorked(self.box.run(VALIDATOR, *self.pages))


if __name__ == "__main__":
    harness.main()
