// What all decoders share: the account of what a frame makes its reader do, and values as readers may trust them.
// Private to analysis/wire.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "analysis/values/result.hpp"
#include "analysis/wire/frame.hpp"
#include "analysis/wire/pclscope_generated.h"

namespace pclscope::wire {

inline Error damaged(const char* what) {
  return {ErrorCode::damaged, std::string("a message of the job is damaged (") + what + "); the next one may be whole"};
}

// What decoding has yielded so far against the limits of frame.hpp.
class Budget {
 public:
  // False when `count` more elements of `size` bytes are too much.
  bool take(std::size_t count, std::size_t size) {
    if (count > (limit::decoded_bytes - used_) / size) return exceeded_ = true, false;
    used_ += count * size;
    return true;
  }
  bool take_ranks(std::uint64_t count) {
    if (count > limit::ranks - ranks_) return exceeded_ = true, false;
    ranks_ += static_cast<std::uint32_t>(count);
    return true;
  }
  void refuse() { exceeded_ = true; }
  bool exceeded() const { return exceeded_; }

 private:
  std::size_t used_ = 0;
  std::uint32_t ranks_ = 0;
  bool exceeded_ = false;
};

// FlatBuffers' verifier does not look at where the elements of a vector lie. Whoever writes one aligns them, if there
// are any.
template <class Vector>
bool is_aligned(const Vector& vector, std::size_t alignment) {
  return vector.size() == 0 || reinterpret_cast<std::uintptr_t>(vector.Data()) % alignment == 0;
}

inline double finite(double value) { return std::isfinite(value) ? value : 0; }
inline float finite(float value) { return std::isfinite(value) ? value : 0; }
inline std::int32_t finite(std::int32_t value) { return value; }
inline std::uint32_t finite(std::uint32_t value) { return value; }

inline std::string text(const flatbuffers::String* from, Budget& budget) {
  return from && budget.take(from->size() + sizeof(std::string), 1) ? from->str() : std::string();
}

template <class T>
std::vector<T> numbers(const flatbuffers::Vector<T>* from, Budget& budget) {
  std::vector<T> to;
  if (!from || !budget.take(from->size(), sizeof(T))) return to;
  if (!is_aligned(*from, alignof(T))) return budget.refuse(), to;
  to.reserve(from->size());
  for (const T value : *from) to.push_back(finite(value));
  return to;
}

inline std::vector<std::int32_t> ranks(const flatbuffers::Vector<const fb::RankRange*>* from, Budget& budget) {
  std::vector<std::int32_t> to;
  if (!from) return to;
  for (const fb::RankRange* range : *from) {
    const std::int64_t end = std::int64_t{range->first()} + range->count();
    if (range->first() < 0 || end - 1 > std::numeric_limits<std::int32_t>::max()) return budget.refuse(), to;
    if (!budget.take_ranks(range->count())) return to;
    for (std::int64_t rank = range->first(); rank < end; rank++) to.push_back(static_cast<std::int32_t>(rank));
  }
  return to;
}

}  // namespace pclscope::wire
