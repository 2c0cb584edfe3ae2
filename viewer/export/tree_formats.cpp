// pclscope export --to hatchet, --to folded: the functions that called MPI, by whom they were called.
#include <nlohmann/json.hpp>

#include "viewer/export/format.hpp"
#include "viewer/export/output.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/call_tree.hpp"

namespace pclscope::exporting {
namespace {

// A text that is there as soon as it is asked for: no rows are needed.
class TextSink final : public Sink {
 public:
  TextSink(const std::string& path, const std::string& text, std::string told) : file_(path), told_(std::move(told)) {
    file_.write(text);
  }
  Status add(const Slice&) override { return {}; }
  Status finish() override { return file_.close(); }
  std::string wrote() const override { return told_; }

 private:
  OutputFile file_;
  std::string told_;
};

views::CallTreeNode tree_of(const Run& run) {
  return views::call_tree(run.snapshot.site_activity, views::Sites(run.snapshot.sites));
}

// As GraphFrame.from_literal() takes it. Times of a node without those below it, and with them ("inc").
session::Json literal(const views::CallTreeNode& node, std::uint64_t& nodes) {
  ++nodes;
  double own_s = node.inside_s, own_lost_s = node.lost_s;
  session::Json children = session::Json::array();
  for (const views::CallTreeNode& callee : node.callees) {
    own_s -= callee.inside_s;
    own_lost_s -= callee.lost_s;
    children.push_back(literal(callee, nodes));
  }
  const auto rest = [](double own, double all) { return own > all * 1e-9 ? own : 0.0; };  // of sums that are equal
  const std::string name = node.function.empty() ? node.place.empty() ? "all" : node.place : node.function;
  const char* type = name == "all" ? "root" : node.place.empty() ? "MPI function" : "function";
  return {{"frame", {{"name", name}, {"type", type}, {"line", node.place}}},
          {"metrics",
           {{"time", rest(own_s, node.inside_s)},
            {"time (inc)", session::finite(node.inside_s)},
            {"lost", rest(own_lost_s, node.lost_s)},
            {"lost (inc)", session::finite(node.lost_s)},
            {"calls (inc)", node.calls}}},
          {"children", std::move(children)}};
}

Result<std::unique_ptr<Sink>> open_hatchet(const Run& run, const std::string& path, const Progress&) {
  std::uint64_t nodes = 0;
  const session::Json roots = session::Json::array({literal(tree_of(run), nodes)});
  return std::unique_ptr<Sink>(std::make_unique<TextSink>(path, session::to_text(roots, true) + "\n",
                                                          text::format_count(nodes) + " nodes of the whole run"));
}

Result<std::unique_ptr<Sink>> open_folded(const Run& run, const std::string& path, const Progress&) {
  const std::vector<std::string> stacks = views::call_tree_stacks(tree_of(run));
  std::string lines;
  for (const std::string& stack : stacks) lines += stack + "\n";
  return std::unique_ptr<Sink>(
      std::make_unique<TextSink>(path, lines, text::format_count(stacks.size()) + " stacks of the whole run"));
}

}  // namespace

extern const FileFormat hatchet_format;
const FileFormat hatchet_format{
    "hatchet", "the call tree as a literal for Hatchet's GraphFrame", ".hatchet.json", false, 0, open_hatchet};
extern const FileFormat folded_format;
const FileFormat folded_format{"folded",   "stacks for flame graphs (microseconds inside MPI)", ".folded", false, 0,
                               open_folded};

}  // namespace pclscope::exporting
