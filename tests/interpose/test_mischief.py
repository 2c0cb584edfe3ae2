"""What a tool must survive without hurting the program: overflow, fork, threads, no room, the wrong MPI, no MPI.
Depends on: launcher."""

import glob
import json
import os
import re
import sys
import unittest

import job


class Mischief(job.Test):
    mpi = None

    def launch(self, ranks, *arguments, **variables):
        return job.launch(self.mpi, ranks, [job.program("mischief", self.mpi), *arguments], **variables)

    def test_a_full_ring_whose_reader_never_comes_waits_once_and_then_drops_and_counts(self):
        result = self.launch(1, "self", "1000", PCLSCOPE_RING_EVENTS=64, PCLSCOPE_OVERFLOW_WAIT_MS=300,
                             PCLSCOPE_STACKS=0)
        self.assertEqual(result.status, 0, result.err)
        [segment] = result.segments
        self.assertEqual(segment.capacity, 64)
        self.assertEqual(len(segment.events), 64)
        # init, sends and receives, finalize, and what would have told of the missing ones: lost, a channel each of
        # sends and receives, the number of receive 31
        self.assertEqual(segment.dropped, 2 * 1000 + 2 - 64 + 4)
        self.assertEqual(segment.events[0].kind, "init")

    def test_a_child_of_fork_records_nothing_and_lives(self):
        result = self.launch(1, "forks")
        self.assertEqual(result.status, 0, result.err)
        [segment] = result.segments
        self.assertEqual([e.kind for e in segment.events], ["init"] + ["send", "recv_done"] * 5 + ["finalize"])

    def test_each_thread_has_a_ring_and_ended_threads_leave_theirs_to_new_ones(self):
        result = self.launch(1, "threads")
        self.assertEqual(result.status, 0, result.err)
        first, *rest = result.segments
        self.assertEqual([e.kind for e in first.events], ["init", "finalize"])
        self.assertLessEqual(len(rest), 5)
        sends = sorted((e for s in rest for e in s.events), key=lambda e: e.ordinal)
        tags = sorted(e.tag for e in sends)
        self.assertEqual(tags[:20], list(range(20)))
        self.assertIn(tags[20:], ([], [100, 101, 102, 103]))
        self.assertEqual([e.ordinal for e in sends], list(range(len(sends))))
        self.assertTrue(all(s.state == 2 for s in result.segments))

    def test_thousands_of_communicators_have_different_ids_equal_on_all_ranks(self):
        result = self.launch(2, "communicators")
        self.assertEqual(result.status, 0, result.err)
        made = [[e.comm for e in s.events if e.kind == "comm_created"] for s in result.segments]
        self.assertEqual(made[0], made[1])
        self.assertEqual(len(set(made[0])), 2000)

    def test_calls_before_init_and_after_finalize(self):
        result = self.launch(1, "outside")
        self.assertEqual(result.status, 0, result.err)
        self.assertEqual([e.kind for e in result.segments[0].events], ["init", "finalize"])

    def test_a_program_that_never_finalizes_leaves_its_record(self):
        result = self.launch(1, "no_finalize", tools=0)
        self.assertNotEqual(result.status, 0)
        [segment] = result.segments
        self.assertEqual(([e.kind for e in segment.events], segment.state), (["init"], 1))

    def test_abort_is_noted_and_ends_the_tool_too(self):
        result = self.unless_hung(lambda: self.launch(2, "abort"))  # the stand-in alone would wait for ten minutes
        self.assertNotEqual(result.status, 0)
        self.assertEqual(result.board["aborting"], 1)

    def test_a_limit_on_files_means_a_smaller_ring_and_no_signal(self):
        # 2^26 events are 4 GiB: more than this limit on files lets any process make, under pain of SIGXFSZ.
        code = ("import resource, os, sys; "
                "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26)); os.execvp(sys.argv[1], sys.argv[1:])")
        result = job.launch(self.mpi, 2, [sys.executable, "-c", code, job.program("mischief", self.mpi), "ring", "10"],
                            PCLSCOPE_RING_EVENTS=1 << 26)
        self.assertEqual(result.status, 0, result.err)
        self.assertIn("token 20", result.out)
        lines = [line for line in result.err.splitlines() if "pclscope" in line]
        self.assertEqual(len(lines), 1, result.err)
        self.assertIn("events instead of 67108864", lines[0])
        self.assertEqual([s.capacity for s in result.segments], [1 << 19] * 2)

    def small(self, size, words="self 100", *variables):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small_shm.py")
        if job.run(["unshare", "-m", "true"]).returncode != 0:
            self.skipTest("mount namespaces need root")
        done = job.run([sys.executable, "-B", script, size, self.mpi, words, *variables], PCLSCOPE_BUILD=job.BUILD)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        if found["bare"] != 0:
            self.skipTest("this MPI itself needs more room")
        self.assertEqual(found["status"], 0, done.stderr)
        return found

    def test_a_small_dev_shm_means_a_smaller_ring_and_one_line(self):
        found = self.small({"openmpi": "1536k", "mpich": "7m"}[self.mpi])  # 65536 events are 4 MiB
        capacity = {"openmpi": 4096, "mpich": 16384}[self.mpi]  # half of what is left when the MPI has what it needs
        self.assertEqual((found["capacity"], found["sends"]), ([capacity], 100))
        self.assertEqual(len(found["lines"]), 1, found)
        self.assertIn(f"{capacity} events instead of 65536", found["lines"][0])

    def test_a_full_dev_shm_means_no_record_and_one_line(self):
        found = self.small("64k")
        self.assertEqual((found["capacity"], found["sends"]), ([], 0))
        self.assertEqual(len(found["lines"]), 1, found)
        self.assertIn("cannot record: no room for a ring in /dev/shm", found["lines"][0])

    def test_a_ring_that_cannot_grow_in_a_full_dev_shm_stays_as_it_is(self):
        rings = ("PCLSCOPE_RING_EVENTS=1024", "PCLSCOPE_RING_LIMIT=1048576")
        grown = self.small("64m", "self 8000", *rings)
        self.assertEqual((grown["dropped"], grown["sends"], grown["lines"]), (0, 8000, []))
        full = self.small("64m", "full 8000", *rings)
        self.assertEqual((full["capacity"], full["lines"]), ([1024], []))
        self.assertGreater(full["dropped"], 14000)  # of 16,002 events, but for what 1,024 tell

    def test_the_other_mpis_library_says_so_once_and_changes_nothing(self):
        other = {"openmpi": "mpich", "mpich": "openmpi"}[self.mpi]
        if not os.path.exists(job.library(other)):
            self.skipTest("built for one MPI only")
        result = self.launch(3, "ring", "10", tools=0, preloaded=job.library(other))
        self.assertEqual(result.status, 0, result.err)
        self.assertEqual(result.out, "token 30\n")
        lines = [line for line in result.err.splitlines() if "pclscope" in line]
        self.assertEqual(len(lines), 1, result.err)
        self.assertRegex(lines[0], rf"^pclscope: libpclscope-{other}\.so was preloaded, but this program uses "
                                   rf".*: nothing is recorded; preload libpclscope-{self.mpi}\.so$")
        self.assertEqual(result.board["refused"], 3)
        self.assertEqual(result.segments, [])
        plain = self.launch(2, "ring", "10", tools=0, preloaded=job.library(other), job=False)
        self.assertEqual((plain.status, plain.out), (0, "token 20\n"))
        self.assertEqual(plain.err.count("pclscope:"), 1, plain.err)

    def test_a_singleton_without_a_job_runs_silently(self):
        for variables in ({}, {"PCLSCOPE_JOB": "0123456789abcdef0123456789abcdef", "PCLSCOPE_RANKS": "4"}):
            done = job.run([job.program("mischief", self.mpi), "ring", "5"],
                           LD_PRELOAD=job.library(self.mpi), **variables)
            self.assertEqual((done.returncode, done.stdout), (0, "token 5\n"), done.stderr)
            self.assertNotIn("pclscope", done.stderr)
            for path in glob.glob("/dev/shm/pclscope-0123456789abcdef0123456789abcdef-*"):
                self.assertTrue(path.endswith("-board"))
                os.unlink(path)

    def test_a_job_of_another_size_is_not_recorded(self):
        result = self.launch(2, "ring", "5", tools=0, PCLSCOPE_RANKS=7)
        self.assertEqual((result.status, result.out), (0, "token 10\n"), result.err)
        self.assertEqual(result.segments, [])
        self.assertEqual(result.err.count("pclscope:"), 1, result.err)
        self.assertIn("2 ranks instead of 7", result.err)

    def test_bad_tokens_are_no_job(self):
        for token in ("../../etc/x", "", "zz", "0" * 100):
            result = self.launch(1, "ring", "5", tools=0, PCLSCOPE_JOB=token)
            self.assertEqual((result.status, result.out), (0, "token 5\n"), result.err)
            self.assertEqual(result.segments, [])

    def test_programs_without_mpi_notice_nothing(self):
        python = [sys.executable, "-c", "import ctypes; print(6 * 7)"]
        for line, out in ((["/bin/true"], ""), (["bash", "-c", "echo hello | cat"], "hello\n"), (python, "42\n"),
                          (["sh", "-c", "exit 0"], "")):
            done = job.run(line, LD_PRELOAD=job.library(self.mpi), PCLSCOPE_JOB="0" * 32, PCLSCOPE_RANKS="2")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, out, ""), line)
        for launcher in ("orted", "mpirun." + self.mpi):
            if job_launcher := next((p for p in (f"/usr/bin/{launcher}",) if os.path.exists(p)), None):
                done = job.run([job_launcher, "--version"], LD_PRELOAD=job.library(self.mpi))
                self.assertNotIn("symbol lookup", done.stderr)
                self.assertNotIn("pclscope", done.stderr)
        self.assertEqual(glob.glob("/dev/shm/pclscope-" + "0" * 32 + "*"), [])

    def test_asking_for_mpi_where_there_is_none_is_an_error_and_no_crash(self):
        code = ("import ctypes, sys; me = ctypes.CDLL(sys.argv[1]); n = ctypes.c_int(-5); "
                "print(me.MPI_Comm_size(ctypes.c_void_p(1), ctypes.byref(n)) != 0, n.value)")
        done = job.run([sys.executable, "-c", code, job.library(self.mpi)], LD_PRELOAD=job.library(self.mpi))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "True -5\n", ""))

    def test_who_looks_for_mpi_by_name_finds_none_where_there_is_none(self):
        code = "import ctypes; print(hasattr(ctypes.CDLL(None), 'MPI_Comm_size'), hasattr(ctypes.CDLL(None), 'dlsym'))"
        done = job.run([sys.executable, "-c", code], LD_PRELOAD=job.library(self.mpi))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "False True\n", ""))

    def test_an_mpi_loaded_with_local_scope_is_found(self):
        linked = job.run(["ldd", job.program("mischief", self.mpi)]).stdout
        path = re.search(r"=> (\S*/libmpi(?:ch)?\.so\S*)", linked).group(1)
        # Python's own symbols come first: the calls go through the preloaded library, as those of an extension would.
        code = (f"import ctypes; mpi = ctypes.CDLL({path!r}, mode=0); me = ctypes.CDLL(None); "
                "me.MPI_Init(None, None); me.MPI_Finalize(); n = ctypes.c_int(); mpi.MPI_Finalized(ctypes.byref(n)); "
                "print(n.value)")
        result = job.launch(self.mpi, 1, [sys.executable, "-c", code], tools=0)
        self.assertEqual((result.status, result.out), (0, "1\n"), result.err)
        self.assertEqual([e.kind for e in result.segments[0].events], ["init", "finalize"])


