"""The house: which folder may include from which (ci/check/folders.py). Depends on: nothing."""
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "ci" / "check"))
import folders  # noqa: E402


def made(files):
    """The arrows of a made-up tree: {file: files it includes}."""
    with tempfile.TemporaryDirectory() as directory:
        for name in {*files, *(other for others in files.values() for other in others)}:
            path = pathlib.Path(directory, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f'#include "{other}"\n' for other in files.get(name, ())))
        return folders.arrows(pathlib.Path(directory))


class Folders(unittest.TestCase):
    def test_no_cycle_and_no_arrow_up(self):
        self.assertEqual(folders.problems(folders.arrows()), [])

    def test_the_values_use_nothing_of_the_analysis(self):
        self.assertEqual(set(folders.arrows()["analysis/values"]), {"interpose/record"})

    def test_rooms_are_linked_with_what_they_include(self):
        """USES of a room in CMakeLists.txt: neither less nor more."""
        graph = folders.arrows()
        for floor in ("analysis", "viewer"):
            text = (ROOT / floor / "CMakeLists.txt").read_text(encoding="utf-8")
            rooms = re.findall(r"^pclscope_room\((\w+)([^)]*)\)", text, re.MULTILINE)
            self.assertGreater(len(rooms), 6)
            for room, words in rooms:
                uses = re.search(r"USES((?: \w+|\n)*?)(?= PUBLIC| PRIVATE|\n  PUBLIC|$)", words)
                included = {path.split("/")[1] for path in graph[f"{floor}/{room}"]
                            if path.startswith(("analysis/", "viewer/"))}
                self.assertEqual(set(uses[1].split() if uses else ()), included - {"values"}, room)

    def test_who_asks_which_mpi_it_is_has_its_header(self):
        """Without mpi.h before it, `#ifdef OPEN_MPI` is false, and nothing tells."""
        def has_it(path, seen):
            seen.add(path)
            text = path.read_text(encoding="utf-8")
            others = [ROOT / name for name in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE)]
            return "#include <mpi.h>" in text or any(
                has_it(other, seen) for other in others if other.is_file() and other not in seen)
        asking = [path for path in (ROOT / "interpose").rglob("*.[ch]pp")
                  if re.search(r"^#if.*(OPEN_MPI|MPICH|MPI_VERSION)", path.read_text(encoding="utf-8"), re.MULTILINE)]
        self.assertGreater(len(asking), 10)
        self.assertEqual([str(path) for path in asking if not has_it(path, set())], [])

    def test_planted_arrows_are_found(self):
        good = {"viewer/a/x.cpp": ["analysis/b/y.hpp", "interpose/record/z.hpp"],
                "analysis/b/y.hpp": ["analysis/c/w.hpp"]}
        self.assertEqual(folders.problems(made(good)), [])
        for file, other in (("analysis/c/w.hpp", "analysis/b/y.hpp"), ("analysis/c/w.hpp", "viewer/a/u.hpp"),
                            ("interpose/record/z.hpp", "analysis/b/y.hpp")):
            with self.subTest(file=file, includes=other):
                self.assertTrue(any(file in line for line in folders.problems(made({**good, file: [other]}))))


if __name__ == "__main__":
    unittest.main(verbosity=2)
