"""Why time was lost, where, by whom: the tables that answer it."""
from __future__ import annotations

from typing import Any

import numpy

from . import words
from .base import Base, texts, unknown
from .columns import WAIT_STATES
from .table import Labels, Table, objects

LEAST_INSIDE = 0.9  # of a finding's time, in a part of the program


class Causes(Base):
    """Mixed into Summary."""

    def region_of_ranks(self) -> dict[int, int]:
        """The region of now that a rank is in."""
        ids = self._rows("regions")["id"].tolist()
        return {rank: number for number, ranks in reversed(
            list(zip(ids, self._lists("regions", "ranks", "region_ranks", "rank")))) for rank in ranks}

    @property
    def calls(self) -> Table:
        """The lines of the source where time was lost, most first: one row per line and MPI function."""
        activity, names = self._own("site_activity"), ("late_sender_s", "late_receiver_s", "transfer_s")
        places: dict[Any, int] = {}
        of_row = numpy.zeros(len(activity["site"]), dtype=numpy.int64)
        shown = [self._sites.shown(number) for number in activity["site"].tolist()]
        for row, site in enumerate(shown):
            key = (site.function, site.file, site.line, site.mpi_function) if site and site.line > 0 else row
            of_row[row] = places.setdefault(key, len(places))
        first = [int(numpy.flatnonzero(of_row == place)[0]) for place in range(len(places))]
        sums = {}
        for name, column in activity.items():
            if name != "site":
                sums[name] = numpy.zeros(len(places), dtype=column.dtype)
                numpy.add.at(sums[name], of_row, column)
        lost = sums[names[0]] + sums[names[1]] + sums[names[2]]
        order = sorted(range(len(places)), key=lambda place: (-lost[place], -sums["inside_s"][place]))
        at = [shown[first[place]] for place in order]
        columns: dict[str, Any] = {
            "sites": objects(sorted(activity["site"][of_row == place].tolist()) for place in order),
            "function": objects(site.function or None if site else None for site in at),
            "file": objects(site.file or None if site else None for site in at),
            "line": numpy.array([site.line if site and site.line > 0 else -1 for site in at], dtype=numpy.int64),
            "module": objects(site.module or None if site else None for site in at),
            "offset": numpy.array([site.offset if site else 0 for site in at], dtype=numpy.uint64),
            "call": objects(words.function(site.mpi_function) if site and site.mpi_function else None for site in at),
            "lost_s": lost[order],
        }
        columns |= {name: column[order] for name, column in sums.items()}
        return self._with(columns, "site_activity", {"sites": "id", "lost_s": "s", "line": "1", "offset": "address"})

    @property
    def delays(self) -> Table:
        """Where delays began, most cost first; `victims` lost most by each, `victim_s` so much."""
        columns = self._own("delays")
        regions = self.region_of_ranks()
        columns |= {name: self._sites.labels(columns[name]) for name in ("site", "after_site")}
        columns = {"rank": columns.pop("rank"), **columns}
        columns["region"] = numpy.array([regions.get(rank, -1) for rank in columns["rank"].tolist()], dtype=numpy.int32)
        columns["victims"] = objects(self._lists("delays", "victims", "delay_victims", "rank"))
        columns["victim_s"] = objects(self._lists("delays", "victims", "delay_victims", "lost_s"))
        return self._with(columns, "delays", {"region": "id", "victims": "rank", "victim_s": "s"})

    @property
    def waits(self) -> Table:
        """How long ranks waited for others, by wait state, function, communicator and call site, most time first. Of
        sends and receives sums alone: without function, `waits` and `worst_s`."""
        rows, ranks = self._own("wait_states"), self._rows("ranks")
        columns = {name: column.tolist() for name, column in rows.items()}
        entries = list(zip(columns["state"], columns["function"], columns["comm"], columns["site"],
                           map(float, columns["waits"]), columns["wait_s"], columns["worst_s"],
                           columns["awaited_rank"], columns["awaited_s"]))
        messages = [(state, 0, 0, 0, numpy.nan, sum(ranks[name].tolist()), numpy.nan, -1, 0.0)
                    for state, name in ((1, "late_sender_s"), (2, "late_receiver_s"))]
        entries = sorted([row for row in messages if row[5] > 0] + entries, key=lambda row: -row[5])
        state, function, comm, site, waits, wait_s, worst_s, awaited_rank, awaited_s = zip(*entries) if entries else [
            ()] * 9
        return self._with({
            "state": objects(words.word(WAIT_STATES, number, "") or None for number in state),
            "function": objects(words.function(number) if number else None for number in function),
            "comm": objects(words.communicator(number) for number in comm),
            "site": objects(self._sites.location(number) for number in site),
            "waits": numpy.array(waits, dtype=float), "wait_s": numpy.array(wait_s, dtype=float),
            "worst_s": numpy.array(worst_s, dtype=float), "awaited_rank": numpy.array(awaited_rank, dtype=numpy.int32),
            "awaited_s": numpy.array(awaited_s, dtype=float),
        }, "wait_states", {"state": "", "function": "", "comm": ""})

    @property
    def findings(self) -> Table:
        """Why messages are late, the first is the answer. `periods`: (begin_s, end_s, lost_s) of what acted several
        times; `nodes`: pairs of names, of links that are slow."""
        columns, name = self._own("findings"), "findings"
        raw = self._rows("finding_texts")["byte"].astype(numpy.uint8)
        rows = self._rows(name)

        def told(what: str) -> list[str]:
            return [raw[begin:begin + count].tobytes().decode(errors="replace")
                    for begin, count in zip(rows[f"{what}_begin"].tolist(), rows[f"{what}_count"].tolist())]

        def node(number: int) -> str:
            return self.nodes[number] if 0 <= number < len(self.nodes) else f"node {number}"

        periods = list(zip(*(self._lists(name, "periods", "finding_periods", column)
                             for column in ("begin_s", "end_s", "lost_s"))))
        pairs = [[(node(a), node(b)) for a, b in zip(ends[::2], ends[1::2])]
                 for ends in self._lists(name, "nodes", "finding_nodes", "node")]
        acted = [list(zip(*each)) for each in periods]
        count = len(columns["cause"])
        made: dict[str, Any] = {
            "number": numpy.arange(1, count + 1),
            "cause": objects(words.word(words.CAUSES, cause, "unknown") for cause in columns["cause"].tolist()),
            "detail": objects(told("detail")), "region": columns["region"],
            "ranks": objects(self._lists(name, "ranks", "finding_ranks", "rank")), "nodes": objects(pairs),
            "site": objects(map(self._sites.location, columns["site"].tolist())),
        }
        made |= {field: columns[field] for field in ("begin_s", "end_s", "open")}
        made["periods"] = objects(acted)
        made |= {field: columns[field] for field in ("score", "confidence", "lost_s")}
        made["gain_s"] = unknown(columns["gain_s"], columns["gain_s"] < 0)
        made["evidence"] = objects(evidence.split("\n") if evidence else [] for evidence in told("evidence"))
        made["advice"] = objects(told("advice"))
        whole = zip(columns["begin_s"].tolist(), columns["end_s"].tolist(), acted)
        made["marker"] = objects(self._marker_of(several or [(begin, end)]) for begin, end, several in whole)
        return self._with(made, name, {"number": "1", "cause": "", "region": "id", "ranks": "rank", "periods": "s"})

    def _marker_of(self, periods: list[tuple[float, ...]]) -> str | None:
        """The shortest part of the program, once in every rank, in which most of these periods lie."""
        rows, ranks = self._rows("markers"), len(self._rows("ranks")["rank"])
        found: list[tuple[float, str]] = []
        whole_s = sum(period[1] - period[0] for period in periods)
        for name, times, of, cut, begin, end in zip(texts(rows["name"]), *(
                rows[column].tolist() for column in ("times", "ranks", "cut", "begin_s", "end_s"))):
            inside_s = sum(max(min(period[1], end) - max(period[0], begin), 0.0) for period in periods)
            if times == of == ranks and cut == 0 and whole_s > 0 and inside_s >= LEAST_INSIDE * whole_s:
                found.append((end - begin, name))
        return min(found, key=lambda one: one[0])[1] if found else None

    @property
    def conditions(self) -> Table:
        """What kept ranks off their cores, most cost first; `core` -1 and `pid` 0: not one, not known."""
        columns = self._own("conditions")
        columns["kind"] = Labels.of(columns["kind"], lambda kind: words.word(words.CONDITIONS, kind, "other-load"))
        columns["node"] = self._node_names(columns["node"])
        columns["process"] = objects(name or None for name in texts(columns["process"]))
        columns["ranks"] = objects(self._lists("conditions", "ranks", "condition_ranks", "rank"))
        return self._with(columns, "conditions", {"ranks": "rank", "kind": ""})

    @property
    def markers(self) -> Table:
        """Parts of the program that it named itself, by begin."""
        columns = self._own("markers")
        time_s = columns["time_s"]
        columns["name"] = objects(texts(columns["name"]))
        for name in ("lowest_iteration", "highest_iteration"):
            columns[name] = unknown(columns[name], columns["iterations"] == 0)
        columns["in_mpi"] = numpy.where(time_s > 0, columns["mpi_s"] / numpy.where(time_s > 0, time_s, 1), 0)
        return self._with(columns, "markers", {"in_mpi": "1"})

    @property
    def deadlocks(self) -> Table:
        """Ranks that wait for each other: a row per member, in the order of the cycle; `deadlock` counts from 0."""
        rows, members = self._rows("deadlocks"), self._own("deadlock_members")
        ranges = self._ranges("deadlocks", "members", "deadlock_members")
        of = numpy.array([number for number, one in enumerate(ranges) for _ in one], dtype=numpy.int64)
        members = {name: column[[place for one in ranges for place in one]] for name, column in members.items()}
        waits = self._lists("deadlock_members", "waits", "waits_for", "rank")
        waits = [waits[place] for one in ranges for place in one]
        members |= {"function": Labels.of(members["function"], words.function),
                    "called": Labels.of(members["called"], lambda call: words.function(call) if call else None),
                    "site": self._sites.labels(members["site"])}
        first = {"deadlock": of, "found_s": rows["found_s"][of], "on_finished": rows["on_finished"][of].astype(bool)}
        return self._with(first | members | {"waits_for": objects(waits)}, "deadlock_members",
                          {"deadlock": "1", "found_s": "s", "on_finished": "0 or 1", "waits_for": "rank"})

    @property
    def worst(self) -> Table:
        """Worst messages of the newest windows."""
        return self._with(self._own("worst"), "worst")
