"""Tests of the tests: the comparison with the oracle accepts the truth and finds every planted defect."""
import pathlib
import random
import tempfile
import unittest

import dump
import harness
import oracle
import paper

RANKS = 3
LABELS = {"world": (1, [0, 1, 2]), "pair": (77, [0, 2])}


def write_storm(directory, seed):
    """A made-up run: writes the oracle's files and returns the true rows as lists."""
    random.seed(seed)
    sent = [[] for _ in range(RANKS)]
    received = [[] for _ in range(RANKS)]
    columns = {name: [] for name in dump.COLUMNS}
    for _ in range(300):
        label = random.choice(list(LABELS))
        comm, members = LABELS[label]
        source, destination = random.choice(members), random.choice(members)
        tag, size = random.randrange(3), random.randrange(40, 99)
        received[destination].append((label, source, tag, size, len(sent[source])))
        values = dict(comm=comm, source=source, destination=destination, tag=tag, bytes=size, flags=0,
                      send_begin=10 * len(sent[source]), recv_post=10 * len(received[destination]))
        sent[source].append((label, destination, tag, size))
        for name in dump.COLUMNS:
            columns[name].append(values.get(name, 0))
    order = list(range(300))
    random.shuffle(order)  # the order of rows means nothing
    for name in dump.COLUMNS:
        columns[name] = [columns[name][i] for i in order]
    for rank in range(RANKS):
        for name, records in (("sent", sent[rank]), ("received", received[rank])):
            lines = [" ".join(map(str, (i, *record))) for i, record in enumerate(records)]
            (directory / f"{name}.{rank}").write_text("\n".join(lines) + "\n")
        known = [f"{label} " + " ".join(map(str, members)) for label, (_, members) in LABELS.items() if rank in members]
        (directory / f"comms.{rank}").write_text("\n".join(known) + "\n")
    return columns


class ComparingWithTheOracle(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.seed = random.randrange(1 << 30)
        self.columns = write_storm(pathlib.Path(directory.name), self.seed)
        self.oracle = oracle.Oracle(directory.name, RANKS)

    def differences(self):
        return oracle.compare(dump.rows_from(self.columns), self.oracle)

    def test_truth_is_accepted(self):
        self.assertTrue(self.oracle.is_consistent())
        self.assertEqual(self.differences(), [], f"seed {self.seed}")

    def test_two_messages_of_one_channel_exchanged(self):
        keys = list(zip(self.columns["comm"], self.columns["source"], self.columns["destination"], self.columns["tag"]))
        first = next(i for i, key in enumerate(keys) if keys.count(key) > 1)
        second = keys.index(keys[first], first + 1)
        times = self.columns["recv_post"]
        times[first], times[second] = times[second], times[first]
        self.assertTrue(self.differences(), f"seed {self.seed}")

    def test_wrong_tag(self):
        self.columns["tag"][7] += 1
        self.assertTrue(self.differences())

    def test_wrong_bytes(self):
        self.columns["bytes"][8] += 1
        self.assertTrue(self.differences())

    def test_missing_row(self):
        for name in dump.COLUMNS:
            del self.columns[name][100]
        self.assertTrue(self.differences())

    def test_communicator_with_two_ids(self):
        row = self.columns["comm"].index(77)
        self.columns["comm"][row] = 78
        self.assertTrue(self.differences())

    def test_communicator_used_by_a_stranger(self):
        self.columns["comm"] = [77] * 300
        self.assertTrue(self.differences())

    def test_equal_times_are_no_order(self):
        self.columns["send_begin"] = [0] * 300
        self.assertTrue(self.differences())


class AnswersOnPaper(unittest.TestCase):
    """The tables agree with the formulas in the programs' heads."""

    def test_totals(self):
        self.assertEqual(paper.total(paper.ring(4, 100)), 400)
        self.assertEqual(paper.total(paper.halo2d((3, 2), 5)), 2 * 5 * ((3 - 1) * 2 + 3 * (2 - 1)))
        self.assertEqual(paper.total(paper.halo3d((2, 2, 1), 7)), 6 * 4 * 7)
        self.assertEqual(paper.total(paper.cg_pattern(16, 3)), 16 * (3 * 2 + 1) * 3)
        self.assertEqual(paper.total(paper.cg_pattern(32, 1)), 32 * (3 * 3 + 1))
        self.assertEqual(paper.total(paper.persistent_halo(4, 9)), 2 * 4 * 9)
        self.assertEqual(paper.total(paper.cancel_and_free(4, 20)), 6 * 20 * 2)
        self.assertEqual(paper.total(paper.intercomm(5, 2)), 2 * 3 * 2 * 2 + 5)
        self.assertEqual(paper.total(paper.subcomms(4, 1)), 11 * 4 - 2 - 2 - 2 + 4)

    def test_cg_partners_are_mutual(self):
        for ranks in (2, 4, 8, 16, 32, 64):
            table = paper.cg_pattern(ranks, 1)
            for source, destination, tag, size in table:
                self.assertEqual(table[(source, destination, tag, size)], table[(destination, source, tag, size)])


if __name__ == "__main__":
    harness.main()
