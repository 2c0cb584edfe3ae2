#include "viewer/launch/background.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "viewer/launch/program.hpp"

namespace pclscope::launch {
namespace {

// In the child, between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(char* const* argv, int input, int log, int report) {
  ::setsid();
  ::dup2(input, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  ::execv(argv[0], argv);
  const int error = errno;
  [[maybe_unused]] const ssize_t sent = ::write(report, &error, sizeof error);
  ::_exit(127);
}

// The job was preloaded, perhaps for everything that this shell starts: the tool must not record itself.
void forget_preloading() {
  const char* before = std::getenv("LD_PRELOAD");
  if (before == nullptr) return;
  std::string kept, library;
  std::istringstream libraries(before);
  while (std::getline(libraries, library, ':')) {
    if (base_name(library).rfind("libpclscope-", 0) != 0 && !library.empty())
      kept += (kept.empty() ? "" : ":") + library;
  }
  if (kept.empty()) ::unsetenv("LD_PRELOAD");
  else ::setenv("LD_PRELOAD", kept.c_str(), 1);
}

}  // namespace

Result<pid_t> start_in_background(const std::vector<std::string>& arguments,
                                  const std::vector<std::pair<std::string, std::string>>& environment,
                                  const std::string& log) {
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  forget_preloading();
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::unlink(log.c_str());
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file >= 0) ::fchmod(file, 0600);  // whatever the umask is
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  int ends[2] = {-1, -1};
  int error = file < 0 || input < 0 || ::pipe2(ends, O_CLOEXEC) != 0 ? errno : 0;
  const pid_t pid = error == 0 ? ::fork() : -1;
  if (pid == 0) become(argv.data(), input, file, ends[1]);
  if (error == 0 && pid < 0) error = errno;
  for (const int fd : {file, input, ends[1]}) {
    if (fd >= 0) ::close(fd);
  }
  if (pid > 0 && ::read(ends[0], &error, sizeof error) != static_cast<ssize_t>(sizeof error)) error = 0;
  if (ends[0] >= 0) ::close(ends[0]);
  if (error != 0) return Error{ErrorCode::io, "cannot start " + arguments[0] + ": " + std::strerror(error)};
  return pid;
}

}  // namespace pclscope::launch
