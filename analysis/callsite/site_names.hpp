// Asks the program pclscope-lines where call sites are written, without ever waiting for it unless told to: questions
// queue up, answers come when they come. When it crashes or hangs over a file, that file gets no more questions.
// One thread owns a SiteNames.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/callsite/line_protocol.hpp"

namespace pclscope::callsite {

class SiteNames {
 public:
  // `program`: the path of pclscope-lines; it is started at the first question. Where it cannot be, nothing is known.
  explicit SiteNames(std::string program = lines_program());
  ~SiteNames();  // ends the program
  SiteNames(const SiteNames&) = delete;
  SiteNames& operator=(const SiteNames&) = delete;

  void ask(Question question);
  // Every question is answered once, if only with an empty place. Never blocks.
  std::vector<Answer> answers();
  // The same, waiting until nothing is open or the time is over.
  std::vector<Answer> wait_for_answers(std::chrono::milliseconds at_most);
  bool idle() const { return waiting_.empty() && asked_.empty(); }

  static std::string lines_program();

 private:
  using Clock = std::chrono::steady_clock;
  bool start();
  void stop();
  void send_questions();
  void give_up_on_oldest();  // the program died or hangs over it
  bool is_bad(const Question& q) const { return bad_.contains(q.path); }

  std::string program_;
  int socket_ = -1;
  int pid_ = -1;
  int starts_left_ = 4;
  std::deque<Question> waiting_;
  std::deque<Question> asked_;    // sent, not answered
  Clock::time_point asked_at_{};  // when the oldest of them became the oldest
  std::set<std::string> bad_;     // paths
  std::vector<Answer> ready_;
};

}  // namespace pclscope::callsite
