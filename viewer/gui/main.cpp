// pclscope-view: the window of `pclscope view`, which starts this program.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/store/damage.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/meant_target.hpp"
#include "viewer/gui/frame/window.hpp"
#include "viewer/session/network_source.hpp"
#include "viewer/session/target.hpp"

namespace {

using namespace pclscope;

bool has(const char* name) {
  const char* value = std::getenv(name);
  return value && *value;
}

// A file of traffic or routes: what is wrong with it is said at once, in the terminal.
int view_network(gui::ViewOptions options) {
  auto facts = session::read_network_file(options.target, options.network);
  if (!facts) return commands::fail(commands::could_not, facts.error().message);
  options.network_facts = std::make_shared<const session::NetworkFacts>(std::move(*facts));
  if (options.workspace.empty() && options.only.empty()) options.workspace = "network";
  const auto open = [known = options.network_facts] {
    return Result<std::unique_ptr<session::Session>>(session::open_network(known));
  };
  return options.screenshot.empty() ? gui::show_window(options, open) : gui::make_screenshot(options, open);
}

int view(const std::vector<std::string>& words) {
  gui::ViewOptions options;
  if (const auto status = gui::parse_view(words, options)) return *status;
  if (options.screenshot.empty() && !has("DISPLAY") && !has("WAYLAND_DISPLAY")) {
    return commands::fail(commands::could_not,
                          "no display here (DISPLAY is not set): log in with ssh -X, or use pclscope watch, or "
                          "pclscope view --screenshot FILE.png");
  }
  if (options.target.empty() && options.via.empty() && options.screenshot.empty()) {
    gui::JobChoice choice;
    choice.list = [] { return session::running_jobs(discovery::all_jobs().jobs); };
    choice.jobs = choice.list();
    choice.open = [](const discovery::Job& job) { return session::reopener(session::target_of(job)); };
    if (choice.jobs.size() > 1) {
      if (std::any_of(choice.jobs.begin(), choice.jobs.end(), [](const discovery::Job& job) { return !job.here; }))
        commands::say_open_key();
      return gui::show_window(options, choice);
    }
  }
  if (session::is_existing_file(options.target) && session::is_network_file(options.target))
    return view_network(options);
  if (!options.network.traffic.empty())
    return commands::fail(commands::wrong_usage, "--traffic gives the bytes of a route file; the target is none");
  if (!options.network.topology.empty()) {
    if (const auto topology = mapping::Topology::parse(options.network.topology); !topology)
      return commands::fail(commands::could_not, topology.error().message);
  }
  // Which run is meant is decided once: a lost job is looked for again by its name, or Slurm's id of it.
  const auto target =
      commands::meant_target({options.target, options.via, options.wait, std::chrono::milliseconds(500)});
  if (!target) return commands::fail(commands::could_not, target.error().message);
  if (!target->note.empty()) commands::say(target->note);
  if (commands::is_elsewhere(*target)) commands::say_open_key();
  options.target = commands::name_of(*target);
  session::Feed::Open open = session::reopener(*target);
  if (!target->file.empty()) {  // a file that cannot be read is said at once, in the terminal
    if (auto opened = session::open_stored(target->file); !opened)
      return commands::fail(commands::could_not, opened.error().message);
  }
  if (!options.compare.empty()) {
    if (auto opened = session::open_stored(options.compare); !opened)
      return commands::fail(commands::could_not, "--compare: " + opened.error().message);
  }
  return options.screenshot.empty() ? gui::show_window(options, std::move(open))
                                    : gui::make_screenshot(options, std::move(open));
}

}  // namespace

int main(int argc, char** argv) {
  store::tell_of_crashes();
  try {
    return view({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    return commands::fail(commands::could_not, std::string("internal error: ") + error.what());
  }
}
