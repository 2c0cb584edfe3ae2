#!/usr/bin/python3
"""Python objects and arrays over mpi4py: a runtime that loads MPI itself.

Argument: rounds (20). On paper, per round on a ring of n ranks: one pickled object (tag 1; mpi4py receives it with a
matched probe), and one array of 100 doubles with Isend and Irecv (tag 2): 2 * n * rounds messages. Then collectives
on objects and arrays, but no reduction of objects: mpi4py makes that of messages. Rank 0 prints one line with
closed-form values.
"""
import sys

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
right, left = (rank + 1) % size, (rank - 1) % size
rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
total = 0.0
for turn in range(rounds):
    request = world.isend({"from": rank, "turn": turn, "text": "x" * turn}, dest=right, tag=1)
    got = world.recv(source=left, tag=1)
    request.wait()
    assert got == {"from": left, "turn": turn, "text": "x" * turn}, got

    out = numpy.full(100, float(rank + turn))
    into = numpy.empty(100)
    pair = [world.Irecv(into, source=left, tag=2), world.Isend(out, dest=right, tag=2)]
    MPI.Request.Waitall(pair)
    assert (into == left + turn).all()
    total += into.sum()

assert world.bcast({"key": [1, 2, 3]} if rank == 0 else None) == {"key": [1, 2, 3]}
assert world.allgather(rank) == list(range(size))
assert world.alltoall([rank * 100 + i for i in range(size)]) == [i * 100 + rank for i in range(size)]
half = world.Split(rank % 2, -rank)
assert half.allgather(rank) == list(range(rank % 2, size, 2))[::-1]
half.Free()
everything = numpy.zeros(1)
world.Allreduce(numpy.array([total]), everything)
expected = sum(100.0 * (r + turn) for r in range(size) for turn in range(rounds))
assert everything[0] == expected
if rank == 0:
    print(f"objects: ranks {size} rounds {rounds} sum {everything[0]:.0f}")
