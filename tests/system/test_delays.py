"""Planted delays are traced back to the rank and the line where they began, with what they cost the others."""
import harness
from harness import on_every_mpi

SOURCE = harness.SOURCE / "tests" / "programs"
SLEEP_S = 0.03
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

    @on_every_mpi
    def test_late_sender(self, mpi):
        """The line behind the sleep is that of MPI_Send; the receiver loses each sleep."""
        delays = self.delays(self.traced_dump(mpi, 2, "late_sender", MESSAGES, int(SLEEP_S * 1e6)))
        self.assertOrigin(delays[0], 0, line_of("late_sender.c", "MPI_Send("))
        self.assertTrue(delays[0]["after_site"].endswith(line_of("late_sender.c", "MPI_Barrier(")), delays[0])
        self.assertAlmostEqual(delays[0]["cost_s"], MESSAGES * SLEEP_S, delta=0.15 * MESSAGES * SLEEP_S + 0.02)
        self.assertAlmostEqual(delays[0]["direct_s"], delays[0]["cost_s"], places=6)
        self.assertEqual([victim["rank"] for victim in delays[0]["victims"]], [1])

    @on_every_mpi
    def test_late_receiver(self, mpi):
        """The line behind the sleep is that of MPI_Recv. The message is small, its sender goes on, to wait for the
        receiver in the next barrier; behind the last message there is none."""
        delays = self.delays(self.traced_dump(mpi, 2, "late_receiver", MESSAGES, int(SLEEP_S * 1e6)))
        expected = (MESSAGES - 1) * SLEEP_S
        self.assertOrigin(delays[0], 1, line_of("late_receiver.c", "MPI_Recv("))
        self.assertAlmostEqual(delays[0]["cost_s"], expected, delta=0.15 * expected + 0.02)
        self.assertAlmostEqual(delays[0]["collective_s"], delays[0]["cost_s"], places=6)

    def assertHalo(self, path, ranks, rank, times, sleep_s):
        """Every other rank waits once for each sleep. The machine adds its own noise: 20 %."""
        place = line_of("planted_halo3d.c", "&request[t]);  // PLANTED")
        delays = self.delays(path)
        self.assertOrigin(delays[0], rank, place)
        expected = (ranks - 1) * times * sleep_s
        self.assertAlmostEqual(delays[0]["cost_s"], expected, delta=0.2 * expected)
        self.assertGreater(delays[0]["worst_s"], 0.8 * (ranks - 1) * sleep_s)
        self.assertLess(delays[0]["direct_s"], delays[0]["cost_s"])
        for other in delays[1:]:
            self.assertLess(other["cost_s"], 0.5 * expected, other)
        victims = [victim["rank"] for victim in delays[0]["victims"]]
        self.assertEqual(len(set(victims) - {rank}), min(8, ranks - 1), delays[0])
        return delays[0]

    def test_one_rank_of_a_halo_at_16_ranks(self):
        if "openmpi" not in harness.MPIS:
            self.skipTest("16 ranks on few cores need Open MPI")
        path = self.traced_dump("openmpi", 16, "planted_halo3d", 60, 5, 20, 4, 150_000)
        origin = self.assertHalo(path, 16, 5, 4, 0.15)

        ranks = self.box.json("inspect", path, "ranks", "--json")["ranks"]
        if "delay_caused_s" in ranks[0]:
            self.assertEqual(max(ranks, key=lambda r: r["delay_caused_s"])["rank"], 5)

        # Before the first sleep nothing goes back to it; one victim alone lost its part.
        before = self.delays(path, "--to", f"{origin['first_s'] - 0.001:.6f}")
        self.assertFalse([o for o in before if o["rank"] == 5 and o["cost_s"] > 0.1 * origin["cost_s"]], before)
        victim = origin["victims"][0]["rank"]
        alone = self.delays(path, "--rank", str(victim))
        self.assertOrigin(alone[0], 5, origin["site"])
        self.assertAlmostEqual(alone[0]["cost_s"], origin["victims"][0]["cost_s"], delta=0.05)

        path_shares = self.box.json("inspect", path, "path", "--json")["shares"]
        self.assertEqual((path_shares[0]["rank"], path_shares[0]["kind"], path_shares[0]["site"]),
                         (5, "computation", origin["site"]))
        self.assertGreater(path_shares[0]["on_path_s"], 0.6 * 0.9)

    def test_one_rank_of_a_halo_under_mpich(self):
        if "mpich" not in harness.MPIS:
            self.skipTest("MPICH is not built")
        path = self.traced_dump("mpich", 4, "planted_halo3d", 30, 2, 10, 1, 400_000)
        self.assertHalo(path, 4, 2, 1, 0.4)


if __name__ == "__main__":
    harness.main()
