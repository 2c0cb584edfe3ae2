"""The tool's share of a node whose cores all have a rank: 2 ranks on 2 cores, default options, with a dump.

    run.py [--build DIR] [--mpi openmpi] [--seconds 6] [--pairs 5] [--cases rate,bulk,pingpong,halo] [--aggregators 1]

rate: what the aggregator and its anchor take of a core at 0, 10,000, 100,000 and 1,000,000 messages/s asked, over
some steady seconds, and what they had taken when these began (start-up), from the scheduler's clock in /proc. The
others: time under `pclscope run` against a bare mpirun, in turn, medians and best. Checked: the programs' own results,
every message matched, no event dropped.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMITS = {0: 0.3, 10_000: 1, 100_000: 4, 1_000_000: 25}  # per cent of a core
ANCHOR_LIMIT = 0.1
CASES = {  # arguments of `steps`, limit of the ratio; WORK is a millisecond of it
    "bulk": (["bulk", "2000", "WORK"], 1.01),
    "pingpong": (["pingpong", "1000000"], 1.5),
    "halo": (["halo", "2000000", "1024"], 2.0),
}


def fail(why):
    sys.exit(f"run.py: {why}")


def environment():
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(line):
    done = subprocess.run(line, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"{' '.join(line)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


class Build:
    def __init__(self, build, mpi, aggregators):
        self.pclscope = os.path.join(build, "bin", "pclscope")
        self.steps = os.path.join(build, "benchmarks", f"steps-{mpi}")
        self.mpirun = f"mpirun.{mpi}"
        self.traced = [self.pclscope, "run", "--quiet", "-n", "2", "--mpi", mpi, "--aggregators", aggregators, "--dump"]


def descends(process, ancestor):
    while process > 1 and process != ancestor:
        process = int(pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return process == ancestor


def tool_processes(run_pid):
    """Of that run, by name ("anchor", "worker"): processor time in seconds, all threads, and of all aggregators."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if b"pclscope-aggregator" not in words[0] or not descends(int(process.name), run_pid):
                continue
            ran = sum(int((task / "schedstat").read_text().split()[0]) for task in (process / "task").iterdir())
            which = "worker" if b"--worker" in words else "anchor"
            found[which] = found.get(which, 0) + ran * 1e-9
        except (OSError, IndexError):
            pass
    return found


def check_dump(build, dump, messages):
    found = json.loads(run([build.pclscope, "inspect", dump, "--json"]))["messages"]
    wrong = any(found[k] for k in ("unmatched_sends", "unmatched_receives", "ambiguous", "dropped_events"))
    if found["matched"] != messages or wrong:
        fail(f"not every one of {messages} messages was matched: {found}")


def measure_rate(build, rate, seconds, dump):
    settle = 2.0  # MPI_Init, the first windows, the lines of call sites
    line = build.traced + [dump, "--", build.steps, "rate", str(rate), str(int(seconds + settle + 2))]
    process = subprocess.Popen(line, env=environment(), stdout=subprocess.PIPE, text=True)
    while len(tool_processes(process.pid)) < 2 and process.poll() is None:
        time.sleep(0.01)
    time.sleep(settle)
    began, before = time.monotonic(), tool_processes(process.pid)
    time.sleep(seconds)
    took, after = time.monotonic() - began, tool_processes(process.pid)
    out = process.communicate()[0]
    if process.returncode != 0 or len(before) < 2 or len(after) < 2:
        fail(f"{' '.join(line)}: status {process.returncode}")
    held, messages = out.split()
    check_dump(build, dump, int(messages))
    return {"worker": 100 * (after["worker"] - before["worker"]) / took,
            "anchor": 100 * (after["anchor"] - before["anchor"]) / took,
            "start worker": 1e3 * before["worker"], "start anchor": 1e3 * before["anchor"],
            "rate": int(messages) / float(held)}


def report_rates(build, seconds, dump):
    print(f"{'asked/s':>10} {'held/s':>10} {'worker':>9} {'limit':>7} {'anchor':>9} {'limit':>7}   "
          "start-up, first 2 s: worker, anchor")
    for rate, limit in LIMITS.items():
        m = measure_rate(build, rate, seconds, dump)
        print(f"{rate:>10,} {m['rate']:>10,.0f} {m['worker']:>7.2f} % {limit:>5} % {m['anchor']:>7.2f} % "
              f"{ANCHOR_LIMIT:>5} %   {m['start worker']:.0f} ms, {m['start anchor']:.0f} ms", flush=True)


def report_ratio(build, case, pairs, dump):
    arguments, limit = CASES[case]
    if "WORK" in arguments:
        work = run([build.mpirun, "-n", "1", build.steps, "amount", "1000"]).split()[1]
        arguments = [work if a == "WORK" else a for a in arguments]
    times = {"bare": [], "traced": []}
    for _ in range(pairs):
        times["bare"].append(float(run([build.mpirun, "-n", "2", build.steps] + arguments).split()[0]))
        traced, messages = run(build.traced + [dump, "--", build.steps] + arguments).split()
        times["traced"].append(float(traced))
        check_dump(build, dump, int(messages))
    ratios = [t / b for t, b in zip(times["traced"], times["bare"])]
    median = {which: statistics.median(all_of) for which, all_of in times.items()}
    print(f"{case:>10}: bare {median['bare']:.3f} s, traced {median['traced']:.3f} s; ratio of pairs median "
          f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}), of the best "
          f"{min(times['traced']) / min(times['bare']):.3f}; limit {limit}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--aggregators", default="1")
    parser.add_argument("--cases", default="rate,bulk,pingpong,halo")
    args = parser.parse_args()
    build = Build(args.build, args.mpi, args.aggregators)
    with tempfile.TemporaryDirectory() as directory:
        dump = os.path.join(directory, "run.h5")
        for case in args.cases.split(","):
            if case == "rate":
                report_rates(build, args.seconds, dump)
            elif case in CASES:
                report_ratio(build, case, args.pairs, dump)
            else:
                fail(f"no case {case}: see --help")


if __name__ == "__main__":
    main()
