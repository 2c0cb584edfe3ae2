"""Generates the wrappers of one MPI implementation.

    generate.py PREPROCESSED_MPI_H CALLS_DEF FUNCTIONS_DEF OUTPUT_DIRECTORY     writes the sources
    generate.py --check CALLS_DEF FUNCTIONS_DEF PREPROCESSED_MPI_H...           only checks the decisions

Exit status 1 and one line per complaint when a function of the header has no decision, or a decision does not fit.
"""

import pathlib
import re
import sys

import decisions as deciding
import fortran
import prototypes as reading
import wrappers as writing


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def numbered_functions(text):
    return {"MPI_" + name for name in re.findall(r"^PCLSCOPE_FUNCTION\(\d+, (\w+)\)", text, re.MULTILINE)}


def load(header, calls, numbers_file):
    functions = reading.parse_header(read(header))
    decisions, also = deciding.parse_decisions(read(calls))
    extra = {name: f for name, f in also.items() if name not in functions}
    functions.update(extra)
    return functions, extra, decisions, numbered_functions(read(numbers_file))


def write_if_changed(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def generate(header, calls, numbers_file, directory):
    functions, extra, decisions, numbers = load(header, calls, numbers_file)
    complaints = deciding.check_header(functions, decisions)
    if not complaints:
        out = pathlib.Path(directory)
        out.mkdir(parents=True, exist_ok=True)
        write_if_changed(out / "real_functions.hpp", writing.real_functions(functions, extra))
        write_if_changed(out / "wrappers.cpp", writing.wrapper_source(functions, decisions, numbers))
        write_if_changed(out / "stubs.inc", writing.stub_list(functions, decisions))
        for part, text in enumerate(fortran.shim_sources(functions, decisions, numbers)):
            write_if_changed(out / f"fortran_shims_{part}.cpp", text)
        write_if_changed(out / "fortran_table.cpp", fortran.shim_table(functions, decisions))
        write_if_changed(out / "fortran_stubs.inc", fortran.stub_list(functions, decisions))
        write_if_changed(out / "fortran_unrecorded.txt",
                         "".join(name + "\n" for name in fortran.unrecorded(functions, decisions)))
    return complaints


def check(calls, numbers_file, headers):
    complaints, known = [], set()
    for header in headers:
        functions, _, decisions, numbers = load(header, calls, numbers_file)
        complaints += [f"{header}: {c}" for c in deciding.check_header(functions, decisions)]
        known |= set(functions) | numbers
    return complaints + deciding.check_known(decisions, known)


def main(arguments):
    try:
        if len(arguments) >= 4 and arguments[0] == "--check":
            complaints = check(arguments[1], arguments[2], arguments[3:])
        elif len(arguments) == 4:
            complaints = generate(*arguments)
        else:
            print(__doc__, file=sys.stderr)
            return 2
    except (reading.PrototypeError, deciding.DecisionError, writing.GenerateError, OSError) as error:
        complaints = [str(error)]
    for complaint in complaints:
        print(f"generate.py: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
