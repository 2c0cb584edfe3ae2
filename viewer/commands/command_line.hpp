// What all commands share: parsing with one-line errors, and the terminal they print to.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "viewer/views/page_options.hpp"

namespace pclscope::commands {

inline constexpr int done = 0;
inline constexpr int could_not = 1;
inline constexpr int wrong_usage = 2;

// The usage line of the command's help, in place of CLI11's.
void set_usage(CLI::App& app, const std::string& usage);

// Fills the variables behind `app`. Returns an exit status when the command is over already: help printed (0), or
// a usage error said in one line (2). `app` is named like the command: "pclscope run".
std::optional<int> parse(CLI::App& app, const std::vector<std::string>& words);

// One line on standard error, free of control characters: "pclscope: TEXT".
void say(const std::string& text);
// The same, returning the status: `return fail(could_not, "...")`.
int fail(int status, const std::string& text);

// To standard output; false when it cannot be written (the error is said).
bool print(const std::string& text);
bool print_lines(const std::vector<std::string>& lines);

// A check for CLI11 options that are durations, within [low, high].
CLI::Validator duration_between(const std::string& low, const std::string& high);

// The same for options that are one of some words; names the one that was meant.
CLI::Validator one_of(const std::vector<std::string>& words);

// Whether standard output is a terminal, its size (else 80 columns, `lines` unlimited), and what it can show.
bool output_is_terminal();
views::PageOptions page_options(bool ascii);

}  // namespace pclscope::commands
