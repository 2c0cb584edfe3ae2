// Finding programs as a shell would.
#pragma once

#include <string>
#include <string_view>

namespace pclscope::launch {

enum class ProgramState { found, missing, not_executable };

struct Program {
  ProgramState state = ProgramState::missing;
  std::string path;
};

// A name with a slash is a path; others are looked for in `search` (the value of PATH).
Program find_program(const std::string& name, const std::string& search);

// The interpreter that a script names in its first line ("#!/usr/bin/env python3" -> "python3"), without arguments
// and directories; empty when the file is no script.
std::string script_interpreter(const std::string& path);

std::string_view base_name(std::string_view path);

}  // namespace pclscope::launch
