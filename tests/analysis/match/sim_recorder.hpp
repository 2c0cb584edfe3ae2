// The recording side of the simulator: what the preloaded library writes into one thread's ring, by FORMAT.md: numbers
// with windows, intervals without events and their summaries (kept by the library's own Unrecorded). "Full" rings and
// how much room there is when a thread comes back are the simulator's choice.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "interpose/record/event.hpp"
#include "interpose/recorder/unrecorded.hpp"

namespace pclscope::test {

inline constexpr std::uint64_t unnumbered = ~std::uint64_t{0};

struct Ring {
  int rank = 0, thread = 0;
  std::vector<record::Event> events;
  std::size_t read = 0;
  int dropping = 0;           // unaccounted: events still to be dropped in this burst
  std::uint64_t dropped = 0;  // not yet told by a `lost` event
  std::uint64_t dropped_total = 0;
  bool muted = false;  // as the segment's header says
};

class SimRecorder;

struct SimProcess {
  std::atomic<std::uint64_t> sends{0}, receives{0};
  bool multiple = false;
  bool off = false;  // MPI_Pcontrol(0)
  std::vector<SimRecorder*> recorders;
};

class SimRecorder {
 public:
  using Event = record::Event;
  // Told for each event that goes into the ring. `full`: is it full now; `room`: how many events fit at a resume.
  struct World {
    std::function<bool()> full;
    std::function<std::size_t()> room;
    std::function<void(Ring&, const Event&)> push;
    std::function<std::uint64_t()> now;
  };
  SimRecorder(SimProcess& process, Ring& ring, const World& world);
  ~SimRecorder() { accounts_->give_memory_back(); }

  bool muted() const { return muted_; }
  void try_to_resume(bool whatever_it_takes = false);
  // As in the library: false when the event was not written.
  bool write(const Event& event);

  std::uint64_t number_send();
  std::uint64_t number_receive();
  void returned() { sending_ = receiving_ = unnumbered; }
  std::uint64_t send_ordinal(std::uint64_t number) const;
  std::uint64_t receive_ordinal(std::uint64_t number) const;

  void count_send(std::uint64_t comm, int peer, int tag);
  Unrecorded::Post posting();
  void count_receive(std::uint64_t comm, int peer, int tag, const Unrecorded::Post& post);
  OutstandingReceive* outstanding(const Event& event, const Unrecorded::Post& post);
  void missed(std::uint64_t events);

 private:
  void mute();
  void absorb(const Event& event);
  bool keeps_number(const Event& event) const;
  void see_bounds();
  std::uint64_t number(std::atomic<std::uint64_t>& counter, std::uint64_t& bound);

  SimProcess& process_;
  Ring& ring_;
  const World& world_;
  std::unique_ptr<Unrecorded> accounts_;
  std::vector<Event> summary_;
  std::size_t next_ = 0;
  bool muted_ = false;
  std::uint64_t lost_ = 0;
  std::uint64_t sends_begin_ = 0, receives_begin_ = 0;
  std::uint64_t sending_ = unnumbered, receiving_ = unnumbered;
};

}  // namespace pclscope::test
