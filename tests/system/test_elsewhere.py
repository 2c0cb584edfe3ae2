"""Jobs on other nodes, as a login node finds and reaches them: by announcements in a shared home, over TCP, ssh and
relays; and everything that can be wrong with homes, keys, names, networks and shells.

The nodes are network namespaces; the "login node" is the test itself, with a runtime directory of its own and no MPI
in its PATH.
Depends on: launcher.
"""
import os
import pathlib
import re
import subprocess
import time
import unittest

import harness
import sshd
import testbed

FIREWALL = """table inet pclscope_test {{
  chain in {{
    type filter hook input priority 0;
    iifname "eth0" tcp dport {{ {0}, {1} }} drop
  }}
}}
"""
STRANGER = 54321


class Elsewhere(testbed.TestbedTest):
    NODES = 2

    def setUp(self):
        super().setUp()
        self.job_environment = dict(self.box.environment, SLURM_JOB_ID="4711", SLURM_CLUSTER_NAME="alpha")
        login = self.box.directory / "login"
        login.mkdir(mode=0o700)
        tools = self.box.directory / "tools"  # without any MPI
        tools.mkdir()
        for program in ("ssh", "sh", "cat", "env"):
            found = subprocess.run(["sh", "-c", f"command -v {program}"], capture_output=True, text=True).stdout.strip()
            if found.startswith("/"):
                (tools / program).symlink_to(found)
        self.login_environment = dict(self.box.environment, XDG_RUNTIME_DIR=str(login), PATH=str(tools))

    def start_job(self, *options, slurm_job="4711", program="halo2d"):
        self.box.environment = dict(self.job_environment, SLURM_JOB_ID=slurm_job)
        if not slurm_job:
            del self.box.environment["SLURM_JOB_ID"]
        running = self.testbed.start(2, harness.program(program, "openmpi"), "1000000", "32", "8000", self.box.until(),
                                     options=options)
        running.end_sign = self.box.end_sign
        self.box.environment = self.login_environment
        return running

    def listed(self, count=1, running=None):
        def look():
            jobs = self.box.json("list", "--json")["jobs"]
            return (jobs,) if len(jobs) == count else None
        return self.box.wait_for(f"{count} jobs in the list", look, running=running)[0]

    def reached(self, done, way):
        self.assertWorked(done)
        self.assertRegex(done.stderr, f"over {way}")
        self.assertIn("4 ranks on 2 nodes", done.stdout)

    def watch_once(self, *words):
        return self.box.answer("watch", *words, "--once")

    def end_job(self, running):
        running.end_sign.touch()
        self.assertWorked(running.finish())

    @staticmethod
    def firewall(rules):
        return subprocess.run(["ip", "netns", "exec", "node1", "nft", "-f", "-"], input=rules, text=True,
                              capture_output=True)

    def close_ports(self, job):
        port = int(job["tcp"][0].rsplit(":", 1)[1])
        done = self.firewall(FIREWALL.format(port, port + 1))
        self.assertEqual(done.returncode, 0, done.stderr)

    def shells(self):
        if why := sshd.why_not():
            self.skipTest(f"no secure shells: {why}")
        shells = sshd.Shells(self.box, self.NODES, self.box.environment["PCLSCOPE_SHARED"])
        self.addCleanup(shells.close)
        self.login_environment["PCLSCOPE_SSH"] = shells.client()
        return shells

    def test_over_tcp_with_one_word_and_for_nobody_else(self):
        waiting = self.box.start("env", f"XDG_RUNTIME_DIR={self.login_environment['XDG_RUNTIME_DIR']}",
                                 harness.PCLSCOPE, "watch", "--wait", "--plain", "--interval", "200ms")  # no job yet
        running = self.start_job()
        job, = self.listed(running=running)
        self.assertEqual((job["node"], job["batch_job"], job["cluster"], job["here"], job["state"]),
                         ("node1", "4711", "alpha", False, "recorded"))
        self.box.wait_for("all ranks", lambda: "4 ranks on 2 nodes" in
                          self.watch_once().stdout, running=running)
        for words in ((), (job["name"],), ("4711",), (f"{job['name']}@node1",)):
            done = self.watch_once(*words)
            self.reached(done, f"tcp://(node1|10.77.0.1):")
            print(f"watch {' '.join(words)}: {done.seconds:.2f} s", flush=True)
        self.assertWorked(self.box.answer("inspect", job["name"], "ranks"))
        table = self.box.pclscope("list").stdout
        self.assertRegex(table, r"node1 \(alpha\)\s+4711")
        self.check_strangers(job)
        if os.environ.get("TMPDIR", "").startswith("/mnt"):  # a list of hosts of this test's own (tests/apart)
            hosts = pathlib.Path("/etc/hosts")
            known = hosts.read_text()
            hosts.write_text("".join(line + "\n" for line in known.splitlines() if "node" not in line))
            self.reached(self.watch_once(), "tcp://10.77.0.1:")
            hosts.write_text(known)
        self.box.wait_for("pages", lambda: "matched" in waiting.output()[0], running=waiting)
        self.end_job(running)
        waited = waiting.finish()
        self.assertWorked(waited)
        self.assertIn("waiting for a job of yours", waited.stderr)
        self.assertIn(f"job {job['name']} has finished", waited.stderr)
        self.assertEqual(self.box.json("list", "--json")["jobs"], [])

    def check_strangers(self, job):
        """Another user sees no job, and gets in nowhere, whatever he copies that he can name."""
        home = self.box.directory / "stranger"
        home.mkdir(mode=0o700)
        os.chown(home, STRANGER, STRANGER)
        os.chmod(self.box.directory, 0o755)
        environment = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PATH": "/usr/bin:/bin"}

        def stranger(*words, **more):
            return subprocess.run(["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups",
                                   harness.PCLSCOPE, *words], env={**environment, **more}, text=True,
                                  capture_output=True, timeout=harness.PATIENCE)
        self.assertIn("no running job", stranger("list").stderr)
        shared = self.box.environment["PCLSCOPE_SHARED"]
        refused = stranger("watch", "--once", PCLSCOPE_SHARED=shared)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("Permission denied", refused.stderr)
        for endpoint in (job["tcp"][-1], job["endpoint"]):
            refused = stranger("watch", endpoint, "--once")
            self.assertEqual((refused.returncode, refused.stdout), (1, ""), refused.stderr)
        # The announcement itself, by mistake sent to him: it leads nowhere.
        folder = home / ".pclscope" / "jobs"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in pathlib.Path(shared, "jobs").glob("*.job"):
            (folder / file.name).write_bytes(file.read_bytes())
        for path in (folder.parent, folder, *folder.iterdir()):
            os.chmod(path, 0o700)
            os.chown(path, STRANGER, STRANGER)
        refused = stranger("watch", job["name"], "--once", PCLSCOPE_SSH="/bin/false")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""), refused.stderr)
        self.assertIn("cannot be reached", refused.stderr)
        self.assertIn("no key file", refused.stderr)

    def test_over_ssh_when_a_firewall_swallows_packets(self):
        shells = self.shells()
        tried = self.firewall(FIREWALL.format(1, 2))  # before there is a job that would have to be ended
        if tried.returncode != 0:
            self.skipTest(f"no nftables here: {tried.stderr.strip()[:200]}")
        running = self.start_job()
        job, = self.listed(running=running)
        self.box.wait_for("all ranks", lambda: "4 ranks on 2 nodes" in
                          self.watch_once().stdout, running=running)
        self.assertWorked(self.box.pclscope("key", "--new"))  # the job keeps the old ones
        self.reached(self.watch_once(), "ssh to node1")
        self.close_ports(job)
        done = self.watch_once()
        self.reached(done, "ssh to node1")
        print(f"watch over ssh: {done.seconds:.2f} s", flush=True)
        picture = self.box.directory / "view.png"
        self.assertWorked(self.box.pclscope("view", "--screenshot", picture))
        self.assertGreater(picture.stat().st_size, 10_000)
        # From a desk that shares nothing, through any node.
        self.box.environment = dict(self.login_environment, PCLSCOPE_SHARED="none")
        self.assertRefused(self.watch_once(), 1, "no running job of yours")
        self.reached(self.watch_once("--via", "node2"), "ssh to node2")
        for key, known, advice in (("foreign", "known", "ssh-copy-id node1"),
                                   ("mine", "unknown", "by hand: ssh node1")):
            self.box.environment = dict(self.login_environment, PCLSCOPE_SSH=shells.client(key, known))
            refused = self.watch_once()
            self.assertRefused(refused, 1, "cannot be reached", "nobody answers", advice)
        other = self.box.directory / "other-version"
        other.write_text("#!/bin/sh\necho Welcome\necho 'pclscope-relay 9 9'\nexec cat\n")
        other.chmod(0o755)
        self.box.environment = dict(self.login_environment, PCLSCOPE_SSH=str(other))
        self.assertRefused(self.watch_once(), 1, "of another version", "install the same")
        # The job has died without a word, and its node is gone, or comes back.
        self.box.environment = self.login_environment
        self.box.kill_everything()
        for link in ("down", "up"):
            self.testbed.link(1, link)
            refused = self.watch_once(job["name"])
            self.assertEqual(refused.code, 1, str(refused))
            self.assertIn("cannot be reached", refused.stderr)
        running.finish()
        for file in pathlib.Path(self.box.environment["PCLSCOPE_SHARED"], "jobs").iterdir():
            file.unlink()
        self.box.environment = self.job_environment
        self.box.pclscope("list")  # sweeps what the killed job has left on its node

    def start_dormant(self):
        self.box.environment = self.job_environment
        running = self.box.start("env", harness.preload(harness.library("openmpi")), testbed.script(), "openmpi",
                                 self.NODES, 2, "-x", "LD_PRELOAD", "-x", "PCLSCOPE_SHARED", "-x", "SLURM_JOB_ID",
                                 "-x", "SLURM_CLUSTER_NAME", harness.program("halo2d", "openmpi"), "1000000", "32",
                                 "8000", self.box.until())
        running.end_sign = self.box.end_sign
        self.box.environment = self.login_environment
        return running

    def dormant(self, state, running=None):
        def look():
            return [job for job in self.box.json("list", "--json")["dormant"] if job["state"] == state]
        job, = self.box.wait_for(f"a job that is {state}", look, running=running)
        return job

    def test_dormant_jobs_are_found_and_attached_to_by_ssh(self):
        shells = self.shells()
        running = self.start_dormant()
        job = self.dormant("dormant", running)
        self.assertEqual((job["node"], job["ranks"], job["nodes"], job["batch_job"], job["here"]),
                         ("node1", 4, 2, "4711", False))
        row = rf"{job['name']} +dormant +4 +node1 \+1 +4711"  # unknown, where the node had no time to answer
        self.box.wait_for(row, lambda: re.search(row, self.box.pclscope("list").stdout), running=running)
        for words in (("watch",), ("watch", "4711"), ("inspect", job["name"])):
            self.assertRefused(self.box.pclscope(*words), 1, f"{job['name']} on node1 is dormant",
                               f"pclscope attach {job['name']} begins to record it")
        files = self.box.directory / "files"
        files.mkdir()
        options = ["--launcher-args", self.testbed.launcher_args("openmpi")]
        attached = self.box.run(harness.PCLSCOPE, "attach", "4711", "--dump", "part.h5", *options, directory=files)
        self.assertWorked(attached)
        self.assertIn(f"job {job['name']}: ", attached.stderr)
        job, = self.listed(running=running)
        self.assertEqual((job["state"], job["node"]), ("attached", "node1"))
        # As a job of its allocation: found by its id, and over TCP, though whoever attached came by ssh.
        self.assertEqual((job["batch_job"], job["cluster"], bool(job["tcp"])), ("4711", "alpha", True))
        self.assertEqual(self.box.json("list", "--json")["dormant"], [])
        self.box.wait_for("news", lambda: "4 ranks on 2 nodes" in self.watch_once("4711").stdout, running=running)
        self.assertRefused(self.box.pclscope("attach"), 1, job["name"], "is attached already")
        again = self.box.pclscope("attach", f"{job['name']}@node1")
        self.assertRefused(again, 1, "attached already")
        detached = self.box.run(harness.PCLSCOPE, "detach")
        self.assertWorked(detached)
        self.assertIn("is dormant again", detached.stderr)
        self.assertNotIn("MPI_Finalize", detached.stderr)  # the job goes on
        self.assertGreater(self.box.json("inspect", files / "part.h5", "summary", "--json")["messages"]["matched"], 0)
        self.assertRefused(self.box.pclscope("detach"), 1,
                           job["name"], "is not attached: it is dormant")
        # Where the node does not know the directory: nothing is started, and it is said why.
        self.dormant("dormant", running)
        hidden = self.box.run("/usr/bin/unshare", "-m", "sh", "-c", '/bin/mount -t tmpfs tmpfs "$1" && '
                              '/bin/mkdir "$1/x" && cd "$1/x" && exec "$0" attach --dump x.h5', harness.PCLSCOPE, files)
        self.assertRefused(hidden, 1, "there is no directory", "on node1")
        # Who cannot get in is told that it is not known; what ended badly is forgotten when its node is asked.
        self.box.environment = dict(self.login_environment, PCLSCOPE_SSH=shells.client("foreign", "known"))
        job = self.dormant("unknown", running)
        refused = self.box.pclscope("attach", job["name"])
        self.assertRefused(refused, 1, f"job {job['name']} is on node1", "ssh-copy-id node1")
        self.assertRefused(self.box.pclscope("attach"), 1, "what runs on node1 is not known", "ssh-copy-id node1")
        self.box.environment = self.login_environment
        self.box.kill(self.box.application_ranks("halo2d"))
        running.finish()
        def nothing_listed():
            listed = self.box.json("list", "--json")
            return not listed["jobs"] and not listed["dormant"]
        self.box.wait_for("an empty list", nothing_listed)
        self.assertEqual(list(pathlib.Path(self.box.environment["PCLSCOPE_SHARED"], "jobs").glob("*.dormant")), [])
        # One that ends in order takes its announcement back.
        running = self.start_dormant()
        self.dormant("dormant", running)
        self.end_job(running)
        self.assertEqual(list(pathlib.Path(self.box.environment["PCLSCOPE_SHARED"], "jobs").glob("*.dormant")), [])

    def test_requeued_jobs_are_followed_and_dead_ones_said(self):
        first = self.start_job()
        job, = self.listed(running=first)
        following = self.box.start(harness.PCLSCOPE, "watch", "4711", "--plain", "--interval", "200ms")
        self.box.wait_for("pages", lambda: "matched" in following.output()[0], running=following)
        self.box.environment = self.job_environment
        second = self.start_job()
        self.listed(2, running=second)
        for pid in self.box.aggregator_workers():
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            if job["name"] in command:
                os.kill(pid, 9)
        self.box.wait_for("the next job", lambda: "goes on" in following.output()[1], running=following)
        self.assertIn(f"job {job['name']} is gone from node1; halo2d", following.output()[1])
        self.end_job(first)
        self.end_job(second)
        self.assertWorked(following.finish())

    def test_sites_and_users_who_want_no_port(self):
        config = self.box.directory / "pclscope.conf"
        for setting, options, slurm_job, listed, ports in (
                ("publish = local  # no ports here\n", (), "4711", 1, False),
                ("", ("--publish", "none"), "4711", 0, False),
                ("", (), "", 1, False), ("publish = none\n", ("--publish", "tcp"), "", 1, True)):
            with self.subTest(setting=setting, options=options):
                config.write_text(setting)
                self.job_environment["PCLSCOPE_CONFIG"] = str(config)
                running = self.start_job(*options, slurm_job=slurm_job)
                self.box.wait_for("running ranks", lambda: len(self.box.application_ranks("halo2d")) == 4,
                                  running=running)
                jobs = self.listed(listed, running=running)
                self.assertEqual([bool(job["tcp"]) for job in jobs], [ports] * listed)
                self.end_job(running)
        config.write_text("publish = everywhere\n")
        self.box.environment = dict(self.job_environment)
        self.assertRefused(self.box.pclscope("run", "-n", "1", "--",
                                             harness.program("ring", "openmpi")), 1, str(config), "auto, local or none")


