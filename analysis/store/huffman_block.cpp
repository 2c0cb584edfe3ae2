#include "analysis/store/huffman_block.hpp"

#include <algorithm>

namespace pclscope::store {
namespace {

constexpr std::size_t literals = 257;  // 256 bytes and the end of the block
constexpr std::size_t end_of_block = 256;
constexpr unsigned longest_code = 15, longest_length_code = 7;
constexpr std::size_t length_symbols = 19;
constexpr std::array<std::uint8_t, length_symbols> length_order{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

class BitWriter {
 public:
  explicit BitWriter(std::vector<std::uint8_t>& to) : to_(to) {}
  void put(std::uint64_t bits, unsigned count) {  // at most 16
    held_ |= bits << count_;
    count_ += count;
    if (count_ < 48) return;
    to_.resize(to_.size() + 6);
    for (std::size_t i = 0; i < 6; i++) to_[to_.size() - 6 + i] = static_cast<std::uint8_t>(held_ >> 8 * i);
    held_ >>= 48;
    count_ -= 48;
  }
  void finish() {
    for (; count_ > 0; held_ >>= 8, count_ -= std::min(count_, 8u)) to_.push_back(static_cast<std::uint8_t>(held_));
  }

 private:
  std::vector<std::uint8_t>& to_;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;
};

struct Code {
  std::uint16_t bits = 0;  // first bit lowest
  std::uint8_t length = 0;
};

// RFC 1951, 3.2.2: codes of one length are consecutive.
void assign_codes(std::span<const std::uint8_t> lengths, std::span<Code> codes) {
  std::array<std::uint32_t, longest_code + 2> next{};
  for (const std::uint8_t length : lengths) next[length + 1u]++;
  next[1] = 0;
  for (std::size_t length = 1; length <= longest_code; length++) next[length + 1] = (next[length] + next[length + 1]) << 1;
  for (std::size_t symbol = 0; symbol < lengths.size(); symbol++) {
    const unsigned length = lengths[symbol];
    if (length == 0) continue;
    const std::uint32_t code = next[length]++;
    std::uint32_t reversed = 0;
    for (unsigned bit = 0; bit < length; bit++) reversed |= (code >> bit & 1) << (length - 1 - bit);
    codes[symbol] = {static_cast<std::uint16_t>(reversed), static_cast<std::uint8_t>(length)};
  }
}

struct LengthSymbol {
  std::uint8_t symbol = 0, extra = 0, extra_bits = 0;
};

// Lengths as the header has them: runs in short.
std::vector<LengthSymbol> run_lengths(std::span<const std::uint8_t> lengths) {
  std::vector<LengthSymbol> symbols;
  for (std::size_t i = 0; i < lengths.size();) {
    std::size_t run = 1;
    while (i + run < lengths.size() && lengths[i + run] == lengths[i]) run++;
    const std::uint8_t length = lengths[i];
    i += run;
    if (length != 0) symbols.push_back({length, 0, 0}), run--;
    while (run >= 3) {
      const std::size_t part = std::min<std::size_t>(run, length != 0 ? 6 : 138);
      if (length != 0) symbols.push_back({16, static_cast<std::uint8_t>(part - 3), 2});
      else if (part <= 10) symbols.push_back({17, static_cast<std::uint8_t>(part - 3), 3});
      else symbols.push_back({18, static_cast<std::uint8_t>(part - 11), 7});
      run -= part;
    }
    for (; run > 0; run--) symbols.push_back({length, 0, 0});
  }
  return symbols;
}

void put_header(std::span<const std::uint8_t> lengths, BitWriter& writer) {
  const std::vector<LengthSymbol> symbols = run_lengths(lengths);
  std::array<std::uint32_t, length_symbols> counts{};
  for (const LengthSymbol& symbol : symbols) counts[symbol.symbol]++;
  std::array<std::uint8_t, length_symbols> code_length{};
  code_lengths(counts, longest_length_code, code_length);
  std::array<Code, length_symbols> codes{};
  assign_codes(code_length, codes);
  std::size_t used = length_symbols;
  while (used > 4 && code_length[length_order[used - 1]] == 0) used--;
  writer.put(4, 3);           // not the last block; codes of its own
  writer.put(0, 5);           // 257 literals
  writer.put(0, 5);           // 1 distance, which has no code: there are no repetitions
  writer.put(used - 4, 4);
  for (std::size_t i = 0; i < used; i++) writer.put(code_length[length_order[i]], 3);
  for (const LengthSymbol& symbol : symbols) {
    writer.put(codes[symbol.symbol].bits, codes[symbol.symbol].length);
    writer.put(symbol.extra, symbol.extra_bits);
  }
}

}  // namespace

// Leaves by weight, then inner nodes as they are made, which is by weight as well: the two lightest are always at the
// front of one of the two.
void code_lengths(std::span<const std::uint32_t> counts, unsigned longest, std::span<std::uint8_t> lengths) {
  struct Node {
    std::uint64_t weight;
    std::uint32_t left, right;  // inner nodes: their parts; leaves: the symbol
  };
  std::vector<std::uint32_t> weights(counts.begin(), counts.end());
  std::vector<Node> nodes;
  while (true) {
    nodes.clear();
    for (std::uint32_t symbol = 0; symbol < weights.size(); symbol++) {
      lengths[symbol] = 0;
      if (weights[symbol] > 0) nodes.push_back({weights[symbol], symbol, 0});
    }
    const std::size_t leaves = nodes.size();
    std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.weight < b.weight; });
    std::size_t leaf = 0, inner = leaves;
    const auto lightest = [&] {
      const bool take_leaf = leaf < leaves && (inner == nodes.size() || nodes[leaf].weight <= nodes[inner].weight);
      return static_cast<std::uint32_t>(take_leaf ? leaf++ : inner++);
    };
    while (nodes.size() + 1 < 2 * leaves) {
      const std::uint32_t a = lightest(), b = lightest();
      nodes.push_back({nodes[a].weight + nodes[b].weight, a, b});
    }
    std::vector<unsigned> depth(nodes.size());
    for (std::size_t i = nodes.size(); i-- > leaves;) depth[nodes[i].left] = depth[nodes[i].right] = depth[i] + 1;
    unsigned deepest = 0;
    for (std::size_t i = 0; i < leaves; i++) {
      lengths[nodes[i].left] = static_cast<std::uint8_t>(std::min(depth[i], 255u));
      deepest = std::max(deepest, depth[i]);
    }
    if (deepest <= longest) return;
    for (std::uint32_t& weight : weights) weight = (weight + 1) / 2;  // flatter
  }
}

void append_huffman_block(std::span<const std::uint8_t> bytes, const ByteCounts& counts, std::vector<std::uint8_t>& to) {
  std::array<std::uint32_t, literals> all{};
  std::copy(counts.begin(), counts.end(), all.begin());
  all[end_of_block] = 1;
  std::array<std::uint8_t, literals + 1> lengths{};  // and the distance without a code
  code_lengths(all, longest_code, std::span(lengths).first(literals));
  std::array<Code, literals> codes{};
  assign_codes(std::span(lengths).first(literals), codes);
  to.reserve(to.size() + bytes.size() * 2 + 512);
  BitWriter writer(to);
  put_header(lengths, writer);
  for (const std::uint8_t byte : bytes) writer.put(codes[byte].bits, codes[byte].length);
  writer.put(codes[end_of_block].bits, codes[end_of_block].length);
  writer.put(0, 3);  // an empty stored block
  writer.finish();
  to.insert(to.end(), {0x00, 0x00, 0xff, 0xff});
}

}  // namespace pclscope::store
