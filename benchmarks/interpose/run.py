"""Added cost of recording, per MPI call: bare and recorded runs in turn; medians, and the best of each.

    run.py [--build DIR] [--mpi openmpi|mpich] [--pairs 5] [--cases null,self,...] [--whole] [--later] [--cpu] [--json]
           [--library FILE]
    run.py --instructions [--build DIR] [--mpi ...] [--cases ...] [--library FILE] [--json]

Recorded runs have their rings drained by `drain`, or, with --whole, by a complete `pclscope run`. Every run checks
its own result; the drain checks every event. With --later rings hold everything and are read at the end: what
recording costs when there is no core left for the drain. `dormant`: the library preloaded, but nobody attached. --cpu
compares processor time instead of wall time: the figures hold on a busy machine too, but leave out waiting. `memory`:
resident memory that recording added to rank 0, its ring (4 MiB) included. The case `ends` (8 ranks) gives ns of
MPI_Init and of MPI_Finalize. Two time stamps are the least that recording costs: their time in the same session is
printed first, and limits are what may be added beyond it. --library: of another build, for comparisons.

--instructions counts instructions per call with callgrind, for all cases of one rank: the same on a busy machine.
"""

import argparse
import glob
import json
import os
import re
import secrets
import statistics
import subprocess
import sys

CASES = {"null": 1, "barrier": 1, "control_off": 1, "self": 1, "self_off": 1, "pingpong": 2, "halo": 2, "posted8": 1,
         "posted": 1, "exchange8": 1, "persistent": 1, "persistent8": 1, "test_vain": 1, "test_done": 1,
         "iprobe_vain": 1, "iprobe_found": 1}
DORMANT_LIMIT = 8.0  # added ns per call, in all cases but these
NOT_DORMANT = ("control_off", "self_off", "pingpong", "halo", "posted", "persistent8", "ends")
BEYOND_STAMPS = {"null": 5.0, "barrier": 5.0, "self": 8.0, "persistent": 12.0}  # added ns per call
LIMIT = {"control_off": 8.0, "self_off": 8.0}
COUNTED = 2000  # rounds of which instructions are counted
ROUNDS = {"posted": 1}  # of others
ENDS = 8  # ranks


def environment(**more):
    base = {k: v for k, v in os.environ.items() if not k.startswith("PCLSCOPE_") and k != "LD_PRELOAD"}
    return dict(base, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **more)


class Bench:
    def __init__(self, options):
        self.build, self.mpi, self.count, self.later = options.build, options.mpi, options.count, options.later
        self.stacks = str(options.stacks)
        self.word = int(options.cpu)
        self.calls = os.path.join(self.build, "benchmarks", f"calls-{self.mpi}")
        self.resident = {}  # way to run: KiB
        self.library = options.library or os.path.join(self.build, "lib", f"libpclscope-{self.mpi}.so")
        self.tool = []  # the program runs under this
        self.instructions = options.instructions
        if self.instructions:
            self.tool = ["valgrind", "--tool=callgrind", "--toggle-collect=measured", "--callgrind-out-file=/dev/null"]

    def mpirun(self, case, preload):
        line = [f"mpirun.{self.mpi}"] + (["--oversubscribe"] if self.mpi == "openmpi" else [])
        line += ["-n", str(CASES.get(case, ENDS))]
        line += ["env", "LD_PRELOAD=" + self.library] if preload else []
        count = self.count or (ROUNDS.get(case, COUNTED) if self.instructions else 0)
        return line + self.tool + [self.calls, case] + ([str(count)] if count else [])

    def check(self, way, line, **variables):
        done = subprocess.run(line, env=environment(**variables), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"run.py: {' '.join(line)}: status {done.returncode}: {done.stderr.strip()}")
        words = done.stdout.split()
        if self.instructions:
            return int(re.search(r"Collected : (\d+)", done.stderr).group(1)) / int(words[3])
        self.resident.setdefault(way, []).append(int(words[2]) if len(words) > 2 else 0)
        return float(words[self.word])

    def stamps(self):
        return self.check("stamps", [f"mpirun.{self.mpi}", "-n", "1", self.calls, "stamps"])

    def bare(self, case):
        return self.check("bare", self.mpirun(case, False))

    def dormant(self, case):
        return self.check("dormant", self.mpirun(case, True), PCLSCOPE_STACKS=self.stacks)

    def recorded(self, case):
        token = secrets.token_hex(16)
        ranks = str(CASES.get(case, ENDS))
        with subprocess.Popen([os.path.join(self.build, "benchmarks", "drain"), token, ranks] + ["later"] * self.later,
                              stdout=subprocess.PIPE, text=True) as drain:
            try:
                drain.stdout.readline()  # "ready"
                rings = {"PCLSCOPE_RING_EVENTS": "2097152"} if self.later else {}
                result = self.check("recorded", self.mpirun(case, True), PCLSCOPE_JOB=token, PCLSCOPE_RANKS=ranks,
                                    PCLSCOPE_TOOL_RANKS="0", PCLSCOPE_STACKS=self.stacks, **rings)
                out, _ = drain.communicate(timeout=30)
            finally:
                drain.kill()
                for path in glob.glob(f"/dev/shm/pclscope-{token}-*"):
                    os.unlink(path)
        if drain.returncode != 0:
            sys.exit(f"run.py: {case}: the record is damaged: {out}")
        self.seen = out.strip()
        return result

    def whole(self, case):
        pclscope = os.path.join(self.build, "bin", "pclscope")
        line = [pclscope, "run", "--mpi", self.mpi, "-n", str(CASES.get(case, ENDS)), "--"]
        return self.check("recorded", line + [self.calls, case] + ([str(self.count)] if self.count else []))


