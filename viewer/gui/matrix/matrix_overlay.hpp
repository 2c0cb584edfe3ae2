// What lies on the matrix's picture: names of rows, lines between blocks, and routes.
#pragma once

#include <imgui.h>

#include <span>
#include <string>

#include "viewer/gui/base/view.hpp"
#include "viewer/layout/matrix_picture.hpp"
#include "viewer/session/network_case.hpp"

namespace pclscope::gui {

// A picture where it is drawn: its low corner on the screen, and what it is of.
struct MatrixSheet {
  const session::NetworkCase& network;
  const layout::MatrixContent& content;
  const layout::MatrixAxis& axis;
  layout::MatrixSight sight;
  layout::Rect area;
};

// The diagonal, and lines between the largest blocks.
void draw_matrix_grid(ImDrawList& list, const Scene& scene, const MatrixSheet& sheet);
// Names of rows left of the sheet, as many as have room.
void draw_matrix_names(ImDrawList& list, const Scene& scene, const MatrixSheet& sheet, float left);
// One route: segments, outlines of its links coloured by their load, source and destination. `most`: the largest load
// of a link.
void draw_matrix_route(ImDrawList& list, const Scene& scene, const MatrixSheet& sheet,
                       const std::vector<std::int32_t>& path, layout::Rgba colour, float width, double most);

// "(0 1 2)", "(0 0 0) to (0 0 7): 8 vertices", "folded: 96 vertices".
std::string line_name(const MatrixSheet& sheet, std::int32_t line);
// What is known of the cell of two lines.
std::string cell_words(const MatrixSheet& sheet, std::int32_t row, std::int32_t column);
// The heaviest link of a cell, by the shown routes; -1: it has none.
std::int32_t heaviest_link(const MatrixSheet& sheet, std::int32_t row, std::int32_t column);

}  // namespace pclscope::gui
