"""Efficiencies of six programs against those worked out by hand from what each rank notes of itself.
Depends on: launcher, time, quiet."""
import collections
import shutil

import harness
from harness import on_one_mpi

RANKS = 4
TRIES = 4  # for a run of which the efficiencies are told
WITHIN = 0.02  # two points
# Of the time that ranks were off their cores: as much of it may lie between a program's look at its clock and the
# library's, where it is computation for one and not for the other (12 ms of 590 in a run beside four busy loops).
BETWEEN_CLOCKS = 0.25
NAMES = ("parallel", "load_balance", "communication", "serialisation", "transfer")
# kind: (work in ms, rounds, megabytes)
PROGRAMS = {"balanced": (0, 60, 12, 1), "double": (1, 60, 8, 1), "token": (2, 60, 4, 1), "chain": (3, 60, 8, 1),
            "transfer": (4, 40, 12, 64), "mixture": (5, 40, 8, 32)}


class Notes:
    """What the ranks wrote down: when each ran, and what it did outside MPI before each call."""

    def __init__(self, directory):
        self.begin, self.end, self.calls = [], [], []
        for rank in range(RANKS):
            lines = (directory / f"rank-{rank}").read_text().splitlines()
            _, begin, end = lines[0].split()
            self.begin.append(int(begin) * 1e-9)
            self.end.append(int(end) * 1e-9)
            self.calls.append([(int(ns) * 1e-9, what, int(peer), large == "1")
                               for ns, what, peer, large in (line.split() for line in lines[1:])])

    def outside_s(self, rank):
        return sum(call[0] for call in self.calls[rank])

    def ideal_ends(self):
        """When each rank would be at its end on a network on which nothing takes time: a small send waits for nobody,
        a large one for its receive, a receive for its send, a barrier for the last."""
        now, place = list(self.begin), [0] * RANKS
        sends, receives, barriers = (collections.defaultdict(list) for _ in range(3))
        entered = [None] * RANKS
        moved = True
        while moved:
            moved = False
            for rank in range(RANKS):
                while place[rank] < len(self.calls[rank]):
                    outside, what, peer, large = self.calls[rank][place[rank]]
                    key = (what, place[rank])
                    if entered[rank] != key:
                        entered[rank] = key
                        now[rank] += outside
                        if what == "send":
                            sends[rank, peer].append(now[rank])
                        elif what == "recv":
                            receives[peer, rank].append(now[rank])
                        elif what == "barrier":
                            barriers[self.count(rank, place[rank], "barrier")].append(now[rank])
                        moved = True
                    ready = self.ready(rank, place[rank], sends, receives, barriers)
                    if ready is None:
                        break
                    now[rank] = max(now[rank], ready)
                    place[rank] += 1
                    moved = True
        assert all(place[rank] == len(self.calls[rank]) for rank in range(RANKS)), "the notes contradict each other"
        return now

    def count(self, rank, place, what, peer=None):
        """How many such calls the rank had made before."""
        return sum(1 for call in self.calls[rank][:place] if call[1] == what and peer in (None, call[2]))

    def ready(self, rank, place, sends, receives, barriers):
        """The moment before which the call cannot return; None: not known yet."""
        _, what, peer, large = self.calls[rank][place]
        if what == "barrier":
            came = barriers[self.count(rank, place, "barrier")]
            return max(came) if len(came) == RANKS else None
        if what == "recv":
            others = sends[peer, rank]
        elif what == "send" and large:
            others = receives[rank, peer]
        else:
            return 0
        number = self.count(rank, place, what, peer)
        return others[number] if number < len(others) else None

    def efficiencies(self, off_core_s):
        useful = [self.outside_s(rank) - off_core_s[rank] for rank in range(RANKS)]
        begin = min(self.begin)
        runtime = max(self.end) - begin
        ideal = max(self.ideal_ends()) - begin
        mean, most = sum(useful) / RANKS, max(useful)
        return dict(zip(NAMES, (mean / runtime, mean / most, most / runtime, most / ideal, ideal / runtime)))


