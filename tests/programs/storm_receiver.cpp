#include "storm_receiver.hpp"

#include <cstring>
#include <fstream>

namespace storm {

void Receiver::begin(Communicators* comms, Expected expected) {
  comms_ = comms;
  expected_ = std::move(expected);
}

void Receiver::while_sending() {
  Pattern pattern{};
  switch (below(4)) {
    case 0:
    case 1:
      if (draw(pattern)) post(pattern);
      break;
    case 2: complete_some(false); break;
    default: break;
  }
}

void Receiver::finish() {
  while (expected_.total() > 0) {
    Pattern pattern{};
    if (!draw(pattern)) {  // every message left is spoken for
      complete_some(true);
      continue;
    }
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
      case 3: post(pattern); break;
      case 4:
      case 5: receive_now(pattern); break;
      case 6: probe_then_receive(pattern, false); break;
      case 7: probe_then_receive(pattern, true); break;
      case 8: matched_probe(pattern, false); break;
      case 9: matched_probe(pattern, true); break;
      case 10: complete_some(false); break;
      default: complete_some(true); break;
    }
  }
  REQUIRE(pending_.empty());
}

// A random pattern that fits some message still to come, if it is safe to wait for it.
bool Receiver::draw(Pattern& pattern) {
  if (expected_.total() == 0 || pending_.size() >= 16) return false;
  for (int attempt = 0; attempt < 40; ++attempt) {
    const int slot = below(slots), source = below(expected_.size()), tag = below(tags);
    if (expected_.left(slot, source, tag) == 0) continue;
    const int kind = below(5);  // wild in nothing, source, tag, both, both
    pattern = {slot, kind == 1 || kind >= 3 ? -1 : source, kind >= 2 ? -1 : tag};
    if (possible(pattern)) return true;
  }
  return false;
}

// True if, with one more receive, each waiting receive still has a channel with at least as many messages left as
// there are receives that could take one from it. Then none can starve: if all messages of that channel had arrived and
// the receive had none, the others would have taken all of them, but they are too few.
bool Receiver::possible(const Pattern& more) const {
  if (!sure(more, more)) return false;
  for (const Pending& pending : pending_)
    if (pending.pattern.slot == more.slot && !sure(pending.pattern, more)) return false;
  return true;
}

bool Receiver::sure(const Pattern& pattern, const Pattern& more) const {
  for (int source = 0; source < expected_.size(); ++source)
    for (int tag = 0; tag < tags; ++tag) {
      const int left = expected_.left(pattern.slot, source, tag);
      if (left == 0 || !pattern.fits(pattern.slot, source, tag)) continue;
      int claims = more.fits(pattern.slot, source, tag) ? 1 : 0;
      for (const Pending& pending : pending_) claims += pending.pattern.fits(pattern.slot, source, tag) ? 1 : 0;
      if (claims <= left) return true;
    }
  return false;
}

int Receiver::peer(const Pattern& pattern) const {
  if (pattern.source < 0) return MPI_ANY_SOURCE;
  const std::vector<int>& peers = comms_->slot[static_cast<std::size_t>(pattern.slot)].peers;
  int i = 0;
  while (peers[static_cast<std::size_t>(i)] != pattern.source) ++i;
  return i;
}

void Receiver::post(const Pattern& pattern) {
  Pending& pending = pending_.emplace_back();
  pending.pattern = pattern;
  pending.index = posted_++;
  pending.persistent = below(6) == 0;
  pending.buffer.resize(max_bytes);
  auto* const receive = pending.persistent ? MPI_Recv_init : MPI_Irecv;
  receive(pending.buffer.data(), max_bytes, MPI_BYTE, peer(pattern), wanted_tag(pattern), comm(pattern),
          &pending.request);
  if (pending.persistent) MPI_Start(&pending.request);
}

void Receiver::receive_now(const Pattern& pattern) {
  std::vector<char> buffer(max_bytes);
  MPI_Status status;
  const bool ignore = below(2) == 0;
  const std::size_t index = posted_++;
  MPI_Recv(buffer.data(), max_bytes, MPI_BYTE, peer(pattern), wanted_tag(pattern), comm(pattern),
           ignore ? MPI_STATUS_IGNORE : &status);
  note(index, pattern, buffer.data(), ignore ? nullptr : &status);
}

void Receiver::probe_then_receive(const Pattern& pattern, bool poll) {
  MPI_Status status;
  int flag = 0;
  if (!poll) MPI_Probe(peer(pattern), wanted_tag(pattern), comm(pattern), &status);
  while (poll && !flag) MPI_Iprobe(peer(pattern), wanted_tag(pattern), comm(pattern), &flag, &status);
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  std::vector<char> buffer(static_cast<std::size_t>(bytes));
  const std::size_t index = posted_++;
  MPI_Status again;
  MPI_Recv(buffer.data(), bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm(pattern), &again);
  note(index, pattern, buffer.data(), &again);
}

