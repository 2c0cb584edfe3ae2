"""Runs one Case under `pclscope run`, injects what comes from outside, and says what is true by CLOCK_REALTIME."""
import json
import pathlib
import subprocess
import threading
import time

import harness
import testbed

HERE = pathlib.Path(__file__).resolve().parent
MELT = harness.DATA / "lammps" / "melt.in"
PORT = 47123


class Failed(Exception):
    """The run itself did not work: no verdict."""


class Nodes:
    """The testbed, set up once for all cases that need it."""

    def __init__(self):
        self.bed = None

    def get(self, box, nodes):
        if self.bed is None:
            self.bed = testbed.Testbed(box, nodes)
        self.bed.box = box
        return self.bed

    def close(self):
        if self.bed is not None:
            self.bed.close()
            self.bed = None


class Watcher(threading.Thread):
    """Follows a live job and remembers when its first finding was what (by time.time()), while it is believed."""

    def __init__(self, box, cause):
        super().__init__(daemon=True)
        self.box, self.cause, self.process, self.stopped = box, cause, None, False
        self.named = []  # moments at which the cause was the first finding
        self.seen = 0

    def run(self):
        name = None
        while name is None and not self.stopped:
            try:
                jobs = self.box.json("list", "--json")["jobs"]
                name = jobs[0]["name"] if jobs else None
            except (AssertionError, ValueError):
                pass
            time.sleep(0.1)
        if self.stopped:
            return
        self.process = subprocess.Popen([str(harness.PCLSCOPE), "watch", name, "--json", "--interval", "250ms"],
                                        env=self.box.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            try:
                findings = json.loads(line).get("findings") or []
            except ValueError:
                continue
            self.seen += 1
            if findings and findings[0]["cause"] == self.cause and findings[0]["confidence"] > 0.5:
                self.named.append(time.time())

    def stop(self):
        self.stopped = True
        if self.process is not None:
            self.process.terminate()
        self.join(5)


class Stalls(threading.Thread):
    """Notices when the machine stands still (an overcommitted host): what is injected is then not all that happens."""

    STEP_S, STALL_S = 0.05, 0.4

    def __init__(self):
        super().__init__(daemon=True)
        self.stopped, self.worst_s = threading.Event(), 0.0

    def run(self):
        last = time.monotonic()
        while not self.stopped.wait(self.STEP_S):
            now = time.monotonic()
            self.worst_s = max(self.worst_s, now - last - self.STEP_S)
            last = now

    def stop(self):
        self.stopped.set()
        self.join()
        return self.worst_s


def busy_share(seconds=0.3):
    """The share of all cores that is used now by what does not give way (nice). For when no job of ours runs."""
    def busy_and_all():
        values = [int(word) for word in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return sum(values) - values[1] - values[3] - values[4], sum(values)
    before = busy_and_all()
    time.sleep(seconds)
    after = busy_and_all()
    return (after[0] - before[0]) / max(1, after[1] - before[1])


def quiet_moment(most, patience=8.0):
    """Waits until others use less than this share of the cores. Returns what they use."""
    end = time.monotonic() + patience
    while True:
        share = busy_share()
        if share <= most or time.monotonic() > end:
            return share
        time.sleep(0.5)


def command_of(case):
    if case.command:
        return [MELT if word == "@melt" else word for word in case.command]
    return [harness.program("faults", case.mpi), *(f"{key}={value}" for key, value in case.arguments.items())]


def times_of(text):
    """{what: seconds} of the program's "truth" lines."""
    words = (line.split() for line in text.splitlines() if line.startswith("truth "))
    return {w[1]: int(w[2]) * 1e-9 for w in words if len(w) == 3}


def per_rank(text, first):
    """{what: {rank: seconds}} of lines `first what rank ns`."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4 and words[0] == first:
            found.setdefault(words[1], {})[int(words[2])] = int(words[3]) * 1e-9
    return found


def series_of(text):
    """Seconds that all ranks were between the stamps, of each 0.1 s from the start."""
    lines = [line.split()[1:] for line in text.splitlines() if line.startswith("series ")]
    return [int(word) * 1e-9 for word in lines[0]] if lines else []


def excess(series, begin, end, step=0.1):
    """What was lost between two moments (from the start) and in the second after, beyond what was lost before."""
    first, last = int(begin / step), int((end + 1) / step)
    before = series[2:first] or [0.0]
    usual = sum(before) / len(before)
    return sum(max(0.0, value - usual) for value in series[first:last])


class Run:
    def __init__(self, case, box, nodes):
        self.case, self.box = case, box
        self.dump = box.directory / "run.h5"
        self.bed = nodes.get(box, len(case.per_node)) if case.per_node else None
        self.times = {}
        self.stalled_s = 0.0    # the longest time for which the machine, or one rank of `faults`, stood still
        self.unequal = 0.0      # what the machine took from one rank more than from another, as a share of the time
        self.cost = {}          # what the planted cause cost, by the program's clocks (work_out)

    def start(self):
        options = ("--dump", self.dump)
        if self.bed is not None:
            if self.case.links:
                for node in range(len(self.case.per_node)):
                    self.bed.throttle(node + 1, self.case.links)
            return self.bed.start(self.case.per_node, *command_of(self.case), options=options, mpi=self.case.mpi)
        return self.box.start_traced(self.case.ranks, *command_of(self.case),
                                     options=(*options, "--mpi", self.case.mpi))

    def moment(self, running, seconds):
        """Sleeps until so many seconds after the program's start; false when it ended before."""
        while running.running():
            start = times_of(running.output()[0]).get("start")
            if start is not None and time.time() >= start + seconds:
                return True
            time.sleep(0.02)
        return False

    def outside(self, running):
        """The faults that the program does not have itself."""
        if self.case.cut:
            node, begin, end = self.case.cut
            if self.moment(running, begin):
                self.times["begin"] = time.time()
                self.bed.link(node, "down")
                self.moment(running, end)
                self.bed.link(node, "up")
                self.times["end"] = time.time()
        if self.case.throttle:
            node, rate, begin, end = self.case.throttle
            if self.moment(running, begin):
                self.times["begin"] = time.time()
                self.bed.throttle(node, rate)
                self.moment(running, end)
                self.bed.throttle(node, "off")
                self.times["end"] = time.time()
        if self.case.stream:
            a, b, connections, begin, end = self.case.stream
            on = [str(testbed.script()), "on"]
            stream = ["/usr/bin/python3", "-B", str(HERE / "stream.py")]
            server = self.box.start(*on, f"node{b}", *stream, "receive", str(PORT))
            if self.moment(running, begin):
                self.times["begin"] = time.time()
                if connections:
                    other = self.box.start(*on, f"node{a}", *stream, "send", f"10.77.0.{b}", str(PORT),
                                           str(connections))
                else:
                    other = self.box.start(*self.other_job(a, b))
                self.moment(running, end)
                other.process.terminate()
                other.process.wait(harness.PATIENCE)
                self.times["end"] = time.time()
            server.process.kill()

    def other_job(self, a, b):
        """An MPI job between two nodes that does nothing but exchange large messages, for a very long time."""
        return ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", *self.bed.launcher_args("openmpi").split(),
                "--host", f"node{a}:1,node{b}:1", "-n", "2", harness.program("faults", "openmpi"),
                "kind=exchange", "edges=0-1", "bytes=1048576", "work_us=0", "steps=1000000000"]

    def go(self, timeout):
        """Runs it all; afterwards `times` and the dump are there. Returns the watcher, or None."""
        watcher, stalls = None, Stalls()
        stalls.start()
        running = self.start()
        try:
            if self.case.live:
                watcher = Watcher(self.box, self.case.truth)
                watcher.start()
            self.outside(running)
            try:
                done = running.finish(timeout)
            except AssertionError as error:
                raise Failed(str(error)) from None
        finally:
            self.stalled_s = stalls.stop()
            if watcher is not None:
                watcher.stop()
            if self.bed is not None:
                for node in range(len(self.case.per_node)):
                    self.bed.throttle(node + 1, "off")
        if done.code != 0 or not self.dump.exists():
            raise Failed(str(done))
        inside = times_of(done.stdout)
        self.stalled_s = max(self.stalled_s, inside.pop("overslept", 0.0))
        took = inside.get("stop", 0.0) - inside.get("start", 0.0)
        self.unequal = inside.pop("unequal", 0.0) / took if took > 0 else 0.0
        inside.update(self.times)
        self.times = inside
        self.work_out(done.stdout)
        if self.cost:
            self.cost["unequal"] = self.unequal
        return watcher

    def work_out(self, text):
        """`cost`: share (of all ranks' time), worst (of its own time, of the rank that lost most), and where two causes
        act first and second (rank-seconds)."""
        arrived, costs = per_rank(text, "arrive"), per_rank(text, "cost")
        begin, end = self.times.get("start"), self.times.get("stop")
        if not arrived or begin is None or end is None:
            return
        of_rank = costs.get(self.case.costs, {})
        if self.case.costs in arrived:  # all wait for the last
            latest = max(arrived[self.case.costs].values())
            of_rank = {rank: latest - moment for rank, moment in arrived[self.case.costs].items()}
            begin, end = min(arrived["init"].values()), max(arrived["finalize"].values())
        total = sum(of_rank.values())
        if self.case.costs == "series":
            total = excess(series_of(text), self.times["begin"] - begin, self.times["end"] - begin)
        took = max(1e-3, end - begin)
        self.cost = {"share": total / took / self.case.ranks, "worst": max(of_rank.values(), default=0.0) / took}
        split = self.case.arguments.get("split")
        if split:
            self.cost["first"] = sum(s for rank, s in of_rank.items() if rank < split)
            self.cost["second"] = total - self.cost["first"]
