"""A real Slurm for one test: munged, slurmctld and a slurmd for each node, with a key, sockets, folders and logs of its
own, in the test's own namespaces (tests/apart). Ready in about two seconds; the namespaces end it with the test.

The programs are the installed ones, or those that ci/setup unpacked into build/tools/slurm: the packages would start
services on the machine.
"""
import os
import pathlib
import shutil
import socket
import subprocess


import harness

UNPACKED = harness.SOURCE / "build" / "tools" / "slurm"
PROGRAMS = ("munged", "slurmctld", "slurmd", "slurmstepd", "srun", "sbatch", "salloc", "scontrol", "scancel", "squeue")

CONFIGURATION = """ClusterName=pcltest
SlurmctldHost={controller}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
MpiDefault={mpi_default}
ProctrackType=proctrack/linuxproc
TaskPlugin={task_plugin}
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
KillWait=10
InactiveLimit=0
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Programs that are not installed."""
    return [program for program in PROGRAMS if shutil.which(program, path="/usr/sbin:/usr/bin") is None]


def use_unpacked():
    """Lays what ci/setup unpacked over /usr, in this test's mount namespace alone; once."""
    if missing():
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", f"lowerdir={UNPACKED}/usr:/usr", "/usr"], check=True)


def why_not():
    """Why there can be no Slurm here; None when there can be one."""
    if missing() and not (UNPACKED / "usr" / "sbin" / "slurmctld").exists():
        return f"there is no {missing()[0]} (ci/setup unpacks it)"
    if not os.environ.get("TMPDIR", "").startswith("/mnt"):
        return "the test is not kept apart (tests/apart)"
    return None


