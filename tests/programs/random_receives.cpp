// The calls with which a Receiver receives, and what it writes down.
#include "random_receiver.hpp"

namespace chaos {

int Receiver::peer(const Pattern& pattern) const {
  if (pattern.source < 0) return MPI_ANY_SOURCE;
  return context_.view(pattern.slot).rank_of[static_cast<std::size_t>(pattern.source)];
}

std::shared_ptr<Payload> Receiver::room(bool plain) {
  auto payload = std::make_shared<Payload>(max_bytes, plain ? Payload::Form::plain : context_.form());
  payload->put(Header{});
  return payload;
}

void Receiver::post(const Pattern& pattern, Operation::Kind kind, bool raced) {
  Operation o{.kind = kind,
              .raced = raced,
              .may_cancel = kind == Operation::Kind::free_receive && !raced,
              .pattern = pattern,
              .payload = room()};
  o.needs_status = wild(pattern) && may_be_empty(pattern.slot);
  o.persistent = context_.below(5) == 0;
  Payload& into = *o.payload;
  const int from = peer(pattern), tag = wanted(pattern.tag), count = into.count();
  if (o.persistent) {
    if (context_.large()) MPI_Recv_init_c(into.data(), count, into.type(), from, tag, comm(pattern), &o.request);
    else MPI_Recv_init(into.data(), count, into.type(), from, tag, comm(pattern), &o.request);
    group_.push_back(std::move(o));
    if (group_.size() == 4) start_group();
    return;
  }
  start_group();
  o.index = context_.ledger.posting(context_.view(pattern.slot).label, 1);
  const bool large = context_.large();
  const std::int64_t before = context_.ledger.now();
  if (large) MPI_Irecv_c(into.data(), count, into.type(), from, tag, comm(pattern), &o.request);
  else MPI_Irecv(into.data(), count, into.type(), from, tag, comm(pattern), &o.request);
  context_.ledger.posted_between(o.index, before);
  context_.operations.add(std::move(o));
}

void Receiver::start_group() {
  if (group_.empty()) return;
  std::vector<MPI_Request> requests;
  for (Operation& o : group_) {
    o.index = context_.ledger.posting(context_.view(o.pattern.slot).label, 2);
    requests.push_back(o.request);
  }
  const std::int64_t before = context_.ledger.now();
  if (requests.size() == 1) MPI_Start(requests.data());
  else MPI_Startall(static_cast<int>(requests.size()), requests.data());
  context_.ledger.posted_between(group_.front().index, before);
  for (std::size_t i = 0; i < group_.size(); ++i) {
    group_[i].request = requests[i];
    context_.operations.add(std::move(group_[i]));
  }
  group_.clear();
}

void Receiver::receive_now(const Pattern& pattern) {
  const auto into = room();
  MPI_Status status;
  const bool ignore = !(wild(pattern) && may_be_empty(pattern.slot)) && context_.below(2) == 0,
             large = context_.large();
  MPI_Status* const wanted_status = ignore ? MPI_STATUS_IGNORE : &status;
  const int from = peer(pattern), tag = wanted(pattern.tag), count = into->count();
  const std::size_t index = context_.ledger.posting(context_.view(pattern.slot).label, 3);
  const std::int64_t before = context_.ledger.now();
  if (large) MPI_Recv_c(into->data(), count, into->type(), from, tag, comm(pattern), wanted_status);
  else MPI_Recv(into->data(), count, into->type(), from, tag, comm(pattern), wanted_status);
  context_.ledger.posted_between(index, before);
  note(index, pattern, *into, ignore ? nullptr : &status, context_.ledger.completed(before));
}

void Receiver::probe_then_receive(const Pattern& pattern, bool poll) {
  MPI_Status status;
  int flag = 0, bytes = 0;
  if (!poll) MPI_Probe(peer(pattern), wanted(pattern.tag), comm(pattern), &status);
  while (poll && !flag) MPI_Iprobe(peer(pattern), wanted(pattern.tag), comm(pattern), &flag, &status);
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  Payload into(bytes, context_.form());
  MPI_Status again;
  const std::size_t index = context_.ledger.posting(context_.view(pattern.slot).label, 4);
  const std::int64_t before = context_.ledger.now();
  MPI_Recv(into.data(), into.count(), into.type(), status.MPI_SOURCE, status.MPI_TAG, comm(pattern), &again);
  context_.ledger.posted_between(index, before);
  note(index, pattern, into, &again, context_.ledger.completed(before));
}

// The message is taken at the probe: that is its place in the posting order, whenever it is received.
void Receiver::matched_probe(const Pattern& pattern, bool poll, bool raced) {
  MPI_Message message;
  MPI_Status status;
  int flag = 0, bytes = 0;
  const View& view = context_.view(pattern.slot);
  const std::size_t index = context_.ledger.posting(view.label, poll ? 6 : 5);
  std::int64_t before = context_.ledger.now();
  if (!poll) MPI_Mprobe(peer(pattern), wanted(pattern.tag), view.comm, &message, &status);
  // A loop that was a wait is one call (FORMAT.md, rule 13).
  while (poll && !flag) MPI_Improbe(peer(pattern), wanted(pattern.tag), view.comm, &flag, &message, &status);
  context_.ledger.posted_between(index, before);
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  const Pattern found{pattern.slot, view.world_of[static_cast<std::size_t>(status.MPI_SOURCE)], status.MPI_TAG};
  const auto into = std::make_shared<Payload>(bytes, context_.form());
  if (context_.below(2) == 0) {
    const bool large = context_.large();
    before = context_.ledger.now();
    if (large) MPI_Mrecv_c(into->data(), into->count(), into->type(), &message, &status);
    else MPI_Mrecv(into->data(), into->count(), into->type(), &message, MPI_STATUS_IGNORE);
    note(index, found, *into, nullptr, context_.ledger.completed(before));
    return;
  }
  Operation& o = context_.operations.add(
      {.kind = Operation::Kind::free_receive, .raced = raced, .pattern = found, .payload = into});
  o.index = index;
  if (context_.large()) MPI_Imrecv_c(into->data(), into->count(), into->type(), &message, &o.request);
  else MPI_Imrecv(into->data(), into->count(), into->type(), &message, &o.request);
}

// No other message is under way on this communicator, so the receive may be as wild as it likes.
void Receiver::exchange(const Exchange& exchange) {
  const Recipe& recipe = context_.recipe(exchange.slot);
  if (!recipe.has(context_.rank)) return;
  const std::vector<int> all = recipe.peers(context_.rank);
  std::size_t me = 0;
  while (all[me] != context_.rank) ++me;
  const auto shift = static_cast<std::size_t>(exchange.shift) % all.size();
  const int to = all[(me + shift) % all.size()], from = all[(me + all.size() - shift) % all.size()];
  const Planned message{context_.rank, to, exchange.slot, exchange.tag, exchange.bytes};
  const int kind = context_.below(4);
  const Pattern known{exchange.slot, from, exchange.tag};
  const Pattern pattern{exchange.slot, kind & 1 ? -1 : from, kind & 2 ? -1 : exchange.tag};
  exchanging_ = true;
  switch (context_.below(MPI_VERSION >= 4 && to != context_.rank ? 4 : 2)) {
    case 0: exchange_in_place(message, pattern); break;
    case 1: exchange_apart(message, pattern); break;
    default: exchange_nonblocking(message, known);
  }
  exchanging_ = false;
}

void Receiver::exchange_in_place(const Planned& message, const Pattern& pattern) {
  const auto data = sender_.payload(message);
  const View& view = context_.view(message.slot);
  MPI_Status status;
  const std::size_t first = context_.ledger.sends(), index = context_.ledger.posting(view.label, 8);
  data->put(context_.ledger.sent(message, view.label, 41));
  const int to = sender_.peer(message), from = peer(pattern), tag = wanted(pattern.tag);
  const std::int64_t before = context_.ledger.now();
  MPI_Sendrecv_replace(data->data(), data->count(), data->type(), to, message.tag, from, tag, view.comm, &status);
  context_.ledger.sent_between(first, before);
  context_.ledger.posted_between(index, before);
  note(index, pattern, *data, &status, context_.ledger.completed(before));
}

void Receiver::exchange_apart(const Planned& message, const Pattern& pattern) {
  const auto out = sender_.payload(message), in = room();
  const View& view = context_.view(message.slot);
  MPI_Status status;
  const bool large = context_.large();
  const std::size_t first = context_.ledger.sends(), index = context_.ledger.posting(view.label, 7);
  out->put(context_.ledger.sent(message, view.label, 40));
  const int to = sender_.peer(message), from = peer(pattern), tag = wanted(pattern.tag);
  const std::int64_t before = context_.ledger.now();
  if (large)
    MPI_Sendrecv_c(out->data(), out->count(), out->type(), to, message.tag, in->data(), in->count(), in->type(), from,
                   tag, view.comm, &status);
  else
    MPI_Sendrecv(out->data(), out->count(), out->type(), to, message.tag, in->data(), in->count(), in->type(), from,
                 tag, view.comm, &status);
  context_.ledger.sent_between(first, before);
  context_.ledger.posted_between(index, before);
  note(index, pattern, *in, &status, context_.ledger.completed(before));
}

// MPICH 4.0.2 leaves the statuses of these undefined (so no wildcards), counts derived datatypes wrongly, and breaks
// when a rank exchanges with itself.
void Receiver::exchange_nonblocking([[maybe_unused]] const Planned& message, [[maybe_unused]] const Pattern& pattern) {
#if MPI_VERSION >= 4
  const auto out = sender_.payload(message, true);
  const bool in_place = context_.below(2) == 0;
  const auto in = in_place ? out : room(true);
  const View& view = context_.view(message.slot);
  const std::size_t first = context_.ledger.sends(), index = context_.ledger.posting(view.label, 9);
  out->put(context_.ledger.sent(message, view.label, 42));
  const int to = sender_.peer(message), from = peer(pattern);
  MPI_Request request;
  const std::int64_t before = context_.ledger.now();
  if (in_place)
    MPI_Isendrecv_replace(out->data(), out->count(), out->type(), to, message.tag, from, pattern.tag, view.comm,
                          &request);
  else
    MPI_Isendrecv(out->data(), out->count(), out->type(), to, message.tag, in->data(), in->count(), in->type(), from,
                  pattern.tag, view.comm, &request);
  context_.ledger.sent_between(first, before);
  context_.ledger.posted_between(index, before);
  const std::int64_t waiting = context_.ledger.now();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  note(index, pattern, *in, nullptr, context_.ledger.completed(waiting));
#endif
}

// Whether it took a message shows when it completes.
void Receiver::cancel_one() {
  for (Operation& o : context_.operations.all()) {
    if (!o.may_cancel || o.cancelled || context_.below(3) != 0) continue;
    MPI_Cancel(&o.request);
    o.cancelled = o.needs_status = true;
    return;
  }
}

// Frees the request of a receive that is still to complete. Only one that asks for one channel: nobody could tell
// which channel's order a wild one took part in.
void Receiver::free_one() {
  auto& all = context_.operations.all();
  for (auto it = all.begin(); it != all.end(); ++it) {
    if (!it->may_cancel || it->cancelled || wild(it->pattern) || may_be_empty(it->pattern.slot)) continue;
    MPI_Request_free(&it->request);
    freed_.push_back(context_.operations.take(it));
    return;
  }
}

// A freed receive shows in memory only.
void Receiver::look_at_freed() {
  if (freed_.empty()) return;
  int flag = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, never_sent, context_.sync, &flag, MPI_STATUS_IGNORE);  // lets MPI make progress
  for (auto it = freed_.begin(); it != freed_.end();) {
    const auto here = it++;
    if (here->payload->get().bytes < 0) continue;
    const Operation o = std::move(*here);
    freed_.erase(here);
    note(o.index, o.pattern, *o.payload, nullptr, {});
    retired_.push_back(o.payload);  // MPI may still be copying
    if (retired_.size() > 256) retired_.pop_front();
  }
}

