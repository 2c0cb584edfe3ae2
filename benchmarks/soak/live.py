"""A real job at full speed for minutes: the worker's memory and the dump stay flat, and no call is lost.

    live.py [--build DIR] [--mpi openmpi] [--minutes 10] [--budget 64MB] [--every 10]

Two ranks exchange messages without a pause under `pclscope run --dump`. Prints the worker's own memory (RssAnon; rings
are shared with the ranks) and the size of the dump while it runs. Exit status 1 when one of these does not hold: memory
of the second half is at most that of the first half and a tenth more; the dump is never larger than its budget, and
from when it has come close to it (nine tenths) it stays there, else it grows by no more in the second half than in the
first; every message is matched; the calls over time add up to the calls counted, function by function.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
UNITS = {"MB": 1e6, "GB": 1e9}


def fail(why):
    sys.exit(f"live.py: {why}")


def output_of(*command):
    done = subprocess.run([str(word) for word in command], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def worker_of(dump):
    """The process that writes this dump."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if b"--worker" in words and str(dump).encode() in words:
                return process
        except OSError:
            pass
    return None


def own_memory(process):
    try:
        for line in (process / "status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def watch(running, dump, every):
    """[(seconds since the first look, bytes of memory, bytes of the dump)] until the job ends."""
    began, samples, worker = time.monotonic(), [], None
    while running.poll() is None:
        worker = worker or worker_of(dump)
        memory = own_memory(worker) if worker else None
        if memory:
            samples.append((time.monotonic() - began, memory, dump.stat().st_size if dump.exists() else 0))
            print(f"{samples[-1][0]:6.0f} s  memory {memory / 1e6:6.1f} MB  dump {samples[-1][2] / 1e6:7.2f} MB",
                  flush=True)
        time.sleep(every)
    return samples


def judge(samples, budget):
    half = samples[-1][0] / 2
    first, second = ([s for s in samples if (s[0] <= half) == early] for early in (True, False))
    if len(first) < 5 or len(second) < 5:
        fail(f"only {len(samples)} looks: a longer run, or --every less")
    most = [max(s[1] for s in part) for part in (first, second)]
    print(f"memory: at most {most[0] / 1e6:.1f} MB in the first half, {most[1] / 1e6:.1f} MB in the second")
    if most[1] > 1.1 * most[0]:
        fail("memory grows")
    sizes = [first[0][2], first[-1][2], second[-1][2]]
    print(f"dump: {sizes[0] / 1e6:.2f} MB at first, {sizes[1] / 1e6:.2f} MB after the first half, "
          f"{sizes[2] / 1e6:.2f} MB at the end, budget {budget / 1e6:.0f} MB")
    if max(s[2] for s in samples) > budget:
        fail("the dump is larger than its budget")
    if sizes[1] < 0.9 * budget and sizes[2] - sizes[1] > sizes[1] - sizes[0] + 1e6:
        fail("the dump grows ever faster")


def check_sums(pclscope, dump, messages):
    found = json.loads(output_of(pclscope, "inspect", dump, "--json"))["messages"]
    if found["matched"] != messages or found["dropped_events"] != 0:
        fail(f"not every one of {messages} messages was matched: {found}")
    counted = {f["function"]: f["calls"] for f in
               json.loads(output_of(pclscope, "inspect", dump, "calls", "--json"))["functions"]}
    activity = json.loads(output_of(pclscope, "inspect", dump, "activity", "--json"))["activity"]
    for edge in ("starts", "ends"):
        over_time = {f["function"]: sum(s[edge] for s in f["slices"]) for f in activity["functions"]}
        if over_time != counted:
            fail(f"{edge} over time {over_time} are not the calls counted {counted}")
    print(f"{messages:,} messages, all matched; {sum(counted.values()):,} calls, as many begin and end over time "
          f"(slices of {activity['slice_s']:g} s)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--budget", default="64MB")
    parser.add_argument("--every", type=float, default=10)
    args = parser.parse_args()
    build = pathlib.Path(args.build).resolve()
    pclscope, steps = build / "bin" / "pclscope", build / "benchmarks" / f"steps-{args.mpi}"
    budget = float(args.budget[:-2]) * UNITS[args.budget[-2:]]
    with tempfile.TemporaryDirectory() as folder:
        dump = pathlib.Path(folder) / "soak.h5"
        line = [pclscope, "run", "--quiet", "-n", "2", "--mpi", args.mpi, "--budget", args.budget, "--dump", dump, "--",
                steps, "halo"]
        took, messages = (float(word) for word in output_of(*line, "1000000", "1024").split())
        asked = int(args.minutes * 60 * messages / took)
        print(f"asked: {asked:,} messages, {messages / took:,.0f} a second in a run of {took:.1f} s", flush=True)
        dump.unlink()
        running = subprocess.Popen([str(word) for word in (*line, asked, 1024)], env=ENVIRONMENT,
                                   stdout=subprocess.PIPE, text=True)
        samples = watch(running, dump, args.every)
        if running.returncode != 0:
            fail(f"the job ended with status {running.returncode}")
        took, messages = (float(word) for word in running.stdout.read().split())
        print(f"ran {took:.0f} s, {messages / took:,.0f} messages/s")
        check_sums(pclscope, dump, int(messages))
        judge(samples, budget)


if __name__ == "__main__":
    main()
