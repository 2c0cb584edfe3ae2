// Reads a dump (layout: FORMAT.md beside this file).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/match/message.hpp"
#include "analysis/result.hpp"
#include "analysis/snapshot.hpp"

namespace pclscope::store {

class Reader {
 public:
  // Fails with not_found, not_permitted, not_ours, wrong_version, damaged.
  static Result<std::unique_ptr<Reader>> open(const std::string& path);
  ~Reader();

  bool complete() const;            // the writer closed it; false: the run was cut off or still goes on
  const Snapshot& summary() const;  // the last summarize()
  std::uint64_t message_count() const;
  std::uint64_t messages_not_stored() const;  // beyond the writer's budget
  // Rows [first, first + count), clipped to what there is.
  Result<std::vector<Message>> messages(std::uint64_t first, std::uint64_t count) const;
  Result<std::vector<Window>> windows() const;

 private:
  struct State;
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pclscope::store
