"""Ranks that compute longer, or have more to send, than those they exchange messages with."""
import placement
from families.case import Case, Family, NODES, exchange, late_rank, on_nodes, part_of, ramp, shape, steps


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


def slow_rank_of_a_group(rng, seconds):
    """To the end of the run, in one of two groups that exchange nothing: the other is through early and waits, too."""
    half = rng.choice((3, 4))
    edges = shape(rng, half)
    arguments = exchange(rng, seconds, 2 * half, [*edges, *((a + half, b + half) for a, b in edges)])
    guilty, count = rng.randrange(2 * half), int(arguments["steps"] * 0.7)
    arguments.update(slow=guilty, slow_us=int(arguments["work_us"] * rng.uniform(0.5, 1.5)), steps=count, to=count)
    arguments["from"] = int(rng.uniform(0.2, 0.5) * count)
    return Case("late-sender", arguments, 2 * half, right=(guilty,), live=True, whole=False)


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


def completed_by(rng, seconds, complete, **more):
    """An exchange with a slow rank, whose requests are completed by something else than Waitall."""
    case = late_rank(rng, seconds, "exchange", ranks=(5, 6, 8), complete=complete,
                     bytes=rng.choice((512, 2048)), **more)
    case.arguments["edges"] = placement.words(shape(rng, case.ranks))
    return case


def waitany(rng, seconds):
    return completed_by(rng, seconds, 1)


def waitsome(rng, seconds):
    return completed_by(rng, seconds, 2)


def testall_loop(rng, seconds):
    return completed_by(rng, seconds, 3, pause_us=rng.choice((0, 50, 200)))


def test_loop(rng, seconds):
    return completed_by(rng, seconds, 4, pause_us=rng.choice((0, 50, 200)))


def probed_by(rng, seconds, modes):
    case = late_rank(rng, seconds, "probes", ranks=(5, 6, 8), mode=rng.choice(modes), bytes=rng.choice((512, 2048)),
                     pause_us=rng.choice((0, 50, 200)))
    case.arguments["edges"] = placement.words(shape(rng, case.ranks))
    return case


def iprobe_loop(rng, seconds):
    """MPI_Iprobe or MPI_Improbe in a loop, then the receive."""
    return probed_by(rng, seconds, (0, 3))


def probe_receive(rng, seconds):
    """MPI_Probe or MPI_Mprobe, then the receive."""
    return probed_by(rng, seconds, (1, 2))


def mixed(rng, seconds):
    """A late rank is waited for in messages and in a nonblocking collective: both names are true."""
    case = late_rank(rng, seconds, "mixed", ranks=(4, 6, 8), bytes=512)
    case.arguments["edges"] = placement.words(shape(rng, case.ranks))
    case.also = ("collective-wait",)
    return case


def slow_of_many(rng, seconds):
    """One of 16 or 32 ranks."""
    return many(late_rank(rng, seconds, "exchange", ranks=(16, 32), work=(20000, 30000), mpis=False, bytes=512))


def many(case):
    case.arguments["edges"] = placement.words(placement.halo(case.ranks, 2, periodic=True))
    return case


def heavy_messages(rng, seconds):
    """As many messages as the others, but with four to eight times the bytes, and the work that goes with them."""
    ranks = rng.choice((5, 6, 8))
    heavy, times = rng.randrange(ranks), rng.choice((4, 6, 8))
    weights = ",".join(str(times if r == heavy else 1) for r in range(ranks))
    arguments = exchange(rng, seconds, ranks, weights=weights, bytes=rng.choice((8192, 32768)),
                         work_us=rng.randrange(1000, 2000))
    arguments["steps"] = steps(seconds, arguments["work_us"] * times)
    return Case("pattern", arguments, ranks, right=(heavy,), detail="imbalance")


def ramp_exchange(rng, seconds):
    """Every rank has a little more to do than the one before."""
    ranks = rng.choice((6, 8, 16))
    top, factors = ramp(rng, ranks)
    work = rng.randrange(3000, 6000) * (2 if ranks > 8 else 1)
    arguments = exchange(rng, seconds, ranks, placement.halo(ranks, rng.choice((1, 2)), periodic=True), work_us=work,
                         factor=factors, steps=steps(seconds, work * top))
    return Case("load-imbalance", arguments, ranks)


FAMILIES = {
    "slow_rank": Family(slow_rank, 5),
    "slow_rank_of_a_group": Family(slow_rank_of_a_group, 5, False),
    "slow_rank_nodes": Family(slow_rank_nodes, 5, False),
    "slow_of_many": Family(slow_of_many, 5, False),
    "uneven_cells": Family(uneven_cells, 5),
    "uneven_blocks": Family(uneven_blocks, 5),
    "heavy_messages": Family(heavy_messages, 5, False),
    "ramp_exchange": Family(ramp_exchange, 5, False),
    "waitany": Family(waitany, 5, False),
    "waitsome": Family(waitsome, 5, False),
    "test_loop": Family(test_loop, 5, False),
    "testall_loop": Family(testall_loop, 5, False),
    "iprobe_loop": Family(iprobe_loop, 5, False),
    "probe_receive": Family(probe_receive, 5, False),
    "mixed": Family(mixed, 5, False),
}
