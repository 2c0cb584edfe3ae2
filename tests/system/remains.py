"""What jobs leave behind: processes found by a mark in their environment, files in /dev/shm."""
import pathlib
import re
import shutil
import subprocess

SHARED_MEMORY = pathlib.Path("/dev/shm")
PROCESSES = pathlib.Path("/proc")
JOB_NAME = 16464  # in a board; tests/interpose/test_layout.cpp ties it to the header


def environment(entry):
    """The variables that a process was started with, as bytes; none when it is gone or not ours."""
    try:
        return (entry / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def marked_processes(mark):
    """(pid, command line) of every process that was started with this variable, orphans too, zombies not."""
    found = []
    for entry in PROCESSES.glob("[0-9]*"):
        if mark.encode() not in environment(entry):
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        if command:
            found.append((int(entry.name), command))
    return found


def mapped_shared_memory(pid):
    """The files in /dev/shm that a process has mapped."""
    try:
        lines = (PROCESSES / str(pid) / "maps").read_text().splitlines()
    except OSError:
        return set()
    return {line.split()[-1] for line in lines if line.split()[-1].startswith(f"{SHARED_MEMORY}/")}


def leftovers():
    """Names of pclscope's files in /dev/shm whose job has no living process."""
    names = [path.name for path in SHARED_MEMORY.glob("pclscope-*")]
    alive = {variable[13:].decode() for entry in (PROCESSES.glob("[0-9]*") if names else ())
             for variable in environment(entry) if variable.startswith(b"PCLSCOPE_JOB=")}
    return [name for name in names if name.split("-")[1] not in alive]


def files_of_dormant(name):
    """Last parts of the names of a preloaded job's files in /dev/shm, of all its nodes here: "board", "nodes", ..."""
    for board in SHARED_MEMORY.glob("pclscope-*-board"):
        try:
            found = board.read_bytes()[JOB_NAME:JOB_NAME + 96].split(b"\0")[0].decode(errors="replace")
        except OSError:
            continue
        if found == name:
            return sorted(path.name.split("-")[-1]
                          for path in SHARED_MEMORY.glob(f"pclscope-{board.name.split('-')[1]}-*"))
    return []


def frames(pid):
    """The innermost functions of a process's threads, by gdb where it is installed."""
    if shutil.which("gdb") is None:
        return ""
    try:
        told = subprocess.run(["gdb", "-p", str(pid), "-batch", "-nx", "-ex", "thread apply all backtrace 9"],
                              capture_output=True, text=True, errors="replace", timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    threads = []
    for part in told.split("\nThread ")[1:3]:
        threads.append(" < ".join(re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?([^ (]+)", part, re.MULTILINE)))
    return "; ".join(threads)


def what_they_do(mark, most=24):
    """A line for each process of a test: for the report of one that does not end."""
    lines = []
    for pid, command in marked_processes(mark)[:most]:
        try:
            state = (PROCESSES / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[0]
            waits = (PROCESSES / str(pid) / "wchan").read_text()
        except OSError:
            continue
        name = " ".join(pathlib.Path(word).name for word in command.split()[:1])
        lines.append(f"{pid} {name} {state} {waits} {frames(pid)}")
    return lines