def count_instructions(bench, cases):
    results = {}
    print(f"{'instructions per call':21} {'bare':>7} {'dormant':>9} {'added':>6} {'recorded':>9} {'added':>6}")
    for case in cases:
        if CASES.get(case, ENDS) != 1:
            continue
        bare, dormant, recorded = bench.bare(case), bench.dormant(case), bench.recorded(case)
        results[case] = {"bare": bare, "dormant": dormant, "recorded": recorded}
        print(f"{case:21} {bare:7.1f} {dormant:9.1f} {dormant - bare:6.1f} {recorded:9.1f} {recorded - bare:6.1f}",
              flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--mpi", default="openmpi", choices=["openmpi", "mpich"])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--library")
    parser.add_argument("--stacks", type=int, default=8, help="frames of call paths; 0: none")
    for name in ("whole", "later", "cpu", "json", "instructions"):
        parser.add_argument("--" + name, action="store_true")
    options = parser.parse_args()
    bench = Bench(options)
    cases = options.cases.split(",")
    if options.instructions:
        results = count_instructions(bench, cases)
        if options.json:
            print(json.dumps(results, indent=1))
        return 0
    stamps = statistics.median(bench.stamps() for _ in range(options.pairs))
    if not options.json:
        print(f"two time stamps {stamps:.1f} ns")
    results, failed = {"stamps_ns": stamps}, False
    for case in cases:
        bare, dormant, recorded = [], [], []
        bench.resident.clear()
        for _ in range(options.pairs):
            bare.append(bench.bare(case))
            dormant.append(bench.dormant(case))
            recorded.append(bench.whole(case) if options.whole else bench.recorded(case))
        b, d, r = map(statistics.median, (bare, dormant, recorded))
        best = min(recorded) - min(bare)
        memory = statistics.median(bench.resident["recorded"]) - statistics.median(bench.resident["bare"])
        results[case] = {"bare_ns": b, "dormant_ns": d, "dormant_added_ns": d - b,
                         "best_dormant_added_ns": min(dormant) - min(bare), "recorded_ns": r, "added_ns": r - b,
                         "ratio": r / b, "best_added_ns": best, "memory_kib": memory}
        limit = LIMIT.get(case, stamps + BEYOND_STAMPS.get(case, float("inf")))
        failed |= r - b > limit or (case not in NOT_DORMANT and d - b > DORMANT_LIMIT)
        if not options.json:
            print(f"{case:12} bare {b:9.1f} ns  "
                  f"dormant {d:9.1f} (added {d - b:6.1f}, best {min(dormant) - min(bare):5.1f})  "
                  f"recorded {r:9.1f}  added {r - b:7.1f}  "
                  f"ratio {r / b:5.2f}  best added {best:7.1f}  memory {memory / 1024:5.1f} MiB  "
                  f"{'' if options.whole else bench.seen}", flush=True)
    if options.json:
        print(json.dumps(results, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
