"""Fortran programs in all three bindings: the same output as bare, exactly the messages on paper, the user's own lines.
Depends on: launcher."""
import os
import re
import subprocess

import dump
import harness
import paper

BINDINGS = ("mpif_h", "mpi", "mpi_f08")
PROGRAMS = harness.SOURCE / "tests" / "programs"
GENERATED = harness.BUILD / "interpose"


def halo(grid, iterations):
    """See fortran_halo.F90."""
    table = paper.halo2d(grid, iterations)
    for x in range(grid[0]):
        for y in range(grid[1]):
            me = x * grid[1] + y
            for dimension, to in enumerate([(x + 1, y), (x, y + 1)]):
                if to[dimension] < grid[dimension]:
                    paper.add(table, me, to[0] * grid[1] + to[1], 10 + dimension, 256, iterations)
    paper.rings(table, range(grid[0] * grid[1]), 20, 8, iterations)
    return table


def corners():
    """See fortran_corners.F90, `messages`."""
    table = {}
    for tag, size in ((20, 24), (21, 12), (22, 20), (23, 12)):
        paper.add(table, 0, 1, tag, size)
    paper.add(table, 1, 0, 24, 16)
    paper.add(table, 0, 1, 25, 0)
    paper.add(table, 1, 0, 25, 0)
    return table


def marked_lines(source):
    """{mark: line number} of the comments `site: MARK`."""
    lines = (PROGRAMS / source).read_text().splitlines()
    return {found.group(1): number for number, line in enumerate(lines, 1)
            if (found := re.search(r"! site: (.*)$", line))}


class Fortran(harness.SystemTest):
    def both(self, name, binding, mpi, ranks, *arguments, alone=False):
        """`alone`: one after the other, as both write the same file."""
        program = harness.program(f"{name}_{binding}", mpi)
        if not os.path.exists(program):
            self.skipTest(f"no Fortran compiler for {mpi}")
        path = self.box.directory / f"{name}-{binding}-{mpi}.h5"
        command = (program, *arguments)

        def start():
            return self.box.start_traced(ranks, *command, options=("--dump", path))
        run_bare, run_traced = self.side_by_side(mpi, ranks, command, start)
        bare = self.box.bare(mpi, ranks, *command) if alone else run_bare()
        self.assertWorked(bare)
        traced = run_traced()
        self.assertWorked(traced)
        self.assertEqual((traced.stdout, traced.stderr), (bare.stdout, bare.stderr))
        return path, self.box.json("inspect", path, "--json")

    def check_messages(self, path, summary, ranks, table):
        self.assertComplete(summary, ranks, paper.total(table), paper.total_bytes(table))
        self.assertEqual(dump.read_messages(path).channels(), table)

    def check_sites(self, path, source, marks_of):
        """Each message's call sites as pclscope names them: those marked in the source."""
        lines = {mark: f"{source}:{number}" for mark, number in marked_lines(source).items()}
        found = self.box.json("inspect", path, "messages", "--json")
        self.assertEqual(len(found["messages"]), found["total"])
        for message in found["messages"]:
            sites = [os.path.basename(message[side]) for side in ("send_site", "recv_site")]
            self.assertEqual(sites, [lines[mark] for mark in marks_of(message)], message)

    def test_ring(self):
        def marks(message):
            who = {True: "rank 0", False: "others"}
            return f"send of {who[message['source'] == 0]}", f"recv of {who[message['destination'] == 0]}"

        for mpi, binding in each():
            with self.subTest(mpi=mpi, binding=binding):
                path, summary = self.both("fortran_ring", binding, mpi, 4, "15")
                self.check_messages(path, summary, 4, paper.ring(4, 15))
                self.check_sites(path, "fortran_ring.F90", marks)

    def test_halo(self):
        def marks(message):
            if message["tag"] == 20:
                return "startall", "startall"
            return ("sendrecv", "sendrecv") if message["tag"] >= 10 else ("isend", "irecv")

        for mpi, binding in each():
            with self.subTest(mpi=mpi, binding=binding):
                path, summary = self.both("fortran_halo", binding, mpi, 4, "10")
                self.check_messages(path, summary, 4, halo((2, 2), 10))
                self.check_sites(path, "fortran_halo.F90", marks)

    def test_corners(self):
        for mpi, binding in each():
            with self.subTest(mpi=mpi, binding=binding):
                file = self.box.directory / f"file-{mpi}-{binding}"
                path, summary = self.both("fortran_corners", binding, mpi, 3, file, alone=True)
                self.check_messages(path, summary, 3, corners())

    def test_what_fortran_leaves_unrecorded_is_known(self):
        """Add a form to interpose/generate/fortran.py for what appears here, or name it."""
        for mpi in harness.MPIS:
            self.assertEqual((GENERATED / mpi / "fortran_unrecorded.txt").read_text(), "", mpi)

    def test_every_spelling_of_the_library_is_interposed(self):
        """Of each interposed function all routines that the MPI library's Fortran part exports."""
        for mpi in harness.MPIS:
            ours = exported(harness.library(mpi))
            chosen = {name.lower() for name in ours if name.startswith(("MPI_", "MPIX_")) and not name.isupper()}
            program = harness.program("fortran_ring_mpi_f08", mpi)
            if not os.path.exists(program):
                continue
            loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
            libraries = [path for path in re.findall(r"=> (\S*libmpi\S*)", loaded)
                         if re.search(r"mpifh|usempi|mpichfort", path)]
            self.assertTrue(libraries, loaded)
            missing = set()
            for symbol in set().union(*map(exported, libraries)):
                spelled = re.fullmatch(r"(mpix?_\w*?)(_f08(?:ts)?)?(_large)?_{0,2}|(MPIX?_[A-Z0-9_]*)", symbol)
                if spelled is None or symbol in ours:
                    continue
                base = (spelled.group(4) or spelled.group(1)).lower() + ("_c" if spelled.group(3) else "")
                if re.sub("_cptr$", "", base) in chosen:
                    missing.add(symbol)
            self.assertEqual(missing, set(), mpi)


def each():
    return [(mpi, binding) for mpi in harness.MPIS for binding in BINDINGS]


def exported(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in listed.stdout.splitlines()}


if __name__ == "__main__":
    harness.main()
