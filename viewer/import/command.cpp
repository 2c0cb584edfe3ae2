// pclscope import TRACE: a trace of another program becomes a dump.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>

#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/export/output.hpp"
#include "viewer/export/progress.hpp"
#include "viewer/import/converter.hpp"
#include "viewer/import/offline_run.hpp"
#include "viewer/import/otf2_trace.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::commands {
namespace {

using importing::OfflineOptions;
using importing::OfflineRun;

constexpr std::uint64_t events_at_once = 50'000;
constexpr std::uint64_t least_budget = 10'000'000;
constexpr rlim_t most_memory = rlim_t{16} << 30;  // of addresses: a number in a damaged trace is not believed

struct ImportWords {
  std::string trace, output, keep = "interesting", budget, window;
  OfflineOptions options;
  bool force = false;
};

std::optional<int> parse_import(const std::vector<std::string>& words, ImportWords& to) {
  CLI::App app{"Makes a dump of an OTF2 trace (Score-P, TAU, Extrae, pclscope export).", "pclscope import"};
  app.add_option("trace", to.trace, "The archive's .otf2 file, or its folder")->required();
  app.add_option("-o,--output", to.output, "The dump (default: the trace's name with .h5, in this directory)")
      ->type_name("FILE");
  app.add_flag("--force", to.force, "Replace what is there");
  app.add_option("--keep", to.keep, "Messages and calls in the dump, as of run: summaries, interesting or all")
      ->type_name("WHAT")
      ->check(one_of({"summaries", "interesting", "all"}));
  app.add_option("--budget", to.budget, "The dump never grows beyond this: 500MB, 2GB (2GB)")->type_name("SIZE");
  app.add_option("--window", to.window, "Length of the analysis windows (100ms)")
      ->type_name("TIME")
      ->check(duration_between("10ms", "60s"));
  set_usage(app, "pclscope import TRACE.otf2 [-o FILE] [--keep WHAT] [--budget SIZE] [--window TIME] [--force]");
  if (const auto status = parse(app, words)) return status;
  to.options.keep = to.keep == "summaries" ? Keep::summaries : to.keep == "all" ? Keep::all : Keep::interesting;
  if (!to.window.empty()) to.options.window_ns = text::parse_duration_ns(to.window).value_or(to.options.window_ns);
  if (!to.budget.empty()) {
    const auto bytes = text::parse_bytes(to.budget);
    if (!bytes || *bytes < least_budget)
      return fail(wrong_usage, "--budget: '" + to.budget + "' is no size of 10MB at least: write for example 500MB");
    to.options.budget_bytes = *bytes;
  }
  return std::nullopt;
}

// The file in a folder; else the word itself.
std::string anchor_of(const std::string& word) {
  std::error_code error;
  if (!std::filesystem::is_directory(word, error)) return word;
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(word, error))
    if (entry.path().extension() == ".otf2" && (found.empty() || entry.path().string() < found)) found = entry.path();
  return found.empty() ? word + "/traces.otf2" : found;
}

std::string default_name(const std::string& word) {
  std::filesystem::path path(word);
  while (path.has_relative_path() && path.filename().empty()) path = path.parent_path();
  std::error_code error;
  if (path.filename() == "traces.otf2" && path.has_parent_path()) path = path.parent_path();
  const std::string stem = path.stem().string();
  return (stem.empty() || stem == "." || stem == ".." ? "run" : stem) + ".h5";
}

int tell(const Error& error, const std::string& growing, const std::string& path) {
  std::string line = error.message;
  for (std::size_t at; (at = line.find(growing)) != std::string::npos;) line.replace(at, growing.size(), path);
  return fail(could_not, line);
}

