// The part of `pclscope map` inside nodes: on which cores ranks should run, what that brings, and how launchers are
// told.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/mapping/inside_node.hpp"
#include "viewer/commands/map_input.hpp"
#include "viewer/text/table.hpp"

namespace pclscope::commands {

struct InsideAnswer {
  mapping::InsideMapping mapping;  // slot_of_rank empty: nothing is known of machines
  // Bytes by distance, of now and of the answer; of messages inside nodes.
  std::array<double, machine::distances> bytes_before{}, bytes_after{};
  bool known() const { return !mapping.slot_of_rank.empty(); }
  bool sends() const { return known() && mapping.before + mapping.after > 0; }  // something is sent inside nodes
  bool better() const { return known() && mapping.bound_now && mapping.after < mapping.before; }
};

Result<InsideAnswer> find_inside(const MapInput& input, const std::vector<std::int32_t>& node_of_rank, double effort);

// Rows of a table with the columns name, before, after, change.
void add_inside_rows(text::Table& table, const InsideAnswer& answer);
std::vector<std::string> inside_lines(const InsideAnswer& answer, const MapInput& input,
                                      const std::vector<std::int32_t>& node_of_rank);
nlohmann::json inside_json(const InsideAnswer& answer, const MapInput& input,
                           const std::vector<std::int32_t>& node_of_rank);

// "-42.00 %", "-" where nothing was.
std::string change_text(double before, double after);

}  // namespace pclscope::commands