class Homes(harness.SystemTest):
    """One node is enough: what a job and a viewer say of homes that cannot be shared."""

    def run_job(self, *before):
        script = " && ".join([*before, 'exec "$@"'])
        command = self.box.traced_command(2, harness.program("ring", harness.MPIS[0]), "3")
        return self.box.run("unshare", "-m", "sh", "-c", script, "sh", *command)

    @unittest.skipIf(os.getuid() != 0, "mounts need root")
    def test_a_home_that_cannot_be_written_changes_nothing_but_a_line(self):
        home = self.box.directory / "home"
        home.mkdir(mode=0o700)
        self.box.environment.update(HOME=str(home))
        del self.box.environment["PCLSCOPE_SHARED"]
        for what, before, word in (
                ("read-only", f"mount -t tmpfs -o ro tmpfs {home}", "read-only file system"),
                ("full", f"mount -t tmpfs -o size=4k,nr_inodes=1 tmpfs {home}", "no space left"),
                ("open to others", f"mount -t tmpfs -o mode=777 tmpfs {home}", "others can replace"),
                ("not there", f"export HOME={home}/no", "there is no"),
                ("somebody else's", f"mount -t tmpfs -o uid={STRANGER},mode=755 tmpfs {home}", "others can replace")):
            with self.subTest(home=what):
                done = self.run_job(before)
                self.assertWorked(done)
                lines = done.our_lines()
                self.assertLessEqual(len(lines), 1, str(done))
                if lines:  # a short job may be over before the home has answered
                    self.assertIn(word, lines[0].lower(), str(done))
                    self.assertIn("other nodes cannot find the job", lines[0])

    def start_dormant(self, before, name="ring", *words):
        mpi = harness.MPIS[0]
        launch = self.box.bare_command(mpi, 2, "env", harness.preload(harness.library(mpi)), harness.program(name, mpi),
                                       *words)
        return self.box.start("unshare", "-m", "sh", "-c", f'{before}; exec "$@"', "sh", *launch)

    @unittest.skipIf(os.getuid() != 0, "mounts need root")
    def test_dormant_jobs_do_not_mind_what_the_home_is_like(self):
        home = self.box.directory / "home"
        home.mkdir(mode=0o700)
        self.box.environment.update(HOME=str(home))
        del self.box.environment["PCLSCOPE_SHARED"]
        short = self.start_dormant("true", "ring", "3").finish()
        self.assertWorked(short)
        self.assertEqual((short.our_lines(), list(home.iterdir())), ([], []))  # shorter than 2 s: writes nothing
        words = ("1000000", "32", "8000", self.box.until())
        jobs = [self.start_dormant(before, "halo2d", *words) for before in (
            f"mount -t tmpfs -o ro tmpfs {home}", f"mount -t tmpfs -o size=4k,nr_inodes=1 tmpfs {home}",
            f"mount -t tmpfs -o mode=777 tmpfs {home}", f"export HOME={home}/no", "unset HOME",
            f"mount -t tmpfs -o uid={STRANGER},mode=755 tmpfs {home}", "true")]
        self.box.wait_for("the announcement of the last one", lambda: list(home.glob(".pclscope/jobs/*.dormant")),
                          running=jobs[-1])
        self.box.end_sign.touch()
        for running in jobs:
            done = running.finish()
            self.assertWorked(done)
            self.assertEqual(done.our_lines(), [], str(done))
        self.assertEqual([path for path in home.rglob("*") if not path.is_dir()], [])

    def test_two_clusters_on_one_home_and_clocks_apart(self):
        """Files of a node of this one's name that was booted otherwise, and by a clock that is an hour ahead."""
        program = harness.program("halo2d", harness.MPIS[0])
        running = self.box.start_traced(2, program, "1000000", "32", "8000", self.box.until())
        name = self.box.job_name(running)
        folder = pathlib.Path(self.box.environment["PCLSCOPE_SHARED"], "jobs")
        own, = self.box.wait_for("shared announcement", lambda: list(folder.glob("*.job")), running=running)
        host = own.name.split("@")[1].rsplit(".", 2)[0]
        text = own.read_text()
        boot = text.split('"boot_id": "')[1].split('"')[0]
        twin = folder / f"{name}@{host}.deadbeef.job"
        twin.write_text(text.replace(boot, "deadbeef-0"))
        ahead = time.time() + 3600
        os.utime(twin, (ahead, ahead))
        jobs = self.box.json("list", "--json")["jobs"]
        self.assertEqual(sorted(job["here"] for job in jobs), [False, True])
        self.assertEqual([job["silent_s"] for job in jobs], [0, 0])
        twin.unlink()
        self.assertWorked(self.box.end(running))


if __name__ == "__main__":
    harness.main()