void Receiver::complete(bool block, bool late) {
  context_.operations.complete(context_.random, context_.ledger, block, late,
                               [&](Operation& o, const MPI_Status* status, const Completion& when) {
                                 if (o.kind == Operation::Kind::send || o.kind == Operation::Kind::collective) return;
                                 int cancelled = 0;
                                 if (o.cancelled) MPI_Test_cancelled(status, &cancelled);
                                 if (cancelled) context_.ledger.took_nothing(o.index);
                                 else note(o.index, o.pattern, *o.payload, status, when);
                               });
}

// The payload is the truth; the status, where there is one, must agree with it.
void Receiver::note(std::size_t index, const Pattern& pattern, const Payload& payload, const MPI_Status* status,
                    const Completion& completion) {
  Header header = payload.get();
  const View& view = context_.view(pattern.slot);
  int source = pattern.source, tag = pattern.tag, bytes = header.bytes;
  if (status) {
    source = view.world_of[static_cast<std::size_t>(status->MPI_SOURCE)];
    tag = status->MPI_TAG;
    MPI_Get_elements(status, payload.type(), &bytes);
    if (header.number < 0 && bytes > 0) bytes = -1;
  }
  if (header.number < 0) header = {empty_message, source, view.label, tag, 0};
  if (header.bytes == 0) REQUIRE(may_be_empty(pattern.slot) && (!status || bytes == 0));
  REQUIRE(pattern.fits(pattern.slot, header.source, header.tag) && header.label == view.label);
  if (status) REQUIRE(source == header.source && tag == header.tag && bytes == header.bytes);
  if (!exchanging_ && pattern.slot != round_->prepared && context_.recipe(pattern.slot).owner != raced)
    expected_.take(pattern.slot, header.source, header.tag);
  context_.ledger.got(index, header, completion);
}

}  // namespace chaos
