#include "viewer/launch/program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace pclscope::launch {
namespace {

ProgramState state_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return ProgramState::missing;
  return S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0 ? ProgramState::found
                                                                      : ProgramState::not_executable;
}

}  // namespace

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

Program find_program(const std::string& name, const std::string& search) {
  if (name.empty()) return {};
  if (name.find('/') != std::string::npos) return {state_of(name), name};
  Program best;
  std::istringstream directories(search);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string path = (directory.empty() ? "." : directory) + "/" + name;
    const ProgramState state = state_of(path);
    if (state == ProgramState::found) return {state, path};
    if (state == ProgramState::not_executable && best.path.empty()) best = {state, path};
  }
  return best;
}

std::string script_interpreter(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line(256, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  if (line.rfind("#!", 0) != 0) return "";
  line.erase(std::min(line.find('\n'), line.size()));
  std::istringstream words(line.substr(2));
  std::string word;
  words >> word;
  if (base_name(word) == "env") {
    while (words >> word && (word.front() == '-' || word.find('=') != std::string::npos)) {}
  }
  return std::string(base_name(word));
}

}  // namespace pclscope::launch
