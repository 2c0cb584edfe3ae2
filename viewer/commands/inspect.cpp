// pclscope inspect: what a dump says, or a running job.
#include "analysis/callsite/call_sites.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/commands/inspect_calls.hpp"
#include "viewer/commands/inspect_words.hpp"
#include "viewer/session/target.hpp"

namespace pclscope::commands {
namespace {

constexpr std::chrono::seconds patience_with_lines{10};  // that the dump lacks
constexpr std::chrono::milliseconds patience_with_job{1900};

bool names_lines(const std::string& topic) {
  return topic == "messages" || topic == "calls" || topic == "delays" || topic == "path" || topic == "findings";
}

int inspect_calls(const InspectWords& words, InspectedRun& run) {
  if (run.session->live() && !words.ranks.empty()) {
    return fail(could_not, "a running job gives summaries only: give the dump file for --rank");
  }
  return print_calls({words.format, words.limit, words.ranks}, *run.session, run.snapshot);
}

struct Topic {
  const char* name;
  int (*function)(const InspectWords&, InspectedRun&);
};
constexpr Topic topics[] = {
    {"messages", inspect_messages},       {"calls", inspect_calls},
    {"evolution", inspect_evolution},     {"dag", inspect_dag},
    {"delays", inspect_delays},           {"path", inspect_path},
    {"collectives", inspect_collectives}, {"findings", inspect_findings},
    {"traffic", inspect_traffic},         {"attribution", inspect_attribution},
};

}  // namespace

int inspect(const std::vector<std::string>& words) {
  InspectWords inspect;
  if (const auto status = parse_inspect(words, inspect)) return *status;
  auto session = session::open_run(inspect.target);
  if (!session) return fail(could_not, session.error().message);
  auto got = (*session)->newer(patience_with_job);
  if (!got) return fail(could_not, got.error().message);
  if (!*got) {
    return fail(could_not, (*session)->live() ? "no news from " + inspect.target +
                                                    " within 2 s: is it still running? pclscope list shows"
                                              : inspect.target + " has no summary");
  }
  InspectedRun run{std::move(*session), std::move(**got)};
  if (const std::string why = lacking(run); !why.empty()) say(inspect.target + " is incomplete: " + why);
  if (!run.session->live() && names_lines(inspect.topic)) {
    callsite::SiteNames names;
    callsite::complete_sites(run.snapshot.sites, names, patience_with_lines);
  }
  for (const Topic& topic : topics) {
    if (inspect.topic == topic.name) return topic.function(inspect, run);
  }
  return inspect_tables(inspect, run);
}

}  // namespace pclscope::commands
