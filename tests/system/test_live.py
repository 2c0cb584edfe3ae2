"""While a job runs: list and watch, and viewers that come late, leave, are slow, or talk nonsense."""
import json
import os
import pathlib
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
    def start_halo(self, seconds, options=(), mpi=None):
        """A halo exchange on 4 ranks that lasts at least so long; returns (running, expected output)."""
        mpi = mpi or harness.MPIS[0]
        iterations = int(seconds * 500)
        running = self.box.start_traced(4, harness.program("halo2d", mpi), str(iterations), "32", "2000",
                                        options=options)
        return running, f"halo2d: grid 2x2 iterations {iterations} faces {8 * iterations} checksum "

    def assertEndsWell(self, running, output, timeout=60):
        done = running.finish(timeout)
        self.assertWorked(done)
        self.assertTrue(done.stdout.startswith(output), str(done))
        self.assertEqual(done.our_lines(), [], str(done))

    def test_watch_once_is_quick_and_fresh(self):
        running, output = self.start_halo(5)
        job = self.box.job_name(running)
        self.box.wait_for("regions", lambda: self.box.live(job)["regions"], timeout=3, running=running)
        matched = 0
        for _ in range(5):
            began = time.monotonic()
            summary = self.box.live(job)
            self.assertLess(time.monotonic() - began, 2)
            self.assertLess(summary["live"]["age_s"], 1)
            self.assertGreaterEqual(summary["live"]["age_s"], 0)
            self.assertEqual(summary["live"]["window_s"], 0.1)
            self.assertEqual(summary["application"]["ranks"], 4)
            self.assertGreater(summary["messages"]["matched"], matched)
            matched = summary["messages"]["matched"]
            self.assertEqual(sorted(rank for region in summary["regions"] for rank in region["ranks"]), [0, 1, 2, 3])
            time.sleep(0.3)
        self.assertEndsWell(running, output)

    def test_watch_without_a_name_takes_the_running_job(self):
        running, output = self.start_halo(2)
        self.box.live_with_messages(self.box.job_name(running), running)
        self.assertEqual(self.box.json("watch", "--once", "--json")["application"]["ranks"], 4)
        self.assertEndsWell(running, output)

    def test_list_names_the_job_and_forgets_it(self):
        self.assertEqual(self.box.json("list", "--json"), {"jobs": [], "dormant": []})
        running, output = self.start_halo(2)
        name = self.box.job_name(running)
        job, = self.box.json("list", "--json")["jobs"]
        self.assertEqual((job["name"], job["ranks"]), (name, 4))
        self.assertIn("halo2d", job["command"])
        self.assertEndsWell(running, output)
        self.assertEqual(self.box.json("list", "--json"), {"jobs": [], "dormant": []})

    def test_following_viewer_ends_with_the_job(self):
        running, output = self.start_halo(4)
        job = self.box.job_name(running)
        text = self.box.start(harness.PCLSCOPE, "watch", job)
        lines = self.box.start(harness.PCLSCOPE, "watch", job, "--json", "--interval", "200ms")
        self.assertEndsWell(running, output)
        done = lines.finish(10)
        self.assertWorked(done)
        objects = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertGreaterEqual(len(objects), 10)
        matched = [summary["messages"]["matched"] for summary in objects]
        self.assertEqual(matched, sorted(matched))
        self.assertEqual(objects[-1]["messages"]["matched"], 8 * 2000)
        done = text.finish(10)
        self.assertWorked(done)
        self.assertGreaterEqual(done.stdout.lower().count("matched"), 3, done.stdout)

    def test_viewers_that_come_late_leave_and_are_slow(self):
        running, output = self.start_halo(8)
        job = self.box.job_name(running)
        self.box.live_with_messages(job, running)
        viewers = [self.box.start(harness.PCLSCOPE, "watch", job, "--json", "--interval", "100ms") for _ in range(5)]
        time.sleep(0.7)
        viewers[0].process.send_signal(signal.SIGKILL)  # leaves without a word
        viewers[1].process.send_signal(signal.SIGINT)   # leaves politely
        viewers[2].process.send_signal(signal.SIGSTOP)  # reads nothing for a while
        before = self.box.live(job)
        time.sleep(3)
        after = self.box.live(job)
        self.assertLess(after["live"]["age_s"], 1)
        self.assertGreater(after["messages"]["matched"], before["messages"]["matched"] + 1000)
        viewers[2].process.send_signal(signal.SIGCONT)
        self.assertEndsWell(running, output)
        viewers[0].process.wait()
        for viewer in viewers[1:]:
            self.assertWorked(viewer.finish(10))

    def test_viewer_stopped_for_ever_does_not_hold_the_job(self):
        running, output = self.start_halo(3)
        viewer = self.box.start(harness.PCLSCOPE, "watch", self.box.job_name(running), "--json", "--interval", "100ms")
        time.sleep(0.5)
        viewer.process.send_signal(signal.SIGSTOP)
        self.assertEndsWell(running, output, timeout=15)
        viewer.process.kill()
        viewer.finish(5)

    def test_watching_a_job_that_is_over(self):
        running, output = self.start_halo(0.5)
        job = self.box.job_name(running)
        self.assertEndsWell(running, output)
        self.assertRefused(self.box.pclscope("watch", job), 1, job)
        self.assertRefused(self.box.pclscope("watch"), 1, "no running job")

    def test_published_on_tcp(self):
        endpoint = f"tcp://127.0.0.1:{free_port()}"
        running, output = self.start_halo(4, options=("--publish", endpoint))
        summary = self.box.live_with_messages(self.box.job_name(running), running)
        self.assertLess(summary["live"]["age_s"], 1)
        self.assertEqual(self.box.live(endpoint)["application"]["ranks"], 4)
        key, = self.box.runtime.glob("**/curve.key")
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        self.assertEndsWell(running, output)

    def test_nonsense_on_the_tcp_ports(self):
        port = free_port()
        running, output = self.start_halo(4, options=("--publish", f"tcp://127.0.0.1:{port}"))
        job = self.box.job_name(running)
        self.box.live_with_messages(job, running)
        for number in (port, port + 1):
            for noise in (b"GET / HTTP/1.1\r\n\r\n", os.urandom(4096), b"\xff" + bytes(8) + b"\x7f" + os.urandom(64)):
                with socket.create_connection(("127.0.0.1", number), timeout=2) as connection:
                    connection.sendall(noise)
        silent = socket.create_connection(("127.0.0.1", port), timeout=2)  # connects and says nothing
        self.addCleanup(silent.close)
        self.assertLess(self.box.live(job)["live"]["age_s"], 1)
        self.assertEndsWell(running, output)

    def test_aggregator_rests_when_there_is_nothing_to_do(self):
        running = self.box.start_traced(2, harness.program("crash", harness.MPIS[0]), "exit", "10", "0", "0", "5000")
        job = self.box.job_name(running)
        self.box.live_with_messages(job, running, at_least=20)
        ours = [pid for pid, command in self.box.processes() if "/pclscope-aggregator-" in command.split()[0]]
        self.assertTrue(ours)
        time.sleep(0.5)
        before, began = sum(map(cpu_seconds, ours)), time.monotonic()
        time.sleep(2.5)
        share = (sum(map(cpu_seconds, ours)) - before) / (time.monotonic() - began)
        self.assertLess(share, 0.10, "share of a core")
        self.assertWorked(running.finish(30))


if __name__ == "__main__":
    harness.main()
