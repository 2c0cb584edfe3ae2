#include "viewer/commands/command_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "viewer/text/nearest.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::commands {
namespace {

class Help : public CLI::Formatter {
 public:
  explicit Help(std::string usage) : usage_(std::move(usage)) {
    column_width(32);
    label("REQUIRED", "(required)");
  }
  std::string make_usage(const CLI::App*, std::string) const override { return "usage: " + usage_ + "\n"; }

 private:
  std::string usage_;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string unknown_option(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  return "unknown option '" + word + "'" + text::did_you_mean(word.substr(0, word.find('=')), known);
}

std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  // A misspelt option matters more than what is missing, or was taken for something else, because of it.
  const std::vector<std::string> unknown = app.remaining();
  const auto end = std::find(unknown.begin(), unknown.end(), "--");  // what follows is the application's
  const auto option_like =
      std::find_if(unknown.begin(), end, [](const std::string& word) { return word.rfind("--", 0) == 0; });
  if (option_like != end) return unknown_option(app, *option_like);
  const bool about_presence = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                              dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (about_presence && !unknown.empty()) {
    const std::string& word = unknown.front();
    return word.rfind("-", 0) == 0 ? unknown_option(app, word) : "unexpected word '" + word + "'";
  }
  // CLI11 names an option by its long form; say the short one too: "-n/--ranks is required".
  std::string text = first_line(error.what());
  for (const CLI::Option* option : app.get_options()) {
    const std::string& name = option->get_name();
    const bool meant = !option->get_snames().empty() && text.rfind(name, 0) == 0 &&
                       (text.size() == name.size() || text[name.size()] == ' ' || text[name.size()] == ':');
    if (meant) return "-" + option->get_snames().front() + "/" + text;
  }
  return text;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == 0) continue;
    std::string lower(value);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

void set_usage(CLI::App& app, const std::string& usage) { app.formatter(std::make_shared<Help>(usage)); }

std::optional<int> parse(CLI::App& app, const std::vector<std::string>& words) {
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    return print(app.help()) ? done : could_not;
  } catch (const CLI::ParseError& error) {
    return fail(wrong_usage, complaint(app, error) + " (" + app.get_name() + " --help shows the usage)");
  }
}

void say(const std::string& text) {
  const std::string line = "pclscope: " + text::printable(text) + "\n";
  // One write: lines of several processes on one terminal do not mix.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

int fail(int status, const std::string& text) {
  say(text);
  return status;
}

bool print(const std::string& text) {
  const bool good = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!good && errno != EPIPE) say(std::string("cannot write the output: ") + std::strerror(errno));
  return good;
}

bool print_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return print(text);
}

CLI::Validator duration_between(const std::string& low, const std::string& high) {
  const auto check = [low, high](const std::string& word) -> std::string {
    const auto value = text::parse_duration_ns(word);
    if (!value) return "'" + word + "' is no duration: write for example 100ms or 0.5s";
    if (*value < *text::parse_duration_ns(low) || *value > *text::parse_duration_ns(high)) {
      return "'" + word + "' is not between " + low + " and " + high;
    }
    return "";
  };
  return CLI::Validator(check, "");
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& word) -> std::string {
    if (std::find(words.begin(), words.end(), word) != words.end()) return "";
    std::string list;
    for (const std::string& known : words) list += (list.empty() ? "" : ", ") + known;
    return "'" + word + "' is none of " + list + text::did_you_mean(word, words);
  };
  return CLI::Validator(check, "");
}

bool output_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

views::PageOptions page_options(bool ascii) {
  views::PageOptions options;
  options.ascii = ascii || !locale_is_utf8();
  winsize size{};
  if (output_is_terminal() && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    options.width = size.ws_col;
    options.height = size.ws_row;
  } else if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    if (const int width = std::atoi(columns); width >= 20 && width <= 10'000) options.width = width;
  }
  return options;
}

}  // namespace pclscope::commands
