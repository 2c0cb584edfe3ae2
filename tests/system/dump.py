"""Reads a pclscope dump with h5py alone, as anybody could (layout: analysis/store/FORMAT.md).

The only place of the system tests that knows the layout.
"""
import collections
import pathlib
import re
import sys

try:
    import h5py
    import numpy
except ImportError:
    print("skipped: this test needs h5py and numpy (Debian: python3-h5py for /usr/bin/python3)")
    sys.exit(77)

UNSEEN_COMPLETION = 1 << 31
COLUMNS = ("comm", "source", "destination", "tag", "flags", "bytes", "send_begin", "send_end", "recv_post", "recv_wait",
           "recv_end")


class Rows:
    """The columns of /messages as arrays of equal length; times in nanoseconds."""

    def __init__(self, columns):
        self.__dict__.update(columns)
        self.count = len(self.comm)

    def __len__(self):
        return self.count

    def channels(self):
        """{(source, destination, tag, bytes): number of messages}"""
        found = {}
        for key in zip(self.source.tolist(), self.destination.tolist(), self.tag.tolist(), self.bytes.tolist()):
            found[key] = found.get(key, 0) + 1
        return found


def read_packed(file, name, step):
    """The columns of a compressed table, and the times that `step` is the difference of."""
    group = file[name]
    full, newer, copy = (int(number) for number in group.attrs["rows"])  # columns may be longer: that is not committed
    tail = file["tails"][name][str(copy)]
    columns = {column: numpy.concatenate([group[column][:full], tail[column][:newer]]) for column in group}
    assert all(len(column) == full + newer for column in columns.values()), "a column is shorter than `rows`"
    for column in columns:
        if "zigzag" in group[column].attrs["units"].decode():
            stored = columns[column]
            columns[column] = (stored >> 1).astype(numpy.int64) ^ -(stored & 1).astype(numpy.int64)
    steps, chunk = columns.pop(step), group[step].chunks[0]
    end = numpy.cumsum(steps)
    return columns, end - numpy.repeat((end - steps)[::chunk], chunk)[:len(end)]


def read_messages(path):
    with h5py.File(path, "r") as file:
        columns, end = read_packed(file, "messages", "recv_end_step")
    columns["recv_end"] = end
    columns["send_begin"] = end - columns["send_to_end"]
    columns["send_end"] = end - columns["sent_to_end"]
    columns["recv_wait"] = end - columns["wait_to_end"]
    columns["recv_post"] = columns["recv_wait"] - columns["post_to_wait"]
    return Rows({name: columns[name] for name in COLUMNS})


def stored_messages(path):
    """How many there are in a dump that is still being written; 0 when the look falls amid a change."""
    try:
        with h5py.File(path, "r") as file:
            return sum(int(number) for number in file["messages"].attrs["rows"][:2])
    except (KeyError, OSError, RuntimeError):
        return 0


def read_windows(path, *columns):
    with h5py.File(path, "r") as file:
        rows = int(file["windows"].attrs["rows"])
        return [file["windows"][column][:rows] for column in columns]


def read_collectives(path):
    """The columns of /collectives as arrays of equal length, by name; times in nanoseconds."""
    with h5py.File(path, "r") as file:
        columns, end = read_packed(file, "collectives", "end_step")
    columns["end"] = end
    columns["begin"] = end - columns.pop("begin_to_end")
    columns["awaited_begin"] = columns["begin"] + columns.pop("begin_to_awaited")
    # From when on the rank could do nothing but wait: of a nonblocking one in the call that completed it.
    columns["wait_begin"] = numpy.where(columns["nonblocking"] == 1, end - columns["completing"], columns["begin"])
    return columns


def read_calls(path):
    """The columns of /calls as arrays of equal length, by name; times in nanoseconds."""
    with h5py.File(path, "r") as file:
        columns, columns["begin"] = read_packed(file, "calls", "begin_step")
        chunk = file["calls/rank"].chunks[0]
    columns["end"] = columns["begin"] + columns.pop("duration")
    before = numpy.concatenate([[0], columns["end"][:-1]])
    before[::chunk] = 0
    columns["outside"] = columns.pop("outside_step") + columns["begin"] - before
    return columns


def counted_functions(path):
    """{MPI function: how often it was called}, as they were counted beside the stored calls."""
    with h5py.File(path, "r") as file:
        functions = file["summary"][str(int(file["summary"].attrs["current"]))]["functions"]
        rows = int(functions.attrs["rows"])
        return {name.decode(): int(calls) for name, calls in zip(functions["name"][:rows], functions["calls"][:rows])}


