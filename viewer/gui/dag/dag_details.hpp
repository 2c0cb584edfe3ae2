// The DAG view in words: tooltips, the status line and why there is nothing to see.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "viewer/gui/base/view.hpp"
#include "viewer/layout/dag_picture.hpp"

namespace pclscope::gui {

// Of a glyph, several lines. `names`: of compute nodes, may be too short.
std::string node_details(const layout::DagPicture& picture, std::size_t node, std::span<const std::string> names);
// Of the messages of a bar.
std::string bar_details(const layout::DagPicture& picture, std::size_t node, const layout::GlyphBar& bar);
// The message of a bar with the largest L.
const DagMessage& worst_of(const DagNode& node, const layout::GlyphBar& bar);

// "folded to 240 of 9,000 nodes; double click unfolds"
std::string fold_status(const layout::DagPicture& picture);
// "region 3, 1.20 s to 1.34 s: 300 messages"
std::string graph_title(const Dag& dag);

// Of a graph that lacks messages.
std::string partial_words(const Scene& scene);

// Of a graph that is not the one that is asked for now: the job is over, or another region is selected; empty: it is.
std::string not_newest_words(const Scene& scene, const Selection& selection);

// What to say instead of a picture; empty when there is one.
std::string why_empty(const Scene& scene, const Selection& selection);

// The node of `dag` that received the message with the largest L, above 1.
std::optional<std::size_t> worst_node(const Dag& dag);

// Where a graph that does not fit begins: the node that received the selected message; else that of the selected rank
// with the largest L of what it received or sent; else worst_node(). None where nothing is late.
std::optional<std::size_t> first_look(const Dag& dag, const Selection& selection);
// "starts at rank 9 (largest L 41x)"
std::string first_look_words(const Dag& dag, std::size_t node);

}  // namespace pclscope::gui
