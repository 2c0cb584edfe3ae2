"""Call sites: the lines on which waits were planted are named, and ranked by what they cost.
Depends on: launcher, time."""
import os
import re
import subprocess

import dump
import harness
import numpy
from harness import on_one_mpi

SLEEP_S = 0.15  # others may hold the other side back for some 10 ms: then it waits less
MESSAGES = 8
SOURCE = harness.SOURCE / "tests" / "programs"
# Stops the aggregator's worker until its rank has been in MPI_Finalize for 1.5 s, or is gone.
HELD_WORKER = """import os, pathlib, signal, subprocess, time
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI

def worker():
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(bytes(1))
        except OSError:
            continue
        if b"--worker" in words and words[0].endswith(b"pclscope-aggregator-openmpi"):
            return int(process.name)
    return None

held = None
while os.environ["OMPI_COMM_WORLD_RANK"] == "0" and not held:
    held = worker()
    time.sleep(0.001)
if held:
    os.kill(held, signal.SIGSTOP)
MPI.Init()
comm = MPI.COMM_WORLD
for number in range(20):
    if comm.rank == 0:
        comm.send(number, 1)
    else:
        assert comm.recv(source=0) == number
comm.Barrier()
if held:
    subprocess.Popen(["sh", "-c", f"for i in $(seq 150); do kill -0 {os.getpid()} 2>/dev/null || break; "
                      f"sleep 0.01; done; kill -CONT {held}"])
MPI.Finalize()
"""


def marked_lines(source):
    """{"late send": 14, ...}: the lines that a program marks with "site: NAME"."""
    found = {}
    for number, text in enumerate((SOURCE / source).read_text().splitlines(), 1):
        for name in re.findall(r"\S.*[/!]+ *site: (.*)$", text):
            found[name.strip()] = number
    return found


