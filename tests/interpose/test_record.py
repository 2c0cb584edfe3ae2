"""The record of calls whose events are known on paper, section by section of record_calls.c, on both MPIs.
Depends on: launcher."""

import unittest

import job
from job import ANY_SOURCE, ANY_TAG, PROC_NULL, UNKNOWN_RANK, ROOT_SELF

INT, WORLD, SELF = 4, 1, 2


class Paper:
    """What one rank should have recorded. Ordinals of sends and receives are counted here as MPI calls post them."""

    def __init__(self):
        self.lines, self.sends, self.receives = [], 0, 0

    def add(self, kind, function, peer, tag, size, ordinal, *flags, comm=WORLD):
        self.lines.append((kind, function, comm, peer, tag, size, ordinal, frozenset(flags)))

    def send(self, function, peer, tag, size, *flags, comm=WORLD):
        self.add("send", function, peer, tag, size, self.sends, *flags, comm=comm)
        self.sends += 1
        return self.sends - 1

    def recv(self, function, peer, tag, size, *flags, comm=WORLD):
        self.add("recv_done", function, peer, tag, size, self.receives, *flags, comm=comm)
        self.receives += 1

    def post(self, function, peer, tag, *flags, comm=WORLD, size=0):
        self.add("recv_post", function, peer, tag, size, self.receives, *flags, comm=comm)
        self.receives += 1
        return self.receives - 1

    def done(self, function, ordinal, peer, tag, size, *flags, comm=WORLD):
        self.add("recv_done", function, peer, tag, size, ordinal, "posted", *flags, comm=comm)

    def call(self, function, completions):
        self.add("call", function, UNKNOWN_RANK, ANY_TAG, 0, completions, comm=0)

    def go(self, rank):
        if rank == 0:
            self.recv("Recv", 1, 1, 0)
        elif rank == 1:
            self.send("Send", 0, 1, 0)


def blocking(a, b, _c):
    a.send("Send", 1, 5, 12)
    a.send("Ssend", 1, 6, 8, "synchronous")
    a.send("Bsend", 1, 7, 4, "buffered")
    b.recv("Recv", 0, 5, 12)
    b.recv("Recv", 0, 6, 8)
    b.recv("Recv", 0, 7, 4)


def proc_null(a, _b, _c):
    a.send("Send", PROC_NULL, 3, 8)
    a.recv("Recv", PROC_NULL, ANY_TAG, 0)
    a.recv("Irecv", PROC_NULL, ANY_TAG, 0, "nonblocking")
    a.send("Isend", PROC_NULL, 3, 8, "nonblocking")
    a.call("Waitall", 2)
    a.send("Sendrecv", PROC_NULL, 4, 4)
    a.recv("Sendrecv", PROC_NULL, ANY_TAG, 0)
    a.add("call", "Probe", PROC_NULL, ANY_TAG, 0, 0)
    a.add("call", "Mprobe", PROC_NULL, ANY_TAG, 0, 0)
    a.recv("Mrecv", PROC_NULL, ANY_TAG, 0, comm=0)
    a.add("call", "Improbe", PROC_NULL, ANY_TAG, 0, 0)
    a.recv("Imrecv", PROC_NULL, ANY_TAG, 0, "nonblocking", comm=0)
    a.call("Wait", 1)


def nonblocking(a, b, _c):
    first = b.post("Irecv", 0, 20, "nonblocking")
    second = b.post("Irecv", ANY_SOURCE, 21, "nonblocking")
    third = b.post("Irecv", 0, ANY_TAG, "nonblocking")
    a.go(0), b.go(1)
    a.send("Isend", 1, 20, 16, "nonblocking")
    a.send("Issend", 1, 21, 20, "nonblocking", "synchronous")
    a.send("Irsend", 1, 22, 24, "nonblocking", "ready")
    a.call("Waitall", 3)
    b.call("Waitall", 3)
    b.done("Waitall", first, 0, 20, 16, "nonblocking")
    b.done("Waitall", second, 0, 21, 20, "nonblocking")
    b.done("Waitall", third, 0, 22, 24, "nonblocking")


def any_and_some(a, b, _c):
    for form, function in enumerate(["Waitany", "Waitsome", "Testany", "Testsome"]):
        tag = 30 + 2 * form
        posted = [b.post("Irecv", 0, tag, "nonblocking"), b.post("Irecv", ANY_SOURCE, tag + 1, "nonblocking")]
        for turn in (0, 1):
            a.go(0), b.go(1)
            a.send("Send", 1, tag + 1 - turn, INT * (1 + turn))
            b.call(function, 1)
            b.done(function, posted[1 - turn], 0, tag + 1 - turn, INT * (1 + turn), "nonblocking")
    b.call("Waitany", 0)
    b.call("Waitsome", 0)
    b.call("Wait", 0)
    b.call("Waitall", 0)


