"""Another user of the same machine, while a job runs: sees nothing, disturbs nothing.

The stranger is a numeric user without an account and without groups. Acting as him takes root; skipped otherwise.
What is tested here is written down in docs/security.md. Depends on: launcher.
"""
import json
import os
import pathlib
import re
import select
import shutil
import socket
import stat
import subprocess
import time
import unittest

import harness
import remains
import test_live

STRANGER = 60001
SHARED_MEMORY = pathlib.Path("/dev/shm")


class Stranger:
    """Runs commands as another user, in a directory and an environment of his own."""

    def __init__(self, box):
        self.directory = box.directory / "stranger"
        self.directory.mkdir()
        os.chown(self.directory, STRANGER, STRANGER)
        os.chmod(self.directory, 0o700)
        os.chmod(box.directory, 0o755)  # he may look for what is inside
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C",
                            "HOME": str(self.directory), "XDG_RUNTIME_DIR": str(self.directory),
                            "PCLSCOPE_SHARED": str(self.directory / "pclscope")}

    def run(self, *command, timeout=harness.PATIENCE, **variables):
        command = [str(word) for word in command]
        began = time.monotonic()
        done = subprocess.run(["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", *command],
                              cwd=self.directory, env={**self.environment, **variables}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=timeout, check=False)
        return harness.Finished(command, done.returncode, done.stdout, done.stderr, time.monotonic() - began)

    def python(self, program, *arguments, timeout=harness.PATIENCE):
        """What the program prints as JSON."""
        done = self.run("/usr/bin/python3", "-c", program, *arguments, timeout=timeout)
        if done.code != 0:
            raise AssertionError(str(done))
        return json.loads(done.stdout)


# Of every path given: what one may do with it. "enter" and "list" are for directories.
TRY_FILES = """
import json, os, sys
can = {}
for path in sys.argv[1:]:
    for name, flags in (("read", os.O_RDONLY), ("write", os.O_WRONLY), ("both", os.O_RDWR),
                        ("truncate", os.O_WRONLY | os.O_TRUNC)):
        try:
            os.close(os.open(path, flags | os.O_NONBLOCK))
            can.setdefault(path, []).append(name)
        except OSError:
            pass
    for name, attempt in (("list", os.listdir), ("unlink", os.unlink), ("rename", lambda p: os.rename(p, p + ".taken")),
                          ("chmod", lambda p: os.chmod(p, 0o666))):
        try:
            attempt(path)
            can.setdefault(path, []).append(name)
        except OSError:
            pass
print(json.dumps(can))
"""

CONNECT_UNIX = """
import json, socket, sys
let_in = []
for path in sys.argv[1:]:
    with socket.socket(socket.AF_UNIX) as s:
        try:
            s.connect(path)
            let_in.append(path)
        except OSError:
            pass
print(json.dumps(let_in))
"""

# At each port: nonsense, half a handshake, a whole one without encryption, silence, thousands of connections.
# Says how much was heard at most, and how many connections there were.
KNOCK = """
import json, os, random, resource, socket, sys, time
wanted, ports = int(sys.argv[1]), [int(p) for p in sys.argv[2:]]
chance = random.Random(int(os.environ["SEED"]))
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
greeting = lambda mechanism: b"\\xff" + bytes(7) + b"\\x01\\x7f\\x03\\x01" + mechanism.ljust(20, b"\\0") + bytes(32)
words = [b"", b"GET / HTTP/1.1\\r\\n\\r\\n", chance.randbytes(3000),
         greeting(b"NULL") + b"\\x04\\x19\\x05READY\\x0bSocket-Type\\0\\0\\0\\x03SUB",
         greeting(b"CURVE"), greeting(b"CURVE") + b"\\x04\\xc8\\x05HELLO\\x01" + chance.randbytes(193),
         greeting(b"PLAIN") + b"\\x04\\x05\\x05HELLO",
         greeting(b"CURVE") + b"\\x06\\x7f" + b"\\xff" * 7]
most = b""
for port in ports:
    for word in words:
        s = socket.create_connection(("127.0.0.1", port), timeout=240)
        s.settimeout(0.2)
        heard = b""
        try:
            s.sendall(word)
            while part := s.recv(4096):
                heard += part
        except OSError:
            pass
        most = max(most, heard, key=len)
        s.close()
open_connections, made = [], 0
for i in range(wanted):
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex(("127.0.0.1", ports[i % len(ports)]))
    made += 1
    open_connections.append(s)
    if i % 3 == 1:
        try:
            s.send(greeting(b"CURVE")[:1 + i % 64])
        except OSError:
            pass
    if i % 100 == 99:
        time.sleep(0.01)
print(json.dumps({"heard": most.hex(), "made": made}), flush=True)
sys.stdin.read()  # until we are told to go
"""


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


