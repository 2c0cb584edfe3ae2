// The job on the wire: announced, published, taken back at the end. Without an endpoint, or when none can be had, every
// call does nothing. Owned by the worker's thread.
#pragma once

#include <memory>
#include <string>

#include "analysis/aggregator/options.hpp"
#include "analysis/discovery/announcer.hpp"
#include "analysis/values/snapshot.hpp"
#include "analysis/wire/publisher.hpp"

namespace pclscope::aggregator {

class Broadcast {
 public:
  Broadcast() = default;
  Broadcast(const Broadcast&) = delete;
  Broadcast& operator=(const Broadcast&) = delete;
  ~Broadcast() { close(); }  // of a job that ended with nothing recorded, too
  // Problems are told in one line each; the job then runs on without being published.
  void open(const Options& options, std::int64_t origin_realtime_ns);
  bool on() const { return publisher_ != nullptr; }
  // The first rank has said which MPI it runs.
  void set_mpi(const std::string& mpi);
  void publish(const Snapshot& snapshot);
  // Lets viewers in and answers their questions, for graphs by `dag`.
  void serve(const wire::Publisher::DagHandler& dag, const wire::Publisher::TrafficHandler& traffic,
             const wire::Publisher::Refresh& refresh, const wire::Publisher::DensityHandler& density,
             const wire::Publisher::CallsHandler& calls);
  bool watched() const { return on() && publisher_->watched(); }
  // What a worker that died has announced is taken back, as far as it is certainly ours.
  static void tidy_after_death(const Options& options);
  // The last snapshot is out: nobody finds the job any more.
  void close();

 private:
  void announce();
  void read_keys();
  void open_port();
  void announce_port(const std::string& bound);
  std::string announce_endpoint(const std::string& bound);

  std::unique_ptr<wire::Publisher> publisher_;
  discovery::Job announcement_;
  discovery::Announcer announcer_;
  struct Keys;
  std::shared_ptr<Keys> keys_;  // while they are being read
};

}  // namespace pclscope::aggregator
