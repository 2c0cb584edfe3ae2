"""What all tables of a summary are made with."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from .columns import TABLES
from .error import Error
from .file import Columns, text
from .sites import Sites
from .table import Labels, Table, table


def texts(column: numpy.ndarray) -> list[str]:
    return [value if isinstance(value, str) else text(value) for value in column.tolist()]


def unknown(column: numpy.ndarray, is_unknown: numpy.ndarray) -> numpy.ndarray:
    return numpy.where(is_unknown, numpy.nan, column)


class Base:
    """`rows` gives the columns of a table as FORMAT.md lists them; `values` has the attributes of the summary and the
    texts job, command, mpi and method; `sites` is asked for when it is needed."""

    def __init__(self, rows: Callable[[str], Columns], values: dict[str, Any], sites: Callable[[], Sites],
                 as_pandas: bool | None) -> None:
        self._rows = functools.lru_cache(maxsize=None)(rows)
        self._values = values
        self._read_sites = sites
        self._as_pandas = as_pandas

    @functools.cached_property
    def _sites(self) -> Sites:
        return self._read_sites()

    @functools.cached_property
    def nodes(self) -> list[str]:
        """Names of the nodes, in the order of their numbers."""
        return texts(self._rows("nodes")["name"])

    def _table(self, columns: dict[str, Any], units: dict[str, str]) -> Table:
        return table(columns, units, self._as_pandas)

    @staticmethod
    def _units(name: str) -> dict[str, str]:
        """Those of FORMAT.md: what leads to another table has its text instead."""
        return {column: "" if "row of" in unit else unit for column, unit, *_ in TABLES[name]}

    def _own(self, name: str) -> dict[str, Any]:
        """The columns of a table but those that lead to lists; bools as such."""
        kinds = {column: unit for column, unit, *_ in TABLES[name]}
        rows = self._rows(name)
        lists = {column for column in rows
                 if column.endswith(("_begin", "_count")) and f"{column[:-6]}_begin" in rows
                 and f"{column[:-6]}_count" in rows}
        return {column: values.astype(bool) if kinds[column] == "0 or 1" else values for column, values in rows.items()
                if column not in lists}

    def _ranges(self, name: str, what: str, other: str) -> list[range]:
        """Of each row the rows of another table that are its list."""
        rows, most = self._rows(name), len(next(iter(self._rows(other).values())))
        found = [range(begin, begin + count)
                 for begin, count in zip(rows[f"{what}_begin"].tolist(), rows[f"{what}_count"].tolist())]
        if sum(map(len, found)) > most or any(one.start < 0 or one.stop > most for one in found):
            raise Error(f"damaged: the {what} of {name} are not where they should be")
        return found

    def _lists(self, name: str, what: str, other: str, column: str) -> list[list[Any]]:
        values = self._rows(other)[column].tolist()
        return [values[one.start:one.stop] for one in self._ranges(name, what, other)]

    def _node_names(self, numbers: numpy.ndarray) -> Labels:
        return Labels.of(numbers, lambda node: self.nodes[node] if 0 <= node < len(self.nodes) else None)

    def _with(self, columns: dict[str, Any], name: str, extra: dict[str, str] | None = None) -> Table:
        return self._table(columns, self._units(name) | (extra or {}))