def text(path, table):
    """A text that is a table of bytes in the summary."""
    with h5py.File(path, "r") as file:
        rows = file["summary"][str(int(file["summary"].attrs["current"]))][table]
        return bytes(rows["byte"][:int(rows.attrs["rows"])]).decode()


def forget_calls(path):
    """Makes a dump one as version 2.5 had them."""
    with h5py.File(path, "r+") as file:
        del file["calls"], file["tails/calls"], file["chunk_times/calls"]
        file.attrs["version_minor"] = numpy.int32(5)


def function_names():
    """{number: name without MPI_}, as events and files have them."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "interpose/record/functions.def").read_text()
    return {int(number): name for number, name in re.findall(r"PCLSCOPE_FUNCTION\((\d+), (\w+)\)", text)}


def is_complete(path):
    with h5py.File(path, "r") as file:
        return bool(file.attrs["complete"])


Torn = collections.namedtuple("Torn", "closed complete ranks missing")


def torn(path):
    """What a dump says of its completeness: `missing` is {rank: from when on, s}. `ranks`: how many it speaks of."""
    with h5py.File(path, "r") as file:
        table = file["summary"][str(file["summary"].attrs["current"])]["ranks"]
        rows = int(table.attrs["rows"])
        columns = [table[name][:rows].tolist() for name in ("rank", "missing", "missing_from_s")]
        missing = {rank: since for rank, is_missing, since in zip(*columns) if is_missing}
        return Torn(bool(file.attrs["closed"]), bool(file.attrs["complete"]), rows, missing)


def totals(path):
    """The numbers of the newest summary, by name."""
    with h5py.File(path, "r") as file:
        return dict(file["summary"][str(file["summary"].attrs["current"])].attrs)


def time_origin(path):
    """CLOCK_REALTIME in ns at 0 of the dump's time axis. Of the current summary only: one that was written before the
    first rank's clock was known has an axis of its own."""
    with h5py.File(path, "r") as file:
        return int(file["summary"][str(file["summary"].attrs["current"])].attrs["time_origin_realtime_ns"])


def dropped(path):
    """Events that the ranks had no room for."""
    with h5py.File(path, "r") as file:
        return max(int(copy["ranks"]["dropped_events"][:].sum())
                   for copy in file["summary"].values() if "ranks" in copy)


def rows_from(columns):
    """Rows of given lists, for tests of the tests."""
    return Rows({name: numpy.array(columns[name], dtype=numpy.int64) for name in columns})


def set_version(path, version):
    """Makes a dump claim another version of the format."""
    with h5py.File(path, "r+") as file:
        file.attrs["version_major"] = numpy.int32(version)


class Clocks:
    """The clocks of a dump's nodes, as they were known when the run was over (FORMAT.md, "clock_corrections")."""

    def __init__(self, path):
        with h5py.File(path, "r") as file:
            summary = file["summary"][str(file["summary"].attrs["current"])]
            table = {name: numpy.array(column[:summary["clock_corrections"].attrs["rows"]])
                     for name, column in summary["clock_corrections"].items()}
            nodes = summary["node_of_rank"]
            self.node_of_rank = nodes["node"][:nodes.attrs["rows"]]
        self.points = {node: {name: column[table["node"] == node] for name, column in table.items()}
                       for node in numpy.unique(table["node"])}

    def at(self, ranks, times_ns, what):
        """`what` ("correction_s", "error_s") of these ranks' clocks at these times, in ns."""
        values, nodes = numpy.zeros(len(times_ns)), self.node_of_rank[ranks]
        for node, points in self.points.items():
            here = nodes == node
            values[here] = 1e9 * numpy.interp(times_ns[here] / 1e9, points["at_s"], points[what])
        return values

    def most_wrong_s(self, rank):
        """By how much a time of this rank may stand in the wrong place on the axis of all: what its clock was corrected
        by afterwards, and the error that is left."""
        points = self.points.get(self.node_of_rank[rank], {"correction_s": [], "error_s": []})
        return max((abs(c) + e for c, e in zip(points["correction_s"], points["error_s"])), default=0.0)

    def corrected(self, ranks, times_ns):
        return times_ns + self.at(ranks, times_ns, "correction_s")
