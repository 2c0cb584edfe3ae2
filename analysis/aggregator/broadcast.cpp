#include "analysis/aggregator/broadcast.hpp"

#include <unistd.h>

#include <mutex>
#include <optional>
#include <thread>

#include "analysis/aggregator/output.hpp"
#include "analysis/discovery/addresses.hpp"
#include "analysis/discovery/directories.hpp"
#include "analysis/values/signals_blocked.hpp"
#include "analysis/wire/curve_keys.hpp"

namespace pclscope::aggregator {

void Broadcast::open(const Options& options, std::int64_t origin_realtime_ns) {
  if (options.endpoint.empty()) return;
  std::string endpoint = options.endpoint;
  if (endpoint == "auto") {  // whoever started us is on another node, and cannot know this one's directory
    const auto runtime = discovery::runtime_directory();
    if (!runtime) return complain(runtime.error().message + ": the job runs on without being published");
    endpoint = "ipc://" + *runtime + "/" + options.job;
  }
  auto publisher = wire::Publisher::bind(endpoint);
  if (!publisher) {
    // Rather a job that can be watched from its own node than none.
    const std::string why = publisher.error().message;
    const auto runtime = discovery::runtime_directory();
    endpoint = runtime ? "ipc://" + *runtime + "/" + options.job : "";
    if (runtime && endpoint != options.endpoint) publisher = wire::Publisher::bind(endpoint);
    complain(why +
             (publisher ? ": published at " + endpoint + " instead" : ": the job runs on without being published"));
    if (!publisher) return;
  }
  publisher_ = std::move(*publisher);
  if (endpoint.rfind("tcp://", 0) == 0) endpoint = announce_endpoint(publisher_->endpoint());
  if (options.tcp) read_keys();
  announcement_.name = options.job;
  announcement_.endpoint = endpoint;
  announcement_.program = options.program;
  announcement_.batch_job = options.batch_job;
  announcement_.cluster = options.cluster;
  announcement_.command = options.command;
  announcement_.node = discovery::host_name();
  announcement_.ranks = options.ranks;
  announcement_.aggregator_pid = static_cast<std::uint32_t>(::getpid());
  announcement_.started_realtime_ns = origin_realtime_ns;
  announce();
}

// Where a viewer on this node connects, of one that was given by the user.
std::string Broadcast::announce_endpoint(const std::string& bound) {
  const std::string host = bound.substr(6, bound.rfind(':') - 6), port = bound.substr(bound.rfind(':'));
  const bool anywhere = host == "*" || host == "0.0.0.0" || host == "[::]";
  if (anywhere) announce_port(bound);
  else if (host.rfind("127.", 0) != 0 && host != "localhost") announcement_.tcp.push_back(bound);
  return anywhere ? "tcp://127.0.0.1" + port : bound;
}

// They lie in the home, which may hang: in a thread of its own.
struct Broadcast::Keys {
  std::mutex mutex;
  std::optional<Result<wire::CurveKeys>> read;
};

void Broadcast::read_keys() {
  keys_ = std::make_shared<Keys>();
  const AllSignalsBlocked blocked;
  std::thread([keys = keys_] {
    auto read = wire::own_keys();
    const std::lock_guard lock(keys->mutex);
    keys->read = std::move(read);
  }).detach();
}

// Besides the socket, once the keys are there; encrypted, for those who have them.
void Broadcast::open_port() {
  std::unique_lock lock(keys_->mutex);
  if (!keys_->read) return;
  const Result<wire::CurveKeys> keys = std::move(*keys_->read);
  lock.unlock();
  keys_.reset();
  const auto bound = keys ? publisher_->also_bind("tcp://*:0", &*keys) : keys.error();
  if (bound) announce_port(*bound);
  else complain(bound.error().message + ": from other nodes the job is reached by ssh");
  announce();
}

// "tcp://*:40123": anybody's address is that of each network that this node is in.
void Broadcast::announce_port(const std::string& bound) {
  const std::string port = bound.substr(bound.rfind(':'));
  for (const std::string& host : discovery::addresses_here()) announcement_.tcp.push_back("tcp://" + host + port);
}

// To other nodes once it is known how they get in.
void Broadcast::announce() {
  const Status status = keys_ ? discovery::announce(announcement_) : announcer_.announce(announcement_);
  if (!status) complain(status.error().message);
}

void Broadcast::set_mpi(const std::string& mpi) {
  announcement_.mpi = mpi;
  if (on()) announce();
}

void Broadcast::publish(const Snapshot& snapshot) {
  if (on()) publisher_->publish(snapshot);
}

void Broadcast::serve(const wire::Publisher::DagHandler& dag, const wire::Publisher::TrafficHandler& traffic,
                      const wire::Publisher::Refresh& refresh, const wire::Publisher::DensityHandler& density,
                      const wire::Publisher::CallsHandler& calls) {
  if (!on()) return;
  publisher_->serve(dag, traffic, refresh, density, calls);
  if (keys_) open_port();
  if (const std::string problem = announcer_.problem(); !problem.empty())
    complain("other nodes cannot find the job: " + problem);
}

void Broadcast::tidy_after_death(const Options& options) {
  (void)discovery::jobs_here();  // forgets the dead
  if (!options.endpoint.empty()) discovery::withdraw_for_the_dead(options.job);
  const auto runtime = discovery::runtime_directory();
  if (!runtime) return;
  const std::string own = *runtime + "/" + options.job;
  if (options.endpoint != "auto" && options.endpoint != "ipc://" + own) return;
  for (const char* suffix : {".pub", ".ask"}) ::unlink((own + suffix).c_str());
}

void Broadcast::close() {
  if (!on()) return;
  publisher_.reset();
  announcer_.withdraw();
  discovery::withdraw(announcement_.name);
}

}  // namespace pclscope::aggregator
