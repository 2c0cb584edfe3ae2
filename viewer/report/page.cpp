#include "viewer/report/html.hpp"
#include "viewer/report/report.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::report {
namespace {

constexpr std::size_t most_of_title = 40;  // columns

// A section with its place in the table of contents.
struct Part {
  const char* id;
  const char* title;
  std::string html;
};

std::string head(const Run& run) {
  const Snapshot& s = run.snapshot;
  const Application& app = s.application;
  const std::string command = app.command.empty() ? run.name : app.command;
  std::string what = number("application.ranks", app.ranks, std::to_string(app.ranks)) +
                     (app.ranks == 1 ? " rank on " : " ranks on ") + std::to_string(app.nodes.size()) +
                     (app.nodes.size() == 1 ? " node" : " nodes") + ", " +
                     escaped(app.mpi.empty() ? "MPI not known" : app.mpi) + ", began " +
                     escaped(text::format_utc(s.time_origin_realtime_ns));
  std::string html = "<header>\n" + element("p", "kind", "Where an MPI program's time goes") + "\n" +
                     element("h1", "", escaped(command)) + "\n" + element("p", "faint", what) + "\n";
  if (run.goes_on)
    html += element("p", "warning", "The job still runs: everything here is of the time until now.") + "\n";
  else if (!run.lacking.empty())
    html += element("p", "warning", escaped("The record is not whole: " + run.lacking + ".")) + "\n";
  return html;
}

}  // namespace

std::string page(const Run& run, const std::string& version) {
  const views::Sites sites(run.snapshot.sites);
  const std::vector<Part> parts = {{"comparison", "What changed", comparison_section(run)},
                                   {"findings", "Findings", findings_section(run, sites)},
                                   {"efficiency", "Efficiency", efficiency_section(run)},
                                   {"regions", "Regions", regions_section(run)},
                                   {"time", "Over time", time_section(run)},
                                   {"ranks", "Ranks", ranks_section(run, sites)},
                                   {"calls", "Calls", calls_section(run, sites)},
                                   {"measured", "What was measured, and what was not", measured_section(run)},
                                   {"methods", "Methods", methods_section()}};
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"pclscope report\">\n" +
      element("title", "", escaped("MPI: " + text::clip(run.snapshot.application.command, most_of_title))) +
      "\n<style>" + style_sheet() + "</style>\n</head>\n<body>\n" + head(run) + "<nav aria-label=\"Contents\">";
  for (const Part& part : parts)
    if (!part.html.empty()) html += std::string("<a href=\"#") + part.id + "\">" + part.title + "</a>\n";
  html += "</nav>\n</header>\n<main>\n" + answer_section(run, sites);
  for (const Part& part : parts)
    if (!part.html.empty())
      html += std::string("<section id=\"") + part.id + "\">\n" + element("h2", "", part.title) + "\n" + part.html +
              "</section>\n";
  return html + "</main>\n" + element("footer", "", escaped("pclscope " + version + ", from " + run.name)) +
         "\n</body>\n</html>\n";
}

}  // namespace pclscope::report
