#!/usr/bin/python3
"""Does what docs/extending.md says, in a copy of the sources, builds it, and looks at the result.

    /usr/bin/python3 -B tests/structure/recipes.py [--keep FOLDER]
Prints how many files each recipe touched besides its own. Needs h5py; takes the time of a build."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import h5py

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TOPIC = '''#include "viewer/inspect/topic.hpp"

namespace pclscope::commands {
namespace {

int show_count(const InspectWords& words, InspectedRun& run) {
  const std::string matched = std::to_string(run.snapshot.messages.matched);
  return show(
      words, run, std::nullopt,
      [&](const views::PageOptions&) { return std::vector<std::string>{matched + " messages"}; },
      [&] { return views::Rows{{"matched"}, {{matched}}}; },
      [&]() -> session::Json { return {{"matched", run.snapshot.messages.matched}}; });
}

}  // namespace

extern const Topic count_topic;
const Topic count_topic{"count", takes::tables, show_count};

}  // namespace pclscope::commands
'''

PROGRAM = '''#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int how;
  MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &how);
  MPI_Finalize();
  return 0;
}
'''
VIEW = '''#include <imgui.h>

#include "viewer/gui/base/view.hpp"

namespace pclscope::gui {
namespace {

class CountView final : public View {
 public:
  const char* title() const override { return "Count"; }
  void draw(const Scene& scene, Selection&) override {
    at_ = {ImGui::GetCursorScreenPos().x, ImGui::GetCursorScreenPos().y};
    ImGui::Text("%llu messages", static_cast<unsigned long long>(scene.snapshot->messages.matched));
  }
  std::vector<Mark> marks() const override { return {{"count", at_}}; }

 private:
  layout::Point at_{};
};

}  // namespace

std::unique_ptr<View> make_count_view() { return std::make_unique<CountView>(); }

}  // namespace pclscope::gui
'''
STAGE = '''#include "analysis/stages/stage.hpp"

namespace pclscope {
namespace {

class Received final : public Stage {
 public:
  explicit Received(std::int32_t ranks) : bytes_(static_cast<std::size_t>(ranks)) {}
  void add(const Input& input) override {
    for (const Message& m : input.messages) bytes_[static_cast<std::size_t>(m.destination)] += m.bytes;
  }
  void fill(Snapshot& snapshot) const override {
    for (RankSummary& rank : snapshot.ranks) rank.seen_bytes = bytes_[static_cast<std::size_t>(rank.rank)];
  }

 private:
  std::vector<std::uint64_t> bytes_;
};

}  // namespace

std::unique_ptr<Stage> make_received_stage(std::int32_t ranks);
std::unique_ptr<Stage> make_received_stage(std::int32_t ranks) { return std::make_unique<Received>(ranks); }

}  // namespace pclscope
'''
FORMAT = '''#include "viewer/inspect/table_format.hpp"

namespace pclscope::commands {
namespace {

std::string row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\\n";
}
std::string head(const std::vector<std::string>& titles) {
  return row(titles) + row(std::vector<std::string>(titles.size(), "---"));
}

}  // namespace

extern const TableFormat markdown_format;
const TableFormat markdown_format{"markdown", "As a table of Markdown", head, row};

}  // namespace pclscope::commands
'''


class Copy:
    def __init__(self, folder):
        self.folder, self.build, self.touched = folder, folder / "build", {}
        shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("build", ".git"), dirs_exist_ok=True)

    def write(self, name, text):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)

    def insert(self, recipe, name, after, text):
        path = self.folder / name
        before, found, rest = path.read_text().partition(after)
        assert found, f"{name} has no line {after!r}"
        path.write_text(before + found + text + rest)
        self.touched.setdefault(recipe, []).append(name)

    def replace(self, recipe, name, old, new):
        path = self.folder / name
        text = path.read_text()
        assert text.count(old) == 1, f"{name}: {old!r}"
        path.write_text(text.replace(old, new))
        self.touched.setdefault(recipe, []).append(name)

    def run(self, *words, **options):
        done = subprocess.run([str(word) for word in words], text=True, capture_output=True, cwd=self.folder, **options)
        assert done.returncode == 0, f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    def pclscope(self, *words):
        allowed = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        return self.run(self.build / "bin" / "pclscope", *words, env=allowed)


def check(copy):
    copy.insert("field", "analysis/values/snapshot.hpp", "  double missing_from_s = 0;", "\n  double example_s = 2.5;")
    copy.insert("field", "analysis/rows/columns.hpp", "void describe(Column&& column, const RankRow*) {",
                '\n  column("example_s", "s", &RankSummary::example_s, "an example");')
    copy.write("viewer/inspect/count.cpp", TOPIC)
    copy.insert("topic", "viewer/inspect/topics.def", "TOPIC(summary)\n", "TOPIC(count)\n")
    copy.write("viewer/gui/count/count_view.cpp", VIEW)
    copy.insert("view", "viewer/gui/base/views.def", "PCLSCOPE_VIEW(spatial, latency)\n",
                "PCLSCOPE_VIEW(count, latency)\n")
    copy.replace("function", "interpose/generate/calls.def", "\nComm_compare                     translate\n",
                 "\nComm_compare                     call\n")
    copy.write("analysis/stages/received.cpp", STAGE)
    copy.insert("stage", "analysis/stages/stages.def", "PCLSCOPE_STAGE(collective_waits)\n",
                "PCLSCOPE_STAGE(received)\n")
    copy.insert("stage", "analysis/values/snapshot.hpp", "  double missing_from_s = 0;",
                "\n  std::uint64_t seen_bytes = 0;")
    copy.insert("stage", "analysis/rows/columns.hpp", "void describe(Column&& column, const RankRow*) {",
                '\n  column("seen_bytes", "bytes", &RankSummary::seen_bytes, "received in windows");')
    copy.write("viewer/inspect/markdown.cpp", FORMAT)
    copy.insert("format", "viewer/inspect/table_formats.def", "TABLE_FORMAT(csv)\n", "TABLE_FORMAT(markdown)\n")
    copy.run("cmake", "-S", ".", "-B", copy.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
             "-DPCLSCOPE_BENCHMARKS=OFF", "-DPCLSCOPE_UNIT_TESTS=OFF")
    copy.run("cmake", "--build", copy.build, "-j", os.cpu_count())
    dump = copy.folder / "run.h5"
    copy.pclscope("run", "--quiet", "-n", "2", "--dump", dump, "--", copy.build / "tests/programs/ring-openmpi", "20")
    with h5py.File(dump) as file:
        ranks = file["summary"][str(file["summary"].attrs["current"])]["ranks"]
        assert list(ranks["example_s"][:2]) == [2.5, 2.5] and ranks["example_s"].attrs["units"] == b"s"
    ranks = json.loads(copy.pclscope("inspect", dump, "ranks", "--json"))["ranks"]
    assert all(rank["seen_bytes"] == rank["bytes_received"] > 0 for rank in ranks), ranks
    assert copy.pclscope("inspect", dump, "count", "--markdown") == "| matched |\n| --- |\n| 40 |\n"
    assert len(copy.pclscope("inspect", dump, "messages", "--markdown").splitlines()) == 42
    assert [rank["example_s"] for rank in json.loads(copy.pclscope("inspect", dump, "ranks", "--json"))["ranks"]] == \
        [2.5, 2.5]
    assert "example_s" in copy.pclscope("inspect", dump, "ranks", "--csv").splitlines()[0].split(",")
    assert "| `example_s` | s | an example |" in copy.run(copy.build / "tests" / "print_tables")
    assert json.loads(copy.pclscope("inspect", dump, "count", "--json")) == {"matched": 40}
    assert copy.pclscope("inspect", dump, "count", "--csv").split() == ["matched", "40"]
    assert copy.pclscope("inspect", dump, "count").strip() == "40 messages"
    assert "count" in copy.pclscope("inspect", "--help")
    copy.write("compare.c", PROGRAM)
    copy.run("mpicc.openmpi", "-o", "compare", "compare.c")
    copy.pclscope("run", "--quiet", "-n", "2", "--dump", dump, "--", "./compare")
    functions = json.loads(copy.pclscope("inspect", dump, "calls", "--json"))["functions"]
    assert {f["function"]: f["calls"] for f in functions}["MPI_Comm_compare"] == 2, functions
    picture, told = copy.folder / "view.png", copy.folder / "view.json"
    copy.pclscope("view", dump, "--screenshot", picture, "--describe", told)
    views = json.loads(told.read_text())["views"]
    assert len(views) == 5 and "count" in views["Count"]["marks"], views.keys()
    copy.pclscope("view", dump, "--screenshot", picture, "--describe", told, "--only", "count")
    assert list(json.loads(told.read_text())["views"]) == ["Count"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--keep", metavar="FOLDER", help="leave the copy there")
    keep = parser.parse_args().keep
    folder = pathlib.Path(keep or tempfile.mkdtemp(prefix="pcl-recipes-"))
    try:
        copy = Copy(folder)
        check(copy)
        for recipe, files in copy.touched.items():
            print(f"{recipe}: {len(files)} files touched: {', '.join(files)}")
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
