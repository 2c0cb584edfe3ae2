// pclscope report FILE: one page of HTML to send to a colleague.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/inspect/compared.hpp"
#include "viewer/inspect/efficiencies.hpp"
#include "viewer/inspect/opened.hpp"
#include "viewer/report/report.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::commands {
namespace {

constexpr const char* mark = "<meta name=\"generator\" content=\"pclscope report\">";

struct ReportWords {
  std::string target, output, compare;
};

std::optional<int> parse_report(const std::vector<std::string>& words, ReportWords& report) {
  CLI::App app{"Writes what a dump says as one page of HTML: no script, no other file, nothing from a network.",
               "pclscope report"};
  app.add_option("target", report.target, "A dump file (pclscope run --dump), or a running job's name or endpoint")
      ->required();
  app.add_option("-o,--output", report.output,
                 "Write the page there; -: to standard output (default: the dump's name with .html, in this directory)")
      ->type_name("FILE");
  app.add_option("--compare", report.compare, "With what changed since this earlier run (a dump)")->type_name("FILE");
  set_usage(app, "pclscope report TARGET [-o FILE] [--compare FILE]");
  return parse(app, words);
}

std::string default_name(const std::string& target) {
  std::string stem = std::filesystem::path(target).stem().string();
  for (char& c : stem) c = c == '/' || c == ':' ? '-' : c;
  return (stem.empty() ? "report" : stem) + ".html";
}

// Why an existing file must not be replaced; empty: it may be. A report, an empty file, or a pipe may.
std::string why_kept(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return path + " is a directory: give the name of a file";
  if (!std::filesystem::is_regular_file(status) || std::filesystem::file_size(path, error) == 0) return {};
  std::ifstream file(path, std::ios::binary);
  std::string begin(512, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  if (begin.find(mark) != std::string::npos) return {};
  return path + " exists and is no report of pclscope: it is left as it is; remove it, or give another name with -o";
}

int write(const std::string& path, const std::string& html) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << html;
  file.close();
  if (!file) return fail(could_not, "cannot write " + path + ": " + std::strerror(errno));
  say("wrote " + path + " (" + text::format_bytes(static_cast<double>(html.size())) + "): open it in a browser");
  return done;
}

}  // namespace

int report(const std::vector<std::string>& words) {
  ReportWords report;
  if (const auto status = parse_report(words, report)) return *status;
  if (report.output.empty()) report.output = default_name(report.target);
  const bool to_output = report.output == "-";
  if (!to_output)
    if (const std::string why = why_kept(report.output); !why.empty()) return fail(could_not, why);
  std::optional<views::ComparedRun> before;
  if (!report.compare.empty()) {
    auto earlier = open_compared(report.compare);
    if (!earlier) return fail(could_not, earlier.error().message);
    before = std::move(*earlier);
  }
  auto opened = open_inspected(report.target, true);
  if (!opened) return fail(could_not, opened.error().message);
  InspectedRun& inspected = *opened;
  report::Run run;
  run.goes_on = inspected.session->live() && !inspected.session->complete();
  run.lacking = lacking(inspected);
  run.partial = why_not_stored(inspected);
  run.efficiencies = efficiencies_of_run(inspected);
  const bool live = inspected.session->live();
  auto now = compared_run(report.target, inspected);
  if (!now) return fail(could_not, now.error().message);
  run.evolution = live ? views::live_evolution(now->snapshot) : views::evolution_of(now->snapshot, now->windows);
  run.name = now->name;
  run.snapshot = now->snapshot;
  if (before) {
    views::Comparison changes = views::compare(*before, *now);
    run.compared = report::Compared{std::move(*before), std::move(*now), std::move(changes)};
  }
  const std::string html = report::page(run, PCLSCOPE_VERSION);
  if (to_output) return print(html) ? done : could_not;
  return write(report.output, html);
}

}  // namespace pclscope::commands
