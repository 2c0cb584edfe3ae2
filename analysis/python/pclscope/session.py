"""A running job: its snapshots, as they are published (analysis/wire/FORMAT.md). Needs pyzmq."""
from __future__ import annotations

import json
import os
import pathlib
import socket as sockets
import stat
import struct
import time
from collections.abc import Iterator
from typing import Any

from . import flat
from .columns import VALUES
from .error import Error
from .sites import Site, Sites
from .summary import Summary

SILENCE_S = 45.0  # of a job on another node: then it is taken for dead


def runtime_directory() -> pathlib.Path:
    """Where jobs of this user announce themselves on this node; others must not be able to put anything there."""
    session = os.environ.get("XDG_RUNTIME_DIR")
    directory = pathlib.Path(session) / "pclscope" if session and session.startswith("/") else None
    if directory is None or not directory.parent.is_dir():
        directory = pathlib.Path(f"/tmp/pclscope-{os.geteuid()}")
    if directory.exists() or directory.is_symlink():
        found = directory.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise Error(f"{directory} does not belong to you alone: what is in it cannot be believed")
    return directory


def _is_alive(announced: dict[str, Any]) -> bool:
    try:
        fields = pathlib.Path(f"/proc/{int(announced['aggregator_pid'])}/stat").read_text().rpartition(")")[2].split()
        return int(fields[19]) == int(announced.get("aggregator_start_ticks", fields[19]))
    except (OSError, ValueError, KeyError, IndexError):
        return False


def jobs() -> list[dict[str, Any]]:
    """Your running jobs on this node, as they announce themselves: `name`, `endpoint`, `command`, `ranks` ..."""
    found = []
    for file in sorted(runtime_directory().glob("*.job")):
        try:
            about = file.lstat()
            if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
                continue
            announced = json.loads(file.read_text(encoding="utf-8"))
            if announced["name"] == file.stem and _is_alive(announced):
                found.append(announced)
        except (OSError, ValueError, KeyError, TypeError):
            continue  # it ended this moment
    return sorted(found, key=lambda job: job.get("started_realtime_ns", 0))


def key_file() -> pathlib.Path:
    if named := os.environ.get("PCLSCOPE_KEY_FILE"):
        return pathlib.Path(named)
    shared = os.environ.get("PCLSCOPE_SHARED")
    if shared == "none":
        return runtime_directory() / "curve.key"
    return (pathlib.Path(shared) if shared else pathlib.Path.home() / ".pclscope") / "curve.key"


def _keys() -> dict[str, str]:
    path = key_file()
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise Error(f"cannot read key file {path}: {error.strerror}; it is copied from where the job runs") from None
    with open(descriptor, encoding="ascii", errors="replace") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o077:
            raise Error(f"key file {path} can be read by others, so it is not used: chmod 600 it")
        head, *lines = file.read(4096).splitlines() or [""]
    keys = dict(line.split(None, 1) for line in lines if len(line.split()) == 2)
    if head != "pclscope-keys 1" or not {"server-public", "client-public", "client-secret"} <= keys.keys():
        raise Error(f"key file {path} is damaged")
    return keys


class Snapshot(Summary):
    """The newest state of a running job: the tables of a dump's summary but `dendrogram` and `traffic`, which are in
    dumps only."""

    def __init__(self, frame: bytes, as_pandas: bool | None) -> None:
        tables = flat.read_snapshot(frame)
        _, single = tables.get("values", (0, {}))
        values: dict[str, Any] = {name: type(default)(single[name][0]) if name in single else default
                                  for name, (*_, default) in VALUES.items()}
        values |= {name: single[name][0] if name in single else "" for name in ("job", "command", "mpi")}
        super().__init__(lambda name: flat.rows_of(tables, name), values, lambda: self._made_sites(tables), as_pandas)

    @staticmethod
    def _made_sites(tables: flat.WireTables) -> Sites:
        rows, columns = tables.get("sites", (0, {}))

        def column(name: str, default: Any) -> list[Any]:
            values = columns.get(name)
            return [default] * rows if values is None else list(values)

        numbers = {name: map(int, column(name, 0)) for name in ("id", "offset", "line", "mpi_function", "caller")}
        texts = {name: map(str, column(name, "")) for name in ("module", "function", "file")}
        return Sites(Site(number, module, offset, function, file, line, mpi_function, caller if caller < number else 0)
                     for number, offset, line, mpi_function, caller, module, function, file in zip(
                         *numbers.values(), *texts.values()) if number)

    @property
    def sequence(self) -> int:
        """Number of the snapshot."""
        return self._values["sequence"]

    @property
    def age_s(self) -> float:
        """Between now and the moment until which everything is included."""
        return max(0.0, time.time() - self._values["window_end_realtime_ns"] / 1e9)

    @property
    def ended(self) -> bool:
        """This is the job's last state."""
        return bool(self._values["ended"])


