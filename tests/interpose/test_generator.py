"""Every function of mpi.h needs a decision: of the real headers, and of headers with something new in them.
Depends on: nothing."""

import contextlib
import functools
import io
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.append(os.path.join(SOURCE, "tests"))
import checks  # noqa: E402
BUILD = os.environ.get("PCLSCOPE_BUILD", os.path.join(SOURCE, "build", "release"))
GENERATE = os.path.join(SOURCE, "interpose", "generate", "generate.py")
CALLS = os.path.join(SOURCE, "interpose", "generate", "calls.def")
NUMBERS = os.path.join(SOURCE, "interpose", "record", "functions.def")
COVERAGE = os.path.join(SOURCE, "interpose", "generate", "coverage.py")
PAGE = os.path.join(SOURCE, "docs", "coverage.md")
HEADERS = [h for h in (os.path.join(BUILD, "interpose", mpi, "prototypes.i") for mpi in ("openmpi", "mpich"))
           if os.path.exists(h)]


sys.path.insert(0, os.path.dirname(GENERATE))
import coverage  # noqa: E402
import generate  # noqa: E402
import prototypes  # noqa: E402

parse_header = functools.lru_cache(None)(prototypes.parse_header)  # reading a header takes most of the time
prototypes.parse_header = lambda text: dict(parse_header(text))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def called(main, arguments):
    """As the command line does it, without another Python: (exit status, what it says on stderr)."""
    with contextlib.redirect_stderr(io.StringIO()) as said:
        status = main(list(arguments))
    return status, said.getvalue()


