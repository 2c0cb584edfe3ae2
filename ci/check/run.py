"""Runs one step of the check: a command whose output goes to a file, with a line of progress at least every 10 s."""
import contextlib
import os
import pathlib
import signal
import subprocess
import threading
import time

BEGAN = time.monotonic()
QUIET_S = 8  # without a line for so long: say what is under way
lock = threading.Lock()
last_line = BEGAN


def since_start():
    return time.monotonic() - BEGAN


def say(text, after_quiet_s=0):
    """A line of progress. `after_quiet_s`: only if there was none for so long."""
    global last_line
    with lock:
        if time.monotonic() - last_line < after_quiet_s:
            return
        print(f"[{since_start():5.0f} s] {text}", flush=True)
        last_line = time.monotonic()


GIVES_WAY = {"idle": 19, "last": 10}  # of "last" some wait for each other, with a limit


def give_way(beside):
    """What this process starts leaves the cores to all others. Where the kernel shares cores among sessions (autogroup,
    as Debian's does) niceness counts within one alone, and each job of a test is one: so it takes that of a session."""
    os.setsid()
    os.nice(GIVES_WAY[beside])
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/autogroup").write_text(str(GIVES_WAY[beside]), encoding="ascii")


def give_way_no_more():
    """What is under way has the cores like anybody else from now on, where that is allowed."""
    for step in list(under_way):
        with contextlib.suppress(OSError):
            pathlib.Path(f"/proc/{step.process.pid}/autogroup").write_text("0", encoding="ascii")


class Step:
    """A command under way. Each line it prints goes to its log and to `look`, which may say something of it.
    `beside`: it runs beside what is waited for, on what that leaves of the cores: "idle" or, with a little, "last"."""

    def __init__(self, name, command, log, look=None, beside=None, environment=None):
        if stopping.is_set():
            raise KeyboardInterrupt
        self.name, self.command, self.log = name, [str(word) for word in command], pathlib.Path(log)
        self.began, self.ended, self.doing, self.cpu_seconds = since_start(), None, "", 0.0
        self.look = look or (lambda step, line: None)
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace",
                                        env={**os.environ, **(environment or {})},
                                        preexec_fn=(lambda: give_way(beside)) if beside else None)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        under_way.append(self)

    def read(self):
        with open(self.log, "w", encoding="utf-8") as log:
            for line in self.process.stdout:
                log.write(line)
                log.flush()
                self.look(self, line.rstrip("\n"))
        self.ended = since_start()

    def wait(self):
        """The exit status. Says what is under way when nothing else was said for a while."""
        while self.thread.is_alive():
            self.thread.join(0.2)
            say("  still: " + "; ".join(f"{step.name} {step.doing}".strip() for step in under_way), QUIET_S)
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_seconds = used.ru_utime + used.ru_stime
        if self in under_way:
            under_way.remove(self)
        return self.process.returncode

    def seconds(self):
        return (self.ended if self.ended is not None else since_start()) - self.began

    def end_of_log(self, lines):
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


under_way = []
stopping = threading.Event()


def descendants(of):
    """Process ids of all that was started by this process and below it."""
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            pass  # it ended meanwhile
    found = [of]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found[1:]


def stop_all():
    """Ends what is under way and all that it started: compilers, tests, and the jobs of these."""
    stopping.set()
    for sign in (signal.SIGTERM, signal.SIGKILL):
        for process in descendants(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(process, sign)
        time.sleep(0.5)


def interrupt_on_terminate():
    """SIGTERM and SIGHUP end this program as Ctrl-C does."""
    for sign in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.default_int_handler)
