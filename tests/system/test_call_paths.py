"""Call paths: the tree of a program whose calls are known, and callers in place of wrappers.
Depends on: launcher."""
import collections

import harness
from harness import on_one_mpi
from test_call_sites import marked_lines

ROUNDS, RANKS = 5, 4
FILE = "call_paths.c"


def paths_of(node, above=()):
    """{(frame, frame, ...): calls}: "function:line" from outside in, then the MPI function."""
    found = collections.Counter()
    for callee in node["callees"]:
        place = callee["place"]
        path = (*above, callee["function"] if place is None else f"{callee['function']}:{place.split(':')[-1]}")
        if not callee["callees"]:
            found[path] += callee["calls"]
        found += paths_of(callee, path)
    return found


class CallPaths(harness.SystemTest):
    made = {}

    def dump_of(self, mpi, *options):
        key = (mpi, options)
        path = self.box.directory / "paths.h5"
        if key not in self.made:
            self.assertWorked(self.box.traced(RANKS, harness.program("call_paths", mpi), str(ROUNDS), "20000",
                                              options=("--dump", path, *options)))
            self.made[key] = path.read_bytes()
        path.write_bytes(self.made[key])
        return path

    def expected(self):
        at = marked_lines(FILE)
        source = (harness.SOURCE / "tests" / "programs" / FILE).read_text().splitlines()
        line = {text.strip().split(";")[0]: number for number, text in enumerate(source, 1)}
        in_main = lambda call: f"main:{line[call]}"
        sums = next(number for number, text in enumerate(source, 1) if "REQUIRE(step_c()" in text)
        sending, receiving = line["if (rank % 2 == 0) layer_send(rank + 1)"], line["else layer_receive(rank - 1)"]
        transfer = {"MPI_Send": (f"transfer:{sending}", f"layer_send:{at['send']}"),
                    "MPI_Recv": (f"transfer:{receiving}", f"layer_receive:{at['receive']}")}
        expected = collections.Counter()
        times = ROUNDS * RANKS // 2
        for function, inner in transfer.items():
            end = (*inner, function)
            expected[(in_main("step_a()"), f"step_a:{at['step_a']}", *end)] = times
            for mark in ("step_b late", "step_b"):
                expected[(in_main("step_b(sleep_us)"), f"step_b:{at[mark]}", *end)] = times
            deeper = (in_main("recurse(3)"),)
            for _ in range(3):
                expected[(*deeper, f"recurse:{at['recurse']}", *end)] = times
                deeper = (*deeper, f"recurse:{at['deeper']}")
        for step in ("step_c", "step_d", "step_e"):
            expected[(f"main:{sums}", f"{step}:{at[step]}", f"total:{line['layer_sum(&value, &sum)']}",
                      f"layer_sum:{at['sum']}", "MPI_Allreduce")] = ROUNDS * RANKS
        return expected

    def check_tree(self, tree):
        """Times and calls of a node are those below it."""
        if tree["callees"]:
            self.assertEqual(tree["calls"], sum(callee["calls"] for callee in tree["callees"]))
            self.assertAlmostEqual(tree["inside_s"], sum(callee["inside_s"] for callee in tree["callees"]), places=6)
        for callee in tree["callees"]:
            self.check_tree(callee)

    @on_one_mpi("openmpi")
    def test_the_tree_is_that_of_the_program(self, mpi):
        path = self.dump_of(mpi)
        tree = self.box.json("inspect", path, "tree", "--json")["tree"]
        self.check_tree(tree)
        found = paths_of(tree)
        self.assertEqual({p: n for p, n in found.items() if p[-1] in ("MPI_Send", "MPI_Recv", "MPI_Allreduce")},
                         dict(self.expected()))
        functions = self.box.json("inspect", path, "calls", "--json")["functions"]
        self.assertEqual(tree["calls"], sum(f["calls"] for f in functions), functions)
        stacks = self.box.pclscope("inspect", path, "tree", "--folded").stdout.splitlines()
        self.assertEqual(len(stacks), len(found))
        microseconds = sum(int(line.rsplit(" ", 1)[1]) for line in stacks)
        self.assertAlmostEqual(microseconds, tree["inside_s"] * 1e6, delta=len(stacks))

    @on_one_mpi("mpich")
    def test_callers_stand_for_wrappers(self, mpi):
        path = self.dump_of(mpi)
        at = marked_lines(FILE)
        sites = self.box.json("inspect", path, "calls", "--json")["sites"]
        self.assertEqual((sites[0]["function"], sites[0]["line"]), ("step_b", at["step_b late"]), sites[0])
        self.assertEqual({site["function"] for site in sites if site["call"] in ("MPI_Send", "MPI_Recv")},
                         {"step_a", "step_b", "recurse"})
        delays = self.box.json("inspect", path, "delays", "--json")["delays"]
        late = f"{FILE}:{at['step_b late']}"
        self.assertTrue(any(str(delay["site"]).endswith(late) for delay in delays[:2]), delays[:2])
        # Who says so names other wrappers.
        skipped = self.box.json("inspect", path, "calls", "--json", "--skip", "step_b")["sites"]
        self.assertEqual(skipped[0]["function"], "main", skipped[0])

    @on_one_mpi("openmpi")
    def test_paths_are_as_long_as_told_to(self, mpi):
        tree = self.box.json("inspect", self.dump_of(mpi, "--stacks", "0"), "tree", "--json")["tree"]
        self.assertEqual({len(path) for path in paths_of(tree)}, {2})
        tree = self.box.json("inspect", self.dump_of(mpi, "--stacks", "3"), "tree", "--json")["tree"]
        self.assertEqual(max(len(path) for path in paths_of(tree)), 4)


if __name__ == "__main__":
    harness.main()
