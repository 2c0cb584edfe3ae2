"""Runs pclscope and MPI programs for the system tests, and looks for what they leave behind.

Each test has a Sandbox: a directory of its own that is also the user's runtime directory (XDG_RUNTIME_DIR), and a mark
in the environment by which all processes of the test are found in /proc, orphans too. Leaving a Sandbox ends them.

From the environment (set by CMakeLists.txt): PCLSCOPE_BUILD, PCLSCOPE_SOURCE, PCLSCOPE_MPIS ("openmpi mpich"); by hand
or by ci/test: PCLSCOPE_KEEP, PCLSCOPE_SEED (../checks.py).
"""
import contextlib
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

import remains

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import checks  # noqa: E402
from checks import thinned  # noqa: E402,F401  for the tests

SOURCE = pathlib.Path(os.environ.get("PCLSCOPE_SOURCE", pathlib.Path(__file__).resolve().parents[2])).resolve()
BUILD = pathlib.Path(os.environ.get("PCLSCOPE_BUILD", SOURCE / "build" / "release")).resolve()
MPIS = os.environ.get("PCLSCOPE_MPIS", "openmpi mpich").split()
PCLSCOPE = BUILD / "bin" / "pclscope"
DATA = SOURCE / "tests" / "data"
KEYS = {"curve.key", "metrics.token"}
SKIPPED = 77  # ctest: SKIP_RETURN_CODE
PATIENCE = 240  # s: only to end what hangs. Machines are slow, and sometimes busy with other things.


def program(name, mpi):
    """The path of a known-answer program for one MPI."""
    return str(BUILD / "tests" / "programs" / f"{name}-{mpi}")


# Words by which `crash` ends without MPI_Finalize. MPICH's launcher may kill who is still leaving (of 100 bare runs one
# or two, more on a busy machine), give another status, and lose what a rank wrote before MPI_Abort; Open MPI's mpirun
# may crash (status 139) or hang after MPI_Abort. An end that is no success is chance in any case (assertEndsAlike).
WITHOUT_FINALIZE = {"leave", "early", "abort", "segfault", "kill"}


def end_is_chance(arguments):
    return bool(WITHOUT_FINALIZE & set(arguments))


def library(mpi):
    return str(BUILD / "lib" / f"libpclscope-{mpi}.so")


RESTING = checks.resting(BUILD)
preload = functools.partial(checks.preload, RESTING)


class Finished:
    """How a command ended."""

    def __init__(self, arguments, code, stdout, stderr, seconds):
        self.arguments, self.code, self.stdout, self.stderr, self.seconds = arguments, code, stdout, stderr, seconds

    def end(self):
        """Status and output, without the banner that MPICH's launcher prints or not, as the ranks happen to end."""
        return self.code, self.stdout.partition("\n=====")[0]

    def our_lines(self):
        """The lines on stderr that pclscope wrote, wherever in the job."""
        return [line for line in self.stderr.splitlines() if line.lower().startswith("pclscope")]

    def __str__(self):
        command = " ".join(str(a) for a in self.arguments)
        return (f"{command}\n  exit status {self.code} after {self.seconds:.1f} s\n"
                f"  stdout: {self.stdout[-2000:]}\n  stderr: {self.stderr[-3000:]}")


def parent_of(pid):
    """None when it is gone."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def heed_signals():
    """As from a terminal: who runs the tests may ignore some (nohup), and ignored ones stay so in what is started."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


class Running:
    """A command under way; its output goes to files, so that it never waits for us."""

    def __init__(self, sandbox, arguments, directory):
        self.arguments = [str(a) for a in arguments]
        self.sandbox = sandbox
        self.began = time.monotonic()
        self.files = [sandbox.next_file("stdout"), sandbox.next_file("stderr")]
        with open(self.files[0], "wb") as stdout, open(self.files[1], "wb") as stderr:
            self.process = subprocess.Popen(self.arguments, cwd=directory or sandbox.directory,
                                            env=sandbox.environment, stdin=subprocess.DEVNULL, stdout=stdout,
                                            stderr=stderr, start_new_session=True, preexec_fn=heed_signals)

    def running(self):
        return self.process.poll() is None

    def output(self):
        return [file.read_bytes().decode(errors="replace") for file in self.files]

    def finish(self, timeout=PATIENCE):
        """Waits for the end. A command that takes too long fails the test: hanging is always a defect."""
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            stdout, stderr = self.output()
            took = time.monotonic() - self.began
            doing = "\n    ".join(remains.what_they_do(f"PCL_TEST_MARK={self.sandbox.mark}"))
            raise checks.Hung("did not end: " + str(Finished(self.arguments, "none", stdout, stderr, took)) +
                              f"\n  its processes:\n    {doing}") from None
        stdout, stderr = self.output()
        return Finished(self.arguments, self.process.returncode, stdout, stderr, time.monotonic() - self.began)


