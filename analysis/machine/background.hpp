// Something that takes a while, in a thread of its own that nobody has to wait for.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <future>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

namespace pclscope::machine {

// The thread is detached: whoever cannot wait for it any longer goes. Signals are for the threads that have always had
// them. An exception of `work` is an empty result; without a thread to be had the future is not valid.
template <class Work>
std::future<std::invoke_result_t<Work>> in_background(Work work) {
  using Value = std::invoke_result_t<Work>;
  std::promise<Value> promise;
  std::future<Value> coming = promise.get_future();
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([told = std::move(promise), work = std::move(work)]() mutable {
      Value value{};
      try {
        value = work();
      } catch (...) { value = {}; }
      told.set_value(std::move(value));
    }).detach();
  } catch (const std::system_error&) { coming = {}; }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return coming;
}

}  // namespace pclscope::machine
