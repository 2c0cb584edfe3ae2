"""Tests of the tests: the comparison with the oracle accepts the truth and finds every planted defect.
Depends on: nothing."""
import pathlib
import random
import tempfile
import types

import dump
import harness
from harness import checks
import numpy
import oracle
import paper

RANKS = 3
LABELS = {0: (1, [0, 1, 2]), 512: (77, [0, 2])}  # label: (communicator id, members)
TOOL_BEGAN = 5000  # the oracle's clock when the tool's shows 0


def write_records(directory, name, dtype, records):
    for rank, lines in enumerate(records):
        values = numpy.zeros(len(lines), dtype)
        for i, line in enumerate(lines):
            for field, value in line.items():
                values[i][field] = value
        values.tofile(directory / f"{name}.{rank}")


def write_program(directory, seed):
    """A made-up run: writes the oracle's files and returns the true rows as lists. Each call takes 400 ns of 1000."""
    random.seed(seed)
    sent = [[] for _ in range(RANKS)]
    received = [[] for _ in range(RANKS)]
    columns = {name: [] for name in dump.COLUMNS}
    at = 0
    for i in range(300):
        at += 1000
        label = random.choice(list(LABELS)) if i >= 4 * RANKS else 0
        comm, members = LABELS[label]
        source, destination = random.choice(members), random.choice(members)
        tag, size = random.randrange(3), random.choice([0, 40, 41, 42])
        if i < 4 * RANKS:
            source = destination = i % RANKS
            tag, size = oracle.TO_MYSELF, 24
        post = at + 10_000_000
        number = len(sent[source])
        sent[source].append(dict(before=at + TOOL_BEGAN, after=at + 400 + TOOL_BEGAN, number=number, label=label,
                                 destination=destination, tag=tag, bytes=size))
        received[destination].append(dict(before=post + TOOL_BEGAN, after=post + 400 + TOOL_BEGAN,
                                          number=number if size else oracle.EMPTY, label=label, source=source, tag=tag,
                                          bytes=size))
        row = dict(comm=comm, source=source, destination=destination, tag=tag, bytes=size, send_begin=at + 20,
                   send_end=at + 350, recv_post=post + 30)
        for name in dump.COLUMNS:
            columns[name].append(row.get(name, 0))
    order = list(range(300))
    random.shuffle(order)  # the order of rows means nothing
    for name in dump.COLUMNS:
        columns[name] = [columns[name][i] for i in order]
    write_records(directory, "sent", oracle.SENT, sent)
    write_records(directory, "received", oracle.RECEIVED, received)
    for rank in range(RANKS):
        lines = [f"{label} " + " ".join(map(str, members)) for label, (_, members) in LABELS.items() if rank in members]
        (directory / f"comms.{rank}").write_text("\n".join(lines) + "\n")
    return columns


