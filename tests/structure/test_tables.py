"""The tables in analysis/store/FORMAT.md, docs/json.md and the Python package are those of the program. With --write:
makes them so.

    PCLSCOPE_BUILD=build/release /usr/bin/python3 tests/structure/test_tables.py --write
Depends on: nothing."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("PCLSCOPE_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("PCLSCOPE_BUILD", SOURCE / "build" / "release"))
DUMP, JSON = SOURCE / "analysis" / "store" / "FORMAT.md", SOURCE / "docs" / "json.md"
PYTHON = SOURCE / "analysis" / "python" / "pclscope" / "columns.py"
BEGIN, END = "<!-- from here on printed by tests/structure/print_tables.cpp -->\n", "<!-- to here -->\n"


FIELDS = re.compile(r"<!-- fields: ([a-z ]+) -->\n.*?<!-- end -->\n", re.S)


def printed(*arguments):
    return subprocess.run([BUILD / "tests" / "print_tables", *arguments], check=True, capture_output=True,
                          text=True).stdout


def dump_page():
    before, rest = DUMP.read_text().split(BEGIN)
    return before + BEGIN + printed() + "\n" + END + rest.split(END)[1]


def json_page():
    fields = {block[1]: block[0] for block in FIELDS.finditer(printed("json"))}
    return FIELDS.sub(lambda block: fields[block[1]], JSON.read_text()), fields


class Tables(unittest.TestCase):
    def test_the_page_about_dumps(self):
        self.assertEqual(DUMP.read_text(), dump_page(), "run this test with --write")

    def test_the_page_about_json(self):
        page, fields = json_page()
        self.assertEqual(JSON.read_text(), page, "run this test with --write")
        self.assertEqual(sorted(fields), sorted(block[1] for block in FIELDS.finditer(page)), "all are on the page")

    def test_the_python_package(self):
        self.assertEqual(PYTHON.read_text(), printed("python"), "run this test with --write")


if __name__ == "__main__":
    if "--write" in sys.argv:
        PYTHON.write_text(printed("python"))
        DUMP.write_text(dump_page())
        JSON.write_text(json_page()[0])
    else:
        unittest.main(verbosity=2)
