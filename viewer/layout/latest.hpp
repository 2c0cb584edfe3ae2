// Work that takes longer than a frame, in a thread of its own: of several requests the newest counts, those that
// nobody has begun are dropped. One thread owns a Latest; `work` runs in the other and must not touch what the owner
// has.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace pclscope::layout {

template <class Request, class Answer>
class Latest {
 public:
  // `stopping` turns true when the owner goes: long work may look at it.
  using Work = std::function<Answer(const Request&, const std::function<bool()>& stopping)>;
  // `wake` is called in the worker's thread after each answer (may be empty).
  explicit Latest(Work work, std::function<void()> wake = {})
      : work_(std::move(work)), wake_(std::move(wake)), thread_([this] { run(); }) {}
  ~Latest() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    ready_.notify_all();
    thread_.join();
  }
  Latest(const Latest&) = delete;
  Latest& operator=(const Latest&) = delete;

  void ask(Request request) {
    {
      const std::lock_guard lock(mutex_);
      next_ = std::move(request);
    }
    ready_.notify_all();
  }
  // The newest answer; null before the first. Stays valid while the caller holds it.
  std::shared_ptr<const Answer> answer() const {
    const std::lock_guard lock(mutex_);
    return answer_;
  }
  // Whether an answer to the newest request is still to come.
  bool busy() const {
    const std::lock_guard lock(mutex_);
    return working_ || next_.has_value();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ready_.wait(lock, [this] { return stop_ || next_; });
      if (stop_) return;
      const Request request = std::move(*next_);
      next_.reset();
      working_ = true;
      lock.unlock();
      auto made = std::make_shared<const Answer>(work_(request, [this] {
        const std::lock_guard guard(mutex_);
        return stop_;
      }));
      lock.lock();
      answer_ = std::move(made);
      working_ = false;
      if (!wake_) continue;
      lock.unlock();
      wake_();
      lock.lock();
    }
  }

  const Work work_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::optional<Request> next_;
  std::shared_ptr<const Answer> answer_;
  bool working_ = false;
  bool stop_ = false;
  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace pclscope::layout
