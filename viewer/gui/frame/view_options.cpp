#include "viewer/gui/frame/view_options.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "interpose/record/functions.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/gui/frame/registry.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::gui {
namespace {

template <class T>
bool number(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_period(const std::string& text, std::optional<SelectedPeriod>& selected) {
  const std::size_t colon = text.find(':');
  SelectedPeriod period;
  if (colon == std::string::npos || !number(text.substr(0, colon), period.begin_s) ||
      !number(text.substr(colon + 1), period.end_s))
    return false;
  if (!(period.begin_s < period.end_s)) return false;
  selected = period;
  return true;
}

std::string enumerated(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text.append(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ").append(words[i]);
  return text;
}

bool parse_function(const std::string& name, Selection& selection) {
  constexpr std::uint16_t most = 1024;
  for (std::uint16_t number = 1; number < most; ++number)
    if (record::function_name(number) == name) return selection.function = number, true;
  return false;
}

// "0-3+8": commas part what is selected.
bool parse_ranks(std::string list, Selection& selection) {
  if (list.find(',') != std::string::npos) return false;
  std::replace(list.begin(), list.end(), '+', ',');
  const auto ranks = text::parse_ranks(list);
  if (!ranks || ranks->empty()) return false;
  selection.ranks = *ranks;
  return true;
}

bool parse_one(const std::string& key, const std::string& value, Selection& selection) {
  if (key == "period") return parse_period(value, selection.period);
  if (key == "pinned") return parse_period(value, selection.pinned);
  if (key == "ranks") return parse_ranks(value, selection);
  if (key == "function") return value != record::function_name(0) && parse_function(value, selection);
  std::int32_t count = 0;
  if (!number(value, count) || count < 0) return false;
  if (key == "region") selection.region = count;
  else if (key == "rank") selection.rank = count;
  else if (key == "finding") selection.finding = static_cast<std::size_t>(count);
  else return false;
  return true;
}

bool parse_size(const std::string& text, int& width, int& height) {
  const std::size_t x = text.find('x');
  return x != std::string::npos && number(text.substr(0, x), width) && number(text.substr(x + 1), height) &&
         width >= 1 && height >= 1 && width <= 8192 && height <= 8192;
}

}  // namespace

bool parse_selection(const std::string& text, Selection& selection) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos || !parse_one(one.substr(0, equals), one.substr(equals + 1), selection))
      return false;
    begin = end + 1;
  }
  return true;
}

std::optional<int> parse_view(const std::vector<std::string>& words, ViewOptions& options) {
  using commands::wrong_usage;
  CLI::App app{"Shows a running job, or a dump, in a window: where, when, how and why messages are late.",
               "pclscope view"};
  std::string size = "1600x1000", theme = "dark", select;
  std::uint64_t history = options.history_bytes;
  app.add_option(
      "target", options.target,
      "Job name, Slurm job id, endpoint, dump, or a file of traffic or routes (default: your running job, on "
      "whatever node)");
  app.add_option("--compare", options.compare, "Another dump, below this run on the same steps (logical timeline)")
      ->type_name("FILE");
  app.add_flag("--wait", options.wait, "Wait for the job if it does not run yet");
  app.add_option("--via", options.via, "Ask a login node for the job, by ssh: login.site.org")->type_name("HOST");
  app.add_option("--screenshot", options.screenshot, "Write a PNG and end; needs no display")->type_name("FILE.png");
  app.add_option("--size", size, "Of the window or the picture, WIDTHxHEIGHT (1600x1000)")->type_name("WxH");
  app.add_option("--select", select,
                 "What is selected at first, e.g. region=3,period=1.5:2.5,rank=17,ranks=0-3+8,finding=0,"
                 "function=MPI_Recv")
      ->type_name("WHAT");
  std::vector<std::string> views, workspaces;
  for (const ViewEntry& view : all_views()) views.emplace_back(view.name);
  for (const WorkspaceEntry& entry : all_workspaces()) {
    const auto in_it = [&](const ViewEntry& view) { return view.workspace == entry.key; };
    if (std::ranges::any_of(all_views(), in_it)) workspaces.emplace_back(entry.name);
  }
  app.add_option("--only", options.only, "One view alone: " + enumerated(views))->check(CLI::IsMember(views));
  app.add_option("--workspace", options.workspace, "Shown first: " + enumerated(workspaces))
      ->check(CLI::IsMember(workspaces));
  app.add_option("--topology", options.network.topology, "The network, e.g. torus:4x4x2 (docs/mapping.md)")
      ->type_name("SPEC");
  app.add_option("--traffic", options.network.traffic, "Of a route file: who sends how much")->type_name("FILE");
  app.add_option("--ranks-per-node", options.network.ranks_per_node, "Rank r on node r / N (as the run had it, else 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--theme", theme, "dark or light")->check(CLI::IsMember({"dark", "light"}));
  app.add_option("--scale", options.scale, "Size of text and marks, 0.5 to 4 (as the screen says)")
      ->check(CLI::Range(0.5, 4.0));
  app.add_option("--history", history, "Memory for what has been, e.g. 64MiB")->transform(CLI::AsSizeValue(false));
  app.add_option("--describe", options.describe, "Keep a file that says in JSON what is shown and where, for scripts")
      ->type_name("FILE");
  commands::set_usage(app, "pclscope view [JOB|ENDPOINT|FILE] [--wait] [--via HOST] [--screenshot out.png]");
  if (const auto status = commands::parse(app, words)) return status;
  if (!parse_size(size, options.width, options.height)) {
    return commands::fail(wrong_usage,
                          "--size wants WIDTHxHEIGHT, 1x1 to 8192x8192, e.g. 1600x1000; not '" + size + "'");
  }
  if (!select.empty() && !parse_selection(select, options.selection)) {
    return commands::fail(wrong_usage,
                          "--select wants region=N, rank=N, ranks=LIST (0-3+8), finding=N, function=MPI_NAME or "
                          "period=FROM:TO or pinned=FROM:TO (seconds), with commas; not '" +
                              select + "'");
  }
  if (!options.compare.empty() && options.only.empty() && options.workspace.empty()) options.workspace = "time";
  options.selected = !select.empty();
  options.theme = theme == "light" ? layout::Theme::light : layout::Theme::dark;
  options.history_bytes = std::clamp<std::uint64_t>(history, 1u << 20, std::uint64_t{16} << 30);
  return std::nullopt;
}

}  // namespace pclscope::gui
