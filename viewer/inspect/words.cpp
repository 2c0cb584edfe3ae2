#include "viewer/inspect/words.hpp"

#include <algorithm>
#include <map>

#include "interpose/record/functions.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/text/nearest.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::commands {
namespace {

using views::MessageOrder;

const std::map<std::string, MessageOrder> orders = {{"stored", MessageOrder::stored},
                                                    {"time", MessageOrder::time},
                                                    {"ratio", MessageOrder::ratio},
                                                    {"bytes", MessageOrder::bytes},
                                                    {"duration", MessageOrder::duration}};
const std::map<std::string, logical::Metric> metrics = {{"lateness", logical::Metric::lateness},
                                                        {"entry", logical::Metric::entry_lateness},
                                                        {"duration", logical::Metric::duration},
                                                        {"wait", logical::Metric::wait},
                                                        {"bytes", logical::Metric::bytes}};
// Options that only some topics take.
struct OptionOfTopics {
  const char* option;
  unsigned taken;
};
constexpr OptionOfTopics options_of_topics[] = {
    {"--rank", takes::rank},         {"--region", takes::region},     {"--from", takes::period},
    {"--to", takes::period},         {"--sort", takes::sort},         {"--dot", takes::dot},
    {"--fold", takes::fold},         {"--cut", takes::cut},           {"--cut-height", takes::cut},
    {"--whole", takes::cut},         {"--finding", takes::change},    {"--balance", takes::change},
    {"--gdb", takes::gdb},           {"--compare", takes::compare},   {"--folded", takes::folded},
    {"--phase", takes::phase},       {"--clusters", takes::clusters}, {"--metric", takes::clusters},
    {"--function", takes::function},
};

// The names of those that take all of `taken`.
std::vector<std::string> topics_taking(unsigned taken) {
  std::vector<std::string> names;
  for (const Topic* topic : topics())
    if ((topic->takes & taken) == taken) names.push_back(topic->name);
  return names;
}

std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  }
  return text;
}

std::string option_of(const TableFormat& format) { return std::string("--") + format.name; }

struct Raw {
  bool json = false, dot = false;
  std::string ranks, order, from, to, metric, function;
  std::uint64_t limit = 0, cut = 0, finding = 0, phase = 0;
  std::uint32_t clusters = 0;
  std::int32_t region = 0;
  double cut_height = 0;
};

void declare(CLI::App& app, InspectWords& inspect, Raw& raw) {
  app.add_option("target", inspect.target, "A dump file (pclscope run --dump), or a running job's name or endpoint")
      ->required();
  app.add_option("topic", inspect.topic, "")->check(one_of(topics_taking(0)));
  auto* json = app.add_flag("--json", raw.json, "As JSON (fields: docs/json.md)");
  std::vector<CLI::Option*> formats = {json};
  const auto exclude_each_other = [&](CLI::Option* added) {
    for (CLI::Option* earlier : formats) added->excludes(earlier);
    formats.push_back(added);
  };
  for (const TableFormat* format : table_formats()) exclude_each_other(app.add_flag(option_of(*format), format->help));
  exclude_each_other(app.add_flag("--dot", raw.dot, "dag as a graph for Graphviz (dot -Tsvg)"));
  app.add_option("--limit", raw.limit,
                 "At most N rows (messages, calls, delays as text: 20; else all); dag: N messages (100000)")
      ->type_name("N");
  app.add_option("--rank", raw.ranks, "Only what concerns these ranks: 3 or 0-3,8")->type_name("R");
  app.add_option("--region", raw.region, "Only this region")
      ->type_name("ID")
      ->check(CLI::NonNegativeNumber.description(""));
  app.add_option("--from", raw.from, "Begin of a period, since the start: 12.5, 300ms, 2min; -2s is before the end")
      ->type_name("T");
  app.add_option("--to", raw.to, "End of the period")->type_name("T");
  app.add_flag("--fold", inspect.fold, "dag with one node per process");
  auto* cut = app.add_option("--cut", raw.cut, "Another cut of the tree of regions: into K of them")
                  ->type_name("K")
                  ->check(CLI::PositiveNumber.description(""));
  app.add_option("--cut-height", raw.cut_height, "The cut at this distance")->type_name("H")->excludes(cut);
  app.add_flag("--whole", inspect.whole, "Regions of all messages of the run, whatever their pattern was")
      ->excludes(cut)
      ->excludes("--cut-height");
  auto* finding = app.add_option("--finding", raw.finding, "whatif: without the cause of this finding (1: the first)")
                      ->type_name("K");
  app.add_option("--phase", raw.phase, "Only this phase, as `phases` numbers them")->type_name("P");
  app.add_option("--clusters", raw.clusters, "clusters: at most K (a third of the ranks, 8 at most)")
      ->type_name("K")
      ->check(CLI::Range(1, 64));
  app.add_option("--metric", raw.metric,
                 "clusters: ranks that are alike in lateness, entry (lateness), duration, wait or bytes")
      ->type_name("M")
      ->check(one_of({"lateness", "entry", "duration", "wait", "bytes"}));
  app.add_flag("--balance", inspect.balance, "whatif: all ranks compute equally long")->excludes(finding);
  exclude_each_other(app.add_flag("--folded", inspect.folded, "tree as stacks: a file for flame graph programs"));
  app.add_option("--skip", inspect.skipped,
                 "Functions and modules that only wrap MPI: calls are shown at their callers")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  exclude_each_other(app.add_flag("--gdb", inspect.gdb, "findings as breakpoints: a file for gdb -x"));
  app.add_option("--compare", inspect.compare,
                 "What changed since this earlier run (a dump), and whether it is more than noise")
      ->type_name("FILE");
  app.add_option("--function", raw.function, "timeline: only calls of this MPI function, e.g. MPI_Recv")
      ->type_name("NAME");
  app.add_option(
         "--sort", raw.order,
         "Messages by time, ratio, bytes, duration (largest first), or as stored; timeline: by time or duration")
      ->type_name("KEY")
      ->check(one_of({"stored", "time", "ratio", "bytes", "duration"}));
  app.add_flag("--ascii", inspect.ascii, "Draw with plain characters");
}