// All of it, into `growing`. What is told names `path`.
int convert(const ImportWords& words, const std::string& anchor, const std::string& growing, const std::string& path) {
  exporting::LongWork work("importing");
  auto opened = importing::Otf2Trace::open(anchor);
  if (!opened) return tell(opened.error(), growing, path);
  importing::Otf2Trace& archive = **opened;
  const importing::Trace& trace = archive.trace();
  OfflineOptions options = words.options;
  options.time_origin_realtime_ns = trace.defined.realtime_ns;
  options.origin_ticks = importing::origin_ticks;
  importing::CallPlaces places(trace);
  auto run = OfflineRun::begin(trace.application, places, growing, options);
  if (!run) return tell(run.error(), growing, path);
  importing::Converter converter(trace, places,
                                 [&](std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
                                   (*run)->take(rank, thread, events);
                                 });
  Status fed;
  const double all = static_cast<double>(std::max<std::uint64_t>(1, archive.events()));
  std::uint64_t events = 0;
  const Status read = archive.read(converter, events_at_once, [&](std::uint64_t done) {
    events = done;
    const std::int64_t until = converter.hand_on();
    fed = (*run)->round(until, !converter.holds());
    return fed && work.go_on(static_cast<double>(done) / all);
  });
  if (work.interrupted()) return tell(exporting::stopped(), growing, path);
  if (!fed) return tell(fed.error(), growing, path);
  if (!read) return tell(read.error(), growing, path);
  if (converter.mpi_events() == 0)
    return fail(could_not, words.trace + (events == 0 ? " has no events" : " has no events of MPI") +
                               ": there is nothing to analyse");
  converter.finish();
  if (const Status stored = (*run)->finish(std::filesystem::path(path).stem().string()); !stored)
    return tell(stored.error(), growing, path);
  for (const std::string& note : trace.notes) say("of the trace: " + text::printable(note));
  for (const std::string& note : converter.oddities().words()) say("of the trace: " + note);
  const Snapshot& s = (*run)->summary();
  if (s.messages.clock_violations > 0)
    say("of the trace: " + text::format_count(s.messages.clock_violations) +
        " messages were received before they were sent: its clocks disagree");
  say("imported " + text::format_count(events) + " events of " + text::format_count(trace.place_of.size()) +
      (trace.place_of.size() == 1 ? " location: " : " locations: ") + text::format_count(s.messages.matched) +
      " messages matched");
  return done;
}

volatile pid_t worker = 0;
void pass_on(int signal) { ::kill(worker, signal); }

// In a process of its own: libotf2 is not made for damaged archives. Returns its status, -1 when a signal ended it.
template <class Work>
int apart(Work&& work) {
  const pid_t child = ::fork();
  if (child < 0) return work();
  if (child == 0) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGTERM);
    rlimit limit{0, 0};
    (void)::setrlimit(RLIMIT_CORE, &limit);
#ifndef PCLSCOPE_UNDER_SANITIZER  // which needs many more
    if (::getrlimit(RLIMIT_AS, &limit) == 0) {
      limit.rlim_cur = std::min(limit.rlim_cur, most_memory);
      (void)::setrlimit(RLIMIT_AS, &limit);
    }
#endif
    int status = could_not;
    try {
      status = work();
    } catch (const std::bad_alloc&) {
      status = fail(could_not, "not enough memory: the trace is damaged, or very large");
    } catch (const std::exception& error) { status = fail(could_not, std::string("internal error: ") + error.what()); }
    std::_Exit(status);
  }
  worker = child;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, pass_on);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

int import_trace(const std::vector<std::string>& words) {
  ImportWords given;
  if (const auto status = parse_import(words, given)) return *status;
  const std::string anchor = anchor_of(given.trace);
  if (std::error_code error; !std::filesystem::exists(anchor, error)) return fail(could_not, anchor + ": no such file");
  std::signal(SIGXFSZ, SIG_IGN);
  const std::string path = given.output.empty() ? default_name(given.trace) : given.output;
  auto output = exporting::Output::begin(path, false, given.force);
  if (!output) return fail(could_not, output.error().message);
  const int status = apart([&] { return convert(given, anchor, output->path(), path); });
  if (status < 0) return fail(could_not, given.trace + " cannot be read: libotf2 failed on it, the archive is damaged");
  if (status != done) return status;
  if (const Status named = output->finish(); !named) return fail(could_not, named.error().message);
  say("dump " + path + "; to look at it: pclscope inspect " + path);
  return done;
}

}  // namespace pclscope::commands
