"""The large tables of a dump: compressed chunks of differences (FORMAT.md), decoded on all cores, only the chunks and
columns that are asked for."""
from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy

from .columns import TABLES
from .file import Columns, read_table, sound
from .inflate import inflate

MOST_ROWS_PER_CHUNK = 1 << 20
ROWS_AT_ONCE = 1 << 18
CORES = len(os.sched_getaffinity(0))

# What each table is made of: the column of steps, and of which columns as stored each one follows.
STEPS = {"messages": "recv_end_step", "collectives": "end_step", "calls": "begin_step"}
SOURCES = {
    "messages": {"recv_end": (), "send_begin": ("send_to_end",), "send_end": ("sent_to_end",),
                 "recv_wait": ("wait_to_end",), "recv_post": ("wait_to_end", "post_to_wait")},
    "collectives": {"end": (), "begin": ("begin_to_end",), "awaited_begin": ("begin_to_end", "begin_to_awaited")},
    "calls": {"begin": (), "end": ("duration",), "outside": ("duration", "outside_step")},
}


def stored_columns(table: str, wanted: Iterable[str]) -> list[str]:
    """The columns as stored that `wanted` follow from."""
    names = set(wanted)
    times = names & SOURCES[table].keys()
    needed = (names - times).union(*(SOURCES[table][name] for name in times))
    return sorted(needed | ({STEPS[table]} if times else set()))


def unzigzag(column: numpy.ndarray) -> numpy.ndarray:
    """0 1 2 3 4 stand for 0 -1 1 -2 2."""
    odd = (column & 1).view(numpy.int64)
    numpy.negative(odd, out=odd)
    column = (column >> 1).view(numpy.int64)
    column ^= odd
    return column


def unpacked(table: str, stored: Columns, wanted: Iterable[str]) -> Columns:
    """Columns of shape (chunks, rows of a chunk): steps begin anew in each chunk. Differences wrap around."""
    wanted = set(wanted)
    kinds = {name: unit for name, unit, *_ in TABLES[table]}
    stored = {name: unzigzag(column) if "zigzag" in kinds[name] else column for name, column in stored.items()}
    columns = {name: stored[name] for name in wanted if name in stored}
    if STEPS[table] in stored:
        last = numpy.cumsum(stored[STEPS[table]], axis=1)  # of each table: recv_end, end, begin
    if table == "messages" and STEPS[table] in stored:
        columns["recv_end"] = last
        if "send_begin" in wanted:
            columns["send_begin"] = last - stored["send_to_end"]
        if "send_end" in wanted:
            columns["send_end"] = last - stored["sent_to_end"]
        if wanted & {"recv_wait", "recv_post"}:
            columns["recv_wait"] = last - stored["wait_to_end"]
        if "recv_post" in wanted:
            columns["recv_post"] = columns["recv_wait"] - stored["post_to_wait"]
    if table == "collectives" and STEPS[table] in stored:
        columns["end"] = last
        if wanted & {"begin", "awaited_begin"}:
            columns["begin"] = last - stored["begin_to_end"]
        if "awaited_begin" in wanted:
            columns["awaited_begin"] = columns["begin"] + stored["begin_to_awaited"]
    if table == "calls" and STEPS[table] in stored:
        columns["begin"] = last
        if wanted & {"end", "outside"}:
            columns["end"] = last + stored["duration"]
        if "outside" in wanted:
            before = numpy.zeros_like(last)
            before[:, 1:] = columns["end"][:, :-1]
            columns["outside"] = stored["outside_step"] + last - before
    return {name: columns[name] for name in wanted}


