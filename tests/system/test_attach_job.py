"""Jobs that were only preloaded: attach, watch, detach, again and again, while they run; ends and deaths meanwhile.

What a dump has is compared with what the program itself wrote down (session_oracle.py): every message sent after the
point that `attach` states and received before `detach` stands in it, in the right pair, and nothing else does.
Depends on: launcher."""
import calendar
import os
import re
import signal
import time

import dump
import harness
import numpy
import remains
import session_oracle
import testbed
from harness import on_one_mpi, thinned

# The programs flood three processes on two cores: a rank waits as long as it takes, so that nothing is dropped.
PATIENCE = "PCLSCOPE_OVERFLOW_WAIT_MS=30000"
LONGEST = 600  # s that a job goes on at most when nobody ends it
ROUND = 6  # the tag of a message that each rank sends once in a round; all receives of a round end with it


def load(mpi):
    return str(harness.BUILD / "tests" / "interpose" / f"attach_load-{mpi}")


def stated_point(done):
    """CLOCK_REALTIME in ns, from the words of attach."""
    moment, millis = re.search(r"sent after (\S+)\.(\d{3})Z", done.stderr).groups()
    return calendar.timegm(time.strptime(moment, "%Y-%m-%dT%H:%M:%S")) * 10**9 + int(millis) * 10**6


class Session:
    def __init__(self, path, since, until):
        self.path, self.since, self.until = path, since, until


