"""Programs that hang are reported while they hang, with the cycle and the lines; programs that are only slow are not.
Depends on: launcher."""
import json
import pathlib
import re
import time

import harness
import testbed
from harness import thinned

SOURCE = harness.SOURCE / "tests" / "programs" / "deadlock.c"

# kind: the functions of the members in the order of the cycle (a set where ranks differ), ranks of each deadlock.
RING = [[0, 1, 2, 3]]
HANGS = {
    "recv_cycle": ({"MPI_Recv"}, RING),
    "probe_cycle": ({"MPI_Probe"}, RING),
    "send_cycle": ({"MPI_Send"}, RING),
    "ssend_cycle": ({"MPI_Ssend"}, RING),
    "isend_cycle": ({"MPI_Wait"}, RING),
    "wait_cycle": ({"MPI_Wait"}, RING),
    "waitall_cycle": ({"MPI_Waitall"}, RING),
    "waitany_knot": ({"MPI_Waitany"}, RING),
    "sendrecv_shift": ({"MPI_Sendrecv"}, RING),
    "wildcard_knot": ({"MPI_Recv"}, RING),
    "barrier_recv": ({"MPI_Recv", "MPI_Barrier"}, [[0, 1], [2, 3]]),
    "split_barrier": ({"MPI_Comm_split", "MPI_Barrier"}, RING),
    "reduce_recv": ({"MPI_Reduce", "MPI_Recv"}, [[0, 1]]),
    "bcast_barrier": ({"MPI_Bcast", "MPI_Barrier"}, [[0, 2, 1, 3]]),
    "reduce_allreduce": ({"MPI_Reduce", "MPI_Allreduce"}, RING),
    "ibarrier_wait": ({"MPI_Wait", "MPI_Recv"}, RING),
    "fence_recv": ({"MPI_Win_fence", "MPI_Recv"}, RING),
    "free_recv": ({"MPI_Win_free", "MPI_Recv"}, RING),
    "post_wait": ({"MPI_Win_wait", "MPI_Recv"}, [[0, 1]]),
    "open_recv": ({"MPI_File_open", "MPI_Recv"}, RING),
    "on_finished": ({"MPI_Recv"}, [[0]]),
    "tail": ({"MPI_Recv"}, [[0, 1]]),
}
SLOW = ["slow_compute", "slow_receiver", "slow_barrier", "polling", "master", "big_messages", "thread_send",
        "thread_again", "isend_before", "ibarrier_ahead"]
# In ci/test, by MPI: what is found does not depend on the MPI, what is recorded in these calls may.
HANGS_IN_SHORT = [
    ("send_cycle", "waitall_cycle", "fence_recv", "wildcard_knot", "split_barrier", "on_finished", "tail"),
    ("probe_cycle", "waitany_knot", "barrier_recv", "ibarrier_wait")]
SLOW_IN_SHORT = [("slow_receiver", "thread_again", "isend_before"), ("polling", "thread_send")]


def kinds(mpi, every, in_short):
    return thinned(every, in_short[harness.MPIS.index(mpi)])


def lines_of(kind):
    return {number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if f"// hangs: {kind}" in line}


