"""What a family makes: a Case, one job and what is true of it. And what families share: sizes, times, graphs.

Steps of the program sleep rather than compute, but for some healthy ones: ranks share few cores.
"""
import dataclasses

import placement


@dataclasses.dataclass
class Case:
    truth: str                      # the cause, as findings name it
    arguments: dict                 # of the program `faults`
    ranks: int
    per_node: tuple = ()            # ranks of each node of the testbed; empty: on this machine
    right: tuple = ()               # ranks to be named; empty: the family has no guilty ones
    also: tuple = ()                # other names that are as true; the family says why
    second: tuple = ()              # two causes: (cause, ranks) of the other; which comes first is measured
    right_node: int = 0             # node to be named, from 1
    links: str = ""                 # rate of all nodes' links, the whole time
    throttle: tuple = ()            # (node from 1, rate, begin, end): seconds since the program's start
    cut: tuple = ()                 # (node from 1, begin, end): its link is down
    stream: tuple = ()              # (from node, to node, connections (0: an MPI job), begin, end)
    command: tuple = ()             # another program than `faults`
    mpi: str = "openmpi"
    live: bool = False              # measure when it is named while it acts
    whole: bool = True              # the cause acts during the whole run
    detail: str = ""                # which kind of pattern
    costs: str = "waited"           # what tells the cost: "waited", "inside", "series", "init" or "finalize"


@dataclasses.dataclass
class Family:
    make: object                    # (random generator, seconds) -> Case
    often: int                      # in the full form
    short: bool = True              # in the second stage of the short form


# Few ranks on each node: those that wait yield all the time, and with many of them on few cores the system lets others
# wait for seconds.
NODES = (2, 2, 2)
CROWDED = (3, 3, 3)                 # where placements differ enough


def shape(rng, ranks):
    """A halo's edges, in a random shape."""
    dimensions = rng.choice((1, 2, 3))
    return placement.halo(ranks, dimensions, periodic=dimensions == 1 or rng.random() < 0.3)


def steps(seconds, work_us, overhead_us=400):
    return max(20, int(seconds * 1e6 / (work_us + overhead_us)))


def exchange(rng, seconds, ranks, edges=None, **more):
    work = rng.randrange(3000, 6000)
    arguments = {"kind": "exchange", "work_us": work, "bytes": rng.choice((512, 2048, 8192)),
                 "edges": placement.words(shape(rng, ranks) if edges is None else edges)}
    arguments.update(more)
    arguments.setdefault("steps", steps(seconds, arguments["work_us"]))
    return arguments


def on_nodes(rng, seconds, nodes=NODES, worst=False, **more):
    edges = shape(rng, sum(nodes))
    rank_of, _ = placement.place(rng, edges, nodes, worst)
    arguments = {"work_us": rng.randrange(5000, 9000), **more}
    arguments.setdefault("steps", steps(seconds, arguments["work_us"], 2000))
    return exchange(rng, seconds, sum(nodes), placement.relabelled(edges, rank_of), **arguments)


def part_of(rng, count):
    """[from, to): a part in the middle of so many steps or seconds."""
    begin = rng.uniform(0.25, 0.4) * count
    return begin, begin + rng.uniform(0.3, 0.4) * count


def either_mpi(rng, ranks, work_us):
    """(MPI, ranks, microseconds of work): MPICH's ranks spin while they wait, so they are few and work longer."""
    if rng.random() < 0.3:
        return "mpich", min(4, rng.choice(ranks)), 5 * work_us
    return "openmpi", rng.choice(ranks), work_us


def late_rank(rng, seconds, kind, ranks=(4, 6, 8), work=(3000, 6000), extra=(0.7, 1.5), guilty=None, mpis=True, **more):
    """(Case of one rank that works longer in all steps): the program `kind`, by either MPI."""
    base = rng.randrange(*work)
    mpi, count, work_us = either_mpi(rng, ranks, base) if mpis else ("openmpi", rng.choice(ranks), base)
    late = rng.randrange(count) if guilty is None else guilty(rng, count)
    slow_us = int(work_us * rng.uniform(*extra))
    arguments = {"kind": kind, "work_us": work_us, "slow": late, "slow_us": slow_us,
                 "steps": steps(seconds, work_us + slow_us), **more}
    return Case("late-sender", arguments, count, right=(late,), mpi=mpi)


def ramp(rng, ranks):
    """Factors of work from 1 to 2 or so, over the ranks in their order or backwards."""
    top = rng.uniform(1.8, 2.5)
    factors = [1 + (top - 1) * r / (ranks - 1) for r in range(ranks)]
    if rng.random() < 0.5:
        factors.reverse()
    return top, ",".join(f"{f:.3f}" for f in factors)
