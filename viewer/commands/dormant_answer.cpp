#include "viewer/commands/dormant_answer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "viewer/launch/batch.hpp"

namespace pclscope::commands {
namespace {

using nlohmann::json;

std::string text_in(const json& from, const char* name) {
  const auto found = from.find(name);
  return found != from.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::optional<DormantAnswer> parse_dormant_answer(const std::string& output) {
  const json all = json::parse(output, nullptr, false);
  if (!all.is_object() || !all.contains("jobs") || !all.contains("dormant")) return std::nullopt;
  DormantAnswer answer;
  for (const char* list : {"dormant", "jobs"}) {
    for (const json& job : all[list]) {
      if (!job.is_object() || text_in(job, "name").empty()) continue;
      const bool dormant = text_in(job, "state") == "dormant";
      answer.jobs.push_back({text_in(job, "name"), dormant ? DormantState::dormant : DormantState::attached});
    }
  }
  if (const auto node = all.find("node"); node != all.end() && node->is_object()) {
    answer.boot = text_in(*node, "boot_id");
    answer.cluster = text_in(*node, "cluster");
  }
  return answer;
}

Verdict judge(const discovery::Dormant& announced, const DormantAnswer& answer) {
  if (!answer.boot.empty() && answer.boot != announced.boot) {
    // The node of before, if that is certain, has been started anew: nothing survived.
    const bool same_cluster = !announced.cluster.empty() && announced.cluster == answer.cluster;
    return same_cluster ? Verdict::gone : Verdict::other_node;
  }
  const auto found = std::find_if(answer.jobs.begin(), answer.jobs.end(),
                                  [&](const DormantAnswer::Job& job) { return job.name == announced.name; });
  if (found != answer.jobs.end()) return found->state == DormantState::dormant ? Verdict::dormant : Verdict::attached;
  return answer.boot.empty() ? Verdict::other_node : Verdict::gone;
}

std::string cluster_here(const std::vector<discovery::Dormant>& announced) {
  if (const std::string cluster = launch::allocation().cluster; !cluster.empty()) return cluster;
  for (const discovery::Dormant& job : announced)
    if (job.here && !job.cluster.empty()) return job.cluster;
  return {};
}

}  // namespace pclscope::commands
