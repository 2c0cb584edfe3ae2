#include "viewer/commands/meant_target.hpp"

#include <thread>

#include "analysis/wire/curve_keys.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/session/preloaded.hpp"

namespace pclscope::commands {

Result<session::Target> meant_target(const MeantRun& run) {
  if (!run.via.empty()) {
    session::Target target = session::target_via(run.via, run.word);
    target.live.interval = run.interval;
    return target;
  }
  for (bool told = false;; told = true) {
    auto target = session::find_target(run.word);
    if (target) target->live.interval = run.interval;
    if (target || !run.wait || target.error().code != ErrorCode::not_found) return target;
    if (!told) {
      const std::string about = session::about_preloaded(run.word, session::preloaded_jobs());
      say("waiting for " + (run.word.empty() ? std::string("a job of yours") : run.word) +
          (about.empty() ? "" : "; " + about));
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

std::string name_of(const session::Target& target) {
  if (!target.file.empty()) return target.file;
  return target.live.name.empty() ? "the job on " + target.live.via : target.live.name;
}

bool is_elsewhere(const session::Target& target) { return target.live.job && !target.live.job->here; }

void say_open_key() {
  const auto path = wire::key_file_path();
  if (!path) return;
  const auto keys = wire::load_keys(*path);
  if (!keys && keys.error().code == ErrorCode::not_permitted)
    say(keys.error().message + "; until then TCP is not used, only ssh (pclscope key --new if somebody has read it)");
}

void say_way(const session::Session& session, const session::Target& target) {
  if (session.way().empty()) return;
  const bool known = target.live.job.has_value();
  say(name_of(target) + (known ? " on " + target.live.job->node : std::string()) + ", over " + session.way());
}

}  // namespace pclscope::commands
