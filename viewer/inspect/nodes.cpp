// pclscope inspect TARGET nodes: messages from one node to another.
#include "viewer/inspect/topic.hpp"
#include "viewer/views/node_rows.hpp"

namespace pclscope::commands {
namespace {

int show_nodes(const InspectWords& words, InspectedRun& run) {
  Snapshot& s = run.snapshot;
  cut(words, s.network.links);
  const auto json = [&]() -> session::Json {
    return {{"links",
             array_of(s.network.links, [&](const NodeLink& l) { return session::node_link_json(l, s.application); })}};
  };
  return show(
      words, run, std::nullopt, [&](const views::PageOptions& page) { return views::node_link_lines(s, page.width); },
      [&] { return views::node_link_rows(s); }, json);
}

}  // namespace

extern const Topic nodes_topic;
const Topic nodes_topic{"nodes", takes::tables, show_nodes};

}  // namespace pclscope::commands
