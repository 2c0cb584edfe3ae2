"""Times of several nodes on one axis, as their clocks were known when the run was over (FORMAT.md, "Several nodes")."""
from __future__ import annotations

from collections.abc import Mapping

import numpy

Columns = dict[str, numpy.ndarray]


class Clocks:
    """What is to be added to stored times."""

    def __init__(self, node_of_rank: numpy.ndarray, nodes: int, clocks: Columns, corrections: Columns) -> None:
        self.node_of_rank = numpy.where((node_of_rank >= 0) & (node_of_rank < nodes), node_of_rank, -1)
        self.error_s = numpy.zeros(nodes + 1)  # the last: of a rank whose node is not known
        for node, error in zip(clocks["node"].tolist(), clocks["error_s"].tolist()):
            if 0 <= node < nodes:
                self.error_s[node] = max(error, 0.0)
        self.points: dict[int, Columns] = {}
        for node in numpy.unique(corrections["node"]).tolist():
            here = corrections["node"] == node
            of_node = {name: column[here] for name, column in corrections.items()}
            at = of_node["at_s"]
            ascending = numpy.concatenate([[True], at[1:] > numpy.maximum.accumulate(at)[:-1]])
            if 0 <= node < nodes:
                self.points[node] = {name: column[ascending] for name, column in of_node.items()}
        self.any = bool(len(clocks["node"]) or len(corrections["node"]))
        self.corrects = bool(self.points)

    @property
    def most_ns(self) -> int:
        """No correction is larger."""
        most = max((float(numpy.abs(points["correction_s"]).max()) for points in self.points.values()), default=0.0)
        return int(min(most * 1e9 + 1, 1e18)) if self.points else 0

    def nodes(self, ranks: numpy.ndarray) -> numpy.ndarray:
        known = (ranks >= 0) & (ranks < len(self.node_of_rank))
        return numpy.where(known, self.node_of_rank[numpy.where(known, ranks, 0)], -1) if len(self.node_of_rank) else (
            numpy.full(len(ranks), -1))

    @staticmethod
    def _at(points: Mapping[str, numpy.ndarray], times_s: numpy.ndarray, what: str) -> numpy.ndarray:
        """Constant before the first and behind the last point."""
        at, values = points["at_s"], points[what]
        after = numpy.searchsorted(at, times_s, side="right")
        before, after = numpy.clip(after - 1, 0, len(at) - 1), numpy.clip(after, 0, len(at) - 1)
        length = at[after] - at[before]
        part = numpy.where(length > 0, (times_s - at[before]) / numpy.where(length > 0, length, 1), 0)
        return values[before] + part * (values[after] - values[before])

    def corrected(self, nodes: numpy.ndarray, times: numpy.ndarray) -> numpy.ndarray:
        """Times in ns."""
        result = times.copy()
        for node, points in self.points.items():
            here = nodes == node
            correction = numpy.clip(self._at(points, times[here] * 1e-9, "correction_s") * 1e9, -1e18, 1e18)
            result[here] += (numpy.sign(correction) * numpy.floor(numpy.abs(correction) + 0.5)).astype(numpy.int64)
        return result

    def error_ns(self, nodes: numpy.ndarray, times: numpy.ndarray) -> numpy.ndarray:
        """Bound of the error that is left, of times as stored."""
        result = self.error_s[nodes] * 1e9
        for node, points in self.points.items():
            here = nodes == node
            result[here] = self._at(points, times[here] * 1e-9, "error_s") * 1e9
        return numpy.clip(result, 0, 2e9)

    def moves(self, nodes: numpy.ndarray) -> numpy.ndarray:
        return numpy.isin(nodes, list(self.points))