def run(script, *arguments):
    done = subprocess.run([sys.executable, "-B", script, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


class WithHeaders(checks.Test):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def write(self, name, text):
        path = os.path.join(self.directory.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_generator(self, *arguments):
        return called(generate.main, arguments)

    def header_with(self, *prototypes):
        return self.write("fake.i", read(HEADERS[0]) + "\n" + ";\n".join(prototypes) + ";\n")

    def calls_with(self, *lines):
        return self.write("calls.def", read(CALLS) + "\n".join(lines) + "\n")


class Generator(WithHeaders):
    def test_the_headers_at_hand_are_fully_decided(self):
        self.assertTrue(HEADERS)
        self.assertEqual(run(GENERATE, "--check", CALLS, NUMBERS, *HEADERS), (0, ""))

    def test_the_command_line_says_the_same(self):
        arguments = ["--check", self.calls_with("Sendd send"), NUMBERS, HEADERS[0]]
        self.assertEqual(run(GENERATE, *arguments), self.run_generator(*arguments))

    def test_a_new_function_without_a_decision_fails_both_check_and_build(self):
        header = self.header_with("int MPI_Send_twice(const void *buf, int count, MPI_Datatype t, int dest, "
                                  "int tag, MPI_Comm comm) __attribute__((nothrow(1)))")
        for arguments in (["--check", CALLS, NUMBERS, header], [header, CALLS, NUMBERS, self.directory.name]):
            status, error = self.run_generator(*arguments)
            self.assertEqual(status, 1)
            self.assertIn("MPI_Send_twice has no decision", error)

    def test_a_new_function_of_the_tool_interface_needs_none(self):
        header = self.header_with("int MPI_T_look_inside(MPI_Comm comm)", "int QMPI_Send(int context, MPI_Comm comm)")
        self.assertEqual(self.run_generator("--check", CALLS, NUMBERS, header)[0], 0)

    def test_a_function_with_a_communicator_cannot_be_passed(self):
        header = self.header_with("int MPI_Comm_weigh(MPI_Comm comm, int *grams)")
        calls = self.calls_with("Comm_weigh pass")
        status, error = self.run_generator("--check", calls, NUMBERS, header)
        self.assertEqual(status, 1)
        self.assertIn("MPI_Comm_weigh is passed, but it has a communicator", error)
        calls = self.calls_with("Comm_weigh translate")
        self.assertEqual(self.run_generator("--check", calls, NUMBERS, header), (0, ""))

    def test_a_function_that_only_returns_a_communicator_cannot_be_passed_either(self):
        header = self.header_with("int MPI_Comm_find(const char *name, MPI_Comm *found)")
        self.assertEqual(self.run_generator("--check", self.calls_with("Comm_find pass"), NUMBERS, header)[0], 1)

    def test_a_decision_about_nothing_fails(self):
        status, error = self.run_generator("--check", self.calls_with("Sendd send"), NUMBERS, *HEADERS)
        self.assertEqual(status, 1)
        self.assertIn("MPI_Sendd is no function of MPI", error)

    def test_a_function_decided_twice_or_in_an_unknown_way_fails(self):
        for line, complaint in (("Send pass", "decided twice"), ("Comm_weigh guess", "unknown decision 'guess'"),
                                ("Comm_weigh keep", "keep needs its reason"), ("Comm_weigh", "has no decision")):
            status, error = self.run_generator("--check", self.calls_with(line), NUMBERS, *HEADERS)
            self.assertEqual(status, 1, line)
            self.assertIn(complaint, error)

    def test_something_that_is_no_header_is_refused(self):
        status, error = self.run_generator("--check", CALLS, NUMBERS, self.write("empty.i", "int main(void);\n"))
        self.assertEqual(status, 1)
        self.assertIn("no preprocessed mpi.h", error)

    def test_awkward_prototypes_are_understood(self):
        text = ("extern int MPI_Init(void); "
                "int MPI_Send(const void *buf, const int counts[], int ranges[][3], char ***a);"
                "double MPI_Wtime(void); MPI_Comm MPI_F(int); typedef int (MPI_Handler)(MPI_Comm *, int *, ...);"
                "int MPI_Pcontrol(const int level, ...);")
        functions = prototypes.parse_header(text)
        self.assertEqual(sorted(functions), ["MPI_F", "MPI_Init", "MPI_Pcontrol", "MPI_Send", "MPI_Wtime"])
        self.assertEqual([(p.type, p.name) for p in functions["MPI_Send"].parameters],
                         [("const void *", "buf"), ("const int []", "counts"), ("int [][3]", "ranges"),
                          ("char ***", "a")])
        self.assertEqual(functions["MPI_F"].parameters[0].declaration, "int argument0")


class Coverage(WithHeaders):
    """docs/coverage.md is what the generator makes of both headers."""

    def setUp(self):
        super().setUp()
        if len(HEADERS) != 2:
            self.skipTest("the page tells of two MPIs, and one of them is not here")

    def run_coverage(self, *arguments):
        return called(coverage.main, arguments)

    def test_the_committed_page_is_up_to_date(self):
        self.assertEqual(run(COVERAGE, "--check", CALLS, NUMBERS, *HEADERS, PAGE), (0, ""))

    def test_a_new_function_makes_the_check_fail_until_it_is_decided_and_written(self):
        header = self.header_with("int MPI_Comm_weigh(MPI_Comm comm, int *grams)")
        status, error = self.run_coverage("--check", CALLS, NUMBERS, header, HEADERS[1], PAGE)
        self.assertEqual(status, 1)
        self.assertIn("MPI_Comm_weigh has no decision", error)
        calls = self.calls_with("Comm_weigh translate")
        status, error = self.run_coverage("--check", calls, NUMBERS, header, HEADERS[1], PAGE)
        self.assertEqual(status, 1)
        self.assertIn("run coverage.py", error)
        page = self.write("page.md", "")
        self.assertEqual(self.run_coverage(calls, NUMBERS, header, HEADERS[1], page), (0, ""))
        self.assertIn("| MPI_Comm_weigh | yes | - | translated |", read(page))
        self.assertEqual(self.run_coverage("--check", calls, NUMBERS, header, HEADERS[1], page), (0, ""))

    def test_every_function_of_both_headers_has_one_row(self):
        declared = set().union(*(prototypes.parse_header(read(h)) for h in HEADERS))
        rows = [line.split("|")[1].strip() for line in read(PAGE).splitlines() if line.startswith("| MPI")]
        self.assertEqual(len(rows), len(set(rows)))
        self.assertEqual(declared - set(rows), set())

    def test_a_decision_by_hand_without_words_fails(self):
        header = self.header_with("int MPI_Comm_weigh(MPI_Comm comm, int *grams)")
        status, error = self.run_coverage(self.calls_with("Comm_weigh hand"), NUMBERS, header, HEADERS[1],
                                          self.write("page.md", ""))
        self.assertEqual(status, 1)
        self.assertIn("does not say how", error)


if __name__ == "__main__":
    checks.main()
