"""Reads the function prototypes of a preprocessed mpi.h."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    type: str  # as declared, without the name: "const void *", "const int []"
    name: str
    declaration: str  # as declared, the name included


@dataclass(frozen=True)
class Function:
    name: str  # with its prefix: MPI_Send, MPIX_Comm_shrink
    result: str
    parameters: tuple


class PrototypeError(Exception):
    pass


def strip_attributes(text):
    """Removes every __attribute__((...)), whose parentheses nest."""
    out, start = [], 0
    while (found := text.find("__attribute__", start)) >= 0:
        out.append(text[start:found])
        position, depth = text.index("(", found), 0
        while True:
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            position += 1
            if depth == 0:
                break
        start = position
    return "".join(out) + text[start:]


def parse_parameter(text, position):
    if text == "...":
        return Parameter("...", "...", "...")
    match = re.fullmatch(r"(.*?)(\w+)\s*((?:\[\w*\])*)", text)
    words = re.findall(r"\w+", text)
    unnamed = match is None or len([w for w in words if w != "const"]) < 2
    if unnamed:  # only a type: give it a name
        name = f"argument{position}"
        return Parameter(text, name, f"{text} {name}")
    base, name, suffix = match.groups()
    return Parameter(" ".join((base + suffix).split()), name, text)


def parse_declaration(declaration):
    """A Function for one declaration `int MPI_X(...)`, else None."""
    match = re.fullmatch(r"(?:extern )?((?:\w+ )+\*? ?)(MPIX?_\w+) ?\((.*)\)", declaration)
    if not match or declaration.startswith("typedef"):
        return None
    result, name, parameters = match.group(1).strip(), match.group(2), match.group(3).strip()
    if parameters in ("", "void"):
        return Function(name, result, ())
    if "(" in parameters:
        raise PrototypeError(f"{name}: a parameter with parentheses is not understood: {parameters}")
    pieces = [piece.strip() for piece in parameters.split(",")]
    return Function(name, result, tuple(parse_parameter(p, i) for i, p in enumerate(pieces)))


def parse_header(text):
    """All MPI_ and MPIX_ functions by name.

    MPI_T_ (the tool information interface) never takes part in communication and is left alone; PMPI_ and MPICH's
    QMPI_ repeat the same functions for tools and are no entry points of applications.
    """
    functions = {}
    for declaration in strip_attributes(text).split(";"):
        function = parse_declaration(" ".join(declaration.split()))
        if function and not function.name.startswith("MPI_T_"):
            functions[function.name] = function
    if "MPI_Send" not in functions or "MPI_Init" not in functions:
        raise PrototypeError("this is no preprocessed mpi.h: MPI_Send or MPI_Init is missing")
    return functions