class Elf(job.Test):
    mpi = None

    def test_no_mpi_symbol_is_needed(self):
        needed = job.run(["nm", "-D", "--undefined-only", job.library(self.mpi)]).stdout
        self.assertIn("dlvsym", needed)
        self.assertEqual(re.findall(r".*(?:mpi|MPI).*", needed), [])

    def test_it_needs_libc_only(self):
        dynamic = job.run(["readelf", "-d", job.library(self.mpi)]).stdout
        libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
        self.assertTrue(libraries)
        self.assertTrue(all(re.match(r"(libc|libdl|libpthread|ld-linux.*)\.so", name) for name in libraries), libraries)

    # Of the C library and of UCX, and what pclscope.h looks for: interpose/exports.map says why.
    OTHERS = {"openmpi": ["dlsym", "pclscope_marker"],
              "mpich": ["dlsym", "pclscope_marker", "read", "ucp_worker_create", "ucp_worker_destroy"]}

    def test_it_exports_mpi_functions_only(self):
        defined = job.run(["nm", "-D", "--defined-only", job.library(self.mpi)]).stdout
        names = [line.split()[-1] for line in defined.splitlines()]
        self.assertIn("MPI_Send", names)
        others = sorted(n for n in names if not re.match(r"MPIX?_[A-Z]|mpix?_[a-z]", n))  # C, Fortran
        self.assertEqual(others, self.OTHERS[self.mpi])

    def test_nothing_runs_before_the_first_mpi_call(self):
        dynamic = job.run(["readelf", "-d", job.library(self.mpi)]).stdout
        self.assertEqual(re.findall(r"INIT_ARRAYSZ\)\s+(\d+)", dynamic), ["8"])  # the compiler's own frame_dummy


def load_tests(loader, _tests, _pattern):
    suite = unittest.TestSuite()
    for mpi in job.mpis():
        for case in (Elf, Mischief):
            suite.addTests(loader.loadTestsFromTestCase(type(f"{case.__name__}_{mpi}", (case,), {"mpi": mpi})))
    return suite


if __name__ == "__main__":
    job.checks.main()