def tests(a, b, _c):
    first = b.post("Irecv", 0, 40, "nonblocking")
    a.go(0), b.go(1)
    a.send("Send", 1, 40, 4)
    b.call("Test", 1)
    b.done("Test", first, 0, 40, 4, "nonblocking")
    posted = [b.post("Irecv", 0, 41, "nonblocking"), b.post("Irecv", 0, 42, "nonblocking")]
    a.go(0), b.go(1)
    a.send("Send", 1, 42, 8)
    a.send("Send", 1, 41, 4)
    b.call("Testall", 2)
    b.done("Testall", posted[0], 0, 41, 4, "nonblocking")
    b.done("Testall", posted[1], 0, 42, 8, "nonblocking")
    many = [b.post("Irecv", ANY_SOURCE, 1000 + i, "nonblocking") for i in range(100)]
    a.go(0), b.go(1)
    for i in reversed(range(100)):
        a.send("Send", 1, 1000 + i, 4)
    b.call("Waitall", 100)
    for i in range(100):
        b.done("Waitall", many[i], 0, 1000 + i, 4, "nonblocking")


def persistent(a, b, _c):
    a.add("call", "Send_init", 1, 50, 12, 0, "persistent")
    a.add("call", "Ssend_init", 1, 51, 8, 0, "persistent")
    b.add("call", "Recv_init", 0, ANY_TAG, 16, 0, "persistent")
    b.add("call", "Recv_init", ANY_SOURCE, 51, 16, 0, "persistent")
    b.call("Waitall", 2)
    for turn in (0, 1):
        start = "Start" if turn else "Startall"
        posted = [b.post(start, 0, ANY_TAG, "persistent"), b.post(start, ANY_SOURCE, 51, "persistent")]
        a.go(0), b.go(1)
        a.send("Startall", 1, 50, 12, "persistent")
        a.send("Startall", 1, 51, 8, "persistent", "synchronous")
        a.call("Waitall", 2)
        b.call("Waitall", 2)
        b.done("Waitall", posted[0], 0, 50, 12, "persistent")
        b.done("Waitall", posted[1], 0, 51, 8, "persistent")


def probes(a, b, _c):
    for i in range(4):
        a.send("Send", 1, 60 + i, INT * (1 + i))
    b.add("call", "Probe", 0, 60, 4, 0)
    b.recv("Recv", 0, 60, 4)
    b.add("call", "Iprobe", 0, 61, 8, 0)
    b.recv("Recv", 0, 61, 8)
    taken = b.post("Mprobe", 0, 62, "matched_probe", size=12)
    b.done("Mrecv", taken, 0, 62, 12)
    taken = b.post("Improbe", 0, 63, "matched_probe", size=16)
    b.add("call", "Imrecv", 0, 63, 0, taken, "nonblocking")
    b.call("Wait", 1)
    b.done("Wait", taken, 0, 63, 16, "nonblocking")


def cancelled(a, b, _c, sent):
    ordinal = b.post("Irecv", ANY_SOURCE, 99, "nonblocking")
    b.call("Wait", 1)
    b.add("recv_cancelled", "Wait", ANY_SOURCE, 99, 0, ordinal, "nonblocking")
    b.add("call", "Recv_init", 0, 98, 32, 0, "persistent")
    ordinal = b.post("Start", 0, 98, "persistent")
    b.call("Wait", 1)
    b.add("recv_cancelled", "Wait", 0, 98, 0, ordinal, "persistent")
    ordinal = b.post("Irecv", 0, 70, "nonblocking")
    b.add("recv_freed", "Request_free", 0, 70, 0, ordinal, "nonblocking")
    a.go(0), b.go(1)
    a.send("Send", 1, 70, 4)
    ordinal = b.post("Irecv", 0, 71, "nonblocking")
    send = a.send("Issend", 1, 71, 8, "nonblocking", "synchronous")
    a.add("send_cancel_request", "Cancel", 1, 71, 8, send, "nonblocking", "synchronous")
    a.call("Wait", 1)
    a.add("send_not_cancelled" if sent else "send_cancelled", "Wait", 1, 71, 0, send, "nonblocking", "synchronous")
    a.send("Send", 1, 72, 4)
    b.recv("Recv", 0, 72, 4)
    b.call("Wait", 1)
    if sent:
        b.done("Wait", ordinal, 0, 71, 8, "nonblocking")
    else:
        b.add("recv_cancelled", "Wait", 0, 71, 0, ordinal, "nonblocking")


