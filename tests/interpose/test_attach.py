"""Jobs that were only preloaded: dormant, found by their boards, attached to and detached from while they run.
Depends on: launcher."""

import glob
import os
import pathlib
import re
import subprocess
import tempfile
import time
import uuid

import job

CYCLES = os.path.join(job.BUILD, "tests", "interpose", "attach_cycles")
FIELDS = ["recording", "sends", "matched", "wrong", "ambiguous", "half", "lost", "collectives"]


JOB_NAME = 16464  # in a board; test_layout ties it to the header


def boards():
    """Files of jobs that were only preloaded and run these tests' programs."""
    found = set()
    for path in glob.glob(f"/dev/shm/pclscope-*-{job.node_key()}-board"):
        try:
            with open(path, "rb") as file:
                name = file.read()[JOB_NAME:JOB_NAME + 96].split(b"\0")[0].decode()
        except OSError:
            continue
        if re.match(r"(attach_load|accounts|threads)-", name):
            found |= set(glob.glob(path.removesuffix("board") + "*"))
    return found


WITHOUT_END = "2000000000"  # messages of a job that the test ends: however slow its sessions are


class Attach(job.Test):
    mpi = None

    def setUp(self):
        self.before, self.mark = boards(), uuid.uuid4().hex
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.end = pathlib.Path(directory.name) / "end"

    def start(self, ranks, *command, **variables):
        options = ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"] if self.mpi == "openmpi" else []
        preload = job.checks.preload(job.RESTING, job.library(self.mpi))
        line = [job.MPIRUN[self.mpi], *options, "-n", str(ranks), "env", preload, *command]
        process = subprocess.Popen(line, env=job.environment(PCL_TEST_MARK=self.mark, **variables),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def cycles(self, name, cycles, on, off, *more):
        done = subprocess.run([CYCLES, name, str(cycles), str(on), str(off), *more], capture_output=True, text=True,
                              timeout=3 * job.PATIENCE, check=False)
        sessions = [{f: int(v) for f, v in re.findall(r"(\w+) (\d+)", line)} for line in done.stdout.splitlines()
                    if line.startswith("session ")]
        return done, sessions

    def assertEnds(self, process, out):
        """It went on undisturbed, ends when told to, and left nothing behind."""
        beginnings = {path.removesuffix("board") for path in boards() - self.before if path.endswith("-board")}
        self.end.touch()
        printed, err = process.communicate(timeout=job.PATIENCE)
        self.assertEqual((process.returncode, printed, err), (0, out, ""))
        self.assertEqual(boards() - self.before, set())
        # No rings without a board either.
        self.assertEqual([path for beginning in beginnings for path in glob.glob(beginning + "*")], [])

    def test_many_sessions_under_load(self):
        count = job.thinned(20, 8)
        # Nobody may drop: on a busy machine the drainer may not get a core for longer than the usual 100 ms.
        process = self.start(3, job.program("attach_load", self.mpi), "300", f"until={self.end}",
                             PCLSCOPE_OVERFLOW_WAIT_MS=30000)
        try:
            done, sessions = self.cycles("attach_load", count, 300, 100)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual(len(sessions), count)
            for s in sessions:
                self.assertEqual([s["recording"], s["wrong"], s["dropped"], s["ambiguous"], s["lost"]],
                                 [3, 0, 0, 0, 0], s)
                self.assertGreater(s["matched"], 0)
                self.assertGreaterEqual(s["sends"], s["matched"])
            self.assertGreater(sum(s["collectives"] for s in sessions), 0)
            # All but what was in flight at the ends: the ranks go round together, however long that takes.
            self.assertLess(max(s["sends"] - s["matched"] for s in sessions), 60)
            self.assertEnds(process, "right\n")
        finally:
            process.kill()

    def test_receives_completed_in_any_order(self):
        process = self.start(2, job.program("accounts", self.mpi), "5", "20000000")
        try:
            done, sessions = self.cycles("accounts", 5, 300, 50, "ahead")  # perhaps so far that nothing matches
            self.assertEqual([(s["recording"], s["wrong"]) for s in sessions], [(2, 0)] * 5, done.stdout)
            self.assertLess(sum(s["ambiguous"] for s in sessions), 0.2 * sum(s["sends"] for s in sessions))
        finally:
            process.terminate()
            process.wait(job.PATIENCE)
        self.assertTidied()

    def test_aggregators_that_die_and_recording_switched_off_and_on(self):
        process = self.start(3, job.program("attach_load", self.mpi), "300", f"until={self.end}", "control",
                             PCLSCOPE_RING_EVENTS=1024)
        try:
            count = job.thinned(8, 4)
            done, sessions = self.cycles("attach_load", count, 300, 20, "die")
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual([s["wrong"] for s in sessions], [0] * count)
            self.assertEnds(process, "right\n")
        finally:
            process.kill()

    def test_aggregators_that_die_before_they_found_a_ring(self):
        # With pauses: no ring is full before the next aggregator begins, nor at the end of the job.
        process = self.start(3, job.program("attach_load", self.mpi), "300", f"until={self.end}", "pause=3000")
        try:
            done, sessions = self.cycles("attach_load", job.thinned(8, 4), 200, 20, "blind")
            self.assertEqual(done.returncode, 0, done.stdout)
            for s in sessions:
                self.assertEqual([s["recording"], s["wrong"], s["dropped"], s["ambiguous"], s["lost"]],
                                 [3, 0, 0, 0, 0], s)
            self.assertEnds(process, "right\n")
        finally:
            process.kill()

    def test_aggregators_that_die_before_they_found_a_ring_of_threads(self):
        process = self.start(2, job.program("threads", self.mpi), "3", WITHOUT_END)
        try:
            count = job.thinned(6, 3)
            done, sessions = self.cycles("threads", count, 200, 20, "blind")
            self.assertEqual([(s["recording"], s["wrong"]) for s in sessions], [(2, 0)] * count, done.stdout)
            time.sleep(1)  # the last one has died: none begins again what is over
            os.set_blocking(process.stderr.fileno(), False)
            self.assertNotIn(b"cannot record", process.stderr.buffer.raw.read() or b"")
        finally:
            process.terminate()
            process.wait(job.PATIENCE)
        self.assertTidied()

    def test_threads_join_one_by_one_and_nothing_is_wrong(self):
        process = self.start(2, job.program("threads", self.mpi), "3", WITHOUT_END)
        try:
            count = job.thinned(4, 2)
            done, sessions = self.cycles("threads", count, 400, 100)
            self.assertEqual(sum(s["wrong"] for s in sessions), 0, done.stdout)
            self.assertEqual([s["recording"] for s in sessions], [2] * count)
        finally:
            process.terminate()
            process.wait(job.PATIENCE)
        self.assertTidied()

    def assertTidied(self):
        """Whatever a killed job left is gone when the next one has begun."""
        end = time.monotonic() + job.PATIENCE
        while left := job.marked(self.mark):
            self.assertLess(time.monotonic(), end, f"still there: {left}")
            time.sleep(0.02)
        self.assertEnds(self.start(2, job.program("attach_load", self.mpi), "0"), "right\n")

    def test_switched_off(self):
        log = self.end.parent
        process = self.start(2, job.program("attach_load", self.mpi), "300", f"until={self.end}", f"log={log}",
                             PCLSCOPE="off")
        while not (log / "sent.1").exists():  # after MPI_Init
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        self.assertEqual(boards() - self.before, set())
        self.assertEnds(process, "right\n")


for name in job.mpis():
    globals()[f"Attach_{name}"] = type(f"Attach_{name}", (Attach,), {"mpi": name})
del Attach

if __name__ == "__main__":
    job.checks.main()
