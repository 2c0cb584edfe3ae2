#!/usr/bin/python3
"""All that mpi4py makes of pickled objects, with arrays between, on an even number of ranks.

Argument: rounds (5). Every message carries its sender and a serial number, and each rank counts what it sends to
somebody. A reduction of objects mpi4py 3.1 makes of messages, two for each object (its length first): reduce and
allreduce send one object for each bit of the own rank, scan and exscan one to each rank that differs in one bit. Rank 0
prints the sum: so many messages there are on paper, all of them received.
"""
import sys

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
right, left, across = (rank + 1) % size, (rank - 1) % size, rank ^ 1
rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
ANY, NOBODY = MPI.ANY_SOURCE, MPI.PROC_NULL
counted = 0


def thing(to, comm=None):
    """An object to be sent; counted when there is somebody."""
    global counted
    counted += to != NOBODY
    return {"from": (comm or world).rank, "serial": counted, "text": "x" * (counted % 300), "none": None}


def is_from(source, got):
    assert got["from"] == source and len(got["text"]) == got["serial"] % 300, got


def objects_one_by_one(comm, to, source):
    status = MPI.Status()
    for send in (comm.isend, comm.issend, comm.ibsend):
        request = send(thing(to, comm), dest=to, tag=1)
        is_from(source, comm.recv(source=source, tag=1, status=status))
        assert status.source == source and status.tag == 1 and status.count > 0
        request.wait()
    for send in (comm.send, comm.ssend, comm.bsend):
        request = comm.irecv(source=source, tag=2)  # into a buffer of mpi4py's: a plain receive
        comm.Barrier()
        send(thing(to, comm), dest=to, tag=2)
        is_from(source, request.wait(status))
    is_from(source, comm.sendrecv(thing(to, comm), to, 3, None, source, 3, status))
    is_from(source, comm.sendrecv(thing(to, comm), to, 3, source=ANY, recvtag=MPI.ANY_TAG))
    comm.Barrier()


def nobody():
    for send in (world.send, world.ssend, world.bsend):
        send(thing(NOBODY), dest=NOBODY)
    world.isend(thing(NOBODY), dest=NOBODY).wait()
    assert world.recv(source=NOBODY) is None
    assert world.irecv(source=NOBODY).wait() is None
    assert world.sendrecv(thing(NOBODY), NOBODY, source=NOBODY) is None
    assert world.mprobe(NOBODY).recv() is None and world.improbe(NOBODY).irecv().wait() is None
    is_from(left, world.sendrecv(thing(right), right, 4, source=left, recvtag=4))
    at_the_end = world.sendrecv(thing(rank + 1 if rank + 1 < size else NOBODY), rank + 1 if rank + 1 < size else NOBODY,
                                5, source=rank - 1 if rank else NOBODY, recvtag=5)
    assert (at_the_end is None) == (rank == 0)


def probes():
    status = MPI.Status()
    requests = [world.isend(thing(right), right, tag) for tag in (10, 11, 12, 13, 14)]
    world.probe(ANY, 10, status)
    assert status.source == left and status.count > 0
    is_from(left, world.recv(source=ANY, tag=10))
    while not world.iprobe(source=left, tag=11):
        pass
    is_from(left, world.recv(source=left, tag=11))
    is_from(left, world.mprobe(source=ANY, tag=12).recv(status))
    message = None
    while message is None:
        message = world.improbe(source=left, tag=MPI.ANY_TAG)
    got = message.irecv()
    is_from(left, got.wait(status))
    assert status.tag == 13
    message = world.mprobe(left, 14)
    is_from(left, message.irecv().wait())
    MPI.Request.waitall(requests)
    assert world.iprobe() is False and world.improbe() is None
    world.Barrier()


def from_anybody():
    """Everybody to everybody, taken as they come."""
    requests = [world.isend(thing(to), to, 20 + k) for to in range(size) if to != rank for k in range(3)]
    seen = [0] * size
    status = MPI.Status()
    for _ in range(3 * (size - 1)):
        got = world.recv(source=ANY, tag=MPI.ANY_TAG, status=status)
        is_from(status.source, got)
        seen[status.source] += 1
    assert seen == [0 if r == rank else 3 for r in range(size)], seen
    MPI.Request.waitall(requests)
    world.Barrier()


def completed_in_any_order():
    expected = [world.irecv(source=left, tag=30 + k) for k in range(4)]
    world.Barrier()
    for k in (2, 0, 3, 1):
        world.send(thing(right), right, 30 + k)
    index, got = MPI.Request.waitany(expected)
    is_from(left, got)
    rest = [r for i, r in enumerate(expected) if i != index]
    for got in MPI.Request.waitall(rest):
        is_from(left, got)
    request, done = world.irecv(source=left, tag=34), False
    sent = world.isend(thing(right), right, 34)
    while not done:
        done, got = request.test()
    is_from(left, got)
    sent.wait()
    unused = world.irecv(source=left, tag=35)
    unused.Cancel()
    unused.Wait()