class Chunks:
    """A compressed table of an open file."""

    def __init__(self, root: h5py.File, table: str) -> None:
        self.table, self.group = table, root[table]
        self.in_chunks, self.newer, copy = (int(number) for number in self.group.attrs["rows"])
        self.per_chunk = int(self.group[STEPS[table]].chunks[0])
        if not 1 <= self.per_chunk <= MOST_ROWS_PER_CHUNK or min(self.in_chunks, self.newer) < 0:
            raise ValueError(f"the rows of {table} are not what they can be")
        self.chunks = -(-self.in_chunks // self.per_chunk)
        if self.newer > self.per_chunk or self.chunks > self.group[STEPS[table]].id.get_num_chunks():
            raise ValueError(f"rows of {table} are missing")
        self.tail = root["tails"][table][str(copy)] if self.newer else None
        times = root.get("chunk_times")
        self.times = read_table(times, table, "chunk_times") if times is not None and table in times else None

    def within(self, begin: int, end: int) -> numpy.ndarray:
        """The chunks that can have rows of which a part lies in [begin, end), ns. Chunks without times can, too."""
        chosen = numpy.ones(self.chunks, dtype=bool)
        if self.times is not None:
            known = min(self.chunks, len(self.times["earliest_ns"]))
            earliest, latest = self.times["earliest_ns"][:known], self.times["latest_ns"][:known]
            chosen[:known] = (latest >= begin) & (earliest < end)
        return numpy.flatnonzero(chosen)

    def _column(self, name: str, chunks: list[int]) -> numpy.ndarray:
        """Of shape (chunks, rows of a chunk)."""
        kind = next(kind for column, _, kind, _ in TABLES[self.table] if column == name)
        dataset = self.group[name]
        rows, size = self.per_chunk, dataset.dtype.itemsize
        if dataset.chunks != (rows,) or dataset.shape[0] < self.in_chunks:
            raise ValueError(f"column {name} of {self.table} has not the rows that others have")
        deflated = dataset.compression == "gzip" and dataset.shuffle and not dataset.fletcher32
        found = numpy.zeros((len(chunks), rows, size), dtype=numpy.uint8)
        before: bytes | None = None
        for place, chunk in enumerate(chunks):
            if not deflated:  # written anew by some other program
                plain = dataset[chunk * rows:(chunk + 1) * rows]
                found[place, :len(plain)] = plain.view(numpy.uint8).reshape(-1, size)
                continue
            skipped, packed = dataset.id.read_direct_chunk((chunk * rows,))
            if packed == before:  # a column that stays as it is
                found[place] = found[place - 1]
                continue
            before = packed
            if skipped != 0:
                raise ValueError(f"a chunk of {self.table}/{name} is not compressed as others are")
            self._unshuffle(inflate(packed, rows * size).reshape(size, rows), found[place])
        return sound(found.reshape(-1).view(dataset.dtype), kind).reshape(len(chunks), rows)

    @staticmethod
    def _unshuffle(planes: numpy.ndarray, rows: numpy.ndarray) -> None:
        """First all lowest bytes, then all second ones, ...: the upper ones are mostly 0, as `rows` is."""
        for byte, most in enumerate(planes.max(axis=1).tolist()):
            if most:
                rows[:, byte] = planes[byte]

    def read(self, wanted: Iterable[str], chunks: numpy.ndarray) -> Columns:
        """Of these chunks, and of the rows that are in none yet."""
        wanted = list(wanted)
        names = stored_columns(self.table, wanted)
        at_once = max(1, ROWS_AT_ONCE // self.per_chunk)

        def decode(piece: list[int]) -> Columns:
            shaped = unpacked(self.table, {name: self._column(name, piece) for name in names}, wanted)
            rows = len(piece) * self.per_chunk
            if piece[-1] == self.chunks - 1:  # the last one need not be full
                rows -= self.chunks * self.per_chunk - self.in_chunks
            return {name: column.reshape(-1)[:rows] for name, column in shaped.items()}

        pieces = [chunks[first:first + at_once].tolist() for first in range(0, len(chunks), at_once)]
        if CORES > 1 and len(pieces) > 1:
            with ThreadPoolExecutor(CORES) as pool:
                parts = list(pool.map(decode, pieces))
        else:
            parts = [decode(piece) for piece in pieces]
        parts.append(self._read_tail(names, wanted))
        return {name: numpy.concatenate([part[name] for part in parts]) for name in wanted}

    def _read_tail(self, names: list[str], wanted: list[str]) -> Columns:
        kinds = {name: kind for name, _, kind, _ in TABLES[self.table]}
        stored = {}
        for name in names:
            column = self.tail[name][:self.newer] if self.tail is not None else numpy.zeros(0, kinds[name])
            if len(column) != self.newer:
                raise ValueError(f"rows of the tail of {self.table}/{name} are missing")
            stored[name] = sound(column, kinds[name]).reshape(1, -1)
        return {name: column.reshape(-1) for name, column in unpacked(self.table, stored, wanted).items()}
