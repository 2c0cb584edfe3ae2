"""What if: the time that is predicted without a planted delay, against the time of the program without it.
Depends on: launcher, time, quiet."""
import pathlib
import sys

import harness

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "truth"))
import checks  # noqa: E402
import job  # noqa: E402

TRIES = 4           # for a run in which nothing but the program took time
MOST_EXTRA = 0.05   # by which a run is longer than its slowest rank asks for: ranks that wait take the cores of others
# Of what was asked: time that ranks lost, by their own stamps. A planted delay hides it, and what is predicted has it.
# In a run that is up to three times as long with the delay, a twentieth is 0.15 of the time without.
MOST_LOST = 0.05
WITHIN = 0.15
RING_STEPS = checks.thinned(60, 40)


class Stalled(Exception):
    """Not only what was planted happened."""


class WhatIf(harness.SystemTest):
    def timed(self, dump, **arguments):
        """Runs tests/truth/faults with four ranks; the seconds of its loop. `asked_us`: a step of the slowest rank."""
        asked_s = arguments["steps"] * arguments.pop("asked_us") * 1e-6
        command = [harness.program("faults", "openmpi"), *(f"{key}={value}" for key, value in arguments.items())]
        for _ in range(TRIES):
            job.quiet_moment(0.3, patience=4)
            done = self.box.traced(4, *command, options=("--dump", dump, "--mpi", "openmpi", "--keep", "all"))
            self.assertWorked(done)
            times = job.times_of(done.stdout)
            took = times["stop"] - times["start"]
            if times["lost"] <= MOST_LOST * asked_s and took <= (1 + MOST_EXTRA) * asked_s:
                return took
            print(f"again: {took:.2f} s, not {asked_s:.2f} s; lost {times['lost']:.2f} s", flush=True)
            dump.unlink()
        raise Stalled

    def predicts(self, slow, healthy, *question):
        """`slow` and `healthy`: arguments of the program with and without what `question` takes away."""
        dump, other = self.box.directory / "slow.h5", self.box.directory / "healthy.h5"
        try:
            took = self.timed(dump, **slow)
            reruns = []
            for _ in range(checks.thinned(3, 1)):  # of one, the spread is within what `timed` allows
                reruns.append(self.timed(other, **healthy))
                other.unlink()
        except Stalled:
            self.skipTest("the machine did not run the program at its own speed")
        answer = self.box.json("inspect", dump, "whatif", *question, "--json")
        self.assertLess(abs(answer["fit_error"]), 0.01)
        self.assertEqual(answer["left_out"], 0)
        self.assertFalse(answer["partial"])
        predicted, real = took - answer["gain_s"], sorted(reruns)[(len(reruns) - 1) // 2]
        spread = max(reruns) - min(reruns)
        print(f"{question}: {took:.3f} s, predicted {predicted:.3f} s, really {real:.3f} s (spread {spread:.3f} s), "
              f"{answer['as']}", flush=True)
        self.assertLess(abs(predicted - real), WITHIN * real + spread)
        self.assertGreater(took - real, 3 * WITHIN * real)  # or it would be right without a replay
        text = self.box.pclscope("inspect", dump, "whatif", *question).stdout
        self.assertIn("gains", text)
        return answer

    def test_a_late_sender_of_a_halo(self):
        halo = {"kind": "exchange", "steps": 40, "work_us": 50000, "bytes": 2048, "edges": "0-1,1-2,2-3,3-0"}
        answer = self.predicts({**halo, "slow": 2, "slow_us": 40000, "asked_us": 90000}, {**halo, "asked_us": 50000},
                               "--finding", "1")
        self.assertEqual((answer["change"], answer["ranks"]), ("delays", [2]))

    def test_a_rank_that_is_late_for_collectives(self):
        steps = {"kind": "reduce", "steps": 40, "work_us": 50000}
        answer = self.predicts({**steps, "slow": 1, "slow_us": 40000, "asked_us": 90000}, {**steps, "asked_us": 50000},
                               "--finding", "1")
        self.assertEqual((answer["change"], answer["ranks"]), ("delays", [1]))

    def test_equal_load(self):
        halo = {"kind": "exchange", "steps": 40, "bytes": 2048, "edges": "0-1,1-2,2-3"}
        uneven = {**halo, "work_us": 40000, "factor": "1,1,2.5,1", "asked_us": 100000}
        answer = self.predicts(uneven, {**halo, "work_us": 55000, "asked_us": 55000}, "--balance")
        self.assertEqual((answer["change"], answer["ranks"]), ("balance", []))

    def ring(self, mpi, way, size, dump=None, slow_us=40000):
        """Runs tests/programs/rings; the seconds of its loop. None: the machine had no time for it."""
        command = [harness.program("rings", mpi), str(way), str(size), str(RING_STEPS), str(slow_us)]
        for _ in range(TRIES):
            job.quiet_moment(0.3, patience=2)
            options = ("--dump", dump, "--mpi", mpi, "--keep", "all") if dump else ("--mpi", mpi)
            done = self.box.traced(4, *command, options=options)
            self.assertWorked(done)
            words = done.stdout.split()
            took, lost, asked_s = float(words[2]), float(words[4]), RING_STEPS * 1e-6 * slow_us
            if lost <= MOST_LOST * asked_s + 0.03 and took <= (1 + MOST_EXTRA) * asked_s + 0.03:
                return took
            print(f"again: {way} {size}: {took:.3f} s, not {asked_s:.2f} s; lost {lost:.3f} s", flush=True)
            if dump:
                dump.unlink()
        return None

    def test_rings_whose_sends_wait_for_their_receivers(self):
        """Ways and sizes of tests/programs/rings.c: predicted as they run without the slow rank, or refused."""
        sends_first = 5  # and hangs with messages that are not sent before their receive: 65536
        every = [(0, size) for size in (16, 8192, 1000000)] + [
            (way, size) for way in range(7) for size in (512, 700 if way == sends_first else 65536)]
        brief = [(0, 512), (0, 65536), (3, 512), (sends_first, 700), (6, 512)]
        refused = judged = 0
        for mpi in checks.thinned(("openmpi", "mpich"), ("openmpi",)):
            for way, size in checks.thinned(every, brief):
                dump = self.box.directory / f"ring-{mpi}-{way}-{size}.h5"
                with self.subTest(mpi=mpi, way=way, size=size):
                    took, real = self.ring(mpi, way, size, dump), self.ring(mpi, way, size, slow_us=10000)
                    if took is None or real is None:
                        print(f"{mpi} {way} {size}: not judged, the machine was busy", flush=True)
                        continue
                    judged += 1
                    done = self.box.pclscope("inspect", dump, "whatif", "--rank", "1")
                    if done.code != 0:
                        self.assertIn("cannot be told", done.stderr)
                        refused += 1
                        continue
                    answer = self.box.json("inspect", dump, "whatif", "--rank", "1", "--json")
                    predicted = took - answer["gain_s"]
                    print(f"{mpi} {way} {size}: {took:.3f} s, predicted {predicted:.3f} s, really {real:.3f} s",
                          flush=True)
                    self.assertLess(abs(predicted - real), WITHIN * real + 0.05 * took)
                    self.assertGreater(took - real, 3 * WITHIN * real)
                    first = self.box.json("inspect", dump, "findings", "--json")["findings"][0]
                    if first["ranks"] == [1] and first["gain_s"] is not None:  # the job's own replay
                        again = self.box.json("inspect", dump, "whatif", "--json")
                        self.assertLess(abs(first["gain_s"] - again["gain_s"]), 0.05 * took)
        if judged == 0:
            self.skipTest("the machine did not run the programs at their own speed")
        self.assertLessEqual(refused, judged / 2)

    def test_what_cannot_be_told_is_said_in_one_line(self):
        dump = self.box.directory / "short.h5"
        ring = [harness.program("faults", "openmpi"), "kind=exchange", "steps=60", "work_us=1000", "edges=0-1"]
        options = ("--dump", dump, "--mpi", "openmpi", "--keep", "summaries")
        self.assertWorked(self.box.traced(2, *ring, options=options))
        for words, part in ((("--rank", "0"), "nothing to replay"), (("--finding", "77"), "there is no finding 77"),
                            (("--finding", "0"), "numbered from 1"), (("--finding", "1", "--rank", "1"), "not both")):
            done = self.box.pclscope("inspect", dump, "whatif", *words)
            self.assertNotEqual(done.code, 0)
            self.assertIn(part, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    harness.main()
