"""LAMMPS, 32,000 atoms, 2 ranks: loop time under `pclscope run` against a bare mpirun, in turn, medians.

    run.py [--build DIR] [--pairs 5] [--steps 300] [--ranks 2]

Each pair checks that both thermo tables are identical and that pclscope matched every message. Also prints what share
of one core the aggregator needed, from /proc while it ran.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(line, **options):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"run.py: {' '.join(line)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def worker_seconds():
    """Processor time of the running aggregator; None while there is none."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if b"--worker" in words and b"pclscope-aggregator" in words[0]:
                fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
                return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            pass
    return None


def traced_run(line):
    """Its output, and the aggregator's share of one core."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    seen = []
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(line, env=environment, stdout=output)
        while process.poll() is None:
            used = worker_seconds()
            if used is not None:
                seen.append((time.monotonic(), used))
            time.sleep(0.2)
        if process.returncode != 0:
            sys.exit(f"run.py: {' '.join(line)}: status {process.returncode}")
        output.seek(0)
        if len(seen) < 2:
            return output.read(), 0.0
        return output.read(), (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])


def loop_and_table(output):
    loop = float(re.search(r"^Loop time of ([0-9.]+)", output, re.M).group(1))
    return loop, re.findall(r"^ +\d+(?: +-?[0-9.e+-]+){3,}.*$", output, re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--ranks", type=int, default=2)
    args = parser.parse_args()
    pclscope = os.path.join(args.build, "bin", "pclscope")
    application = ["lmp", "-log", "none", "-in", os.path.join(ROOT, "tests", "data", "lammps", "melt.in"),
                   "-var", "steps", str(args.steps), "-var", "every", "50"]
    bare_line = ["mpirun.openmpi", "--oversubscribe", "-n", str(args.ranks)] + application
    if args.ranks <= (os.cpu_count() or 1):
        bare_line.remove("--oversubscribe")
    times = {"bare": [], "pclscope": []}
    shares = []
    with tempfile.TemporaryDirectory() as directory:
        dump = os.path.join(directory, "run.h5")
        for _ in range(args.pairs):
            bare, expected = loop_and_table(run(bare_line))
            output, share = traced_run(
                [pclscope, "run", "--quiet", "-n", str(args.ranks), "--dump", dump, "--"] + application)
            traced, table = loop_and_table(output)
            shares.append(share)
            if not expected or table != expected:
                sys.exit("run.py: the thermo tables differ")
            messages = json.loads(run([pclscope, "inspect", dump, "--json"]))["messages"]
            if not messages["matched"] or any(
                    messages[k] for k in ("unmatched_sends", "unmatched_receives", "ambiguous", "dropped_events")):
                sys.exit(f"run.py: not every message was matched: {messages}")
            times["bare"].append(bare)
            times["pclscope"].append(traced)
    ratios = [t / b for t, b in zip(times["pclscope"], times["bare"])]
    print(f"lammps {args.ranks} ranks, {args.steps} steps, {messages['matched']} messages: loop time bare "
          f"{statistics.median(times['bare']):.3f} s, pclscope {statistics.median(times['pclscope']):.3f} s; "
          f"ratio per pair: median {statistics.median(ratios):.3f} (min {min(ratios):.3f}, max {max(ratios):.3f}); "
          f"aggregator {statistics.median(shares) * 100:.1f} % of one core")


if __name__ == "__main__":
    main()
