// pclscope: one program, one command per file in commands/.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "analysis/store/damage.hpp"
#include "viewer/build_facts.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/text/nearest.hpp"

namespace {

using Words = std::vector<std::string>;

struct Command {
  const char* name;
  const char* summary;
  int (*function)(const Words&);
};
constexpr Command all_commands[] = {
    {"run", "run an MPI application and analyse its messages on the way", pclscope::commands::run},
    {"list", "list your jobs on all nodes that share this home", pclscope::commands::list},
    {"attach", "begin to record a job that was only preloaded", pclscope::commands::attach},
    {"detach", "end that; the job goes on", pclscope::commands::detach},
    {"watch", "show a running job (or a dump) in the terminal", pclscope::commands::watch},
    {"view", "show it in a window", pclscope::commands::view},
    {"inspect", "show what a dump says", pclscope::commands::inspect},
    {"report", "write what a dump says as one page of HTML", pclscope::commands::report},
    {"export", "write what a dump has in a format of another program", pclscope::commands::export_dump},
    {"import", "make a dump of a trace of another program", pclscope::commands::import_trace},
    {"map", "find better nodes for the ranks, and write the launcher's file", pclscope::commands::map},
    {"route", "show the ways that messages take, loaded links, and better ways", pclscope::commands::route},
    {"relay", "speak with a job for a viewer elsewhere, which starts this by ssh", pclscope::commands::relay},
    {"doctor", "look for what would stop a run on this machine", pclscope::commands::doctor},
    {"key", "show or renew the keys of your TCP endpoints", pclscope::commands::key},
};

std::string help() {
  std::string text =
      "pclscope shows where, when and why messages of MPI programs are late.\n\nusage: pclscope COMMAND ...\n\n";
  for (const Command& command : all_commands) {
    text += "  " + std::string(command.name) + std::string(10 - std::string(command.name).size(), ' ') +
            command.summary + "\n";
  }
  return text +
         "\npclscope help COMMAND shows its options; pclscope --version the version and how it was built.\n"
         "example: pclscope run -n 4 --dump run.h5 -- ./app     pclscope watch     pclscope inspect run.h5\n";
}

int dispatch(const Words& words) {
  namespace commands = pclscope::commands;
  if (words.empty()) return commands::fail(commands::wrong_usage, "no command given: pclscope --help lists them");
  const std::string& name = words.front();
  // `help run` is `run --help`.
  if (name == "help" && words.size() > 1) return dispatch({words[1], "--help"});
  if (name == "--help" || name == "-h" || name == "help")
    return commands::print(help()) ? commands::done : commands::could_not;
  if (name == "--version" || name == "-V") {
    return commands::print(pclscope::build_facts()) ? commands::done : commands::could_not;
  }
  for (const Command& command : all_commands) {
    if (name == command.name) return command.function(Words(words.begin() + 1, words.end()));
  }
  std::vector<std::string> known = {"help", "--help", "--version"};
  for (const Command& command : all_commands) known.emplace_back(command.name);
  const std::string kind = name.rfind("-", 0) == 0 ? "unknown option '" : "unknown command '";
  const std::string meant = pclscope::text::did_you_mean(name, known);
  return commands::fail(commands::wrong_usage,
                        kind + name + "'" + meant + (meant.empty() ? ":" : "") + " pclscope --help lists the commands");
}

}  // namespace

int main(int argc, char** argv) {
  pclscope::store::tell_of_crashes();
  try {
    return dispatch(Words(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    return pclscope::commands::fail(pclscope::commands::could_not, std::string("internal error: ") + error.what());
  }
}
