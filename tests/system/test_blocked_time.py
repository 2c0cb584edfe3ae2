"""Blocked time: each second counts once, for who was blocked; what nobody waited for is not lost.
Depends on: launcher."""
import collections

import dump
import harness
import numpy
from harness import on_one_mpi

ROUNDS, MANY = 6, 26
NONBLOCKING, PERSISTENT, BUFFERED = 1, 2, 1 << 4
SENDRECV_SEND, SENDRECV_RECEIVE = 1 << 26, 1 << 25
PARTS = ("late_sender_s", "late_receiver_s", "transfer_s", "collective_wait_s", "one_sided_s", "file_s", "other_s",
         "init_s", "finalize_s")


def calls_of(rows):
    """{(rank, entry, return): [begins of the sends it waited for, posts of the receives of what it sent]}"""
    calls = collections.defaultdict(lambda: ([], []))
    for i in range(len(rows)):
        calls[rows.destination[i], rows.recv_wait[i], rows.recv_end[i]][0].append(rows.send_begin[i])
        if not rows.flags[i] & (NONBLOCKING | PERSISTENT | BUFFERED):
            calls[rows.source[i], rows.send_begin[i], rows.send_end[i]][1].append(rows.recv_post[i])
    return calls


def blocked(calls):
    """By rank: late senders, late receivers, exposed transfers in ns."""
    sums = collections.defaultdict(lambda: numpy.zeros(3))
    for (rank, begin, end), (sent, posted) in calls.items():
        late_sender = min(max(sent), end) - begin if sent and max(sent) > begin else 0
        late = max(late_sender, min(max(posted), end) - begin if posted else 0)
        sums[rank] += (late_sender, late - late_sender, end - begin - late)
    return sums


class BlockedTime(harness.SystemTest):
    @on_one_mpi("openmpi")
    def test_every_second_once(self, mpi):
        path = self.box.directory / f"{mpi}.h5"
        # One window for all: no message comes too late for its own.
        self.assertWorked(self.box.traced(4, harness.program("blocked_time", mpi), str(ROUNDS), "50000",
                                          options=("--dump", path, "--window", "60s")))
        rows = dump.read_messages(path)
        self.assertEqual(len(rows), ROUNDS * (4 + 2 * MANY + 4))
        self.assertEqual(int((rows.flags & SENDRECV_SEND != 0).sum()), ROUNDS * 4)
        self.assertEqual(int((rows.flags & SENDRECV_RECEIVE != 0).sum()), ROUNDS * 4)
        summary = self.box.json("inspect", path, "--json")
        ranks = self.box.json("inspect", path, "ranks", "--json")["ranks"]
        expected = blocked(calls_of(rows))
        for rank in ranks:
            found = numpy.array([rank[part] for part in PARTS[:3]])
            numpy.testing.assert_allclose(found, expected[rank["rank"]] * 1e-9, rtol=0, atol=1e-6, err_msg=str(rank))
            self.assertAlmostEqual(sum(rank[part] for part in PARTS), rank["mpi_s"], delta=1e-6)
            self.assertGreaterEqual(min(rank[part] for part in PARTS), 0)
            self.assertEqual(rank["threads"], 1)
            self.assertLessEqual(rank["mpi_s"], summary["time"]["duration_s"] + 1e-6)
            self.assertGreater(rank["one_sided_s"], 0)
        self.assertSums(path, ranks)
        self.assertWaits(path)
        self.assertOverlapped(path, rows)

    def assertSums(self, path, ranks):
        """Call sites, regions and what is between them: the same seconds."""
        lost = sum(rank[part] for rank in ranks for part in PARTS[:3])
        sites = self.box.json("inspect", path, "calls", "--json")["sites"]
        self.assertAlmostEqual(sum(site["lost_s"] for site in sites), lost, delta=1e-6)
        again = self.box.json("inspect", path, "calls", "--json", "--rank", "0-3")["sites"]
        self.assertAlmostEqual(sum(site["lost_s"] for site in again), lost, delta=1e-6)
        regions = self.box.json("inspect", path, "regions", "--json")["regions"]
        links = self.box.json("inspect", path, "links", "--json")["links"]
        self.assertAlmostEqual(sum(one[part] for one in regions + links for part in PARTS[:3]), lost, delta=1e-6)
        text = self.box.pclscope("inspect", path).stdout
        self.assertIn("inside MPI", text)

    def assertWaits(self, path):
        """Of all ranks, of the whole time, rank by rank and in two halves: the same seconds."""
        def waits(*words):
            return {(w["state"], w["function"], w["comm"], w["site"]): w["wait_s"]
                    for w in self.box.json("inspect", path, "waits", "--json", *words)["wait_states"]}

        def added(*parts):
            keys = set().union(*parts)
            return {key: sum(part.get(key, 0) for part in parts) for key in keys}

        whole = waits()
        self.assertIn("late sender", {state for state, *_ in whole})
        self.assertTrue(any(function for _, function, *_ in whole))
        half = str(self.box.json("inspect", path, "--json")["time"]["duration_s"] / 2)
        for parts in ([waits("--from", "0")], [waits("--rank", "0-3")], [waits("--rank", str(r)) for r in range(4)],
                      [waits("--to", half), waits("--from", half)]):
            found = added(*parts)
            self.assertEqual(set(found), set(whole))
            for key, wait_s in whole.items():
                self.assertAlmostEqual(found[key], wait_s, delta=1e-6, msg=key)
        self.assertNotEqual(waits("--to", half), whole)
        self.assertRefused(self.box.pclscope("inspect", path, "waits", "--from", "1000000"), 1, "nothing from")

    def assertOverlapped(self, path, rows):
        """A transfer behind 50 ms of computation is not lost, and 26 receives of one call wait once."""
        hidden = rows.tag == 1
        messages = self.box.json("inspect", path, "messages", "--json")["messages"]
        for m in messages:
            self.assertAlmostEqual(m["late_receiver_s"] + m["transfer_s"] + m["overlapped_s"], m["time_s"], delta=1e-8)
        overlapped = sorted(m["overlapped_s"] for m in messages if m["tag"] == 1)
        # Of 24 messages most overlap: half of them would have to be sent late by 25 ms for it to be otherwise.
        self.assertGreater(overlapped[len(overlapped) // 2], 0.025, overlapped)
        self.assertEqual(int(hidden.sum()), len(overlapped))
        many = rows.tag == 2
        calls = {(rows.destination[i], rows.recv_wait[i], rows.recv_end[i]) for i in numpy.flatnonzero(many)}
        self.assertEqual(len(calls), 2 * ROUNDS)


if __name__ == "__main__":
    harness.main()
