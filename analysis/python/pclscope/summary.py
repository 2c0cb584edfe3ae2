"""The tables of a run's newest state, of a dump and of a running job alike, with the names of `pclscope inspect --json`
(docs/json.md). Times are seconds since the run began, numbers that are not known NaN, ranks and ids -1, texts None."""
from __future__ import annotations

import datetime
import functools
from typing import Any

import numpy

from . import density, words
from .base import unknown
from .causes import Causes
from .columns import VALUES
from .table import Labels, Table, objects


class Summary(Causes):
    """The newest state of a run."""

    # --- the run ---
    @property
    def job(self) -> str:
        return self._values.get("job", "")

    @property
    def command(self) -> str:
        return self._values.get("command", "")

    @property
    def mpi(self) -> str:
        return self._values.get("mpi", "")

    @property
    def start(self) -> datetime.datetime:
        """Second 0 of all times (UTC)."""
        return datetime.datetime.fromtimestamp(self._values["time_origin_realtime_ns"] / 1e9, datetime.timezone.utc)

    @property
    def elapsed_s(self) -> float:
        duration = self._values["duration_s"]
        until = (float(self._values["window_end_realtime_ns"]) - float(self._values["time_origin_realtime_ns"])) * 1e-9
        return duration if self._values["finished"] else max(duration, until)

    @functools.cached_property
    def summary(self) -> dict[str, dict[str, Any]]:
        """The numbers of the whole run, in groups as in `pclscope inspect --json`."""
        found: dict[str, dict[str, Any]] = {"application": {"command": self.command, "mpi": self.mpi,
                                                            "nodes": len(self.nodes)}}
        for name, (group, field, unit, _) in VALUES.items():
            value = self._values[name]
            found.setdefault(group, {})[field] = bool(value) if unit == "0 or 1" else value
        found["time"]["elapsed_s"] = self.elapsed_s
        found["retention"]["keep"] = words.word(words.KEEP, found["retention"]["keep"], "summaries")
        for field in ("bites_since_s", "shed_from_s", "shed_to_s"):
            if found["retention"][field] < 0:
                found["retention"][field] = None
        return found

    # --- regions ---
    def _regions(self) -> tuple[dict[str, Any], list[list[int]]]:
        """Those of now, then those that have ended."""
        now, ended = self._own("regions"), self._own("ended_regions")
        ranks = (self._lists("regions", "ranks", "region_ranks", "rank") +
                 self._lists("ended_regions", "ranks", "region_ranks", "rank"))
        return {name: numpy.concatenate([now[name], ended[name]]) for name in now}, ranks

    @property
    def regions(self) -> Table:
        """Communication regions: those of now, then those that have ended."""
        columns, ranks = self._regions()
        first = {"id": columns.pop("id"), "ranks": objects(ranks)}
        return self._with(first | columns, "regions", {"ranks": "rank"})

    @property
    def periods(self) -> Table:
        """The evolution of each region, oldest first: growth, steady or other."""
        rows = self._own("region_periods")
        places = [(number, place) for name in ("regions", "ended_regions")
                  for number, part in zip(self._rows(name)["id"].tolist(),
                                          self._ranges(name, "periods", "region_periods")) for place in part]
        order = numpy.array([place for _, place in places], dtype=numpy.int64)
        columns = {name: values[order] for name, values in rows.items()}
        columns["kind"] = Labels.of(columns["kind"], lambda kind: words.word(words.PERIODS, kind, "other"))
        region = {"region": numpy.array([number for number, _ in places], dtype=numpy.int32)}
        return self._with(region | columns, "region_periods", {"region": "id", "kind": ""})

    @property
    def links(self) -> Table:
        """Messages between two regions, of which one may have ended."""
        now, ended = self._own("links"), self._own("ended_links")
        return self._with({name: numpy.concatenate([now[name], ended[name]]) for name in now}, "links",
                          {"a": "id", "b": "id"})

    @property
    def dendrogram(self) -> Table:
        """How the regions were found: merge k of clusters `left` and `right` makes cluster (leaves + k)."""
        return self._with(self._own("merges"), "merges", {"left": "id", "right": "id"})

    # --- ranks and nodes ---
    @property
    def ranks(self) -> Table:
        """What each rank did, and its time inside MPI by its parts."""
        columns = self._own("ranks")
        begin = columns["begin_s"]
        columns["node"] = self._node_names(columns["node"])
        columns["end_s"] = unknown(columns["end_s"], begin < 0)
        columns["begin_s"] = unknown(begin, begin < 0)
        columns["missing_from_s"] = unknown(columns["missing_from_s"], ~columns["missing"])
        now = {"call_function", "call_peer", "call_for_s", "call_site", "call_comm", "call_tag", "waits_for_any"}
        return self._with({name: column for name, column in columns.items() if name not in now}, "ranks")

    @property
    def inside(self) -> Table:
        """Ranks that are inside a call, the longest first; in a dump: that were when the run was cut off."""
        columns = self._own("ranks")
        here = (columns["call_function"] != 0) & ~columns["finished"] & (not self._values["finished"])
        here = numpy.flatnonzero(here)
        here = here[numpy.argsort(-columns["call_for_s"][here], kind="stable")]
        lists = self._lists("ranks", "waits", "waits_for", "rank")
        waits = [lists[row] for row in here.tolist()]
        return self._table({
            "rank": columns["rank"][here], "function": Labels.of(columns["call_function"][here], words.function),
            "for_s": columns["call_for_s"][here], "tag": columns["call_tag"][here], "waits_for": objects(waits),
            "waits_for_any": columns["waits_for_any"][here], "site": self._sites.labels(columns["call_site"][here]),
        }, {"rank": "rank", "for_s": "s", "tag": "1", "waits_for": "rank", "waits_for_any": "0 or 1"})

    @property
    def node_links(self) -> Table:
        """Messages from one node to another."""
        columns = self._own("node_links")
        return self._with(columns | {name: self._node_names(columns[name]) for name in ("source", "destination")},
                          "node_links")

    @property
    def clocks(self) -> Table:
        """The newest estimate of each node's clock against the root's."""
        columns = self._own("clocks")
        known = (columns["node"] >= 0) & (columns["node"] < len(self.nodes))
        columns = {name: column[known] for name, column in columns.items()}
        return self._with(columns | {"node": self._node_names(columns["node"])}, "clocks")

    @property
    def bindings(self) -> Table:
        """Where ranks may run: numbers of hardware threads, as the kernel counts them."""
        columns, nodes = self._own("bindings"), self._rows("node_of_rank")["node"]
        node = numpy.array([nodes[rank] if 0 <= rank < len(nodes) else -1 for rank in columns["rank"].tolist()],
                           dtype=numpy.int32)
        ranges = zip(self._lists("bindings", "ranges", "binding_ranges", "first"),
                     self._lists("bindings", "ranges", "binding_ranges", "last"))
        threads = [",".join(str(a) if a == b else f"{a}-{b}" for a, b in zip(first, last)) for first, last in ranges]
        return self._with({"rank": columns["rank"], "node": self._node_names(node),
                           "hardware_threads": objects(threads), "changes": columns["changes"]}, "bindings")

    @property
    def machines(self) -> Table:
        """The hardware threads of each distinct machine, in hwloc's order; -1: it has no such cache or domain."""
        return self._with(self._own("machine_threads"), "machine_threads")

    @property
    def traffic(self) -> Table:
        """Messages of each pair of ranks that exchanged some."""
        return self._with(self._own("traffic"), "traffic")

    @property
    def criteria(self) -> Table:
        """What the times of messages are compared with, by class and size."""
        columns = self._own("criteria")
        columns["transfer_median_s"] = unknown(columns["transfer_median_s"], columns["transfer_median_s"] <= 0)
        return self._with(columns, "criteria")

    @property
    def functions(self) -> Table:
        """MPI functions, most time first."""
        columns = self._own("functions")
        del columns["name"]
        columns["function"] = Labels.of(columns["function"], words.function)
        columns["history_share"] = objects(self._lists("functions", "history", "function_history", "share"))
        return self._with(columns, "functions", {"function": "", "history_share": "1"})

    # --- over time ---
    @property
    def attribution(self) -> Table:
        """The measures over time that findings rest on, oldest first."""
        return self._with(self._own("attribution_slices"), "attribution_slices")

    @property
    def transfer_lines(self) -> Table:
        """Messages between nodes by size; `normalised`: a value per row of `attribution`."""
        columns = self._own("transfer_lines")
        columns["normalised"] = objects(self._lists("transfer_lines", "values", "transfer_values", "normalised"))
        return self._with(columns, "transfer_lines", {"normalised": "1"})

    @functools.cached_property
    def _density(self) -> density.Density:
        return density.unpack(self._rows("call_density")["byte"].astype(numpy.uint8))

    @property
    def activity(self) -> Table:
        """Rank-seconds inside each function over time, by region (-1: in none of the at most 16 told apart)."""
        found = self._density
        inside, slice_s = found.inside, found.inside_ns / 1e9
        return self._table({
            "region": inside["region"], "function": Labels.of(inside["function"], words.function),
            "begin_s": inside["slice"] * slice_s, "length_s": numpy.full(len(inside["slice"]), slice_s),
            "inside_s": inside["ns"] / 1e9,
        }, {"region": "id", "begin_s": "s", "length_s": "s", "inside_s": "rank-seconds"})

    @property
    def durations(self) -> Table:
        """Calls that returned, by when they began and ended and by how long they took: in [from_s, to_s)."""
        found = self._density
        calls, slice_s = found.calls, found.calls_ns / 1e9
        return self._table({
            "function": Labels.of(calls["function"], words.function), "begin_s": calls["slice"] * slice_s,
            "length_s": numpy.full(len(calls["slice"]), slice_s), "from_s": found.bin_begin_s(calls["bin"]),
            "to_s": found.bin_begin_s(calls["bin"] + 1), "starts": calls["starts"], "ends": calls["ends"],
        }, {"begin_s": "s", "length_s": "s", "from_s": "s", "to_s": "s", "starts": "1", "ends": "1"})
