#include "benchmarks/scale/program.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <stdexcept>

#include "analysis/nodes/job_ticks.hpp"
#include "analysis/nodes/node.hpp"
#include "benchmarks/scale/sites.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope::benchmark {

using record::Event;
using record::EventKind;
using record::Function;
namespace flag = record::flag;

namespace {

constexpr int messages_of_window_and_rank = 100;  // about: 1,000 per second
constexpr std::int64_t post_ns = 100, send_ns = 200;
constexpr std::uint64_t sizes[] = {512, 4096, 32768};

std::uint64_t hash(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = (a << 32 ^ b) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 31;
}

Event made(EventKind kind, Function function, std::int64_t begin, std::int64_t end) {
  Event e{};
  e.begin = nodes::job_ticks(begin);
  e.end = nodes::job_ticks(end);
  e.site = kind == EventKind::send         ? site_of_sends
           : kind == EventKind::collective ? site_of_collectives
                                           : site_of_receives;
  e.comm = record::world_comm_id;
  e.kind = kind;
  e.function = static_cast<std::uint16_t>(function);
  return e;
}

}  // namespace

Program::Program(const std::string& pattern, std::int32_t ranks) : ranks_(ranks) {
  if (ranks < 512 || !std::has_single_bit(static_cast<std::uint32_t>(ranks)))
    throw std::invalid_argument("ranks: a power of two, 512 or more");
  if (pattern == "halo") {
    halo();
  } else if (pattern == "cg") {
    cg();
  } else if (pattern == "irregular") {
    irregular();
  } else {
    throw std::invalid_argument("no such pattern: " + pattern);
  }
  const int per_epoch = messages_of_window_and_rank / epochs_of_window;
  steps_of_epoch_ = std::max(1, (per_epoch + degree_ / 2) / degree_);
}

// Lines of the torus go on in the next one, so that all ranks look alike.
void Program::halo() {
  const int bits = std::countr_zero(static_cast<std::uint32_t>(ranks_));
  const std::int32_t z = 1 << bits / 3, yz = z << (bits - bits / 3) / 2;
  degree_ = 6;
  for (std::int32_t r = 0; r < ranks_; ++r)
    for (const std::int32_t offset : {1, z, yz}) {
      partners_.push_back((r + offset) % ranks_);
      partners_.push_back((r - offset + ranks_) % ranks_);
    }
}

void Program::cg() {
  const int half = std::countr_zero(static_cast<std::uint32_t>(ranks_)) / 2;
  const std::int32_t side = 1 << half, mask = side - 1;  // one square, or two
  degree_ = half + 1;
  for (std::int32_t r = 0; r < ranks_; ++r) {
    for (int bit = 0; bit < half; ++bit) partners_.push_back(r ^ 1 << bit);
    const std::int32_t row = r >> half & mask, column = r & mask, square = r >> 2 * half << 2 * half;
    const bool diagonal = row == column;
    partners_.push_back(square | (diagonal ? (row ^ 1) << half | (column ^ 1) : column << half | row));
  }
}

void Program::irregular() {
  constexpr std::int32_t block = 64;
  std::mt19937_64 random(11);
  std::vector<std::int32_t> blocks(static_cast<std::size_t>(ranks_ / block)), place(blocks.size());
  std::iota(blocks.begin(), blocks.end(), 0);
  std::shuffle(blocks.begin(), blocks.end(), random);
  const std::size_t count = blocks.size();
  for (std::size_t i = 0; i < count; ++i) place[static_cast<std::size_t>(blocks[i])] = static_cast<std::int32_t>(i);
  degree_ = 8;
  std::vector<std::int32_t> masks(block - 1);
  for (std::int32_t b = 0; b < static_cast<std::int32_t>(count); ++b) {
    std::iota(masks.begin(), masks.end(), 1);
    std::shuffle(masks.begin(), masks.end(), random);
    const auto at = static_cast<std::size_t>(place[static_cast<std::size_t>(b)]);
    const std::size_t odd = at % 2;
    const std::int32_t far[] = {blocks[at ^ 1], blocks[(at + (odd ? 1 : count - 1)) % count]};
    for (std::int32_t i = 0; i < block; ++i) {
      for (std::size_t k = 0; k < 6; ++k) partners_.push_back(b * block + (i ^ masks[k]));
      for (const std::int32_t other : far)
        partners_.push_back(other * block +
                            (i ^ static_cast<std::int32_t>(hash(7, static_cast<std::uint64_t>(b + other)) % block)));
    }
  }
}

