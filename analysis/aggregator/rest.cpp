#include "analysis/aggregator/rest.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

#include "analysis/values/signals_blocked.hpp"

namespace pclscope::aggregator {

Rest::Rest(record::Bell* bell) : bell_(bell) {
  if (bell_ == nullptr) return;
  woken_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (woken_ < 0) return;
  const AllSignalsBlocked blocked;
  listener_ = std::thread([this, seen = bell_->rung.load()] { listen(seen); });
}

Rest::~Rest() {
  if (listener_.joinable()) {
    over_ = true;
    bell_->rung.fetch_add(1);
    ::syscall(SYS_futex, &bell_->rung, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    listener_.join();
  }
  if (woken_ >= 0) ::close(woken_);
}

void Rest::listen(std::uint32_t seen) {
  while (!over_) {
    ::syscall(SYS_futex, &bell_->rung, FUTEX_WAIT, seen, nullptr, nullptr, 0);
    const std::uint32_t now = bell_->rung.load();
    if (now == seen) continue;
    seen = now;
    constexpr std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(woken_, &one, sizeof one);
  }
}

void Rest::sleep(std::chrono::nanoseconds length, int descriptor, const std::function<bool()>& filling) {
  const bool listens = woken_ >= 0;
  if (listens) bell_->resting.store(1);  // then the rings are looked at once more: who filled one before does not ring
  if (!listens || !filling()) {
    const timespec timeout{static_cast<time_t>(length.count() / 1'000'000'000),
                           static_cast<long>(length.count() % 1'000'000'000)};
    pollfd wake[2] = {{descriptor, POLLIN, 0}, {woken_, POLLIN, 0}};
    ::ppoll(wake, 2, &timeout, nullptr);  // negative descriptors are passed over
    std::uint64_t count = 0;
    if (listens && (wake[1].revents & POLLIN) != 0) [[maybe_unused]]
      const ssize_t got = ::read(woken_, &count, sizeof count);
  }
  if (listens) bell_->resting.store(0);
}

}  // namespace pclscope::aggregator
