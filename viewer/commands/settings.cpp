#include "viewer/commands/settings.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "viewer/text/nearest.hpp"

namespace pclscope::commands {
namespace {

using Words = std::vector<std::string>;

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// "--ring-events" -> "PCLSCOPE_RUN_RING_EVENTS"
std::string variable_of(const std::string& prefix, const std::string& option) {
  std::string name = prefix + option.substr(2);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
  return name;
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// The long names of all options but --help, and the options that stand in the words.
std::vector<const CLI::Option*> settable(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_lnames().empty() && option->get_lnames().front() != "help") options.push_back(option);
  return options;
}

std::set<const CLI::Option*> given(const CLI::App& app, const Words& words) {
  std::set<const CLI::Option*> found;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word.front() != '-') continue;
    const bool is_long = word.rfind("--", 0) == 0;
    const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) continue;
    found.insert(option);
    const bool has_value = is_long ? name.size() < word.size() : word.size() > 2;
    if (!is_flag(*option) && !has_value) ++i;
  }
  return found;
}

// The word that stands for a setting; nothing when a flag is off. Fails with what is wrong.
std::optional<std::string> word_of(const CLI::Option& option, const Setting& setting, std::string& wrong) {
  if (!is_flag(option)) return setting.option + "=" + setting.value;
  for (const char* yes : {"1", "true", "yes", "on"})
    if (setting.value == yes) return setting.option;
  for (const char* no : {"0", "false", "no", "off", ""})
    if (setting.value == no) return std::nullopt;
  wrong = "'" + setting.value + "' is neither yes nor no";
  return std::nullopt;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// What the command says of the setting alone.
std::string trial(const std::function<void(CLI::App&)>& make, const std::string& word) {
  CLI::App app;
  make(app);
  for (CLI::Option* option : app.get_options()) option->required(false);
  try {
    app.parse(Words{word});
  } catch (const CLI::ParseError& error) { return first_line(error.what()); }
  return "";
}

}  // namespace

std::string settings_file() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return std::string(config) + "/pclscope/config";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.config/pclscope/config" : "";
}

std::optional<std::string> read_settings(const std::string& text, const std::string& name, std::vector<Setting>& out) {
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string source = name + ":" + std::to_string(++number);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    line = trimmed(line);
    if (line == "[run]") continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || equals == 0)
      return source + ": '" + line + "' is no setting: write for example keep = all";
    out.push_back({"--" + trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)), source});
  }
  return std::nullopt;
}

std::optional<int> add_settings(const std::function<void(CLI::App&)>& make, const std::string& prefix, Words& words) {
  CLI::App app;
  make(app);
  std::vector<Setting> settings;
  Words names;
  for (const CLI::Option* option : settable(app)) {
    names.push_back("--" + option->get_lnames().front());
    const std::string variable = variable_of(prefix, names.back());
    if (const char* value = std::getenv(variable.c_str())) settings.push_back({names.back(), value, variable});
  }
  const std::string file = settings_file();
  if (std::ifstream content(file); !file.empty() && content) {
    std::ostringstream text;
    text << content.rdbuf();
    if (const auto wrong = read_settings(text.str(), file, settings)) return fail(wrong_usage, *wrong);
  }
  auto known = given(app, words);
  for (const Setting& setting : settings) {
    const CLI::Option* option = app.get_option_no_throw(setting.option);
    if (option == nullptr || std::find(names.begin(), names.end(), setting.option) == names.end())
      return fail(wrong_usage, setting.source + ": there is no option '" + setting.option + "'" +
                                   text::did_you_mean(setting.option, names));
    if (!known.insert(option).second) continue;  // said before, by who goes first
    std::string wrong;
    const auto word = word_of(*option, setting, wrong);
    if (wrong.empty() && word) wrong = trial(make, *word);
    if (!wrong.empty()) return fail(wrong_usage, setting.source + ": " + wrong);
    if (word) words.push_back(*word);
  }
  return std::nullopt;
}

}  // namespace pclscope::commands