std::int64_t Program::step_begin(std::int32_t rank, int step) const {
  const auto late = hash(static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(step)) % 64;
  return step * step_ns() + static_cast<std::int64_t>(late) * (step_ns() / 512);
}

std::int64_t Program::step_end(std::int32_t rank, int step) const {
  const auto late = hash(static_cast<std::uint64_t>(rank) + 1'000'000'007, static_cast<std::uint64_t>(step)) % 20'000;
  return step * step_ns() + step_ns() / 4 + static_cast<std::int64_t>(late);
}

int Program::place_of(std::int32_t rank, std::int32_t partner) const {
  const auto of = partners(rank);
  return static_cast<int>(std::find(of.begin(), of.end(), partner) - of.begin());
}

Event Program::send(std::int32_t rank, int step, int k) const {
  const std::int64_t begin = step_begin(rank, step) + degree_ * post_ns + k * send_ns;
  Event e = made(EventKind::send, Function::Isend, begin, begin + send_ns * 3 / 4);
  e.flags = flag::nonblocking;
  e.bytes = sizes[(rank + k) % 3];
  e.ordinal = static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(degree_) + static_cast<std::uint64_t>(k);
  e.peer = partners(rank)[static_cast<std::size_t>(k)];
  e.tag = 10;
  return e;
}

void Program::events(std::int32_t rank, int epoch, std::vector<Event>& into) const {
  for (int step = epoch * steps_of_epoch_; step < (epoch + 1) * steps_of_epoch_; ++step) {
    const std::int64_t begin = step_begin(rank, step), wait = begin + degree_ * (post_ns + send_ns);
    const std::uint64_t first = static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(degree_);
    for (int k = 0; k < degree_; ++k) {
      Event& e =
          into.emplace_back(made(EventKind::recv_post, Function::Irecv, begin + k * post_ns, begin + k * post_ns + 60));
      e.flags = flag::nonblocking;
      e.ordinal = first + static_cast<std::uint64_t>(k);
      e.peer = partners(rank)[static_cast<std::size_t>(k)];
      e.tag = 10;
    }
    for (int k = 0; k < degree_; ++k) into.push_back(send(rank, step, k));
    into.push_back(made(EventKind::call, Function::Waitall, wait, step_end(rank, step)));
    into.back().ordinal = 2 * static_cast<std::uint64_t>(degree_);
    for (int k = 0; k < degree_; ++k) {
      const Message m = message(rank, step, k);
      Event& e = into.emplace_back(made(EventKind::recv_done, Function::Waitall, wait, step_end(rank, step)));
      e.flags = flag::posted;
      e.ordinal = first + static_cast<std::uint64_t>(k);
      e.peer = m.source;
      e.tag = m.tag;
      e.bytes = m.bytes;
    }
  }
  if ((epoch + 1) % epochs_of_window == 0) into.push_back(collective(rank, epoch / epochs_of_window));
}

Message Program::message(std::int32_t destination, int step, int k) const {
  Message m;
  m.source = partners(destination)[static_cast<std::size_t>(k)];
  m.destination = destination;
  m.comm = record::world_comm_id;
  m.tag = 10;
  m.flags = flag::nonblocking;
  const int back = place_of(m.source, destination);
  const std::int64_t begin = step_begin(destination, step);
  m.bytes = sizes[(m.source + back) % 3];
  m.send_begin = step_begin(m.source, step) + degree_ * post_ns + back * send_ns;
  m.send_end = m.send_begin + send_ns * 3 / 4;
  m.recv_post = begin + k * post_ns;
  m.recv_wait = begin + degree_ * (post_ns + send_ns);
  m.recv_end = step_end(destination, step);
  return m;
}

Event Program::collective(std::int32_t rank, int window) const {
  const std::int64_t end = (window + 1) * window_ns - step_ns() / 4;
  const auto late = static_cast<std::int64_t>(
      hash(static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(window) << 20) % 50'000);
  Event e = made(EventKind::collective, Function::Allreduce, end - 100'000 + late, end);
  e.peer = record::any_source;
  e.bytes = 8;
  e.ordinal = static_cast<std::uint64_t>(window);
  return e;
}

}  // namespace pclscope::benchmark
