#include "viewer/gui/placement/placement_work.hpp"

#include <filesystem>

namespace pclscope::gui {
namespace {

constexpr const char* untold_times =
    "the run has no transfers that ranks waited for within a node, or none between nodes";

whatif::Hops hops_of(const session::NetworkCase& network) {
  return [topology = network.topology](std::int32_t from, std::int32_t to) { return topology->hops(from, to); };
}

}  // namespace

Sides make_sides(const SidesQuestion& question) {
  Sides made{question, session::placement_side(*question.before), {}};
  made.now = question.now == question.before ? made.before : session::placement_side(*question.now);
  return made;
}

SearchAnswer search_placement(const SearchQuestion& question, const std::function<bool()>& stopping) {
  session::PlacementSearch search{question.objective, question.effort};
  if (question.calls && question.network->topology)
    search.times = question.calls->link_times(hops_of(*question.network));
  if (!search.times && question.objective == mapping::Objective::time)
    return {question.number, nullptr,
            "what messages take: " + (question.calls ? std::string(untold_times) : question.why_no_calls) +
                " (pclscope map --latency and --bandwidth say it)",
            false};
  bool ended = false;
  search.ended = [&] { return ended = ended || question.ended->load(std::memory_order_relaxed) || stopping(); };
  auto found = session::propose_placement(question.network, search);
  if (!found) return {question.number, nullptr, found.error().message, ended};
  return {question.number, std::make_shared<const session::PlacementProposal>(std::move(*found)), {}, ended};
}

GainAnswer replay_placement(const GainQuestion& question) {
  return {question.placed, question.calls->gain(question.placed->node_of_rank, hops_of(*question.placed), {})};
}

WriteAnswer write_file(const WriteQuestion& question) {
  const Status status = session::write_placement(*question.network, question.format, question.path);
  if (!status) return {question.number, false, status.error().message};
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::absolute(question.path, ignored);
  return {question.number, true, "written: " + (whole.empty() ? question.path : whole.string())};
}

}  // namespace pclscope::gui
