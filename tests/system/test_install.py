"""An installation is whole, and can be moved, also to a path with blanks: a job, its record and the window's picture.
Depends on: launcher."""
import shutil
import subprocess

import harness


class Install(harness.SystemTest):
    def install(self):
        """The folder of an installation, which was moved after it was made."""
        before, after = self.box.directory / "before", self.box.directory / "moved to another place: here"
        shutil.rmtree(after, ignore_errors=True)
        self.assertWorked(self.box.run("cmake", "--install", harness.BUILD, "--prefix", before))
        before.rename(after)
        return after

    @harness.on_every_mpi
    def test_a_moved_installation_works(self, mpi):
        where = self.install()
        pclscope = where / "bin" / "pclscope"
        self.assertEqual([path.name for path in (where / "bin").iterdir()], ["pclscope"])
        dump = self.box.directory / "run.h5"
        command = (harness.program("late_sender", mpi), "20", "1000")
        bare = self.box.bare(mpi, 2, *command)
        done = self.box.run(pclscope, "run", "--quiet", "-n", "2", "--dump", dump, "--", *command)
        self.assertWorked(done)
        self.assertEqual((done.our_lines(), done.stdout), ([], bare.stdout), str(done))
        shown = self.box.run(pclscope, "inspect", dump, "--json")
        self.assertWorked(shown)
        self.assertIn('"matched": 20', shown.stdout)
        self.assertIn("late_sender.c:", self.box.run(pclscope, "inspect", dump, "calls").stdout, "lines of the source")
        picture = self.box.directory / "picture.png"
        seen = self.box.run(pclscope, "view", dump, "--screenshot", picture)
        if "no viewer" not in seen.stderr:
            self.assertWorked(seen)
            self.assertEqual(picture.read_bytes()[:4], b"\x89PNG")

    def test_what_is_installed(self):
        where = self.install()
        programs = {path.name for path in (where / "libexec" / "pclscope").iterdir()}
        libraries = {path.name for path in (where / "lib").rglob("*.so")}
        aggregators = {f"pclscope-aggregator-{mpi}" for mpi in harness.MPIS}
        self.assertLessEqual({"pclscope-rank", "pclscope-lines", *aggregators}, programs)
        self.assertEqual(libraries, {f"libpclscope-{mpi}.so" for mpi in harness.MPIS})
        documents = where / "share" / "doc" / "pclscope"
        self.assertTrue((documents / "LICENSE").exists())
        self.assertTrue((documents / "docs" / "commands.md").exists())
        for path in [*(where / "libexec" / "pclscope").iterdir(), *(where / "lib").rglob("*.so")]:
            told = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
            self.assertNotIn(str(harness.BUILD), told, f"{path}: looks for libraries in the build folder")


if __name__ == "__main__":
    harness.main()
