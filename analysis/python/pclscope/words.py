"""What numbers in a dump stand for, in the words of `inspect --json`. Functions and wait states: columns.py."""
from __future__ import annotations

from .columns import FUNCTIONS

CAUSES = ("none", "unknown", "mapping", "pattern", "background", "late-sender", "late-receiver", "collective-wait",
          "load-imbalance", "outage", "one-sided-wait", "file", "startup", "blocked")
CONDITIONS = ("more-ranks-than-cores", "ranks-on-one-core", "other-load", "quota", "own-threads")
PERIODS = ("other", "growth", "steady")
KEEP = ("summaries", "interesting", "all")
ENDINGS = ("returned", "unseen", "running")

WORLD, SELF = 1, 2  # ids of MPI_COMM_WORLD and MPI_COMM_SELF

# Bits of a message's flags (analysis/values/message.hpp, interpose/record/event.hpp).
NONBLOCKING, PERSISTENT, BUFFERED = 1 << 0, 1 << 1, 1 << 4
CLOCK_UNCLEAR, CLOCK_VIOLATION, INTER_NODE, UNSEEN_COMPLETION = 1 << 27, 1 << 29, 1 << 30, 1 << 31
NO_LATENCY = UNSEEN_COMPLETION | CLOCK_VIOLATION | CLOCK_UNCLEAR


def function(number: int) -> str:
    """MPI_Recv."""
    return FUNCTIONS.get(int(number), "MPI_?")


def communicator(comm: int) -> str | None:
    """world, self, or the id as hexadecimal digits; None: several."""
    return None if comm == 0 else {WORLD: "world", SELF: "self"}.get(int(comm), f"{int(comm):x}")


def word(words: tuple[str, ...], number: int, other: str) -> str:
    """The word of a number; `other` where a newer pclscope has more of them."""
    return words[number] if 0 <= number < len(words) else other
