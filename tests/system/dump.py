"""Reads a pclscope dump with h5py alone, as anybody could (layout: analysis/store/FORMAT.md).

The only place of the system tests that knows the layout.
"""
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


def read_messages(path):
    with h5py.File(path, "r") as file:
        group = file["messages"]
        count = int(group.attrs["rows"])  # columns may be longer: what lies behind is not committed
        columns = {name: group[name][:count] for name in COLUMNS}
        assert all(len(column) == count for column in columns.values()), "a column is shorter than `rows`"
        return Rows(columns)


def is_complete(path):
    with h5py.File(path, "r") as file:
        return bool(file.attrs["complete"])


def rows_from(columns):
    """Rows of given lists, for tests of the tests."""
    return Rows({name: numpy.array(columns[name], dtype=numpy.int64) for name in columns})


def set_version(path, version):
    """Makes a dump claim another version of the format."""
    with h5py.File(path, "r+") as file:
        file.attrs["version_major"] = numpy.int32(version)
