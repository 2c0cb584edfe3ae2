"""What nodes are inside, where ranks are bound, and their messages by distance, as the kernel and the ranks say; and
the files and options of `pclscope map` bind ranks where they say, with both launchers.
Depends on: launcher."""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import time

import dump
import harness
import testbed
from harness import on_every_mpi

CORES = sorted(os.sched_getaffinity(0))
TWO_SOCKETS = "synthetic:pack:2 numa:1 l3:1 core:4 pu:2"
# For each rank, the kernel's numbers of where it may run, to a file.
WITNESS = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
sed -n 's/Cpus_allowed_list:[ \t]*//p' /proc/self/status > %s.$rank
exec "$@"
"""


def topology(core, name):
    path = pathlib.Path(f"/sys/devices/system/cpu/cpu{core}/topology/{name}")
    return path.read_text().strip() if path.exists() else None


class Machine(harness.SystemTest):
    def setUp(self):
        super().setUp()
        if len(CORES) < 2 or topology(CORES[0], "core_id") is None:
            self.skipTest("one core, or no topology in /sys")

    def bound(self, mpi):
        return ("--launcher-args", "--bind-to core --map-by core" if mpi == "openmpi" else "-bind-to core")

    def witness(self, name):
        script = self.box.directory / f"witness-{name}"
        script.write_text(WITNESS % (self.box.directory / name))
        script.chmod(0o755)
        return script

    def seen(self, name, ranks):
        return [(self.box.directory / f"{name}.{rank}").read_text().strip() for rank in range(ranks)]

    def run_ring(self, mpi, name, ranks=2, options=(), rounds=200, before=()):
        path = self.box.directory / f"{name}-{mpi}.h5"
        self.assertWorked(self.box.traced(ranks, *before, self.witness(f"{name}-{mpi}"), harness.program("ring", mpi),
                                          str(rounds), "1024", options=("--mpi", mpi, "--dump", path, *options)))
        self.answer = self.box.json("inspect", path, "machine", "--json")
        return path

    @on_every_mpi
    def test_what_the_machine_is(self, mpi):
        path = self.run_ring(mpi, "found", options=self.bound(mpi))
        self.assertEqual(len(self.answer["machines"]), 1)
        machine = self.answer["machines"][0]
        self.assertEqual(machine["hardware_threads"], len(machine["threads"]))
        cores, packages = {}, {}
        for thread in machine["threads"]:  # two have the same number here when they have it in /sys
            package = topology(thread["os"], "physical_package_id")
            self.assertEqual(packages.setdefault(package, thread["package"]), thread["package"])
            core = package, topology(thread["os"], "core_id")
            self.assertEqual(cores.setdefault(core, thread["core"]), thread["core"])
        self.assertEqual((machine["packages"], machine["cores"]), (len(packages), len(cores)))
        self.assertEqual([rank["hardware_threads"] for rank in self.answer["ranks"]], self.seen(f"found-{mpi}", 2))
        self.assertEqual([rank["changes"] for rank in self.answer["ranks"]], [0, 0])
        text = self.box.pclscope("inspect", path, "machine").stdout
        self.assertIn(f"{machine['hardware_threads']} hardware threads", text)

    @on_every_mpi
    def test_messages_by_distance_are_the_whole(self, mpi):
        for name, options, distance in (("cores", self.bound(mpi), None),
                                        ("free", ("--launcher-args", "--bind-to none"), "not-bound")):
            path = self.run_ring(mpi, name, options=options)
            pairs = self.box.json("inspect", path, "traffic", "--json")["traffic"]
            for key in ("messages", "bytes"):
                self.assertEqual(sum(d[key] for d in self.answer["distances"]), sum(p[key] for p in pairs))
            with_messages = [d for d in self.answer["distances"] if d["messages"] > 0]
            self.assertEqual(len(with_messages), 1, self.answer)
            self.assertEqual(with_messages[0]["messages"], 400)
            self.assertGreater(with_messages[0]["mean_s"], 0)
            if distance:
                self.assertEqual(with_messages[0]["distance"], distance)
                self.assertIn("not bound: ranks 0,1", self.box.pclscope("inspect", path, "machine").stdout)
            else:
                self.assertNotIn(with_messages[0]["distance"], ("same-core", "not-bound", "other-node", "not-known"))

    def test_several_aggregators_of_a_node_and_ranks_on_one_core(self):
        self.run_ring("openmpi", "crowd", ranks=4, options=("--aggregators", "2"),
                      before=("taskset", "-c", str(CORES[1])))
        self.assertEqual(self.seen("crowd-openmpi", 4), [str(CORES[1])] * 4)
        self.assertEqual([rank["hardware_threads"] for rank in self.answer["ranks"]], [str(CORES[1])] * 4)
        self.assertEqual(len(self.answer["machines"]), 1)
        self.assertEqual([shared["ranks"] for shared in self.answer["shared_cores"]], [[0, 1, 2, 3]])
        same = [d for d in self.answer["distances"] if d["messages"] > 0]
        self.assertEqual([(d["distance"], d["messages"]) for d in same], [("same-core", 800)])

    def test_a_binding_that_changes(self):
        path = self.box.directory / "changing.h5"
        job = self.box.start_traced(2, harness.program("pairs", "openmpi"), "1000", "64", "0", "1", self.box.until(),
                                    options=("--dump", path, *self.bound("openmpi")))
        name = self.box.job_name(job)
        pids = self.box.wait_for("two ranks", lambda: (lambda p: p if len(p) == 2 else None)(
            self.box.application_ranks("pairs-openmpi")), running=job)
        self.box.wait_for("bindings", lambda: len(self.live_machine(name)) == 2, running=job)
        for pid in pids:
            subprocess.run(["taskset", "-cp", ",".join(map(str, CORES[:2])), str(pid)], check=True,
                           stdout=subprocess.DEVNULL)
        self.box.wait_for("changes", lambda: [r["changes"] for r in self.live_machine(name)] == [1, 1], running=job)
        self.assertWorked(self.box.end(job))
        for rank in self.box.json("inspect", path, "machine", "--json")["ranks"]:
            self.assertEqual(rank["changes"], 1)
            self.assertIn(rank["hardware_threads"], ("-".join(map(str, CORES[:2])), ",".join(map(str, CORES[:2]))))

    def live_machine(self, name):
        done = self.box.pclscope("inspect", name, "machine", "--json")
        time.sleep(0.1)
        return json.loads(done.stdout)["ranks"] if done.code == 0 else []

    def test_an_older_dump_says_that_it_does_not_know(self):
        path = self.box.directory / "old.h5"
        with gzip.open(harness.DATA / "store" / "version_1_1.h5.gz") as packed, open(path, "wb") as file:
            shutil.copyfileobj(packed, file)
        done = self.box.pclscope("inspect", path, "machine")
        self.assertEqual(done.code, 0, done)
        self.assertIn("is not known: a dump of an older version", done.stdout)
        answer = self.box.json("inspect", path, "machine", "--json")
        self.assertEqual((answer["machines"], answer["ranks"], answer["shared_cores"]), ([], [], []))

    @on_every_mpi
    def test_ranks_are_where_the_file_says(self, mpi):
        first = self.run_ring(mpi, "first", options=self.bound(mpi))
        # Turned round, so that what the launcher does by itself would not do.
        slots = self.box.json("map", first, "--json")["inside"]["slot_of_rank"]
        wanted = [str(slot["hardware_thread"]) for slot in slots]
        self.assertEqual(len(set(wanted)), 2)
        if mpi == "openmpi":  # without pclscope, whose aggregator the file has no line for
            lines = self.box.pclscope("map", first, "--format", "openmpi-rankfile")
            self.assertWorked(lines)
            first, second = lines.stdout.splitlines()
            file = self.box.directory / "ranks"
            file.write_text(second.replace("rank 1=", "rank 0=") + "\n" + first.replace("rank 0=", "rank 1=") + "\n")
            self.assertWorked(self.box.run("mpirun.openmpi", "-n", "2", "--rankfile", file,
                                           self.witness("second-openmpi"), harness.program("ring", mpi)))
            for core, threads in zip(reversed(slots), self.seen("second-openmpi", 2)):
                self.assertIn(str(core["hardware_thread"]), threads.replace("-", ",").split(","))
            return
        done = self.box.pclscope("map", first, "--format", "hydra-binding")
        self.assertWorked(done)
        option, _, cores = done.stdout.strip().rpartition(":")
        self.assertEqual(cores.split(","), wanted)
        options = ("--launcher-args", f"{option}:{','.join(reversed(wanted))}")
        self.run_ring(mpi, "second", options=options)
        threads = {t["os"]: t["core"] for t in self.answer["machines"][0]["threads"]}
        for rank, core in zip(self.answer["ranks"], reversed(wanted)):
            self.assertIn(core, [str(os_number) for os_number, of_core in threads.items() if of_core == rank["core"]])
        self.assertEqual([r["hardware_threads"] for r in self.answer["ranks"]], self.seen(f"second-{mpi}", 2))

    @on_every_mpi
    def test_the_wrapper_binds_each_rank(self, mpi):
        first = self.run_ring(mpi, "plain", options=self.bound(mpi))
        script = self.box.directory / "wrapper"
        self.assertWorked(self.box.pclscope("map", first, "--format", "wrapper", "-o", script))
        script.chmod(0o755)
        wanted = [str(s["hardware_thread"]) for s in self.box.json("map", first, "--json")["inside"]["slot_of_rank"]]
        self.run_ring(mpi, "wrapped", options=("--launcher-args", "--bind-to none"), before=(script,))
        self.assertEqual(self.seen(f"wrapped-{mpi}", 2), wanted)
        self.assertEqual([rank["hardware_threads"] for rank in self.answer["ranks"]], wanted)

    def test_a_made_up_machine_with_two_sockets(self):
        """Two groups of four that talk among themselves, numbered alternately: each gets a socket."""
        traffic = self.box.directory / "traffic.txt"
        traffic.write_text("# pclscope traffic 1\n" + "".join(
            f"{a} {b} 10 1000\n" for a in range(8) for b in range(8) if a != b and a % 2 == b % 2))
        answer = self.box.json("map", traffic, "--machine", TWO_SOCKETS, "--json")
        cores = [slot["core"] for slot in answer["inside"]["slot_of_rank"]]
        self.assertEqual(len(set(cores)), 8)
        sockets = [core // 4 for core in cores]
        self.assertEqual(sockets, [sockets[0], sockets[1]] * 4)
        self.assertNotEqual(sockets[0], sockets[1])
        self.assertEqual(answer["inside"]["distances"]["other-package"]["bytes_after"], 0)
        threads = [str(slot["hardware_thread"]) for slot in answer["inside"]["slot_of_rank"]]
        self.assertEqual([int(t) // 2 for t in threads], cores)
        for form, line in (("hydra-binding", "-bind-to user:" + ",".join(threads)),
                           ("slurm-binding", "--cpu-bind=map_cpu:" + ",".join(threads))):
            done = self.box.pclscope("map", traffic, "--machine", TWO_SOCKETS, "--format", form)
            self.assertEqual(done.stdout, line + "\n", done)
        for wrong in ("synthetic:horse:2", "xml:/none", "that"):
            done = self.box.pclscope("map", traffic, "--machine", wrong)
            self.assertEqual(done.code, 1, done)
            self.assertEqual(len(done.our_lines()), 1, done)

    def test_the_network_is_asked_of_slurm(self):
        """scontrol as it would be: it tells, or hangs; only inside a job; and only in the background."""
        folder = self.box.directory / "bin"
        folder.mkdir()
        scontrol = folder / "scontrol"
        self.box.environment["PATH"] = f"{folder}:{self.box.environment['PATH']}"
        asked = self.box.directory / "asked"
        told = f"SwitchName=leaf Level=0 LinkSpeed=1 Nodes={os.uname().nodename},other[01-03]\n"
        options = ("--mpi", "openmpi", "--aggregators", "2", "--launcher-args", "--bind-to none")
        for job, script, answer in (("4711", f"printf '{told}'", told), ("", f"printf '{told}'", ""),
                                    ("4711", "sleep 1000", ""), ("4711", f"printf '{told}'; exit 1", "")):
            scontrol.write_text(f'#!/bin/sh\necho "$@" >> {asked}\n{script}\n')
            scontrol.chmod(0o755)
            asked.unlink(missing_ok=True)
            self.box.environment.pop("SLURM_JOB_ID", None)
            if job:
                self.box.environment["SLURM_JOB_ID"] = job
            path = self.box.directory / "network.h5"
            self.assertWorked(self.box.traced(2, harness.program("ring", "openmpi"),
                                              options=(*options, "--dump", path)))
            self.assertEqual(asked.exists(), bool(job))
            if job:
                self.assertEqual(asked.read_text(), "show topology\n")
            self.assertEqual(dump.text(path, "slurm_topology"), answer)


class Network(testbed.TestbedTest):
    NODES = 4

    def test_ranks_are_placed_below_the_switches_that_slurm_tells_of(self):
        """Ranks 0 and 2, and 1 and 3, talk; their nodes are below different switches."""
        folder = self.box.directory / "bin"
        folder.mkdir()
        scontrol = folder / "scontrol"
        scontrol.write_text("""#!/bin/sh
