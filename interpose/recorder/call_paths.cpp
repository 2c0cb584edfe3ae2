#include "interpose/recorder/call_paths.hpp"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unwind.h>

#include <cstring>

#include "interpose/process/clock.hpp"
#include "interpose/record/event.hpp"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif

namespace pclscope {

namespace {

constexpr int rbp = 6;  // its number in DWARF

// Unwinding may take so much of a thread's time, and so many ticks at once (20 to 70 ms).
constexpr std::uint64_t share = 50, most_credit = std::uint64_t{1} << 26;

// A word that memcheck need not follow: what the program left in a register may never have been set.
std::uint64_t known(std::uint64_t value) {
#ifdef VALGRIND_MAKE_MEM_DEFINED
  VALGRIND_MAKE_MEM_DEFINED(&value, sizeof value);
#endif
  return value;
}

struct Unwinding {
  Caller caller;
  unsigned limit;
  CallPaths::Known found{};
  CallPaths::Word words[8 * CallPaths::most_frames];
  // Of the last frame taken in.
  const std::uint64_t* cfa = nullptr;      // its stack pointer once the function that it called has returned
  std::uint64_t base = 0;                  // its rbp
  const std::uint64_t* base_at = nullptr;  // where that was saved; null: not known

  void read(const std::uint64_t* at, std::uint64_t value, bool is_caller) {
    if (is_caller) found.callers[found.frames++] = static_cast<std::uint8_t>(found.count);
    words[found.count++] = {at, value};
  }

  // Makes sure that the next frame, which begins at `next`, is found there again only if it is there.
  bool depends_on(const std::uint64_t* next, std::uint64_t address) {
    const auto* at = reinterpret_cast<const std::uint64_t*>(base);
    if (base % sizeof(std::uint64_t) != 0 || at < cfa || at + 1 >= next) return true;  // rbp is no frame pointer
    if (at + 2 != next && known(at[1]) != address) return true;  // it points at something else in the frame
    if (base_at == nullptr) return false;
    read(base_at, base, false);
    if (at + 2 == next) return true;
    // Aligned at run time: a copy of the return address, and, among the registers saved below, where the frame began.
    bool found = false;
    for (const std::uint64_t* saved = at - 1; saved >= cfa && saved >= at - 6; --saved) {
      if (known(*saved) != reinterpret_cast<std::uint64_t>(next)) continue;
      read(saved, *saved, false);
      found = true;
    }
    return found;
  }
};

// Where the frame's rbp was saved: the unwinder's context begins with such a pointer per register.
const std::uint64_t* saved_at(_Unwind_Context* context, const Unwinding& unwinding, std::uint64_t value) {
  const std::uint64_t* at = nullptr;
  std::memcpy(&at, reinterpret_cast<const char*>(context) + rbp * sizeof at, sizeof at);
  const bool on_stack = reinterpret_cast<std::uintptr_t>(at) % sizeof *at == 0 && at >= unwinding.caller.frame &&
                        at < reinterpret_cast<const std::uint64_t*>(_Unwind_GetCFA(context));
  return on_stack && known(*at) == value ? at : nullptr;
}

_Unwind_Reason_Code take_frame(_Unwind_Context* context, void* argument) {
  auto& unwinding = *static_cast<Unwinding*>(argument);
  const auto* cfa = reinterpret_cast<const std::uint64_t*>(_Unwind_GetCFA(context));
  const std::uint64_t address = _Unwind_GetIP(context);
  const std::uint64_t* slot = cfa - 1;
  if (unwinding.found.frames == 0) {
    if (slot < unwinding.caller.frame + 1) return _URC_NO_REASON;  // this library's own
    if (slot != unwinding.caller.frame + 1 || address != known(*slot)) return _URC_END_OF_STACK;
  } else {
    // A frame that a signal interrupted was not called: no return address.
    if (cfa <= unwinding.cfa || address == 0 || known(*slot) != address || !unwinding.depends_on(cfa, address))
      return _URC_END_OF_STACK;
  }
  unwinding.read(slot, address, true);
  unwinding.cfa = cfa;
  unwinding.base = known(_Unwind_GetGR(context, rbp));
  unwinding.base_at = saved_at(context, unwinding, unwinding.base);
  return unwinding.found.frames == unwinding.limit ? _URC_END_OF_STACK : _URC_NO_REASON;
}

bool is_of_libc(std::uint64_t address) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  dl_find_object libc, found;
  return _dl_find_object(reinterpret_cast<void*>(&getenv), &libc) == 0 &&
         _dl_find_object(reinterpret_cast<void*>(address - 1), &found) == 0 &&
         libc.dlfo_link_map == found.dlfo_link_map;
#else
  Dl_info libc, found;
  return dladdr(reinterpret_cast<void*>(&getenv), &libc) != 0 &&
         dladdr(reinterpret_cast<void*>(address - 1), &found) != 0 && libc.dli_fbase == found.dli_fbase;
#endif
}

// Without what called main or began the thread, which is the same for all: to be read at each call for nothing.
void leave_out_beginning(Unwinding& unwinding) {
  CallPaths::Known& found = unwinding.found;
  const auto of_libc = [&](unsigned i) { return is_of_libc(unwinding.words[found.callers[i]].value); };
  unsigned frames = found.frames;
  if (frames > 1 && of_libc(frames - 2)) --frames;  // _start, or another one of libc
  while (frames > 1 && of_libc(frames - 1)) --frames;
  if (frames == found.frames) return;
  found.frames = static_cast<std::uint16_t>(frames);
  found.count = static_cast<std::uint16_t>(found.callers[frames - 1] + 1);
}

}  // namespace

