// What the facts mean for a run: a line each, and what to do.
#pragma once

#include <string>
#include <vector>

#include "viewer/doctor/facts.hpp"

namespace pclscope::doctor {

enum class Verdict { good, note, stops };  // stops: a run would fail

struct Check {
  Verdict verdict = Verdict::good;
  std::string what;    // a word or two
  std::string text;    // how it is
  std::string advice;  // what to do; may be empty where all is good
};

std::vector<Check> judge(const Facts& facts);
bool would_fail(const std::vector<Check>& checks);

std::string as_text(const std::vector<Check>& checks);
std::string as_json(const std::vector<Check>& checks);

}  // namespace pclscope::doctor