class ComparingWithTheOracle(checks.Test):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.number = self.seed()
        self.columns = write_program(self.directory, self.number)
        self.oracle = oracle.Oracle(directory.name, RANKS)

    def differences(self, required=None):
        return oracle.compare(dump.rows_from(self.columns), self.oracle, True, required)

    def row(self, *, with_payload=True):
        return next(i for i, (tag, size) in enumerate(zip(self.columns["tag"], self.columns["bytes"]))
                    if tag != oracle.TO_MYSELF and (size > 0) == with_payload)

    def assertFound(self, times=1):
        self.assertGreaterEqual(len(self.differences()), times, f"seed {self.number}")

    def test_truth_is_accepted(self):
        self.assertEqual(self.oracle.faults, [])
        self.assertEqual(self.differences(), [], f"seed {self.number}")

    def exchange(self, column, first, second):
        values = self.columns[column]
        values[first], values[second] = values[second], values[first]

    def two_of_one_channel(self, *more):
        names = ("comm", "source", "destination", "tag", *more)
        keys = list(zip(*(self.columns[name] for name in names)))
        first = next(i for i, key in enumerate(keys) if keys.count(key) > 1 and key[3] != oracle.TO_MYSELF)
        return first, keys.index(keys[first], first + 1)

    def test_two_messages_of_one_channel_exchanged(self):
        self.exchange("recv_post", *self.two_of_one_channel())
        self.assertFound(2)

    def test_two_messages_of_one_channel_and_size_exchanged(self):
        self.exchange("send_begin", *self.two_of_one_channel("bytes"))
        self.assertFound(2)

    def test_row_stored_twice(self):
        first, second = self.two_of_one_channel("bytes")
        for name in dump.COLUMNS:
            self.columns[name][second] = self.columns[name][first]
        self.assertFound(2)

    def test_wrong_tag(self):
        self.columns["tag"][self.row()] += 1
        self.assertFound(2)

    def test_wrong_bytes(self):
        self.columns["bytes"][self.row(with_payload=False)] += 1
        self.assertFound(2)

    def test_time_outside_the_call(self):
        self.columns["send_begin"][self.row()] += 600
        self.assertFound(2)

    def test_missing_row(self):
        row = self.row()
        for name in dump.COLUMNS:
            del self.columns[name][row]
        self.assertFound()
        self.assertEqual(self.differences(numpy.zeros(300, bool)), [], "no row is required")

    def test_communicator_with_two_ids(self):
        self.columns["comm"][self.columns["comm"].index(77)] = 78
        self.assertFound()

    def test_communicator_used_by_a_stranger(self):
        row = next(i for i in range(300) if 1 in (self.columns["source"][i], self.columns["destination"][i])
                   and self.columns["tag"][i] != oracle.TO_MYSELF)
        self.columns["comm"][row] = 77
        self.assertFound()

    def spoil(self, name, dtype, change):
        path = self.directory / f"{name}.0"
        records = numpy.fromfile(path, dtype)
        change(records)
        records.tofile(path)
        self.assertTrue(oracle.Oracle(self.directory, RANKS).faults, f"seed {self.number}")

    def test_program_that_lost_a_message(self):
        self.spoil("received", oracle.RECEIVED,
                   lambda records: records["source"].put(20, (records["source"][20] + 1) % 3))

    def test_message_that_overtook_another(self):
        def change(records):
            told = numpy.flatnonzero(records["number"] != oracle.EMPTY)
            records["number"][told[10]] += 1
        self.spoil("received", oracle.RECEIVED, change)

    def test_few_rows_are_tied_by_ends_and_receives_too(self):
        """Four of eight messages to oneself are stored (as once on a busy machine). Begins alone fit the first four."""
        tool, right = 7_000, 4_350_000  # right: of the tool's first moment, on the oracle's clock
        begin, end = numpy.array([0, 2264, 2738, 3178]), numpy.array([1696, 2509, 2978, 3417])
        before = numpy.r_[[0, 13603, 14569, 15039], right + begin - [8129, 144, 25, 0]]
        after = numpy.r_[[12996, 14251, 14912, 15352], right + end + [215, 88, 83, 70]]
        post = numpy.r_[after[:4] + 40, right + end + 200]
        same = {"source": 0, "destination": 0, "tag": oracle.TO_MYSELF, "bytes": 24}
        def table(rows, **columns):
            return types.SimpleNamespace(**{name: numpy.full(rows, value) for name, value in same.items()}, **columns)
        truth = table(8, send_before=before, send_after=after, post_before=post, post_after=post + 90,
                      wait_before=post, wait_after=post + 90, done=numpy.zeros(8, numpy.int64))
        received = tool + end + 200 + 30
        rows = table(4, send_begin=tool + begin, send_end=tool + end, recv_post=received, recv_wait=received,
                     recv_end=received + 20)
        row, true = oracle.tie(rows, truth)
        self.assertEqual((row.tolist(), true.tolist()), ([0, 1, 2, 3], [4, 5, 6, 7]))


class AnswersOnPaper(checks.Test):
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
