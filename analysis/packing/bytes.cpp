#include "analysis/packing/bytes.hpp"

namespace pclscope::packing {

void CommNumbers::put(Writer& out, std::uint64_t comm) {
  for (std::size_t back = 0; back < std::min(searched, known_.size()); ++back) {
    if (known_[known_.size() - 1 - back] == comm) return out.varint(back + 1);
  }
  out.varint(0);
  out.fixed(comm, 8);
  known_.push_back(comm);
}

std::uint64_t CommNumbers::get(Reader& in) {
  const std::uint64_t back = in.varint();
  if (back > known_.size()) return in.fail(), 0;
  if (back != 0) return known_[known_.size() - back];
  known_.push_back(in.fixed(8));
  return in.ok() ? known_.back() : 0;
}

}  // namespace pclscope::packing
