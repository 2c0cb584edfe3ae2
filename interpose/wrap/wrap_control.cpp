#include "interpose/wrap/wrap_control.hpp"

#include "interpose/wrap/call_scope.hpp"

namespace pclscope {

namespace {

void record_level(Caller caller, int level) {
  Recorder* r = recorder();
  if (r == nullptr) return;
  const Site site = r->site_of(caller);
  const std::uint64_t t = now();
  r->write(EventKind::control, Function::Pcontrol, t, t, site, 0, 0, 0, record::any_source, level, 0);
}

// For all threads: each notices at its next event. This one says so in its ring before.
void switch_off(Caller caller, int level) {
  if (process.off.load(std::memory_order_relaxed)) return;
  record_level(caller, level);
  process.off.store(true, std::memory_order_seq_cst);
  mute_all();
  if (Recorder* r = process.attachable ? this_thread.muted : this_thread.recorder) r->mute();
}

void switch_on(Caller caller, int level) {
  process.off.store(false, std::memory_order_seq_cst);
  record_level(caller, level);
}

}  // namespace

int hand_Pcontrol(Caller caller, int level) {
  if (process.known && process.recording.load(std::memory_order_relaxed)) {
    if (level == 0) switch_off(caller, level);
    if (level > 0) switch_on(caller, level);
    if (level < 0) record_level(caller, level);
  }
  return real.Pcontrol(level);
}

}  // namespace pclscope
