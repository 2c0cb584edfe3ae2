"""A program sees the same world with a hidden tool rank as without: the bare run is the oracle.
Depends on: launcher."""

import os
import tempfile
import unittest

import job


class HiddenWorld(job.Test):
    mpi = None

    def run_it(self, tools, preload):
        with tempfile.TemporaryDirectory() as directory:
            command = [job.program("hidden_world", self.mpi), os.path.join(directory, "file")]
            return job.launch(self.mpi, 4, command, tools=tools, preload=preload, job=preload)

    def test_everything_a_program_can_ask_is_as_in_a_bare_run(self):
        bare, hidden = self.run_it(0, False), self.run_it(1, True)
        self.assertEqual(bare.status, 0, bare.err)
        self.assertEqual(hidden.status, 0, hidden.err)
        self.assertIn("allreduce 4\n", bare.out)
        self.assertTrue(bare.out.endswith("at the end of self: 4\nat the end of world: 0\n"), bare.out[-200:])
        self.assertEqual(hidden.out, bare.out)
        self.assertNotIn("pclscope", hidden.err)
        self.assertEqual([s.rank for s in hidden.segments], [0, 1, 2, 3])
        self.assertEqual({s.world_size for s in hidden.segments}, {4})

    def test_without_tool_ranks_the_world_is_the_real_one_and_recorded(self):
        hidden = self.run_it(0, True)
        self.assertEqual(hidden.status, 0, hidden.err)
        self.assertEqual(len(hidden.segments), 4)
        self.assertTrue(all(s.events[0].kind == "init" for s in hidden.segments))

    def test_the_board_tells_of_every_rank(self):
        hidden = self.run_it(1, True)
        self.assertEqual((hidden.board["initializing"], hidden.board["finalizing"]), (4, 4))
        self.assertEqual((hidden.board["aborting"], hidden.board["refused"]), (0, 0))


def load_tests(loader, _tests, _pattern):
    suite = unittest.TestSuite()
    for mpi in job.mpis():
        suite.addTests(loader.loadTestsFromTestCase(type(f"HiddenWorld_{mpi}", (HiddenWorld,), {"mpi": mpi})))
    return suite


if __name__ == "__main__":
    job.checks.main()
