#include "random_sender.hpp"

namespace chaos {

void Sender::begin() {
  const std::size_t keep = static_cast<std::size_t>(2 * context_.options.per_round());
  while (retired_.size() > keep) retired_.pop_front();
}

// A freed request of a message to oneself loses it in MPICH 4.0.2.
void Sender::send_free(const Planned& message) {
  switch (context_.below(10)) {
    case 0: nonblocking(How::synchronous, message, false); break;
    case 1:
      if (room_in_buffer(message)) blocking(How::buffered, message);
      else nonblocking(How::standard, message, false);
      break;
    case 2: nonblocking(room_in_buffer(message) ? How::buffered : How::standard, message, false); break;
    case 3: persistent(How::standard, message); break;
    case 4: persistent(How::synchronous, message); break;
    case 5: persistent(room_in_buffer(message) ? How::buffered : How::standard, message); break;
    case 6: nonblocking(How::standard, message, message.destination != context_.rank); break;
    default: nonblocking(How::standard, message, false);
  }
}

void Sender::send_prepared(const Planned& message) {
  switch (context_.below(9)) {
    case 0: blocking(How::standard, message); break;
    case 1: blocking(How::synchronous, message); break;
    case 2: blocking(How::ready, message); break;
    case 3: blocking(room_in_buffer(message) ? How::buffered : How::standard, message); break;
    case 4: nonblocking(How::ready, message, false); break;
    case 5: persistent(How::ready, message); break;
    default: send_free(message);
  }
}

bool Sender::room_in_buffer(const Planned& message) {
  return message.bytes <= replace_bytes && context_.buffer_room.fetch_sub(1) > 0;
}

std::shared_ptr<Payload> Sender::payload(const Planned& message, bool plain) {
  return std::make_shared<Payload>(message.bytes, plain ? Payload::Form::plain : context_.form());
}

int Sender::peer(const Planned& message) const {
  return context_.view(message.slot).rank_of[static_cast<std::size_t>(message.destination)];
}

void Sender::blocking(How how, const Planned& message) {
  flush();
  const auto data = payload(message);
  const View& view = context_.view(message.slot);
  const int count = data->count(), to = peer(message), tag = message.tag;
  const std::size_t first = context_.ledger.sends();
  const bool large = context_.large();
  data->put(context_.ledger.sent(message, view.label, 10 + static_cast<int>(how)));
  const std::int64_t before = context_.ledger.now();
  switch (how) {
    case How::standard:
      if (large) MPI_Send_c(data->data(), count, data->type(), to, tag, view.comm);
      else MPI_Send(data->data(), count, data->type(), to, tag, view.comm);
      break;
    case How::synchronous:
      if (large) MPI_Ssend_c(data->data(), count, data->type(), to, tag, view.comm);
      else MPI_Ssend(data->data(), count, data->type(), to, tag, view.comm);
      break;
    case How::buffered: MPI_Bsend(data->data(), count, data->type(), to, tag, view.comm); break;
    case How::ready: MPI_Rsend(data->data(), count, data->type(), to, tag, view.comm); break;
  }
  context_.ledger.sent_between(first, before);
}

void Sender::nonblocking(How how, const Planned& message, bool then_free) {
  flush();
  Operation operation{.kind = Operation::Kind::send, .payload = payload(message)};
  Payload& data = *operation.payload;
  const View& view = context_.view(message.slot);
  const int count = data.count(), to = peer(message), tag = message.tag;
  const std::size_t first = context_.ledger.sends();
  const bool large = context_.large();
  data.put(context_.ledger.sent(message, view.label, 20 + static_cast<int>(how)));
  MPI_Request* const request = &operation.request;
  const std::int64_t before = context_.ledger.now();
  switch (how) {
    case How::standard:
      if (large) MPI_Isend_c(data.data(), count, data.type(), to, tag, view.comm, request);
      else MPI_Isend(data.data(), count, data.type(), to, tag, view.comm, request);
      break;
    case How::synchronous:
      if (large) MPI_Issend_c(data.data(), count, data.type(), to, tag, view.comm, request);
      else MPI_Issend(data.data(), count, data.type(), to, tag, view.comm, request);
      break;
    case How::buffered: MPI_Ibsend(data.data(), count, data.type(), to, tag, view.comm, request); break;
    case How::ready: MPI_Irsend(data.data(), count, data.type(), to, tag, view.comm, request); break;
  }
  context_.ledger.sent_between(first, before);
  if (then_free) {
    MPI_Request_free(request);
    retired_.push_back(operation.payload);
  } else {
    context_.operations.add(std::move(operation));
  }
}

// Made now, started with the others of its group.
void Sender::persistent(How how, const Planned& message) {
  Grouped grouped{message, {.kind = Operation::Kind::send, .persistent = true, .payload = payload(message)}, how};
  Payload& data = *grouped.operation.payload;
  const View& view = context_.view(message.slot);
  auto* const init = how == How::standard      ? MPI_Send_init
                     : how == How::synchronous ? MPI_Ssend_init
                     : how == How::buffered    ? MPI_Bsend_init
                                               : MPI_Rsend_init;
  init(data.data(), data.count(), data.type(), peer(message), message.tag, view.comm, &grouped.operation.request);
  group_.push_back(std::move(grouped));
  if (group_.size() == 4 || context_.random.once_in(2)) flush();
}

void Sender::flush() {
  if (group_.empty()) return;
  std::vector<MPI_Request> requests;
  const std::size_t first = context_.ledger.sends();
  for (Grouped& g : group_) {
    g.operation.payload->put(
        context_.ledger.sent(g.message, context_.view(g.message.slot).label, 30 + static_cast<int>(g.how)));
    requests.push_back(g.operation.request);
  }
  const std::int64_t before = context_.ledger.now();
  if (requests.size() == 1) MPI_Start(requests.data());
  else MPI_Startall(static_cast<int>(requests.size()), requests.data());
  context_.ledger.sent_between(first, before);
  for (std::size_t i = 0; i < group_.size(); ++i) {
    group_[i].operation.request = requests[i];
    context_.operations.add(std::move(group_[i].operation));
  }
  group_.clear();
}

}  // namespace chaos
