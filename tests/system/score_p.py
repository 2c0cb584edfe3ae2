"""Archives as Score-P would write them, by OTF2's own Python writer (python3-otf2): with answers known on paper. Not by
our exporter."""
import sys

try:
    import otf2
    from otf2.enums import (CollectiveOp, CommFlag, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole)
except ImportError:
    print("skipped: this test needs python3-otf2 (for /usr/bin/python3)")
    sys.exit(77)

RESOLUTION = 2_000_000_000  # ticks per second: half a nanosecond
FIRST = 7_777_777           # ticks at which the trace begins
MS = RESOLUTION // 1000
NO_ROOT = 2**32 - 1


class Archive:
    """Ranks on two nodes, with MPI_COMM_WORLD, a communicator of the even ranks, and functions with lines."""

    def __init__(self, path, ranks=4, resolution=RESOLUTION, paradigm=Paradigm.MPI):
        self.trace = otf2.writer.Writer(str(path), timer_resolution=resolution)
        define = self.trace.definitions
        machine = define.system_tree_node("cluster", class_name="machine")
        nodes = [define.system_tree_node(f"node{i}", class_name="node", parent=machine) for i in range(2)]
        groups = [define.location_group(f"MPI Rank {r}", system_tree_parent=nodes[2 * r // ranks],
                                        location_group_type=LocationGroupType.PROCESS) for r in range(ranks)]
        self.locations = [define.location("Master thread", group=group, type=LocationType.CPU_THREAD)
                          for group in groups]
        define.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=paradigm, members=self.locations)
        world = define.group("", group_type=GroupType.COMM_GROUP, paradigm=paradigm, members=self.locations)
        even = define.group("", group_type=GroupType.COMM_GROUP, paradigm=paradigm, members=self.locations[::2])
        self.world = define.comm("MPI_COMM_WORLD", group=world)
        self.even = define.comm("", group=even, parent=self.world, flags=CommFlag.CREATE_DESTROY_EVENTS)
        self.regions, self.define = {}, define
        for name, line in (("main", 10), ("exchange", 42), ("solve", 77)):
            self.regions[name] = define.region(name, source_file="/src/heat.c", begin_line_number=line,
                                               end_line_number=line + 20, paradigm=Paradigm.COMPILER)
        self.writers = [self.trace.event_writer_from_location(location) for location in self.locations]
        self.requests = 0

    def region(self, name):
        if name not in self.regions:
            self.regions[name] = self.define.region(name, region_role=RegionRole.POINT2POINT, paradigm=Paradigm.MPI)
        return self.regions[name]

    def request(self):
        self.requests += 1
        return self.requests

    def call(self, rank, name, begin, end, *events):
        """events: functions of the writer and the moment."""
        writer = self.writers[rank]
        writer.enter(FIRST + begin, self.region(name))
        for moment, write in events:
            write(writer, FIRST + moment)
        writer.leave(FIRST + end, self.region(name))

    def close(self):
        self.trace.close()


def ring(path, rounds=50, late_rank=2):
    """A ring of four ranks, in each of `rounds` rounds of 10 ms: everybody posts a receive from the left at 0 ms, sends
    to the right at 1 ms (`late_rank` at 6 ms) and waits from 2 ms (7 ms) on; a message takes 1 ms. Then an Allreduce of
    8 bytes, entered when the wait is over, which ends for all 1 ms after the last has come.

    Who is right of the late rank waits from 2 ms on for a send at 6 ms: 4 ms in state late sender, each round. The last
    to enter the Allreduce is it, and the late rank, whose Wait ends at 8 ms. All others come 3 to 8 ms."""
    archive = Archive(path)
    rank_count = 4
    # Each location's events in order of time; locations one after the other.
    for rank in range(rank_count):
        writer = archive.writers[rank]
        left, right = (rank - 1) % rank_count, (rank + 1) % rank_count
        writer.enter(FIRST, archive.regions["main"])
        archive.call(rank, "MPI_Init", 0, MS)
        for number in range(rounds):
            start = (2 + 10 * number) * MS
            receive, send = archive.request(), archive.request()
            late = 5 * MS if rank == late_rank else 0
            left_late = 5 * MS if left == late_rank else 0
            writer.enter(FIRST + start, archive.regions["exchange"])
            archive.call(rank, "MPI_Irecv", start, start + MS // 10,
                         (start + MS // 20, lambda w, t, r=receive: w.mpi_irecv_request(t, r)))
            archive.call(rank, "MPI_Isend", start + MS + late, start + MS + late + MS // 10,
                         (start + MS + late, lambda w, t, s=send: w.mpi_isend(t, right, archive.world, 5, 1000, s)))
            begin = start + 2 * MS + late
            end = max(begin + MS, start + 2 * MS + left_late)
            archive.call(rank, "MPI_Waitall", begin, end,
                         (end, lambda w, t, s=send: w.mpi_isend_complete(t, s)),
                         (end, lambda w, t, r=receive: w.mpi_irecv(t, left, archive.world, 5, 1000, r)))
            writer.leave(FIRST + end, archive.regions["exchange"])
            writer.enter(FIRST + end, archive.regions["solve"])
            over = start + 9 * MS
            archive.call(rank, "MPI_Allreduce", end, over, (end, lambda w, t: w.mpi_collective_begin(t)),
                         (over, lambda w, t: w.mpi_collective_end(t, CollectiveOp.ALLREDUCE, archive.world, NO_ROOT,
                                                                  8, 8)))
            writer.leave(FIRST + over, archive.regions["solve"])
        last = (2 + 10 * rounds) * MS
        archive.call(rank, "MPI_Finalize", last, last + MS)
        writer.leave(FIRST + last + MS, archive.regions["main"])
    archive.close()


def small(path, *events, ranks=2, mpi=True):
    """Events: (rank, function, begin and end in ms, what is written at its end)."""
    archive = Archive(path, ranks=ranks)
    for rank, name, begin, end, write in events:
        archive.call(rank, name, begin * MS, end * MS, (end * MS, lambda w, t, f=write: f(archive, w, t)))
    if not mpi:
        for writer in archive.writers:
            writer.enter(FIRST, archive.regions["main"])
            writer.leave(FIRST + MS, archive.regions["main"])
    archive.close()
