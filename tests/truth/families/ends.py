"""The begin and the end of a job."""
from families.case import Case, Family, exchange


def late(rng, seconds, truth, which, **more):
    ranks = rng.choice((4, 6, 8))
    guilty = rng.randrange(ranks)
    alone = int(seconds * 1e6 * rng.uniform(0.3, 0.45))
    arguments = exchange(rng, seconds - alone / 1e6, ranks, slow=guilty, **{f"{which}_us": alone})
    mpi = rng.choice(("openmpi", "openmpi", "mpich")) if ranks == 4 else "openmpi"
    if mpi == "mpich":
        arguments["work_us"] *= 5
        arguments["steps"] //= 5
    return Case(truth, arguments, ranks, right=(guilty,), mpi=mpi, costs={"end": "finalize"}.get(which, which), **more)


def late_init(rng, seconds):
    """One rank comes late to MPI_Init, in which all wait for it."""
    return late(rng, seconds, "startup", "init")


def late_finalize(rng, seconds):
    """One rank works on alone, while all others wait in MPI_Finalize."""
    # Whether to wait there is called a collective or a message: the rank is what matters.
    return late(rng, seconds, "collective-wait", "end", also=("late-sender",))


FAMILIES = {
    "late_init": Family(late_init, 5, False),
    "late_finalize": Family(late_finalize, 5, False),
}
