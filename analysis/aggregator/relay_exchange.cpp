#include "analysis/aggregator/relay_exchange.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace pclscope::aggregator {
namespace {

// Tags: bit 0 is the parity of the epoch (a node is at most one epoch ahead of another), bit 1: more parts follow.
constexpr int parity_bit = 1, more_bit = 2;

void reduce_words(void* in, void* inout, int* length, MPI_Datatype*) {
  const auto* a = static_cast<const RelayWord*>(in);
  auto* b = static_cast<RelayWord*>(inout);
  for (int i = 0; i < *length; ++i) {
    b[i].read_until_ns = std::min(a[i].read_until_ns, b[i].read_until_ns);
    b[i].open += a[i].open;
    b[i].dead += a[i].dead;
    b[i].leaving += a[i].leaving;
    b[i].ask_finish += a[i].ask_finish;
  }
}

}  // namespace

RelayExchange::RelayExchange(MPI_Comm tools, Message message, Epoch epoch)
    : message_(std::move(message)), epoch_(std::move(epoch)) {
  ok(MPI_Comm_dup(tools, &data_));
  ok(MPI_Comm_dup(tools, &words_));
  if (failed_) return;
  // A broken network must not end the job by our doing.
  MPI_Comm_set_errhandler(data_, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(words_, MPI_ERRORS_RETURN);
  MPI_Comm_size(data_, &nodes_);
  MPI_Comm_rank(data_, &self_);
  dead_.assign(static_cast<std::size_t>(nodes_), 0);
  dead_now_ = dead_;
  make_reduction();
}

RelayExchange::~RelayExchange() {
  if (word_op_ != MPI_OP_NULL) MPI_Op_free(&word_op_);
  if (word_type_ != MPI_DATATYPE_NULL) MPI_Type_free(&word_type_);
  // Freeing a communicator with operations under way is allowed, but may wait in some libraries: after a failure leave
  // it.
  if (failed_) return;
  if (data_ != MPI_COMM_NULL) MPI_Comm_free(&data_);
  if (words_ != MPI_COMM_NULL) MPI_Comm_free(&words_);
}

void RelayExchange::make_reduction() {
  static_assert(sizeof(RelayWord) == 5 * sizeof(std::int64_t));
  ok(MPI_Type_contiguous(5, MPI_INT64_T, &word_type_));
  if (!failed_) ok(MPI_Type_commit(&word_type_));
  if (!failed_) ok(MPI_Op_create(reduce_words, 1, &word_op_));
}

bool RelayExchange::ok(int status) {
  if (status != MPI_SUCCESS) failed_ = true;
  return !failed_;
}

bool RelayExchange::room() const { return sending_bytes_ < most_bytes && sends_.size() < most_requests; }

void RelayExchange::send(int node, std::vector<std::byte> bytes) {
  if (failed_ || node < 0 || node >= nodes_) return;
  if (bytes.size() <= part_bytes) {
    send_part(node, std::move(bytes), true);
    return;
  }
  for (auto rest = std::span<const std::byte>(bytes); !rest.empty() && !failed_;) {
    const auto part = rest.first(std::min(part_bytes, rest.size()));
    rest = rest.subspan(part.size());
    send_part(node, {part.begin(), part.end()}, rest.empty());
  }
}

void RelayExchange::send_part(int node, std::vector<std::byte> part, bool is_last) {
  const auto& kept = sent_.emplace_back(std::move(part));
  const int tag = parity_ | (is_last ? 0 : more_bit);
  sends_.push_back(MPI_REQUEST_NULL);
  if (ok(MPI_Issend(kept.data(), static_cast<int>(kept.size()), MPI_BYTE, node, tag, data_, &sends_.back())))
    sending_bytes_ += kept.size();
}

void RelayExchange::end_epoch(const RelayWord& word) {
  word_ = word;
  dead_here_ = word.dead != 0;
  ended_ = true;
}

bool RelayExchange::turn(bool take) {
  if (failed_) return false;
  bool moved = complete_sends();
  if (take) moved |= begin_receives();
  moved |= complete_receives();
  moved |= advance();
  return moved;
}

bool RelayExchange::complete_sends() {
  if (sends_.empty()) return false;
  std::vector<int> done(sends_.size());
  int count = 0;
  if (!ok(MPI_Testsome(static_cast<int>(sends_.size()), sends_.data(), &count, done.data(), MPI_STATUSES_IGNORE)))
    return false;
  if (count == MPI_UNDEFINED || count == 0) return false;
  std::sort(done.begin(), done.begin() + count, std::greater<>());
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(done[static_cast<std::size_t>(i)]);
    sending_bytes_ -= sent_[index].size();
    std::swap(sends_[index], sends_.back());
    std::swap(sent_[index], sent_.back());
    sends_.pop_back();
    sent_.pop_back();
  }
  return true;
}

