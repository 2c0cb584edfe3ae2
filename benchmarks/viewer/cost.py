"""What a running viewer costs the aggregator: CPU seconds of pclscope-aggregator per second, with a window that
follows the job and asks for graphs, and without, A B A B; the job is the CG pattern on 8 ranks. The viewer draws
under Xvfb on the same cores, so the job's own pace is printed too, but says more of this machine than of the viewer.

Usage: python3 benchmarks/viewer/cost.py [pairs] [seconds]      PCLSCOPE_BUILD names the build folder
"""
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "system"))
import harness
import xvfb


def cpu_seconds(pids):
    ticks = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def main():
    pairs, seconds = [int(w) for w in sys.argv[1:]] + [4, 8][len(sys.argv) - 1:]
    if xvfb.why_not():
        print(f"not run: {xvfb.why_not()}")
        return 1
    with harness.Sandbox() as box:
        job = box.start_traced(8, harness.program("cg_pattern", "openmpi"), "10000000", "1024", "3000")
        name = box.job_name(job)
        box.live_with_messages(name, job, 1000)
        aggregators = box.aggregator_workers()
        screen = xvfb.Screen(box)
        shares, paces = {"without": [], "with": []}, {"without": [], "with": []}
        for _ in range(pairs):
            for which in ("without", "with"):
                if which == "with":
                    viewer = xvfb.Viewer(box, screen, name)
                    viewer.wait("news", lambda s: s["connection"]["state"] == "running" and s["snapshots"] >= 3)
                else:
                    time.sleep(1)
                matched, cpu, began = box.live(name)["messages"]["matched"], cpu_seconds(aggregators), time.monotonic()
                time.sleep(seconds)
                took = time.monotonic() - began
                shares[which].append(100 * (cpu_seconds(aggregators) - cpu) / took)
                paces[which].append((box.live(name)["messages"]["matched"] - matched) / took)
                if which == "with":
                    assert viewer.state()["dag"], "the viewer has asked for no graph"
                    viewer.kill()
                    viewer.running.process.wait(20)
        for which in shares:
            print(f"{which:8} a viewer: aggregator {statistics.median(shares[which]):.2f} % of a core "
                  f"({' '.join(f'{s:.2f}' for s in shares[which])}), {statistics.median(paces[which]):,.0f} messages/s")
        screen.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
