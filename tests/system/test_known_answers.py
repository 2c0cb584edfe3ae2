"""Every known-answer program: in the store are exactly the messages on paper. (test_same_output: what they print.)
Depends on: launcher."""
import dump
import harness
import paper
from harness import on_every_mpi

# name: (ranks, arguments, table on paper). Few exchanges: MPICH with more ranks than cores needs 3 ms for each.
PROGRAMS = {
    "ring": (4, ("20", "64"), paper.ring(4, 20, 64)),
    "halo2d": (4, ("15", "32"), paper.halo2d((2, 2), 15, 32)),
    "halo3d": (4, ("15", "700"), paper.halo3d((2, 2, 1), 15, 700)),
    "cg_pattern": (4, ("10", "1024"), paper.cg_pattern(4, 10, 1024)),
    "late_sender": (2, ("3", "1000"), paper.pairs(2, 3)),
    "late_receiver": (2, ("3", "1000"), paper.pairs(2, 3)),
    "persistent_halo": (3, ("16", "16"), paper.persistent_halo(3, 16, 16)),
    "cancel_and_free": (4, ("10",), paper.cancel_and_free(4, 10)),
    "subcomms": (4, ("4",), paper.subcomms(4, 4)),
    "intercomm": (3, ("5", "128"), paper.intercomm(3, 5, 128)),
    "collectives": (3, ("2",), {}),
}


class KnownAnswers(harness.SystemTest):
    made = {}  # what was run before: the bytes of its dump

    def traced(self, mpi, name, ranks, *arguments):
        """Returns the dump's path and its summary. What is run twice with the same arguments is run once."""
        path, what = self.box.directory / f"{name}-{mpi}.h5", (mpi, name, ranks, arguments)
        if what in self.made:
            path.write_bytes(self.made[what])
            return path, self.box.json("inspect", path, "--json")
        traced = self.box.traced(ranks, harness.program(name, mpi), *arguments, options=("--dump", path))
        self.assertWorked(traced)
        self.assertTrue(dump.is_complete(path))
        summary = self.box.json("inspect", path, "--json")
        self.assertIn("Open MPI" if mpi == "openmpi" else "MPICH", summary["application"]["mpi"])
        self.assertEqual(summary["application"]["nodes"], 1)
        self.assertEqual(summary["application"]["aggregators"], 1)
        self.made[what] = path.read_bytes()
        return path, summary

    def check_communicators(self, rows, expected):
        """expected: [(tags, members)], one entry per communicator in use."""
        users, tags = {}, {}
        for comm, source, destination, tag in zip(rows.comm.tolist(), rows.source.tolist(), rows.destination.tolist(),
                                                  rows.tag.tolist()):
            users.setdefault(comm, set()).update((source, destination))
            tags.setdefault(comm, set()).add(tag)
        found = sorted((sorted(tags[comm]), sorted(users[comm])) for comm in users)
        self.assertEqual(found, sorted((sorted(some), sorted(members)) for some, members in expected))

    def test_master_worker_with_wildcards(self):
        for mpi in harness.MPIS:
            with self.subTest(mpi=mpi):
                tasks, ranks = 40, 4
                path, summary = self.traced(mpi, "master_worker", ranks, str(tasks))
                self.assertComplete(summary, ranks, 2 * tasks + ranks - 1, tasks * (8 + 16) + 8 * (ranks - 1))
                by_tag = {}
                for (source, destination, tag, size), count in dump.read_messages(path).channels().items():
                    self.assertEqual((source == 0, size), {1: (True, 8), 2: (False, 16), 3: (True, 8)}[tag])
                    by_tag[tag] = by_tag.get(tag, 0) + count
                self.assertEqual(by_tag, {1: tasks, 2: tasks, 3: ranks - 1})

    @on_every_mpi
    def test_communicators_of_every_make(self, mpi):
        rounds = 4
        path, _ = self.traced(mpi, "subcomms", 4, str(rounds))
        expected = []
        for tag, groups in paper.subcomms_members(4).items():
            if tag == 9:  # MPI_COMM_SELF has one id; its channels are ranks to themselves
                expected.append(({9}, set(range(4))))
            else:
                expected += [({tag}, set(group)) for group in groups] * (rounds if tag == 11 else 1)
        self.check_communicators(dump.read_messages(path), expected)

    @on_every_mpi
    def test_intercommunicator_has_one_identity_on_both_sides(self, mpi):
        path, _ = self.traced(mpi, "intercomm", 4, "3")
        self.check_communicators(dump.read_messages(path), paper.intercomm_communicators(4))

    @on_every_mpi
    def test_freed_receives_are_matched_without_a_time(self, mpi):
        ranks, arguments, _ = PROGRAMS["cancel_and_free"]
        path, _ = self.traced(mpi, "cancel_and_free", ranks, *arguments)
        rows = dump.read_messages(path)
        unseen = rows.flags & dump.UNSEEN_COMPLETION != 0
        self.assertEqual(unseen.tolist(), (rows.tag == 2).tolist())

    @on_every_mpi
    def test_times_of_a_message_are_in_order(self, mpi):
        ranks, arguments, _ = PROGRAMS["halo2d"]
        path, _ = self.traced(mpi, "halo2d", ranks, *arguments)
        rows = dump.read_messages(path)
        self.assertTrue((rows.send_begin <= rows.send_end).all())
        self.assertTrue((rows.recv_post <= rows.recv_wait).all())
        self.assertTrue((rows.recv_wait <= rows.recv_end).all())
        self.assertTrue((rows.send_begin < rows.recv_end).all())

    @on_every_mpi
    def test_application_sees_its_own_world_only(self, mpi):
        _, summary = self.traced(mpi, "world_view", 3, "an argument with blanks", "*")
        self.assertComplete(summary, 3, 2)

    @on_every_mpi
    def test_one_rank(self, mpi):
        path, summary = self.traced(mpi, "ring", 1, "10")
        self.assertComplete(summary, 1, 10, 640)
        self.assertEqual(dump.read_messages(path).channels(), paper.ring(1, 10))


def add_program(name):
    ranks, arguments, table = PROGRAMS[name]

    @on_every_mpi
    def test(self, mpi):
        path, summary = self.traced(mpi, name, ranks, *arguments)
        self.assertComplete(summary, ranks, paper.total(table), paper.total_bytes(table))
        self.assertEqual(dump.read_messages(path).channels(), table)

    setattr(KnownAnswers, f"test_messages_of_{name}", test)


for each in PROGRAMS:
    add_program(each)

if __name__ == "__main__":
    harness.main()
