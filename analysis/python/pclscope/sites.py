"""Call sites: where in the source a call is, as `pclscope inspect` names it (docs/methods.md, "Call sites")."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

import numpy

from .file import Columns
from .function_name import same_function
from .table import Labels

LEAST_CALLERS, MOST_CALLED, MOST_OF_THEM = 3, 3, 0.9  # of a function that wraps calls of MPI
LONGEST_TEXT = 16384
MPI_LIBRARIES = ("libmpi.", "libmpi_", "libmpich", "libmpifort", "libmpicxx", "libpmpi", "libopen-")


@dataclasses.dataclass(frozen=True)
class Site:
    """`offset`: of the return address in `module`, as linked. `line` 0: no debug information."""
    id: int
    module: str
    offset: int
    function: str
    file: str
    line: int
    mpi_function: int
    caller: int

    @property
    def location(self) -> str:
        return f"{self.file}:{self.line}" if self.line > 0 else f"{self.module}+0x{self.offset:x}"

    @property
    def same_function(self) -> str:
        return same_function(self.function)


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def begins_a_program(site: Site) -> bool:
    module = _file_name(site.module)
    return module.startswith(("libc.so", "libpthread", "ld-linux")) or site.function == "_start"


def is_of_mpi(site: Site) -> bool:
    return _file_name(site.module).startswith(MPI_LIBRARIES)


class Sites:
    """All call sites of a run. A call that a library of MPI, or a wrapper, makes is shown as its caller's."""

    def __init__(self, sites: Iterable[Site]) -> None:
        self.of_id = {site.id: site for site in sorted(sites, key=lambda site: site.id)}
        self._shown = {call: dataclasses.replace(self.of_id[frame], mpi_function=self.of_id[call].mpi_function)
                       for call, frame in self._frames().items()}

    @staticmethod
    def stored(sites: Columns, modules: Columns, texts: numpy.ndarray) -> Sites:
        """Of a dump's tables. The last row of an id counts."""
        found = {}
        for row in zip(*(sites[name].tolist() for name in ("id", "module", "offset", "mpi_function", "line",
                                                           "function_begin", "function_count", "file_begin",
                                                           "file_count", "caller"))):
            number, module, offset, mpi_function, line, *function_and_file, caller = row
            if number == 0 or module >= len(modules["path_begin"]):
                continue
            path = int(modules["path_begin"][module]), int(modules["path_count"][module])
            parts = [path, tuple(function_and_file[:2]), tuple(function_and_file[2:])]
            if any(begin + count > len(texts) or count > LONGEST_TEXT for begin, count in parts):
                continue
            path, function, file = (texts[begin:begin + count].tobytes().decode(errors="replace")
                                    for begin, count in parts)
            found[number] = Site(number, path, offset, function, file, line, mpi_function,
                                 caller if caller < number else 0)
        return Sites(found.values())

    def _outer(self, inner: int) -> int:
        """The caller; 0 where there is nobody outside."""
        outer = self.of_id[inner].caller
        return outer if outer in self.of_id and outer < inner and not begins_a_program(self.of_id[outer]) else 0

    def _outwards(self, inner: int) -> Iterator[tuple[int, int]]:
        while outer := self._outer(inner):
            yield inner, outer
            inner = outer

    def _frames(self) -> dict[int, int]:
        """By id, the site that is shown for it."""
        frame = {number: number for number in self.of_id}
        calls = [site.id for site in self.of_id.values() if site.mpi_function != 0 and site.caller != 0]

        def leave_mpi() -> None:
            for call in calls:
                while is_of_mpi(self.of_id[frame[call]]) and (outer := self._outer(frame[call])):
                    frame[call] = outer

        leave_mpi()
        callers: dict[str, set[tuple[int, str]]] = {}
        for call in calls:
            for inner, outer in self._outwards(frame[call]):
                callers.setdefault(self.of_id[inner].same_function, set()).add(
                    (self.of_id[outer].offset, self.of_id[outer].module))
        wrappers = {name for name, places in callers.items() if name and len(places) >= LEAST_CALLERS}
        outside = {}
        for call in calls:
            inner, outer = frame[call], self._outer(frame[call])
            while outer and self.of_id[inner].same_function not in wrappers:
                inner, outer = outer, self._outer(outer)
            wrapper = self.of_id[inner].same_function
            while outer and self.of_id[outer].same_function == wrapper:  # recursive
                outer = self._outer(outer)
            if outer:
                outside[call] = outer
        if len(outside) >= MOST_OF_THEM * len(calls):
            frame.update(outside)
        else:
            self._leave_layers(calls, frame)
        leave_mpi()
        return frame

    def _leave_layers(self, calls: list[int], frame: dict[int, int]) -> None:
        def outer_of(inner: int) -> int:
            outer = self._outer(inner)
            if not outer or self.of_id[outer].module != self.of_id[inner].module:
                return 0
            return outer if self.of_id[inner].function and self.of_id[outer].function else 0

        callers: dict[str, set[str]] = {}
        called: dict[str, set[str]] = {}
        for call in calls:
            inner = frame[call]
            while outer := outer_of(inner):
                within, by = self.of_id[inner].same_function, self.of_id[outer].same_function
                if within != by:  # not recursive
                    callers.setdefault(within, set()).add(by)
                    called.setdefault(by, set()).add(within)
                inner = outer
        layers = {name for name, by in callers.items()
                  if len(by) >= LEAST_CALLERS and len(called.get(name, ())) <= MOST_CALLED}
        for call in calls:
            inner, outer = frame[call], outer_of(frame[call])
            while outer and self.of_id[inner].same_function not in layers:
                inner, outer = outer, outer_of(outer)
            layer = self.of_id[inner].same_function
            while outer and self.of_id[outer].same_function == layer:
                outer = outer_of(outer)
            if outer:
                frame[call] = outer

    def shown(self, number: int) -> Site | None:
        return self._shown.get(int(number))

    def location(self, number: int) -> str | None:
        """file:line, else module+0xoffset; None: not known."""
        site = self.shown(number)
        return site.location if site is not None else None

    def labels(self, numbers: numpy.ndarray) -> Labels:
        return Labels.of(numbers, self.location)
