"""Pairs and rings: who sends waits for who receives, or the other way around."""
from families.case import Case, Family, late_rank, part_of, steps


def pairs(rng, seconds, mode, sizes, kind="pairs", mpis=False):
    ranks = rng.choice((4, 6, 8))
    work, mpi = rng.randrange(3000, 6000), "openmpi"
    if mpis and rng.random() < 0.3:
        ranks, work, mpi = 4, 5 * work, "mpich"
    guilty = rng.randrange(1, ranks, 2)
    extra = int(work * rng.uniform(0.7, 1.5))
    # All but the guilty one's partner work longer: pairs go on at one pace, only that partner has to wait.
    slow = [guilty, *(r for r in range(ranks) if r not in (guilty - 1, guilty))]
    arguments = {"kind": kind, "mode": mode, "work_us": work, "slow": ",".join(map(str, slow)), "slow_us": extra,
                 "bytes": rng.choice(sizes), "steps": steps(seconds, work + extra / 2)}
    return Case("late-receiver", arguments, ranks, right=(guilty,), mpi=mpi)


def late_receiver(rng, seconds):
    case = pairs(rng, seconds, 0, (131072, 262144))
    case.live = rng.random() < 0.6
    case.whole = not case.live
    if not case.whole:
        begin, end = part_of(rng, case.arguments["steps"])
        case.arguments.update({"from": int(begin), "to": int(end)})
    return case


def isend_late_receiver(rng, seconds):
    return pairs(rng, seconds, rng.choice((1, 2)), (262144, 524288), mpis=True)


def ssend_late_receiver(rng, seconds):
    """Small messages, whose sender waits all the same."""
    return pairs(rng, seconds, rng.choice((3, 4)), (64, 1024), mpis=True)


def sendrecv_late_receiver(rng, seconds):
    """The partner has sent, but receives late."""
    return pairs(rng, seconds, 0, (262144, 524288), kind="swap", mpis=True)


def sendrecv_late(rng, seconds):
    return late_rank(rng, seconds, "sendrecv", bytes=rng.choice((512, 2048)))


def two_causes(rng, seconds):
    """A ring with a slow rank, and pairs whose receivers come late. Each rank that waits loses as much; in one of them
    more ranks do."""
    work, factor = rng.randrange(3000, 6000), rng.uniform(1.8, 2.4)
    ring, pairs_late = rng.choice(((4, (7,)), (2, (3, 5, 7))))
    slow = rng.randrange(ring)
    on_time = [r for r in range(ring) if r != slow] + [r - 1 for r in pairs_late]
    factors = ["1" if r in on_time else f"{factor:.2f}" for r in range(8)]
    arguments = {"kind": "two", "split": ring, "work_us": work, "factor": ",".join(factors), "bytes": 131072,
                 "steps": steps(seconds, work * factor)}
    return Case("late-sender", arguments, 8, right=(slow,), second=("late-receiver", pairs_late))


FAMILIES = {
    "late_receiver": Family(late_receiver, 5),
    "isend_late_receiver": Family(isend_late_receiver, 5, False),
    "ssend_late_receiver": Family(ssend_late_receiver, 5, False),
    "sendrecv_late_receiver": Family(sendrecv_late_receiver, 5, False),
    "sendrecv_late": Family(sendrecv_late, 5, False),
    "two_causes": Family(two_causes, 5, False),
}
