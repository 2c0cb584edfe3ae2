// pclscope-lines: answers where in the source a call is written (line_protocol.hpp), on a socket that is its standard
// input. A program of its own because libdw reads files that may be damaged or huge: it may crash, hang or be killed,
// and costs its parent neither time nor memory. Ends with its parent.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <map>

#include "analysis/callsite/line_finder.hpp"
#include "analysis/callsite/line_protocol.hpp"

namespace {

using namespace pclscope::callsite;

constexpr std::size_t most_modules = 64;  // open at once

// Nobody's patience, core files or network for a few lines.
void be_modest() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::unsetenv("DEBUGINFOD_URLS");
  [[maybe_unused]] const int nice_now = ::nice(10);
}

class Modules {
 public:
  Place find(const Question& question) {
    const auto key = std::pair(question.path, question.build_id);
    auto known = modules_.find(key);
    if (known == modules_.end()) {
      if (modules_.size() >= most_modules) modules_.clear();
      known = modules_.emplace(key, LineFinder::open(question.path, question.build_id)).first;
    }
    return known->second ? known->second->find(question.offset) : Place{};
  }

 private:
  std::map<std::pair<std::string, std::string>, std::unique_ptr<LineFinder>> modules_;
};

}  // namespace

int main() {
  be_modest();
  Modules modules;
  std::array<char, longest_packet> buffer;
  for (;;) {
    const ssize_t length = ::recv(STDIN_FILENO, buffer.data(), buffer.size(), 0);
    if (length <= 0) return 0;  // the parent has left; or somebody started us by hand
    const auto question = unpack_question({buffer.data(), static_cast<std::size_t>(length)});
    if (!question) return 1;
    const std::string answer = pack(Answer{question->id, modules.find(*question)});
    if (::send(STDIN_FILENO, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return 0;
  }
}
