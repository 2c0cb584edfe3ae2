"""Runs a small MPI job with the library preloaded, without the rest of the tool, and reads its segments back.

When a test fails, all its launches can be looked at: PCLSCOPE_KEEP names a folder (../checks.py)."""

import collections
import glob
import os
import re
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading

sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "..")))
import checks  # noqa: E402
from checks import Test, thinned  # noqa: E402,F401  for the tests
import numbering  # noqa: E402
from numbering import NUMBER  # noqa: E402,F401

PATIENCE = 240  # s: only to end what hangs
keeping = threading.Lock()  # launches may run side by side

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("PCLSCOPE_BUILD", os.path.join(SOURCE, "build", "release"))
RESTING = checks.resting(BUILD)
MPIRUN = {"openmpi": os.environ.get("PCLSCOPE_MPIRUN_openmpi", "mpirun.openmpi"),
          "mpich": os.environ.get("PCLSCOPE_MPIRUN_mpich", "mpirun.mpich")}
KINDS = ["none", "call", "send", "recv_post", "recv_done", "recv_cancelled", "recv_freed", "send_cancel_request",
         "send_cancelled", "send_not_cancelled", "collective", "comm_created", "comm_freed", "init", "finalize", "lost",
         "rma", "rma_sync", "file", "control", "unrecorded_sends", "unrecorded_receives", "lost_number",
         "send_done", "neighbour", "awaited", "call_path"]
BY_TIME = ("send_done", "neighbour")  # by how long a call took, by whether it was told before: not on paper
FLAGS = ["nonblocking", "persistent", "posted", "synchronous", "buffered", "ready", "intercomm", "failed", "foreign",
         "unordered", "truncated", "matched_probe", "entered", "unrecorded", "out_of_order", "partitioned",
         "summarised", "of_receives"]
ANY_SOURCE, PROC_NULL, UNKNOWN_RANK, ROOT_SELF, ANY_TAG = -1, -2, -3, -4, -1

Event = collections.namedtuple("Event", "begin end site comm bytes ordinal peer tag kind function flags")
Segment = collections.namedtuple("Segment",
                                 "rank thread world_size capacity dropped state mpi executable events call written")
Result = collections.namedtuple("Result", "status out err segments board")


