// pclscope inspect: what a dump says, or a running job.
#include "viewer/commands/commands.hpp"
#include "viewer/inspect/opened.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::commands {

int inspect(const std::vector<std::string>& words) {
  InspectWords inspect;
  if (const auto status = parse_inspect(words, inspect)) return *status;
  views::Sites::skip(inspect.skipped);
  const Topic& topic = topic_named(inspect.topic);
  auto run = open_inspected(inspect.target, (topic.takes & takes::lines) != 0);
  if (!run) return fail(could_not, run.error().message);
  const int ranks = run->snapshot.application.ranks;
  if (!inspect.ranks.empty() && inspect.ranks.back() >= ranks)
    return fail(could_not, "no rank " + std::to_string(inspect.ranks.back()) + ": " + inspect.target + " has " +
                               (ranks == 1 ? "rank 0 only" : "ranks 0 to " + std::to_string(ranks - 1)));
  const int status = topic.show(inspect, *run);
  if (const std::string why = lacking(*run); status == 0 && !why.empty())  // else there is one line already
    say(inspect.target + " is incomplete: " + why);
  return status;
}

}  // namespace pclscope::commands
