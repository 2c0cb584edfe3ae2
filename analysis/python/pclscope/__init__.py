"""Reads what pclscope recorded of an MPI job: dumps (`open`) and running jobs (`connect`), as tables (pandas or numpy).

    import pclscope
    run = pclscope.open("run.h5")
    run.findings                                      # why messages are late
    run.messages(region=3, start=2.0)                 # single messages
    pclscope.units(run.ranks)                         # the unit of each column
"""
from __future__ import annotations

import os

from .dump import Dump
from .error import Error
from .session import Session, Snapshot, jobs
from .summary import Summary
from .table import Table, units

__all__ = ["Dump", "Error", "Session", "Snapshot", "Summary", "Table", "connect", "jobs", "open", "units"]
__version__ = "0.1.0"


def open(path: str | os.PathLike[str], pandas: bool | None = None) -> Dump:  # pylint: disable=redefined-builtin
    """A dump. `pandas`: tables as its DataFrames (None: where it is installed), else as structured numpy arrays."""
    return Dump(path, pandas)


def connect(target: str | None = None, pandas: bool | None = None) -> Session:
    """A running job: its name or endpoint; without one the only job of yours on this node, or the newest."""
    return Session(target, pandas)