class Slurm:
    """`nodes`: names; one is this machine, several are the testbed's (node1, node2 ...)."""

    def __init__(self, box, nodes=("slurm1",), cores=8, mpi_default="none", task_plugin="task/none"):
        self.box, self.nodes = box, nodes
        self.folder = pathlib.Path(os.environ["TMPDIR"]) / "slurm"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o755)
        (self.folder / "state").mkdir()
        self.daemons = []
        self.several = len(nodes) > 1
        # The testbed's bridge has an address that all nodes reach.
        self.controller, address = ("control", "10.77.0.254") if self.several else (nodes[0], "127.0.0.1")
        socket.sethostname(self.controller)
        with open("/etc/hosts", "a", encoding="utf-8") as hosts:
            hosts.write(f"{address} {self.controller}\n")
        use_unpacked()
        self.environment = box.environment
        self.environment["SLURM_CONF"] = str(self.folder / "slurm.conf")
        self.environment.pop("SLURM_JOB_ID", None)
        named = "\n".join(f"NodeName={node} CPUs={cores} Boards=1 SocketsPerBoard=1 CoresPerSocket={cores}"
                          for node in nodes)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            controller=self.controller, folder=self.folder, mpi_default=mpi_default, task_plugin=task_plugin,
            nodes=named))
        (self.folder / "mpi.conf").write_text("PMIxCliTmpDirBase=/run/pmix\n" if self.several else "")
        try:
            self.start_daemons()
        except BaseException:
            self.end_daemons()
            raise

    def start_daemons(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        of = self.folder
        self.daemon(["/usr/sbin/munged", "--foreground", f"--key-file={key}", f"--socket={of}/munge.socket",
                     f"--pid-file={of}/munged.pid", f"--log-file={of}/munged.log", f"--seed-file={of}/munged.seed",
                     "--num-threads=4"])
        self.box.wait_for("munged", (of / "munge.socket").exists)
        self.daemon(["/usr/sbin/slurmctld", "-D"])
        for node in self.nodes:
            words = ["/usr/sbin/slurmd", "-D", "-N", node]
            if self.several:  # `ip netns exec` mounts /sys anew, and slurmd fails; PMIx has a folder per node
                words = ["nsenter", f"--net=/run/netns/{node}", "unshare", "--uts", "--mount", "sh", "-c",
                         'hostname "$0"; mkdir -p /run/pmix; mount -t tmpfs none /run/pmix; exec "$@"', node, *words]
            self.daemon(words)
        self.box.wait_for("idle nodes", self.all_idle)

    def daemon(self, words):
        name = f"{pathlib.Path(str(words[0])).name}-{len(self.daemons)}"
        # Not the test's own mark: they stay until it has looked for what its jobs left.
        environment = {key: value for key, value in self.environment.items() if key != "PCL_TEST_MARK"}
        with open(self.folder / f"{name}.output", "wb") as output:
            self.daemons.append(subprocess.Popen([str(word) for word in words], env=environment, stdout=output,
                                                 stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                                 start_new_session=True))

    def all_idle(self):
        died = [daemon for daemon in self.daemons if daemon.poll() is not None]
        assert not died, f"{died[0].args} ended ({died[0].returncode}):\n{self.logs()}"
        told = self.box.run("sinfo", "-h", "-N", "-o", "%T").stdout.split()
        return len(told) == len(self.nodes) and set(told) == {"idle"}

    def logs(self):
        return "\n".join(f"{file.name}:\n{file.read_text(errors='replace')[-1500:]}"
                         for file in sorted(self.folder.glob("*")) if file.suffix in (".log", ".output"))

    def close(self):
        self.box.run("scancel", "--user=root", "--signal=KILL", "--full", timeout=30)
        self.end_daemons()

    def end_daemons(self):
        """At once: in order they may wait for each other for half a minute, and nobody needs what they would save."""
        for daemon in reversed(self.daemons):
            daemon.kill()
            daemon.wait()

    # --- jobs ---
    def with_status(self, program, status):
        """A script: all ranks run the program and end, the first one a while later, with that status. Where several
        end badly, srun --kill-on-bad-exit ends those that are a moment later, and tells the highest status of all,
        that of a signal: so does a bare one, and so only one may."""
        path = self.folder / f"{pathlib.Path(program).name}-{status}"
        path.write_text(f'#!/bin/sh\n{program} || exit\n[ "$SLURM_PROCID" = 0 ] || exit 0\nsleep 2\nexit {status}\n')
        path.chmod(0o755)
        return path

    def script(self, text):
        """A batch script; `text`: its lines behind the first."""
        path = self.box.next_file("sbatch")
        path.write_text(f"#!/bin/bash\n{text}\n")
        return path

    def submit(self, text, *options):
        """Submits a batch job; returns it. Its output: job.output(), once it is over."""
        out = self.box.next_file("job")
        done = self.box.run("sbatch", "--parsable", f"--output={out}.%a", "--no-requeue" if not any(
            "requeue" in option for option in options) else "--open-mode=append", *options, self.script(text))
        assert done.code == 0, str(done)
        return Job(self, done.stdout.strip(), out)

    def batch(self, text, *options, timeout=harness.PATIENCE):
        """A batch job to its end."""
        return self.submit(text, *options).wait(timeout)


class Job:
    def __init__(self, slurm, number, out):
        self.slurm, self.number, self.out = slurm, number, out

    def shown(self):
        """What scontrol tells of each of its parts (of an array, of a heterogeneous job), by name."""
        done = self.slurm.box.run("scontrol", "--oneliner", "show", "job", self.number)
        return [dict(word.partition("=")[::2] for word in line.split()) for line in done.stdout.splitlines()]

    def state(self):
        return {part.get("JobState") for part in self.shown()}

    def wait(self, timeout=harness.PATIENCE):
        """Until all its parts are over."""
        over = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "DEADLINE", "OUT_OF_MEMORY"}
        self.slurm.box.wait_for(f"end of job {self.number}", lambda: self.state() and self.state() <= over, timeout)
        return self

    def statuses(self):
        """Exit statuses of the batch scripts."""
        return [int(part["ExitCode"].partition(":")[0]) for part in self.shown()]

    def output(self):
        return "".join(file.read_text(errors="replace") for file in sorted(self.out.parent.glob(f"{self.out.name}.*")))

    def signal(self, *options):
        done = self.slurm.box.run("scancel", *options, self.number)
        assert done.code == 0, str(done)

    def __str__(self):
        return f"job {self.number}: {self.state()} {self.statuses()}\n{self.output()}\n{self.slurm.logs()}"


