"""A dump as HDF5 (analysis/store/FORMAT.md): its tables, with the columns that are known today."""
from __future__ import annotations

import fcntl
import os
import pathlib
import struct
from collections.abc import Callable
from typing import Any, TypeVar

import h5py
import numpy

from .columns import FORMER_NAMES, TABLES
from .error import Error

T = TypeVar("T")
Columns = dict[str, numpy.ndarray]

SIGNATURE = b"\x89HDF\r\n\x1a\n"
NEWEST_VERSION = 2
LOOKS = 10  # at a file that changes meanwhile
# What h5py raises at a damaged file, and numpy and zlib at what it holds.
DAMAGE = (OSError, KeyError, ValueError, RuntimeError, TypeError, IndexError, AttributeError, OverflowError,
          MemoryError)


def text(value: Any) -> str:
    """A fixed-length text, without its padding."""
    raw = value.tobytes() if isinstance(value, numpy.ndarray) else value
    return (raw if isinstance(raw, bytes) else str(raw).encode()).split(b"\0")[0].decode(errors="replace")


def sound(column: numpy.ndarray, kind: str) -> numpy.ndarray:
    """As the type that it has today, without numbers that are not finite."""
    column = column.astype(kind, copy=False)
    if column.dtype.kind == "f" and not numpy.isfinite(column).all():
        column = numpy.where(numpy.isfinite(column), column, 0)
    return column


def same(one: Any, other: Any) -> bool:
    """Whether two looks at a file found the same."""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, numpy.ndarray):
        return isinstance(other, numpy.ndarray) and numpy.array_equal(one, other)
    return bool(one == other)


class File:
    """The file is opened for each look: a running job may write it, and nothing is kept open meanwhile."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        try:
            with open(self.path, "rb") as file:
                ours = file.read(len(SIGNATURE)) == SIGNATURE
        except FileNotFoundError:
            raise Error(f"no such file: {self.path}") from None
        except IsADirectoryError:
            raise Error(f"{self.path} is not a file: give the path of a dump") from None
        except OSError as error:
            raise Error(f"cannot read {self.path}: {error.strerror}") from None
        if not ours:
            raise Error(f"{self.path} is not a dump of pclscope")
        self.version = (0, 0)
        self.version = self.look(self._version)

    def _version(self, root: h5py.File) -> tuple[int, int]:
        if text(root.attrs.get("format", b"")) != "pclscope":
            raise Error(f"{self.path} is not a dump of pclscope")
        major = int(root.attrs["version_major"])
        if not 1 <= major <= NEWEST_VERSION:
            raise Error(f"{self.path} has version {major} of the format, this package reads versions 1 to "
                        f"{NEWEST_VERSION}: use the package of the pclscope that wrote it")
        return major, int(root.attrs.get("version_minor", 0))

    def is_being_written(self) -> bool:
        """A living writer holds a lock."""
        with open(self.path, "rb") as file:
            try:
                lock = fcntl.fcntl(file, fcntl.F_OFD_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
            except OSError:
                return True  # a file system without locks
        return struct.unpack("hhqqi4x", lock)[0] != fcntl.F_UNLCK

    def _once(self, read: Callable[[h5py.File], T]) -> T:
        with h5py.File(self.path, "r", locking=False) as root:
            return read(root)

    def look(self, read: Callable[[h5py.File], T]) -> T:
        """What `read` finds. Of a file that changes meanwhile what two looks agree on: each state of it is whole, but
        what HDF5 remembers of one may not fit the next."""
        damage: BaseException | None = None
        before: list[T] = []
        for _ in range(LOOKS):
            try:
                if not self.is_being_written():
                    return self._once(read)
                found = self._once(read)
                if before and same(before[0], found):
                    return found
                before = [found]
            except Error:
                raise
            except FileNotFoundError:
                raise Error(f"no such file: {self.path}") from None
            except DAMAGE as error:
                damage = error
                if not self.is_being_written():
                    break
        if damage is None:
            raise Error(f"{self.path} changes while it is read; try again")
        raise Error(f"{self.path} is damaged: {self._what(damage)}") from damage

    @staticmethod
    def _what(damage: BaseException) -> str:
        words = " ".join(str(damage).strip("'\"").split())
        if "truncated file" in words:
            return "its end is cut off; `pclscope inspect` shows what is left"
        return words or type(damage).__name__


def rows_in(group: h5py.Group, least_bytes: int) -> int:
    """How many rows of a table count: not more than there can be."""
    rows = int(group.attrs["rows"])
    if rows < 0 or rows * least_bytes > pathlib.Path(group.file.filename).stat().st_size:
        raise ValueError(f"{group.name} has {rows} rows")
    return rows


def read_table(parent: h5py.Group, name: str, of: str | None = None) -> Columns:
    """The columns of a table as known today; without rows when the dump is older than the table. `of`: of which."""
    kinds = TABLES[of or name]
    group = parent.get(name)
    if group is None:
        return {column: numpy.zeros(0, kind) for column, _, kind, _ in kinds}
    rows = rows_in(group, 1)
    columns = {}
    for column, _, kind, default in kinds:
        stored = group.get(column)
        if stored is None:
            stored = group.get(FORMER_NAMES.get((name, column), ""), None) if (name, column) in FORMER_NAMES else None
        if stored is None:
            columns[column] = numpy.full(rows, default, kind)
            continue
        if stored.ndim != 1 or stored.shape[0] < rows:
            raise ValueError(f"column {column} of {group.name} has no {rows} rows")
        rows_in(group, stored.dtype.itemsize)
        columns[column] = sound(stored[:rows], kind)
    return columns
