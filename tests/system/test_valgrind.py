"""The preloaded library under valgrind's memcheck: no error and no lost memory is of its making. MPI libraries make
many errors of their own, bare and traced alike; only those count whose place is in our library: innermost frame that is
not the C library's. Depends on: launcher."""
import shutil
import unittest
import xml.etree.ElementTree

import harness
from harness import thinned

OURS = "libpclscope-"
NOT_THE_PLACE = ("/libc.so", "/ld-linux", "vgpreload", "/libpthread", "/libc-")
PROGRAMS = {"random_program": ("--messages", "400", "--seed", "1"), "cancel_and_free": ("4",), "collectives": ("1",)}


def frames(error):
    return [(frame.findtext("obj", ""), frame.findtext("fn", "?")) for stack in error.findall("stack")[:1]
            for frame in stack.findall("frame")]


def place(error):
    """(object, function) where the error was made."""
    inner = [frame for frame in frames(error) if not any(part in frame[0] for part in NOT_THE_PLACE)]
    return inner[0] if inner else ("", "?")


def errors_in(directory):
    """All error contexts of all processes."""
    found = []
    for path in sorted(directory.glob("*.xml")):
        text = path.read_text(errors="replace")
        if not text.rstrip().endswith("</valgrindoutput>"):
            text += "</valgrindoutput>"  # the process was ended from outside
        found += xml.etree.ElementTree.fromstring(text).iter("error")
    return found


@unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
class Valgrind(harness.SystemTest):
    def memcheck(self, run, name, mpi):
        directory = self.box.directory / f"{name}-{mpi}-{run}"
        directory.mkdir()
        command = ("valgrind", "--quiet", "--leak-check=full", "--show-leak-kinds=definite", "--num-callers=20",
                   "--xml=yes", f"--xml-file={directory}/%p.xml", harness.program(name, mpi), *PROGRAMS[name])
        if run == "bare":
            done = self.box.bare(mpi, 2, *command, timeout=3 * harness.PATIENCE)
        else:
            path = directory / "run.h5"
            done = self.box.traced(2, *command, options=("--mpi", mpi, "--dump", path), timeout=3 * harness.PATIENCE)
            self.assertGreater(self.box.json("inspect", path, "--json")["messages"]["events"], 0,
                               "nothing was recorded")
        self.assertWorked(done)
        self.assertEqual(len(list(directory.glob("*.xml"))), 2, "one report per rank")
        return done, errors_in(directory)

    def bare(self, name, mpi):
        """Its output; in full its errors too, which are only told and take as long as the traced run."""
        if thinned(True, False):
            return self.memcheck("bare", name, mpi)
        done = self.box.bare(mpi, 2, harness.program(name, mpi), *PROGRAMS[name])
        self.assertWorked(done)
        return done, []

    def check(self, name, mpi):
        bare, bare_errors = self.bare(name, mpi)
        traced, traced_errors = self.memcheck("traced", name, mpi)
        self.assertEqual(traced.stdout, bare.stdout)
        ours = [error for error in traced_errors if OURS in place(error)[0]]
        print(f"{name} {mpi}: error contexts bare {len(bare_errors)}, traced {len(traced_errors)}, ours {len(ours)}",
              flush=True)
        self.assertEqual([(error.findtext("kind"), frames(error)) for error in ours], [])


def add(name, mpi):
    setattr(Valgrind, f"test_{name}_{mpi}", lambda self: self.check(name, mpi))


for each_mpi in harness.MPIS:
    for each in PROGRAMS if each_mpi == "openmpi" else ("random_program",):
        add(each, each_mpi)

if __name__ == "__main__":
    harness.main()
