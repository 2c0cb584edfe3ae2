// pclscope export FILE --to FORMAT: what a dump has, for other programs.
#include <csignal>
#include <filesystem>
#include <optional>

#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/export/format.hpp"
#include "viewer/export/output.hpp"
#include "viewer/export/progress.hpp"
#include "viewer/inspect/opened.hpp"
#include "viewer/inspect/run.hpp"
#include "viewer/session/target.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::commands {
namespace {

using exporting::Choice;
using exporting::FileFormat;

struct ExportWords {
  std::string dump, format, output, ranks, from, until;
  std::optional<std::int32_t> region;
  bool force = false;
};

std::optional<int> parse_export(const std::vector<std::string>& words, ExportWords& to) {
  CLI::App app{"Writes what a dump has in a format of another program.", "pclscope export"};
  app.add_option("file", to.dump, "A dump file (pclscope run --dump)")->required();
  std::vector<std::string> names;
  std::string help = "What to write.";
  for (const FileFormat* format : exporting::formats()) {
    names.emplace_back(format->name);
    help += std::string(" ") + format->name + ": " + format->help + ".";
  }
  app.add_option("--to", to.format, help)->required()->type_name("FORMAT")->check(one_of(names));
  app.add_option("-o,--output", to.output,
                 "Write it there (default: the dump's name with the format's ending, in this directory)")
      ->type_name("PATH");
  app.add_flag("--force", to.force, "Replace what is there");
  app.add_option("--from", to.from,
                 "Only what begins from then on, since the start: 12.5, 300ms, 2min; -2s is before the end")
      ->type_name("T");
  app.add_option("--until", to.until, "Only what begins before")->type_name("T");
  auto* ranks = app.add_option("--rank", to.ranks, "Only what concerns these ranks: 3 or 0-3,8")->type_name("R");
  app.add_option("--region", to.region, "Only what concerns the ranks of this region")
      ->type_name("ID")
      ->excludes(ranks);
  set_usage(app,
            "pclscope export FILE --to FORMAT [-o PATH] [--from T] [--until T] [--rank R] [--region ID] [--force]");
  return parse(app, words);
}

// The words' ranks, region and period, or the exit status.
std::optional<int> choose(const ExportWords& words, const InspectedRun& run, Choice& choice) {
  const auto moment = [](const char* option, const std::string& word, std::optional<std::int64_t>& to) {
    if (word.empty()) return true;
    to = text::parse_moment_ns(word);
    if (!to) say(std::string(option) + ": '" + word + "' is no moment: write for example 12.5, 300ms, 02:13 or -2s");
    return to.has_value();
  };
  InspectWords period;
  if (!moment("--from", words.from, period.from_ns) || !moment("--until", words.until, period.to_ns))
    return wrong_usage;
  const auto span = span_of(period, run);
  if (!span) return fail(span.error().code == ErrorCode::bad_argument ? wrong_usage : could_not, span.error().message);
  choice.from_ns = span->begin_ns;
  choice.until_ns = span->end_ns;
  const std::int32_t all = run.snapshot.application.ranks;
  if (!words.ranks.empty()) {
    const auto parsed = text::parse_ranks(words.ranks);
    if (!parsed) return fail(wrong_usage, "--rank: '" + words.ranks + "' is no list of ranks: write for example 0-3,8");
    if (!parsed->empty() && parsed->back() >= all)
      return fail(could_not, "no rank " + std::to_string(parsed->back()) + ": the dump has " + std::to_string(all));
    choice.ranks = *parsed;
  }
  if (words.region) {
    for (const auto* regions : {&run.snapshot.regions, &run.snapshot.ended_regions})
      for (const Region& region : *regions)
        if (region.id == *words.region && choice.ranks.empty()) choice.ranks = region.ranks;
    if (choice.ranks.empty()) return fail(could_not, "no region " + std::to_string(*words.region) + " in the dump");
  }
  return std::nullopt;
}

std::string default_name(const std::string& dump, const FileFormat& format) {
  const std::string stem = std::filesystem::path(dump).stem().string();
  return (stem.empty() ? "run" : stem) + format.ending;
}

std::string why_lacking(const InspectedRun& run) {
  std::string why = why_partial(run);
  const session::CallCount calls = run.session->mpi_call_count();
  if (!calls.told) return both(why, "the dump has no single calls (it is of an earlier version)");
  if (calls.not_stored > 0)
    why = both(why, text::format_count(calls.not_stored) + " MPI calls were made but not stored");
  return why;
}

// The name that the user knows, in place of that under which it grows.
std::string with_name(std::string message, const std::string& growing, const std::string& path) {
  for (std::size_t at; (at = message.find(growing)) != std::string::npos;) message.replace(at, growing.size(), path);
  return message;
}

Status write(const FileFormat& format, const exporting::Run& run, const std::string& path, std::string& wrote) {
  exporting::LongWork work("exporting");
  // Passes over the rows before the one that writes take a fifth.
  auto sink = format.open(run, path, [&](double share) { return work.go_on(share * 0.2); });
  if (!sink) return sink.error();
  if (format.needs != 0) {
    const Status visited = exporting::visit_slices(
        run.reader, run.choice, format.needs, [&](double share) { return work.go_on(0.2 + share * 0.8); },
        [&](const exporting::Slice& slice) { return (*sink)->add(slice); });
    if (!visited) return visited;
  }
  if (const Status finished = (*sink)->finish(); !finished) return finished;
  if (work.interrupted()) return exporting::stopped();
  wrote = (*sink)->wrote();
  return {};
}

}  // namespace

int export_dump(const std::vector<std::string>& words) {
  ExportWords given;
  if (const auto status = parse_export(words, given)) return *status;
  const FileFormat& format = *exporting::format_named(given.format);
  if (!session::is_existing_file(given.dump))
    return fail(could_not, given.dump + ": no such file (a running job has no single messages: give its dump)");
  auto run = open_inspected(given.dump, true);
  if (!run) return fail(could_not, run.error().message);
  auto reader = store::Reader::open(given.dump);
  if (!reader) return fail(could_not, reader.error().message);
  Choice choice;
  if (const auto status = choose(given, *run, choice)) return *status;
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error, told in a line
  const std::string path = given.output.empty() ? default_name(given.dump, format) : given.output;
  auto output = exporting::Output::begin(path, format.folder, given.force);
  if (!output) return fail(could_not, output.error().message);
  const exporting::Run what{given.dump, run->snapshot, **reader, choice, why_lacking(*run)};
  std::string wrote;
  if (const Status written = write(format, what, output->path(), wrote); !written)
    return fail(could_not, with_name(written.error().message, output->path(), path));
  if (const Status named = output->finish(); !named) return fail(could_not, named.error().message);
  if (!what.lacking.empty()) say("not all is there: " + what.lacking);
  say("wrote " + path + ": " + wrote);
  return done;
}

}  // namespace pclscope::commands
