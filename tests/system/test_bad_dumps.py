"""Files that inspect and watch must not trust: cut off, of another version, not ours, not files.
Depends on: launcher."""
import pathlib
import random
import shutil

import dump
import harness
import h5py
from harness import thinned


class BadDumps(harness.SystemTest):
    made = []  # the bytes of a good dump, once it is made

    def setUp(self):
        super().setUp()
        self.good = self.box.directory / "good.h5"
        if not self.made:
            mpi = harness.MPIS[0]
            self.assertWorked(self.box.traced(2, harness.program("ring", mpi), "300", options=("--dump", self.good)))
            self.made.append(self.good.read_bytes())
        self.good.write_bytes(self.made[0])

    def copy(self, name):
        return pathlib.Path(shutil.copy(self.good, self.box.directory / name))

    def assertBothRefuse(self, path, *words):
        for command in (("inspect", path), ("inspect", path, "--json"), ("inspect", path, "messages", "--csv"),
                        ("watch", path, "--once")):
            done = self.box.pclscope(*command)
            self.assertRefused(done, 1, *words)
            self.assertEqual(done.stdout, "")

    def test_good_dump_first(self):
        for topic in ((), ("regions",), ("messages",), ("ranks",), ("criteria",)):
            for form in ((), ("--json",), ("--csv",)):
                done = self.box.pclscope("inspect", self.good, *topic, *form)
                self.assertWorked(done)
                self.assertTrue(done.stdout)
        self.assertWorked(self.box.pclscope("watch", self.good, "--once", "--json"))

    def test_missing_file(self):
        self.assertRefused(self.box.pclscope("inspect", "nothing.h5"), 1, "nothing.h5")

    def test_directory(self):
        self.assertBothRefuse(self.box.directory, str(self.box.directory))

    def test_empty_file(self):
        path = self.box.directory / "empty.h5"
        path.touch()
        self.assertBothRefuse(path, "empty.h5")

    def test_text_file(self):
        path = self.box.directory / "notes.h5"
        path.write_text("These are my notes.\n" * 100)
        self.assertBothRefuse(path, "notes.h5")

    def test_hdf5_of_somebody_else(self):
        path = self.box.directory / "theirs.h5"
        with h5py.File(path, "w") as file:
            file["messages"] = [1, 2, 3]
        self.assertBothRefuse(path, "theirs.h5")

    def test_other_version(self):
        for version in (0, 99, 1 << 30):
            path = self.copy(f"version-{version}.h5")
            dump.set_version(path, version)
            self.assertBothRefuse(path, "version")

    def test_unreadable_file(self):
        import os
        if os.getuid() == 0:
            self.skipTest("root reads everything")
        path = self.copy("secret.h5")
        path.chmod(0)
        self.assertBothRefuse(path, "secret.h5")

    def test_truncated_anywhere(self):
        """Cut at any length: refused in one line, or shown as incomplete; never a crash, never silent."""
        size = self.good.stat().st_size
        lengths = [1, 8, 100, size // 4, size // 2, size * 3 // 4, size - 100, size - 1]
        chance = random.Random(self.seed())
        lengths += [chance.randrange(1, size) for _ in range(thinned(8, 4))]
        for length in lengths:
            with self.subTest(length=length, size=size):
                path = self.copy("cut.h5")
                with open(path, "r+b") as file:
                    file.truncate(length)
                done = self.box.pclscope("inspect", path, "--json")
                if done.code != 0:
                    self.assertRefused(done, 1, "cut.h5")
                else:
                    self.assertEqual(len(done.our_lines()), 1, str(done))

    def test_an_incomplete_file_that_cannot_be_read_either_has_one_line(self):
        path = self.copy("both.h5")
        with h5py.File(path, "r+") as file:
            file.attrs["complete"] = file.attrs["closed"] = 0
            del file["messages"]
        done = self.box.pclscope("inspect", path, "messages", "--json")
        self.assertRefused(done, 1, "both.h5")
        self.assertEqual(len(done.stderr.splitlines()), 1, str(done))

    def test_damaged_bytes(self):
        """Random bytes overwritten: an answer or one line, never a crash or a hang."""
        seed = self.seed()
        chance = random.Random(seed)
        original = self.good.read_bytes()
        for number in range(thinned(40, 15)):
            data = bytearray(original)
            for _ in range(chance.choice((1, 8, 64))):
                data[chance.randrange(len(data))] = chance.randrange(256)
            path = self.box.directory / "damaged.h5"
            path.write_bytes(data)
            for topic in ("summary", "messages"):
                done = self.box.pclscope("inspect", path, topic, "--json")
                with self.subTest(seed=seed, number=number, topic=topic):
                    self.assertIn(done.code, (0, 1), str(done))
                    if done.code == 1:
                        self.assertEqual(len(done.stderr.splitlines()), 1, str(done))


if __name__ == "__main__":
    harness.main()
