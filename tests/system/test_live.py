"""While a job runs: list and watch, and viewers that come late, leave, are slow, or talk nonsense.
Depends on: launcher."""
import json
import os
import pathlib
import random
import re
import signal
import socket
import time

import harness


def free_port():
    """A port whose successor is free too: publishing takes two."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
                return port
            except OSError:
                continue


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class LiveJobs(harness.SystemTest):
    def start_halo(self, options=()):
        """A halo exchange on 4 ranks that goes on until assertEndsWell."""
        return self.box.start_traced(4, harness.program("halo2d", harness.MPIS[0]), "1000000", "32", "8000",
                                     self.box.until(), options=options)

    def assertEndsWell(self, running):
        """Tells it to end; returns how many messages it had."""
        done = self.box.end(running)
        self.assertWorked(done)
        said = re.match(r"halo2d: grid 2x2 iterations (\d+) faces (\d+) checksum ", done.stdout)
        self.assertTrue(said and int(said[2]) == 8 * int(said[1]), str(done))
        self.assertEqual(done.our_lines(), [], str(done))
        return int(said[2])

    def prints(self, viewer, lines, words=""):
        """Waits until a viewer has printed so many lines with these words."""
        self.box.wait_for(f"{lines} lines",
                          lambda: sum(words in line.lower() for line in viewer.output()[0].splitlines()) >= lines,
                          running=viewer)

    def test_watch_once_is_fresh(self):
        running = self.start_halo()
        job = self.box.job_name(running)
        self.box.wait_for("regions", lambda: self.box.live(job)["regions"], running=running)
        matched = 0
        for _ in range(5):
            summary = self.box.live_fresh(job)
            self.assertEqual(summary["live"]["window_s"], 0.1)
            self.assertEqual(summary["application"]["ranks"], 4)
            self.assertGreater(summary["messages"]["matched"], matched)
            self.assertEqual(sorted(rank for region in summary["regions"] for rank in region["ranks"]), [0, 1, 2, 3])
            matched = summary["messages"]["matched"]
            self.box.live_with_messages(job, running, at_least=matched + 1)
        self.assertEndsWell(running)

    def test_watch_without_a_name_takes_the_running_job(self):
        running = self.start_halo()
        self.box.live_with_messages(self.box.job_name(running), running)
        self.assertEqual(self.box.live()["application"]["ranks"], 4)
        self.assertEndsWell(running)

    def test_list_names_the_job_and_forgets_it(self):
        self.assertEqual(self.box.json("list", "--json")["jobs"], [])
        running = self.start_halo()
        name = self.box.job_name(running)
        job, = self.box.json("list", "--json")["jobs"]
        self.assertEqual((job["name"], job["ranks"]), (name, 4))
        self.assertIn("halo2d", job["command"])
        self.assertEndsWell(running)
        self.assertEqual(self.box.json("list", "--json")["jobs"], [])

    def test_following_viewer_ends_with_the_job(self):
        running = self.start_halo()
        job = self.box.job_name(running)
        text = self.box.start(harness.PCLSCOPE, "watch", job)
        lines = self.box.start(harness.PCLSCOPE, "watch", job, "--json", "--interval", "200ms")
        self.prints(lines, 10)
        self.prints(text, 3, "matched")
        messages = self.assertEndsWell(running)
        done = lines.finish()
        self.assertWorked(done)
        objects = [json.loads(line) for line in done.stdout.splitlines()]
        matched = [summary["messages"]["matched"] for summary in objects]
        self.assertEqual(matched, sorted(matched))
        self.assertEqual(objects[-1]["messages"]["matched"], messages)
        self.assertWorked(text.finish())

    def test_viewers_that_come_late_leave_and_are_slow(self):
        running = self.start_halo()
        job = self.box.job_name(running)
        self.box.live_with_messages(job, running)
        viewers = [self.box.start(harness.PCLSCOPE, "watch", job, "--json", "--interval", "100ms") for _ in range(5)]
        for viewer in viewers:
            self.prints(viewer, 1)
        viewers[0].process.send_signal(signal.SIGKILL)  # leaves without a word
        viewers[1].process.send_signal(signal.SIGINT)   # leaves politely
        viewers[2].process.send_signal(signal.SIGSTOP)  # reads nothing for a while
        before = self.box.live(job)
        self.box.live_with_messages(job, running, at_least=before["messages"]["matched"] + 1500)
        self.box.live_fresh(job)
        viewers[2].process.send_signal(signal.SIGCONT)
        self.assertEndsWell(running)
        viewers[0].process.wait()
        for viewer in viewers[1:]:
            self.assertWorked(viewer.finish())

    def test_viewer_stopped_for_ever_does_not_hold_the_job(self):
        running = self.start_halo()
        viewer = self.box.start(harness.PCLSCOPE, "watch", self.box.job_name(running), "--json", "--interval", "100ms")
        self.prints(viewer, 1)
        viewer.process.send_signal(signal.SIGSTOP)
        self.assertEndsWell(running)
        viewer.process.kill()
        viewer.finish()

    def test_watching_a_job_that_is_over(self):
        running = self.start_halo()
        job = self.box.job_name(running)
        self.assertEndsWell(running)
        self.assertRefused(self.box.pclscope("watch", job), 1, job)
        self.assertRefused(self.box.pclscope("watch"), 1, "no running job")

    def test_published_on_tcp(self):
        endpoint = f"tcp://127.0.0.1:{free_port()}"
        running = self.start_halo(options=("--publish", endpoint))
        job = self.box.job_name(running)
        self.box.live_with_messages(job, running)
        self.box.live_fresh(job)
        self.assertEqual(self.box.live(endpoint)["application"]["ranks"], 4)
        key, = self.box.runtime.glob("**/curve.key")
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        self.assertEndsWell(running)

    def test_nonsense_on_the_tcp_ports(self):
        port = free_port()
        running = self.start_halo(options=("--publish", f"tcp://127.0.0.1:{port}"))
        job = self.box.job_name(running)
        self.box.live_with_messages(job, running)
        chance = random.Random(self.seed())
        for number in (port, port + 1):
            for noise in (b"GET / HTTP/1.1\r\n\r\n", chance.randbytes(4096),
                          b"\xff" + bytes(8) + b"\x7f" + chance.randbytes(64)):
                with socket.create_connection(("127.0.0.1", number), timeout=harness.PATIENCE) as connection:
                    connection.sendall(noise)
        silent = socket.create_connection(("127.0.0.1", port), timeout=harness.PATIENCE)  # connects and says nothing
        self.addCleanup(silent.close)
        self.box.live_fresh(job)
        self.assertEndsWell(running)

    def test_aggregator_rests_when_there_is_nothing_to_do(self):
        running = self.box.start_traced(2, harness.program("crash", harness.MPIS[0]), "exit", "10", "0", "0", "600000",
                                        self.box.until())
        job = self.box.job_name(running)
        self.box.live_with_messages(job, running, at_least=20)
        ours = [pid for pid, command in self.box.processes() if "/pclscope-aggregator-" in command.split()[0]]
        self.assertTrue(ours)

        def rests():
            # Time of a core, which others cannot make longer, over any one of many periods of 2.5 s.
            before, began = sum(map(cpu_seconds, ours)), time.monotonic()
            time.sleep(2.5)
            return (sum(map(cpu_seconds, ours)) - before) / (time.monotonic() - began) < 0.10
        self.box.wait_for("rest (10 % of a core)", rests, running=running)
        self.assertWorked(self.box.end(running))


if __name__ == "__main__":
    harness.main()
