"""Planted delays are traced back to the rank and the line where they began, with what they cost the others.
Depends on: launcher, time."""
import re
import shutil

import dump
import harness
import numpy
from harness import on_one_mpi

SOURCE = harness.SOURCE / "tests" / "programs"
SLEEP_S = 0.15
MESSAGES = 8


def line_of(source, text):
    """file:line as pclscope prints it, as far as the path is ours."""
    lines = (SOURCE / source).read_text().splitlines()
    found = [number for number, line in enumerate(lines, 1) if text in line]
    assert len(found) == 1, f"{text} is on lines {found} of {source}"
    return f"tests/programs/{source}:{found[0]}"


def at(origin, place):
    return origin["site"] is not None and origin["site"].endswith(place)


class PlantedDelays(harness.SystemTest):
    def traced_dump(self, mpi, ranks, name, *arguments):
        path = self.box.directory / f"{name}-{mpi}.h5"
        self.assertWorked(self.box.traced(ranks, harness.program(name, mpi), *[str(a) for a in arguments],
                                          options=("--dump", path)))
        return path

    def delays(self, path, *options):
        return self.box.json("inspect", path, "delays", "--json", *options)["delays"]

    def assertOrigin(self, origin, rank, place):
        self.assertEqual(origin["rank"], rank, origin)
        self.assertTrue(at(origin, place), f"{place}: {origin}")

    def disturbed(self, path, wait):
        """By how much the waits that happened differ from the sleeps, in sum: what others on this machine did."""
        rows = dump.read_messages(path)
        return float(numpy.abs(numpy.maximum(0, wait(rows)) * 1e-9 - SLEEP_S).sum())

    @on_one_mpi("openmpi")
    def test_late_sender(self, mpi):
        """The line behind the sleep is that of MPI_Send; the receiver loses each sleep."""
        path = self.traced_dump(mpi, 2, "late_sender", MESSAGES, int(SLEEP_S * 1e6))
        disturbed = self.disturbed(path, lambda rows: rows.send_begin - rows.recv_wait)
        delays = self.delays(path)
        self.assertOrigin(delays[0], 0, line_of("late_sender.c", "MPI_Send("))
        self.assertTrue(delays[0]["after_site"].endswith(line_of("late_sender.c", "MPI_Barrier(")), delays[0])
        expected = MESSAGES * SLEEP_S
        self.assertAlmostEqual(delays[0]["cost_s"], expected, delta=0.15 * expected + 0.02 + disturbed)
        self.assertAlmostEqual(delays[0]["direct_s"], delays[0]["cost_s"], places=6)
        self.assertEqual([victim["rank"] for victim in delays[0]["victims"]], [1])
        self.assertBreakpoints(path, harness.program("late_sender", mpi), line_of("late_sender.c", "MPI_Send("))

    def assertBreakpoints(self, path, program, place):
        """The findings as a file for gdb: it sets one breakpoint at the line, and has no complaint."""
        told = self.box.pclscope("inspect", path, "findings", "--gdb")
        self.assertWorked(told)
        lines = [line for line in told.stdout.splitlines() if not line.startswith("#")]
        file, number = place.split(":")
        self.assertRegex(lines[0], rf'^break -source ".*{re.escape(file)}" -line {number}$')
        if shutil.which("gdb") is None:
            print("gdb is not installed: nobody has read the breakpoints", flush=True)
            return
        commands = self.box.directory / "findings.gdb"
        commands.write_text(told.stdout)
        done = self.box.run("gdb", "-nx", "-batch", "-x", commands, "-ex", "info breakpoints", program)
        self.assertWorked(done)
        self.assertRegex(done.stdout, rf"Breakpoint 1 at 0x[0-9a-f]+: file .*{re.escape(file)}, line {number}\.")
        self.assertNotIn("No source file", done.stdout + done.stderr)
        self.assertNotIn("findings.gdb:", done.stderr)  # how gdb begins what it says against a line of it

    @on_one_mpi("mpich")
    def test_late_receiver(self, mpi):
        """The line behind the sleep is that of MPI_Recv. The message is small, its sender goes on, to wait for the
        receiver in the next barrier; behind the last message there is none."""
        path = self.traced_dump(mpi, 2, "late_receiver", MESSAGES, int(SLEEP_S * 1e6))
        disturbed = self.disturbed(path, lambda rows: rows.recv_post - rows.send_begin)
        delays = self.delays(path)
        expected = (MESSAGES - 1) * SLEEP_S
        self.assertOrigin(delays[0], 1, line_of("late_receiver.c", "MPI_Recv("))
        self.assertAlmostEqual(delays[0]["cost_s"], expected, delta=0.15 * expected + 0.02 + disturbed)
        self.assertAlmostEqual(delays[0]["collective_s"], delays[0]["cost_s"], places=6)

    def noise(self, mpi, ranks, iterations):
        """What the same halo costs by its worst origin when nobody sleeps: the machine's own delays, now."""
        path = self.traced_dump(mpi, ranks, "planted_halo3d", iterations, -1, 0, 0, 0)
        return max((delay["cost_s"] for delay in self.delays(path)), default=0.0)

    @staticmethod
    def long_enough(least_s, noise, ranks, times):
        """A sleep, in s, that costs eight times what the machine's worst delay costs; some seconds in all at most."""
        return min(max(least_s, 8 * noise / ((ranks - 1) * times)), 2.0)

    def assertHalo(self, path, ranks, rank, times, sleep_s, noise):
        """Every other rank waits once for each sleep. The machine adds its own noise: 20 %, and twice that of a run
        without."""
        place = line_of("planted_halo3d.c", "&request[t]);  // PLANTED")
        delays = self.delays(path)
        self.assertOrigin(delays[0], rank, place)
        expected = (ranks - 1) * times * sleep_s
        self.assertAlmostEqual(delays[0]["cost_s"], expected, delta=0.2 * expected + 2 * noise)
        self.assertGreater(delays[0]["worst_s"], 0.8 * (ranks - 1) * sleep_s - noise)
        self.assertLess(delays[0]["direct_s"], delays[0]["cost_s"])
        for other in delays[1:]:
            self.assertLess(other["cost_s"], 0.5 * expected, other)
        victims = [victim["rank"] for victim in delays[0]["victims"]]
        self.assertEqual(len(set(victims) - {rank}), min(8, ranks - 1), delays[0])
        return delays[0]

    def test_one_rank_of_a_halo_at_16_ranks(self):
        if "openmpi" not in harness.MPIS:
            self.skipTest("16 ranks on few cores need Open MPI")
        for again in range(3):  # on a machine that others take while one of the two runs, not while the other does
            noise = self.noise("openmpi", 16, 60)
            sleep_s = self.long_enough(0.15, noise, 16, 4)
            path = self.traced_dump("openmpi", 16, "planted_halo3d", 60, 5, 20, 4, int(sleep_s * 1e6))
            self.assertOrigin(self.delays(path)[0], 5, line_of("planted_halo3d.c", "&request[t]);  // PLANTED"))
            try:  # what it cost
                origin = self.assertHalo(path, 16, 5, 4, sleep_s, noise)
                break
            except AssertionError as error:
                print(f"noise {noise:.2f} s: {error}", flush=True)
                path.unlink()
                if again == 2:
                    raise

        ranks = self.box.json("inspect", path, "ranks", "--json")["ranks"]
        if "delay_caused_s" in ranks[0]:
            self.assertEqual(max(ranks, key=lambda r: r["delay_caused_s"])["rank"], 5)

        # Before the first wait for it next to nothing goes back to that line, whatever the start of the job cost (a
        # wait of some ms may be told otherwise when what came later is not known); one victim alone lost its part.
        before = self.delays(path, "--to", f"{origin['first_s'] - 0.001:.6f}")
        place = ("rank", "site", "after_site")
        same = [o["cost_s"] for o in before if [o[key] for key in place] == [origin[key] for key in place]]
        self.assertLess(sum(same), 0.1 * origin["cost_s"], before)
        victim = origin["victims"][0]["rank"]
        alone = self.delays(path, "--rank", str(victim))
        self.assertOrigin(alone[0], 5, origin["site"])
        self.assertAlmostEqual(alone[0]["cost_s"], origin["victims"][0]["cost_s"], delta=0.05)

        path_shares = self.box.json("inspect", path, "path", "--json")["shares"]
        self.assertEqual((path_shares[0]["rank"], path_shares[0]["kind"], path_shares[0]["site"]),
                         (5, "computation", origin["site"]))
        self.assertGreater(path_shares[0]["on_path_s"], 4 * sleep_s * 0.9)

    def test_one_rank_of_a_halo_under_mpich(self):
        if "mpich" not in harness.MPIS:
            self.skipTest("MPICH is not built")
        noise = self.noise("mpich", 4, 30)
        sleep_s = self.long_enough(0.4, noise, 4, 1)
        path = self.traced_dump("mpich", 4, "planted_halo3d", 30, 2, 10, 1, int(sleep_s * 1e6))
        self.assertHalo(path, 4, 2, 1, sleep_s, noise)


if __name__ == "__main__":
    harness.main()