class Sandbox:
    def __init__(self):
        # Short: the path of a socket has 107 characters at most.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pcl-", dir=os.environ.get("TMPDIR", "/tmp")))
        self.runtime = self.directory / "run"
        self.runtime.mkdir(mode=0o700)
        self.output = self.directory / "output"
        self.output.mkdir()
        self.files = 0
        self.mark = uuid.uuid4().hex
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("PCLSCOPE")}
        self.environment.update(XDG_RUNTIME_DIR=str(self.runtime), PCLSCOPE_SHARED=str(self.runtime / "shared"),
                                XDG_CONFIG_HOME=str(self.directory / "config"),
                                PCL_TEST_MARK=self.mark, LC_ALL="C")
        if os.getuid() == 0:
            self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.environment.update(RESTING)
        self.shared_memory_before = set(remains.leftovers())
        self.orphaned = set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill_everything()
        shutil.rmtree(self.directory, ignore_errors=True)

    def will_be_orphaned(self):
        """Processes are about to be killed in a way after which MPI does not tidy up; their files are removed at the
        end."""
        self.orphaned |= {file for pid, _ in self.processes() for file in remains.mapped_shared_memory(pid)
                          if "/pclscope-" not in file}

    @staticmethod
    def kill(pids):
        """SIGKILL. Some may have gone: with the first rank of a job its launcher ends the others."""
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def kill_everything(self):
        """SIGKILL for every process of this test, and nothing of theirs left in /dev/shm: nobody else would tidy up,
        neither after pclscope nor after MPI."""
        killed = self.processes()
        files = self.orphaned | {file for pid, _ in killed for file in remains.mapped_shared_memory(pid)}
        while killed:
            self.kill(pid for pid, _ in killed)
            time.sleep(0.05)
            killed = self.processes()
        for file in files:
            path = pathlib.Path(file)
            path.unlink(missing_ok=True)
            if path.name.startswith("pclscope-") and path.name.endswith("-board"):  # the list of nodes is not mapped
                path.with_name(path.name.removesuffix("board") + "nodes").unlink(missing_ok=True)

    def next_file(self, name):
        self.files += 1
        return self.output / f"{self.files}.{name}"

    # --- commands ---
    def start(self, *arguments, directory=None):
        return Running(self, arguments, directory)

    def run(self, *arguments, timeout=PATIENCE, directory=None):
        return self.start(*arguments, directory=directory).finish(timeout)

    def pclscope(self, *arguments, timeout=PATIENCE):
        return self.run(PCLSCOPE, *arguments, timeout=timeout)

    def json(self, *arguments):
        """The JSON that a pclscope command prints; fails with its words when it does not."""
        done = self.answer(*arguments)
        if done.code != 0:
            raise AssertionError(str(done))
        return json.loads(done.stdout)

    def answer(self, *arguments):
        """How a pclscope command ends. One that asks a running job waits 2 s for it: on a busy machine the next call
        may hear what this one missed."""
        def look():
            done = self.pclscope(*arguments)
            return None if "no news from" in done.stderr else done
        return self.wait_for(f"news by {arguments}", look)

    @staticmethod
    def bare_command(mpi, ranks, *command):
        # More ranks than cores; `pclscope run` has to see to that by itself.
        options = ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"] if mpi == "openmpi" else []
        return [f"mpirun.{mpi}", *options, "-n", str(ranks), *command]

    def bare(self, mpi, ranks, *command, timeout=PATIENCE, directory=None):
        return self.run(*self.bare_command(mpi, ranks, *command), timeout=timeout, directory=directory)

    @staticmethod
    def traced_command(ranks, *command, options=()):
        """Quiet: what pclscope then says on stderr is an error."""
        return [PCLSCOPE, "run", "--quiet", "-n", str(ranks), *patient(options), "--", *command]

    def traced(self, ranks, *command, options=(), timeout=PATIENCE, directory=None):
        return self.run(*self.traced_command(ranks, *command, options=options), timeout=timeout, directory=directory)

    def start_traced(self, ranks, *command, options=()):
        return self.start(*self.traced_command(ranks, *command, options=options))

    def in_private_mounts(self, mounts, command, after="true", timeout=PATIENCE):
        """Runs a command where `mounts` (shell lines) hold for it alone, then `after`; None where this is not
        allowed."""
        options = ["-m"] if os.getuid() == 0 else ["-rm"]
        if self.run("unshare", *options, "mount", "-t", "tmpfs", "tmpfs", self.runtime).code != 0:
            return None
        script = f'{mounts} || exit 99\n"$@"\nstatus=$?\n{after}\nexit $status'
        return self.run("unshare", *options, "sh", "-c", script, "sh", *command, timeout=timeout)

    # --- what is there ---
    def processes(self):
        """(pid, command line) of every process of this test but ourselves."""
        return remains.marked_processes(f"PCL_TEST_MARK={self.mark}")

    def application_ranks(self, name):
        """The pids of the running application processes (not the launcher, whose arguments name it too)."""
        return [pid for pid, command in self.processes() if pathlib.Path(command.split()[0]).name.startswith(name)]

    def aggregator_workers(self):
        """Without their children: one that was just forked has its parent's command line until it executes its own."""
        pids = [pid for pid, command in self.processes()
                if pathlib.Path(command.split()[0]).name.startswith("pclscope-aggregator-") and "--worker" in command]
        return [pid for pid in pids if parent_of(pid) not in pids]

    def wait_for(self, what, condition, timeout=PATIENCE, running=None):
        """The first true value of the condition. Fails when it takes too long or when the job ends before."""
        end = time.monotonic() + timeout
        while True:
            began = time.monotonic()
            value = condition()
            if value:
                return value
            if running is not None and not running.running():
                raise AssertionError(f"the job ended while waiting for {what}: {running.finish()}")
            if time.monotonic() > end:
                output = "" if running is None else "\n".join(running.output())
                raise AssertionError(f"no {what} within {timeout} s\n{output}")
            time.sleep(min(max(0.02, 3 * (time.monotonic() - began)), 0.15))  # a look may cost as much as the job

    def job_name(self, running):
        """The name of the running job, once it is announced."""
        jobs = self.wait_for("announced job", lambda: self.json("list", "--json")["jobs"], running=running)
        return jobs[0]["name"]

    def live(self, *target):
        """The newest summary."""
        return self.json("watch", *target, "--once", "--json")

    def live_fresh(self, *target):
        """A summary that is younger than a second. On a busy machine one or another is older."""
        def fresh():
            summary = self.live(*target)
            return summary if 0 <= summary["live"]["age_s"] < 1 else None
        return self.wait_for("fresh summary", fresh)

    # A job that goes on until it is told to end: the last argument of some programs (tests/programs/answer.h).
    def until(self):
        self.files += 1
        self.end_sign = self.directory / f"end-{self.files}"
        return f"until={self.end_sign}"

    def end(self, running, timeout=PATIENCE):
        """Tells the job of the last until() to end, and waits for that."""
        self.end_sign.touch()
        return running.finish(timeout)

    def live_with_messages(self, target, running, at_least=1):
        """The first live summary that shows so many messages."""
        def enough():
            summary = self.live(target)
            return summary if summary["messages"]["matched"] >= at_least else None
        return self.wait_for(f"{at_least} live messages", enough, running=running)

    def remains(self, patience=PATIENCE):
        """What is left over of jobs that have ended: processes, shared memory, files in the runtime directory."""
        end = time.monotonic() + patience
        while True:
            left = [f"process {pid}: {command}" for pid, command in self.processes()]
            left += [f"/dev/shm/{name}" for name in remains.leftovers() if name not in self.shared_memory_before]
            # They guard all TCP endpoints of the user, and what is told over HTTP: made once, they stay.
            left += [str(path) for path in self.runtime.glob("**/*")
                     if (path.is_file() or path.is_socket()) and path.name not in KEYS]
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.05)


