"""Signals belong to the application: whoever gets one, a traced job ends as the bare one does, with its state saved
where the bare one saves it. Depends on: launcher."""
import os
import pathlib
import signal

import harness
from harness import thinned

RANKS = 2
# To whom it is sent.
RECEIVERS = {
    "rank": "rank 0 alone",
    "ranks": "every process that the launcher started, the tool's as well: as a batch system does",
    "launcher": "the command that was called: mpirun, or `pclscope run`",
    "mpirun": "mpirun",
    "group": "the process group of the command",
}
HANDLED = ["SIGUSR1", "SIGUSR2", "SIGXCPU", "SIGTERM", "SIGINT", "SIGHUP", "SIGALRM"]
LAUNCHERS = ("mpirun", "mpiexec", "orterun", "pclscope", "hydra_pmi_proxy")


def name_of(command):
    return pathlib.Path(command.split()[0]).name


def as_a_shell_says(status):
    """A bare launcher may be killed by the signal; `pclscope run` then says 128 + signal."""
    return status if status >= 0 else 128 - status


def names_caught(pid):
    """By its status; without those that libc keeps for itself."""
    mask = next(line.split()[1] for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
                if line.startswith("SigCgt"))
    return {number.name for number in signal.valid_signals()
            if isinstance(number, signal.Signals) and number < signal.SIGRTMIN and int(mask, 16) >> (number - 1) & 1}


class Signals(harness.SystemTest):
    def started(self):
        """Pids of what the launcher started. The worker is the anchor's child: a batch system sees it, too."""
        return [pid for pid, command in self.box.processes()
                if not name_of(command).startswith(LAUNCHERS) or "aggregator" in name_of(command)]

    def receivers(self, receiver, running):
        if receiver == "rank":
            return self.box.application_ranks("checkpoint")[:1]
        if receiver == "ranks":
            return self.started()
        if receiver == "mpirun":
            return [pid for pid, command in self.box.processes()
                    if name_of(command).startswith(("mpirun", "mpiexec", "orterun"))
                    and "hydra_pmi_proxy" not in command][:1]
        return [running.process.pid]

    def send(self, number, receiver, running):
        if receiver == "group":
            os.killpg(running.process.pid, number)
            return
        for pid in self.receivers(receiver, running):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def one(self, start, numbers, receiver, mode):
        """Starts the job, sends each signal in turn when it runs, and returns status and what was saved."""
        saved = self.box.directory / "state"
        for path in (saved, saved.with_suffix(".ready")):
            path.unlink(missing_ok=True)
        running = start(saved, mode)
        self.box.wait_for("running ranks", saved.with_suffix(".ready").exists, running=running)
        for number in numbers:
            self.send(number, receiver, running)
        done = running.finish()
        done.saved = saved.read_text() if saved.exists() else "nothing saved"
        return done

    def bare(self, mpi):
        program = harness.program("checkpoint", mpi)
        return lambda saved, mode: self.box.start(*self.box.bare_command(mpi, RANKS, program, saved, mode))

    def traced(self, mpi):
        program = harness.program("checkpoint", mpi)
        return lambda saved, mode: self.box.start_traced(RANKS, program, saved, mode)

    def caught_by_ranks(self, start):
        """The signals that ranks catch whose program catches none, one set for each rank."""
        saved = self.box.directory / "caught"
        saved.with_suffix(".ready").unlink(missing_ok=True)
        running = start(saved, "plain")
        self.box.wait_for("running ranks", saved.with_suffix(".ready").exists, running=running)
        caught = [names_caught(pid) for pid in self.box.application_ranks("checkpoint")]
        self.send(signal.SIGTERM, "launcher", running)
        running.finish()
        self.assertEqual(len(caught), RANKS)
        return caught

    def check(self, mpi, names, receiver, mode):
        numbers = [getattr(signal, name) for name in names]
        bare, traced = self.bare(mpi), self.traced(mpi)
        by_launcher = mode == "plain" and receiver in ("launcher", "mpirun", "group")

        def end(done):
            return harness.comparable_status(mpi, as_a_shell_says(done.code), by_launcher), done.saved
        with self.subTest(mpi=mpi, signals=names, receiver=receiver, mode=mode):
            ended = self.assertEndsAlike(lambda: self.one(bare, numbers, receiver, mode),
                                         lambda: self.one(traced, numbers, receiver, mode), end)
            print(f"{mpi}: {' '.join(names)} to {receiver}, {mode}: {as_a_shell_says(ended.code)}, "
                  f"{ended.saved.strip()}", flush=True)

    @harness.on_every_mpi
    def test_handled_signals(self, mpi):
        for name in thinned(HANDLED, ("SIGUSR1", "SIGTERM")):
            for receiver in thinned(list(RECEIVERS), ("ranks", "launcher")):
                self.check(mpi, [name], receiver, "handled")

    @harness.on_every_mpi
    def test_ranks_catch_the_same(self, mpi):
        """What MPI and its libraries catch: MPICH SIGUSR1, UCX SIGHUP and those of a crash."""
        bare, traced = self.caught_by_ranks(self.bare(mpi)), self.caught_by_ranks(self.traced(mpi))
        self.assertEqual(traced, bare)
        print(f"{mpi}: ranks catch {' '.join(sorted(bare[0]))}", flush=True)

    @harness.on_every_mpi
    def test_signals_that_end_the_job(self, mpi):
        caught = set().union(*self.caught_by_ranks(self.bare(mpi)))  # the job goes on
        for name in thinned(HANDLED, ("SIGTERM",)):
            if (mpi, name) == ("mpich", "SIGUSR1"):
                continue  # the launcher passes it on to ranks, and MPICH catches it: the job goes on
            for receiver in thinned(list(RECEIVERS), ("ranks",)):
                if receiver in ("launcher", "mpirun", "group") or name not in caught:
                    self.check(mpi, [name], receiver, "plain")

    @harness.on_every_mpi
    def test_a_job_that_is_suspended_goes_on(self, mpi):
        for receiver in thinned(["ranks", "launcher"], ("ranks",)):
            self.check(mpi, ["SIGSTOP", "SIGCONT", "SIGUSR1"], receiver, "handled")


if __name__ == "__main__":
    harness.main()