// The message is taken at the probe: that is its place in the posting order, whenever it is received.
void Receiver::matched_probe(const Pattern& pattern, bool poll) {
  MPI_Message message;
  MPI_Status status;
  int flag = 0, bytes = 0;
  const std::size_t index = posted_++;
  if (!poll) MPI_Mprobe(peer(pattern), wanted_tag(pattern), comm(pattern), &message, &status);
  while (poll && !flag) MPI_Improbe(peer(pattern), wanted_tag(pattern), comm(pattern), &flag, &message, &status);
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  if (below(2) == 0) {
    std::vector<char> buffer(static_cast<std::size_t>(bytes));
    MPI_Mrecv(buffer.data(), bytes, MPI_BYTE, &message, below(2) == 0 ? MPI_STATUS_IGNORE : &status);
    note(index, pattern, buffer.data(), &status);
    return;
  }
  Pending& pending = pending_.emplace_back();
  const Channelled& c = comms_->slot[static_cast<std::size_t>(pattern.slot)];
  pending.pattern = {pattern.slot, c.peers[static_cast<std::size_t>(status.MPI_SOURCE)], status.MPI_TAG};
  pending.index = index;
  pending.persistent = false;
  pending.buffer.resize(static_cast<std::size_t>(bytes));
  MPI_Imrecv(pending.buffer.data(), bytes, MPI_BYTE, &message, &pending.request);
}

// Completes pending receives in random order, with each of the completion calls.
void Receiver::complete_some(bool block) {
  if (pending_.empty()) return;
  std::vector<std::list<Pending>::iterator> order;
  for (auto it = pending_.begin(); it != pending_.end(); ++it) order.push_back(it);
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[static_cast<std::size_t>(below(static_cast<int>(i) + 1))]);
  std::vector<MPI_Request> requests;
  for (const auto& it : order) requests.push_back(it->request);
  const int count = static_cast<int>(requests.size());
  std::vector<int> done(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  int number = 0, flag = 0;
  switch (below(4)) {
    case 0:
      if (block) MPI_Waitany(count, requests.data(), done.data(), MPI_STATUS_IGNORE);
      else MPI_Testany(count, requests.data(), done.data(), &flag, MPI_STATUS_IGNORE);
      number = block || (flag && done[0] != MPI_UNDEFINED) ? 1 : 0;
      break;
    case 1:
      if (block) MPI_Waitsome(count, requests.data(), &number, done.data(), statuses.data());
      else MPI_Testsome(count, requests.data(), &number, done.data(), MPI_STATUSES_IGNORE);
      break;
    case 2:
      if (block) MPI_Wait(&requests[0], &statuses[0]);
      else MPI_Test(&requests[0], &flag, &statuses[0]);
      number = block || flag ? 1 : 0;
      break;
    default:
      if (block) MPI_Waitall(count, requests.data(), below(2) ? statuses.data() : MPI_STATUSES_IGNORE);
      else MPI_Testall(count, requests.data(), &flag, MPI_STATUSES_IGNORE);
      number = block || flag ? count : 0;
      for (int i = 0; i < count; ++i) done[static_cast<std::size_t>(i)] = i;
  }
  // Requests of persistent receives stay, the others are MPI_REQUEST_NULL now.
  for (int i = 0; i < number; ++i) {
    const auto it = order[static_cast<std::size_t>(done[static_cast<std::size_t>(i)])];
    completed(*it);
    pending_.erase(it);
  }
}

void Receiver::completed(Pending& pending) {
  if (pending.persistent) MPI_Request_free(&pending.request);
  note(pending.index, pending.pattern, pending.buffer.data(), nullptr);
}

// The payload is the truth; the status, where there is one, must agree with it.
void Receiver::note(std::size_t index, const Pattern& pattern, const char* data, const MPI_Status* status) {
  Header header;
  std::memcpy(&header, data, sizeof header);
  const Channelled& c = comms_->slot[static_cast<std::size_t>(pattern.slot)];
  REQUIRE(pattern.fits(header.slot, header.source, header.tag));
  int bytes = header.bytes;
  if (status) {
    MPI_Get_count(status, MPI_BYTE, &bytes);
    REQUIRE(c.peers[static_cast<std::size_t>(status->MPI_SOURCE)] == header.source && status->MPI_TAG == header.tag);
    REQUIRE(bytes == header.bytes);
  }
  expected_.take(header.slot, header.source, header.tag);
  if (got_.size() <= index) got_.resize(index + 1);
  got_[index] = {c.label, header, bytes};
  checksum_ += mix(mix(static_cast<std::uint64_t>(header.source)) + static_cast<std::uint64_t>(header.index) * 8 +
                   static_cast<std::uint64_t>(header.tag)) +
               static_cast<std::uint64_t>(bytes);
}

void Receiver::write(const std::string& path) const {
  std::ofstream file(path);
  for (std::size_t i = 0; i < got_.size(); ++i) {
    const Got& got = got_[i];
    file << i << ' ' << got.label << ' ' << got.header.source << ' ' << got.header.tag << ' ' << got.bytes << ' '
         << got.header.index << '\n';
  }
  REQUIRE(file.flush());
}

}  // namespace storm
