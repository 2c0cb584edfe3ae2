"""Every call over time and duration, and time inside each function over time (FORMAT.md, "Density of calls")."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy

from .error import Error

LAYOUT, PLACES_PER_SLICE = 1, 512


@dataclasses.dataclass(frozen=True)
class Density:
    """Entries as columns: `inside` has region (-1: none of those told apart), function, slice, ns; `calls` has
    function, slice, bin, starts, ends."""
    inside_ns: int
    calls_ns: int
    bins_per_octave: int
    inside: dict[str, numpy.ndarray]
    calls: dict[str, numpy.ndarray]

    def bin_begin_s(self, bins: numpy.ndarray) -> numpy.ndarray:
        """The shortest duration of a bin; the first one has all shorter ones, too."""
        return numpy.where(bins == 0, 0.0, numpy.exp2(bins / self.bins_per_octave) * 1e-9)


def _numbers(packed: numpy.ndarray) -> Iterator[int]:
    """Seven bits to a byte, the lowest first; bit 7 says that another byte follows."""
    value = shift = 0
    for byte in packed.tolist():
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
        elif shift > 63:
            raise Error("the density of calls is damaged")
    if shift:
        raise Error("the density of calls is damaged")


def _columns(names: tuple[str, ...], entries: list[tuple[int, ...]]) -> dict[str, numpy.ndarray]:
    columns = zip(*entries) if entries else [()] * len(names)
    return {name: numpy.array(column, dtype=numpy.int64) for name, column in zip(names, columns)}


def unpack(packed: numpy.ndarray) -> Density:
    inside: list[tuple[int, ...]] = []
    calls: list[tuple[int, ...]] = []
    head = packed[:4].tolist() if len(packed) else [LAYOUT, 20, 20, 8]
    if len(head) < 4 or head[0] != LAYOUT or max(head[1:3]) > 62 or head[3] not in (1, 2, 4, 8):
        raise Error("the density of calls is of another layout, or damaged")
    numbers = _numbers(packed[4:]) if len(packed) else iter([0, 0])
    try:
        while count := next(numbers):
            region, function, time_slice = next(numbers) - 1, next(numbers), -1
            for _ in range(count):
                time_slice += next(numbers) + 1
                inside.append((region, function, time_slice, next(numbers)))
        while count := next(numbers):
            function, place = next(numbers), -1
            for _ in range(count):
                place += next(numbers) + 1
                calls.append((function, *divmod(place, PLACES_PER_SLICE), next(numbers), next(numbers)))
        return Density(1 << head[1], 1 << head[2], head[3], _columns(("region", "function", "slice", "ns"), inside),
                       _columns(("function", "slice", "bin", "starts", "ends"), calls))
    except (StopIteration, OverflowError):
        raise Error("the density of calls is damaged") from None
