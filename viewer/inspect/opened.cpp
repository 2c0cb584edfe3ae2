#include "viewer/inspect/opened.hpp"

#include <chrono>
#include <utility>

#include "analysis/callsite/call_sites.hpp"
#include "viewer/commands/meant_target.hpp"
#include "viewer/session/target.hpp"

namespace pclscope::commands {
namespace {

constexpr std::chrono::seconds patience_with_lines{10};  // that the dump lacks
constexpr std::chrono::milliseconds patience_with_job{1900};

}  // namespace

Result<InspectedRun> open_inspected(const std::string& target, bool lines) {
  auto session = session::open_run(target);
  if (!session) return session.error();
  if (!(*session)->way().empty()) say_open_key();
  auto got = (*session)->newer(patience_with_job);
  if (!got) return got.error();
  if (!*got)
    return Error{ErrorCode::not_found,
                 (*session)->live() ? "no news from " + target + " within 2 s: is it still running? pclscope list shows"
                                    : target + " has no summary"};
  InspectedRun run{std::move(*session), std::move(**got)};
  if (!run.session->live() && lines) {
    callsite::SiteNames names;
    callsite::complete_sites(run.snapshot.sites, names, patience_with_lines);
  }
  return run;
}

}  // namespace pclscope::commands
