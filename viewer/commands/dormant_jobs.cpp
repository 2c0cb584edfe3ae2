#include "viewer/commands/dormant_jobs.hpp"

#include <algorithm>
#include <sstream>

#include "analysis/discovery/addresses.hpp"
#include "analysis/discovery/jobs.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/text/printable.hpp"

namespace pclscope::commands {
namespace {

using discovery::Dormant;
using std::chrono::seconds;

constexpr auto patience_to_attach = seconds(150);

bool means(const std::string& word, const std::string& name, const std::string& node, const std::string& batch_job) {
  return word.empty() || word == name || word == name + "@" + node || (!batch_job.empty() && word == batch_job);
}

// Those of other nodes, the newest first. Of this node's, those are forgotten that are not there any more.
std::vector<Dormant> announced_elsewhere(const std::vector<collect::DormantJob>& here, const std::string& word) {
  std::vector<Dormant> announced;
  for (Dormant& job : discovery::announced_dormant()) {
    const auto lives = [&](const collect::DormantJob& one) { return one.name == job.name; };
    if (job.here && std::none_of(here.begin(), here.end(), lives)) discovery::forget(job);
    if (!job.here && means(word, job.name, job.node, job.batch_job)) announced.push_back(std::move(job));
  }
  std::stable_sort(announced.begin(), announced.end(),
                   [](const Dormant& a, const Dormant& b) { return a.started_realtime_ns > b.started_realtime_ns; });
  return announced;
}

struct AskedNode {
  std::string host;
  std::vector<Dormant> jobs;  // that were announced from there
  std::optional<DormantAnswer> answer;
  std::string why_not;  // one line, where there is no answer
  bool in_time = true;
};

std::vector<AskedNode> nodes_of(std::vector<Dormant> announced) {
  std::vector<AskedNode> nodes;
  for (Dormant& job : announced) {
    auto node = std::find_if(nodes.begin(), nodes.end(), [&](const AskedNode& one) { return one.host == job.node; });
    if (node == nodes.end()) node = nodes.insert(nodes.end(), {job.node, {}, {}, "", true});
    node->jobs.push_back(std::move(job));
  }
  return nodes;
}

std::string why_not(const std::string& host, const reach::Answer& answer) {
  if (!answer) return "no answer from " + host + " in time";
  if (!*answer) return answer->error().message;
  const reach::Done& done = **answer;
  std::string said = text::printable(done.errors.substr(0, done.errors.find('\n')));
  if (said.empty()) said = "its pclscope is of another version";
  return "ssh to " + host + ": " + said;
}

std::string other_node(const Dormant& job) {
  return "the " + job.node + " that answers is not the one that " + job.name + " is on" +
         (job.cluster.empty() ? ", or was started anew since" : ", of cluster " + text::printable(job.cluster));
}

void ask(std::vector<AskedNode>& nodes, std::optional<DormantState> sought, const reach::Patience& patience) {
  std::vector<std::string> hosts;
  for (const AskedNode& node : nodes) hosts.push_back(node.host);
  const auto take = [&](std::size_t at, const reach::Answer& answer) {
    AskedNode& node = nodes[at];
    if (answer && *answer) node.answer = parse_dormant_answer((*answer)->output);
    const Verdict wanted = sought == DormantState::attached ? Verdict::attached : Verdict::dormant;
    return sought && node.answer && std::any_of(node.jobs.begin(), node.jobs.end(), [&](const Dormant& job) {
             return judge(job, *node.answer) == wanted;
           });
  };
  const auto answers = reach::run_on_all(hosts, {"list", "--here", "--json"}, patience, take);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].in_time = answers[i].has_value();
    if (!nodes[i].answer) nodes[i].why_not = why_not(hosts[i], answers[i]);
  }
}

// Whether it is still to be listed.
bool conclude(const AskedNode& node, const Dormant& job, DormantThere& there) {
  there = {job.name,
           job.node,
           job.command,
           job.mpi,
           job.batch_job,
           job.cluster,
           job.ranks,
           job.nodes,
           job.started_realtime_ns,
           DormantState::unknown,
           node.why_not,
           node.in_time};
  if (!node.answer) return true;
  switch (judge(job, *node.answer)) {
    case Verdict::dormant: there.state = DormantState::dormant; break;
    case Verdict::attached: there.state = DormantState::attached; break;
    case Verdict::gone: discovery::forget(job); return false;
    case Verdict::other_node: there.why_unknown = other_node(job); break;
  }
  return true;
}

