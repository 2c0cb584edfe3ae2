"""The scenarios: each makes one Case from a random generator, with its own ranks, sizes and times.

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
    right: tuple = ()               # ranks to be named; empty: the scenario has no guilty ones
    links: str = ""                 # rate of all nodes' links, the whole time
    throttle: tuple = ()            # (node from 1, rate, begin, end): seconds since the program's start
    stream: tuple = ()              # (from node, to node, connections (0: an MPI job), begin, end)
    command: tuple = ()             # another program than `faults`
    mpi: str = "openmpi"
    live: bool = False              # measure when it is named while it acts
    whole: bool = True              # the cause acts during the whole run
    detail: str = ""                # which kind of pattern


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


def healthy_halo(rng, seconds):
    ranks = rng.choice((4, 6, 8))
    return Case("none", exchange(rng, seconds, ranks, allreduce_every=rng.choice((0, 0, 10, 40)),
                                 jitter_us=rng.choice((0, 200))), ranks)


def healthy_sparse(rng, seconds):
    ranks = rng.choice((6, 8))
    return Case("none", exchange(rng, seconds, ranks, placement.sparse(rng, ranks, 3)), ranks)


def healthy_ping_pong(rng, seconds):
    ranks = rng.choice((2, 4))
    work = rng.choice((0, 300))
    edges = [(r, r + 1) for r in range(0, ranks, 2)]
    arguments = exchange(rng, seconds, ranks, edges, work_us=work, steps=int(seconds * 1e6 / (work + 150)))
    return Case("none", arguments, ranks)


def healthy_spinning(rng, seconds):
    mpi = rng.choice(("openmpi", "mpich"))
    return Case("none", exchange(rng, seconds, 2, [(0, 1)], spin=1, work_us=1500), 2, mpi=mpi)


def healthy_lammps(rng, seconds):
    return Case("none", {}, rng.choice((2, 4)), command=("lmp", "-log", "none", "-in", "@melt"))


def healthy_nodes(rng, seconds):
    return Case("none", on_nodes(rng, seconds, allreduce_every=rng.choice((0, 20))), sum(NODES), NODES)


def healthy_farm(rng, seconds):
    """Tasks for whoever is ready; in half of the runs one worker takes longer and is given fewer: nobody waits."""
    ranks = rng.choice((4, 5, 8))
    root, work = rng.randrange(ranks), rng.randrange(3000, 8000)
    arguments = {"kind": "farm", "root": root, "work_us": work, "jitter_us": rng.choice((0, work)), "bytes": 1024,
                 "steps": int(seconds * 1e6 / (work * 1.2) * (ranks - 1))}
    if rng.random() < 0.5:
        arguments["factor"] = ",".join("3" if r == (root + 1) % ranks else "1" for r in range(ranks))
    return Case("none", arguments, ranks)


def bad_placement(rng, seconds):
    size, rate = rng.choice((16384, 32768, 49152)), rng.choice((100, 200))
    work = rng.randrange(3000, 6000)
    wire_us = 3 * CROWDED[0] * size * 8 / rate  # what a node sends in a step, at three messages per rank
    arguments = on_nodes(rng, seconds, CROWDED, worst=True, bytes=size, work_us=work,
                         steps=steps(seconds, work, wire_us))
    return Case("mapping", arguments, sum(CROWDED), CROWDED, links=f"{rate}mbit")


def throttled_link(rng, seconds):
    seconds = max(seconds, 6)
    begin, end = part_of(rng, seconds)
    node = rng.randrange(1, 4)
    arguments = on_nodes(rng, seconds, bytes=rng.choice((8192, 16384, 32768)))
    return Case("background", arguments, sum(NODES), NODES, live=True,
                throttle=(node, rng.choice(("5mbit", "10mbit", "20mbit")), begin, end), whole=False)


def competing_job(rng, seconds):
    seconds = max(seconds, 6)
    begin, end = part_of(rng, seconds)
    a, b = rng.sample((1, 2, 3), 2)
    return Case("background", on_nodes(rng, seconds, bytes=rng.choice((4096, 16384))), sum(NODES), NODES, live=True,
                links=rng.choice(("100mbit", "200mbit")), stream=(a, b, rng.choice((0, 2, 4)), begin, end), whole=False)


def slow(rng, seconds, ranks, arguments):
    """One rank works longer, in all steps or some."""
    guilty = rng.randrange(ranks)
    work = arguments["work_us"]
    arguments.update(slow=guilty, slow_us=int(work * rng.uniform(0.5, 1.2)), allreduce_every=rng.choice((0, 50)))
    whole = rng.random() < 0.4
    if not whole:
        begin, end = part_of(rng, arguments["steps"])
        arguments.update({"from": int(begin), "to": int(end)})
    return guilty, whole


def slow_rank(rng, seconds):
    ranks = rng.choice((5, 6, 8))
    arguments = exchange(rng, seconds, ranks)
    guilty, whole = slow(rng, seconds, ranks, arguments)
    return Case("late-sender", arguments, ranks, right=(guilty,), live=not whole, whole=whole)


def slow_rank_nodes(rng, seconds):
    arguments = on_nodes(rng, seconds)
    guilty, whole = slow(rng, seconds, sum(NODES), arguments)
    return Case("late-sender", arguments, sum(NODES), NODES, right=(guilty,), live=not whole, whole=whole)


def uneven_cells(rng, seconds):
    ranks = rng.choice((6, 8))
    guilty = tuple(sorted(rng.sample(range(ranks), rng.choice((1, 2)))))
    factors = [rng.uniform(1.6, 2.4) if r in guilty else rng.uniform(0.95, 1.05) for r in range(ranks)]
    arguments = exchange(rng, seconds, ranks, factor=",".join(f"{f:.2f}" for f in factors))
    arguments["steps"] = steps(seconds, arguments["work_us"] * 2)
    return Case("late-sender", arguments, ranks, right=guilty)


def uneven_blocks(rng, seconds):
    ranks = rng.choice((6, 8))
    guilty = tuple(sorted(rng.sample(range(ranks), rng.choice((1, 2)))))
    most = rng.choice((3, 4))
    blocks = [most if r in guilty else 1 for r in range(ranks)]
    arguments = exchange(rng, seconds, ranks, blocks=",".join(map(str, blocks)), work_us=rng.randrange(1500, 3000))
    arguments["steps"] = steps(seconds, arguments["work_us"] * most)
    return Case("pattern", arguments, ranks, right=guilty, detail="imbalance")


def many_to_one_big(rng, seconds):
    ranks = rng.choice((5, 6, 8))
    root, serve = rng.randrange(ranks), rng.randrange(800, 2000)
    work = int(serve * (ranks - 1) * rng.uniform(0.2, 0.5))
    return Case("pattern", {"kind": "gather", "root": root, "serve_us": serve, "work_us": work,
                            "bytes": rng.choice((100_000, 200_000)),
                            "steps": steps(seconds, serve * (ranks - 1), 300 * ranks)},
                ranks, right=(root,), detail="many to one")


def many_to_one_reply(rng, seconds):
    ranks = rng.choice((6, 8))
    root, serve = rng.randrange(ranks), rng.randrange(500, 1500)
    work = int(serve * (ranks - 1) * rng.uniform(0.1, 0.4))
    return Case("pattern", {"kind": "gather", "root": root, "serve_us": serve, "work_us": work, "reply": 1,
                            "bytes": 256, "steps": steps(seconds, serve * (ranks - 1), 150 * ranks)},
                ranks, right=(root,), detail="many to one")


def chain(rng, seconds):
    ranks = rng.choice((4, 6, 8))
    work = rng.randrange(800, 2000)
    return Case("pattern", {"kind": "chain", "work_us": work, "bytes": rng.choice((256, 4096)),
                            "steps": steps(seconds, work * ranks, 150 * ranks)}, ranks, detail="chain")


def late_receiver(rng, seconds):
    ranks = rng.choice((4, 6, 8))
    guilty, work = rng.randrange(1, ranks, 2), rng.randrange(3000, 6000)
    extra = int(work * rng.uniform(0.7, 1.5))
    # All but the guilty one's partner work longer: pairs go on at one pace, only that partner has to wait.
    slow = [guilty, *(r for r in range(ranks) if r not in (guilty - 1, guilty))]
    arguments = {"kind": "pairs", "work_us": work, "slow": ",".join(map(str, slow)), "slow_us": extra,
                 "bytes": rng.choice((131072, 262144)), "steps": steps(seconds, work + extra / 2)}
    whole = rng.random() < 0.4
    if not whole:
        begin, end = part_of(rng, arguments["steps"])
        arguments.update({"from": int(begin), "to": int(end)})
    return Case("late-receiver", arguments, ranks, right=(guilty,), live=not whole, whole=whole)


def collective(rng, seconds):
    ranks = rng.choice((4, 6, 8))
    work = rng.randrange(2000, 4000)
    arguments = {"kind": "reduce", "work_us": work, "slow_us": int(work * rng.uniform(0.8, 1.5)),
                 "late": rng.randrange(1, 1 << 30), "steps": steps(seconds, 2 * work)}
    return Case("collective-wait", arguments, ranks)


# The short form begins with one of each line, chosen by the seed.
FIRST = [("healthy_halo",), ("healthy_ping_pong",), ("healthy_farm",), ("healthy_nodes",), ("bad_placement",),
         ("throttled_link", "competing_job"), ("slow_rank", "uneven_cells"),
         ("uneven_blocks", "many_to_one_big", "many_to_one_reply", "chain"), ("late_receiver",), ("collective",)]

# How often each is run, in full; once each in the short form, but for those with 0 there.
ALL = {
    "healthy_halo": (healthy_halo, 4, 1), "healthy_sparse": (healthy_sparse, 2, 1),
    "healthy_ping_pong": (healthy_ping_pong, 2, 1), "healthy_spinning": (healthy_spinning, 2, 0),
    "healthy_lammps": (healthy_lammps, 2, 1), "healthy_nodes": (healthy_nodes, 3, 1),
    "healthy_farm": (healthy_farm, 3, 1), "bad_placement": (bad_placement, 4, 1),
    "throttled_link": (throttled_link, 4, 1), "competing_job": (competing_job, 3, 1),
    "slow_rank": (slow_rank, 4, 1), "slow_rank_nodes": (slow_rank_nodes, 3, 0), "uneven_cells": (uneven_cells, 3, 1),
    "uneven_blocks": (uneven_blocks, 3, 1), "many_to_one_big": (many_to_one_big, 3, 1),
    "many_to_one_reply": (many_to_one_reply, 2, 1), "chain": (chain, 3, 1), "late_receiver": (late_receiver, 3, 1),
    "collective": (collective, 3, 1),
}
