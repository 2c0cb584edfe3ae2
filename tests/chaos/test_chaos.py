"""A random program, a random fault at a random moment, with each MPI; bare and traced in turn. The traced job ends as
the bare one does and prints the same; its dump can be read, and says that it is complete only when it is; nothing is
left behind. Each trial has a number of its own, by which it can be repeated.

    tests/apart tests/chaos/test_chaos.py [--trials N] [--first NUMBER] [--clock]        (also by ctest: system-chaos)

Depends on: launcher."""
import argparse
import collections
import pathlib
import random
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import dump  # noqa: E402
import faults  # noqa: E402
import harness  # noqa: E402
import programs  # noqa: E402

LONG_ENOUGH = 40  # seconds for a run that takes two
PROGRAMS = ("halo2d", "ring", "persistent_halo", "collectives", "late_sender", "shared_memory", "cg_pattern")
OPTIONS = argparse.Namespace(trials=10, first=None, clock=False)
HUNG = 1000
CRASHES = ("terminate called", "Assertion", "AddressSanitizer", "pclscope: internal")


def as_a_shell_says(status):
    return status if status >= 0 else 128 - status


class Trial:
    def __init__(self, number):
        self.number = number
        chance = random.Random(number)
        self.mpi = chance.choice(harness.MPIS)
        self.fault = faults.draw(chance, OPTIONS.clock)
        self.command, self.ranks, self.messages = programs.draw(chance, self.mpi, self.fault.at_random_moment)
        self.moment = self.fault.earliest + chance.random()
        self.chance = chance

    def __str__(self):
        name = pathlib.Path(self.command[0]).name
        return f"trial {self.number}: {name} {' '.join(self.command[1:])}, {self.ranks} ranks, {self.fault.words}"


