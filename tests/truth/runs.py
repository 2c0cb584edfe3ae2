"""Runs Cases, some side by side, and keeps what came of them."""
import concurrent.futures
import dataclasses
import json
import random
import shutil
import sys
import threading

import families
import harness
import job
import testbed
import verdict

TRIES = 3            # of a run during which the machine stood still
MOST_UNEQUAL = 0.10  # of the time: what the machine took from one rank more than from another
MOST_UNEQUAL_HEALTHY = 0.04  # the same in a healthy run: whom the machine made later than that is late
MOST_OTHERS = 0.30   # of all cores, around a healthy run
MOST_WAITED = 0.10   # of all ranks' time, by the program's own clocks, in a healthy run
LEAST_WORK_US = 1000  # of a step, for that: what hardly works waits by nature


class Stalled(Exception):
    """Not only the injected fault happened: to be run again."""


def findings_of(box, dump):
    found = box.json("inspect", dump, "findings", "--json")["findings"]
    return found, verdict.seconds_of(box.json("inspect", dump, "--json")["time"]["start"])


def say(options, text):
    print(text, file=sys.stderr if options.json else sys.stdout, flush=True)


def line_of(name, record):
    mark = {"right": "ok", "second": "2ND", "cheap": "cheap"}.get(record["verdict"], "MISS")
    words = [f"{mark:5s}{name:24s} {record['truth']:15s} -> {record['found']:15s} {record['confidence']:.2f}"]
    if record["detail"]:
        words.append(record["detail"])
    if record["truth_ranks"] or record["ranks"]:
        words.append(f"ranks {record['truth_ranks']} -> {record['ranks'][:6]}")
    if record["nodes"]:
        words.append(" ".join(f"{link['from']}->{link['to']}" for link in record["nodes"]))
    if record["cost"] and record["truth"] not in verdict.HEALTHY:
        words.append(f"costs {100 * record['cost']['share']:.0f} % ({100 * record['cost']['worst']:.0f} %)")
    if record["cost"] and record["truth"] in verdict.HEALTHY:
        words.append(f"waited {100 * record['cost']['share']:.1f} %, the machine took "
                     f"{100 * record['cost']['unequal']:.1f} % more from one rank than from another")
    if record.get("second_right") is False:
        words.append("second cause not named")
    if "begin_error_s" in record:
        words.append(f"period off by {record['begin_error_s']:+.2f} {record['end_error_s']:+.2f} s")
    if "live_s" in record:
        words.append("not named live" if record["live_s"] is None else f"live after {record['live_s']:.1f} s")
    if record.get("false_alarm"):
        words.append("FALSE ALARM")
    return "  ".join(words)


def keep(options, name, dump, case, run, named):
    if options.keep is None:
        return
    options.keep.mkdir(parents=True, exist_ok=True)
    shutil.copy(dump, options.keep / f"{name}.h5")
    (options.keep / f"{name}.json").write_text(json.dumps(
        {"case": dataclasses.asdict(case), "times": run.times, "named": named, "cost": run.cost}, indent=1))


def refuse(case, run, alone):
    """Raises Stalled when something else happened than what was planted. By clocks, never by what was found."""
    if run.stalled_s > job.Stalls.STALL_S:
        raise Stalled(f"a rank or the machine stood still for {run.stalled_s:.1f} s")
    if run.unequal > (MOST_UNEQUAL_HEALTHY if case.truth == "none" else MOST_UNEQUAL):
        raise Stalled(f"the machine made one rank {100 * run.unequal:.1f} % slower than another")
    if case.truth != "none":
        return
    if run.cost.get("share", 0) > MOST_WAITED and case.arguments["work_us"] >= LEAST_WORK_US:
        raise Stalled(f"ranks waited {100 * run.cost['share']:.0f} % of their time for one another: not healthy")
    if alone and job.busy_share() > MOST_OTHERS:
        raise Stalled("others use the cores")


def one(options, name, case, nodes):
    alone = options.jobs == 1 or needs_all(case)  # else it is our own other job that uses the cores
    with harness.Sandbox() as box:
        others = job.quiet_moment(MOST_OTHERS) if alone and case.truth == "none" else 0.0
        if others > MOST_OTHERS:
            raise Stalled(f"others use {100 * others:.0f} % of the cores")
        run = job.Run(case, box, nodes)
        watcher = run.go(timeout=harness.PATIENCE)
        refuse(case, run, alone)
        named = watcher.named if watcher is not None and watcher.seen else None
        keep(options, name, run.dump, case, run, named)
        found, origin = findings_of(box, run.dump)
        return verdict.judge(case, run.times, found, origin, named, run.cost)


