"""Collectives, blocking and not, in which ranks wait for those that come last."""
from families.case import Case, Family, late_rank, ramp, steps


def changing(rng, seconds):
    ranks = rng.choice((4, 6, 8))
    work = rng.randrange(2000, 4000)
    arguments = {"kind": "reduce", "work_us": work, "slow_us": int(work * rng.uniform(0.8, 1.5)),
                 "late": rng.randrange(1, 1 << 30), "steps": steps(seconds, 2 * work)}
    return Case("collective-wait", arguments, ranks)


def one_late(rng, seconds, op, **more):
    case = late_rank(rng, seconds, "collective", op=op, **more)
    case.truth = "collective-wait"
    return case


def late_for_all(rng, seconds):
    """One rank comes late to what all wait for."""
    return one_late(rng, seconds, rng.choice(("barrier", "allreduce", "alltoall")))


def late_of_many(rng, seconds):
    return one_late(rng, seconds, rng.choice(("barrier", "allreduce")), ranks=(16, 32), work=(20000, 30000), mpis=False)


def late_bcast(rng, seconds):
    """The root comes late."""
    case = one_late(rng, seconds, "bcast", bytes=rng.choice((64, 4096)))
    case.arguments["root"] = case.right[0]
    return case


def early_reduce(rng, seconds):
    """Only the root waits, for a rank that sends to it directly; all others, which need not wait, work as long as the
    late one, but afterwards."""
    case = one_late(rng, seconds, rng.choice(("reduce", "gather")), ranks=(4, 6, 8), work=(5000, 8000),
                    extra=(1.0, 1.5), bytes=64, after=1, mpis=False)
    case.arguments["root"] = (case.right[0] - rng.choice((1, 2))) % case.ranks
    return case


def scan(rng, seconds, op):
    """Only higher ranks wait; the lower ones work as long as the late one, but afterwards. By Open MPI, whose scan is a
    chain; MPICH's lower ranks wait for higher ones."""
    return one_late(rng, seconds, op, guilty=lambda chance, ranks: chance.randrange(ranks // 2), after=1, mpis=False,
                    work=(5000, 8000), extra=(1.0, 1.5))


def scan_late(rng, seconds):
    return scan(rng, seconds, "scan")


def exscan_late(rng, seconds):
    return scan(rng, seconds, "exscan")


def neighbours_late(rng, seconds):
    """MPI_Neighbor_alltoall(v) on a ring."""
    return one_late(rng, seconds, rng.choice(("neighbours", "neighboursv")), bytes=rng.choice((256, 2048)))


def ramp_collective(rng, seconds):
    """Every rank comes a little later than the one before."""
    ranks = rng.choice((6, 8, 16))
    top, factors = ramp(rng, ranks)
    work = rng.randrange(3000, 6000) * (2 if ranks > 8 else 1)
    arguments = {"kind": "collective", "op": rng.choice(("barrier", "allreduce")), "work_us": work, "factor": factors,
                 "steps": steps(seconds, work * top)}
    return Case("load-imbalance", arguments, ranks)


def serial(rng, seconds, mode, **more):
    """In each third or fifth step one rank computes for all, who wait for its word."""
    ranks, work = rng.choice((4, 6, 8)), rng.randrange(2000, 4000)
    root, every = rng.randrange(ranks), rng.choice((3, 5))
    alone = int(work * every * rng.uniform(0.5, 1.0))
    arguments = {"kind": "serial", "mode": mode, "root": root, "every": every, "work_us": work, "slow_us": alone,
                 "slow": root, "bytes": 1024, "steps": steps(seconds, work + alone / every), **more}
    # Whose word comes by a collective or a message: where to look is the same.
    return Case("late-sender" if mode == 2 else "collective-wait", arguments, ranks, right=(root,),
                also=("late-sender", "collective-wait"))


def serial_section(rng, seconds):
    return serial(rng, seconds, rng.choice((0, 1)))


def serial_messages(rng, seconds):
    return serial(rng, seconds, 2)


def serial_output(rng, seconds):
    """The same, but it writes a file meanwhile."""
    return serial(rng, seconds, rng.choice((0, 1, 2)), io=3)


def nonblocking_late(rng, seconds):
    case = one_late(rng, seconds, rng.choice(("ibarrier", "iallreduce", "ialltoall")), bytes=256)
    return case


def ibcast_late(rng, seconds):
    """The root starts it late."""
    case = one_late(rng, seconds, "ibcast", bytes=rng.choice((64, 4096)))
    case.arguments["root"] = case.right[0]
    return case


def nonblocking_polled(rng, seconds):
    """A loop of MPI_Test in place of Wait."""
    return one_late(rng, seconds, rng.choice(("ibarrier", "iallreduce")), poll=1, pause_us=rng.choice((0, 50, 200)))


def nonblocking_changing(rng, seconds):
    case = one_late(rng, seconds, rng.choice(("ibarrier", "iallreduce")))
    case.right = ()
    del case.arguments["slow"]
    case.arguments["late"] = rng.randrange(1, 1 << 30)
    return case


FAMILIES = {
    "collective": Family(changing, 5),
    "late_for_all": Family(late_for_all, 5, False),
    "late_of_many": Family(late_of_many, 5, False),
    "late_bcast": Family(late_bcast, 5, False),
    "early_reduce": Family(early_reduce, 5, False),
    "scan_late": Family(scan_late, 5, False),
    "exscan_late": Family(exscan_late, 5, False),
    "neighbours_late": Family(neighbours_late, 5, False),
    "ramp_collective": Family(ramp_collective, 5, False),
    "serial_section": Family(serial_section, 5, False),
    "serial_messages": Family(serial_messages, 5, False),
    "serial_output": Family(serial_output, 5, False),
    "nonblocking_late": Family(nonblocking_late, 5, False),
    "ibcast_late": Family(ibcast_late, 5, False),
    "nonblocking_polled": Family(nonblocking_polled, 5, False),
    "nonblocking_changing": Family(nonblocking_changing, 5, False),
}
