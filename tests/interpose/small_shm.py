"""Runs one job where /dev/shm is as small as the first argument says (a tmpfs in a mount namespace; needs root).

    small_shm.py SIZE MPI WORDS [NAME=VALUE]    `mischief WORDS`; prints as JSON {"bare": .., "status": .., "out": ..,
                                                "lines": [..], "capacity": [..], "sends": .., "dropped": ..}
"""

import json
import os
import subprocess
import sys

INSIDE = "PCLSCOPE_SMALL_SHM_INSIDE"


def main():
    size, mpi, words, *variables = sys.argv[1:]
    if INSIDE not in os.environ:
        command = f"mount -t tmpfs -o size={size} tmpfs /dev/shm && exec \"$@\""
        again = [sys.executable, "-B", __file__, *sys.argv[1:]]
        return subprocess.run(["unshare", "-m", "sh", "-c", command, "sh", *again],
                              env=dict(os.environ, **{INSIDE: "1"}), check=False).returncode
    import job  # pylint: disable=import-outside-toplevel
    # MPI's own shared memory goes elsewhere.
    elsewhere = {"OMPI_MCA_btl": "self,tcp", "MPIR_CVAR_NOLOCAL": "1", "PCLSCOPE_RING_DIR": "/dev/shm",
                 **dict(word.split("=") for word in variables)}
    command = [job.program("mischief", mpi), *words.split()]
    bare = job.launch(mpi, 1, command, tools=0, job=False, preload=False, **elsewhere)
    result = job.launch(mpi, 1, command, tools=0, **elsewhere)
    print(json.dumps({"bare": bare.status, "status": result.status, "out": result.out,
                      "lines": [line for line in result.err.splitlines() if "pclscope" in line],
                      "capacity": [s.capacity for s in result.segments],
                      "dropped": sum(s.dropped for s in result.segments),
                      "sends": sum(e.kind == "send" for s in result.segments for e in s.events)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
