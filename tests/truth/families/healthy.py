"""Nothing is wrong."""
import placement
from families.case import Case, Family, NODES, either_mpi, exchange, on_nodes, shape, steps


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


def healthy_farm_probe(rng, seconds):
    """The master looks first who is ready."""
    case = healthy_farm(rng, seconds)
    case.arguments["probe"] = 1
    return case


def healthy_pipeline(rng, seconds):
    """All ranks work, each on another step."""
    ranks, work = rng.choice((4, 6, 8)), rng.randrange(3000, 6000)
    return Case("none", {"kind": "pipeline", "work_us": work, "bytes": rng.choice((256, 2048)),
                         "steps": steps(seconds, work)}, ranks)


def healthy_wavefront(rng, seconds):
    """A sweep over a grid, from one corner and from the other, with many planes under way."""
    ranks, work = rng.choice((4, 6, 8)), rng.randrange(3000, 5000)
    return Case("none", {"kind": "sweep", "work_us": work, "bytes": rng.choice((256, 2048)), "planes": 300,
                         "steps": steps(seconds, work)}, ranks)


def healthy_overlap(rng, seconds):
    """What the others need was sent before the work."""
    mpi, ranks, work = either_mpi(rng, (4, 6, 8), rng.randrange(3000, 6000))
    return Case("none", exchange(rng, seconds, ranks, kind="overlap", work_us=work), ranks, mpi=mpi)


def healthy_polling(rng, seconds):
    """The same, with a look at what has come between pieces of the work, which is real here: a program that sleeps
    between its looks waits."""
    mpi, work = rng.choice(("openmpi", "mpich")), rng.randrange(3000, 6000)
    arguments = exchange(rng, seconds, 2, [(0, 1)], kind="overlap", spin=1, work_us=work, pieces=rng.choice((4, 8)))
    return Case("none", arguments, 2, mpi=mpi)


def healthy_startup(rng, seconds):
    """Tables are read by turns and told to all, which all have work meanwhile; then equal steps."""
    ranks = rng.choice((4, 6, 8))
    arguments = exchange(rng, 0.8 * seconds, ranks, setup_us=int(seconds * 20000), setup_times=10,
                         setup_bytes=rng.choice((1, 4)) << 20)
    return Case("none", arguments, ranks)


def healthy_bursty(rng, seconds):
    """Long work, then many exchanges at once."""
    ranks = rng.choice((4, 6, 8))
    return Case("none", exchange(rng, seconds, ranks, work_us=rng.randrange(100_000, 300_000), burst=20, bytes=1024),
                ranks)


def healthy_output(rng, seconds):
    """Every rank writes its own file at the end."""
    ranks = rng.choice((4, 6, 8))
    arguments = exchange(rng, 0.85 * seconds, ranks, io=rng.choice((1, 2)), io_us=int(seconds * 150_000))
    return Case("none", arguments, ranks)


def healthy_collective(rng, seconds):
    """Nonblocking collectives behind the work, or blocking ones, with equal work. Between looks at a nonblocking one it
    is real, by two ranks: see healthy_polling."""
    mpi, ranks, work = either_mpi(rng, (4, 6, 8), rng.randrange(4000, 8000))
    op, pieces = rng.choice((("iallreduce", 4), ("ibcast", 4), ("ialltoall", 4), ("allreduce", 1), ("barrier", 1)))
    arguments = {"kind": "collective", "op": op, "pieces": pieces, "work_us": work, "bytes": 1024,
                 "steps": steps(seconds, work)}
    if pieces > 1:
        arguments["spin"], ranks = 1, 2
    return Case("none", arguments, ranks, mpi=mpi)


def healthy_fence(rng, seconds):
    ranks, work = rng.choice((4, 6)), rng.randrange(5000, 9000)
    return Case("none", {"kind": "fence", "work_us": work, "bytes": rng.choice((256, 8192)), "mode": rng.choice((0, 1)),
                         "steps": steps(seconds, work)}, ranks)


def healthy_neighbours(rng, seconds):
    ranks, work = rng.choice((4, 6, 8)), rng.randrange(4000, 8000)
    return Case("none", {"kind": "collective", "op": rng.choice(("neighbours", "neighboursv")), "work_us": work,
                         "bytes": rng.choice((256, 2048)), "steps": steps(seconds, work)}, ranks)


def healthy_many(rng, seconds):
    """More ranks."""
    ranks = rng.choice((16, 32))
    edges = placement.halo(ranks, 2, periodic=True)
    return Case("none", exchange(rng, seconds, ranks, edges, work_us=rng.randrange(50_000, 80_000), bytes=512), ranks)


FAMILIES = {
    "healthy_halo": Family(healthy_halo, 6),
    "healthy_sparse": Family(healthy_sparse, 5),
    "healthy_ping_pong": Family(healthy_ping_pong, 5),
    "healthy_spinning": Family(healthy_spinning, 5, False),
    "healthy_lammps": Family(healthy_lammps, 5),
    "healthy_nodes": Family(healthy_nodes, 6),
    "healthy_farm": Family(healthy_farm, 6),
    "healthy_farm_probe": Family(healthy_farm_probe, 5, False),
    "healthy_pipeline": Family(healthy_pipeline, 6, False),
    "healthy_wavefront": Family(healthy_wavefront, 6, False),
    "healthy_overlap": Family(healthy_overlap, 6, False),
    "healthy_polling": Family(healthy_polling, 6, False),
    "healthy_startup": Family(healthy_startup, 6, False),
    "healthy_bursty": Family(healthy_bursty, 6, False),
    "healthy_output": Family(healthy_output, 6, False),
    "healthy_collective": Family(healthy_collective, 6, False),
    "healthy_fence": Family(healthy_fence, 6, False),
    "healthy_neighbours": Family(healthy_neighbours, 5, False),
    "healthy_many": Family(healthy_many, 5, False),
}
