"""What may go wrong around a job, each kind as it strikes a bare run and a traced one alike. What concerns the tool's
own processes or its dump has no counterpart: then the bare run is left in peace, and the traced one must end as it
does."""
import os
import pathlib
import signal
import subprocess
import time

SIGNALS = ["SIGUSR1", "SIGUSR2", "SIGXCPU", "SIGTERM", "SIGINT", "SIGHUP", "SIGALRM", "SIGWINCH", "SIGCONT"]
LAUNCHERS = ("mpirun", "mpiexec", "orterun", "hydra_pmi_proxy")


def name_of(command):
    return pathlib.Path(command.split()[0]).name


class Fault:
    """`words`: what it is. `wrap`: words before the command."""

    wrap = ()
    inside = ()  # words before the program
    at_random_moment = False
    earliest = 0.0  # seconds after all ranks were started

    def __init__(self, words):
        self.words = words

    def before(self, box):
        """Called before each run."""

    def strike(self, box, running, chance):
        """Called at a random moment of the run."""

    def after(self, box):
        """Called after each run."""

    def concerns_output(self):
        """Whether what the program prints may be lost."""
        return False

    def by_launcher(self):
        """Whether the launcher passes it on to the ranks."""
        return False


class Nothing(Fault):
    pass


class Signal(Fault):
    """One signal, or several in turn, to a process or to many of them."""

    at_random_moment = True

    def __init__(self, names, receiver, pause=0.0):
        super().__init__(f"{'+'.join(names)} to {receiver}")
        self.numbers, self.receiver, self.pause = [getattr(signal, name) for name in names], receiver, pause

    def receivers(self, box, running):
        mine = box.processes()
        tools = [pid for pid, command in mine if name_of(command).startswith("pclscope-aggregator-")]
        workers = box.aggregator_workers()
        ranks = sorted(pid for pid, command in mine if name_of(command) in box.program_names)
        if self.receiver == "a rank":
            return ranks[:1]
        if self.receiver == "all processes":
            return ranks + [pid for pid in tools if pid not in workers]
        if self.receiver == "the worker":
            return workers
        if self.receiver == "the anchor":
            return [pid for pid in tools if pid not in workers]
        if self.receiver == "mpirun":
            return [pid for pid, command in mine if name_of(command).startswith(LAUNCHERS[:3])
                    and "hydra_pmi_proxy" not in command][:1]
        return [running.process.pid]  # the command

    def by_launcher(self):
        return self.receiver in ("mpirun", "the command", "the group")

    def strike(self, box, running, chance):
        victims = self.receivers(box, running)
        if signal.SIGKILL in self.numbers:
            box.will_be_orphaned()
        for number in self.numbers:
            for pid in victims:
                try:
                    if self.receiver == "the group":
                        os.killpg(pid, number)
                    else:
                        os.kill(pid, number)
                except ProcessLookupError:
                    pass
            time.sleep(self.pause)


class SmallDisk(Fault):
    """For the dump alone."""

    def __init__(self, size):
        super().__init__(f"disk of {size}")
        self.size = size

    def before(self, box):
        box.disk.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.size}", "tmpfs", box.disk], check=True)

    def after(self, box):
        kept = box.disk / "run.h5"
        if kept.exists():
            box.directory.joinpath("kept.h5").write_bytes(kept.read_bytes())
        subprocess.run(["umount", "-l", box.disk], check=True)


class SmallSharedMemory(Fault):
    """A small /dev/shm, which somebody may fill up at a random moment. Not during MPI_Init, which takes what it needs
    then, and is longer with one rank more."""

    at_random_moment = True
    earliest = 0.4

    def __init__(self, size, fills):
        super().__init__(f"/dev/shm of {size}{', filled up' if fills else ''}")
        self.size, self.fills = size, fills

    def before(self, box):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=1777,size={self.size}", "tmpfs", "/dev/shm"], check=True)

    def strike(self, box, running, chance):
        if not self.fills:
            return
        try:
            with open("/dev/shm/somebody-elses", "wb") as file:
                while True:
                    file.write(bytes(65536))
                    file.flush()
        except OSError:
            pass

    def after(self, box):
        try:
            os.unlink("/dev/shm/somebody-elses")
        except FileNotFoundError:
            pass
        box.left_in_small = [path.name for path in pathlib.Path("/dev/shm").glob("pclscope-*")]
        subprocess.run(["umount", "-l", "/dev/shm"], check=True)


