#include "viewer/reach/remote_command.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "analysis/installation/installation.hpp"
#include "viewer/launch/shell_words.hpp"

namespace pclscope::reach {
namespace {

std::string likely_program(const std::string& program) {
  if (!program.empty() && program[0] == '/') return program;
  return own_folder() + "/pclscope";
}

}  // namespace

bool is_host(const std::string& word) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == ':' || c == '@' || c == '[' || c == ']' ||
           c == '%';
  };
  return !word.empty() && word.size() < 256 && word[0] != '-' && std::all_of(word.begin(), word.end(), allowed);
}

std::vector<std::string> relay_words(const discovery::Job& job) { return {"relay", job.name, "--at", job.endpoint}; }

RelayCommand by_ssh(const std::string& host, const std::string& program, const std::vector<std::string>& words,
                    const std::string& before, int connect_s) {
  RelayCommand command;
  const char* given = std::getenv("PCLSCOPE_SSH");
  const auto words_given = launch::split_words(given != nullptr ? given : "");
  command.arguments = words_given && !words_given->empty() ? *words_given : std::vector<std::string>{"ssh"};
  const std::string connect = "ConnectTimeout=" + std::to_string(connect_s);
  for (const char* option : {"BatchMode=yes", connect.c_str(), "ServerAliveInterval=5", "ServerAliveCountMax=3",
                             "LogLevel=ERROR", "ForwardX11=no", "ClearAllForwardings=yes"}) {
    command.arguments.insert(command.arguments.end(), {"-o", option});
  }
  // The login shell may be any; sh is the same everywhere.
  std::string line =
      before + "p=" + launch::quote_word(likely_program(program)) + "; [ -x \"$p\" ] || p=pclscope; exec \"$p\"";
  for (const std::string& one : words) line += " " + launch::quote_word(one);
  command.arguments.insert(command.arguments.end(), {"-T", host, "exec sh -c " + launch::quote_word(line)});
  command.where = "ssh to " + host;
  command.host = host;
  return command;
}

RelayCommand by_srun(const discovery::Job& job, const std::vector<std::string>& words) {
  RelayCommand command;
  command.arguments = {"srun",
                       "--overlap",
                       "--jobid=" + job.batch_job,
                       "--nodes=1",
                       "--ntasks=1",
                       "-w",
                       job.node.substr(0, job.node.find('.')),
                       "--immediate=10",
                       "--unbuffered",
                       "--quiet",
                       likely_program(job.program)};
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  command.where = "srun on " + job.node;
  command.host = job.node;
  return command;
}

}  // namespace pclscope::reach
