// Options that a user need not repeat: from variables of the environment, PCLSCOPE_RUN_KEEP=all, and from a file,
// ~/.config/pclscope/config, with lines "keep = all". The command line goes before variables, those before the file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "viewer/commands/command_line.hpp"

namespace pclscope::commands {

struct Setting {
  std::string option;  // "--keep"
  std::string value;
  std::string source;  // for messages: "PCLSCOPE_RUN_KEEP", "/home/me/.config/pclscope/config:3"
};

// $XDG_CONFIG_HOME/pclscope/config, else ~/.config/pclscope/config; empty without a home.
std::string settings_file();

// The settings in a file's text. Lines "option = value"; '#' begins a comment; "[run]" may stand above. Returns the
// first line that is neither, as what is wrong with it.
std::optional<std::string> read_settings(const std::string& text, const std::string& name, std::vector<Setting>& out);

// Appends to `words`, which are those of the command line before the application, what is set elsewhere and not there.
// `make` builds the command's options anew: each setting is tried alone, so that an error names where it comes from.
// Returns the exit status after saying what is wrong.
std::optional<int> add_settings(const std::function<void(CLI::App&)>& make, const std::string& prefix,
                                std::vector<std::string>& words);

}  // namespace pclscope::commands
