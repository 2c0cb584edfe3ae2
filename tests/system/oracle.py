"""Compares stored pairs with what the wildcard storm's receivers wrote down (format: tests/programs/wildcard_storm.cpp).

A stored row has no payload, so it is identified from both ends: the rows of a source in the order of send_begin are its
sends in program order, the rows of a destination in the order of recv_post are its receives in posting order (one
thread per process: both times rise strictly). The oracle says which send each receive really got.
"""
import pathlib

MOST = 20  # differences listed


def read_lines(path):
    return [line.split() for line in pathlib.Path(path).read_text().splitlines()]


class Oracle:
    def __init__(self, directory, ranks):
        directory = pathlib.Path(directory)
        self.ranks = ranks
        # sent[rank][i] = (label, destination, tag, bytes)
        self.sent = [[(label, int(to), int(tag), int(size)) for _, label, to, tag, size in
                      read_lines(directory / f"sent.{rank}")] for rank in range(ranks)]
        # received[rank][i] = (label, source, tag, bytes, index of the send)
        self.received = [[(label, int(source), int(tag), int(size), int(index)) for _, label, source, tag, size, index in
                          read_lines(directory / f"received.{rank}")] for rank in range(ranks)]
        self.members = {line[0]: frozenset(map(int, line[1:])) for rank in range(ranks)
                        for line in read_lines(directory / f"comms.{rank}")}

    def messages(self):
        return sum(len(receives) for receives in self.received)

    def is_consistent(self):
        """The receivers' and the senders' records fit each other: each send was received once."""
        taken = sorted((source, index) for receives in self.received for _, source, _, _, index in receives)
        return taken == sorted((rank, i) for rank in range(self.ranks) for i in range(len(self.sent[rank])))


def ordinals(owner, time, ranks, what, differences):
    """For each row: which one it is among its owner's rows in the order of time. Equal times are no order."""
    number = [0] * len(owner)
    for rank in range(ranks):
        rows = sorted((row for row in range(len(owner)) if owner[row] == rank), key=lambda row: time[row])
        for i, row in enumerate(rows):
            number[row] = i
            if i and time[rows[i - 1]] == time[row]:
                differences.append(f"rank {rank}: two rows with the same {what}: no order")
    return number


def compare(rows, oracle):
    """A list of differences, empty when every pair in the store is the oracle's."""
    differences = []
    source, destination = rows.source.tolist(), rows.destination.tolist()
    tag, size, comm = rows.tag.tolist(), rows.bytes.tolist(), rows.comm.tolist()
    if len(source) != oracle.messages():
        differences.append(f"{len(source)} stored messages, {oracle.messages()} received")
    sends = ordinals(source, rows.send_begin.tolist(), oracle.ranks, "send_begin", differences)
    receives = ordinals(destination, rows.recv_post.tolist(), oracle.ranks, "recv_post", differences)
    comm_of_label = {}
    for row in range(len(source)):
        at = receives[row]
        known = oracle.received[destination[row]]
        if at >= len(known):
            differences.append(f"rank {destination[row]} has more stored messages than it received")
            continue
        label, *truth = known[at]
        stored = [source[row], tag[row], size[row], sends[row]]
        if stored != truth:
            differences.append(f"rank {destination[row]}, receive {at} on {label}: stored (source, tag, bytes, send) "
                               f"{stored}, received {truth}")
        if comm_of_label.setdefault(label, comm[row]) != comm[row]:
            differences.append(f"{label}: two communicator ids, {comm_of_label[label]:#x} and {comm[row]:#x}")
    return differences + compare_communicators(comm, source, destination, comm_of_label, oracle)


def compare_communicators(comm, source, destination, comm_of_label, oracle):
    """One id per communicator, and nobody outside its members uses it."""
    differences = []
    if len(set(comm_of_label.values())) != len(comm_of_label):
        differences.append(f"communicators share an id: {comm_of_label}")
    label_of = {value: label for label, value in comm_of_label.items()}
    users = {}
    for row, value in enumerate(comm):
        users.setdefault(value, set()).update((source[row], destination[row]))
    for value, ranks in users.items():
        label = label_of.get(value)
        if label is None or not ranks <= oracle.members[label]:
            differences.append(f"communicator {value:#x} ({label}) is used by {sorted(ranks)}")
    return differences