echo "SwitchName=left Level=0 LinkSpeed=1 Nodes=node[1-2].site.org"
echo "SwitchName=right Level=0 LinkSpeed=1 Nodes=node[3-4].site.org"
echo "SwitchName=top Level=1 LinkSpeed=1 Nodes=node[1-4].site.org Switches=left,right"
""")
        scontrol.chmod(0o755)
        self.box.environment["PATH"] = f"{folder}:{self.box.environment['PATH']}"
        self.box.environment["SLURM_JOB_ID"] = "4711"
        path = self.box.directory / "four.h5"
        self.assertWorked(self.testbed.run(1, harness.program("pairs", "openmpi"), "1", "4096", "0", "2", "1", "3",
                                           options=("--mpi", "openmpi", "--dump", path)))
        machines = self.box.json("inspect", path, "machine", "--json")
        self.assertEqual([len(machine["nodes"]) for machine in machines["machines"]], [4])
        self.assertEqual([rank["rank"] for rank in machines["ranks"]], [0, 1, 2, 3])
        answer = self.box.json("map", path, "--json")
        self.assertEqual(answer["topology"], "Slurm's topology, as the run found it", answer)
        where = [answer["nodes"][node] for node in answer["node_of_rank"]]
        sides = [name in ("node1", "node2") for name in where]
        self.assertEqual(len(set(where)), 4)
        self.assertEqual((sides[0], sides[1]), (sides[2], sides[3]), where)
        self.assertNotEqual(sides[0], sides[1], where)
        self.assertAlmostEqual(answer["after"]["hop_bytes"], answer["before"]["hop_bytes"] / 2)
        known = answer["after"]
        # The same by a file, and an error where a node is missing.
        file = self.box.directory / "topology.conf"
        file.write_text(dump.text(path, "slurm_topology"))
        self.assertEqual(self.box.json("map", path, "--topology", f"slurm:{file}", "--json")["after"], known)
        routed = self.box.json("route", path, "--topology", f"slurm:{file}", "--json")
        self.assertEqual(routed["routes"], 4, routed)
        file.write_text("SwitchName=left Nodes=node[1-3],far\n")
        done = self.box.pclscope("map", path, "--topology", f"slurm:{file}")
        self.assertEqual((done.code, len(done.our_lines())), (1, 1), done)
        self.assertIn("no node 'node4'", done.stderr)


if __name__ == "__main__":
    harness.main()