def both_ways(a, b, _c):
    for me, paper in ((0, a), (1, b)):
        other = 1 - me
        paper.send("Sendrecv", other, 80 + me, INT * (1 + me))
        paper.recv("Sendrecv", other, 80 + other, INT * (1 + other))
        paper.send("Sendrecv_replace", other, 82, 8)
        paper.recv("Sendrecv_replace", other, 82, 8)
        paper.send("Isend", me, 83, 4, "nonblocking", comm=SELF)
        paper.recv("Recv", me, 83, 4, comm=SELF)
        paper.call("Wait", 1)


def truncated(a, b, _c):
    posted = b.post("Irecv", 0, 91, "nonblocking")
    a.go(0), b.go(1)
    a.send("Send", 1, 90, 12)
    a.send("Send", 1, 91, 12)
    b.recv("Recv", 0, 90, None, "failed", "truncated")
    b.done("Waitall", posted, 0, 91, None, "nonblocking", "failed", "truncated")
    for function, flags in (("Recv", []), ("Irecv", ["nonblocking"])):  # refused: their numbers are closed
        b.add("recv_cancelled", function, UNKNOWN_RANK, ANY_TAG, 0, b.receives, "failed", *flags)
        b.receives += 1


def collectives(*papers):
    for rank, paper in enumerate(papers):
        expected = [("Barrier", ANY_SOURCE, 0), ("Bcast", 1, 16 if rank == 1 else 0), ("Reduce", 2, 16),
                    ("Allreduce", ANY_SOURCE, 16), ("Gather", 0, 8), ("Scatterv", 0, 24 if rank == 0 else 0),
                    ("Allgatherv", ANY_SOURCE, INT * (1 + rank)), ("Allgatherv", ANY_SOURCE, INT * (1 + rank)),
                    ("Alltoall", ANY_SOURCE, 24), ("Reduce_scatter", ANY_SOURCE, 24), ("Exscan", rank, 4)]
        for ordinal, (function, root, size) in enumerate(expected):
            paper.add("collective", function, root, ANY_TAG, size, ordinal)
        paper.call("Wait", 1)
        paper.add("collective", "Iallreduce", ANY_SOURCE, ANY_TAG, 16, 11, "nonblocking")
        paper.call("Wait", 1)
        paper.add("collective", "Ibcast", 2, ANY_TAG, 4 if rank == 2 else 0, 12, "nonblocking")
        paper.add("collective", "Ibarrier", ANY_SOURCE, ANY_TAG, 0, 0, "nonblocking", comm=SELF)
        paper.call("Wait", 1)


def communicators(*papers):
    for rank, paper in enumerate(papers):
        mine = "split" + ("1" if rank == 1 else "02")
        dup = "dup" + ("1" if rank == 1 else "02")
        alone = 1 if rank == 1 else 2

        def made(function, name, members, parent, *flags):
            paper.add("comm_created", function, 0, ANY_TAG, members, parent, *flags, comm=name)

        def freed(name):
            paper.add("comm_freed", "Comm_free", ANY_SOURCE, ANY_TAG, 0, 0, comm=name)

        made("Comm_split", mine, alone, WORLD)
        made("Comm_dup", dup, alone, mine)
        if rank == 2:
            paper.send("Send", 0, 100, 4, comm=dup)
        if rank == 0:
            paper.recv("Recv", 2, 100, 4, comm=dup)
        made("Intercomm_create", "inter", 3, 0, "intercomm")
        if rank == 1:
            paper.send("Send", 0, 101, 4, "intercomm", comm="inter")
        if rank == 0:
            ordinal = paper.post("Irecv", 1, ANY_TAG, "nonblocking", "intercomm", comm="inter")
            paper.call("Wait", 1)
            paper.done("Wait", ordinal, 1, 101, 4, "nonblocking", "intercomm", comm="inter")
        paper.add("collective", "Bcast", ROOT_SELF if rank == 1 else 1, ANY_TAG, 4 if rank == 1 else 0, 0, "intercomm",
                  comm="inter")
        made("Intercomm_merge", "merged", 3, "inter")
        paper.add("collective", "Allreduce", ANY_SOURCE, ANY_TAG, 4, 0, comm="merged")
        paper.call("Wait", 1)
        made("Comm_idup", "idup", 3, WORLD, "nonblocking")
        if rank < 2:
            made("Comm_create", "pair", 2, WORLD)
            if rank == 1:
                ordinal = paper.post("Irecv", 0, 102, "nonblocking", comm="pair")
            paper.go(rank)
            freed("pair")
            if rank == 0:
                paper.send("Send", 1, 102, 0)
            else:
                paper.recv("Recv", 0, 102, 0)
                paper.call("Wait", 1)
                paper.add("recv_cancelled", "Wait", 0, 102, 0, ordinal, "nonblocking", comm="pair")
        else:
            paper.add("call", "Comm_create", ANY_SOURCE, ANY_TAG, 0, 0)
        for name in ("idup", "merged", "inter", dup, mine):
            freed(name)