void CallPaths::open(unsigned frames) {
  if (table_ != nullptr || frames == 0) return;
  frames_ = frames < most_frames ? frames : most_frames;
  void* memory = mmap(nullptr, memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  table_ = static_cast<Known**>(memory);
  used_ = sizeof *table_ << table_bits;
  credit_ = most_credit;
  credit_from_ = now();
}

CallPaths::Known* CallPaths::learn(Caller caller) {
  const std::uint64_t begin = now();
  credit_ += (begin - credit_from_) / share;
  if (credit_ > most_credit) credit_ = most_credit;
  credit_from_ = begin;
  if (credit_ == 0) return nullptr;

  Unwinding unwinding;
  unwinding.caller = caller;
  unwinding.limit = frames_;
  _Unwind_Backtrace(take_frame, &unwinding);
  Known& found = unwinding.found;
  if (found.frames == 0) unwinding.read(caller.frame + 1, caller.address(), true);
  leave_out_beginning(unwinding);
  std::uint64_t hash = 0;
  for (unsigned i = 0; i < found.frames; ++i) {
    hash = (hash ^ unwinding.words[found.callers[i]].value) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  found.site = found.frames < 2 ? caller.address() : record::path_key(hash);
  found.frame = caller.frame;
  found.address = caller.address();

  const std::size_t words = found.count * sizeof(Word), bytes = sizeof(Known) + words;
  if (used_ + bytes > memory_bytes) {
    used_ = sizeof *table_ << table_bits;
    std::memset(table_, 0, used_);
  }
  auto* known = reinterpret_cast<Known*>(reinterpret_cast<char*>(table_) + used_);
  used_ += bytes;
  std::memcpy(known, &found, sizeof found);
  std::memcpy(known + 1, unwinding.words, words);
  Known** place = place_of(caller);
  unsigned others = 0;
  for (const Known* other = *place; other != nullptr; other = other->next) ++others;
  if (others >= most_at_place) *place = nullptr;  // looking through more would cost as much as is saved
  known->next = *place;
  *place = known;

  const std::uint64_t took = now() - begin;
  credit_ = took < credit_ ? credit_ - took : 0;
  return known;
}

unsigned CallPaths::frames(const Known& known, std::uint64_t* into) {
  for (unsigned i = 0; i < known.frames; ++i) into[i] = known.words()[known.callers[i]].value;
  return known.frames;
}

}  // namespace pclscope
