"""Every program of tests/programs, in every language and for every MPI, prints the same and ends with the same status
under pclscope as without it; in the check each under one MPI, half of them under each. A new program is included by
being built; a table gives the arguments of those that need any. Depends on: launcher."""
import unittest

import harness
from harness import thinned

# name: [(ranks, arguments)]. Few exchanges: MPICH with more ranks than cores needs 3 ms for each.
ARGUMENTS = {
    "ring": [(4, ("20", "64")), (1, ("10",))],
    "halo2d": [(4, ("15", "32"))],
    "halo3d": [(4, ("15", "700"))],
    "cg_pattern": [(4, ("10", "1024"))],
    "late_sender": [(2, ("3", "1000"))],
    "late_receiver": [(2, ("3", "1000"))],
    "persistent_halo": [(3, ("16", "16"))],
    "cancel_and_free": [(4, ("10",))],
    "subcomms": [(4, ("4",))],
    "intercomm": [(3, ("5", "128"))],
    "collectives": [(3, ("2",))],
    "world_view": [(3, ("an argument with blanks", "*"))],
    "master_worker": [(4, ("40",))],
    "random_program": [(2, ("--messages", "2000", "--seed", "3")),
                       (2, ("--messages", "2000", "--threads", "2", "--race"))],
    "spin": [(2, ("5", "5"))],
    "outstanding": [(2, ("5000", "2"))],
    "many_comms": [(2, ("300",))],
    "forking": [(2, (how,)) for how in thinned(("quiet", "exit", "exec", "shell"), ("shell",))],  # all: test_faults
    "crash": thinned([(2, ("exit", "10")), (2, ("one-exit", "10")), (2, ("leave", "10", "1", "0"))],
                     [(2, ("exit", "10"))]),  # all of them: test_failing_applications
    "call_sites": [(2, thinned(("10", "20000"), ("3", "1000")))],
    "objects": [(3, ("10",))],
    "pickled": [(2, ("2",))],
    "not_mpi": [(2, ("3", "some", "words"))],
    # Its other kinds never end.
    "deadlock": [(3, (kind, "1"))
                 for kind in thinned(("slow_compute", "slow_barrier", "polling", "master"), ("polling",))],
    "markers": [(3, (".", "4", "100"))],
    "fortran_corners": [(3, ("corners.data",))],
}
OTHERWISE = [(2, ())]
EXCLUDED = dict.fromkeys(("chatty", "faults", "wait_states", "rings"), "prints what the clock says")  # name: the reason
# These are run bare and traced by test_fortran too, with the same ranks, and their output is compared there.
ELSEWHERE = thinned((), ("fortran_ring", "fortran_halo", "fortran_corners"))


def arguments_of(name):
    """Fortran programs have one name per binding: fortran_corners_mpi_f08."""
    known = [entry for entry in ARGUMENTS if name == entry or name.startswith(entry + "_mpi")]
    return ARGUMENTS[known[0]] if known else OTHERWISE


def programs():
    """{(name, mpi): command} of all programs that are built, and of the scripts."""
    built = {}
    for path in sorted((harness.BUILD / "tests" / "programs").iterdir()):
        name, _, mpi = path.name.rpartition("-")
        if mpi in harness.MPIS and path.is_file():
            built.setdefault(name, []).append((mpi, path))
    found = {}
    for number, (name, of_mpis) in enumerate(built.items()):
        for mpi, path in thinned(of_mpis, [of_mpis[number % len(of_mpis)]]):
            found[name, mpi] = (str(path),)
    found["not_mpi", harness.MPIS[0]] = (str(harness.BUILD / "tests" / "programs" / "not_mpi"),)
    for path in sorted((harness.SOURCE / "tests" / "programs").glob("*.py")):
        found[path.stem, "openmpi"] = ("/usr/bin/python3", str(path))  # mpi4py is Open MPI's
    return found


class SameOutput(harness.SystemTest):
    def check(self, mpi, ranks, command):
        """The dump is written too, as that is what people do."""
        def start():
            return self.box.start_traced(ranks, *command,
                                         options=("--mpi", mpi, "--dump", self.box.directory / "run.h5"))
        self.assertEndsAlike(*self.side_by_side(mpi, ranks, command, start), is_chance=harness.end_is_chance(command))

    def test_table_names_programs(self):
        names = {name for name, _ in programs()}
        unknown = {entry for entry in ARGUMENTS
                   if not any(name == entry or name.startswith(entry + "_mpi") for name in names)}
        self.assertEqual({entry for entry in unknown if not entry.startswith("fortran")}, set(),
                         "in the table, but not built")
        self.assertEqual(set(EXCLUDED) - names, set(), "excluded, but not built")


def add_program(name, mpi, command):
    def test(self):
        script = command[0] == "/usr/bin/python3"
        if script and self.box.run("/usr/bin/python3", "-c", "import mpi4py, numpy").code != 0:
            self.skipTest("no mpi4py for /usr/bin/python3")
        for ranks, arguments in arguments_of(name):
            with self.subTest(ranks=ranks, arguments=arguments):
                self.check(mpi, ranks, (*command, *arguments))
    if name in EXCLUDED:
        test = unittest.skip(EXCLUDED[name])(test)
    if any(name.startswith(entry + "_mpi") for entry in ELSEWHERE):
        test = unittest.skip("compared by test_fortran")(test)
    setattr(SameOutput, f"test_{name}_{mpi}", test)


if harness.PCLSCOPE.exists():
    for (each, for_mpi), with_command in programs().items():
        add_program(each, for_mpi, with_command)

if __name__ == "__main__":
    harness.main()
