// pclscope route: the ways that messages take through a network, the links that carry most, and better ways.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/commands/route_input.hpp"
#include "viewer/commands/route_output.hpp"
#include "viewer/commands/traffic_source.hpp"
#include "viewer/text/printable.hpp"

namespace pclscope::commands {
namespace {

using mapping::Criterion;
using mapping::RouteMetric;

struct RouteWords {
  RouteInputWords input;
  std::string rank_by = "load", criterion = "load";
  RouteMetric metric = RouteMetric::load;
  std::size_t top = 10;
  std::string reroute;
  mapping::RerouteRule rule{mapping::Criterion::load, 0, 5};
  std::string output;
  bool json = false;
};

std::optional<int> parse_route(const std::vector<std::string>& words, RouteWords& route) {
  CLI::App app{"Shows the routes of messages, how loaded the links are, and how routes could avoid the heavy ones.",
               "pclscope route"};
  app.add_option("input", route.input.target, "A traffic file, a route file, a dump, or a running job's name")
      ->required();
  app.add_option(
         "--topology", route.input.topology,
         "The network: torus:4x4x4mx2, mesh:8x8, hyperx:6x16x4, dragonfly:9x4x2, fattree:18x12x8, nodes:16, edges:FILE")
      ->type_name("SPEC");
  app.add_option("--traffic", route.input.traffic,
                 "Of a route file: the bytes of its pairs, from a traffic file or a dump")
      ->type_name("FILE");
  app.add_option("--ranks-per-node", route.input.ranks_per_node,
                 "Rank r runs on node r / N (default: as the dump says, else 1)")
      ->type_name("N")
      ->check(CLI::Range(1, most_ranks_per_node));
  app.add_option("--rank-by", route.rank_by, "What makes a route bad; load is that of its heaviest link")
      ->check(one_of({"length", "load", "hop-bytes"}))
      ->capture_default_str();
  app.add_option("--top", route.top, "How many routes and links to show")
      ->type_name("K")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  app.add_option("--reroute", route.reroute, "Look for better ways: all, worst:K, or a route as 3-17")
      ->type_name("WHICH");
  app.add_option("--criterion", route.criterion, "A better way is shorter, or its heaviest link is lighter")
      ->check(one_of({"length", "load"}))
      ->capture_default_str();
  app.add_option("--delta", route.rule.delta, "So many links more than now are permitted")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  app.add_option("--passes", route.rule.passes,
                 "Go through the routes again while that finds something, at most so often, and then move several at a "
                 "time; 1: once, one by one")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("-o,--output", route.output, "Write the routes, rerouted if asked for, as a route file")
      ->type_name("FILE");
  app.add_flag("--json", route.json, "JSON instead of tables");
  set_usage(app, "pclscope route INPUT [options]");
  app.footer("Topologies, route files and the rules: docs/mapping.md.");
  if (const auto status = parse(app, words)) return status;
  if (route.rank_by != "load") route.metric = route.rank_by == "length" ? RouteMetric::length : RouteMetric::hop_bytes;
  if (route.criterion == "length") route.rule.criterion = Criterion::length;
  route.rule.together = route.rule.passes > 1;
  return std::nullopt;
}

bool whole(std::string_view word, std::int64_t& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && value >= 0;
}

bool well_formed(const std::string& which) {
  std::int64_t a = 0, b = 0;
  if (which.empty() || which == "all") return true;
  if (which.rfind("worst:", 0) == 0) return whole(std::string_view(which).substr(6), a) && a > 0;
  const std::size_t dash = which.find('-');
  return dash != which.npos && whole(std::string_view(which).substr(0, dash), a) &&
         whole(std::string_view(which).substr(dash + 1), b);
}

// Worst first.
std::vector<std::size_t> choose(const std::string& which, const RouteAnswer& answer) {
  std::vector<std::size_t> chosen = rank_routes(answer.before.routes, answer.metric, answer.before.heaviest);
  const auto& routes = answer.before.routes;
  if (which.rfind("worst:", 0) == 0) {
    std::int64_t most = 0;
    whole(std::string_view(which).substr(6), most);
    chosen.resize(std::min(chosen.size(), static_cast<std::size_t>(most)));
  } else if (which != "all") {
    std::erase_if(chosen, [&](std::size_t i) {
      return std::to_string(routes[i].source) + "-" + std::to_string(routes[i].destination) != which;
    });
  }
  std::erase_if(chosen, [&](std::size_t i) { return routes[i].length() == 0; });
  return chosen;
}

void tell_problems(const RouteWords& words, const RouteInput& input) {
  if (input.problem_count == 0) return;
  const auto& first = input.problems.front();
  say(words.input.target + ": what does not fit together is left out: line " + std::to_string(first.line) + ": " +
      first.what +
      (input.problem_count > 1 ? "; and " + std::to_string(input.problem_count - 1) + " more, in --json" : ""));
}

// On a terminal, once it takes long.
class Progress {
 public:
  void operator()(std::int32_t pass, std::size_t done, std::size_t all) {
    const auto now = std::chrono::steady_clock::now();
    if (!::isatty(STDERR_FILENO) || now - shown_ < std::chrono::seconds(1)) return;
    shown_ = now;
    std::fprintf(stderr, "\rpclscope: pass %d, %3.0f %% of the routes ", pass,
                 100.0 * static_cast<double>(done) / static_cast<double>(all));
    written_ = true;
  }
  void end() const {
    if (written_) std::fprintf(stderr, "\r%50s\r", "");
  }

 private:
  std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
  bool written_ = false;
};

int write(const RouteWords& words, RouteInput& input, const RouteAnswer& answer) {
  input.set.routes = answer.after ? answer.after->routes : answer.before.routes;
  const Status status = write_routes(words.output, input.set);
  return status ? done : fail(could_not, status.error().message);
}

}  // namespace

int route(const std::vector<std::string>& words) {
  RouteWords route;
  if (const auto status = parse_route(words, route)) return *status;
  if (!well_formed(route.reroute))
    return fail(wrong_usage, "--reroute '" + text::printable(route.reroute) + "': all, worst:K, or a route as 3-17");
  auto input = read_route_input(route.input);
  if (!input) return fail(could_not, text::printable(input.error().message));
  tell_problems(route, *input);
  RouteAnswer answer{*input,       route.metric, route.top, state_of(*input->graph, std::move(input->set.routes)),
                     std::nullopt, {},           route.rule};
  if (!route.reroute.empty()) {
    answer.chosen = choose(route.reroute, answer);
    if (answer.chosen.empty()) return fail(could_not, "no route between nodes that is '" + route.reroute + "'");
    std::vector<mapping::Route> routes = answer.before.routes;
    Progress progress;
    mapping::reroute(*input->graph, routes, answer.chosen, route.rule, std::ref(progress));
    progress.end();
    answer.after = state_of(*input->graph, std::move(routes));
  }
  const views::PageOptions page = page_options(false);
  const bool printed = route.json ? print(session::to_text(route_json(answer), true) + "\n")
                                  : print_lines(route_page(answer, output_is_terminal() ? page.width : 0));
  if (!printed) return could_not;
  return route.output.empty() ? done : write(route, *input, answer);
}

}  // namespace pclscope::commands
