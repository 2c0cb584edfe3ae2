"""MPI-IO."""
from families.case import Case, Family, late_rank, steps


def write_all_late(rng, seconds):
    """One rank comes late to a collective write."""
    case = late_rank(rng, seconds, "collective", op="file", work=(6000, 9000), ranks=(4, 6), extra=(1.0, 2.0),
                     bytes=rng.choice((1024, 8192)))
    case.truth = "collective-wait"
    return case


def serialised_writes(rng, seconds):
    """Blocks in the order of the ranks, or as they come, by a shared file pointer."""
    ranks, work = rng.choice((4, 6)), rng.randrange(5000, 10000)
    arguments = {"kind": rng.choice(("ordered", "shared")), "work_us": work, "bytes": rng.choice((262144, 1048576)),
                 "burst": rng.choice((2, 4)), "io_us": int(seconds * 1e6)}
    arguments["steps"] = steps(seconds, work, arguments["burst"] * ranks * arguments["bytes"] / 500)
    return Case("file", arguments, ranks, costs="inside", mpi=rng.choice(("openmpi", "openmpi", "mpich")))


def slow_writes(rng, seconds):
    """Many small writes, each made safe at once."""
    ranks, work = rng.choice((4, 6)), rng.randrange(5000, 10000)
    busy = int(work * rng.uniform(0.5, 1.2))
    arguments = {"kind": "writes", "work_us": work, "io_us": busy, "bytes": rng.choice((4096, 65536)),
                 "steps": steps(seconds, work + busy, 3000)}
    return Case("file", arguments, ranks, costs="inside", mpi=rng.choice(("openmpi", "openmpi", "mpich")))


FAMILIES = {
    "write_all_late": Family(write_all_late, 5, False),
    "serialised_writes": Family(serialised_writes, 5, False),
    "slow_writes": Family(slow_writes, 5, False),
}
