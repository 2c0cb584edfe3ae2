#include "viewer/gui/placement/placement_work.hpp"

#include <filesystem>

namespace pclscope::gui {

Sides make_sides(const SidesQuestion& question) {
  Sides made{question, session::placement_side(*question.before), {}};
  made.now = question.now == question.before ? made.before : session::placement_side(*question.now);
  return made;
}

SearchAnswer search_placement(const SearchQuestion& question) {
  auto found = session::propose_placement(question.network, question.objective, question.effort);
  if (!found) return {question.number, nullptr, found.error().message};
  return {question.number, std::make_shared<const session::PlacementProposal>(std::move(*found)), {}};
}

WriteAnswer write_file(const WriteQuestion& question) {
  const Status status = session::write_placement(*question.network, question.format, question.path);
  if (!status) return {question.number, false, status.error().message};
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::absolute(question.path, ignored);
  return {question.number, true, "written: " + (whole.empty() ? question.path : whole.string())};
}

}  // namespace pclscope::gui
