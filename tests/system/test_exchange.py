"""Other programs' formats: a run exported to OTF2, read by otf2-print and OTF2's Python reader, and imported again;
archives as Score-P writes them; bad ones; full disks. Depends on: launcher."""
import collections
import os
import random
import re
import shutil
import subprocess

import harness
import score_p
from score_p import otf2


def printed(archive):
    """How many events of each kind otf2-print finds."""
    done = subprocess.run(["otf2-print", str(archive / "traces.otf2")], capture_output=True, text=True, check=True)
    return collections.Counter(re.findall(r"^([A-Z_]+) +\d+ +\d+  ", done.stdout, re.MULTILINE)), done.stderr


def events_of(archive):
    """Each location's events, by OTF2's Python reader: all that is to be the same when it is exported again."""
    with otf2.reader.open(str(archive / "traces.otf2")) as trace:
        found = collections.defaultdict(list)
        for location, event in trace.events:
            fields = {name: getattr(value, "name", value) for name, value in vars(event).items()
                      if not name.startswith("_")}
            fields.pop("attributes", None)
            found[location.group.name, location.name].append((type(event).__name__, str(sorted(
                (name.lstrip("_"), str(getattr(value, "name", value))) for name, value in fields.items()))))
        return found


class Exchange(harness.SystemTest):
    def setUp(self):
        super().setUp()
        if shutil.which("otf2-print") is None:
            self.skipTest("this test needs otf2-print (package otf2-tools)")
        if "without libotf2" in self.box.pclscope("export", "--help").stdout:
            self.skipTest("this pclscope was built without libotf2 (package libotf2-trace-dev)")

    def exported(self, dump, name, *options):
        archive = self.box.directory / name
        self.assertWorked(self.box.pclscope("export", dump, "--to", "otf2", "-o", archive, *options))
        return archive

    def imported(self, archive, name, *options):
        dump = self.box.directory / name
        done = self.box.pclscope("import", archive, "-o", dump, *options)
        self.assertWorked(done)
        return dump, done.stderr

    def nothing_left(self):
        left = [path.name for path in self.box.directory.iterdir()
                if path.name.startswith(".") and "pclscope-" in path.name]
        self.assertEqual(left, [])

    def test_a_run_is_the_same_in_an_archive_and_after_it(self):
        mpi = harness.MPIS[0]
        dump = self.box.directory / "run.h5"
        self.assertWorked(self.box.traced(4, harness.program("planted_groups", mpi), "200", "4", "500", "2", "50",
                                          "200", "4000", options=("--dump", dump, "--keep", "all")))
        archive = self.exported(dump, "run.otf2")
        counts, words = printed(archive)
        self.assertEqual(words, "")
        messages = self.box.json("inspect", dump, "messages", "--json")["messages"]
        calls = self.box.json("inspect", dump, "timeline", "--json")["calls"]
        collectives = self.box.json("inspect", dump, "collectives", "--json")
        self.assertGreater(len(messages), 1000)
        self.assertEqual(counts["MPI_SEND"] + counts["MPI_ISEND"], len(messages))
        self.assertEqual(counts["MPI_RECV"] + counts["MPI_IRECV"], len(messages))
        self.assertEqual(counts["MPI_IRECV"], counts["MPI_IRECV_REQUEST"])
        self.assertEqual(counts["ENTER"], len(calls))
        self.assertEqual(counts["LEAVE"], len(calls))
        self.assertEqual(counts["MPI_COLLECTIVE_END"], collectives["calls"])
        again, _ = self.imported(archive, "again.h5", "--keep", "all")
        before, after = (self.box.json("inspect", path, "--json") for path in (dump, again))
        for field in ("matched", "bytes", "unmatched_sends", "unmatched_receives", "ambiguous", "clock_violations"):
            self.assertEqual(after["messages"][field], before["messages"][field], field)
        regions = [[(r["ranks"], r["messages"], r["bytes"]) for r in s["regions"]] for s in (before, after)]
        self.assertEqual(*regions)
        findings = [{(f["cause"], str(f["ranks"])) for f in s["findings"] if f["confidence"] > 0.5}
                    for s in (before, after)]
        self.assertLessEqual(*findings)  # of conditions of the machine the archive knows nothing
        rows = [self.box.json("inspect", path, "messages", "--json")["messages"] for path in (dump, again)]
        key = ("source", "destination", "tag", "bytes", "start_s", "time_s", "late_sender_s", "late_receiver_s",
               "transfer_s", "send_site")
        self.assertEqual(*(sorted(tuple(m[k] for k in key) for m in part) for part in rows))
        # And out again: event by event.
        archive_again = self.exported(again, "again.otf2")
        self.assertEqual(events_of(archive_again), events_of(archive))
        third, _ = self.imported(archive_again, "third.h5", "--keep", "all")
        self.assertEqual(self.box.json("inspect", third, "--json"), after)
        # A part: whole, and only of the rank.
        part = self.exported(dump, "part.otf2", "--rank", "1")
        of_rank = sum(1 for call in calls if call["rank"] == 1)
        self.assertEqual(printed(part)[0]["ENTER"], of_rank)
        self.assertRefused(self.box.pclscope("export", dump, "--to", "otf2", "-o", part), 1, "--force")
        self.assertWorked(self.box.pclscope("export", dump, "--to", "otf2", "-o", part, "--force"))
        self.assertEqual(printed(part)[0]["ENTER"], len(calls))
        self.full_disk(dump)

    def full_disk(self, dump):
        small = self.box.directory / "small"
        small.mkdir()
        done = self.box.in_private_mounts(f"mount -t tmpfs -o size=64k none {small}",
                                          (harness.PCLSCOPE, "export", dump, "--to", "otf2", "-o", small / "x"),
                                          after=f"ls -A {small}")
        if done is None:
            return
        self.assertEqual(done.code, 1, str(done))
        self.assertIn("No space left", done.stderr)
        self.assertEqual(done.stdout, "", "something is left")

    def test_an_archive_of_score_p_has_the_answers_known_on_paper(self):
        archive = self.box.directory / "ring"
        score_p.ring(archive, rounds=50, late_rank=2)
        dump, words = self.imported(archive, "ring.h5", "--keep", "all")
        self.assertIn("200 messages matched", words)
        summary = self.box.json("inspect", dump, "--json")
        self.assertEqual(summary["messages"]["matched"], 200)
        self.assertEqual(summary["messages"]["bytes"], 200_000)
        for field in ("unmatched_sends", "unmatched_receives", "ambiguous", "clock_violations", "dropped_events"):
            self.assertEqual(summary["messages"][field], 0, field)
        self.assertEqual(sorted(rank for r in summary["regions"] for rank in r["ranks"]), [0, 1, 2, 3])
        self.assertEqual(summary["application"]["nodes"], 2)
        messages = self.box.json("inspect", dump, "messages", "--json")["messages"]
        self.assertEqual({(m["source"], m["destination"], m["tag"], m["bytes"]) for m in messages},
                         {(r, (r + 1) % 4, 5, 1000) for r in range(4)})
        # 1 ms is 0.001 s, whatever the ticks: each message as long as from its send to the end of its wait.
        times = {(m["source"], round(m["time_s"] * 1000, 6)) for m in messages}
        self.assertEqual(times, {(0, 2), (1, 7), (2, 1), (3, 2)})
        waits = self.box.json("inspect", dump, "waits", "--json")
        late = sum(w["wait_s"] for w in waits["wait_states"] if w["state"] == "late sender" and w["function"] is None)
        self.assertAlmostEqual(late, 50 * 0.004, places=6)  # rank 3: from 2 ms to 6 ms
        collectives = self.box.json("inspect", dump, "collectives", "--json")
        self.assertEqual((collectives["operations"], collectives["calls"]), (50, 200))
        # The Waits end at 3, 3, 8 and 7 ms: the others wait 5, 5 and 1 ms for rank 2.
        self.assertAlmostEqual(collectives["wait_s"], 50 * 0.011, places=6)
        delays = self.box.json("inspect", dump, "delays", "--json")["delays"]
        self.assertEqual({d["rank"] for d in delays}, {2})
        self.assertTrue(any("rank 2, late at heat.c:42" in text for text in summary["sentences"]), summary["sentences"])
        calls = self.box.json("inspect", dump, "timeline", "--json")["calls"]
        self.assertEqual(collections.Counter(c["function"] for c in calls),
                         {"MPI_Init": 4, "MPI_Irecv": 200, "MPI_Isend": 200, "MPI_Waitall": 200, "MPI_Allreduce": 200,
                          "MPI_Finalize": 4})
        places = {c["function"]: c["site"] for c in calls}
        self.assertIn("heat.c:42", places["MPI_Waitall"])
        self.assertIn("heat.c:77", places["MPI_Allreduce"])
        # What comes out of it as an archive is what went in.
        counts, _ = printed(self.exported(dump, "out.otf2"))
        self.assertEqual((counts["MPI_ISEND"], counts["MPI_IRECV"], counts["MPI_COLLECTIVE_END"]), (200, 200, 200))

    def test_oddities_are_told_and_the_rest_is_there(self):
        """A rank that nobody has, a receive that was never posted, one that is never complete."""
        box = self.box.directory
        score_p.small(
            box / "odd",
            (0, "MPI_Send", 1, 2, lambda a, w, t: w.mpi_send(t, 1, a.world, 3, 10)),
            (0, "MPI_Send", 3, 4, lambda a, w, t: w.mpi_send(t, 17, a.world, 3, 10)),
            (0, "MPI_Irecv", 5, 6, lambda a, w, t: w.mpi_irecv_request(t, 9)),
            (1, "MPI_Recv", 1, 3, lambda a, w, t: w.mpi_recv(t, 0, a.world, 3, 10)),
            (1, "MPI_Wait", 4, 5, lambda a, w, t: w.mpi_irecv(t, 0, a.world, 4, 10, 77)))
        dump, words = self.imported(box / "odd", "odd.h5")
        for part in ("1 messages and operations name a rank",
                     "1 receives and operations were complete but never posted",
                     "1 receives and operations were posted but never complete"):
            self.assertIn(part, words)
        summary = self.box.json("inspect", dump, "--json")
        self.assertEqual(summary["messages"]["matched"], 1)

    def test_ranks_of_a_communicator_are_its_own(self):
        """Rank 1 of the communicator of 0 and 2 is 2 in the world. In its Barrier 0 waits from 3 to 5 ms for 2."""
        box = self.box.directory

        def barrier(archive, writer, moment):
            writer.mpi_collective_end(moment, score_p.CollectiveOp.BARRIER, archive.even, score_p.NO_ROOT, 0, 0)
        score_p.small(
            box / "even",
            (0, "MPI_Send", 1, 2, lambda a, w, t: w.mpi_send(t, 1, a.even, 3, 10)),
            (2, "MPI_Recv", 1, 2, lambda a, w, t: w.mpi_recv(t, 0, a.even, 3, 10)),
            (0, "MPI_Barrier", 3, 6, barrier), (2, "MPI_Barrier", 5, 6, barrier), ranks=4)
        dump, _ = self.imported(box / "even", "even.h5")
        messages = self.box.json("inspect", dump, "messages", "--json")["messages"]
        self.assertEqual([(m["source"], m["destination"], m["tag"]) for m in messages], [(0, 2, 3)])
        collectives = self.box.json("inspect", dump, "collectives", "--json")
        self.assertEqual((collectives["operations"], collectives["calls"]), (1, 2))
        self.assertAlmostEqual(collectives["wait_s"], 0.002, places=9)

    def test_bad_archives_are_refused_in_one_line(self):
        box = self.box.directory
        score_p.ring(box / "good", rounds=5)
        score_p.small(box / "empty")
        score_p.small(box / "no_mpi", mpi=False)
        (box / "text.otf2").write_text("this is no archive\n")
        whole = (box / "good" / "traces" / "1.evt").stat().st_size
        cut_events = {f"cut_events_{keep}": keep for keep in (1, 20, 59, 60, 61, whole // 2, whole - 2, whole - 1)}
        for name, file, keep in (("cut_definitions", "traces.def", 100), ("cut_anchor", "traces.otf2", 40),
                                 ("no_definitions", "traces.def", 0),
                                 *((name, "traces/1.evt", keep) for name, keep in cut_events.items())):
            shutil.copytree(box / "good", box / name)
            data = (box / name / file).read_bytes()
            (box / name / file).write_bytes(data[:keep])
        shutil.copytree(box / "good", box / "no_events")
        (box / "no_events" / "traces" / "1.evt").unlink()
        for name in ("empty", "no_mpi", "text.otf2", "cut_definitions", "cut_anchor", "no_definitions", "no_events",
                     "not_there", *cut_events):
            with self.subTest(name):
                done = self.box.pclscope("import", box / name, "-o", box / "bad.h5")
                self.assertRefused(done, 1)
                self.assertFalse((box / "bad.h5").exists())
                if name in cut_events:
                    self.assertIn("the events of location 1 are cut off", done.stderr)
                self.nothing_left()
        self.assertRefused(self.box.pclscope("import", box / "good", "-o", box), 1)

    def test_damaged_bytes_end_in_a_line_or_a_dump(self):
        box = self.box.directory
        score_p.ring(box / "good", rounds=3)
        chance = random.Random(int(os.environ.get("PCLSCOPE_SEED", "20261126")))
        files = ("traces.otf2", "traces.def", "traces/0.evt", "traces/2.evt")
        for number in range(harness.thinned(400, 24)):
            with self.subTest(number=number):
                shutil.copytree(box / "good", box / "bad")
                file = box / "bad" / files[number % len(files)]
                data = bytearray(file.read_bytes())
                for _ in range(3):
                    data[chance.randrange(len(data))] = chance.randrange(256)
                file.write_bytes(bytes(data))
                done = self.box.pclscope("import", box / "bad", "-o", box / "bad.h5")
                self.assertIn(done.code, (0, 1), str(done))
                self.assertEqual((box / "bad.h5").exists(), done.code == 0, str(done))
                if done.code == 1:
                    self.assertRefused(done, 1)
                (box / "bad.h5").unlink(missing_ok=True)
                shutil.rmtree(box / "bad")
        self.nothing_left()


if __name__ == "__main__":
    harness.main()
