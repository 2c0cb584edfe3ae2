#include "random_operations.hpp"

#include <algorithm>
#include <cstring>

namespace chaos {
namespace {

constexpr std::size_t gap = 8;  // bytes between the parts of a scattered payload

}  // namespace

Payload::Payload(int bytes, Form form) : form_(form), bytes_(bytes), count_(1) {
  if (bytes == 0 || (form == Form::vector && bytes % 8 != 0)) form_ = Form::plain;
  const auto size = static_cast<std::size_t>(bytes);
  memory_.assign(form_ == Form::vector ? 2 * size : size + gap, '\xee');
  const int half = bytes / 2;
  const int lengths[2] = {half, bytes - half};
  const MPI_Aint places[2] = {0, static_cast<MPI_Aint>(half) + static_cast<MPI_Aint>(gap)};
  switch (form_) {
    case Form::plain: count_ = bytes; return;
    case Form::contiguous: MPI_Type_contiguous(bytes, MPI_BYTE, &type_); break;
    case Form::vector: MPI_Type_vector(bytes / 8, 8, 16, MPI_BYTE, &type_); break;
    case Form::indexed: MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &type_); break;
  }
  MPI_Type_commit(&type_);
}

Payload::~Payload() {
  if (form_ != Form::plain) MPI_Type_free(&type_);
}

std::size_t Payload::offset(std::size_t byte) const {
  if (form_ == Form::vector) return byte / 8 * 16 + byte % 8;
  if (form_ == Form::indexed && byte >= static_cast<std::size_t>(bytes_ / 2)) return byte + gap;
  return byte;
}

void Payload::put(const Header& header) {
  char bytes[sizeof header];
  std::memcpy(bytes, &header, sizeof header);
  if (bytes_ < header_bytes) return;
  for (std::size_t i = 0; i < sizeof header; ++i) memory_[offset(i)] = bytes[i];
}

Header Payload::get() const {
  Header header;
  char bytes[sizeof header];
  if (bytes_ < header_bytes) return header;
  const volatile char* const memory = memory_.data();  // a freed receive fills it behind the compiler's back
  for (std::size_t i = 0; i < sizeof header; ++i) bytes[i] = memory[offset(i)];
  std::memcpy(&header, bytes, sizeof header);
  return header;
}

Operation Operations::take(Item item) {
  Operation operation = std::move(*item);
  list_.erase(item);
  return operation;
}

// Random operations in random order. To block is safe if all may be waited for (then all of them may be asked for:
// `all`), or if one is a free receive and any one completion ends the call.
std::vector<Operations::Item> Operations::choose(Random& random, bool block, bool late, bool& all) {
  const bool only_free = block && !late && random.once_in(2);
  bool some_free = false;
  all = true;
  std::vector<Item> order;
  for (auto it = list_.begin(); it != list_.end(); ++it) {
    const bool free = it->kind == Operation::Kind::free_receive;
    if (only_free && !free) continue;
    order.push_back(it);
    some_free |= free;
    if (!free && block && !late) all = false;
  }
  if (block && !late && !some_free) return {};
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(i))]);
  if (all && order.size() > 1 && random.once_in(3))
    order.resize(1 + static_cast<std::size_t>(random.below(order.size())));
  return order;
}

Operations::Finished Operations::call(Random& random, std::vector<MPI_Request>& requests, bool block, bool all,
                                      bool ignore) {
  const int count = static_cast<int>(requests.size());
  Finished f{std::vector<int>(requests.size()), std::vector<MPI_Status>(requests.size()), !ignore};
  MPI_Status* const statuses = ignore ? MPI_STATUSES_IGNORE : f.statuses.data();
  MPI_Status* const status = ignore ? MPI_STATUS_IGNORE : f.statuses.data();
  int number = 0, flag = 1;
  switch (random.below(all || !block ? 4 : 2)) {
    case 0:
      if (block) MPI_Waitany(count, requests.data(), f.at.data(), status);
      else MPI_Testany(count, requests.data(), f.at.data(), &flag, status);
      number = flag && f.at[0] != MPI_UNDEFINED ? 1 : 0;
      break;
    case 1:
      if (block) MPI_Waitsome(count, requests.data(), &number, f.at.data(), statuses);
      else MPI_Testsome(count, requests.data(), &number, f.at.data(), statuses);
      if (number == MPI_UNDEFINED) number = 0;
      break;
    case 2:
      if (block) MPI_Wait(&requests[0], status);
      else MPI_Test(&requests[0], &flag, status);
      number = flag ? 1 : 0;
      f.at[0] = 0;
      break;
    default:
      if (block) MPI_Waitall(count, requests.data(), statuses);
      else MPI_Testall(count, requests.data(), &flag, statuses);
      number = flag ? count : 0;
      for (int i = 0; i < count; ++i) f.at[static_cast<std::size_t>(i)] = i;
  }
  f.at.resize(static_cast<std::size_t>(number));
  return f;
}

}  // namespace chaos
