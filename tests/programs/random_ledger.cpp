#include "random_ledger.hpp"

#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <fstream>

namespace chaos {

std::atomic<int> interval{0};

std::int64_t ticks([[maybe_unused]] bool tsc) {
#if defined(__x86_64__)
  if (tsc) return static_cast<std::int64_t>(__rdtsc());
#endif
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Header Ledger::sent(const Planned& message, int label, int how) {
  const Header header{next_number(), rank_, label, message.tag, message.bytes};
  sent_.push_back(
      {0, 0, header.number, label, message.destination, message.tag, message.bytes, interval.load(), thread_, how, 0});
  return header;
}

void Ledger::sent_between(std::size_t first, std::int64_t before) {
  const std::int64_t after = now();
  for (std::size_t i = first; i < sent_.size(); ++i) {
    sent_[i].before = before;
    sent_[i].after = after;
  }
}

std::size_t Ledger::posting(int label, int how) {
  received_.push_back({0, 0, 0, 0, nothing, label, -1, -1, -1, interval.load(), unseen, thread_, how});
  return received_.size() - 1;
}

void Ledger::posted_between(std::size_t first, std::int64_t before) {
  const std::int64_t after = now();
  for (std::size_t i = first; i < received_.size(); ++i) {
    received_[i].before = before;
    received_[i].after = after;
  }
}

// The sum over all ranks does not depend on who received what: every message counts once.
void Ledger::got(std::size_t index, const Header& header, const Completion& completion) {
  Received& r = received_[index];
  r.number = header.number;
  r.source = header.source;
  r.tag = header.tag;
  r.bytes = header.bytes;
  r.done = completion.interval;
  r.wait_before = completion.before;
  r.wait_after = completion.after;
  ++got_;
  checksum_ += mix(mix(static_cast<std::uint64_t>(header.source * 1000003 + header.tag)) +
                   static_cast<std::uint64_t>(header.bytes)) +
               static_cast<std::uint64_t>(rank_);
}

void Ledger::append(std::vector<Sent>& sent, std::vector<Received>& received) const {
  sent.insert(sent.end(), sent_.begin(), sent_.end());
  for (const Received& r : received_)
    if (r.number != nothing) received.push_back(r);
}

void write_oracle(const std::string& directory, int rank, const std::vector<const Ledger*>& ledgers,
                  const std::string& communicators) {
  std::vector<Sent> sent;
  std::vector<Received> received;
  for (const Ledger* ledger : ledgers) ledger->append(sent, received);
  const auto write = [&](const char* name, const void* data, std::size_t bytes) {
    std::ofstream file(directory + name + std::to_string(rank), std::ios::binary);
    file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    REQUIRE(file.flush());
  };
  write("/sent.", sent.data(), sent.size() * sizeof(Sent));
  write("/received.", received.data(), received.size() * sizeof(Received));
  write("/comms.", communicators.data(), communicators.size());
}

}  // namespace chaos