class AttachTest(harness.SystemTest):
    def start(self, mpi, ranks, *more):
        """A dormant job, as a user starts it without us; returns it and its name. It goes on until end()."""
        self.log = self.box.directory / f"log-{mpi}"
        self.log.mkdir(exist_ok=True)
        launch, count, options = (self.box.bare_command(mpi, ranks)[0], str(ranks),
                                  self.box.bare_command(mpi, ranks)[1:-2])
        running = self.box.start(launch, *options, "-n", count, "env", harness.preload(harness.library(mpi)), PATIENCE,
                                 load(mpi), LONGEST, f"log={self.log}", self.until(), *more)
        return running, self.name_of(running)

    def until(self):
        return f"until={self.log / 'end'}"

    def end(self):
        (self.log / "end").touch()

    def name_of(self, running):
        def found():
            mine = {str(pid) for pid in self.box.application_ranks("attach_load")}
            return [job["name"] for job in self.box.json("list", "--json")["dormant"]
                    if job["name"].split("-")[-1] in mine]
        name = self.box.wait_for("dormant job", found, running=running)[0]
        self.box.wait_for("its first message", lambda: (self.log / "sent.0").exists(), running=running)
        return name

    def command(self, *words):
        return self.box.pclscope(*words)

    def attach(self, name, *options):
        """Returns the stated point. `attach` does not wait for ever for all ranks to record: where cores are taken it
        may say that some follow, and no point."""
        for _ in range(5):
            done = self.command("attach", name, "--keep", "all", *options)
            self.assertWorked(done)
            if "record; matching is exact" in done.stderr:
                return stated_point(done)
            print(done.stderr, flush=True)
            self.assertIn("the others follow", done.stderr)
            self.detach(name)
        return self.fail(str(done))

    def detach(self, name):
        """Where cores are taken it may say that the aggregator goes on closing: then once more."""
        for _ in range(4):
            done = self.command("detach", name)
            if "goes on trying" not in done.stderr:
                break
            print(done.stderr, flush=True)
        self.assertWorked(done)
        self.assertIn("is dormant again", done.stderr)
        return done

    def wait_for_rounds(self, moment, rounds):
        """Until rank 0 has gone so many rounds after this moment (what it wrote down comes in blocks)."""
        size, path = session_oracle.SENT.itemsize, self.log / "sent.0"

        def gone():
            last = max(0, path.stat().st_size // size - 20_000)
            sent = numpy.fromfile(path, session_oracle.SENT, offset=last * size)
            return numpy.count_nonzero((sent["tag"] == ROUND) & (sent["before"] > moment)) >= rounds
        self.box.wait_for(f"{rounds} rounds", gone)

    def settled(self, since, seconds=0.0):
        """A moment after some work; what was sent before it has been received when this returns: the ranks go round
        together, and three rounds have been gone since."""
        self.wait_for_rounds(since, 5)
        time.sleep(seconds)  # more work, so that there is more to compare
        until = time.time_ns()
        self.wait_for_rounds(until, 3)
        return until

    def session(self, name, number, seconds=thinned(0.3, 0.1)):
        path = self.box.directory / f"{number}.h5"
        since = self.attach(name, "--dump", path)
        until = self.settled(since, seconds)
        self.detach(name)
        return Session(path, since, until)

    def messages(self, path):
        """A dump's messages, and by how much their times may differ from those that the program wrote down, in ns."""
        return dump.read_messages(path), 20_000

    def assertExact(self, ranks, sessions, complete=True):
        for session in sessions:
            rows, slack_ns = self.messages(session.path)
            oracle = session_oracle.Sessions(self.log, ranks, slack_ns)
            self.assertEqual(dump.is_complete(session.path), complete)
            self.assertEqual(dump.dropped(session.path), 0, session.path)  # exact is: but for what was dropped
            faults = oracle.faults(rows, dump.time_origin(session.path), session.since, session.until)
            self.assertEqual(faults, [], session.path)
            if session.since is not None:
                self.assertGreater(oracle.count(session.since, session.until), 0)
            self.assertGreater(len(rows), 0)

    def assertEnds(self, running):
        self.end()
        done = running.finish()
        self.assertEqual((done.code, done.stdout), (0, "right\n"), str(done))


class OneNode(AttachTest):
    @on_one_mpi("openmpi")
    def test_many_sessions(self, mpi):
        ranks, cycles = 4 if mpi == "openmpi" else 2, thinned(6, 3)
        running, name = self.start(mpi, ranks)
        sessions = []
        for cycle in range(cycles):
            sessions.append(self.session(name, f"{mpi}-{cycle}", thinned(0.25, 0.1)))
            self.assertEqual(remains.files_of_dormant(name), ["board", "nodes"])
            self.assertEqual(list((self.box.runtime / "pclscope").glob("*")), [])
        self.assertEnds(running)
        self.assertExact(ranks, sessions)

    @on_one_mpi("mpich")
    def test_after_a_million_messages(self, mpi):
        """What was sent before counts as if it had been an hour: every channel's turn is known. Less than a million
        in ci/test."""
        running, name = self.start(mpi, 2, thinned("prelude=250000", "prelude=50000"))
        session = self.session(name, f"late-{mpi}", thinned(0.5, 0.2))
        self.assertEnds(running)
        self.assertExact(2, [session])

    @on_one_mpi("openmpi")
    def test_refusals_and_watching(self, mpi):
        running, name = self.start(mpi, 2)
        self.assertRefused(self.command("detach", name), 1, name, "not attached")
        self.assertRefused(self.command("attach", "nobody-1"), 1, "nobody-1")
        path = self.box.directory / f"watched-{mpi}.h5"
        since = self.attach(name, "--dump", path)
        self.assertRefused(self.command("attach", name, "--dump", self.box.directory / "other.h5"),
                           1, name, "attached already")
        live = self.box.live_with_messages(name, running)
        self.assertEqual(live["application"]["ranks"], 2)
        until = self.settled(since)
        self.detach(name)
        self.assertRefused(self.command("detach", name), 1, name, "not attached")
        self.assertEnds(running)
        self.assertExact(2, [Session(path, since, until)])

    @on_one_mpi("mpich")
    def test_two_at_once(self, mpi):
        running, name = self.start(mpi, 2)
        for cycle in range(thinned(4, 2)):
            paths = [self.box.directory / f"{mpi}-{cycle}-{i}.h5" for i in range(2)]
            both = [self.box.start(harness.PCLSCOPE, "attach", name, "--dump", path) for path in paths]
            both = sorted(((attach.finish(), path) for attach, path in zip(both, paths)), key=lambda done: done[0].code)
            self.assertWorked(both[0][0])
            self.assertRefused(both[1][0], 1, name, "attached already")
            self.detach(name)
            self.assertTrue(dump.is_complete(both[0][1]))
            self.assertFalse(both[1][1].exists())
        self.assertEnds(running)

    @on_one_mpi("openmpi")
    def test_job_ends_while_attached(self, mpi):
        running, name = self.start(mpi, 2)
        path = self.box.directory / f"ended-{mpi}.h5"
        since = self.attach(name, "--dump", path)
        self.wait_for_rounds(since, 5)
        self.assertEnds(running)
        until = time.time_ns()
        self.assertEqual(self.box.remains(), [])
        self.assertExact(2, [Session(path, since, until)])

    @on_one_mpi("mpich")
    def test_job_killed_while_attached(self, mpi):
        running, name = self.start(mpi, 2)
        path = self.box.directory / f"killed-{mpi}.h5"
        self.wait_for_rounds(self.attach(name, "--dump", path), 20)
        os.kill(self.box.application_ranks("attach_load")[0], signal.SIGKILL)
        self.assertNotEqual(running.finish().code, 0)
        self.box.wait_for("end of the aggregator", lambda: not self.box.application_ranks("pclscope-aggreg"))
        self.command("list")  # tidies the files of jobs that died
        self.assertEqual(self.box.remains(), [])
        self.assertExact(2, [Session(path, None, None)], complete=False)
        self.assertEqual(set(dump.torn(path).missing), {0, 1})

    @on_one_mpi("openmpi")
    def test_aggregator_killed_while_attached(self, mpi):
        running, name = self.start(mpi, 2)
        self.wait_for_rounds(self.attach(name, "--dump", self.box.directory / f"dead-{mpi}.h5"), 5)
        os.kill(self.box.application_ranks("pclscope-aggreg")[0], signal.SIGKILL)
        self.box.wait_for("dormant job",
                          lambda: name in [job["name"] for job in self.box.json("list", "--json")["dormant"]])
        self.assertRefused(self.command("detach", name), 1, name, "not attached")
        sessions = [self.session(name, f"again-{mpi}-{i}") for i in range(thinned(2, 1))]
        self.assertEqual(remains.files_of_dormant(name), ["board", "nodes"])
        self.assertEnds(running)
        self.assertExact(2, sessions)


class ManyNodes(AttachTest):
    RANKS_PER_NODE = thinned(4, 2)  # a rank that waits takes a core from the aggregators
    NODES = 3

    def setUp(self):
        reason = testbed.why_not()
        if reason:
            self.skipTest(f"no testbed: {reason}")
        super().setUp()
        self.testbed = testbed.Testbed(self.box, self.NODES)
        self.addCleanup(self.testbed.close)
        self.addCleanup(self.box.kill_everything)

    def command(self, *words):
        """On the node of rank 0."""
        more = ["--launcher-args", self.testbed.launcher_args("openmpi")] if words[0] == "attach" else []
        return self.box.run(testbed.script(), "on", "node1", harness.PCLSCOPE, *words, *more)

    def name_of(self, running):
        def found():
            table = self.command("list").stdout.splitlines()
            return [line.split()[0] for line in table if line.startswith("attach_load") and " dormant " in line]
        name = self.box.wait_for("dormant job", found, running=running)[0]
        self.box.wait_for("its first message", lambda: (self.log / "sent.0").exists(), running=running)
        return name

    def start(self, mpi, ranks, *more):
        self.log = self.box.directory / "log"
        self.log.mkdir()
        running = self.box.start("env", harness.preload(harness.library(mpi)), PATIENCE, testbed.script(), "openmpi",
                                 self.NODES, self.RANKS_PER_NODE, "-x", "LD_PRELOAD", "-x", "PCLSCOPE_OVERFLOW_WAIT_MS",
                                 load(mpi), LONGEST, f"log={self.log}", self.until(), *more)
        return running, self.name_of(running)

    def messages(self, path):
        """With the senders' clocks as they were known when the session was over. A machine that stands still may leave
        no time for that; live, where all cores are taken, clocks are some ms wrong."""
        rows, known = dump.read_messages(path), dump.Clocks(path)
        live = rows.send_begin
        rows.send_begin = known.corrected(rows.source, live).astype(numpy.int64)
        print(f"clocks corrected by at most {abs(rows.send_begin - live).max() / 1e3:.1f} us", flush=True)
        return rows, 1_500_000 if known.points else 100_000_000

    def test_sessions(self):
        """Every rank sends a message of a kind every 3 ms or so: more apart than clocks differ."""
        if "openmpi" not in harness.MPIS:
            self.skipTest("needs Open MPI")
        ranks = self.NODES * self.RANKS_PER_NODE
        running, name = self.start("openmpi", ranks, "pause=3000")
        sessions = [self.session(name, i, thinned(1.0, 0.5)) for i in range(thinned(3, 2))]
        self.assertEnds(running)
        self.assertExact(ranks, sessions)


del AttachTest

if __name__ == "__main__":
    harness.main()
