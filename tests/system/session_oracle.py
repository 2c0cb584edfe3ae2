"""Compares the dump of a session (attach .. detach) with what tests/interpose/attach_load wrote down.

The k-th message of a tag from a rank has 1 + k % 2000 bytes, and the program wrote when it sent it, by CLOCK_REALTIME,
in which the origin of the dump's time axis is told. A stored row has the receiver's bytes and the sender's time: in a
wrong pair they differ, whatever the tool thinks of its turn. A message that is missing shows as a number without a row.
"""
import pathlib
import struct

import numpy

SENT = numpy.dtype([("before", "i8"), ("tag", "i4"), ("destination", "i4"), ("number", "i8")])
LARGEST = 2000


class Sessions:
    """What a job wrote down. `slack_ns`: by how much times may differ; messages of one tag and rank that are closer are
    told apart by their sizes only."""

    def __init__(self, directory, ranks, slack_ns=20_000):
        self.slack_ns = slack_ns
        self.sent = {}
        for rank in range(ranks):
            rows = numpy.fromfile(pathlib.Path(directory) / f"sent.{rank}", SENT)
            for tag in numpy.unique(rows["tag"]):
                self.sent[rank, int(tag)] = rows[rows["tag"] == tag]

    def faults(self, rows, origin, since=None, until=None):
        """Sentences on what is wrong with a dump's rows; those sent from `since` to `until` must all be there. All
        times are ns of CLOCK_REALTIME; `origin`: the dump's."""
        found = []
        known = 0
        for (rank, tag), sent in self.sent.items():
            mine = (rows.source == rank) & (rows.tag == tag)
            known += int(mine.sum())
            found += self.of_channel(f"rank {rank} tag {tag}", sent, rows.destination[mine], rows.bytes[mine],
                                     rows.send_begin[mine] + origin, since, until)
        if known != len(rows):
            found.append(f"{len(rows) - known} rows that nobody sent")
        return found

    def of_channel(self, name, sent, destination, sizes, begin, since, until):
        before = sent["before"]
        if since is None:  # killed: the last that it did was not written any more
            known = begin < before[-1]
            destination, sizes, begin = destination[known], sizes[known], begin[known]
        if len(sizes) == 0:
            numbers = numpy.empty(0, numpy.int64)
            wrong = numpy.zeros(0, bool)
        else:
            # Of those sent about then, the one with the row's size that is nearest in time.
            last = numpy.searchsorted(before, begin + self.slack_ns, "right") - 1
            first = numpy.searchsorted(before, begin - self.slack_ns, "right") - 1
            numbers = last - (1 + last - sizes) % LARGEST
            wrong = (numbers < numpy.maximum(first, 0)) | (destination != sent["destination"][0])
        found = []
        if wrong.any():
            row = int(numpy.flatnonzero(wrong)[0])
            found.append(f"{name}: {int(wrong.sum())} of {len(wrong)} pairs are wrong, "
                         f"first {sizes[row]} bytes, sent at {begin[row]}")
        unique, times = numpy.unique(numbers[~wrong], return_counts=True)
        if (times > 1).any():
            found.append(f"{name}: {int((times > 1).sum())} messages stand there more than once")
        if since is not None:
            expected = numpy.flatnonzero((before > since) & (before < until))
            missing = expected[~numpy.isin(expected, unique)]
            if len(missing):
                found.append(f"{name}: {len(missing)} of {len(expected)} messages are missing, "
                             f"first number {missing[0]}, "
                             f"sent {(int(before[missing[0]]) - since) / 1e6:.3f} ms after the stated point")
        return found

    def count(self, since, until):
        return sum(int(((sent["before"] > since) & (sent["before"] < until)).sum()) for sent in self.sent.values())


assert SENT.itemsize == struct.calcsize("qiiq")
