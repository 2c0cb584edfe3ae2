// A spin lock that is only taken where several threads may be in MPI at once. Held for some tens of instructions, never
// across an MPI call.
#pragma once

#include <atomic>

namespace pclscope {

class SpinGuard {
 public:
  SpinGuard(std::atomic<bool>& lock, bool shared) : lock_(shared ? &lock : nullptr) {
    if (lock_ == nullptr) [[likely]]
      return;
    while (lock_->exchange(true, std::memory_order_acquire)) {
      while (lock_->load(std::memory_order_relaxed)) __builtin_ia32_pause();
    }
  }
  ~SpinGuard() {
    if (lock_ != nullptr) [[unlikely]]
      lock_->store(false, std::memory_order_release);
  }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  std::atomic<bool>* lock_;
};

}  // namespace pclscope
