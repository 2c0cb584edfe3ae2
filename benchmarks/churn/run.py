"""Do attaching, watching and churn leak anything? A real job whose communicators come and go is attached to and
detached from, again and again, while viewers start and are killed; now and then everything that could grow is
measured: memory of ranks and aggregator, descriptors of every tool process, files in /dev/shm and in the runtime
directory.

    PCLSCOPE_BUILD=build/release python3 -B benchmarks/churn/run.py \
        [--seconds 120] [--rounds N] [--mpi openmpi] [--testbed]

--testbed: the job runs on three nodes (network namespaces; needs root and the testbed's script), one of them
throttled in every other round. Status 0: nothing grew beyond its bound; 77: no testbed here.
Depends on: launcher.
"""
import argparse
import os
import pathlib
import random
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "system"))
import harness  # noqa: E402
import remains  # noqa: E402
import testbed  # noqa: E402

RANK_GROWTH_MIB = 16     # attached against before the first attach: rings (4 MiB per thread) and accounts
RANK_DRIFT_MIB = 4       # last third of the dormant measurements against the first third
AGGREGATOR_DRIFT_MIB = 16  # smallest of the later half of the sessions against the largest of the first half


def status(pid, name):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    return 0.0


def largest(pids, measure):
    values = []
    for pid in pids:
        try:
            values.append(measure(pid))
        except (OSError, ValueError):
            pass  # it has just ended
    return max(values, default=0)


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Churn:
    def __init__(self, box, words):
        self.box, self.words = box, words
        self.nodes = testbed.Testbed(box, 3) if words.testbed else None
        self.random = random.Random(words.seed)
        self.rows, self.faults, self.viewers = [], [], []
        self.attached = 0

    def start(self):
        load = str(harness.BUILD / "tests" / "interpose" / f"attach_load-{self.words.mpi}")
        library, seconds = harness.library(self.words.mpi), str(self.words.seconds * 2 + 60)
        if self.nodes:
            self.job = self.box.start("env", "LD_PRELOAD=" + library, testbed.script(), "openmpi", 3, 2,
                                      "-x", "LD_PRELOAD", load, seconds, "pause=500")
        else:
            start = self.box.bare_command(self.words.mpi, self.words.ranks)
            self.job = self.box.start(*start, "env", "LD_PRELOAD=" + library, load, seconds, "pause=200")
        self.name = self.box.wait_for("dormant job", self.find, timeout=30, running=self.job)
        time.sleep(1)

    def find(self):
        lines = self.pclscope("list").stdout.splitlines()
        mine = {str(pid) for pid in self.box.application_ranks("attach_load")}
        names = (line.split()[0] for line in lines if " dormant " in line)
        return next((name for name in names if name.split("-")[-1] in mine), None)

    def line(self, *words):
        """On several nodes: on that of rank 0."""
        return [testbed.script(), "on", "node1", harness.PCLSCOPE, *words] if self.nodes else [harness.PCLSCOPE, *words]

    def pclscope(self, *words):
        return self.box.run(*self.line(*words), timeout=90)

    def wanted(self, what, done):
        if done.code != 0:
            self.faults.append(f"{what}: {done}")

    def round(self, number):
        if self.nodes:
            self.nodes.throttle(2, "20mbit" if number % 2 else "off")
        more = ["--launcher-args", self.nodes.launcher_args("openmpi")] if self.nodes else []
        path = self.box.directory / "churn.h5"
        self.wanted("attach", self.pclscope("attach", self.name, "--dump", path, *more))
        self.attached += 1
        for _ in range(2):
            self.viewers.append(self.box.start(*self.line("watch", self.name, "--json")))
        time.sleep(self.random.uniform(0.3, 1.5))
        self.wanted("watch", self.pclscope("watch", self.name, "--once"))
        during = self.measure()
        for viewer in self.viewers:
            os.killpg(viewer.process.pid, self.random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT)))
        self.wanted("detach", self.pclscope("detach", self.name))
        for viewer in self.viewers:
            viewer.finish(20)
        self.viewers.clear()
        size = path.stat().st_size / 2**20 if path.exists() else 0
        path.unlink(missing_ok=True)
        self.rows.append((number, during, self.measure(), size))

    def measure(self):
        ranks = self.box.application_ranks("attach_load")
        tools = [pid for pid, command in self.box.processes()
                 if pathlib.Path(command.split()[0]).name.startswith("pclscope-")]
        ours = len(remains.files_of_dormant(self.name))
        runtime = sum(1 for path in self.box.runtime.glob("**/*") if path.is_file() or path.is_socket())
        return {"rank_mib": largest(ranks, lambda pid: status(pid, "VmRSS")), "rank_fds": largest(ranks, descriptors),
                "tool_mib": largest(tools, lambda pid: status(pid, "VmRSS")), "tool_fds": largest(tools, descriptors),
                "tools": len(tools), "shm": ours, "files": runtime}

    def verdict(self, before):
        third = max(len(self.rows) // 3, 1)
        first, last = self.rows[:third], self.rows[-third:]

        def check(what, grown, bound):
            if grown > bound:
                self.faults.append(f"{what} grew by {grown:.1f}, at most {bound} is allowed")
        check("memory of a rank, MiB, against bare,", max(r[1]["rank_mib"] for r in self.rows) - before["rank_mib"],
              RANK_GROWTH_MIB)
        for what, key, phase, bound in (("memory of a dormant rank, MiB,", "rank_mib", 2, RANK_DRIFT_MIB),
                                        ("descriptors of a dormant rank", "rank_fds", 2, 0),
                                        ("descriptors of the aggregator", "tool_fds", 1, 4)):
            check(what, max(r[phase][key] for r in last) - max(r[phase][key] for r in first), bound)
        # Each session has an aggregator of its own; it is larger where a busy machine makes the session longer.
        half = max(len(self.rows) // 2, 1)
        check("memory of the aggregator, MiB,", min(r[1]["tool_mib"] for r in self.rows[half:] or self.rows) -
              max(r[1]["tool_mib"] for r in self.rows[:half]), AGGREGATOR_DRIFT_MIB)
        for key, bound in (("shm", before["shm"]), ("files", 1), ("tools", 0)):  # a file: keys of TCP endpoints
            left = max(r[2][key] for r in self.rows[-1:])
            if left > bound:
                self.faults.append(f"after a detach: {left} {key}, expected {bound}")

    def print_table(self, before):
        print(f"bare (dormant, before the first attach): rank {before['rank_mib']:.1f} MiB, "
              f"{before['rank_fds']} descriptors")
        print("round | attached: rank MiB  fds  tool MiB  fds  tools | "
              "dormant: rank MiB  fds  tools  shm  files | dump MiB")
        step = max(len(self.rows) // 20, 1)
        for number, a, d, size in [row for i, row in enumerate(self.rows) if i % step == 0 or i == len(self.rows) - 1]:
            print(f"{number:5} | "
                  f"{a['rank_mib']:18.1f} {a['rank_fds']:4} {a['tool_mib']:9.1f} {a['tool_fds']:4} {a['tools']:6} | "
                  f"{d['rank_mib']:17.1f} {d['rank_fds']:4} {d['tools']:6} {d['shm']:4} {d['files']:6} | {size:8.1f}")

    def settled(self):
        """After a detach the launcher of several aggregators takes a moment to leave."""
        end = time.monotonic() + 10
        while self.measure()["tools"] > 0 and time.monotonic() < end:
            time.sleep(0.05)

    def run(self):
        self.start()
        before = self.measure()
        end, number = time.monotonic() + self.words.seconds, 0
        while time.monotonic() < end and (not self.words.rounds or number < self.words.rounds) and not self.faults:
            if not self.job.running():
                self.faults.append(f"the job ended: {self.job.finish()}")
                break
            self.round(number)
            self.settled()
            number += 1
        if self.rows:
            self.settled()
            self.rows[-1] = (*self.rows[-1][:2], self.measure(), self.rows[-1][3])
            self.print_table(before)
            self.verdict(before)
        for fault in self.faults:
            print("FAULT:", fault)
        outcome = "something leaks or failed" if self.faults else "nothing grows"
        print(f"{number} rounds of attach, two viewers, detach: {outcome}")
        return 1 if self.faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--testbed", action="store_true")
    words = parser.parse_args()
    if words.testbed and testbed.why_not():
        print("skipped: no testbed:", testbed.why_not())
        return harness.SKIPPED
    with harness.Sandbox() as box:
        churn = Churn(box, words)
        try:
            return churn.run()
        finally:
            box.kill_everything()
            if churn.nodes:
                churn.nodes.close()


if __name__ == "__main__":
    sys.exit(main())
