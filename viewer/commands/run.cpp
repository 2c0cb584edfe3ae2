// pclscope run: starts an application with the recorder preloaded and an aggregator beside it, waits, sums up.
#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>

#include "analysis/store/reader.hpp"
#include "analysis/wire/jobs.hpp"
#include "analysis/wire/subscriber.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/commands/run_plan.hpp"
#include "viewer/launch/child.hpp"
#include "viewer/launch/job_files.hpp"
#include "viewer/launch/shell_words.hpp"
#include "viewer/views/closing_lines.hpp"

namespace pclscope::commands {
namespace {

using std::chrono::milliseconds;
using launch::AggregatorEnd;

// The newest snapshot of the running job, for the closing lines when there is no dump. Looks twice a second at most:
// the subscriber keeps only the newest, so this costs next to nothing.
class News {
 public:
  void connect(const std::string& endpoint) {
    auto subscriber = wire::Subscriber::connect(endpoint);
    if (subscriber) subscriber_ = std::move(*subscriber);
  }
  void look() {
    if (!subscriber_) return;
    auto got = subscriber_->next(milliseconds(0));
    if (got && *got) newest_ = std::move(**got);
  }
  const std::optional<Snapshot>& newest() const { return newest_; }

 private:
  std::unique_ptr<wire::Subscriber> subscriber_;
  std::optional<Snapshot> newest_;
};

int print_command(const launch::LaunchLine& line) {
  std::string text;
  for (const auto& [name, value] : line.environment) text += name + "=" + launch::quote_word(value) + " ";
  return print(text + launch::join_words(line.arguments) + "\n") ? done : could_not;
}

// A viewer connects to "tcp://*:5555" by this node's own name.
std::string endpoint_for_viewers(std::string endpoint) {
  if (const auto star = endpoint.find("://*:"); star != std::string::npos) endpoint.replace(star + 3, 1, "127.0.0.1");
  return endpoint;
}

std::optional<Snapshot> final_summary(const RunPlan& plan, AggregatorEnd end, const News& news) {
  if (!plan.options.dump.empty() && end == AggregatorEnd::closed) {
    const auto reader = store::Reader::open(plan.options.dump);
    if (reader) return (*reader)->summary();
  }
  return news.newest();
}

// Takes down what an aggregator that died has announced, as far as it is certainly ours.
void tidy_up(const RunPlan& plan) {
  (void)wire::list_jobs();  // forgets the dead
  if (!plan.own_endpoint) return;
  const std::string path = plan.facts.endpoint.substr(std::string("ipc://").size());
  for (const char* suffix : {".pub", ".ask"}) ::unlink((path + suffix).c_str());
}

void close_job(const RunPlan& plan, const launch::JobFiles& files, News& news) {
  AggregatorEnd end = files.wait_for_aggregator(std::chrono::seconds(30));
  news.look();
  if (end == AggregatorEnd::still_running) {
    say("the aggregator did not finish within 30 s and is ended: the dump may lack its last seconds");
    files.end_aggregator();
  }
  if (end != AggregatorEnd::closed) tidy_up(plan);
  if (plan.quiet) return;
  views::Closing closing;
  closing.job = plan.facts.job;
  closing.dump = plan.options.dump;
  closing.dump_exists = !plan.options.dump.empty() && bool(store::Reader::open(plan.options.dump));
  closing.complete = end == AggregatorEnd::closed;
  closing.aggregator_ran = end != AggregatorEnd::never_ran;
  for (const std::string& line : views::closing_lines(closing, final_summary(plan, end, news))) say(line);
}

}  // namespace

int run(const std::vector<std::string>& words) {
  RunPlan plan;
  if (const auto status = plan_run(words, plan)) return *status;
  const launch::LaunchLine line = launch::build_launch_line(plan.options, plan.facts);
  if (plan.print_only) return print_command(line);
  ::signal(SIGPIPE, SIG_IGN);  // a closed terminal must not take us from the job
  auto files = launch::JobFiles::create(plan.facts.token);
  if (!files) return fail(could_not, files.error().message);
  if (!plan.quiet) say("job " + plan.facts.job + " starts; to look at it: pclscope watch " + plan.facts.job);
  auto child = launch::Child::start(line.arguments, line.environment);
  if (!child) return fail(could_not, child.error().message);
  News news;
  if (!plan.quiet) news.connect(endpoint_for_viewers(plan.facts.endpoint));
  const int status = child->wait(milliseconds(500), [&] { news.look(); });
  close_job(plan, *files, news);
  return status;
}

}  // namespace pclscope::commands