class Descriptors(Fault):
    """Standard input, output or error closed."""

    def __init__(self, closed):
        super().__init__(f"descriptors {','.join(map(str, closed))} closed")
        self.closed = closed
        ends = " ".join(f"{number}{'<' if number == 0 else '>'}&-" for number in closed)
        self.wrap = ("sh", "-c", f'exec "$@" {ends}', "sh")

    def concerns_output(self):
        return 1 in self.closed


class Limit(Fault):
    """Of the ranks alone: under some of these mpirun hangs and takes gigabytes."""

    def __init__(self, what, value):
        super().__init__(f"limit {what} {value}")
        self.inside = ("prlimit", f"--{what}={value}:{value}")


class Mask(Fault):
    def __init__(self, mask):
        super().__init__(f"umask {mask}")
        self.wrap = ("sh", "-c", f'umask {mask}; exec "$@"', "sh")


class Clock(Fault):
    """The machine's time of day jumps, and back. It is the whole machine's: only where that was asked for."""

    at_random_moment = True

    def __init__(self, seconds):
        super().__init__(f"clock jumps by {seconds} s")
        self.seconds = seconds

    def strike(self, box, running, chance):
        time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) + self.seconds)
        time.sleep(0.2)
        time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) - self.seconds)


OF_THE_TOOL = ("the worker", "the anchor")


def concerns_tool_only(fault):
    return isinstance(fault, SmallDisk) or (isinstance(fault, Signal) and fault.receiver in OF_THE_TOOL)


def draw(chance, clock):
    """One fault at random; every second one a jump of the clock where that is asked for."""
    kinds = ["nothing", "signal", "signal", "signal", "stop", "kill", "disk", "memory", "descriptors", "limit", "limit",
             "mask"]
    kind = "clock" if clock and chance.random() < 0.5 else chance.choice(kinds)
    who = ["a rank", "all processes", "mpirun", "the command", "the group"]
    if kind == "signal":
        return Signal([chance.choice(SIGNALS)], chance.choice(who + list(OF_THE_TOOL)))
    if kind == "stop":
        return Signal(["SIGSTOP", "SIGCONT"], chance.choice(["a rank", "all processes", *OF_THE_TOOL]),
                      chance.choice([0.02, 0.3]))
    if kind == "kill":
        return Signal(["SIGKILL"], chance.choice(["a rank", "mpirun", "the worker"]))
    if kind == "disk":
        return SmallDisk(chance.choice(["64k", "400k", "1m", "2m"]))
    if kind == "memory":
        return SmallSharedMemory(chance.choice(["64k", "4m", "9m", "20m", "64m"]), chance.random() < 0.3)
    if kind == "descriptors":
        return Descriptors(chance.choice([[0], [1], [2], [0, 1, 2], [0, 2], [1, 2]]))
    if kind == "limit":
        return Limit(*chance.choice([("nofile", 32), ("nofile", 64), ("nofile", 200), ("fsize", 0), ("fsize", 4096),
                                     ("fsize", 1 << 20), ("core", 0), ("memlock", 65536), ("stack", 256 << 10),
                                     ("as", 1 << 30), ("as", 1 << 32), ("nproc", 100000), ("cpu", 1)]))
    if kind == "mask":
        return Mask(chance.choice(["777", "077", "000"]))
    if kind == "clock":
        return Clock(chance.choice([-3, -0.5, 0.5, 3]))
    return Nothing("nothing")