def again(options, name, case, nodes):
    for _ in range(TRIES - 1):
        try:
            return one(options, name, case, nodes)
        except Stalled as stalled:
            say(options, f"again: {name}: {stalled}")
    return one(options, name, case, nodes)


def stages(options):
    """Names of families. Where the first ones are judged well enough, the others are not run; else all are judged
    together. So the bounds hold for few runs as they do for many, and chance does not decide."""
    names = [name for name in families.ALL if not options.only or name in options.only]
    if not options.short or options.only:
        return [names]
    rng = random.Random(options.seed)
    first = [rng.choice(some) for some in families.FIRST]
    others = [name for name in names if families.ALL[name].short and name not in first]
    return [first + others] if harness.checks.FULL else [first, others]


def planned(options, names):
    """(name of the run, case) of each run: all families once, then again."""
    seconds = options.seconds or (4 if options.short else 7)
    counts = {name: options.times or (1 if options.short else families.ALL[name].often) for name in names}
    for i in range(options.first, options.first + max(counts.values(), default=0)):
        for name in names:
            if i - options.first < counts[name]:
                yield f"{name}-{i}", families.ALL[name].make(random.Random(f"{options.seed} {name} {i}"), seconds)


def why_not(case, no_nodes):
    if case.per_node and no_nodes:
        return f"several nodes: {no_nodes}"
    if case.mpi not in harness.MPIS:
        return f"{case.mpi} is not built"
    if case.command and shutil.which(case.command[0]) is None:
        return f"there is no {case.command[0]}"
    return None


def needs_all(case):
    """The nodes are there once; ranks that spin, or many, need the cores."""
    return bool(case.per_node or case.command) or case.mpi == "mpich" or case.ranks > 8 or "spin" in case.arguments


class Runs:
    """What came of them: records of those that worked, how many failed or were left out."""

    def __init__(self, options):
        self.options, self.no_nodes = options, "--local" if options.local else testbed.why_not()
        self.records, self.failed, self.skipped, self.nodes = [], 0, 0, job.Nodes()
        self.lock = threading.Lock()

    def skip(self, name, reason):
        with self.lock:
            say(self.options, f"skipped: {name}: {reason}")
            self.skipped += 1

    def add(self, name, case):
        reason = why_not(case, self.no_nodes)
        if reason:
            self.skip(name, reason)
            return
        try:
            record = again(self.options, name, case, self.nodes)
        except Stalled as stalled:
            self.skip(name, f"not what was injected happened: {stalled}")
            return
        except (job.Failed, AssertionError) as error:
            with self.lock:
                say(self.options, f"FAILED {name}: {error}")
                self.failed += 1
            return
        record["name"] = name
        with self.lock:
            self.records.append(record)
            say(self.options, line_of(name, record))

    def stage(self, plan):
        plan = list(plan)
        together = [item for item in plan if self.options.jobs > 1 and not needs_all(item[1])]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for done in [pool.submit(self.add, *item) for item in together]:
                done.result()
        for item in plan:
            if item not in together:
                self.add(*item)

    def all(self):
        try:
            for names in stages(self.options):
                self.stage(planned(self.options, names))
                if self.failed or self.options.good_enough(verdict.figures(self.records)):
                    break
        finally:
            self.nodes.close()
        return self.records, self.failed, self.skipped


def judge_kept(options, folder):
    """Records of the dumps in a folder, as `inspect` judges them now."""
    records = []
    with harness.Sandbox() as box:
        for path in sorted(folder.glob("*.json")):
            if options.only and path.stem.rsplit("-", 1)[0] not in options.only:
                continue
            kept = json.loads(path.read_text())
            case = families.Case(**kept["case"])
            found, origin = findings_of(box, path.with_suffix(".h5"))
            record = verdict.judge(case, kept["times"], found, origin, kept["named"], kept.get("cost"))
            record["name"] = path.stem
            records.append(record)
            say(options, line_of(path.stem, record))
    return records
