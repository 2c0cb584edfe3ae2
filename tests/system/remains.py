"""What jobs leave behind: processes found by a mark in their environment, files in /dev/shm."""
import pathlib

SHARED_MEMORY = pathlib.Path("/dev/shm")
PROCESSES = pathlib.Path("/proc")


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