class Chaos(harness.SystemTest):
    def setUp(self):
        super().setUp()
        self.box.disk = self.box.directory / "disk"
        self.box.program_names = {f"{name}-{mpi}" for name in PROGRAMS for mpi in harness.MPIS}
        self.box.left_in_small = []

    def start(self, trial, traced):
        program = [*trial.fault.inside, *trial.command]
        if traced:
            options = ("--dump", self.dump, "--overflow-wait", "20000")
            words = self.box.traced_command(trial.ranks, *program, options=options)
        else:
            words = self.box.bare_command(trial.mpi, trial.ranks, *program)
        return self.box.start(*trial.fault.wrap, *words)

    def one(self, trial, traced):
        fault = trial.fault
        strikes = traced or not faults.concerns_tool_only(fault)
        if strikes:
            fault.before(self.box)
        self.dump = (self.box.disk if fault.__class__ is faults.SmallDisk and traced else self.box.directory) / "run.h5"
        try:
            running = self.start(trial, traced)
            if strikes and fault.at_random_moment:
                self.box.wait_for("ranks", lambda: not running.running() or len(
                    [1 for _, command in self.box.processes()
                     if faults.name_of(command) in self.box.program_names]) >= trial.ranks)
                time.sleep(trial.moment)
                if running.running():
                    fault.strike(self.box, running, trial.chance)
            done = self.ended(running)
            if fault.words.startswith("SIGKILL"):
                self.tidy_after_kill()
        finally:
            if strikes:
                self.end_all()
                fault.after(self.box)
        return done

    @staticmethod
    def ended(running):
        """Launchers hang over some of these limits: bare ones do, too, or it is a failure."""
        try:
            return running.finish(LONG_ENOUGH)
        except harness.checks.Hung as hung:
            return harness.Finished(running.arguments, HUNG, "", str(hung), LONG_ENOUGH)

    def tidy_after_kill(self):
        """Whoever is killed leaves his ranks behind, bare too: the sandbox ends them. What is ours ends by itself."""
        self.box.wait_for("end of the worker", lambda: not self.box.aggregator_workers(), timeout=LONG_ENOUGH)

    def end_all(self):
        end = time.monotonic() + 20
        while self.box.aggregator_workers() and time.monotonic() < end:
            time.sleep(0.02)
        self.box.kill_everything()

    def end_of(self, trial, done):
        said = pathlib.Path(trial.command[0]).name.rpartition("-")[0] + ":" in done.stdout  # it came to its end
        code = harness.comparable_status(trial.mpi, as_a_shell_says(done.code),
                                         not said and trial.fault.by_launcher())
        if isinstance(trial.fault, faults.SmallSharedMemory) and code != 0:
            return "ended by want of room"
        if trial.fault.concerns_output() or code != 0:
            return code, ""
        printed = done.end()[1].splitlines(keepends=True)
        return code, "".join(line for line in printed if " UCX  " not in line)  # it logs from SIGHUP on

    def check_traced(self, trial, done):
        for word in CRASHES:
            self.assertNotIn(word, done.stderr, str(done))
        self.assertEqual(self.box.left_in_small, [], f"{trial}: left in the small /dev/shm")
        path = self.box.directory / "kept.h5" if isinstance(trial.fault, faults.SmallDisk) else self.dump
        if not path.exists():
            return "no dump"
        if path == self.dump:
            self.assertEqual(path.stat().st_mode & 0o777, 0o600, "whatever the umask is")
        looked = self.box.pclscope("inspect", path, "--json")
        if looked.code != 0:  # nothing was flushed: it is said in a line
            self.assertEqual(len(looked.stderr.splitlines()), 1, str(looked))
            self.assertNotEqual(done.code, 0 if isinstance(trial.fault, faults.Nothing) else None, str(looked))
            return "unreadable dump"
        says, dropped = dump.torn(path), dump.dropped(path)
        if not says.complete:
            return "incomplete"
        totals = dump.totals(path)
        known = int(totals["matched"])
        if dropped == 0:
            self.assertEqual(known, trial.messages, f"{trial}: it says complete\n{done}")
        self.assertLessEqual(known, trial.messages, str(trial))
        return "complete" if dropped == 0 else "complete but for what was dropped"

    def forget(self):
        for name in ("run.h5", "kept.h5"):
            (self.box.directory / name).unlink(missing_ok=True)

    def trial(self, number):
        trial = Trial(number)
        print(f"{trial} ...", end=" ", flush=True)
        said = []

        def traced():
            self.forget()
            done = self.one(trial, True)
            said.append(self.check_traced(trial, done))
            return done
        done = self.assertEndsAlike(lambda: self.one(trial, False), traced, lambda d: self.end_of(trial, d),
                                    is_chance=trial.fault.at_random_moment)
        self.forget()
        print(f"{as_a_shell_says(done.code)}, {said[-1]}", flush=True)
        if trial.fault.words.startswith("SIGKILL") and said[-1] == "no dump":
            # Of a launcher killed while ranks start nobody is left who could unlink their board: the next command does.
            self.assertIn(self.box.pclscope("list").code, (0, 1))
        left = self.box.remains()
        self.assertEqual(left, [], str(trial))
        return said[-1]

    def test_trials(self):
        first = OPTIONS.first if OPTIONS.first is not None else self.seed() * 1000
        seen, failed = collections.Counter(), []
        for number in range(first, first + OPTIONS.trials):
            try:
                seen[self.trial(number)] += 1
            except AssertionError as error:
                failed.append(number)
                print(f"FAILED: {error}", flush=True)
                self.box.kill_everything()
        print(f"{OPTIONS.trials} trials from {first} on: {dict(seen)}, failed: {failed}", flush=True)
        self.assertEqual(failed, [], "numbers of the trials; --first NUMBER --trials 1 repeats one")


if __name__ == "__main__":
    reader = argparse.ArgumentParser(add_help=False)
    reader.add_argument("--trials", type=int, default=OPTIONS.trials)
    reader.add_argument("--first", type=int)
    reader.add_argument("--clock", action="store_true")
    OPTIONS, sys.argv[1:] = reader.parse_known_args()
    harness.main()
