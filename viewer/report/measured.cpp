// What a report rests on: what was recorded, what was lost on the way, and what the words mean.
#include <algorithm>

#include "viewer/report/html.hpp"
#include "viewer/report/report.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/held_up_text.hpp"
#include "viewer/views/network_lines.hpp"
#include "viewer/views/period_text.hpp"

namespace pclscope::report {
namespace {

std::string row(std::string_view what, const std::string& html) {
  return "<tr>" + row_title("words", escaped(what)) + element("td", "words", html) + "</tr>\n";
}

std::string count(const char* field, std::uint64_t n) { return number(field, n, text::format_count(n)); }

std::string paired(const MessageTotals& m) {
  return count("messages.matched", m.matched) + " messages paired with certainty; " +
         count("messages.unmatched_sends", m.unmatched_sends) + " sends and " +
         count("messages.unmatched_receives", m.unmatched_receives) + " receives without a partner; " +
         count("messages.ambiguous", m.ambiguous) + " completed, but their pairing is not certain";
}

std::string lost(const MessageTotals& m) {
  std::string html =
      m.dropped_events == 0 ? "no event" : count("messages.dropped_events", m.dropped_events) + " events";
  html += " lost at full buffers";
  if (m.half_recorded > 0)
    html += "; of " + count("messages.half_recorded", m.half_recorded) + " messages one side only was recorded";
  return html;
}

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "" : text::format_share(static_cast<double>(std::min(part, whole)) / static_cast<double>(whole));
}

}  // namespace

std::string measured_section(const Run& run) {
  const Snapshot& s = run.snapshot;
  const MessageTotals& m = s.messages;
  std::string html = "<div class=\"wide\"><table>\n<tbody>\n";
  html += row("whole run", run.goes_on           ? "the job still runs"
                           : run.lacking.empty() ? "from the beginning to the end, all ranks"
                                                 : escaped(run.lacking));
  html += row("messages", paired(m));
  html += row("lost", lost(m));
  if (m.foreign > 0)
    html += row("others",
                count("messages.foreign", m.foreign) + " messages to or from ranks outside the job: counted only");
  if (m.clock_violations + m.clock_unclear > 0)
    html += row("clocks", count("messages.clock_violations", m.clock_violations) +
                              " messages received before they were sent; " +
                              count("messages.clock_unclear", m.clock_unclear) +
                              " by less than the clocks' error: without a latency");
  if (const std::string text = views::held_up_text(s); !text.empty()) html += row("cost of the tool", escaped(text));
  if (const std::string text = views::kept_line(s.retention); !text.empty()) html += row("kept", escaped(text));
  if (!run.partial.empty()) html += row("not kept", escaped(run.partial));
  if (const std::uint64_t out = s.delay_totals.messages_left_out; out > 0)
    html += row("delays", "from " + escaped(share_of(m.matched - std::min(out, m.matched), m.matched)) +
                              " of the messages: " + count("delay_totals.messages_left_out", out) +
                              " came too fast to be followed");
  if (const std::uint64_t out = s.ideal.messages_left_out; out > 0)
    html += row("ideal network", "replayed " + count("ideal.messages", s.ideal.messages) + " messages, left out " +
                                     count("ideal.messages_left_out", out));
  for (const std::string& line : views::network_lines(s)) html += row("nodes", escaped(line));
  html += row("not measured",
              "what ranks do between MPI calls is known by its length only; switches and links are seen through "
              "messages; other runs of the program are not part of these figures");
  return html + "</tbody></table></div>\n";
}

std::string methods_section() {
  constexpr const char* notes[][2] = {
      {"Inside MPI",
       "Time between entry and return of MPI calls, summed over ranks (and their threads), of all their time. It is "
       "split into waiting for messages that were not sent yet (late sender), for receivers that were not ready (late "
       "receiver), for messages under way (exposed transfer), in collectives for those that came later, one-sided "
       "synchronisation, files, MPI_Init, MPI_Finalize (until the last rank has entered it), and the rest. Each second "
       "of a blocked rank is in one of these parts."},
      {"Latency ratio",
       "Time of a message divided by what messages of its size and class (inside a node, between nodes) usually take: "
       "the median of this run, or of a baseline. 1 is usual. Typical is the geometric mean over messages."},
      {"Regions", "Ranks that talk to each other more than to others, found from the messages."},
      {"Delay caused",
       "Waiting of all others that goes back to what a rank computed before it came late, directly and through ranks "
       "that waited and were late themselves. Given as so many ranks that stood still over the whole run."},
      {"Efficiencies",
       "Load balance: mean over longest computation of a rank. Communication: longest computation over run time. "
       "Transfer: run time on a network on which nothing takes time, by replay, over run time. Serialisation: the rest "
       "of communication. Of the model of the POP centre of excellence."},
      {"Findings",
       "Rules on these measures, each with a confidence from 0 to 1; its cost is the ranks' time lost to it, its gain "
       "what a replay of the recorded calls without the cause saves. The gain can be less than the cost: others may "
       "have to wait for something else then."},
  };
  std::string html = "<dl class=\"methods\">\n";
  for (const auto& [what, means] : notes) html += element("dt", "", what) + element("dd", "", escaped(means)) + "\n";
  return html + "</dl>\n" +
         element("p", "note",
                 "Formulas, parameters and sources: docs/methods.md and docs/attribution.md of pclscope.") +
         "\n";
}

}  // namespace pclscope::report
