#!/usr/bin/env python3
"""Average linkage of pclscope and of scipy on the same distances, in turns; both must find the same heights.

Usage: /usr/bin/python3 benchmarks/regions/run.py [BUILD]      BUILD: build/release by default
Status 1 when the heights differ; speed is only reported. Needs Debian's python3-scipy.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    import numpy
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform
except ImportError as missing:
    sys.exit(f"regions/run.py: {missing}: nothing to compare with; install python3-scipy and use /usr/bin/python3")


def ours(program, ranks, file):
    lines = subprocess.run([program, "--linkage", str(ranks), file], check=True, capture_output=True, text=True)
    lines = lines.stdout.split("\n")
    return float(lines[0].split()[1]), numpy.array([float(x) for x in lines[1:] if x])


def scipys(ranks, file):
    distance = squareform(numpy.fromfile(file).reshape(ranks, ranks), checks=False)
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        tree = linkage(distance, method="average")
        best = min(best, time.process_time() - start)
    return best, tree[:, 2]


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release")
    program = build / "benchmarks" / "regions_benchmark"
    if not program.exists():
        sys.exit(f"regions/run.py: no {program}: build the target regions_benchmark, or name the build folder")
    same = True
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder) / "distances")
        for ranks in (512, 1152, 2048):
            rounds = []
            for _ in range(5):
                a, heights = ours(program, ranks, file)
                b, expected = scipys(ranks, file)
                rounds.append((b / a, a, b))
                difference = float(abs(heights - expected).max())
                same = same and difference < 1e-6 * float(expected.max())
            ratio, a, b = sorted(rounds)[len(rounds) // 2]
            print(f"{ranks:5} ranks: pclscope {a * 1e3:8.1f} ms, scipy {b * 1e3:8.1f} ms, "
                  f"scipy / pclscope {ratio:5.2f}, largest difference of a height {difference:.1e}", flush=True)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