bool RelayExchange::begin_receives() {
  bool any = false;
  while (receives_.size() < most_requests && receiving_bytes_ < most_bytes) {
    int there = 0, size = 0;
    MPI_Message message;
    MPI_Status status;
    if (!ok(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, data_, &there, &message, &status)) || !there) break;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Receive& receive = receives_.emplace_back();
    receive.node = status.MPI_SOURCE;
    receive.tag = status.MPI_TAG;
    receive.bytes.resize(static_cast<std::size_t>(size));
    if (!ok(MPI_Imrecv(receive.bytes.data(), size, MPI_BYTE, &message, &receive.request))) break;
    receiving_bytes_ += receive.bytes.size();
    ++receiving_[receive.tag & parity_bit];
    any = true;
  }
  return any;
}

// In order of arrival: so messages and parts of one sender stay in its order.
bool RelayExchange::complete_receives() {
  bool any = false;
  while (!receives_.empty()) {
    Receive& receive = receives_.front();
    int done = 0;
    if (!ok(MPI_Test(&receive.request, &done, MPI_STATUS_IGNORE)) || !done) break;
    receiving_bytes_ -= receive.bytes.size();
    --receiving_[receive.tag & parity_bit];
    take_part(receive);
    receives_.pop_front();
    any = true;
  }
  return any;
}

void RelayExchange::take_part(Receive& receive) {
  if (receive.tag & more_bit) {
    auto& begun = parts_[receive.node];
    begun.insert(begun.end(), receive.bytes.begin(), receive.bytes.end());
    return;
  }
  if (const auto begun = parts_.find(receive.node); begun != parts_.end()) {
    begun->second.insert(begun->second.end(), receive.bytes.begin(), receive.bytes.end());
    receive.bytes = std::move(begun->second);
    parts_.erase(begun);
  }
  if ((receive.tag & parity_bit) == parity_) message_(receive.node, std::move(receive.bytes));
  else early_.push_back({receive.node, std::move(receive.bytes)});
}

bool RelayExchange::advance() {
  if (!ended_ || failed_) return false;
  if (!reduced_ && collective_ == MPI_REQUEST_NULL) {
    if (!sends_.empty()) return false;
    ok(MPI_Iallreduce(&word_, &result_, 1, word_type_, word_op_, words_, &collective_));
    return true;
  }
  if (!reduced_) {
    int done = 0;
    if (!ok(MPI_Test(&collective_, &done, MPI_STATUS_IGNORE)) || !done) return false;
    if (!asking_ && result_.dead > known_dead_) {
      asking_ = true;
      ok(MPI_Iallgather(&dead_here_, 1, MPI_UINT8_T, dead_now_.data(), 1, MPI_UINT8_T, words_, &collective_));
      return true;
    }
    if (asking_) ask_who_died();
    reduced_ = true;
  }
  // All that was sent in this epoch was matched here; the bytes may still be on their way.
  if (receiving_[parity_] > 0) return false;
  next_epoch();
  return true;
}

void RelayExchange::ask_who_died() {
  asking_ = false;
  known_dead_ = result_.dead;
  for (std::size_t node = 0; node < dead_.size(); ++node)
    if (dead_now_[node] && !dead_[node]) died_.push_back(static_cast<int>(node));
  dead_ = dead_now_;
}

void RelayExchange::next_epoch() {
  ended_ = reduced_ = false;
  parity_ ^= parity_bit;
  epoch_(result_, std::exchange(died_, {}));
  for (Early& early : std::exchange(early_, {})) message_(early.node, std::move(early.bytes));
}

}  // namespace pclscope::aggregator
