"""The tables in analysis/store/FORMAT.md are those of the program. With --write: makes them so.

    PCLSCOPE_BUILD=build/release /usr/bin/python3 tests/structure/test_tables.py --write
Depends on: nothing."""
import os
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("PCLSCOPE_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("PCLSCOPE_BUILD", SOURCE / "build" / "release"))
PAGE = SOURCE / "analysis" / "store" / "FORMAT.md"
BEGIN, END = "<!-- from here on printed by tests/structure/print_tables.cpp -->\n", "<!-- to here -->\n"


def printed():
    return subprocess.run([BUILD / "tests" / "print_tables"], check=True, capture_output=True, text=True).stdout


def parts():
    before, rest = PAGE.read_text().split(BEGIN)
    stands, after = rest.split(END)
    return before, stands, after


class Tables(unittest.TestCase):
    def test_the_page_has_what_the_program_writes(self):
        self.assertEqual(parts()[1], printed() + "\n", "run this test with --write")


if __name__ == "__main__":
    if "--write" in sys.argv:
        before, _, after = parts()
        PAGE.write_text(before + BEGIN + printed() + "\n" + END + after)
    else:
        unittest.main(verbosity=2)
