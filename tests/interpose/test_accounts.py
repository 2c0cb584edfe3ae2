"""What is not recorded is accounted for: with small rings, a consumer that stutters, and MPI_Pcontrol in mid-run, every
message of accounts.c is either recorded or counted, and every recorded one has the place in its channel that its
size says. Depends on: launcher."""

import collections
import glob
import mmap
import os
import random
import secrets
import struct
import threading
import time
import unittest

import job

HEAD, DROPPED, STATE, TAIL, CONSUMER, CONSUMER_PID = 448, 456, 512, 640, 704, 708
ATTACHED = 1
TAGS, LARGEST = 3, 2000


def size_of(place):
    return 1 + place % LARGEST


class Reader:
    """Maps each segment as it appears, as the aggregator does, and reads what it is told to."""

    def __init__(self, token):
        self.prefix, self.segments, self.was_late = job.shm(token), {}, False

    def discover(self, early):
        """`early`: so many events a rank may have recorded before; else the reader was late."""
        for path in glob.glob(self.prefix + "[0-9]*"):
            name = path[len(self.prefix):]
            try:
                if name in self.segments or os.path.getsize(path) <= 4096:
                    continue
                with open(path, "r+b") as file:
                    memory = mmap.mmap(file.fileno(), 0)
            except FileNotFoundError:  # the job has ended
                continue
            if memory[:6] != b"PCLSEG" or struct.unpack_from("<I", memory, STATE)[0] == 0:
                continue
            struct.pack_into("<I", memory, CONSUMER_PID, os.getpid())
            struct.pack_into("<I", memory, CONSUMER, ATTACHED)
            self.was_late |= sum(struct.unpack_from("<QQ", memory, HEAD)) > early
            self.segments[name] = [memory, [], 0]

    def drain(self, limit):
        for entry in self.segments.values():
            memory, events, tail = entry
            fresh = job.parse_live(memory, tail).events[:limit]
            events += [e for e in fresh if e.kind != "call_path"]
            entry[2] = tail + len(fresh)
            struct.pack_into("<Q", memory, TAIL, entry[2])

    def events(self, rank):
        return self.segments[f"{rank}-0"][1]

    def dropped(self, rank):
        return struct.unpack_from("<Q", self.segments[f"{rank}-0"][0], DROPPED)[0]


class Channel:
    """What is known of one side of a channel, in its order: (position key, recorded event or number of unrecorded)."""

    def __init__(self):
        self.items, self.doubtful, self.total = [], 0, 0

    def recorded(self, number, event):
        self.items.append(((number, 1), event))
        self.total += 1

    def unrecorded(self, begin, end, count):
        assert begin <= end
        self.items.append(((begin, 0), count))
        self.total += count

    def check(self, test, where):
        """Places by counting; the sizes must agree. Returns how many recorded messages were checked."""
        place = checked = 0
        for _, item in sorted(self.items, key=lambda i: i[0]):
            if isinstance(item, int):
                place += item
                continue
            test.assertEqual(item.bytes, size_of(place), f"{where} place {place} {item}")
            place, checked = place + 1, checked + 1
        return checked


