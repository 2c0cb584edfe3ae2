#include "analysis/aggregator/broadcast.hpp"

#include <unistd.h>

#include "analysis/aggregator/output.hpp"

namespace pclscope::aggregator {

void Broadcast::open(const Options& options, std::int64_t origin_realtime_ns) {
  if (options.endpoint.empty()) return;
  std::string endpoint = options.endpoint;
  if (endpoint == "auto") {  // whoever started us is on another node, and cannot know this one's directory
    const auto runtime = wire::runtime_directory();
    if (!runtime) return complain(runtime.error().message + ": the job runs on without being published");
    endpoint = "ipc://" + *runtime + "/" + options.job;
  }
  auto publisher = wire::Publisher::bind(endpoint);
  if (!publisher) {
    // Rather a job that can be watched from its own node than none.
    const std::string why = publisher.error().message;
    const auto runtime = wire::runtime_directory();
    endpoint = runtime ? "ipc://" + *runtime + "/" + options.job : "";
    if (runtime && endpoint != options.endpoint) publisher = wire::Publisher::bind(endpoint);
    complain(why +
             (publisher ? ": published at " + endpoint + " instead" : ": the job runs on without being published"));
    if (!publisher) return;
  }
  publisher_ = std::move(*publisher);
  char node[256] = "";
  ::gethostname(node, sizeof node - 1);
  announcement_.name = options.job;
  announcement_.endpoint = endpoint;
  announcement_.command = options.command;
  announcement_.node = node;
  announcement_.ranks = options.ranks;
  announcement_.aggregator_pid = static_cast<std::uint32_t>(::getpid());
  announcement_.started_realtime_ns = origin_realtime_ns;
  announce();
}

void Broadcast::announce() {
  if (auto status = wire::announce(announcement_); !status) complain(status.error().message);
}

void Broadcast::set_mpi(const std::string& mpi) {
  announcement_.mpi = mpi;
  if (on()) announce();
}

void Broadcast::publish(const Snapshot& snapshot) {
  if (on()) publisher_->publish(snapshot);
}

void Broadcast::serve(const wire::Publisher::DagHandler& dag, const wire::Publisher::TrafficHandler& traffic) {
  if (on()) publisher_->serve(dag, traffic);
}

void Broadcast::tidy_after_death(const Options& options) {
  (void)wire::list_jobs();  // forgets the dead
  const auto runtime = wire::runtime_directory();
  if (!runtime) return;
  const std::string own = *runtime + "/" + options.job;
  if (options.endpoint != "auto" && options.endpoint != "ipc://" + own) return;
  for (const char* suffix : {".pub", ".ask"}) ::unlink((own + suffix).c_str());
}

void Broadcast::close() {
  if (!on()) return;
  publisher_.reset();
  wire::withdraw(announcement_.name);
}

}  // namespace pclscope::aggregator
