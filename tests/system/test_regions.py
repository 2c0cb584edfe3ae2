"""CG's pattern: the rows of its process grid come out as regions.
Depends on: launcher."""
import harness
import paper
from harness import thinned


class Regions(harness.SystemTest):
    def rows_of(self, ranks):
        rows, columns = paper.cg_grid(ranks)
        return [list(range(row * columns, (row + 1) * columns)) for row in range(rows)]

    def regions(self, mpi, ranks, iterations):
        if mpi not in harness.MPIS:
            self.skipTest(f"{mpi} is not built")
        path = self.box.directory / f"cg-{mpi}.h5"
        done = self.box.traced(ranks, harness.program("cg_pattern", mpi), str(iterations), options=("--dump", path))
        self.assertWorked(done)
        summary = self.box.json("inspect", path, "--json")
        self.assertComplete(summary, ranks, paper.total(paper.cg_pattern(ranks, iterations)))
        return summary["regions"]

    def check(self, mpi, ranks, iterations):
        regions = self.regions(mpi, ranks, iterations)
        self.assertEqual(sorted(region["ranks"] for region in regions), self.rows_of(ranks))
        self.assertEqual(len({region["id"] for region in regions}), len(regions))
        inside = paper.cg_pattern(ranks, iterations)
        for region in regions:
            members = set(region["ranks"])
            expected = sum(count for (source, destination, _, _), count in inside.items()
                           if source in members and destination in members)
            self.assertEqual(region["messages"], expected)

    def test_16_ranks_are_4_rows(self):
        self.check("openmpi", 16, thinned(200, 100))

    def test_32_ranks_are_4_rows_of_8(self):
        self.check("openmpi", 32, thinned(50, 25))


if __name__ == "__main__":
    harness.main()
