"""How long does a question about the dependency graph of a running job take? The CG pattern on 16 ranks (Open MPI),
asked for all ranks and a period of about 5,000 messages (10,000 events), from the command's start to its end.

    run.py [--build DIR] [--questions 20]

Each answer is checked: every message is one edge or inside one node, and edges go forward. Prints the median and the
worst time of the whole command and what of it is the command's own start (`pclscope list`, in turn).
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WANTED = 5000


def check(dag):
    inside = 0
    for index, node in enumerate(dag["nodes"]):
        inside += sum(1 for m in node["sent"] if m["other_node"] == index)
    edges = sum(e["messages"] for e in dag["edges"])
    if edges + inside != dag["messages"] or any(e["from"] >= e["to"] for e in dag["edges"]):
        sys.exit(f"run.py: wrong graph: {edges} + {inside} of {dag['messages']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--questions", type=int, default=20)
    args = parser.parse_args()
    pclscope = os.path.join(args.build, "bin", "pclscope")
    with tempfile.TemporaryDirectory(prefix="pcl-") as runtime:
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           XDG_RUNTIME_DIR=runtime)

        def timed(*words):
            began = time.monotonic()
            done = subprocess.run([pclscope, *words], env=environment, capture_output=True, text=True, check=False)
            seconds = time.monotonic() - began
            if done.returncode != 0:
                sys.exit(f"run.py: {' '.join(words)}: {done.stderr.strip()}")
            return seconds, json.loads(done.stdout)

        program = os.path.join(args.build, "tests", "programs", "cg_pattern-openmpi")
        job = subprocess.Popen([pclscope, "run", "-q", "-n", "16", "--", program, "100000", "1024", "1000"],
                               env=environment)
        try:
            time.sleep(4)
            name = timed("list", "--json")[1]["jobs"][0]["name"]
            period = 1.0
            for _ in range(6):  # how long a period has so many messages
                count = timed("inspect", name, "dag", "--from", f"-{period}", "--json")[1]["messages"]
                period = min(max(period * WANTED / max(count, 1), 0.1), 20.0)
                time.sleep(0.3)
            questions, starts, messages = [], [], []
            for _ in range(args.questions):
                seconds, dag = timed("inspect", name, "dag", "--from", f"-{period:.2f}", "--json")
                check(dag)
                questions.append(seconds)
                messages.append(dag["messages"])
                starts.append(timed("list", "--json")[0])
                time.sleep(0.2)
        finally:
            job.terminate()
            job.wait()
    print(f"{statistics.median(messages):.0f} messages per question: median "
          f"{statistics.median(questions) * 1e3:.0f} ms, worst {max(questions) * 1e3:.0f} ms; "
          f"of this the command's start {statistics.median(starts) * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
