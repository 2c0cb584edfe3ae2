#include "viewer/commands/dormant_jobs.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "analysis/discovery/addresses.hpp"
#include "analysis/discovery/jobs.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/reach/ask.hpp"
#include "viewer/text/printable.hpp"

namespace pclscope::commands {
namespace {

using std::chrono::seconds;

constexpr auto patience_with_nodes = seconds(6);
constexpr auto patience_to_attach = seconds(150);

// What `pclscope list --here --json` said of each job: by name.
std::optional<std::vector<std::pair<std::string, DormantState>>> states_in(const std::string& answer) {
  const nlohmann::json all = nlohmann::json::parse(answer, nullptr, false);
  if (!all.is_object() || !all.contains("jobs") || !all.contains("dormant")) return std::nullopt;
  std::vector<std::pair<std::string, DormantState>> states;
  for (const char* list : {"dormant", "jobs"}) {
    for (const auto& job : all[list]) {
      if (!job.is_object() || !job.contains("name") || !job["name"].is_string()) continue;
      const bool dormant = job.contains("state") && job["state"] == "dormant";
      states.emplace_back(job["name"].get<std::string>(), dormant ? DormantState::dormant : DormantState::attached);
    }
  }
  return states;
}

DormantThere there(const discovery::Dormant& job, DormantState state) {
  return {job.name,  job.node,      job.command,
          job.mpi,   job.batch_job, job.cluster,
          job.ranks, job.nodes,     job.started_realtime_ns,
          state};
}

void take_answer(const discovery::Dormant& job, const Result<reach::Done>& answer, DormantElsewhere& all) {
  const auto states = answer ? states_in(answer->output) : std::nullopt;
  if (!states) {
    all.jobs.push_back(there(job, DormantState::unknown));
    return;
  }
  const auto found =
      std::find_if(states->begin(), states->end(), [&](const auto& one) { return one.first == job.name; });
  if (found == states->end()) discovery::forget(job);
  else all.jobs.push_back(there(job, found->second));
}

std::string why_not(const std::string& host, const Result<reach::Done>& answer) {
  if (!answer) return answer.error().message;
  std::string said = text::printable(answer->errors.substr(0, answer->errors.find('\n')));
  if (said.empty()) said = "its pclscope is of another version";
  return "ssh to " + host + ": " + said;
}

bool means(const std::string& word, const std::string& name, const std::string& node, const std::string& batch_job) {
  return word == name || word == name + "@" + node || (!batch_job.empty() && word == batch_job);
}

std::string none_meant(const std::string& word, const std::vector<std::string>& problems) {
  if (!problems.empty()) {
    const std::size_t more = problems.size() - 1;
    return problems.front() + (more > 0 ? " (and of " + std::to_string(more) + " more nodes: pclscope list)" : "");
  }
  return (word.empty() ? "no job of yours was only preloaded"
                       : "'" + word + "' is no job of yours that was only preloaded") +
         ", on this node or one that shares your home: pclscope list shows what runs";
}

// What it said there, as our own.
void pass_on(const std::string& errors) {
  constexpr char ours[] = "pclscope: ";
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) say(line.rfind(ours, 0) == 0 ? line.substr(sizeof ours - 1) : line);
}

}  // namespace

DormantElsewhere dormant_elsewhere(const std::vector<collect::DormantJob>& here) {
  std::vector<discovery::Dormant> announced;
  for (discovery::Dormant& job : discovery::announced_dormant()) {
    const auto lives = [&](const collect::DormantJob& one) { return one.name == job.name; };
    if (!job.here) announced.push_back(std::move(job));
    else if (std::none_of(here.begin(), here.end(), lives)) discovery::forget(job);
  }
  std::set<std::string> names;
  for (const discovery::Dormant& job : announced) names.insert(job.node);
  const std::vector<std::string> hosts(names.begin(), names.end());
  const auto answers = reach::run_on_all(hosts, {"list", "--here", "--json"}, patience_with_nodes);
  DormantElsewhere all;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!answers[i] || !states_in(answers[i]->output))
      all.problems.push_back("what runs on " + hosts[i] + " is not known: " + why_not(hosts[i], answers[i]));
  }
  for (const discovery::Dormant& job : announced) {
    const auto host = std::lower_bound(hosts.begin(), hosts.end(), job.node);
    take_answer(job, answers[static_cast<std::size_t>(host - hosts.begin())], all);
  }
  std::stable_sort(all.jobs.begin(), all.jobs.end(),
                   [](const auto& a, const auto& b) { return a.started_realtime_ns < b.started_realtime_ns; });
  return all;
}

std::string dormant_name_here(const std::string& word) {
  const std::string at = "@" + discovery::host_name();
  if (word.size() > at.size() && word.compare(word.size() - at.size(), at.size(), at) == 0)
    return word.substr(0, word.size() - at.size());
  if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos) return word;
  for (const discovery::Dormant& job : discovery::announced_dormant())
    if (job.here && job.batch_job == word) return job.name;
  return word;
}

int done_elsewhere(const std::string& command, const std::string& word, std::vector<std::string> words) {
  const DormantElsewhere all = dormant_elsewhere(collect::dormant_jobs());
  const DormantState meant_state = command == "detach" ? DormantState::attached : DormantState::dormant;
  std::vector<DormantThere> meant;
  for (const DormantThere& job : all.jobs)
    if (word.empty() ? job.state == meant_state : means(word, job.name, job.node, job.batch_job)) meant.push_back(job);
  if (meant.empty()) return fail(could_not, none_meant(word, all.problems));
  if (meant.size() > 1) {
    return fail(could_not, std::to_string(meant.size()) + " jobs of yours can be meant, the first of them " +
                               meant[0].name + "@" + meant[0].node + ": name one, pclscope list shows them");
  }
  const DormantThere& job = meant.front();
  words.insert(words.begin(), command);
  words.push_back("--here");
  if (word.empty()) words.push_back(job.name);
  const auto done = reach::run_there(job.node, words, true, patience_to_attach);
  if (!done) return fail(could_not, "job " + job.name + " is on " + job.node + ": " + done.error().message);
  pass_on(done->errors);
  return done->status;
}

}  // namespace pclscope::commands
