// pclscope inspect TARGET tree: which functions called MPI, called by whom, and how long all of it was inside MPI.
#include "viewer/inspect/topic.hpp"
#include "viewer/views/call_tree.hpp"

namespace pclscope::commands {
namespace {

constexpr double least_shown = 0.005;

int show_tree(const InspectWords& words, InspectedRun& run) {
  const views::Sites sites(run.snapshot.sites);
  const views::CallTreeNode root = views::call_tree(run.snapshot.site_activity, sites);
  if (words.folded) return print_lines(views::call_tree_stacks(root)) ? done : could_not;
  return show(
      words, run, why_incomplete(run),
      [&](const views::PageOptions& page) {
        return views::call_tree_lines(root, words.limit ? 0 : least_shown, page.width);
      },
      [] { return views::Rows(); },
      [&] {
        return session::Json{{"tree", views::call_tree_json(root)}};
      });
}

}  // namespace

extern const Topic tree_topic;
const Topic tree_topic{"tree", takes::lines | takes::folded, show_tree};

}  // namespace pclscope::commands