// One line, however many they are.
std::string problem_of(const std::vector<AskedNode>& nodes, const std::vector<DormantThere>& jobs) {
  const auto silent = [](const AskedNode& node) { return !node.answer; };
  const auto unheard = std::count_if(nodes.begin(), nodes.end(), silent);
  // Rather one that gave a reason.
  auto first =
      std::find_if(nodes.begin(), nodes.end(), [&](const AskedNode& one) { return silent(one) && one.in_time; });
  if (first == nodes.end()) first = std::find_if(nodes.begin(), nodes.end(), silent);
  if (unheard == 1) return "what runs on " + first->host + " is not known: " + first->why_not;
  if (unheard > 1) {
    const std::string& file = first->jobs.front().file;
    return "what runs on " + std::to_string(unheard) + " nodes is not known, one of them: " + first->why_not + " (" +
           file.substr(0, file.rfind('/')) + "/*.dormant: remove those of jobs that are gone)";
  }
  for (const DormantThere& job : jobs)
    if (job.state == DormantState::unknown) return "what became of " + job.name + " is not known: " + job.why_unknown;
  return {};
}

std::string none_meant(const std::string& word, const std::string& problem) {
  if (!problem.empty()) return problem + ": pclscope list";
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

int done_there(const std::string& command, const std::string& word, std::vector<std::string> words,
               const DormantThere& job) {
  const std::string where = "job " + job.name + " is on " + job.node + ": ";
  // One that is only slow to log in is waited for.
  if (job.state == DormantState::unknown && job.in_time) return fail(could_not, where + job.why_unknown);
  words.insert(words.begin(), command);
  words.push_back("--here");
  if (word.empty()) words.push_back(job.name);
  const auto done = reach::run_there(job.node, words, true, patience_to_attach);
  if (!done) return fail(could_not, where + done.error().message);
  pass_on(done->errors);
  return done->status;
}

}  // namespace

DormantElsewhere dormant_elsewhere(const std::vector<collect::DormantJob>& here, const Sought& sought,
                                   const reach::Patience& patience) {
  std::vector<AskedNode> nodes = nodes_of(announced_elsewhere(here, sought.word));
  ask(nodes, sought.state, patience);
  DormantElsewhere all;
  for (const AskedNode& node : nodes) {
    for (const Dormant& job : node.jobs)
      if (DormantThere there; conclude(node, job, there)) all.jobs.push_back(std::move(there));
  }
  std::stable_sort(all.jobs.begin(), all.jobs.end(),
                   [](const auto& a, const auto& b) { return a.started_realtime_ns < b.started_realtime_ns; });
  all.problem = problem_of(nodes, all.jobs);
  return all;
}

std::string dormant_name_here(const std::string& word) {
  const std::string at = "@" + discovery::host_name();
  if (word.size() > at.size() && word.compare(word.size() - at.size(), at.size(), at) == 0)
    return word.substr(0, word.size() - at.size());
  if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos) return word;
  for (const Dormant& job : discovery::announced_dormant())
    if (job.here && job.batch_job == word) return job.name;
  return word;
}

int done_elsewhere(const std::string& command, const std::string& word, std::vector<std::string> words,
                   const reach::Patience& patience) {
  const bool detaches = command == "detach";
  const DormantState sought = detaches ? DormantState::attached : DormantState::dormant;
  const DormantElsewhere all = dormant_elsewhere(collect::dormant_jobs(), {word, sought}, patience);
  std::vector<DormantThere> meant, unknown, other;
  for (const DormantThere& job : all.jobs)
    (job.state == sought ? meant : job.state == DormantState::unknown ? unknown : other).push_back(job);
  // By its name a job in the other state is meant, too: its node says what can be done. So is one that is not known.
  if (meant.empty() && !word.empty()) meant = other.empty() ? unknown : other;
  // The only one that there is, on a node that is slow to answer.
  if (all.jobs.size() == 1 && !all.jobs[0].in_time) meant = unknown;
  if (meant.size() > 1) {
    return fail(could_not, std::to_string(meant.size()) + " jobs of yours can be meant, the first of them " +
                               meant[0].name + "@" + meant[0].node + ": name one, pclscope list shows them");
  }
  if (!meant.empty()) return done_there(command, word, std::move(words), meant.front());
  if (other.empty()) return fail(could_not, none_meant(word, all.problem));
  const std::string which = "job " + other.back().name + " on " + other.back().node;
  return fail(could_not, detaches ? which + " is not attached: it is dormant"
                                  : which + " is attached already: pclscope watch " + other.back().name +
                                        ", or pclscope detach " + other.back().name + " first");
}

}  // namespace pclscope::commands
