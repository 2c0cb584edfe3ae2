"""The judge of tests/truth/run, on made-up findings: what counts as right, second, not named, wrong or too cheap, and
what a cause costs by the program's clocks. Depends on: nothing."""
import pathlib
import random
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "system")]
import families  # noqa: E402
import job  # noqa: E402
import runs  # noqa: E402
import table  # noqa: E402
import verdict  # noqa: E402
from families.case import Case  # noqa: E402

DEAR = {"share": 0.3, "worst": 0.4}


def finding(cause, ranks=(), confidence=0.9, nodes=()):
    return {"cause": cause, "confidence": confidence, "ranks": list(ranks), "detail": "", "nodes": list(nodes),
            "period": {"begin_s": 0.0, "end_s": 5.0}}


def judged(case, *found, cost=None):
    return verdict.judge(case, {}, list(found), 0.0, cost=DEAR if cost is None else cost)


class Verdicts(unittest.TestCase):
    LATE = Case("late-sender", {}, 4, right=(2,))

    def verdict(self, *found, case=None, cost=None):
        return judged(case or self.LATE, *found, cost=cost)["verdict"]

    def test_the_first_finding_and_its_first_rank(self):
        self.assertEqual(self.verdict(finding("late-sender", (2, 3))), "right")
        self.assertEqual(self.verdict(finding("late-sender", (3, 2))), "wrong ranks")
        self.assertEqual(self.verdict(finding("late-sender")), "wrong ranks")
        self.assertEqual(self.verdict(finding("pattern", (2,))), "wrong")
        self.assertEqual(self.verdict(finding("pattern", (2,)), finding("late-sender", (2,))), "second")
        self.assertEqual(self.verdict(finding("none")), "not named")
        self.assertEqual(self.verdict(), "not named")

    def test_other_names_that_are_as_true(self):
        case = Case("late-sender", {}, 4, right=(2,), also=("collective-wait",))
        self.assertEqual(self.verdict(finding("collective-wait", (2,)), case=case), "right")
        self.assertEqual(self.verdict(finding("collective-wait", (1,)), case=case), "wrong ranks")

    def test_the_node_is_an_end_of_the_worst_link(self):
        case = Case("background", {}, 6, right_node=2)
        for link, right in ((("node2", "node3"), "right"), (("node1", "node2"), "right"),
                            (("node1", "node3"), "wrong ranks")):
            nodes = [{"from": link[0], "to": link[1]}, {"from": "node2", "to": "node1"}]
            self.assertEqual(self.verdict(finding("background", nodes=nodes), case=case), right)

    def test_what_costs_little_need_not_be_named_but_may_be(self):
        cheap, one_rank = {"share": 0.049, "worst": 0.249}, {"share": 0.01, "worst": 0.25}
        self.assertEqual(self.verdict(finding("none"), cost=cheap), "cheap")
        self.assertEqual(self.verdict(finding("late-sender", (2,)), cost=cheap), "right")
        self.assertEqual(self.verdict(finding("none"), cost=one_rank), "not named")
        self.assertFalse(judged(self.LATE, finding("none"), cost=cheap)["said_none"])
        self.assertTrue(judged(self.LATE, finding("none"), cost=one_rank)["said_none"])

    def test_two_causes_in_the_order_of_their_measured_costs(self):
        case = Case("late-sender", {"split": 2}, 4, right=(0,), second=("late-receiver", (3,)))
        found = finding("late-receiver", (3,)), finding("late-sender", (0,))
        first_is_less = judged(case, *found, cost={**DEAR, "first": 1.0, "second": 2.0})
        self.assertEqual((first_is_less["verdict"], first_is_less["second_right"]), ("right", True))
        first_is_more = judged(case, *found, cost={**DEAR, "first": 2.0, "second": 1.0})
        self.assertEqual((first_is_more["verdict"], first_is_more["second_right"]), ("second", False))

    def test_a_healthy_run_has_nothing_above_a_half(self):
        case = Case("none", {}, 4)
        self.assertFalse(judged(case, finding("unknown", confidence=0.5))["false_alarm"])
        loud = judged(case, finding("none"), finding("pattern", confidence=0.51))
        self.assertEqual((loud["verdict"], loud["false_alarm"]), ("right", True))
        self.assertEqual(judged(case, finding("pattern", confidence=0.4))["verdict"], "wrong")

    def test_figures_leave_out_what_is_cheap(self):
        records = [judged(self.LATE, finding("late-sender", (2,))), judged(self.LATE, finding("none")),
                   judged(self.LATE, finding("none"), cost={"share": 0.0, "worst": 0.0}), judged(Case("none", {}, 4))]
        f = verdict.figures(records)
        self.assertEqual((f["runs"], f["judged"], f["faults"], f["faults_right"], f["said_none"]), (4, 3, 2, 1, 1))
        self.assertAlmostEqual(f["accuracy"], 2 / 3)


