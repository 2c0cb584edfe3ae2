"""Programs for random faults: what they print is known from a bare run, how many messages they exchange on paper."""
import math

import harness


def dims(n):
    """MPI_Dims_create(n, 2)."""
    px = next(p for p in range(int(math.sqrt(n)), 0, -1) if n % p == 0)
    return n // px, px


def halo2d(chance, ranks):
    iterations, pause = chance.choice([(300, 1000), (1500, 100), (10000, 0)])
    px, py = dims(ranks)
    return ["halo2d", iterations, 32, pause], 2 * iterations * ((px - 1) * py + px * (py - 1))


def ring(chance, ranks):
    rounds = chance.choice([50, 2000])
    return ["ring", rounds, chance.choice([8, 70000])], ranks * rounds


def persistent_halo(chance, ranks):
    iterations = chance.choice([100, 1000])
    return ["persistent_halo", iterations], 2 * ranks * iterations


def collectives(_chance, _ranks):
    return ["collectives", 3], 0


def late_sender(chance, ranks):
    messages = chance.choice([10, 40])
    return ["late_sender", messages, 10000], ranks // 2 * messages


def shared_memory(chance, ranks):
    return ["shared_memory", chance.choice([0, 64, 1024])], 5 * ranks * ranks


def long_halo2d(_chance, ranks):
    px, py = dims(ranks)
    return ["halo2d", 1500, 32, 1000], 2 * 1500 * ((px - 1) * py + px * (py - 1))


def long_late_sender(_chance, ranks):
    return ["late_sender", 75, 20000], ranks // 2 * 75


def long_cg_pattern(_chance, ranks):
    levels = {2: 1, 4: 1}[ranks]  # log2 of the columns
    return ["cg_pattern", 1000, 1024, 1500], ranks * (3 * levels + 1) * 1000


EVERY = [halo2d, ring, persistent_halo, collectives, late_sender, shared_memory]
LONG = [long_halo2d, long_late_sender, long_cg_pattern]  # 1.5 s at least: what strikes at a moment strikes both runs


def draw(chance, mpi, long):
    """Its command, its ranks, its messages."""
    ranks = chance.choice([2, 4]) if mpi == "openmpi" else 2  # MPICH's ranks spin
    (name, *arguments), messages = chance.choice(LONG if long else EVERY)(chance, ranks)
    return [harness.program(name, mpi), *map(str, arguments)], ranks, messages
