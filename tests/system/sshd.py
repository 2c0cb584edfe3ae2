"""Secure shells on the testbed's nodes: each has a server of its own, keys and known hosts are the test's."""
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import time

import harness

# Installed, or only unpacked by ci/setup.
SERVERS = ("/usr/sbin/sshd", str(harness.SOURCE / "build" / "tools" / "usr" / "sbin" / "sshd"))
SERVER = """Port 22
HostKey {0}/host
AuthorizedKeysFile {0}/authorized
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
PermitRootLogin yes
PidFile none
SetEnv PCLSCOPE_SHARED={1} PCL_TEST_MARK={2} PCLSCOPE_SSH={0}/ssh XDG_RUNTIME_DIR={3}
"""
CLIENT = """Host *
  IdentityFile {0}/mine
  IdentitiesOnly yes
  UserKnownHostsFile {0}/known
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
"""


def server():
    return next((program for program in SERVERS if os.access(program, os.X_OK)), None)


def why_not():
    missing = [program for program in ("ssh", "ssh-keygen") if shutil.which(program) is None]
    if missing or server() is None:
        return f"there is no {missing[0] if missing else 'sshd'}"
    if not has_user() and not apart():
        return "there is no user sshd, and the test is not kept apart (tests/apart)"
    return None


def has_user():
    try:
        return pwd.getpwnam("sshd") is not None
    except KeyError:
        return False


def apart():
    return os.environ.get("TMPDIR", "").startswith("/mnt")


def make_users(directory):
    """For this test alone: in a copy of the list of users. Who logs in gets a shell that reads no start-up files: those
    of whoever runs the tests may take a minute, or wait for a lock."""
    before = pathlib.Path("/etc/passwd").read_text()
    text = re.sub(r"(?m)^(root:.*):[^:]*$", r"\1:/bin/sh", before)
    if text == before and has_user():
        return  # by an earlier test of this process
    if not has_user():
        text += "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n"
    users = directory / "passwd"
    users.write_text(text)
    subprocess.run(["mount", "--bind", users, "/etc/passwd"], check=True)


class Shells:
    """`client()`: the words of an ssh that gets in."""

    def __init__(self, box, nodes, shared):
        self.box, self.directory = box, box.directory / "ssh"
        self.directory.mkdir(mode=0o700)
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        if apart():
            make_users(self.directory)
        for name in ("host", "mine", "foreign"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.directory / name], check=True)
        shutil.copy(self.directory / "mine.pub", self.directory / "authorized")
        (self.directory / "server").write_text(SERVER.format(self.directory, shared, box.mark, box.runtime))
        (self.directory / "ssh").write_text(f'#!/bin/sh\nexec {self.client()} "$@"\n')
        (self.directory / "ssh").chmod(0o755)
        host_key = " ".join((self.directory / "host.pub").read_text().split()[:2])
        (self.directory / "known").write_text("".join(f"node{i + 1} {host_key}\n" for i in range(nodes)))
        self.servers = [subprocess.Popen(["ip", "netns", "exec", f"node{i + 1}", "unshare", "--uts", "sh", "-c",
                                          'hostname "$0"; exec "$@"', f"node{i + 1}", server(), "-D", "-f",
                                          self.directory / "server"], stderr=subprocess.DEVNULL)
                        for i in range(nodes)]
        for i in range(nodes):
            self.await_server(i + 1)

    def await_server(self, node):
        end = time.monotonic() + harness.PATIENCE
        while subprocess.run([*self.client().split(), f"node{node}", "true"], capture_output=True).returncode != 0:
            assert time.monotonic() < end, f"no sshd on node{node}"
            time.sleep(0.05)

    def client(self, key="mine", known="known"):
        config = self.directory / f"client-{key}-{known}"
        config.write_text(CLIENT.format(self.directory).replace("/mine", f"/{key}").replace("/known", f"/{known}"))
        return f"ssh -F {config}"

    def close(self):
        for server in self.servers:
            server.terminate()
        for server in self.servers:
            server.wait()