def node_key(host=socket.gethostname()):
    """As in names in /dev/shm: FNV-1a of the host's name."""
    key = 0x811C9DC5
    for byte in host.encode():
        key = (key ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{key:08x}"


def shm(token):
    """What the paths of a job's files on this node begin with."""
    return f"/dev/shm/pclscope-{token}-{node_key()}-"


def function_names():
    with open(os.path.join(SOURCE, "interpose", "record", "functions.def"), encoding="utf-8") as lines:
        return {int(n): name for n, name in re.findall(r"^PCLSCOPE_FUNCTION\((\d+), (\w+)\)", lines.read(), re.M)}


NAMES = function_names()


def library(mpi):
    return os.path.join(BUILD, "lib", f"libpclscope-{mpi}.so")


def program(name, mpi):
    return os.path.join(BUILD, "tests", "interpose", f"{name}-{mpi}")


def flag_names(bits):
    return {name for i, name in enumerate(FLAGS) if bits >> i & 1}


def begins(data):
    """Numbers of the first events of a segment's rings, as far as they are in use."""
    growths, = struct.unpack_from("<I", data, 1300)
    return [0] + [n for n in struct.unpack_from(f"<{growths}Q", data, 2368) if n != 0]


def written_part(path):
    """A segment up to the end of its newest ring: behind it lies room for larger ones."""
    with open(path, "rb") as file:
        data = file.read(4096)
        if len(data) == 4096:
            capacity, = struct.unpack_from("<Q", data, 16)
            data += file.read(64 * capacity * (2 ** len(begins(data)) - 1))
    return data


def read_segment(path):
    segment = parse_segment(written_part(path))
    return segment and segment._replace(events=[e for e in segment.events if e.kind not in BY_TIME])


def places(begin, capacity, first, head):
    """Places behind the header, in events, of the events from `first` on that are still there."""
    for ring, (start, end) in enumerate(zip(begin, begin[1:] + [head])):
        size = capacity << ring
        for i in range(max(first, start, end - size), min(end, head)):
            yield size - capacity + i % size


def parse_segment(data, first=0, head=None, raw=False):
    """As FORMAT.md says; test_layout ties these offsets to the C++ header. Events from number `first` on, up to `head`
    (default: the segment's own). Events that tell call paths are taken out unless `raw`: sites are return addresses."""
    if len(data) < 4096:
        return None
    magic, _, header_bytes, capacity, rank, size, _, thread, _, _ = struct.unpack_from("<8sIIQiiIIII", data, 0)
    if magic != b"PCLSEG\r\n":
        return None  # its process was killed while making it
    text = lambda at, length: data[at:at + length].split(b"\0")[0].decode()
    written, dropped = struct.unpack_from("<QQ", data, 448)
    head = written if head is None else head
    state, = struct.unpack_from("<I", data, 512)
    call, = struct.unpack_from("<I", data, 608)
    events, paths = [], {}
    for at in places(begins(data), capacity, first, head):
        fields = struct.unpack_from("<QQQQQQiiHHI", data, header_bytes + 64 * at)
        *numbers, kind, function, flags = fields
        event = Event(*numbers, KINDS[kind], NAMES.get(function, "?"), flag_names(flags))
        if event.kind == "call_path" and not raw:  # nothing that happened
            paths.setdefault(event.site, {}).update(enumerate((event.comm, event.bytes, event.ordinal), event.tag))
            continue
        if event.site >> 47 & 1 and event.site in paths:
            event = event._replace(site=paths[event.site][0])  # tests go by the return address
        if event.kind == "collective" and "nonblocking" in event.flags:
            event = event._replace(tag=ANY_TAG)  # how long the call took that completed it
        events.append(event)
    return Segment(rank, thread, size, capacity, dropped, state, text(112, 64), text(176, 256), events, call, written)


def parse_live(memory, first):
    """A mapped segment whose rank goes on writing. Head is read before the events that it counts: a copy of the whole
    may take head last, and events written meanwhile would be blank."""
    head, = struct.unpack_from("<Q", memory, 448)
    return parse_segment(memory, first, head, raw=True)


def read_board(path):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        words = struct.unpack_from("<8I", file.read(32))
    return dict(zip("started initializing finalizing aborting refused change aggregator done".split(), words))


def environment(**more):
    e = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    for name in [n for n in e if n.startswith("PCLSCOPE_")]:
        del e[name]
    e.update(RESTING)
    e.update({k: str(v) for k, v in more.items()})
    return e


def run(line, timeout=PATIENCE, **variables):
    """subprocess.run, except that after the timeout everything the command started is ended, and the test fails."""
    with subprocess.Popen(line, env=environment(**variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)  # a launcher then ends its ranks
            try:
                out, err = process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
            raise checks.Hung(f"did not end within {timeout} s: {line}\n  stdout: {out[-2000:]}\n"
                              f"  stderr: {err[-3000:]}") from None
        return subprocess.CompletedProcess(line, process.returncode, out, err)


def marked(mark):
    """Process numbers of all that were started with PCL_TEST_MARK=mark."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/environ", "rb") as variables:
                if f"PCL_TEST_MARK={mark}".encode() in variables.read().split(b"\0"):
                    found.append(int(number))
        except OSError:  # gone, or not ours
            pass
    return found


def keep(line, told, paths):
    """Writes down what a launch gave, for the case that the test fails. Rings end in zeros: the copies are sparse. Of a
    test with many launches the last ones are kept."""
    earlier = sorted(checks.Hands.current.iterdir())
    sizes = [sum(file.stat().st_size for file in folder.iterdir()) for folder in earlier]
    for place, folder in enumerate(earlier):
        if sum(sizes[place:]) > checks.MOST_BYTES // 2:
            shutil.rmtree(folder)
    number = int(earlier[-1].name.split("-")[1]) + 1 if earlier else 0
    folder = checks.Hands.current / f"launch-{number:05d}"
    folder.mkdir()
    (folder / "told.txt").write_text(f"{line}\n{told}\n")
    for path in paths:
        data = written_part(path) if "-board" not in path else open(path, "rb").read()
        if len(data) <= checks.MOST_BYTES // 8:
            with open(folder / os.path.basename(path), "wb") as copy:
                copy.write(data.rstrip(b"\0"))
                copy.truncate(len(data))


def launch(mpi, ranks, command, token=None, tools=1, preload=True, job=True, timeout=PATIENCE, preloaded=None,
           **variables):
    """Runs `command` on `ranks` ranks, plus one stand-in for the tool; returns a Result. `preload=False`: bare. The
    numbers in the record must be as numbering.py says."""
    token = token or secrets.token_hex(16)
    if job:
        variables.setdefault("PCLSCOPE_JOB", token)
        variables.setdefault("PCLSCOPE_RANKS", ranks)
        variables.setdefault("PCLSCOPE_TOOL_RANKS", tools)
    options = ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"] if mpi == "openmpi" else []
    line = [MPIRUN[mpi]] + options + ["-n", str(ranks)]
    if preload:
        line += ["env", checks.preload(RESTING, preloaded or library(mpi))]
    line += command
    if tools:
        line += [":", "-n", str(tools), program("stand_in", mpi)]
    prefix, done = shm(token), "did not end"
    try:
        done = run(line, timeout=timeout, **variables)
        segments = list(filter(None, [read_segment(p) for p in glob.glob(prefix + "[0-9]*")]))
        board = read_board(prefix + "board")
    finally:
        paths = glob.glob(prefix + "*")
        if checks.Hands.current is not None:
            with keeping:
                keep(line, done, paths)
        for path in paths:
            os.unlink(path)
    segments = sorted(segments) if preload else []
    numbering.check_segments(segments)
    return Result(done.returncode, done.stdout, done.stderr, segments, board)


def end(result):
    """Status and output, without the banner that MPICH's launcher prints or not."""
    return result.status, result.out.partition("\n=====")[0]


def chosen():
    """The MPIs named on the command line (ctest runs one at a time), taken off it before unittest looks; else all."""
    named = [a for a in sys.argv[1:] if a in MPIRUN]
    sys.argv[1:] = [a for a in sys.argv[1:] if a not in MPIRUN]
    return named or [mpi for mpi in MPIRUN if os.path.exists(library(mpi))]


MPIS = chosen()


def mpis():
    return MPIS