@unittest.skipUnless(os.getuid() == 0, "only root can act as another user")
@unittest.skipUnless(shutil.which("setpriv"), "setpriv (util-linux) is not there")
class Strangers(harness.SystemTest):
    def setUp(self):
        super().setUp()
        self.stranger = Stranger(self.box)
        if self.stranger.run(harness.PCLSCOPE, "--version").code != 0:
            self.skipTest("another user cannot reach the build folder")

    def start_job(self, mpi, tcp=True):
        """(running, port, name of the job); it goes on until assertEndsWell()."""
        port = test_live.free_port()
        self.dump = self.box.directory / "run.h5"
        options = ["--dump", str(self.dump)] + (["--publish", f"tcp://127.0.0.1:{port}"] if tcp else [])
        before = os.umask(0)  # the careless user's: nothing may depend on it
        running = self.box.start_traced(4, harness.program("halo2d", mpi), str(10**6), "32", "8000",
                                        self.box.until(), options=options)
        os.umask(before)
        name = self.box.job_name(running)
        self.box.live_with_messages(name, running)
        return running, port, name

    def secrets(self):
        """The running job's token, and the keys: what must be seen nowhere."""
        token = next(variable[13:] for pid, _ in self.box.processes()
                     for variable in remains.environment(pathlib.Path(f"/proc/{pid}"))
                     if variable.startswith(b"PCLSCOPE_JOB=") and len(variable) > 13)
        found = [token]
        for file in self.box.runtime.glob("**/curve.key"):
            found += [line.split()[1].encode() for line in file.read_text().splitlines()[1:]]
        return found

    def assertEndsWell(self, running):
        done = self.box.end(running)
        self.assertWorked(done)
        self.assertIn("checksum", done.stdout)
        return done

    @harness.on_every_mpi
    def test_no_file_socket_or_process_of_a_job_is_open_to_others(self, mpi):
        running, port, name = self.start_job(mpi)
        secrets = self.secrets()
        shm = [str(path) for path in SHARED_MEMORY.glob("pclscope-*")]
        ours = ([str(path) for path in self.box.runtime.glob("**/*")]
                + [str(self.box.runtime / "pclscope"), str(self.dump)])
        ours += [str(path) for path in self.dump.parent.glob(".pclscope-*")]
        self.assertTrue(any(path.endswith("curve.key") for path in ours)
                        and any(path.endswith(".job") for path in ours), ours)
        for path in shm + ours:
            try:
                status = os.lstat(path)
            except FileNotFoundError:
                continue
            self.assertEqual(status.st_uid, os.getuid(), path)
            if not path.startswith(str(self.box.runtime) + "/") or path.endswith((".key", ".job", ".pub", ".ask")):
                self.assertEqual(status.st_mode & 0o077, 0, f"{path} {stat.filemode(status.st_mode)}")
        self.assertEqual(self.stranger.python(TRY_FILES, *shm, *ours), {})
        # Processes: of the tool's own, and of the application's, everything but the command line is closed anyway.
        pids = [pid for pid, _ in self.box.processes()]
        self.assertEqual(self.stranger.python(TRY_FILES, *[f"/proc/{pid}/{what}" for pid in pids
                                                           for what in ("environ", "mem", "fd", "map_files")]), {})
        for pid, _ in self.box.processes():
            try:
                command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            for secret in secrets:
                self.assertNotIn(secret, command)
        # pclscope's own commands tell him nothing.
        self.assertEqual(json.loads(self.stranger.run(harness.PCLSCOPE, "list", "--json").stdout)["jobs"], [])
        for command in (("watch", name, "--once"), ("watch", f"tcp://127.0.0.1:{port}", "--once"),
                        ("inspect", self.dump, "ranks"),
                        ("watch", name, "--once", "XDG"), ("inspect", f"tcp://127.0.0.1:{port}", "dag")):
            variables = {"XDG_RUNTIME_DIR": str(self.box.runtime)} if command[-1] == "XDG" else {}
            done = self.stranger.run(harness.PCLSCOPE, *[word for word in command if word != "XDG"], **variables)
            self.assertNotEqual(done.code, 0, str(done))
            self.assertEqual(len(done.stderr.splitlines()), 1, str(done))
        self.box.live_fresh(name)
        done = self.assertEndsWell(running)
        self.assertEqual(self.dump.stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.stranger.python(TRY_FILES, str(self.dump)), {})
        self.assertNotEqual(self.stranger.run(harness.PCLSCOPE, "inspect", self.dump, "ranks").code, 0)
        written = self.dump.read_bytes() + done.stdout.encode() + done.stderr.encode()
        for secret in secrets:
            self.assertNotIn(secret, written)

    def test_unix_sockets_let_nobody_else_in(self):
        running, _, name = self.start_job(harness.MPIS[0], tcp=False)
        sockets = [str(path) for path in self.box.runtime.glob("**/*") if path.is_socket()]
        self.assertEqual(len(sockets), 2, sockets)
        os.chmod(self.box.runtime, 0o755)
        os.chmod(self.box.runtime / "pclscope", 0o755)  # even where the directory is open
        try:
            self.assertEqual(self.stranger.python(CONNECT_UNIX, *sockets), [])
        finally:
            os.chmod(self.box.runtime / "pclscope", 0o700)
            os.chmod(self.box.runtime, 0o700)
        self.box.live_fresh(name)
        self.assertEndsWell(running)

    def test_wrong_key_nonsense_and_10000_connections(self):
        running, port, name = self.start_job(harness.MPIS[0])
        worker, = self.box.aggregator_workers()
        before = descriptors(worker)
        # His own key: `pclscope watch` finds it in his directory.
        theirs = self.stranger.directory / "pclscope"
        theirs.mkdir(mode=0o700)
        (theirs / "curve.key").write_text("pclscope-keys 1\n" + "".join(
            f"{name} {key}\n" for name, key in (("server-public", "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"),
                                                 ("server-secret", "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"),
                                                 ("client-public", "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"),
                                                 ("client-secret", "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"))))
        for path in (theirs, theirs / "curve.key"):
            os.chown(path, STRANGER, STRANGER)
        os.chmod(theirs / "curve.key", 0o600)
        done = self.stranger.run(harness.PCLSCOPE, "watch", f"tcp://127.0.0.1:{port}", "--once")
        self.assertRefused(done, 1, "no news")
        viewer = self.box.start(harness.PCLSCOPE, "watch", name, "--json", "--interval", "200ms")
        environment = {**self.stranger.environment, "SEED": str(self.seed())}
        knocking = subprocess.Popen(["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups",
                                     "/usr/bin/python3", "-c", KNOCK, "10000", str(port), str(port + 1)],
                                    env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(knocking.communicate)
        most, slowest, served = 0, 0.0, []
        while not select.select([knocking.stdout], [], [], 0)[0]:
            most = max(most, descriptors(worker))
            began = time.monotonic()
            served.append(self.box.pclscope("watch", name, "--once").code == 0)
            slowest = max(slowest, time.monotonic() - began)
        # They all stay. Most are cut off long before their handshakes have lasted too long (10 s), as soon as the
        # aggregator's thread for this gets a core: how many there may be until then is up to the system.
        self.box.wait_for("end of most connections", lambda: descriptors(worker) < before + 512 + 50, timeout=8)
        told = json.loads(knocking.communicate()[0].splitlines()[0])
        print(f"descriptors {before}, at most {most} under {told['made']} connections; "
              f"new viewers served {sum(served)} of {len(served)}, slowest {slowest:.2f} s")
        self.assertEqual(told["made"], 10000)
        # ZeroMQ's greeting has 64 bytes, and no word of ours.
        self.assertLessEqual(len(told["heard"]) // 2, 64)
        self.assertNotIn(b"PCLW".hex(), told["heard"])
        # Each tries for 2 s; on a busy machine news may be later. Refused to all while it floods would be a defect, and
        # after it.
        self.assertGreater(sum(served), 0)
        self.box.live_fresh(name)
        done = self.assertEndsWell(running)
        self.assertEqual(done.our_lines(), [], str(done))
        self.assertWorked(viewer.finish())
        lines = [json.loads(line) for line in viewer.output()[0].splitlines()]
        self.assertEqual(lines[-1]["messages"]["matched"], 8 * int(re.search(r"iterations (\d+)", done.stdout)[1]))

    @harness.on_every_mpi
    def test_files_planted_in_shared_memory(self, mpi):
        """A stranger sees the names of a job's files in /dev/shm. He plants what might be looked for next."""
        running, _, name = self.start_job(mpi, tcp=False)
        names = [path.name for path in SHARED_MEMORY.glob("pclscope-*-board")]
        token = self.secrets()[0].decode()
        board, = [n for n in names if token in n]
        stem = board[:-len("board")]
        planted = [f"/dev/shm/{stem}{rank}-{thread}" for rank in range(8) for thread in range(1, 30)]
        planted += [f"/dev/shm/{stem}x{i}" for i in range(200)]
        target = self.stranger.directory / "target"
        plant = self.stranger.python("import json, os, sys\nmade = 0\nos.umask(0)\n"
                                     "open(sys.argv[1], 'wb').write(bytes(4096))\n"
                                     "for i, p in enumerate(sys.argv[2:]):\n"
                                     "  try:\n"
                                     "    if i % 3 == 0: os.symlink(sys.argv[1], p)\n"
                                     "    elif i % 3 == 1: os.mkfifo(p, 0o666)\n"
                                     "    else: os.close(os.open(p, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)); "
                                     "os.truncate(p, 4096 + 65536)\n"
                                     "    made += 1\n"
                                     "  except OSError: pass\n"
                                     "print(json.dumps(made))", target, *planted)
        self.addCleanup(lambda: [pathlib.Path(path).unlink(missing_ok=True) for path in planted])
        self.assertGreater(plant, 300)
        self.box.live_fresh(name)
        done = self.assertEndsWell(running)
        self.assertLess(len(done.our_lines()), 30, str(done))
        self.assertNotIn(token, done.stderr)
        self.assertEqual(target.read_bytes(), bytes(4096))  # nobody wrote through a link
        [pathlib.Path(path).unlink(missing_ok=True) for path in planted]

    def test_runtime_directory_taken_by_a_stranger(self):
        """Where there is no session directory, and somebody else made /tmp/pclscope-UID first."""
        there = pathlib.Path(f"/tmp/pclscope-{os.getuid()}")
        if there.is_dir() and not there.is_symlink() and not any(there.iterdir()):
            there.rmdir()
        if there.exists() or there.is_symlink():
            self.skipTest(f"{there} is in use")
        command = self.box.traced_command(2, harness.program("halo2d", harness.MPIS[0]), "10", "8", "0")
        session = self.box.environment.pop("XDG_RUNTIME_DIR")
        for make in (f"mkdir -m 777 {there}", f"ln -s {self.stranger.directory} {there}", f"touch {there}",
                     f"mkfifo -m 666 {there}"):
            with self.subTest(make=make):
                self.assertEqual(self.stranger.run("sh", "-c", make).code, 0)
                try:
                    done = self.box.run(*command)
                    self.assertRefused(done, 1, str(there), "XDG_RUNTIME_DIR")
                    self.assertRefused(self.box.pclscope("list"), 1, "XDG_RUNTIME_DIR")
                    inside = there.is_dir() and [path.name for path in there.iterdir()]
                    self.assertFalse(inside, inside)
                finally:
                    if there.is_dir() and not there.is_symlink():
                        there.rmdir()
                    else:
                        there.unlink()
        self.box.environment["XDG_RUNTIME_DIR"] = session  # the way out that the line names
        self.assertWorked(self.box.run(*command))

    def test_plain_tcp_and_open_key_files_are_refused(self):
        port = test_live.free_port()
        folder = self.box.runtime / "shared"
        folder.mkdir(mode=0o700)
        key = folder / "curve.key"
        key.write_text("pclscope-keys 1\n")
        key.chmod(0o644)
        done = self.box.run(*self.box.traced_command(2, harness.program("halo2d", harness.MPIS[0]), "10", "8", "0",
                                                     options=("--publish", f"tcp://127.0.0.1:{port}")))
        self.assertWorked(done)  # watched from its own node only, and says so; never in clear
        self.assertRegex(done.stderr, r"curve\.key.*closed to others.*instead")
        self.assertEqual(re.findall("tcp://", done.stderr), [])
        done = self.box.pclscope("watch", f"tcp://127.0.0.1:{port}", "--once")
        self.assertRefused(done, 1, "curve.key", "closed to others")

    def test_no_greeting_in_clear(self):
        """What goes over the wire to the owner is encrypted: nothing of the job can be read on the way."""
        running, port, name = self.start_job(harness.MPIS[0])
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(harness.PATIENCE)
            # A man in the middle of the snapshots, with the questions' port taken by nobody: he sees what a viewer
            # sends.
            middle = listener.getsockname()[1]
            viewer = self.box.start(harness.PCLSCOPE, "watch", f"tcp://127.0.0.1:{middle}", "--json")
            with listener.accept()[0] as client, socket.create_connection(("127.0.0.1", port)) as server:
                client.settimeout(0.3)
                server.settimeout(0.3)
                seen, end = b"", time.monotonic() + harness.PATIENCE
                while len(seen) < 20_000 and time.monotonic() < end:  # a handshake, and several snapshots
                    for one, other in (client, server), (server, client):
                        try:
                            part = one.recv(65536)
                        except OSError:
                            continue
                        seen += part
                        try:
                            other.sendall(part)
                        except OSError:
                            pass
            viewer.process.kill()
            viewer.finish()
        self.assertGreaterEqual(len(seen), 20_000)
        for word in (b"PCLW", b"halo2d", name.encode(), str(self.dump).encode()):
            self.assertNotIn(word, seen)
        self.assertEndsWell(running)


if __name__ == "__main__":
    harness.main()
