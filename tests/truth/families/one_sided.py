"""One-sided communication."""
from families.case import Case, Family, late_rank, steps


def one_sided(case):
    case.truth = "one-sided-wait"
    return case


def fence_late(rng, seconds):
    return one_sided(late_rank(rng, seconds, "fence", bytes=rng.choice((256, 8192)), mode=rng.choice((0, 1))))


def post(rng, seconds, after, odd):
    """2k puts into 2k + 1. All but the guilty one's partner work longer: pairs go on at one pace, only that one waits.
    """
    case = one_sided(late_rank(rng, seconds, "post", bytes=256, after=after,
                               guilty=lambda chance, ranks: chance.randrange(odd, ranks, 2)))
    guilty = case.right[0]
    others = (r for r in range(case.ranks) if r not in (guilty, guilty ^ 1))
    case.arguments["slow"] = ",".join(map(str, (guilty, *others)))
    return case


def late_post(rng, seconds):
    """The target allows access late: the origin waits in MPI_Win_start or MPI_Win_complete."""
    return post(rng, seconds, 0, 1)


def late_complete(rng, seconds):
    """The origin ends its access late: the target waits in MPI_Win_wait."""
    return post(rng, seconds, 1, 0)


def lock_held(rng, seconds):
    """One rank holds a lock for long that others need. By Open MPI: MPICH's target has to be inside MPI for it."""
    ranks = rng.choice((4, 5, 6))
    root, guilty = rng.sample(range(ranks), 2)
    work, hold = rng.randrange(3000, 5000), rng.randrange(8000, 15000)
    arguments = {"kind": "lock", "root": root, "slow": guilty, "work_us": work, "serve_us": hold, "bytes": 256,
                 "steps": steps(seconds, work + hold, 2000)}
    return Case("one-sided-wait", arguments, ranks, right=(guilty,), costs="inside")


def busy_target(rng, seconds):
    """The target computes and does not look after the others' operations. By MPICH: Open MPI's origins need no help."""
    ranks = rng.choice((3, 4))
    root, work = rng.randrange(ranks), rng.randrange(20000, 40000)
    arguments = {"kind": "flush", "root": root, "slow": root, "slow_us": work, "work_us": work, "bytes": 256,
                 "mode": rng.choice((0, 1)), "steps": steps(seconds, 2 * work, 2000)}
    return Case("one-sided-wait", arguments, ranks, right=(root,), costs="inside", mpi="mpich")


FAMILIES = {
    "fence_late": Family(fence_late, 5, False),
    "late_post": Family(late_post, 5, False),
    "late_complete": Family(late_complete, 5, False),
    "lock_held": Family(lock_held, 5, False),
    "busy_target": Family(busy_target, 5, False),
}