def types(a, _b, _c):
    for n in (1, 2, 3):
        a.send("Send", PROC_NULL, n, 8 * n)


class Names(dict):
    """Communicator names of the paper to recorded ids: found at creation, equal on all members, different else."""

    def resolve(self, name, identifier, where):
        if not isinstance(name, str):
            return name
        known = self.setdefault(name, identifier)
        assert known == identifier, f"{where}: {name} is {identifier:x} here, {known:x} elsewhere"
        return known


class Record(job.Test):
    mpi = None

    def run_section(self, section, **variables):
        result = job.launch(self.mpi, 3, [job.program("record_calls", self.mpi), section], **variables)
        self.assertEqual(result.status, 0, result.err)
        self.assertEqual([s.rank for s in result.segments], [0, 1, 2])
        return result.segments

    def compare(self, segments, papers):
        names = Names()
        for segment, paper in zip(segments, papers):
            first, *events, last = segment.events
            self.assertEqual((first.kind, last.kind), ("init", "finalize"))
            for number, (event, line) in enumerate(zip(events, paper.lines)):
                kind, function, comm, peer, tag, size, ordinal, flags = line
                where = f"rank {segment.rank} event {number} {kind} {function}"
                comm = names.resolve(comm, event.comm, where)
                if kind == "comm_created":
                    ordinal = names.resolve(ordinal, event.ordinal, where)
                expected = (kind, function, comm, peer, tag, event.bytes if size is None else size, ordinal, set(flags))
                found = (event.kind, event.function, event.comm, event.peer, event.tag, event.bytes, event.ordinal,
                         event.flags)
                self.assertEqual(found, expected, where)
            self.assertEqual(len(events), len(paper.lines), f"rank {segment.rank}")
        self.assertEqual(len(set(names.values())), len(names), "two communicators with one id")
        self.assertFalse(set(names.values()) & {0, WORLD, SELF})

    def check_times(self, segments):
        for segment in segments:
            self.assertEqual((segment.dropped, segment.state, segment.call), (0, 2, 0))
            for before, after in zip(segment.events, segment.events[1:]):
                self.assertLessEqual(before.end, after.end)
            for event in segment.events:
                self.assertLessEqual(event.begin, event.end)
                self.assertNotEqual(event.site, 0)

    def check(self, section):
        segments = self.run_section(section)
        papers = [Paper(), Paper(), Paper()]
        globals()[section](*papers)
        self.compare(segments, papers)
        self.check_times(segments)

    def test_cancelled(self):
        segments = self.run_section("cancelled")
        sent = any(e.kind == "send_not_cancelled" for e in segments[0].events)
        papers = [Paper(), Paper(), Paper()]
        cancelled(*papers, sent)
        self.compare(segments, papers)
        self.check_times(segments)

    def test_with_the_monotonic_clock(self):
        segments = self.run_section("blocking", PCLSCOPE_CLOCK="monotonic")
        papers = [Paper(), Paper(), Paper()]
        blocking(*papers)
        self.compare(segments, papers)
        self.check_times(segments)


for name in ("blocking proc_null nonblocking any_and_some tests persistent probes both_ways truncated collectives "
             "communicators types").split():
    setattr(Record, "test_" + name, lambda self, section=name: self.check(section))


def load_tests(loader, _tests, _pattern):
    suite = unittest.TestSuite()
    for mpi in job.mpis():
        suite.addTests(loader.loadTestsFromTestCase(type(f"Record_{mpi}", (Record,), {"mpi": mpi})))
    return suite


if __name__ == "__main__":
    job.checks.main()
