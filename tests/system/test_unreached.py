"""Programs to which the preload does not come, and other tools: recorded all the same, or ended soon with a line that
says what to do; never waiting for ever. Depends on: launcher."""
import pathlib
import shutil

import harness
from harness import thinned

LIBRARIES = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}
PROGRAMS = harness.BUILD / "tests" / "unreached"
AT_ONCE = 15  # seconds: what must not hang ends within, launcher and all


class Unreached(harness.SystemTest):
    def script(self, text):
        path = self.box.directory / "wrapper"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def profiler(self, mpi):
        return PROGRAMS / f"libprofiler-{mpi}.so"

    def assertEnded(self, done, *words):
        """Not as bare, but soon, with a status that is not 0 and one line."""
        self.assertNotEqual(done.code, 0, str(done))
        lines = done.our_lines()
        self.assertEqual(len([line for line in lines if "the job is ended" in line]), 1, str(done))
        for word in words:
            self.assertIn(word, " ".join(lines))

    @harness.on_every_mpi
    def test_preload_asked_for_by_env(self, mpi):
        """Ours joins, wherever `env` stands at the head of the command."""
        ring = harness.program("ring", mpi)
        other = "libutil.so.1"  # any library; every system has it
        for words in (["env", f"LD_PRELOAD={other}"], ["env", "-u", "LD_PRELOAD"], ["env", "-uLD_PRELOAD"],
                      ["/usr/bin/env", "--unset=LD_PRELOAD", "A=1"]):
            with self.subTest(words=words):
                dump = self.box.directory / "run.h5"
                dump.unlink(missing_ok=True)
                done = self.box.traced(2, *words, ring, "20", options=("--dump", dump, "--mpi", mpi))
                self.assertWorked(done)
                self.assertEqual(done.our_lines(), [], str(done))
                self.assertEqual(self.box.json("inspect", dump, "--json")["messages"]["matched"], 40)

    @harness.on_every_mpi
    def test_preload_cleared_in_a_script(self, mpi):
        script = self.script(f"unset LD_PRELOAD\n{harness.program('ring', mpi)} 20")
        done = self.box.traced(2, script, options=("--mpi", mpi), timeout=AT_ONCE * 4)
        self.assertEnded(done, "without the preloaded library", f"ring-{mpi}")

    def in_container(self, empty, *command):
        """A command of which each process has a directory of its own, empty."""
        hide = f'mount -t tmpfs tmpfs "{empty}" && exec "$@"'
        return ["unshare", "-m", "sh", "-c", hide, "sh", *command]

    @harness.on_every_mpi
    def test_containers_that_hide_what_is_needed(self, mpi):
        ring = self.box.directory / f"ring-{mpi}"
        shutil.copy(harness.program("ring", mpi), ring)
        if self.box.run(*self.in_container("/dev/shm", "true")).code != 0:
            self.skipTest("no private mounts here (unshare -m)")
        library = pathlib.Path(harness.library(mpi))
        hidden = [(library.parent, f"a container without {library}"), ("/dev/shm", "another /dev/shm")]
        for directory, word in thinned(hidden, hidden[:1] if mpi == "openmpi" else hidden[1:]):
            with self.subTest(hidden=directory):
                done = self.box.traced(2, *self.in_container(directory, ring, "20"), options=("--mpi", mpi),
                                       timeout=AT_ONCE * 4)
                self.assertEnded(done, f"ring-{mpi}", word)

    @harness.on_every_mpi
    def test_program_that_loads_mpi_itself(self, mpi):
        """It asks for MPI's functions by name, and gets ours."""
        program = PROGRAMS / "loads_mpi"
        for scope in ("local", "global"):
            with self.subTest(scope=scope):
                dump = self.box.directory / "run.h5"
                dump.unlink(missing_ok=True)
                done = self.box.traced(2, program, LIBRARIES[mpi], scope, "20",
                                       options=("--mpi", mpi, "--dump", dump), timeout=AT_ONCE * 4)
                self.assertWorked(done)
                self.assertEqual((done.our_lines(), done.stdout), ([], "2 ranks\n"), str(done))
                self.assertComplete(self.box.json("inspect", dump, "--json"), 2, matched=40)

    def assertRanAsBare(self, mpi, program, *words):
        """Nothing of us in it, and one line that says so."""
        def ran(start):
            done = start()
            self.assertLess(done.seconds, AT_ONCE * 4, str(done))
            return done
        ended = self.assertEndsAlike(
            lambda: ran(lambda: self.box.bare(mpi, 2, program, "20")),
            lambda: ran(lambda: self.box.traced(2, program, "20", options=("--mpi", mpi))))
        self.assertWorked(ended)
        lines = ended.our_lines()
        self.assertEqual(len(lines), 1, str(ended))
        for word in (*words, "runs without pclscope"):
            self.assertIn(word, lines[0])

    @harness.on_every_mpi
    def test_tool_that_is_linked_into_the_program(self, mpi):
        self.assertRanAsBare(mpi, PROGRAMS / f"profiled-{mpi}", "profiling names")

    def test_mpi_that_is_linked_statically(self):
        program = PROGRAMS / "static-mpich"
        if not program.exists():
            self.skipTest("no static MPI on this machine")
        self.assertRanAsBare("mpich", program, "linked statically")
        done = self.box.traced(2, self.script(f"{program} 20"), options=("--mpi", "mpich"), timeout=AT_ONCE * 4)
        self.assertEnded(done, "linked statically", "static-mpich")

    @harness.on_every_mpi
    def test_tool_that_is_preloaded(self, mpi):
        """It is silent, and a line says so; neither the tool's rank nor the end of the job waits for it."""
        done = self.box.run("env", f"LD_PRELOAD={self.profiler(mpi)}",
                            *self.box.traced_command(2, harness.program("ring", mpi), "20", options=("--mpi", mpi)),
                            timeout=AT_ONCE * 4)
        self.assertWorked(done)
        lines = done.our_lines()
        self.assertEqual(len(lines), 1, str(done))
        self.assertIn("libprofiler", lines[0])
        self.assertIn("sees nothing of this run", lines[0])

    @harness.on_every_mpi
    def test_tool_beside_the_dormant_library(self, mpi):
        """Before it, or linked into the program, it sees what it sees without; behind it nothing: a line says so."""
        tool, ours = self.profiler(mpi), harness.library(mpi)
        ring, counts = harness.program("ring", mpi), "profiler: 40 sends of 2 ranks"
        for preload, program, sees in ((f"{tool} {ours}", ring, True), (ours, PROGRAMS / f"profiled-{mpi}", True),
                                       (f"{ours} {tool}", ring, False)):
            with self.subTest(preload=preload, program=program):
                done = self.box.bare(mpi, 2, "env", f"LD_PRELOAD={preload}", program, "20")
                self.assertWorked(done)
                self.assertEqual(counts in done.stdout, sees, str(done))
                self.assertEqual(len(done.our_lines()), 0 if sees else 1, str(done))
                self.assertTrue(sees or "sees nothing of this run" in done.our_lines()[0])


if __name__ == "__main__":
    harness.main()