class Accounts(job.Test):
    mpi = None

    def observe(self, *arguments, **more):
        """On a busy machine the reader may find the rings when the program is nearly through: that says nothing. Once
        more."""
        for _ in range(20):
            reader = self.observe_once(*arguments, **more)
            if len(reader.segments) == 2 and not reader.was_late:
                return reader
        return self.fail("in none of 20 runs the reader found both rings in time")

    def observe_once(self, seed, count, *words, ring=64, pause=0.004, **variables):
        token = secrets.token_hex(16)
        reader, chance, result = Reader(token), random.Random(seed), []
        command = [job.program("accounts", self.mpi), str(seed), str(count), *words]
        thread = threading.Thread(target=lambda: result.append(job.launch(
            self.mpi, 2, command, token=token, PCLSCOPE_RING_EVENTS=ring, **variables)))
        thread.start()
        while thread.is_alive():
            reader.discover(early=count)  # of some 2 * count on each rank
            reader.drain(chance.choice((1, 10, ring)))
            time.sleep(chance.random() * pause)  # stutters
        thread.join()
        self.assertTrue(result, "the job did not end")
        reader.drain(ring)
        self.assertEqual(result[0].status, 0, result[0].err)
        return reader

    def sender(self, events):
        channels = collections.defaultdict(Channel)
        for e in events:
            if e.kind == "send":
                channels[e.comm, e.tag].recorded(e.ordinal, e)
            elif e.kind == "unrecorded_sends":
                self.assertEqual(e.peer, 1)
                channels[e.comm, e.tag].unrecorded(e.begin, e.end, e.bytes)
        return channels

    def receiver(self, events):
        channels, posted, open_posts = collections.defaultdict(Channel), {}, set()
        for e in events:
            if e.kind == "recv_post":
                posted[e.ordinal] = e
                open_posts.add(e.ordinal)
            elif e.kind == "recv_cancelled":
                open_posts.remove(e.ordinal)
            elif e.kind == "recv_done":
                self.assertEqual(e.peer, 0)
                channel = channels[e.comm, e.tag]
                channel.recorded(e.ordinal, e)
                if "posted" in e.flags:
                    open_posts.remove(e.ordinal)
                    channel.doubtful += "out_of_order" in posted[e.ordinal].flags
            elif e.kind == "unrecorded_receives":
                self.assertEqual(e.peer, 0)
                channels[e.comm, e.tag].unrecorded(e.begin, e.end, e.bytes)
        self.assertEqual(open_posts, set())
        return channels

    def check(self, reader, count, overflows):
        """Returns (recorded and checked, unrecorded)."""
        checked = 0
        for rank in (0, 1):
            events = reader.events(rank)
            self.assertEqual((events[0].kind, events[-1].kind), ("init", "finalize"))
            told = sum(e.ordinal for e in events if e.kind == "lost")
            self.assertTrue(all("summarised" in e.flags for e in events if e.kind == "lost"))
            self.assertEqual(reader.dropped(rank), told)
            if not overflows:
                self.assertEqual(told, 0)
            job.numbering.check({rank: events})
        sent, received = self.sender(reader.events(0)), self.receiver(reader.events(1))
        self.assertEqual({k: c.total for k, c in sent.items()}, {k: c.total for k, c in received.items()})
        self.assertEqual(sum(c.total for c in sent.values()), 2 * count)
        recorded = [sum(1 for c in side.values() for _, i in c.items if not isinstance(i, int))
                    for side in (sent, received)]
        for side, channels in (("sender", sent), ("receiver", received)):
            for key, channel in channels.items():
                if channel.doubtful == 0:
                    checked += channel.check(self, f"{side} {key}")
        return recorded, checked

    def run_many(self, count, *words, overflows=True, **more):
        total = collections.Counter()
        for seed in self.seeds_or(*range(1, job.thinned(6, 4))):
            with self.subTest(seed=seed):
                reader = self.observe(seed, count, *words, **more)
                (sends, receives), checked = self.check(reader, count, overflows)
                total["sends"] += sends
                total["receives"] += receives
                total["checked"] += checked
                total["made"] += 2 * count
        print(f"{self.mpi} {words} {more}: {dict(total)}")
        return total

    def test_a_ring_of_64_and_a_consumer_that_stutters(self):
        total = self.run_many(3000, PCLSCOPE_OVERFLOW="drop")
        self.assertLess(total["sends"], total["made"])  # there were losses
        self.assertGreater(total["sends"], 0)
        self.assertGreater(total["checked"], 0)

    def test_recording_switched_off_and_on_in_mid_run(self):
        total = self.run_many(3000, "control", ring=65536, overflows=False)
        self.assertGreater(total["made"] - total["sends"], total["made"] // 10)
        self.assertGreater(total["sends"], total["made"] // 10)
        self.assertGreater(total["checked"], total["made"] // 10)

    def test_both_at_once(self):
        total = self.run_many(3000, "control", PCLSCOPE_OVERFLOW_WAIT_MS=1)
        self.assertLess(total["sends"], total["made"])
        self.assertGreater(total["checked"], 0)


def load_tests(loader, _tests, _pattern):
    suite = unittest.TestSuite()
    for mpi in job.mpis():
        suite.addTests(loader.loadTestsFromTestCase(type(f"Accounts_{mpi}", (Accounts,), {"mpi": mpi})))
    return suite


if __name__ == "__main__":
    job.checks.main()
