// A publisher that is served in the background, as the aggregator's loop does.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "analysis/wire/publisher.hpp"

namespace pclscope::testing {

class Serving {
 public:
  explicit Serving(std::unique_ptr<wire::Publisher> publisher, wire::Publisher::DagHandler handler = {})
      : publisher_(std::move(publisher)), handler_(std::move(handler)), thread_([this] {
          while (!stop_) {
            {
              const std::lock_guard lock(mutex_);
              publisher_->serve(handler_);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
          }
        }) {}
  ~Serving() {
    stop_ = true;
    thread_.join();
  }
  void publish(const Snapshot& snapshot) {
    const std::lock_guard lock(mutex_);
    publisher_->publish(snapshot);
  }
  std::uint64_t malformed() {
    const std::lock_guard lock(mutex_);
    return publisher_->malformed();
  }

 private:
  std::unique_ptr<wire::Publisher> publisher_;
  wire::Publisher::DagHandler handler_;
  std::mutex mutex_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace pclscope::testing
