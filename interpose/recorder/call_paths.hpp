// The call paths of one thread: which functions called the one that calls MPI. A path is found by unwinding the stack
// once (1 to 3 us) and kept with the words of the stack that it follows from; a later call with the same return address
// and the same stack pointer reads these words again, innermost first, and knows that nothing has changed.
//
// Why that is exact: where a function's return address lies follows from where that of the function it called lies and
// from the code between, as long as its frame has a fixed size. Where it has not (alloca, a frame pointer, a stack that
// is aligned at run time), it follows from rbp: then the word in which that rbp was saved is one of those read. So each
// word read is the true one when those before it were as expected, and is mapped. Frames of any other kind end a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "interpose/record/event.hpp"

namespace pclscope {

using Site = std::uint64_t;  // return address in the application, or the key of a call path: FORMAT.md, "Call paths"

// The frame of an exported wrapper: the rbp of its caller, the return address there.
struct Caller {
  const std::uint64_t* frame;
  Site address() const { return frame[1]; }
};
#define PCLSCOPE_CALLER (::pclscope::Caller{static_cast<const std::uint64_t*>(__builtin_frame_address(0))})

class CallPaths {
 public:
  static constexpr unsigned most_frames = record::most_frames;

  struct Word {
    const std::uint64_t* at;
    std::uint64_t value;
  };
  // Behind it lie its words.
  struct Known {
    const std::uint64_t* frame;  // of the wrapper
    std::uint64_t address;
    Site site;            // the path's key; the address when nothing more is known
    Known* next;          // with the same place in the table
    std::uint32_t told;   // for the recorder: to whom; 0 nobody yet
    std::uint16_t count;  // of the words
    std::uint16_t frames;
    std::uint8_t callers[most_frames];  // the words that are return addresses, innermost first

    const Word* words() const { return reinterpret_cast<const Word*>(this + 1); }
  };

  // Paths of at most so many frames; 0: none. Not within a call of MPI. Without memory there are none.
  void open(unsigned frames);
  bool on() const { return table_ != nullptr; }

  // Null: not known yet.
  [[gnu::always_inline]] Known* look(Caller caller) const {
    for (Known* known = *place_of(caller); known != nullptr; known = known->next) {
      if (known->frame != caller.frame || known->address != caller.address()) continue;
      const Word* word = known->words();
      const Word* const end = word + known->count;
      while (word != end && *word->at == word->value) ++word;
      if (word == end) [[likely]]
        return known;
    }
    return nullptr;
  }
  // Unwinds. Null: it has cost too much of the thread's time lately. What look() and learn() returned before may be
  // gone.
  Known* learn(Caller caller);
  // The return addresses, innermost first. Returns how many; most_frames are enough.
  static unsigned frames(const Known& known, std::uint64_t* into);

 private:
  static constexpr unsigned table_bits = 9;
  static constexpr unsigned most_at_place = 64;                        // paths
  static constexpr std::size_t memory_bytes = std::size_t{256} << 10;  // with the table; touched as it is needed
  Known** place_of(Caller caller) const {
    const std::uint64_t key = (reinterpret_cast<std::uint64_t>(caller.frame) >> 4) + caller.address() * 0x9E3779B1u;
    return table_ + (key * 0x9E3779B97F4A7C15u >> (64 - table_bits));
  }

  Known** table_ = nullptr;  // then what is known, as it came; when it is full, all begins anew
  std::size_t used_ = 0;     // bytes of the memory
  unsigned frames_ = 0;
  // Ticks that unwinding may take.
  std::uint64_t credit_ = 0, credit_from_ = 0;
};

}  // namespace pclscope