def patient(options):
    """Ranks wait for an aggregator that gets no core, a minute long, where no option says otherwise: what a test says
    of every message may not depend on how busy the machine is. (By default they wait a second.)"""
    own = any(str(option).startswith("--overflow") for option in options)
    return [*options, *(() if own else ("--overflow-wait", "60000"))]


def comparable_status(mpi, status, by_launcher=False):
    """A status, as a shell gives it, by which a bare and a traced run can be compared. MPICH's mpirun ors together
    the ends of all processes, and the tool's is one more that it may kill. `by_launcher`: where it passed on the
    signal that ended the ranks, its status is 0 or the signal's number, as they happen to end (docs/running.md)."""
    if mpi != "mpich":
        return status
    return "ended" if by_launcher else status | signal.SIGKILL if status != 0 else 0


class SystemTest(checks.Test):
    """A test with a Sandbox; at its end nothing of its jobs may be left."""

    def setUp(self):
        if not PCLSCOPE.exists():
            self.fail(f"{PCLSCOPE} is not built (PCLSCOPE_BUILD names the build folder)")
        self.box = self.enterContext(Sandbox())
        self.addCleanup(self.keep_what_failed)
        self.addCleanup(self.check_remains)

    def keep_what_failed(self):
        """Rings and boards of jobs that are still there, then all files of the sandbox; see PCLSCOPE_KEEP."""
        if checks.KEEP and self.failed():
            self.keep(checks.SHARED_MEMORY, checks.own_shared_memory())
            doing = remains.what_they_do(f"PCL_TEST_MARK={self.box.mark}")
            self.kept.say("\n".join(["processes at the end:", *doing]))
            self.box.kill_everything()
            self.keep(self.box.directory, self.box.directory.rglob("*"))

    def check_remains(self):
        left = self.box.remains(patience=1 if self.failed() else PATIENCE)
        if left:
            self.fail("left over: " + "; ".join(left))

    def assertWorked(self, done, code=0):
        if done.code != code:
            self.fail(f"exit status {done.code}, expected {code}: {done}")

    def assertEndsAlike(self, bare, traced, end=Finished.end, is_chance=False):
        def once(run):  # one that hung may have left processes behind
            try:
                return run()
            except checks.Hung:
                self.box.kill_everything()
                raise
        return super().assertEndsAlike(lambda: once(bare), lambda: once(traced), end, is_chance)

    def side_by_side(self, mpi, ranks, command, start_traced, timeout=PATIENCE):
        """(bare, traced), for assertEndsAlike; start_traced() starts the traced job. Under Open MPI it begins with the
        bare one: most of their time is start-up. MPICH's ranks spin and would only hinder each other."""
        ahead = []

        def bare():
            words = self.box.bare_command(mpi, ranks, *command)
            if mpi != "openmpi":
                return self.box.run(*words, timeout=timeout)
            own = self.box.directory / "bare"  # two at a time must not tidy up each other's files
            own.mkdir(exist_ok=True)
            running = self.box.start("env", f"TMPDIR={own}", *words, directory=own)
            ahead[:] = [start_traced()]
            return running.finish(timeout)

        def traced():
            return (ahead.pop() if ahead else start_traced()).finish(timeout)
        return bare, traced

    def assertRefused(self, done, code, *words):
        """Refused in one line that says what and what to do."""
        self.assertEqual(done.code, code, str(done))
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, str(done))
        for word in words:
            self.assertIn(word.lower(), lines[0].lower(), str(done))

    def assertComplete(self, summary, ranks, matched=None, byte_count=None):
        """Every message matched, nothing lost, no clock wrong. Between nodes clocks are known within their error only:
        a message may seem to arrive before it was sent, by less than that (clock_unclear); by more, where nodes' cores
        are all taken while the job runs (docs/limits.md): a few percent."""
        messages = summary["messages"]
        self.assertEqual(summary["application"]["ranks"], ranks)
        counts = {key: messages[key] for key in ("unmatched_sends", "unmatched_receives", "ambiguous",
                                                 "dropped_events")}
        if summary["application"]["nodes"] < 2:
            counts.update((key, messages[key]) for key in ("clock_violations", "clock_unclear"))
        self.assertLessEqual(messages["clock_violations"], messages["matched"] / 10, messages)
        self.assertEqual(counts, dict.fromkeys(counts, 0), messages)
        if matched is not None:
            self.assertEqual(messages["matched"], matched, messages)
        if byte_count is not None:
            self.assertEqual(messages["bytes"], byte_count, messages)


def on_every_mpi(test):
    """Runs a test method once per MPI that is built, as subtests."""
    @functools.wraps(test)
    def wrapped(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                test(self, mpi)
    return wrapped


def on_one_mpi(mpi):
    """For what follows from the analysis and not from an MPI: a test method under this one, in full under every one."""
    def decorate(test):
        @functools.wraps(test)
        def wrapped(self):
            test(self, mpi if mpi in MPIS else MPIS[0])
        return on_every_mpi(test) if checks.FULL else wrapped
    return decorate


def main():
    """Runs the tests of the calling script; the exit status 77 says that all of them were skipped."""
    checks.main(SKIPPED)
