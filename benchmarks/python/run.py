#!/usr/bin/env python3
"""How many messages per second the Python package decodes, and whether they are right.

Usage: /usr/bin/python3 -B benchmarks/python/run.py [--messages N] [--dump FILE] [--build DIR]
Repeats the chunks of a real dump (LAMMPS on 4 ranks, unless one is given) up to N messages (4,000,000), and reads them:
what is stored, and the table with all that follows from it. Every column is compared with what the example of
analysis/store/FORMAT.md reads from the dump. Exit status 1: a column differs.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "analysis" / "python"), str(ROOT / "tests" / "analysis" / "store")]
import check_dump  # noqa: E402
import pclscope  # noqa: E402
from pclscope.dump import EARLIEST, LATEST  # noqa: E402

STORED = ("comm", "source", "destination", "tag", "flags", "bytes", "send_begin", "send_end", "recv_post", "recv_wait",
          "recv_end", "send_site", "recv_site")
SOME = ["source", "destination", "time_s"]


def record(build, directory):
    dump = directory / "lammps.h5"
    script = ROOT / "tests/data/lammps/melt.in"
    lammps = ["lmp", "-log", "none", "-screen", "none", "-in", script, "-var", "steps", "600"]
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    subprocess.run([build / "bin" / "pclscope", "run", "--quiet", "-n", "4", "--keep", "all", "--dump", dump, "--",
                    *lammps], check=True, env=environment)
    return dump


def repeated(dump, path, most):
    """The whole chunks of a dump again and again; how many messages are in a round."""
    shutil.copy(dump, path)
    with h5py.File(path, "r+", locking=False) as file:
        messages = file["messages"]
        rows = messages.attrs["rows"]
        chunk = messages["flags"].chunks[0]
        chunks = int(rows[0]) // chunk
        if chunks == 0:
            sys.exit(f"{dump} has not {chunk} messages: give one of a longer run")
        times = max(1, most // (chunks * chunk))
        for column in messages.values():
            found = [column.id.read_direct_chunk((place * chunk,)) for place in range(chunks)]
            column.resize((times * chunks * chunk,))
            for place in range(times * chunks):
                skipped, packed = found[place % chunks]
                column.id.write_direct_chunk((place * chunk,), packed, skipped)
        messages.attrs.modify("rows", numpy.array([times * chunks * chunk, 0, 0], dtype=rows.dtype))
        del file["chunk_times"]["messages"]
    return chunks * chunk


def measured(read):
    """The quickest of three, and what it found."""
    best = (float("inf"), float("inf"))
    for _ in range(3):
        wall, cores = time.perf_counter(), time.process_time()
        found = read()
        best = min(best, (time.perf_counter() - wall, time.process_time() - cores))
    return best, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=4_000_000)
    parser.add_argument("--dump", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        dump = options.dump or record(options.build, directory)
        path = directory / "large.h5"
        per_round = repeated(dump, path, options.messages)
        run = pclscope.open(path)

        def line(what, spent, rows):
            wall, cores = spent
            print(f"{what:38} {rows / wall / 1e6:6.2f} M messages/s, {rows / cores / 1e6:6.2f} M per second of a core")

        spent, stored = measured(lambda: run._rows_of("messages", set(STORED), EARLIEST, LATEST))
        rows = len(stored["comm"])
        print(f"{rows} messages, {os.path.getsize(path) / rows:.1f} bytes each in the file")
        line("all 13 columns that are stored", spent, rows)
        spent, table = measured(run.messages)
        line(f"messages(), {len(pclscope.units(table))} columns", spent, rows)
        spent, _ = measured(lambda: run.messages(columns=SOME))
        line(f"messages(columns={SOME})", spent, rows)

        with h5py.File(dump, "r", locking=False) as file:
            wanted = check_dump.helpers(ROOT / "analysis" / "store" / "FORMAT.md")[1]["messages"](file)
        wrong = [column for column in STORED
                 if not (stored[column].reshape(-1, per_round) == wanted[column][:per_round]).all()]
        wrong += ["start_s"] * (not (table["start_s"].to_numpy() == stored["send_begin"] / 1e9).all())
        if wrong:
            sys.exit(f"wrong: {', '.join(wrong)}")
        print("all columns are those that the example of FORMAT.md reads")


if __name__ == "__main__":
    main()
