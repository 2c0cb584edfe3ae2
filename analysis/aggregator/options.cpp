#include "analysis/aggregator/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "interpose/record/board.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope::aggregator {

int parse(int argc, char** argv, Options& options) {
  CLI::App app{"pclscope-aggregator: the in-job rank of pclscope; started by `pclscope run`"};
  app.add_option("--job", options.job)->required();
  app.add_option("--command", options.command);
  app.add_option("--dump", options.dump);
  app.add_option("--publish", options.endpoint);
  app.add_flag("--tcp", options.tcp);
  app.add_option("--batch-job", options.batch_job);
  app.add_option("--cluster", options.cluster);
  app.add_option("--program", options.program);
  app.add_option("--window-ms", options.window_ms)->check(CLI::Range(10, 60'000));
  app.add_option("--regions", options.regions)->check(CLI::IsMember({"free-energy", "paper", "correlation"}));
  app.add_option("--half-life", options.half_life_s);
  app.add_option("--baseline", options.baseline);
  app.add_option("--keep", options.keep)->check(CLI::IsMember({"summaries", "interesting", "all"}));
  app.add_option("--budget", options.budget_bytes);
  app.add_option("--aggregators", options.aggregators)->envname("PCLSCOPE_TOOL_RANKS")->check(CLI::Range(1, 1 << 20));
  app.add_option("--per-node", options.per_node)
      ->envname(record::aggregators_variable)
      ->check(CLI::Range(1, static_cast<int>(record::most_parts)));
  app.add_option("--part", options.part)->check(CLI::Range(0, static_cast<int>(record::most_parts) - 1));
  app.add_option("--last-words", options.last_words);
  app.add_flag("--attach", options.attach);
  app.add_option("--log", options.log);
  app.add_flag("--worker", options.worker);
  app.add_option("--control", options.control);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error), 1;
    std::fprintf(stderr, "pclscope-aggregator: %s; it is started by `pclscope run`\n", error.what());
    return 2;
  }
  const char* token = std::getenv(record::job_variable);
  const char* ranks = std::getenv("PCLSCOPE_RANKS");
  if (token == nullptr || *token == 0 || ranks == nullptr || std::atoi(ranks) < 1) {
    std::fprintf(stderr, "pclscope-aggregator: no job in the environment; it is started by `pclscope run`\n");
    return 2;
  }
  if (options.part >= options.per_node || options.aggregators % options.per_node != 0) {
    std::fprintf(stderr, "pclscope-aggregator: --part and --per-node do not fit; it is started by `pclscope run`\n");
    return 2;
  }
  options.token = token;
  options.ranks = std::atoi(ranks);
  return 0;
}

}  // namespace pclscope::aggregator
