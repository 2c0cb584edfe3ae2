// The recorder's way to the site of a call: the key of its path, which it tells in the ring.
#include "interpose/process/clock.hpp"
#include "interpose/recorder/recorder.hpp"

namespace pclscope {

Site Recorder::site_of_call(Caller caller) { return site_of(caller); }

Site Recorder::new_site(Caller caller, CallPaths::Known* known) {
  if (known == nullptr) known = paths_.learn(caller);
  if (known == nullptr) return caller.address();
  if (record::is_path(known->site) && !tell_path(*known)) return caller.address();
  known->told = told_to_;
  return known->site;
}

// A loop of polls goes on: these events are nothing that happened.
bool Recorder::tell_path(const CallPaths::Known& known) {
  std::uint64_t frames[CallPaths::most_frames];
  const unsigned count = CallPaths::frames(known, frames);
  const bool polling = poll_.head == ring_.written();
  const std::uint64_t t = now();
  for (unsigned first = 0; first < count; first += record::path_part) {
    const auto frame = [&](unsigned i) { return first + i < count ? frames[first + i] : 0; };
    header().paths_until.store(ring_.written() + 1, std::memory_order_relaxed);
    if (muted_ || !write(EventKind::call_path, Function::none, t, t, known.site, frame(0), frame(1), frame(2),
                         static_cast<std::int32_t>(count), static_cast<std::int32_t>(first), 0))
      return false;
  }
  if (polling) poll_.head = ring_.written();
  return true;
}

}  // namespace pclscope
