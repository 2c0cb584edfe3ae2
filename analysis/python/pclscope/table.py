"""Columns as a pandas DataFrame, or without pandas as a structured numpy array; both know their columns' units."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy

try:
    import pandas
except ImportError:
    pandas = None

Table = Any  # pandas.DataFrame, or numpy.ndarray with named fields


class Labels:
    """A column of texts of which there are few different ones: `codes` are places in `texts`, -1 is None."""

    def __init__(self, codes: numpy.ndarray, texts: list[str]) -> None:
        self.codes, self.texts = codes, texts

    def values(self) -> numpy.ndarray:
        return objects([*self.texts, None])[self.codes]

    @staticmethod
    def of(numbers: numpy.ndarray, text_of: Any) -> Labels:
        """The text of each number: `text_of` is asked once for each different one."""
        different, codes = numpy.unique(numbers, return_inverse=True)
        texts = [text_of(number) for number in different.tolist()]
        known = sorted({text for text in texts if text is not None})
        place = {text: code for code, text in enumerate(known)} | {None: -1}
        return Labels(numpy.array([place[text] for text in texts], dtype=numpy.int32)[codes.reshape(-1)], known)


def objects(values: Iterable[Any]) -> numpy.ndarray:
    """A column of texts, lists or whatever else is no number."""
    values = list(values)
    column = numpy.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        column[place] = value
    return column


def table(columns: Mapping[str, Any], units: Mapping[str, str], as_pandas: bool | None) -> Table:
    """`as_pandas`: None where it is installed."""
    units = {name: units.get(name, "") for name in columns}
    if pandas is None and as_pandas:
        raise ImportError("pandas is not installed")
    if pandas is not None and as_pandas is not False:
        made = {name: column if not isinstance(column, Labels) else
                pandas.Categorical.from_codes(column.codes, column.texts) for name, column in columns.items()}
        frame = pandas.DataFrame(made, copy=False)
        frame.attrs["units"] = units
        return frame
    plain = {name: column.values() if isinstance(column, Labels) else column for name, column in columns.items()}
    kind = numpy.dtype([(name, column.dtype) for name, column in plain.items()], metadata={"units": units})
    array = numpy.empty(len(next(iter(plain.values()))) if plain else 0, dtype=kind)
    for name, column in plain.items():
        array[name] = column
    return array


def units(of: Table) -> dict[str, str]:
    """The unit of each column: `s`, `ns`, `bytes`, `rank`, `id`; `1` is a plain number, and empty none."""
    if isinstance(of, numpy.ndarray):
        return dict((of.dtype.metadata or {}).get("units", {}))
    return dict(of.attrs.get("units", {}))