class Session:
    """A connection to a running job. `for snapshot in session:` goes on until the job ends."""

    def __init__(self, target: str | None = None, as_pandas: bool | None = None) -> None:
        try:
            import zmq  # pylint: disable=import-outside-toplevel
        except ImportError:
            raise Error("pyzmq is not installed (python3-zmq): without it there are dumps only") from None
        self._zmq, self._as_pandas = zmq, as_pandas
        self.endpoint = self._endpoint(target)
        self._newest = -1
        self._socket = zmq.Context.instance().socket(zmq.SUB)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.CONFLATE, 1)  # the newest alone: what is older is of no use
        self._socket.setsockopt(zmq.MAXMSGSIZE, flat.FRAME_BYTES)
        self._monitor = None
        try:
            if self.endpoint.startswith("tcp://"):
                keys = _keys()
                self._socket.curve_serverkey = keys["server-public"].encode()
                self._socket.curve_publickey = keys["client-public"].encode()
                self._socket.curve_secretkey = keys["client-secret"].encode()
                self._socket.connect(self.endpoint)
            else:
                self._monitor = self._socket.get_monitor_socket(zmq.EVENT_CONNECTED)
                self._socket.connect(self.endpoint + ".pub")
        except Error:
            self.close()
            raise
        except (zmq.ZMQError, ValueError) as error:
            self.close()
            raise Error(f"cannot connect to {self.endpoint}: {error}") from None
        self._socket.setsockopt(zmq.SUBSCRIBE, b"")

    @staticmethod
    def _endpoint(target: str | None) -> str:
        if target and target.startswith(("ipc:///", "tcp://")):
            return target
        running = jobs()
        fitting = [job for job in running if target in (None, job["name"])]
        if not fitting:
            raise Error("no job of yours runs on this node" if target is None else f"there is no running job {target}")
        return str(fitting[-1]["endpoint"])

    def _check_peer(self) -> None:
        """Nobody is believed but the own user, who listens at the other end of the socket."""
        while self._monitor is not None and self._monitor.poll(0):
            event = self._monitor.recv_multipart()
            try:
                with sockets.socket(fileno=os.dup(struct.unpack_from("=I", event[0], 2)[0])) as peer:
                    _, user, _ = struct.unpack("3i", peer.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, 12))
            except OSError:
                user = -1
            if user != os.geteuid():
                raise Error(f"who answers at {self.endpoint} is another user: not believed")

    def next(self, timeout: float = 10.0) -> Snapshot | None:
        """The next snapshot that is newer than all before; None: none came in this time (s)."""
        until = time.monotonic() + timeout
        while True:
            left = max(0, until - time.monotonic())
            if not self._socket.poll(int(left * 1000)):
                return None
            frame = self._socket.recv()
            self._check_peer()
            snapshot = Snapshot(frame, self._as_pandas)
            if snapshot.sequence > self._newest:
                self._newest = snapshot.sequence
                return snapshot

    def _is_gone(self, silent_s: float) -> bool:
        if not self.endpoint.startswith("ipc://"):
            return silent_s > SILENCE_S
        with sockets.socket(sockets.AF_UNIX) as probe:
            return probe.connect_ex(self.endpoint.removeprefix("ipc://") + ".pub") != 0

    def __iter__(self) -> Iterator[Snapshot]:
        heard = time.monotonic()
        while True:
            snapshot = self.next(1.0)
            if snapshot is None:
                if self._is_gone(time.monotonic() - heard):
                    return
                continue
            heard = time.monotonic()
            yield snapshot
            if snapshot.ended:
                return

    def close(self) -> None:
        if self._monitor is not None:
            self._socket.disable_monitor()
            self._monitor.close(0)
            self._monitor = None
        self._socket.close(0)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
