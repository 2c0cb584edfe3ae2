// pclscope inspect: what a dump says, or a running job.
#include <chrono>

#include "analysis/callsite/call_sites.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/commands/meant_target.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/session/target.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::commands {
namespace {

constexpr std::chrono::seconds patience_with_lines{10};  // that the dump lacks
constexpr std::chrono::milliseconds patience_with_job{1900};

}  // namespace

int inspect(const std::vector<std::string>& words) {
  InspectWords inspect;
  if (const auto status = parse_inspect(words, inspect)) return *status;
  views::Sites::skip(inspect.skipped);
  auto session = session::open_run(inspect.target);
  if (!session) return fail(could_not, session.error().message);
  if (!(*session)->way().empty()) say_open_key();
  auto got = (*session)->newer(patience_with_job);
  if (!got) return fail(could_not, got.error().message);
  if (!*got) {
    return fail(could_not, (*session)->live() ? "no news from " + inspect.target +
                                                    " within 2 s: is it still running? pclscope list shows"
                                              : inspect.target + " has no summary");
  }
  InspectedRun run{std::move(*session), std::move(**got)};
  const Topic& topic = topic_named(inspect.topic);
  if (!run.session->live() && topic.takes & takes::lines) {
    callsite::SiteNames names;
    callsite::complete_sites(run.snapshot.sites, names, patience_with_lines);
  }
  const int status = topic.show(inspect, run);
  if (const std::string why = lacking(run); status == 0 && !why.empty())  // else there is one line already
    say(inspect.target + " is incomplete: " + why);
  return status;
}

}  // namespace pclscope::commands
