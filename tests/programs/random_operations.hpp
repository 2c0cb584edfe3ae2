// Requests under way, of sends, receives and collectives alike, and their completion in random order with every call
// that MPI has for it. Also payloads in memory: contiguous, or scattered by a derived datatype.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "random_ledger.hpp"

namespace chaos {

// A payload of `bytes` in memory. Datatypes are made of MPI_BYTE, so both sides need not use the same.
class Payload {
 public:
  enum class Form { plain, contiguous, vector, indexed };
  Payload(int bytes, Form form);
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;
  ~Payload();

  void* data() { return memory_.data(); }
  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }
  void put(const Header& header);
  Header get() const;  // number -1 when nothing arrived

 private:
  std::size_t offset(std::size_t byte) const;  // where this byte of the payload lies in memory
  Form form_;
  int bytes_, count_;
  MPI_Datatype type_ = MPI_BYTE;
  std::vector<char> memory_;
};

// What a receive asks for; any = -1.
struct Pattern {
  int slot = -1;
  int source = -1;  // world rank
  int tag = -1;
  bool fits(int s, int from, int t) const {
    return s == slot && (source < 0 || source == from) && (tag < 0 || tag == t);
  }
};

struct Operation {
  // A `free` receive is sure to complete once all ranks have started their sends; a `late` one only after others'
  // receives.
  enum class Kind { free_receive, late_receive, send, collective };
  Kind kind;
  MPI_Request request = MPI_REQUEST_NULL;
  bool persistent = false;
  bool needs_status = false;
  bool cancelled = false;  // MPI_Cancel was called
  bool raced = false;
  bool may_cancel = false;
  Pattern pattern = {};
  std::size_t index = 0;  // in the ledger
  std::shared_ptr<Payload> payload = {};
};

class Operations {
 public:
  using Item = std::list<Operation>::iterator;
  Operation& add(Operation operation) { return list_.emplace_back(std::move(operation)); }
  const std::list<Operation>& all() const { return list_; }
  std::list<Operation>& all() { return list_; }
  Operation take(Item item);

  // Completes some. `late`: operations that are not free may be waited for, too. What has completed is handed to
  // done(operation, status or nullptr, when); persistent requests are freed before.
  template <class Done>
  void complete(Random& random, const Ledger& ledger, bool block, bool late, Done done);

 private:
  struct Finished {
    std::vector<int> at;
    std::vector<MPI_Status> statuses;
    bool known;  // the statuses were asked for
  };
  std::vector<Item> choose(Random& random, bool block, bool late, bool& all_free);
  static Finished call(Random& random, std::vector<MPI_Request>& requests, bool block, bool all, bool ignore);
  std::list<Operation> list_;
};

template <class Done>
void Operations::complete(Random& random, const Ledger& ledger, bool block, bool late, Done done) {
  bool all = false;
  const std::vector<Item> order = choose(random, block, late, all);
  if (order.empty()) return;
  std::vector<MPI_Request> requests;
  bool ignore = random.once_in(2);
  for (const Item& item : order) {
    requests.push_back(item->request);
    if (item->needs_status) ignore = false;
  }
  const std::size_t real = requests.size();
  for (int i = random.below(3); i > 0; --i) requests.push_back(MPI_REQUEST_NULL);
  const std::int64_t before = ledger.now();
  const Finished finished = call(random, requests, block, all, ignore);
  const Completion when = ledger.completed(before);
  for (std::size_t i = 0; i < finished.at.size(); ++i) {
    const auto at = static_cast<std::size_t>(finished.at[i]);
    if (at >= real) continue;
    Operation operation = take(order[at]);
    if (operation.persistent) MPI_Request_free(&operation.request);
    done(operation, finished.known ? &finished.statuses[i] : nullptr, when);
  }
}

}  // namespace chaos