class Deadlocks(harness.SystemTest):
    def setUp(self):
        super().setUp()
        self.said_after = []  # seconds since each deadlock began

    def start(self, kind, mpi, *arguments):
        return self.box.start_traced(4, harness.program("deadlock", mpi), kind, *arguments)

    def reported(self, running):
        return [line for line in running.output()[1].splitlines() if line.startswith("pclscope: deadlock: ")]

    def end(self, running, kind):
        """As a user or a batch system ends it: nothing may be left. Open MPI's mpirun does not end when its ranks are
        killed in MPI_Finalize (alone neither)."""
        if kind == "on_finished":
            self.box.kill_everything()
            running.process.wait(harness.PATIENCE)
            self.box.pclscope("list")  # removes the files of jobs that are gone
        else:
            running.process.terminate()
            running.finish()
        self.assertEqual(self.box.remains(), [])

    def check_hang(self, kind, mpi):
        functions, ranks = HANGS[kind]
        running = self.start(kind, mpi)
        job = self.box.job_name(running)
        lines = self.box.wait_for("deadlock", lambda: len(self.reported(running)) >= len(ranks) and
                                  self.reported(running), running=running)
        # The line may be out before the next snapshot; from then on it stays.
        self.box.wait_for("live deadlock", lambda: len(self.box.live(job)["deadlocks"]) == len(ranks))
        live = self.box.live(job)
        page = self.box.wait_for("page", lambda: self.box.pclscope("watch", job, "--once").stdout)
        self.end(running, kind)
        self.assertEqual(len(lines), len(ranks), lines)
        lines.sort()  # two deadlocks may be told in either order
        found = sorted(live["deadlocks"], key=lambda d: d["members"][0]["rank"])
        self.assertEqual([[m["rank"] for m in d["members"]] for d in found], ranks)
        allowed = {f"{SOURCE.name}:{number}" for number in lines_of(kind)}
        for deadlock, line in zip(found, lines):
            self.assertEqual({m["function"] for m in deadlock["members"]}, functions, deadlock)
            self.assertEqual(deadlock["on_finished"], kind == "on_finished")
            for member in deadlock["members"]:
                self.assertIn(pathlib.Path(member["site"] or "").name, allowed, deadlock)
                self.assertIn(f"rank {member['rank']} in {member['function']} (", line)
            self.assertLessEqual(set(re.findall(r"\((\S+:\d+)\)", line)), allowed, line)
            self.said_after += [float(re.search(r"for ([0-9.]+) s$", line)[1]),
                                deadlock["found_s"] - deadlock["since_s"]]
        self.assertIn("DEADLOCK", page)
        inside = {b["rank"]: b for b in live["blocked"]}
        for deadlock in found:
            for member in deadlock["members"]:
                self.assertEqual(inside[member["rank"]]["function"], member["function"])
                self.assertEqual(inside[member["rank"]]["waits_for"], member["waits_for"])
        return found

    def check_slow(self, kind, mpi, enough=lambda seen: True):
        """Looks at it for so long as a deadlock would need to be found, and until `enough` says so."""
        running = self.start(kind, mpi, "600", "20", self.box.until())
        job = self.box.job_name(running)
        self.box.live_with_messages(job, running, at_least=4 * 20)
        seen, began = [], time.monotonic()

        def looked_enough():
            seen.append(self.box.live(job))
            time.sleep(0.2)  # between two looks
            return time.monotonic() - began > thinned(3, 2) and enough(seen)
        self.box.wait_for("all that is to be seen", looked_enough, running=running)
        done = self.box.end(running)
        self.assertWorked(done)
        self.assertEqual(done.stdout, f"deadlock: {kind} ended\n")
        self.assertEqual(done.our_lines(), [], str(done))
        self.assertEqual([s["deadlocks"] for s in seen if s["deadlocks"]], [])
        return seen

    @harness.on_every_mpi
    def test_hangs_are_named_with_cycle_and_lines(self, mpi):
        for kind in kinds(mpi, HANGS, HANGS_IN_SHORT):
            with self.subTest(kind=kind):
                found = self.check_hang(kind, mpi)
                if kind.endswith("_cycle") and kind != "waitall_cycle":
                    self.assertEqual([m["waits_for"] for m in found[0]["members"]], [[1], [2], [3], [0]])
        # Within 2 s of their beginning, by pclscope's own clock and words. It says so after 0.5 s; should a busy
        # machine keep its core from it for 1.5 s in one of 20 cases, that happens in six of the first seven with
        # probability 1e-7. (Two figures each; the second MPI's come to them.)
        quickest = sorted(self.said_after)[len(self.said_after) // 4]
        self.assertLess(quickest, 2.0, self.said_after)

    @harness.on_one_mpi("mpich")
    def test_collectives_that_do_not_match_are_named_with_both_sides(self, mpi):
        for kind, sides in (("bcast_barrier", {0: "MPI_Bcast", 1: "MPI_Bcast", 2: "MPI_Barrier", 3: "MPI_Barrier"}),
                            ("reduce_allreduce", {0: "MPI_Reduce", 1: "MPI_Allreduce", 2: "MPI_Allreduce",
                                                  3: "MPI_Allreduce"})):
            with self.subTest(kind=kind):
                path = self.box.directory / f"{kind}-{mpi}.h5"
                running = self.box.start_traced(4, harness.program("deadlock", mpi), kind, options=("--dump", path))
                said = self.box.wait_for("deadlock", lambda: self.reported(running), running=running)[0]

                def stored():  # the lines of call sites may come with the flush after
                    found = self.box.json("inspect", path, "findings", "--json")["findings"] if path.exists() else []
                    first = found[0] if found and found[0]["detail"] == "collectives that do not match" else None
                    return first if first and f"{SOURCE.name}:" in " ".join(first["evidence"]) else None
                finding = self.box.wait_for("a flush", stored, running=running)
                deadlock = self.box.json("inspect", path, "calls", "--json")["deadlocks"][0]
                self.end(running, kind)
                self.assertEqual({m["rank"]: m["called"] for m in deadlock["members"]}, sides)
                self.assertEqual(finding["ranks"], [0, 1, 2, 3])
                for text in (said, " ".join(finding["evidence"])):
                    self.assertIn("not match" if text is said else "must call the same", text)
                    for function in set(sides.values()):
                        self.assertIn(function, text)
                    for line in lines_of(kind):
                        self.assertIn(f"{SOURCE.name}:{line}", text)

    @harness.on_every_mpi
    def test_slow_programs_are_not_called_deadlocked(self, mpi):
        for kind in kinds(mpi, SLOW, SLOW_IN_SHORT):
            with self.subTest(kind=kind):
                began = time.monotonic()
                self.check_slow(kind, mpi)
                print(f"{kind}, {mpi}: {time.monotonic() - began:.1f} s", flush=True)  # they differ much, some runs

    @harness.on_one_mpi("openmpi")
    def test_who_waits_longest_and_for_whom(self, mpi):
        """Without a deadlock: rank 0 computes, 1 waits for 0, 2 for 1, 3 for 2."""
        def all_wait(seen):
            return {b["rank"]: b["waits_for"] for b in seen[-1]["blocked"]} == {1: [0], 2: [1], 3: [2]}

        def share(summary):
            return max([max(f["history_share"]) for f in summary["functions"] if f["function"] == "MPI_Recv"],
                       default=0)
        # Three of four ranks.
        seen = self.check_slow("slow_compute", mpi, lambda seen: all_wait(seen) and share(seen[-1]) > 0.5)
        self.assertLess(share(seen[-1]), 0.8)

    def test_a_dump_keeps_the_deadlock_and_says_how_long_the_job_has_hung(self):
        path = self.box.directory / "hung.h5"
        job = self.box.start_traced(4, harness.program("deadlock", harness.MPIS[0]), "recv_cycle",
                                    options=("--dump", path))

        def hung():
            if not path.exists():
                return None
            done = self.box.pclscope("inspect", path, "--json")
            if done.code != 0:
                return None  # between two flushes
            found = json.loads(done.stdout)["time"]
            return found if found["elapsed_s"] > found["duration_s"] + 3 else None

        found = self.box.wait_for("a dump that goes on without events", hung, running=job)
        line = next(line for line in self.box.pclscope("inspect", path).stdout.splitlines() if line.startswith("time "))
        self.assertRegex(line, r"Z, \d.*, the last event at .*, not finished")
        findings = self.box.json("inspect", path, "findings", "--json", "--from",
                                 str(found["duration_s"] + 1))["findings"]
        self.assertEqual([f["cause"] for f in findings], ["blocked"])

        def deadlocks():
            return self.box.json("inspect", path, "calls", "--json")["deadlocks"]
        self.box.wait_for("a flush", deadlocks, running=job)
        self.end(job, "recv_cycle")
        self.assertEqual([m["rank"] for m in deadlocks()[0]["members"]], [0, 1, 2, 3])


class DeadlocksAcrossNodes(testbed.TestbedTest):
    """Ranks 0 and 1 on the first node, 2 and 3 on the second: no node sees a whole cycle."""
    NODES = 2

    def test_cycles_over_two_nodes_are_named(self):
        for kind in thinned(("recv_cycle", "send_cycle", "sendrecv_shift", "waitall_cycle", "ibarrier_wait"),
                            ("recv_cycle", "ibarrier_wait")):
            with self.subTest(kind=kind):
                functions, ranks = HANGS[kind]
                running = self.testbed.start(2, harness.program("deadlock", "openmpi"), kind)

                # A node may tell a part before: a cycle of its own ranks.
                def told():
                    cycles = [re.findall(r"rank (\d+) in (\w+)", line) for line in running.output()[1].splitlines()
                              if line.startswith("pclscope: deadlock: ")]
                    return [c for c in cycles if [int(rank) for rank, _ in c] == ranks[0]]
                named = self.box.wait_for("deadlock", told, running=running)[0]
                running.process.terminate()
                running.finish(3 * harness.PATIENCE)
                self.assertEqual(self.box.remains(), [])
                self.assertEqual({function for _, function in named}, functions, named)

    def test_slow_programs_are_not_called_deadlocked(self):
        for kind in thinned(("slow_compute", "slow_receiver", "big_messages", "ibarrier_ahead"), ("slow_receiver",)):
            with self.subTest(kind=kind):
                done = self.testbed.run(2, harness.program("deadlock", "openmpi"), kind, "4")
                self.assertWorked(done)
                self.assertNotIn("deadlock:", done.stderr)


if __name__ == "__main__":
    harness.main()
