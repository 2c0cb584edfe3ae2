// What the routes view says of things.
#pragma once

#include <string>

#include "viewer/layout/network_graph.hpp"

namespace pclscope::gui {

std::string node_words(const layout::NetworkGraph& graph, std::int32_t node);
std::string link_words(const layout::NetworkGraph& graph, std::int32_t link);
std::string route_words(const layout::NetworkGraph& graph, std::uint32_t route);
// "(0 1)", or "8 nodes, (0 1) to (0 8)".
std::string node_name(const layout::NetworkGraph& graph, std::int32_t node);
// Of vertices that are merged: "8 nodes" (routers are not counted).
std::string merged_label(const session::NetworkCase& network, const std::vector<std::int32_t>& vertices);
const char* name_of(layout::LinkColour colour);
const char* meaning_of(layout::LinkColour colour);
std::string routes_help();

}  // namespace pclscope::gui