def of_all(comm):
    """Collectives of objects. Those with an operation are made of messages."""
    global counted
    me, n = comm.rank, comm.size
    assert comm.bcast({"key": [1, "a"]} if me == 0 else None) == {"key": [1, "a"]}
    assert comm.gather(me, root=n - 1) == (list(range(n)) if me == n - 1 else None)
    assert comm.scatter([(k, "s") for k in range(n)] if me == 0 else None) == (me, "s")
    assert comm.allgather([me]) == [[k] for k in range(n)]
    assert comm.alltoall([(me, k) for k in range(n)]) == [(k, me) for k in range(n)]
    assert comm.reduce([me], op=MPI.SUM, root=0) == (list(range(n)) if me == 0 else None)
    assert comm.allreduce([me], op=MPI.SUM) == list(range(n))
    counted += 2 * 2 * bin(me).count("1")
    assert comm.scan([me], op=MPI.SUM) == list(range(me + 1))
    assert comm.exscan([me], op=MPI.SUM) == (list(range(me)) if me else None)
    counted += 2 * 2 * sum(1 for bit in range(n.bit_length()) if 1 << bit < n and me ^ 1 << bit < n)
    comm.barrier()


def arrays():
    global counted
    out, into = numpy.full(50, rank, dtype="i"), numpy.empty(50, dtype="i")
    again = [world.Recv_init(into, left, 40), world.Send_init(out, right, 40)]
    for k in range(3):
        out[:] = 10 * rank + k
        if k == 1:
            MPI.Prequest.Startall(again)
        else:
            for request in again:
                request.Start()
        counted += 1
        MPI.Request.Waitall(again)
        assert (into == 10 * left + k).all()
    for request in again:
        request.Free()
    for send in (world.Send, world.Ssend, world.Rsend, world.Bsend):
        request = world.Irecv(into, ANY, 41)
        world.Barrier()
        send([out, MPI.INT], right, 41)
        counted += 1
        request.Wait()
    world.Sendrecv(out, right, 42, into, left, 42)
    world.Sendrecv_replace(into, right, 43, left, 43)
    counted += 2
    world.Isend(out[:0], right, 44).Wait()
    world.Recv(into[:0], left, 44)
    counted += 1
    request = world.Isend(out, right, 45)
    message = world.Mprobe(ANY, 45)
    message.Recv(into)
    request.Wait()
    counted += 1
    world.Barrier()


def errors():
    """They raise. A message that was too long was received all the same."""
    global counted

    def raises(error, call, *words, **more):
        try:
            call(*words, **more)
        except MPI.Exception as found:
            assert found.Get_error_class() == error, found
        else:
            assert False, "nothing was raised"
    raises(MPI.ERR_RANK, world.send, "lost", dest=size + 5)
    raises(MPI.ERR_RANK, world.isend, "lost", dest=size + 5)
    raises(MPI.ERR_RANK, world.recv, source=size + 5)
    raises(MPI.ERR_RANK, world.irecv, source=size + 5)
    raises(MPI.ERR_TAG, world.send, "lost", dest=right, tag=-7)
    raises(MPI.ERR_TAG, world.recv, source=left, tag=-7)
    raises(MPI.ERR_ROOT, world.bcast, "lost", root=size + 5)
    raises(MPI.ERR_TYPE, world.Send, [bytearray(4), 1, MPI.DATATYPE_NULL], right, 50)
    raises(MPI.ERR_TYPE, world.Sendrecv, [bytearray(4), 1, MPI.DATATYPE_NULL], right, 50, bytearray(9), left, 50)
    request = world.Isend(bytearray(100), right, 50)
    counted += 1
    raises(MPI.ERR_TRUNCATE, world.Recv, bytearray(10), left, 50)
    request.Wait()
    is_from(left, world.sendrecv(thing(right), right, 50, source=left, recvtag=50))
    world.Barrier()


def intercommunicator():
    half = world.Split(rank % 2, rank)
    both = half.Create_intercomm(0, world, 1 - rank % 2, 60)
    request = both.isend(thing(half.rank, half), half.rank, 61)
    is_from(half.rank, both.recv(source=ANY, tag=61))
    request.wait()
    is_from(half.rank, both.sendrecv(thing(half.rank, half), half.rank, 62, source=half.rank, recvtag=62))
    assert both.allgather(rank) == list(range(1 - rank % 2, size, 2))
    merged = both.Merge(rank % 2)
    of_all(merged)
    for comm in (merged, both, half):
        comm.Free()


def halo():
    """A ring of cells that are dictionaries."""
    cells = {"value": float(rank), "history": []}
    for turn in range(10):
        pair = [world.isend((thing(to), turn, cells), to, 70 + way) for way, to in enumerate((left, right))]
        ahead, before = world.recv(source=right, tag=70), world.recv(source=left, tag=71)
        for source, (got, when, _) in ((right, ahead), (left, before)):
            is_from(source, got)
            assert when == turn
        MPI.Request.waitall(pair)
        value = (ahead[2]["value"] + before[2]["value"]) / 2
        cells = {"value": value, "history": cells["history"] + [turn]}
    assert cells["history"] == list(range(10))


assert size % 2 == 0
MPI.Attach_buffer(bytearray(1 << 20))
for _ in range(rounds):
    objects_one_by_one(world, right, left)
    copy = world.Dup()
    objects_one_by_one(copy, across, across)
    copy.Free()
    nobody()
    probes()
    from_anybody()
    completed_in_any_order()
    of_all(world)
    arrays()
    errors()
    intercommunicator()
    halo()
MPI.Detach_buffer()
total = numpy.zeros(1, dtype="q")
world.Allreduce(numpy.array([counted], dtype="q"), total)
if rank == 0:
    threads = MPI.Query_thread() == MPI.THREAD_MULTIPLE
    print(f"pickled: ranks {size} rounds {rounds} threads {threads} messages {total[0]}")
