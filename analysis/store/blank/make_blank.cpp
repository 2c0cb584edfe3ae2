// make_blank FILE: writes the blank dump that becomes a part of all other programs.
#include <cstdio>

#include "analysis/store/blank.hpp"
#include "analysis/store/writer.hpp"

std::span<const std::byte> pclscope::store::blank_dump() { return {}; }

int main(int count, char** arguments) {
  if (count != 2) return std::fputs("usage: make_blank FILE\n", stderr), 2;
  std::remove(arguments[1]);
  const auto made = pclscope::store::Writer::make_blank(arguments[1]);
  if (!made) std::fprintf(stderr, "make_blank: %s\n", made.error().message.c_str());
  return made ? 0 : 1;
}
