"""Headers, libraries and the CMake package for C++: the documented example is built against an installation that was
moved, and tells of dumps and of a running job what `pclscope inspect` tells. Depends on: nothing."""
import pathlib
import re
import shutil

import harness

EXAMPLE = harness.SOURCE / "docs" / "example"


class Cpp(harness.SystemTest):
    def regions(self, program, target):
        """{title: [(messages, ranks)]}"""
        done = self.box.run(program, target)
        self.assertWorked(done)
        found, title = {}, None
        for line in done.stdout.splitlines():
            if row := re.fullmatch(r"  (\d+) messages inside ranks ([\d ]+)", line):
                found[title].append((int(row[1]), [int(rank) for rank in row[2].split()]))
            else:
                title = line
                found[title] = []
        return found

    def expected(self, target):
        return [(region["messages"], region["ranks"])
                for region in self.box.json("inspect", target, "regions", "--json")["regions"] if region["until_s"] < 0]

    def test_the_example(self):
        before, prefix = self.box.directory / "before", self.box.directory / "moved to another place"
        for component in ("dev", "cpp"):
            self.assertWorked(self.box.run("cmake", "--install", harness.BUILD, "--prefix", before, "--component",
                                           component))
        before.rename(prefix)
        self.headers(prefix / "include" / "pclscope")
        build = self.box.directory / "example"
        self.assertWorked(self.box.run("cmake", "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"))
        self.assertWorked(self.box.run("cmake", "--build", build))
        program = build / "regions_again"

        path = self.box.directory / "made.h5"
        self.assertWorked(self.box.run(harness.BUILD / "tests" / "viewer_make_dump", path))
        found = self.regions(program, path)
        self.assertEqual(found["stored"], self.expected(path))
        messages = self.box.json("inspect", path, "messages", "--json")["messages"]
        again = found["by correlation"]
        self.assertTrue(again)
        self.assertEqual(again, [(sum({m["source"], m["destination"]} <= {*ranks} for m in messages), ranks)
                                 for _, ranks in again])
        self.assertEqual(sorted(rank for _, ranks in again for rank in ranks),
                         sorted({rank for _, ranks in again for rank in ranks}), "a rank is in one region")
        refused = self.box.run(program, self.box.directory / "nothing.h5")
        self.assertRefused(refused, 1, "no such file")

        sign, endpoint = self.box.directory / "stop", f"ipc://{self.box.directory}/job"
        job = self.box.start(harness.BUILD / "tests" / "viewer_fake_job", "made-up", endpoint, sign)
        try:
            self.box.wait_for("job", pathlib.Path(f"{self.box.directory}/job.ask").exists, running=job)
            self.assertEqual(self.regions(program, endpoint)["now"], self.expected(endpoint))
        finally:
            sign.touch()
            job.finish()

    def headers(self, folder):
        """What an installed header includes is installed, and nothing of it is the viewer's."""
        headers = [path for path in folder.rglob("*") if path.is_file()]
        self.assertGreater(len(headers), 100)
        for header in headers:
            for name in re.findall(r'^#include "([^"]+)"', header.read_text(), re.MULTILINE):
                if not name.endswith("_generated.h"):  # of the wire's own sources alone
                    self.assertTrue((folder / name).exists(), f"{header} includes {name}")

    def test_what_is_missing_is_said(self):
        """A program that asks for the component where it is not installed."""
        prefix = self.box.directory / "prefix"
        self.assertWorked(self.box.run("cmake", "--install", harness.BUILD, "--prefix", prefix, "--component", "dev"))
        done = self.box.run("cmake", "-S", EXAMPLE, "-B", self.box.directory / "example",
                            f"-DCMAKE_PREFIX_PATH={prefix}")
        self.assertNotEqual(done.code, 0)
        self.assertIn("--component cpp", done.stderr)
        shutil.rmtree(prefix)


if __name__ == "__main__":
    harness.main()
