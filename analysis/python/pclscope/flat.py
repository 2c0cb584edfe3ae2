"""Reads the frames of a running job (analysis/wire/FORMAT.md, pclscope.fbs): tables of columns in a FlatBuffer.
Nothing is believed before it is checked: places outside the frame, sizes beyond the limits and columns of the wrong
length are damage."""
from __future__ import annotations

import struct
from typing import Any

import numpy

from .columns import TABLES
from .error import Error
from .file import sound

HEADER, MAGIC, MAJOR = 8, b"PCLW", 2
FRAME_BYTES, DECODED_BYTES = 256 << 20, 256 << 20
SNAPSHOT = 1  # of the union Body
NUMBERS = ("u1", "u2", "u4", "u8", "i4", "i8", "f4", "f8")  # vectors of a Column, behind its name
RUNS, TEXTS = 9, 10

WireTables = dict[str, tuple[int, dict[str, Any]]]


class Damaged(Exception):
    """The frame is not what it should be."""


class _Table:
    """A table of a FlatBuffer: fields by their place in pclscope.fbs."""

    def __init__(self, frame: bytes, at: int) -> None:
        self.frame, self.at = frame, at
        self.fields_at = at - self._number("<i", at)
        self.fields_bytes = self._number("<H", self.fields_at)

    def _number(self, kind: str, at: int) -> int:
        if at < 0 or at + struct.calcsize(kind) > len(self.frame):
            raise Damaged
        return struct.unpack_from(kind, self.frame, at)[0]

    def _place(self, field: int) -> int:
        """0: it is not there."""
        entry = 4 + 2 * field
        offset = self._number("<H", self.fields_at + entry) if entry + 2 <= self.fields_bytes else 0
        return self.at + offset if offset else 0

    def _target(self, at: int) -> int:
        return at + self._number("<I", at)

    def number(self, field: int, kind: str = "<I") -> int:
        place = self._place(field)
        return self._number(kind, place) if place else 0

    def table(self, field: int) -> _Table | None:
        place = self._place(field)
        return _Table(self.frame, self._target(place)) if place else None

    def vector(self, field: int, kind: str) -> numpy.ndarray | None:
        place = self._place(field)
        if not place:
            return None
        start = self._target(place)
        count, width = self._number("<I", start), numpy.dtype(kind).itemsize
        if start + 4 + count * width > len(self.frame):
            raise Damaged
        return numpy.frombuffer(self.frame, "<" + kind, count, start + 4)

    def targets(self, field: int) -> list[int]:
        """Of a vector of tables or texts."""
        offsets = self.vector(field, "u4")
        if offsets is None:
            return []
        start = self._target(self._place(field)) + 4
        return [start + 4 * place + offset for place, offset in enumerate(offsets.tolist())]

    def text_at(self, at: int) -> str:
        count = self._number("<I", at)
        if at + 4 + count > len(self.frame):
            raise Damaged
        return self.frame[at + 4:at + 4 + count].decode(errors="replace")

    def text(self, field: int) -> str:
        place = self._place(field)
        if not place:
            raise Damaged
        return self.text_at(self._target(place))

    def tables(self, field: int) -> list[_Table]:
        return [_Table(self.frame, at) for at in self.targets(field)]


def _column(column: _Table, rows: int) -> Any:
    values: Any = None
    for place, kind in enumerate(NUMBERS, 1):
        if (values := column.vector(place, kind)) is not None:
            break
    if values is None and (runs := column.vector(RUNS, "u8")) is not None:
        runs = runs.view("<u4").reshape(-1, 2)
        first, count = runs[:, 0].view("<i4").astype(numpy.int64), runs[:, 1].astype(numpy.int64)
        if int(count.sum()) != rows:
            raise Damaged
        within = numpy.arange(rows) - numpy.repeat(numpy.cumsum(count) - count, count)
        values = (numpy.repeat(first, count) + within).astype(numpy.int32)
    if values is None:
        values = [column.text_at(at) for at in column.targets(TEXTS)]
    if len(values) != rows:
        raise Damaged
    return values


def read_snapshot(frame: bytes) -> WireTables:
    """How many rows each table has, and its columns that are not all default values."""
    if frame[:4] != MAGIC or len(frame) < HEADER + 4:
        raise Error("what came is no message of pclscope")
    major = struct.unpack_from("<H", frame, 4)[0]
    if major != MAJOR:
        raise Error(f"the job speaks version {major} of the wire format, this package version {MAJOR}: use the package "
                    "of the pclscope that runs there")
    if len(frame) > FRAME_BYTES:
        raise Error("a message of the job is too large")
    body = frame[HEADER:]
    decoded = 0
    found: WireTables = {}
    try:
        root = _Table(body, struct.unpack_from("<I", body, 0)[0])
        snapshot = root.table(1)
        if root.number(0, "<B") != SNAPSHOT or snapshot is None:
            raise Damaged
        for one in snapshot.tables(0):
            rows, columns = one.number(1), {}
            for column in one.tables(2):
                decoded += 8 * rows
                if decoded > DECODED_BYTES:
                    raise Damaged
                columns[column.text(0)] = _column(column, rows)
            found.setdefault(one.text(0), (rows, columns))
    except (Damaged, struct.error, RecursionError):
        raise Error("a message of the job is damaged") from None
    return found


def rows_of(tables: WireTables, name: str) -> dict[str, numpy.ndarray]:
    """The columns of a table as a dump has them."""
    rows, columns = tables.get(name, (0, {}))
    kinds = TABLES[name]
    if rows * sum(numpy.dtype(kind).itemsize for _, _, kind, _ in kinds) > DECODED_BYTES:
        raise Error("a message of the job is damaged")
    found = {}
    for column, _, kind, default in kinds:
        values = columns.get(column)
        if values is None:
            found[column] = numpy.full(rows, default, kind)
        elif isinstance(values, list) or kind.startswith("S"):
            if not isinstance(values, list) or not kind.startswith("S"):
                raise Error("a message of the job is damaged")
            found[column] = numpy.array(values, dtype=object)
        else:
            found[column] = sound(values, kind)
    return found