class Efficiencies(harness.SystemTest):
    def run_noted(self, mpi, name, *more):
        notes = self.box.directory / f"{name}-{mpi}"
        shutil.rmtree(notes, ignore_errors=True)
        notes.mkdir()
        path = self.box.directory / f"{name}-{mpi}.h5"
        path.unlink(missing_ok=True)
        arguments = [str(number) for number in PROGRAMS[name]]
        self.assertWorked(self.box.traced(RANKS, harness.program("efficiency", mpi), *arguments, str(notes),
                                          options=("--dump", path, "--mpi", mpi, *more)))
        return path, Notes(notes)

    def assertNear(self, found, expected, what):
        within = WITHIN + BETWEEN_CLOCKS * (found["off_core_s"] or 0) / found["runtime_s"]
        for name in NAMES:
            self.assertAlmostEqual(found[name], expected[name], delta=within,
                                   msg=f"{what}: {name}\n{found}\n{expected}")

    def check(self, mpi, name):
        # On a busy machine ranks lose their cores inside MPI for so long that what they computed is not known.
        for _ in range(TRIES):
            path, notes = self.run_noted(mpi, name)
            answer = self.box.json("inspect", path, "efficiency", "--json")
            job = answer["efficiencies"][0]
            if all(rank["off_core_s"] is not None for rank in answer["ranks"]):
                break
        else:
            self.skipTest("the machine was too busy to know what ranks computed")
        self.assertEqual((job["scope"], job["ranks"], job["replayed"]), ("job", RANKS, 1))
        off_core = {rank["rank"]: rank["off_core_s"] for rank in answer["ranks"]}
        expected = notes.efficiencies(off_core)
        print(f"{mpi} {name}: " + ", ".join(f"{n} {job[n]:.3f} ({expected[n]:.3f})" for n in NAMES), flush=True)
        self.assertNear(job, expected, f"{mpi} {name}")
        # The same of the period that is the whole run, from its messages alone.
        period = self.box.json("inspect", path, "efficiency", "--from", "0", "--json")["efficiencies"][0]
        self.assertNear(period, expected, f"{mpi} {name}, as a period")
        # Computation on a chain of dependences: an ideal network cannot do without it.
        self.assertGreater(period["path_useful_s"], 0)
        self.assertLessEqual(period["path_useful_s"], period["ideal_s"] + 1e-3)
        summary = self.box.json("inspect", path, "--json")["efficiency"]
        self.assertEqual({name: summary[name] for name in NAMES}, {name: job[name] for name in NAMES})
        for rank in self.box.json("inspect", path, "ranks", "--json")["ranks"]:
            self.assertAlmostEqual(rank["end_s"] - rank["begin_s"], notes.end[rank["rank"]] - notes.begin[rank["rank"]],
                                   delta=WITHIN * job["runtime_s"])
        return job

    @on_one_mpi("openmpi")
    def test_balanced(self, mpi):
        self.check(mpi, "balanced")

    @on_one_mpi("mpich")
    def test_one_rank_with_twice_the_work(self, mpi):
        job = self.check(mpi, "double")
        self.assertEqual(job["most_useful_rank"], RANKS - 1)

    @on_one_mpi("openmpi")
    def test_a_token(self, mpi):
        self.check(mpi, "token")

    @on_one_mpi("mpich")
    def test_a_chain(self, mpi):
        self.check(mpi, "chain")

    @on_one_mpi("openmpi")
    def test_large_transfers(self, mpi):
        self.check(mpi, "transfer")

    @on_one_mpi("mpich")
    def test_a_mixture(self, mpi):
        self.check(mpi, "mixture")

    def test_forms_and_words(self):
        path, _ = self.run_noted("openmpi", "token")
        self.assertIn("efficiency parallel ", self.box.pclscope("inspect", path).stdout)
        self.assertIn("efficiency: parallel ", self.box.pclscope("watch", path, "--once").stdout)
        rows = self.box.pclscope("inspect", path, "efficiency", "--csv").stdout.splitlines()
        self.assertTrue(rows[0].startswith("scope,region,ranks,"), rows[0])
        whole = self.box.json("inspect", path, "efficiency", "--json")["efficiencies"]
        self.assertEqual(len(rows), len(whole) + 1)
        regions = [row["region"] for row in whole if row["scope"] == "region"]
        self.assertGreaterEqual(len(regions), 1)
        one = self.box.json("inspect", path, "efficiency", "--region", str(regions[0]), "--json")["efficiencies"]
        self.assertEqual([(row["scope"], row["region"]) for row in one], [("region", regions[0])])
        until = whole[0]["begin_s"] + 0.3
        first = self.box.json("inspect", path, "efficiency", "--to", str(until), "--json")["efficiencies"][0]
        self.assertAlmostEqual(first["end_s"], until, delta=1e-6)
        done = self.box.pclscope("inspect", path, "efficiency", "--to", "1us")
        self.assertNotEqual(done.code, 0)
        self.assertIn("no rank was between MPI_Init and MPI_Finalize", done.stderr)
        done = self.box.pclscope("inspect", path, "efficiency", "--region", "77")
        self.assertNotEqual(done.code, 0)
        self.assertIn("no region 77", done.stderr)

    def test_of_a_running_job(self):
        job = self.box.start_traced(RANKS, harness.program("halo2d", "openmpi"), "100000000", "64", "1000",
                                    self.box.until())
        name = self.box.job_name(job)

        def told():
            efficiency = self.box.live(name)["efficiency"]
            return efficiency if efficiency["transfer"] is not None and efficiency["runtime_s"] > 1 else None

        live = self.box.wait_for("efficiencies", told, running=job)
        self.assertEqual(live["ranks"], RANKS)
        self.assertAlmostEqual(live["parallel"], live["load_balance"] * live["serialisation"] * live["transfer"])
        answer = self.box.json("inspect", name, "efficiency", "--json")
        self.assertGreaterEqual(answer["efficiencies"][0]["runtime_s"], live["runtime_s"])
        self.assertEqual([rank["rank"] for rank in answer["ranks"]], list(range(RANKS)))
        refused = self.box.answer("inspect", name, "efficiency", "--from", "0")
        self.assertNotEqual(refused.code, 0)
        self.assertIn("summaries only", refused.stderr)
        self.box.end(job)


if __name__ == "__main__":
    harness.main()
