"""Added cost of recording, per MPI call: bare and recorded runs in turn; medians, and the best of each.

    run.py [--build DIR] [--mpi openmpi|mpich] [--pairs 5] [--cases null,self,...] [--whole] [--later] [--cpu] [--json]

Recorded runs have their rings drained by `drain`, or, with --whole, by a complete `pclscope run`. Every run checks
its own result; the drain checks every event. With --later rings hold everything and are read at the end: what
recording costs when there is no core left for the drain. `dormant`: the library preloaded, but nobody attached. --cpu
compares processor time instead of wall time: the figures hold on a busy machine too, but leave out waiting. `memory`:
resident memory that recording added to rank 0, its ring (4 MiB) included. The case `ends` (8 ranks) gives ns of
MPI_Init and of MPI_Finalize.
"""

import argparse
import glob
import json
import os
import secrets
import statistics
import subprocess
import sys

CASES = {"null": 1, "control_off": 1, "self": 1, "self_off": 1, "pingpong": 2, "halo": 2, "posted8": 1, "posted": 1}
DORMANT_LIMIT = 8.0  # median over the cases of DORMANT_CASES, added ns per call
DORMANT_CASES = ("null", "self")
LIMIT = {"null": 35.0, "self": 45.0, "control_off": 8.0, "self_off": 8.0}  # added ns per call
ENDS = 8  # ranks


def environment(**more):
    base = {k: v for k, v in os.environ.items() if not k.startswith("PCLSCOPE_") and k != "LD_PRELOAD"}
    return dict(base, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **more)


class Bench:
    def __init__(self, build, mpi, count, word, later):
        self.build, self.mpi, self.count, self.word, self.later = build, mpi, count, word, later
        self.calls = os.path.join(build, "benchmarks", f"calls-{mpi}")
        self.resident = {}  # way to run: KiB
        self.library = os.path.join(build, "lib", f"libpclscope-{mpi}.so")

    def mpirun(self, case, preload):
        line = [f"mpirun.{self.mpi}"] + (["--oversubscribe"] if self.mpi == "openmpi" else [])
        line += ["-n", str(CASES.get(case, ENDS))]
        line += ["env", "LD_PRELOAD=" + self.library] if preload else []
        return line + [self.calls, case] + ([str(self.count)] if self.count else [])

    def check(self, way, line, **variables):
        done = subprocess.run(line, env=environment(**variables), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"run.py: {' '.join(line)}: status {done.returncode}: {done.stderr.strip()}")
        words = done.stdout.split()
        self.resident.setdefault(way, []).append(int(words[2]) if len(words) > 2 else 0)
        return float(words[self.word])

    def bare(self, case):
        return self.check("bare", self.mpirun(case, False))

    def dormant(self, case):
        return self.check("dormant", self.mpirun(case, True))

    def recorded(self, case):
        token = secrets.token_hex(16)
        ranks = str(CASES.get(case, ENDS))
        with subprocess.Popen([os.path.join(self.build, "benchmarks", "drain"), token, ranks] + ["later"] * self.later,
                              stdout=subprocess.PIPE, text=True) as drain:
            try:
                drain.stdout.readline()  # "ready"
                rings = {"PCLSCOPE_RING_EVENTS": "2097152"} if self.later else {}
                result = self.check("recorded", self.mpirun(case, True), PCLSCOPE_JOB=token, PCLSCOPE_RANKS=ranks,
                                    PCLSCOPE_TOOL_RANKS="0", **rings)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--mpi", default="openmpi", choices=["openmpi", "mpich"])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--later", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bench = Bench(options.build, options.mpi, options.count, int(options.cpu), options.later)
    results, failed = {}, False
    for case in options.cases.split(","):
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
        failed |= r - b > LIMIT.get(case, float("inf"))
        if not options.json:
            print(f"{case:9} bare {b:9.1f} ns  "
                  f"dormant {d:9.1f} (added {d - b:6.1f}, best {min(dormant) - min(bare):5.1f})  "
                  f"recorded {r:9.1f}  added {r - b:7.1f}  "
                  f"ratio {r / b:5.2f}  best added {best:7.1f}  memory {memory / 1024:5.1f} MiB  "
                  f"{'' if options.whole else bench.seen}", flush=True)
    measured = [results[case]["dormant_added_ns"] for case in DORMANT_CASES if case in results]
    failed |= bool(measured) and statistics.median(measured) > DORMANT_LIMIT
    if options.json:
        print(json.dumps(results, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
