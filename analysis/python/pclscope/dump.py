"""A dump: the tables of its summary, and what is stored of single messages, collectives and calls."""
from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from typing import Any

import numpy

from . import words
from .clocks import Clocks
from .columns import TABLES, VALUES
from .error import Error
from .file import Columns, File, read_table, text
from .row_columns import CALL_COLUMNS, COLLECTIVE_COLUMNS, MESSAGE_COLUMNS, TIMES
from .sites import Sites
from .summary import Summary
from .table import Labels, Table, table
from .unpacking import SOURCES, Chunks

EARLIEST, LATEST = -(1 << 63), (1 << 63) - 1
NS = 1e9

PLACED = {"messages": ("source", "destination"), "collectives": ("rank", "awaited"), "calls": ("rank",)}


def _ns(seconds: float | None, otherwise: int) -> int:
    return otherwise if seconds is None else int(min(max(round(seconds * NS), EARLIEST), LATEST))


class Dump(Summary):
    """What `pclscope run --dump` wrote. All tables are read when they are asked for; of a job that still runs, open the
    dump again to see what came since."""

    def __init__(self, path: str | os.PathLike[str], as_pandas: bool | None = None) -> None:
        self._file = File(path)
        self.path, self.version = self._file.path, self._file.version
        self._stored, values = self._file.look(self._read_summary)
        super().__init__(lambda name: self._stored[name], values, self._look_at_sites, as_pandas)

    def _read_summary(self, root: Any) -> tuple[dict[str, Columns], dict[str, Any]]:
        summary = root["summary"]
        group = summary[str(int(summary.attrs["current"]))]
        values: dict[str, Any] = {}
        for name, (*_, default) in VALUES.items():
            value = type(default)(group.attrs.get(name, default))
            values[name] = value if value == value and abs(value) != float("inf") else 0.0
        values |= {name: text(root.attrs.get(name, b"")) for name in ("job", "command", "mpi")}
        values["method"] = text(group.attrs.get("method", b""))
        complete = bool(root.attrs.get("complete", 0))
        values |= {"complete": complete, "closed": bool(root.attrs.get("closed", complete))}
        for name in ("messages", "collectives", "calls"):
            for count in ("not_stored", "shed"):
                values[f"{name}_{count}"] = int(root[name].attrs.get(count, 0)) if name in root else 0
        in_summary = list(TABLES)[list(TABLES).index("regions"):]
        tables = {name: read_table(group, name) for name in in_summary}
        for name in ("windows", "window_regions"):
            tables[name] = read_table(root, name)
        return tables, values

    def _look_at_sites(self) -> Sites:
        if self.version < (1, 1):
            return Sites(())
        sites, modules, texts = self._file.look(
            lambda root: tuple(read_table(root, name) for name in ("sites", "modules", "texts")))
        return Sites.stored(sites, modules, texts["byte"].astype(numpy.uint8))

    # --- what the dump has ---
    @property
    def closed(self) -> bool:
        """By its writer; else the run was cut off, or still goes on."""
        return self._values["closed"]

    @property
    def complete(self) -> bool:
        """Closed, and no rank's record breaks off."""
        return self._values["complete"]

    @property
    def not_stored(self) -> dict[str, int]:
        """Messages, collectives and calls that were counted, but are not in the dump (--keep, --budget, load)."""
        return {name: self._values[f"{name}_not_stored"] for name in ("messages", "collectives", "calls")}

    @functools.cached_property
    def _clocks(self) -> Clocks:
        return Clocks(self._stored["node_of_rank"]["node"], len(self.nodes), self._stored["clocks"],
                      self._stored["clock_corrections"])

    # --- rows of the large tables ---
    def _rows_of(self, name: str, wanted: set[str], begin: int, end: int) -> Columns:
        """As stored, with corrected times; of a period perhaps more than asked for."""
        if self._clocks.any:
            wanted = wanted | set(PLACED[name]) | ({"flags"} if name == "messages" else set())
            wanted |= {"send_begin", "recv_end"} if name == "messages" else set()
        slack = self._clocks.most_ns
        kinds = {column: kind for column, _, kind, _ in TABLES[name]}

        def read(root: Any) -> Columns:
            if name not in root or (self.version[0] == 1 and name != "messages"):
                return {column: numpy.zeros(0, kinds.get(column, "i8")) for column in wanted}
            if self.version[0] == 1:
                group = root[name]
                rows = int(group.attrs["rows"])
                return {column: group[column][:rows].astype(kinds.get(column, "i8"), copy=False) for column in wanted}
            chunks = Chunks(root, name)
            return chunks.read(wanted, chunks.within(max(begin - slack, EARLIEST), min(end + slack, LATEST)))

        columns = self._file.look(read)
        if self.version < (1, 1):  # addresses of a process that is gone
            columns |= {site: numpy.zeros_like(columns[site]) for site in ("send_site", "recv_site") if site in columns}
        if self._clocks.any:
            self._correct(name, columns)
        return columns

    def _correct(self, name: str, columns: Columns) -> None:
        clocks = self._clocks
        own, other = (clocks.nodes(columns[PLACED[name][place]]) for place in (0, -1))
        if name == "collectives":
            other = numpy.where(columns["awaited"] >= 0, other, own)
        of_other = {"messages": ("recv_post", "recv_wait", "recv_end"), "collectives": ("awaited_begin",)}.get(name, ())
        if name == "messages":
            inter = (columns["flags"] & words.INTER_NODE) != 0
            error = clocks.error_ns(own, columns["send_begin"]) + clocks.error_ns(other, columns["recv_end"])
            columns["clock_error"] = numpy.where(inter, numpy.ceil(error), 0).astype(numpy.int64)
        for time in SOURCES[name].keys() & columns.keys() - {"outside"}:
            columns[time] = clocks.corrected(other if time in of_other else own, columns[time])
        if name == "messages" and clocks.corrects:
            judged = inter & ((columns["flags"] & words.UNSEEN_COMPLETION) == 0)
            judged &= clocks.moves(own) | clocks.moves(other)
            early = columns["send_begin"] - columns["recv_end"]
            found = numpy.where(early <= 0, 0, numpy.where(early > columns["clock_error"], words.CLOCK_VIOLATION,
                                                           words.CLOCK_UNCLEAR)).astype(numpy.uint32)
            others = columns["flags"] & numpy.uint32(~(words.CLOCK_VIOLATION | words.CLOCK_UNCLEAR) & 0xFFFFFFFF)
            columns["flags"] = numpy.where(judged, others | found, columns["flags"])

    def _ranks_of(self, region: int | None, ranks: Iterable[int] | None) -> tuple[Any, Any, tuple[float, float]]:
        """The members of the region, the ranks, and from when to when the region existed."""
        members, life = None, (-numpy.inf, numpy.inf)
        if region is not None:
            columns, of_regions = self._regions()
            places = numpy.flatnonzero(columns["id"] == region)
            if not len(places):
                raise Error(f"there is no region {region}")
            place = int(places[0])
            until = float(columns["until_s"][place])
            members, life = of_regions[place], (float(columns["from_s"][place]), until if until >= 0 else numpy.inf)
        if ranks is not None:
            ranks = numpy.array([ranks] if isinstance(ranks, (int, numpy.integer)) else list(ranks), dtype=numpy.int64)
        return members, ranks, life

    @staticmethod
    def _asked(known: Iterable[str], columns: Iterable[str] | None) -> list[str]:
        names = list(known) if columns is None else [columns] if isinstance(columns, str) else list(columns)
        if wrong := [name for name in names if name not in set(known)]:
            raise Error(f"there is no column {wrong[0]}; there are {', '.join(known)}")
        return names

    def messages(self, region: int | None = None, ranks: Iterable[int] | int | None = None,
                 start: float | None = None, end: float | None = None, columns: Iterable[str] | None = None) -> Table:
        """Matched messages, in the order of matching. `region`: with both ends in it, received while it existed;
        `ranks`: that one of them sent or received; `start`, `end` (s): sent from then on, and before then; `columns`:
        only these, which is quicker. `ratio`: time over the run's final criterion."""
        names = self._asked(MESSAGE_COLUMNS, columns)
        members, chosen, life = self._ranks_of(region, ranks)
        begin, stop = _ns(start, EARLIEST), _ns(end, LATEST)
        wanted = {column for name in names for column in MESSAGE_COLUMNS[name][1]}
        wanted |= {"source", "destination"} if members is not None or chosen is not None else set()
        wanted |= {"recv_end"} if members is not None else set()
        wanted |= {"send_begin"} if start is not None or end is not None else set()
        rows = self._rows_of("messages", wanted, begin, stop)
        keep = None
        if start is not None or end is not None:
            keep = (rows["send_begin"] >= begin) & (rows["send_begin"] < stop)
        if chosen is not None:
            some = numpy.isin(rows["source"], chosen) | numpy.isin(rows["destination"], chosen)
            keep = some if keep is None else keep & some
        if members is not None:
            received = rows["recv_end"] / NS
            inside = numpy.isin(rows["source"], members) & numpy.isin(rows["destination"], members)
            inside &= (received >= life[0]) & (received < life[1])
            keep = inside if keep is None else keep & inside
        if keep is not None:
            rows = {name: column[keep] for name, column in rows.items()}
        return self._message_table(names, rows)

    def _message_table(self, names: list[str], rows: Columns) -> Table:
        made: dict[str, Any] = {}
        flags = rows.get("flags")
        bits = {"inter_node": words.INTER_NODE, "clock_violation": words.CLOCK_VIOLATION,
                "clock_unclear": words.CLOCK_UNCLEAR}
        times = {"start_s": "send_begin"} | {f"{time}_s": time for time in TIMES[1:]}
        is_split = {"late_sender_s", "late_receiver_s", "transfer_s", "overlapped_s"} & set(names)
        parts = self._blocked(rows) if is_split else {}
        ratio = self._ratio(rows) if {"ratio", "delayed"} & set(names) else None
        for name in names:
            if name in times:
                made[name] = rows[times[name]] / NS
            elif name == "time_s":
                made[name] = (rows["recv_end"] - rows["send_begin"]) / NS
            elif name in parts:
                made[name] = parts[name] / NS
            elif name == "ratio":
                made[name] = ratio
            elif name == "delayed":
                made[name] = ratio > 1
            elif name in bits:
                made[name] = (flags & bits[name]) != 0
            elif name == "completion_seen":
                made[name] = (flags & words.UNSEEN_COMPLETION) == 0
            elif name == "clock_error_ns":
                made[name] = rows.get("clock_error", numpy.zeros(len(flags), dtype=numpy.int64))
            elif name in ("send_site", "recv_site"):
                made[name] = self._sites.labels(rows[name])
            else:
                made[name] = rows[name]
        return table(made, {name: MESSAGE_COLUMNS[name][0] for name in names}, self._as_pandas)

    @staticmethod
    def _blocked(rows: Columns) -> Columns:
        """Who was blocked, in ns, as far as each message tells (docs/methods.md, "Blocked time")."""
        send_begin, send_end, recv_post, recv_wait, recv_end = (rows[name] for name in TIMES)
        time = recv_end - send_begin
        timed = ((rows["flags"] & words.NO_LATENCY) == 0) & (time >= 0)
        wait = numpy.minimum(recv_wait, recv_end)
        received_from = numpy.maximum(wait, send_begin)  # the receiver is blocked from here
        returned = numpy.clip(send_end, send_begin, recv_end)
        posted = numpy.minimum(numpy.maximum(recv_post, send_begin), returned)
        blocks = (rows["flags"] & (words.NONBLOCKING | words.PERSISTENT | words.BUFFERED)) == 0
        late_receiver = numpy.where(blocks, numpy.minimum(posted, received_from) - send_begin, 0)
        transfer = recv_end - received_from
        transfer += numpy.where(blocks, numpy.maximum(numpy.minimum(returned, received_from) - posted, 0), 0)
        late_sender = numpy.minimum(numpy.maximum(send_begin, wait), recv_end) - wait
        found = {"late_sender_s": late_sender, "late_receiver_s": late_receiver, "transfer_s": transfer,
                 "overlapped_s": time - late_receiver - transfer}
        return {name: numpy.where(timed, column, 0) for name, column in found.items()}

    def _ratio(self, rows: Columns) -> numpy.ndarray:
        criteria = self._rows("criteria")
        inter = (rows["flags"] & words.INTER_NODE) != 0
        timed = (rows["flags"] & words.NO_LATENCY) == 0
        ratio = numpy.full(len(timed), numpy.nan)
        for is_inter in (False, True):
            of_class = (criteria["inter_node"] != 0) == is_inter
            order = numpy.argsort(criteria["bytes_low"][of_class], kind="stable")
            low, high, criterion, median = (criteria[name][of_class][order] for name in (
                "bytes_low", "bytes_high", "criterion_s", "median_s"))
            if not len(low) or not (inter == is_inter).any():
                continue
            place = numpy.searchsorted(low, rows["bytes"], side="right") - 1
            at = numpy.maximum(place, 0)
            usual = numpy.where(criterion > 0, criterion, median)[at]
            known = timed & (inter == is_inter) & (place >= 0) & (rows["bytes"] < high[at]) & (usual > 0)
            time_s = (rows["recv_end"] - rows["send_begin"]) / NS
            ratio = numpy.where(known, time_s / numpy.where(usual > 0, usual, 1), ratio)
        return ratio

    def _of_period(self, name: str, table_columns: dict[str, Any], columns: Iterable[str] | None, region: int | None,
                   ranks: Iterable[int] | int | None, start: float | None,
                   end: float | None) -> tuple[list[str], Columns]:
        """Rows of which a part lies in [start, end), of these ranks, and of the region's."""
        names = self._asked(table_columns, columns)
        members, chosen, life = self._ranks_of(region, ranks)
        begin = max(_ns(start, EARLIEST), _ns(life[0], EARLIEST) if members is not None and life[0] > 0 else EARLIEST)
        stop = min(_ns(end, LATEST), _ns(life[1], LATEST) if numpy.isfinite(life[1]) else LATEST)
        wanted = {column for each in names for column in table_columns[each][1]} | {"rank", "begin", "end"}
        rows = self._rows_of(name, wanted, begin, stop)
        keep = (rows["end"] >= begin) & (rows["begin"] < stop)
        for some in (members, chosen):
            if some is not None:
                keep &= numpy.isin(rows["rank"], some)
        return names, {column: values[keep] for column, values in rows.items()}

    def timeline(self, region: int | None = None, ranks: Iterable[int] | int | None = None,
                 start: float | None = None, end: float | None = None, columns: Iterable[str] | None = None) -> Table:
        """MPI calls, of each window by rank, thread and begin; last what had not returned at the end. `start`, `end`
        (s): of which a part lies in between. `peer` -1: none, not known, or several."""
        names, rows = self._of_period("calls", CALL_COLUMNS, columns, region, ranks, start, end)
        if self.version < (2, 6):
            raise Error("this dump has no single calls: it was written by an earlier version of pclscope")
        running = self._running_calls(region, ranks, start, end)
        if wanted := [name for name in rows if name in running]:
            rows = {name: numpy.concatenate([rows[name], running[name].astype(rows[name].dtype)]) for name in wanted}
        made: dict[str, Any] = {}
        for name in names:
            if name == "begin_s":
                made[name] = rows["begin"] / NS
            elif name == "duration_s":
                made[name] = numpy.where(rows["ending"] == 0, (rows["end"] - rows["begin"]) / NS, numpy.nan)
            elif name == "outside_s":
                made[name] = numpy.where(rows["outside"] >= 0, rows["outside"] / NS, numpy.nan)
            elif name == "ending":
                made[name] = Labels.of(rows["ending"], lambda ending: words.word(words.ENDINGS, ending, "unseen"))
            elif name == "function":
                made[name] = Labels.of(rows["function"], words.function)
            elif name == "peer":
                made[name] = numpy.maximum(rows["peer"], -1)
            elif name == "several_peers":
                made[name] = rows["peer"] == -2
            elif name == "site":
                made[name] = self._sites.labels(rows["site"])
            else:
                made[name] = rows[name]
        return table(made, {name: CALL_COLUMNS[name][0] for name in names}, self._as_pandas)

    def _running_calls(self, region: int | None, ranks: Any, start: float | None, end: float | None) -> Columns:
        """What ranks were inside at the end, as rows of /calls."""
        known = self._rows("ranks")
        members, chosen, _ = self._ranks_of(region, ranks)
        until = round(min(max(self.elapsed_s, 0.0), 4e9) * NS)
        begin = until - numpy.round(numpy.clip(known["call_for_s"], 0, 4e9) * NS).astype(numpy.int64)
        here = (known["call_function"] != 0) & (known["finished"] == 0)
        here &= (begin < _ns(end, LATEST)) & (until >= _ns(start, EARLIEST))
        for some in (members, chosen):
            if some is not None:
                here &= numpy.isin(known["rank"], some)
        count = int(here.sum())
        return {"rank": known["rank"][here], "thread": numpy.zeros(count), "function": known["call_function"][here],
                "begin": begin[here], "end": numpy.full(count, until), "ending": numpy.full(count, 2),
                "outside": numpy.full(count, -1), "peer": numpy.maximum(known["call_peer"][here], -1),
                "comm": known["call_comm"][here], "bytes": numpy.zeros(count), "site": known["call_site"][here]}

    def collectives(self, region: int | None = None, ranks: Iterable[int] | int | None = None,
                    start: float | None = None, end: float | None = None,
                    columns: Iterable[str] | None = None) -> Table:
        """Each rank's part in collectives, and in whatever else waits for others (windows, files, MPI_Init). `wait_s`:
        waiting for `awaited`, the last of those whom the rank needed (-1: nobody). `shape`: see FORMAT.md."""
        names, rows = self._of_period("collectives", COLLECTIVE_COLUMNS, columns, region, ranks, start, end)
        made: dict[str, Any] = {}
        for name in names:
            if name in ("begin_s", "end_s", "awaited_begin_s"):
                made[name] = rows[name[:-2]] / NS
            elif name == "wait_s":
                begins = numpy.maximum(rows["begin"], rows["end"] - rows["completing"])
                since = numpy.where(rows["nonblocking"] != 0, begins, rows["begin"])
                until = numpy.maximum(since, numpy.minimum(rows["awaited_begin"], rows["end"]))
                made[name] = numpy.where(rows["awaited"] < 0, 0, until - since) / NS
            elif name == "function":
                made[name] = Labels.of(rows["function"], words.function)
            elif name == "site":
                made[name] = self._sites.labels(rows["site"])
            elif name == "nonblocking":
                made[name] = rows["nonblocking"] != 0
            else:
                made[name] = rows[name]
        return table(made, {name: COLLECTIVE_COLUMNS[name][0] for name in names}, self._as_pandas)

    @property
    def traffic(self) -> Table:
        """Messages of each pair of ranks that exchanged some. Where the dump has no room for it, or is older, what its
        messages say."""
        if len(self._rows("traffic")["source"]):
            return super().traffic
        rows = self._rows_of("messages", {"source", "destination", "bytes"}, EARLIEST, LATEST)
        order = numpy.lexsort((rows["destination"], rows["source"]))
        source, destination, sizes = (rows[name][order] for name in ("source", "destination", "bytes"))
        first = numpy.flatnonzero(numpy.concatenate([[True], (source[1:] != source[:-1]) |
                                                     (destination[1:] != destination[:-1])])[:len(source)])
        nothing = numpy.zeros(len(first))
        return self._with({
            "source": source[first], "destination": destination[first],
            "messages": numpy.diff(numpy.append(first, len(source))),
            "bytes": numpy.add.reduceat(sizes, first) if len(first) else sizes,
            "timed": nothing.astype(numpy.int64), "time_s": nothing, "transfer_s": nothing}, "traffic")

    # --- over time ---
    @property
    def windows(self) -> Table:
        """Closed windows, oldest first, with the sums of all messages."""
        return self._with(self._own("windows"), "windows")

    @property
    def region_windows(self) -> Table:
        """The same region by region, of windows in which it had messages."""
        windows, columns = self._rows("windows"), self._own("window_regions")
        window = numpy.minimum(columns.pop("window").astype(numpy.int64), max(len(windows["begin_s"]) - 1, 0))
        known = slice(None) if len(windows["begin_s"]) else slice(0)
        first = {"region": columns.pop("region")[known], "begin_s": windows["begin_s"][window[known]],
                 "length_s": windows["length_s"][window[known]]}
        return self._with(first | {name: column[known] for name, column in columns.items()}, "window_regions",
                          {"begin_s": "s", "length_s": "s"})


