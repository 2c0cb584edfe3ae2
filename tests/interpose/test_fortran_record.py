"""Fortran programs leave the record that C programs leave: the sections of test_record.py in all three bindings.

Every event also names the line it comes from, which must hold a call of that MPI function: so the site is the program's
own call and not a line of the binding. Depends on: launcher.
"""

import os
import re
import subprocess
import unittest

import job
import test_record

# Calls here have variables only for arguments. When `use mpi` or `use mpi_f08` declares the routine, gcc 12 gives such
# a call no line of its own, but that of any statement before.
WITHOUT_LINE = {"Init", "Finalize", "Wait", "Test", "Start", "Cancel", "Request_free", "Barrier", "Comm_dup",
                "Comm_idup", "Comm_free", "Comm_create", "Intercomm_merge"}
BINDINGS = ("mpif_h", "mpi", "mpi_f08")
EACH = job.thinned(1, 3)  # so many sections of the binding `mpi` for one that is run: it calls the symbols of mpif.h
SOURCE = os.path.join(job.SOURCE, "tests", "interpose", "record_calls.F90")


def lines_of_source():
    with open(SOURCE, encoding="utf-8") as file:
        return [""] + file.read().splitlines()


def sections():
    return list(dict.fromkeys(re.findall(r"case \('(\w+)'\)", "\n".join(lines_of_source()))))


class FortranRecord(test_record.Record):
    binding = None

    def program(self):
        return job.program(f"record_calls_{self.binding}", self.mpi)

    def run_section(self, section, **variables):
        if section not in sections():
            self.skipTest("has no Fortran counterpart")
        if self.binding == "mpi" and sections().index(section) % EACH:
            self.skipTest("in full only")
        result = job.launch(self.mpi, 3, [self.program(), section], **variables)
        self.assertEqual(result.status, 0, result.err)
        self.assertEqual(result.err, "")
        self.assertEqual([s.rank for s in result.segments], [0, 1, 2])
        self.check_sites(result.segments)
        return result.segments

    def compare(self, segments, papers):
        if self.mpi == "openmpi":  # its Waitall tells Fortran nothing about the single requests when one has failed
            papers = [self.without_failures(paper) for paper in papers]
        super().compare(segments, papers)

    @staticmethod
    def without_failures(paper):
        for i, (kind, function, *rest, flags) in enumerate(paper.lines):
            if kind == "recv_done" and function == "Waitall" and "failed" in flags:
                comm, peer, tag, _, ordinal = rest
                paper.lines[i] = ("recv_freed", function, comm, peer, tag, 0, ordinal, flags - {"posted", "truncated"})
        return paper

    def check_sites(self, segments):
        events = [e for s in segments for e in s.events]
        addresses = [hex(e.site - 1) for e in events]  # a return address: the call lies before it
        told = subprocess.run(["addr2line", "-e", self.program(), *addresses],
                              capture_output=True, text=True, check=True)
        lines = lines_of_source()
        for event, place in zip(events, told.stdout.splitlines()):
            file, number = place.split(" ")[0].rsplit(":", 1)
            self.assertTrue(file.endswith("record_calls.F90") and number.isdigit(), f"{event} at {place}")
            if self.binding != "mpif_h" and event.function in WITHOUT_LINE:
                continue
            self.assertIn(f"MPI_{event.function}(", lines[int(number)], f"{event} at {place}")


def load_tests(loader, _tests, _pattern):
    suite = unittest.TestSuite()
    for mpi in job.mpis():
        for binding in BINDINGS:
            name = f"FortranRecord_{binding}_{mpi}"
            suite.addTests(loader.loadTestsFromTestCase(
                type(name, (FortranRecord,), {"mpi": mpi, "binding": binding})))
    return suite


if __name__ == "__main__":
    job.checks.main()