// The function of that name, or the usage error.
std::optional<int> read_function(const std::string& name, std::optional<std::uint16_t>& to) {
  std::vector<std::string> names;
  for (std::uint16_t number = 1; number < 1024; ++number) {
    names.emplace_back(record::function_name(number));
    if (names.back() == record::function_name(0)) names.pop_back();
    else if (names.back() == name) return to = number, std::nullopt;
  }
  return fail(wrong_usage, "--function: no MPI function is called '" + text::printable(name) + "'" +
                               text::did_you_mean(name, names));
}

// A moment, or the usage error.
std::optional<int> read_moment(const CLI::App& app, const char* option, const std::string& word,
                               std::optional<std::int64_t>& to) {
  if (app.count(option) == 0) return std::nullopt;
  to = text::parse_moment_ns(word);
  if (to) return std::nullopt;
  return fail(wrong_usage,
              std::string(option) + ": '" + word + "' is no moment: write for example 12.5, 300ms, 02:13 or -2s");
}

}  // namespace

std::optional<int> parse_inspect(const std::vector<std::string>& words, InspectWords& inspect) {
  const std::vector<std::string> names = topics_taking(0);
  CLI::App app{"Shows what a dump says, or a running job. Topics: " + names.front() + " (default), " +
                   list_of({names.begin() + 1, names.end()}) + ".",
               "pclscope inspect"};
  Raw raw;
  declare(app, inspect, raw);
  std::string formats = "--json";
  for (const TableFormat* format : table_formats()) formats += "|" + option_of(*format);
  set_usage(app, "pclscope inspect TARGET [TOPIC] [" + formats +
                     "] [--limit N] [--rank R] [--region ID] [--from T] [--to T] ...");
  if (const auto status = parse(app, words)) return status;
  for (const TableFormat* format : table_formats())
    if (app.count(option_of(*format)) > 0) inspect.table = format;
  const Topic& topic = topic_named(inspect.topic);
  if (inspect.table != nullptr && !(topic.takes & takes::tables))
    return fail(wrong_usage, option_of(*inspect.table) + " is for " + list_of(topics_taking(takes::tables)));
  for (const OptionOfTopics& of : options_of_topics) {
    if (app.count(of.option) == 0 || topic.takes & of.taken) continue;
    return fail(wrong_usage, std::string(of.option) + " is for " + list_of(topics_taking(of.taken)));
  }
  if (!inspect.compare.empty() && inspect.table != nullptr)
    return fail(wrong_usage, "--compare is for text and --json");
  inspect.format = raw.json                   ? Format::json
                   : raw.dot                  ? Format::dot
                   : inspect.table != nullptr ? Format::table
                                              : Format::text;
  if (app.count("--limit") > 0) inspect.limit = raw.limit;
  if (app.count("--finding") > 0) inspect.finding = raw.finding;
  if (app.count("--clusters") > 0) inspect.clusters = raw.clusters;
  if (!raw.metric.empty()) inspect.metric = metrics.at(raw.metric);
  if (app.count("--phase") > 0) inspect.phase = raw.phase;
  if (!raw.order.empty()) inspect.order = orders.at(raw.order);
  if (topic.takes & takes::function && inspect.order && *inspect.order != MessageOrder::time &&
      *inspect.order != MessageOrder::duration)
    return fail(wrong_usage, "--sort: " + inspect.topic + " by time or duration");
  if (app.count("--function") > 0)
    if (const auto status = read_function(raw.function, inspect.function)) return status;
  if (app.count("--region") > 0) inspect.region = raw.region;
  if (app.count("--cut") > 0) inspect.cut = raw.cut;
  if (app.count("--cut-height") > 0) inspect.cut_height = raw.cut_height;
  if (const auto status = read_moment(app, "--from", raw.from, inspect.from_ns)) return status;
  if (const auto status = read_moment(app, "--to", raw.to, inspect.to_ns)) return status;
  if (app.count("--rank") == 0) return std::nullopt;
  const auto parsed = text::parse_ranks(raw.ranks);
  if (!parsed) return fail(wrong_usage, "--rank: '" + raw.ranks + "' is no list of ranks: write for example 0-3,8");
  if (inspect.region && inspect.topic != "regions") return fail(wrong_usage, "give --region or --rank, not both");
  inspect.ranks = *parsed;
  return std::nullopt;
}

}  // namespace pclscope::commands
