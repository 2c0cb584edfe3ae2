"""Reads calls.def: what happens to each MPI function, and checks it against a header."""

import re
from dataclasses import dataclass, field

from prototypes import parse_declaration

# Decisions that only name a C++ function template wrap_<decision> of the wrap_*.hpp files; all arguments are handed on.
SHAPES = {
    "send", "isend", "send_init", "recv", "irecv", "recv_init",
    "sendrecv", "sendrecv_replace", "isendrecv", "isendrecv_replace",
    "probe", "iprobe", "mprobe", "improbe", "mrecv", "imrecv",
    "start", "startall", "request_free", "cancel",
    "wait", "waitall", "waitany", "waitsome", "test", "testall", "testany", "testsome",
    "psend_init", "precv_init",
    "win_create", "win_allocate", "win_create_dynamic", "win_free", "rma", "rma_result", "rma_single", "rma_compare",
    "rma_sync", "rma_group", "rma_lock", "rma_target", "rma_test",
    "file_open", "file_delete", "file_close", "file_data", "file_call",
}
# Decisions with code of their own in the generator (wrappers.py).
COLLECTIVES = ("collective", "icollective", "collective_init")
SPECIAL = {*COLLECTIVES, "creates", "frees", "idup", "call", "translate", "hand", "keep", "pass"}
SEND_MODES = {"standard": "0", "synchronous": "flag::synchronous", "buffered": "flag::buffered", "ready": "flag::ready"}
FAMILIES = {
    "barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall",
    "alltoallv", "alltoallw", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block",
    "neighbor_allgather", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw",
}


class DecisionError(Exception):
    pass


@dataclass
class Decision:
    name: str
    kind: str
    words: list = field(default_factory=list)
    line: int = 0


def parse_decisions(text):
    """Returns ({name: Decision}, {name: Function}); the second are prototypes that headers no longer declare."""
    decisions, prototypes = {}, {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        if line.startswith("also "):
            function = parse_declaration(line[5:].rstrip(";"))
            if function is None:
                raise DecisionError(f"calls.def:{number}: not a prototype: {line}")
            prototypes[function.name] = function
            continue
        words = line.split()
        if len(words) < 2:
            raise DecisionError(f"calls.def:{number}: {words[0]} has no decision")
        name, kind = words[0], words[1]
        name = name if name.startswith("MPIX_") else "MPI_" + name
        if kind not in SHAPES and kind not in SPECIAL:
            raise DecisionError(f"calls.def:{number}: unknown decision '{kind}' for {name}")
        if name in decisions:
            raise DecisionError(f"calls.def:{number}: {name} is decided twice")
        decisions[name] = Decision(name, kind, words[2:], number)
        check_words(decisions[name])
    return decisions, prototypes


def check_words(decision):
    kind, words, where = decision.kind, decision.words, f"calls.def:{decision.line}: {decision.name}"
    if kind in COLLECTIVES:
        if not words or words[0] not in FAMILIES:
            raise DecisionError(f"{where}: unknown collective family")
    elif kind in ("send", "isend", "send_init"):
        if any(word not in SEND_MODES for word in words):
            raise DecisionError(f"{where}: unknown send mode")
    elif kind == "creates":
        if any(word not in ("dup", "orphan") for word in words):
            raise DecisionError(f"{where}: creates takes 'dup' or 'orphan'")
    elif kind == "keep":
        if not words:
            raise DecisionError(f"{where}: keep needs its reason")
    elif words:
        raise DecisionError(f"{where}: unexpected '{' '.join(words)}'")


def touches_communicator(function):
    return any(re.search(r"\bMPI_Comm\b", p.type) for p in function.parameters)


def check_header(functions, decisions):
    """Every function of the header has a decision, and the decision fits. Returns the list of complaints."""
    complaints = []
    for name, function in sorted(functions.items()):
        decision = decisions.get(name)
        if decision is None:
            complaints.append(f"{name} has no decision in calls.def")
        elif decision.kind == "pass" and touches_communicator(function):
            complaints.append(f"{name} is passed, but it has a communicator: translate it, or keep it with a reason")
        elif decision.kind == "translate" and not any(p.type == "MPI_Comm" for p in function.parameters):
            complaints.append(f"{name} is translated, but it takes no communicator")
    return complaints


def check_known(decisions, known):
    """Every decision names a function that exists: `known` are the numbered functions and those of the headers.

    MPIX_ functions have no numbers and exist in one implementation only: no typing error is found there.
    """
    return [f"calls.def:{d.line}: {name} is no function of MPI" for name, d in sorted(decisions.items())
            if name not in known and not name.startswith("MPIX_")]
