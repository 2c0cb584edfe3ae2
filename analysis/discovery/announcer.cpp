#include "analysis/discovery/announcer.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "analysis/values/signals_blocked.hpp"

namespace pclscope::discovery {
namespace {

constexpr std::chrono::milliseconds every{static_cast<int>(beat_s * 1000)};
constexpr std::chrono::seconds patience_at_end{1};

}  // namespace

// Of owner and thread: whoever lives longer.
struct Announcer::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Job> news;  // under mutex, all below too
  std::string problem;
  bool told = false, stop = false, ended = false;

  void work();
  void say(const Status& status);
};

void Announcer::Shared::say(const Status& status) {
  if (status || status.error().code == ErrorCode::not_found) return;  // not_found: nothing is meant to be shared
  const std::lock_guard lock(mutex);
  if (!told) problem = status.error().message;
  told = true;
}

void Announcer::Shared::work() {
  Job job;
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait_for(lock, every, [this] { return stop || news; });
    if (stop) break;
    const bool anew = news.has_value();
    if (anew) job = *std::exchange(news, std::nullopt);
    lock.unlock();
    // Gone: somebody took us for dead, who did not hear of us for long.
    if (anew || !beat(job.name)) say(share(job));
    lock.lock();
  }
  lock.unlock();
  if (!job.name.empty()) withdraw_shared(job.name);
  lock.lock();
  ended = true;
  changed.notify_all();
}

void withdraw_for_the_dead(const std::string& job) {
  struct Done {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
  };
  const auto shared = std::make_shared<Done>();
  {
    const AllSignalsBlocked blocked;
    std::thread([shared, job] {
      withdraw_shared(job);
      const std::lock_guard lock(shared->mutex);
      shared->done = true;
      shared->changed.notify_all();
    }).detach();
  }
  std::unique_lock lock(shared->mutex);
  shared->changed.wait_for(lock, patience_at_end, [&] { return shared->done; });
}

Announcer::Announcer() = default;
Announcer::~Announcer() { withdraw(); }

Status Announcer::announce(const Job& job) {
  name_ = job.name;
  if (!shared_) {
    shared_ = std::make_shared<Shared>();
    const AllSignalsBlocked blocked;
    std::thread([shared = shared_] { shared->work(); }).detach();
  }
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->news = job;
  }
  shared_->changed.notify_all();
  return discovery::announce(job);
}

std::string Announcer::problem() {
  if (!shared_) return {};
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->problem, {});
}

void Announcer::withdraw() {
  if (!shared_) return;
  discovery::withdraw(name_);
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, patience_at_end, [this] { return shared_->ended; });
  lock.unlock();
  shared_.reset();
}

}  // namespace pclscope::discovery