class Costs(unittest.TestCase):
    @staticmethod
    def run_of(case, text, times):
        run = job.Run.__new__(job.Run)
        run.case, run.times, run.cost = case, times, {}
        run.work_out(text)
        return run.cost

    ENDS = "".join(f"arrive init {r} {10**9 * (1 + r)}\narrive finalize {r} {10**9 * (9 + r % 2)}\n" for r in range(4))

    def test_waits_of_all_ranks_and_of_the_worst(self):
        text = self.ENDS + "".join(f"cost waited {r} {r * 10**9}\ncost inside {r} {8 * 10**9}\n" for r in range(4))
        cost = self.run_of(Case("late-sender", {"split": 2}, 4), text, {"start": 0.0, "stop": 8.0})
        self.assertAlmostEqual(cost["share"], 6 / 8 / 4)
        self.assertAlmostEqual(cost["worst"], 3 / 8)
        self.assertAlmostEqual(cost["first"], 1)
        self.assertAlmostEqual(cost["second"], 5)
        inside = self.run_of(Case("file", {}, 4, costs="inside"), text, {"start": 0, "stop": 8})
        self.assertAlmostEqual(inside["share"], 1)

    def test_who_comes_last_to_the_begin_or_the_end(self):
        init = self.run_of(Case("startup", {}, 4, costs="init"), self.ENDS, {"start": 4.5, "stop": 8.0})
        self.assertAlmostEqual(init["share"], 6 / 9 / 4)  # 3 + 2 + 1 + 0 s of 1 .. 10 s
        end = self.run_of(Case("collective-wait", {}, 4, costs="finalize"), self.ENDS, {"start": 4.5, "stop": 8.0})
        self.assertAlmostEqual(end["worst"], 1 / 9)

    def test_beyond_the_usual_of_before(self):
        series = [0.1] * 20 + [0.3] * 10 + [0.0] * 10
        self.assertAlmostEqual(job.excess(series, 2.0, 3.0), 2.0)

    def test_another_program_says_nothing(self):
        self.assertEqual(self.run_of(Case("none", {}, 4), "hello\n", {}), {})


class Refused(unittest.TestCase):
    """What the machine did itself, by clocks."""

    @staticmethod
    def refused(truth, **measured):
        run = job.Run.__new__(job.Run)
        run.stalled_s, run.unequal, run.cost = 0.0, 0.0, {}
        vars(run).update(measured)
        try:
            runs.refuse(Case(truth, {"work_us": 5000}, 4), run, alone=False)
        except runs.Stalled:
            return True
        return False

    def test_a_machine_that_made_a_rank_late(self):
        for truth, unequal, refused in (("none", 0.03, False), ("none", 0.05, True),
                                        ("late-sender", 0.05, False), ("late-sender", 0.11, True)):
            self.assertEqual(self.refused(truth, unequal=unequal), refused, (truth, unequal))

    def test_a_rank_that_stood_still_and_a_healthy_run_that_waited(self):
        self.assertTrue(self.refused("late-sender", stalled_s=1.0))
        self.assertTrue(self.refused("none", cost={"share": 0.2}))
        self.assertFalse(self.refused("late-sender", cost={"share": 0.2}))


class Families(unittest.TestCase):
    def test_there_are_many_and_each_makes_what_its_program_can_do(self):
        healthy = [name for name in families.ALL if name.startswith("healthy_")]
        self.assertGreaterEqual(len(families.ALL), 40)
        self.assertGreaterEqual(len(healthy), 12)
        for name, family in families.ALL.items():
            for seed in range(30):
                case = family.make(random.Random(f"{name} {seed}"), 7)
                self.assertEqual(case.truth == "none", name in healthy, name)
                self.assertTrue(2 <= case.ranks <= 32 and all(0 <= r < case.ranks for r in case.right), (name, case))
                self.assertEqual(case.ranks, sum(case.per_node) or case.ranks, name)

    def test_the_short_form_names_families(self):
        self.assertEqual([name for line in families.FIRST for name in line if name not in families.ALL], [])

    def test_the_table_is_put_between_its_markers(self):
        record = {**judged(Verdicts.LATE, finding("late-sender", (2,))), "name": "slow_rank-0"}
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nbehind\n")
            table.write(page, [record], {**verdict.figures([record]), "seed": 1})
            text = page.read_text()
        self.assertIn("| `slow_rank` | `late-sender` | 1 | 1 |", text)
        self.assertNotIn("old", text)
        self.assertTrue(text.startswith("before\n") and text.endswith("behind\n"))


if __name__ == "__main__":
    unittest.main()