class CallSites(harness.SystemTest):
    made = {}  # dumps, once they are made

    def sites_of_messages(self, path, *options):
        sites = self.box.json("inspect", path, "calls", "--json", *options)["sites"]
        return [site for site in sites if site["sends"] + site["receives"] > 0]

    def dump_of(self, mpi, ranks=2):
        path = self.box.directory / f"{mpi}.h5"
        if (mpi, ranks) in self.made:
            path.write_bytes(self.made[mpi, ranks])
            return path
        self.assertWorked(self.box.traced(ranks, harness.program("call_sites", mpi), str(MESSAGES),
                                          str(int(SLEEP_S * 1e6)), options=("--dump", path)))
        self.made[mpi, ranks] = path.read_bytes()
        return path

    def assertRanked(self, path, scale, *options):
        """Late senders cost SLEEP_S each, late receivers half of it (more or less on a busy machine: compared with the
        stored messages; in sum less than half only if somebody were held back for more than 75 ms again and again);
        the other two sites hardly anything."""
        sites = self.sites_of_messages(path, *options)
        lines = marked_lines("call_sites.c")
        self.assertEqual({site["line"] for site in sites}, set(lines.values()), sites)
        # What was under way while its rank was off the core is lost, too, and may be more than what was planted.
        lost = [site["lost_s"] for site in sites]
        self.assertEqual(lost, sorted(lost, reverse=True), sites)
        late_send, late_receive = (max(sites, key=lambda site: site[kind])
                                   for kind in ("late_sender_s", "late_receiver_s"))
        self.assertEqual([late_send["line"], late_receive["line"]], [lines["late send"], lines["late receive"]], sites)
        self.assertEqual((late_send["function"], late_send["call"]), ("send_late", "MPI_Send"))
        self.assertEqual((late_receive["function"], late_receive["call"]), ("receive_late", "MPI_Irecv"))
        for site in sites:
            self.assertTrue(site["file"].endswith("tests/programs/call_sites.c"), site)
            self.assertEqual(site["sends"] + site["receives"], MESSAGES * scale, site)
        self.assertGreater(late_send["late_sender_s"], MESSAGES * scale * SLEEP_S / 2)
        self.assertGreater(late_receive["late_receiver_s"], MESSAGES * scale * SLEEP_S / 4)
        if not options:
            rows = dump.read_messages(path)
            waits = numpy.maximum(0, rows.send_begin - rows.recv_wait)[rows.tag == 1]
            posts = numpy.clip(rows.recv_post - rows.send_begin, 0, rows.recv_end - rows.send_begin)[rows.tag == 2]
            self.assertAlmostEqual(late_send["late_sender_s"], float(waits.sum()) * 1e-9, places=6)
            self.assertAlmostEqual(late_receive["late_receiver_s"], float(posts.sum()) * 1e-9, places=6)
        patient = next(site for site in sites if site["line"] == lines["patient receive"])
        self.assertAlmostEqual(patient["waited_s"], late_send["late_sender_s"], delta=1e-9)

    @on_one_mpi("openmpi")
    def test_planted_lines_come_first(self, mpi):
        path = self.dump_of(mpi)
        self.assertRanked(path, 1)
        text = self.box.pclscope("inspect", path, "calls").stdout
        dearest = self.sites_of_messages(path)[0]
        self.assertIn(f"call_sites.c:{dearest['line']} {dearest['function']}", text.splitlines()[1])
        self.assertIn("MPI_Barrier", text)
        titles, first = self.box.pclscope("inspect", path, "calls", "--csv", "--limit", "1").stdout.splitlines()
        self.assertEqual(dict(zip(titles.split(","), first.split(",")))["line"], str(dearest["line"]))

    @on_one_mpi("mpich")
    def test_messages_tell_their_lines(self, mpi):
        lines = marked_lines("call_sites.c")
        messages = self.box.json("inspect", self.dump_of(mpi), "messages", "--json")["messages"]
        self.assertEqual(len(messages), 2 * MESSAGES)
        expected = {1: ("late send", "patient receive"), 2: ("prompt send", "late receive")}
        for message in messages:
            send, receive = expected[message["tag"]]
            self.assertTrue(message["send_site"].endswith(f"/call_sites.c:{lines[send]}"), message)
            self.assertTrue(message["recv_site"].endswith(f"/call_sites.c:{lines[receive]}"), message)

    def test_ranks_have_the_same_sites_and_can_be_chosen(self):
        path = self.dump_of(harness.MPIS[0], ranks=4)
        self.assertRanked(path, 2)
        self.assertRanked(path, 1, "--rank", "2")

    def test_after_the_aggregator_was_killed_lines_are_found_when_the_dump_is_read(self):
        mpi = harness.MPIS[0]
        path = self.box.directory / "killed.h5"
        job = self.box.start_traced(2, harness.program("call_sites", mpi), "100000", str(int(SLEEP_S * 1e6)),
                                    self.box.until(), options=("--dump", path))
        name = self.box.job_name(job)
        self.box.live_with_messages(name, job, at_least=60)
        self.box.kill(self.box.aggregator_workers())
        self.box.end(job)
        found = self.box.run(harness.PCLSCOPE, "inspect", path, "calls", "--json")
        self.assertWorked(found)
        sites = harness.json.loads(found.stdout)["sites"]
        # Which of the late sides cost more is the machine's affair: on a busy one it may be another.
        self.assertIn(marked_lines("call_sites.c")["late send"], [site["line"] for site in sites[:3]], sites)

    def test_a_worker_that_was_not_given_a_core_knows_them_all_the_same(self):
        """It looks at the ranks' code only when they are in MPI_Finalize."""
        if "openmpi" not in harness.MPIS or self.box.run("/usr/bin/python3", "-c", "import mpi4py").code != 0:
            self.skipTest("no mpi4py for /usr/bin/python3 with Open MPI")
        path, script = self.box.directory / "held.h5", self.box.directory / "held.py"
        script.write_text(HELD_WORKER)
        self.assertWorked(self.box.traced(2, "/usr/bin/python3", script, options=("--dump", path)))
        found = self.sites_of_messages(path)
        self.assertEqual(sum(site["sends"] for site in found), 20, found)
        self.assertEqual([site for site in found if site["module"] is None], [], found)

    def test_stripped_programs_have_symbols_or_nothing_but_no_wrong_line(self):
        mpi = harness.MPIS[0]
        stripped = self.box.directory / "with blanks, stripped"
        subprocess.run(["strip", "-o", stripped, harness.program("call_sites", mpi)], check=True)
        path = self.box.directory / "stripped.h5"
        self.assertWorked(self.box.traced(2, stripped, "3", "1000", options=("--dump", path)))
        sites = self.sites_of_messages(path)
        self.assertEqual(len(sites), 4)
        for site in sites:
            self.assertEqual((site["file"], site["line"], site["module"]), (None, None, str(stripped)), site)

    @on_one_mpi("openmpi")
    def test_fortran_lines_are_the_users(self, mpi):
        lines = set(marked_lines("fortran_ring.F90").values())
        for binding in ("mpif_h", "mpi", "mpi_f08"):
            program = harness.program(f"fortran_ring_{binding}", mpi)
            if not os.path.exists(program):
                self.skipTest(f"{program} is not built: no Fortran compiler")
            with self.subTest(binding=binding):
                path = self.box.directory / f"{binding}-{mpi}.h5"
                self.assertWorked(self.box.traced(3, program, options=("--dump", path)))
                sites = self.sites_of_messages(path)
                self.assertEqual({site["line"] for site in sites}, lines, sites)
                self.assertTrue(all(site["file"].endswith("/fortran_ring.F90") for site in sites), sites)


if __name__ == "__main__":
    harness.main()
